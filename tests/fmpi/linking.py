#!/usr/bin/env python3
"""Ways in which MPI's Fortran gets into a process: linked by kinst-ompp, where the linker may leave out MPI's Fortran libraries because
our symbols came first, and in a module that is loaded at run time. MPI's constants must be the program's in all of them."""

import os

import conform
import fharness
import harness


def linked(verdict, scratch, binding):
    """The conformance program built by kinst-ompp."""
    plain, program = scratch.file("plain-" + binding, "conform"), scratch.file("linked-" + binding, "conform")
    fharness.build("conform.F90", plain, binding)
    fharness.build("conform.F90", program, binding, instrument=True)
    title = "%s, linked" % fharness.BINDINGS[binding]
    without = verdict.unmeasured(title, lambda: fharness.run(plain, os.path.join(scratch.path, binding + "-without"), 2, False))
    if not without:
        return
    measured = fharness.run(program, os.path.join(scratch.path, binding + "-with"), 2, False)
    conform.same_traces(verdict, without, measured, 2, title)
    conform.exact_counts(verdict, measured.profile(), binding, 2, title)


def loaded(verdict, scratch, binding):
    """A module with MPI, loaded by a program without."""
    title = "%s, loaded" % fharness.BINDINGS[binding]
    module, program = scratch.file("module-" + binding, "plugin.so"), scratch.file("module-" + binding, "plugin")
    fharness.build("plugin.F90", module, binding, ("-shared", "-fPIC"))
    done = harness.execute([os.environ.get("CC", "gcc"), os.path.join(fharness.HERE, "plugin.c"), "-o", program, "-ldl"], scratch.path)
    if done.status:
        raise harness.Failure("cannot build the program: " + done.err[-500:])
    libraries = [os.path.join(harness.BUILD, ".libs", name) for name in ("libompp-mpi.so", "libompp.so")]
    if not all(os.path.exists(name) for name in libraries):
        print("note: not tested with libraries that are not in the build tree: " + title)
        return
    without = verdict.unmeasured(title, lambda: harness.run(program, os.path.join(scratch.path, binding + "-unloaded"), 1, 2, (module,)),
                                 lambda outcome: (outcome.status, outcome.out) == (0, " 3 3 3 0 0 1 1\n"))
    if not without:
        return
    measured = harness.run("env", os.path.join(scratch.path, binding + "-loaded"), 1, 2,
                           ("LD_PRELOAD=" + " ".join(libraries), program, module))
    verdict.equal((measured.status, measured.out), (without.status, without.out), title + ": result")
    profile = measured.profile()
    for name, bytes_in in (("MPI_Allreduce", 12), ("MPI_Allgather", 16)):
        found = profile.total("inV", profile.find("MPI", name=name))
        verdict.equal(found, {(0, 0): bytes_in, (1, 0): bytes_in}, "%s: %s bytes in" % (title, name))


def main():
    verdict, scratch = harness.Verdict("linking"), harness.Scratch("linking")
    for test, binding in ((linked, "F77"), (linked, "F08"), (loaded, "F90"), (loaded, "F08")):
        try:
            test(verdict, scratch, binding)
        except (harness.Failure, harness.subprocess.TimeoutExpired) as failure:
            verdict.check(False, "%s %s: %s" % (test.__name__, binding, failure))
    verdict.finish(scratch)


main()
