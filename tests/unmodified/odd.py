#!/usr/bin/env python3
"""
Programs that come to libgomp in odd ways: from several threads, around a fork, late, in a library that brings one of its own, beside
LLVM's library; and that are to come to LLVM's where there is none.
"""

import glob
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "run"))

import harness  # noqa: E402

SOURCE = os.path.join(HERE, "odd.c")


def build(folder, name, *flags):
    path = os.path.join(folder, "lib" + name + ".so" if "-shared" in flags else name + ".x")
    done = harness.execute(["gcc", "-O2", "-g", SOURCE, "-o", path, *flags], folder)
    if done.status:
        raise harness.Failure("cannot build %s: %s" % (name, done.err[-800:]))
    return path


def bundled(scratch):
    """A libgomp under another name, as packages of Python bring one; None where it cannot be made."""
    found = harness.execute(["gcc", "-print-file-name=libgomp.so.1"], scratch.path).out.strip()
    if not os.path.isabs(found):
        return None
    with open(found, "rb") as file:
        image = file.read()
    path = os.path.join(scratch.path, "libgomq.so.1")
    with open(path, "wb") as file:
        file.write(image.replace(b"libgomp.so.1\0", b"libgomq.so.1\0"))
    return path


def path_search(verdict, scratch):
    """As a shell finds a command: without PATH, and by an empty place in it."""
    folder = scratch.file("path", "x")[:-2]
    program = os.path.join(folder, "here")
    shutil.copy(shutil.which("echo"), program)
    ompp = harness.command("ompp")
    for setting, name in (((), "echo"), (("PATH=/nonexistent:",), "here"), (("PATH=",), "here")):
        done = harness.execute(["/usr/bin/env", "-i", *setting, ompp, "--", name, "a  b", ""], folder)
        verdict.equal((done.status, done.out), (0, "a  b \n"), "%s with %s" % (name, setting or "no PATH"))


BOTH = """
#include <omp.h>
#include <stdio.h>
int of_other(void);
int NAME(void)
{
    int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += 1;
    return sum;
}
#ifdef MAIN
int main(void)
{
    int mine = 0, theirs = 0;
    for (int i = 0; i < 3; i++)
        mine += of_main();
    for (int i = 0; i < 5; i++)
        theirs += of_other();
    printf("%d %d\\n", mine, theirs);
    return 0;
}
#endif
"""


def both(verdict, scratch):
    """libgomp and libomp in one process, each as the first: what is measured, and what Coverage says."""
    clang = os.environ.get("TEST_CLANG", "clang-19")
    if not shutil.which(clang):
        print("note: no %s for libgomp and libomp together" % clang)
        return
    folder = scratch.file("both", "x")[:-2]
    with open(os.path.join(folder, "both.c"), "w") as file:
        file.write(BOTH)
    for first, second, calls, said in (("gcc", clang, 3, ["libomp.so"]), (clang, "gcc", 8, [])):
        library = ["-shared", "-fPIC", "-fopenmp", "-g", "-O0"]
        done = [harness.execute([second, *library, "-DNAME=of_other", "both.c", "-o", "libother.so"], folder),
                harness.execute([first, "-fopenmp", "-g", "-O0", "-DMAIN", "-DNAME=of_main", "both.c", "-o", "both", "-Wl,--no-as-needed",
                                 "-L.", "-lother", "-Wl,-rpath,$ORIGIN"], folder)]
        if any(d.status for d in done):
            raise harness.Failure("cannot build both: " + "".join(d.err for d in done)[-500:])
        title = "libgomp and libomp, %s first" % first
        plain = verdict.unmeasured(title, lambda: harness.execute(["./both"], folder),
                                   lambda outcome: (outcome.status, outcome.out) == (0, "6 10\n"))
        if not plain:
            continue
        for old in os.listdir(folder):
            if ".ompp." in old:
                os.unlink(os.path.join(folder, old))
        measured = harness.execute([harness.command("ompp"), "--", "./both"], folder)
        verdict.equal((measured.status, measured.out, measured.messages()), (0, plain.out, []), title + ": result")
        profile = measured.profile()
        verdict.profile(profile, title)
        regions = [r for r in profile.find("PARALLEL") if r.type == "PARALLEL"]
        verdict.equal(sum(profile.total("execC", regions).values()), 2 * calls, title + ": parallel regions, by two threads")
        told = [note.get("reason", "") for note in profile.coverage if "in the process, too" in note.get("reason", "")]
        verdict.equal([text.split()[4].rstrip(",") for text in told], said, title + ": Coverage: %s" % profile.coverage)


def llvm_missing(verdict, scratch, program):
    """--omp-runtime=llvm without LLVM's library: one line of all ranks, and libgomp is measured."""
    places = [d for d in glob.glob("/usr/lib/llvm-*/lib") if glob.glob(d + "/libomp.so.5")]
    hide = "".join("mount --bind '%s' '%s' && " % (scratch.file("empty", "x")[:-2], place) for place in places)
    probe = harness.execute(["unshare", "-m", "sh", "-c", hide + "! ls /usr/lib/x86_64-linux-gnu/libomp.so.5 2>/dev/null >&2 || "
                             "! cat /usr/lib/x86_64-linux-gnu/libomp.so.5 >/dev/null 2>&1"], scratch.path)
    if probe.status or os.environ.get("LD_LIBRARY_PATH"):
        print("note: libomp cannot be hidden here: --omp-runtime=llvm without it is not tested")
        return
    folder = scratch.file("missing", "x")[:-2]
    plain = verdict.unmeasured("libomp is missing", lambda: harness.execute([program], folder, OMP_NUM_THREADS=2), harness.survives)
    if not plain:
        return
    for rank in range(2):
        done = harness.execute(["unshare", "-m", "sh", "-c", hide + 'exec "$@"', "sh", harness.command("ompp"), "--omp-runtime=llvm", "--",
                                program], folder, OMP_NUM_THREADS=2, PMI_RANK=rank, PMI_SIZE=2)
        verdict.equal((done.status, done.out), (plain.status, plain.out), "libomp is missing: result: " + done.err)
        said = [line for line in done.messages() if "libomp.so.5 is not found" in line]
        verdict.equal((len(said), len(done.messages())), (1 - rank, 1 - rank), "libomp is missing, rank %d: %s" % (rank, done.messages()))
    verdict.equal(len(glob.glob(folder + "/*.ompp.xml")), 2, "libomp is missing: reports of libgomp")
    for path in glob.glob(folder + "/*.ompp.xml"):
        profile = harness.ompp_profile.Profile(path)
        verdict.check(any("GOMP" in note.get("subject", "") for note in profile.coverage), "libomp is missing: %s" % profile.coverage)


CONFINED = {
    "a user namespace": ["unshare", "-Ur"],
    "read-only shared memory": ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o ro ompp-test /dev/shm && exec "$@"', "sh"],
    "closed descriptors": ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh"],
    "few descriptors": ["sh", "-c", 'ulimit -n 8 && exec "$@"', "sh"],
}


def confined(verdict, scratch, program):
    """Where a container, or who starts it, gives a program less than it is used to."""
    for name, words in CONFINED.items():
        folder = scratch.file(name.replace(" ", "-"), "x")[:-2]
        if harness.execute([*words, "true"], folder).status:
            print("note: %s cannot be had here" % name)
            continue
        plain = verdict.unmeasured(name, lambda: harness.execute([*words, program], folder, OMP_NUM_THREADS=4), harness.survives)
        if not plain:
            continue
        measured = harness.execute([*words, harness.command("ompp"), "--", program], folder, OMP_NUM_THREADS=4)
        verdict.equal((measured.status, measured.out, measured.messages()), (plain.status, plain.out, []), name + ": result")
        verdict.profile(measured.profile(), name)


def sanitizers(verdict, scratch):
    """The runtime of a sanitizer has to be the first library: the program ends as without us, and is measured."""
    for kind in "address", "thread", "undefined":
        source = scratch.file("sanitizer.c")
        with open(source, "w", encoding="utf-8") as out:
            out.write("int main(void) {\n#pragma omp parallel num_threads(1)\n;\nreturn 3; }\n")
        program = scratch.file("sanitize-" + kind)
        made = harness.execute(["gcc", "-g", "-fopenmp", "-fsanitize=" + kind, source, "-o", program], scratch.path)
        if made.status or harness.execute([program], scratch.path).status != 3:
            print("note: programs with -fsanitize=%s do not run here" % kind)
            continue
        done = harness.execute([harness.command("ompp"), "--", program], scratch.file("run-" + kind, "x")[:-2])
        verdict.equal((done.status, done.out), (3, ""), "-fsanitize=%s: %s" % (kind, done.err[-300:]))
        verdict.equal(len(done.reports()), 1, "-fsanitize=%s: reports" % kind)


def other_libc(verdict, scratch):
    """A program of musl: it runs, and one line says that it is not measured; the same when it is linked through kinst-ompp."""
    if not shutil.which("musl-gcc"):
        print("note: no musl-gcc (Debian package: musl-tools)")
        return
    source = scratch.file("musl.c")
    with open(source, "w", encoding="utf-8") as out:
        out.write('#include <stdio.h>\nint main(void) { puts("runs"); return 4; }\n')
    for words in ["musl-gcc"], [harness.command("kinst-ompp"), "musl-gcc"]:
        program = scratch.file("musl-%d" % len(words))
        made = harness.execute([*words, source, "-o", program], scratch.path)
        verdict.equal((made.status, made.err.count("another C library")), (0, len(words) - 1), "build with musl-gcc: " + made.err)
        done = harness.execute([program], scratch.path)
        verdict.equal((done.status, done.out, done.err), (4, "runs\n", ""), "a program of musl")
    done = harness.execute([harness.command("ompp"), "--", program], scratch.path)
    verdict.equal((done.status, done.out, len(done.messages())), (4, "runs\n", 1), "ompp --, a program of musl: " + done.err)
    verdict.check("another C library" in done.err, "ompp --, a program of musl: " + done.err)


def main():
    verdict, scratch = harness.Verdict("odd"), harness.Scratch("odd")
    if not shutil.which("gcc"):
        print("no gcc")
        sys.exit(77)
    program = build(scratch.path, "threads", "-fopenmp")
    # Teams of 1, 2, 3, 1, ... threads, on each of 4; nests of 2, and of 3 in each of these.
    members = 4 * sum(1 + i % 3 for i in range(25))
    counts = {"PARALLEL": members + 10 * (2 + 6), "LOOP": members, "CRITICAL": 4 * 250}
    harness.compare(verdict, scratch, "threads", [program], counts=counts)
    opener = build(scratch.path, "opener", "-DOPENER", "-ldl")
    late = build(scratch.path, "late", "-DLIBRARY", "-fopenmp", "-shared", "-fPIC")
    harness.compare(verdict, scratch, "late", [opener, late], "--omp-runtime=gomp", counts={"PARALLEL LOOP": 2, "LOOP": 0})
    other = bundled(scratch)
    if other:
        own = build(scratch.path, "own", "-DLIBRARY", "-fopenmp", "-shared", "-fPIC", "-Wl,--as-needed", other, "-Wl,-rpath,$ORIGIN")
        harness.compare(verdict, scratch, "own", [opener, own], "--omp-runtime=gomp", counts={"PARALLEL LOOP": 2, "LOOP": 0})
    path_search(verdict, scratch)
    both(verdict, scratch)
    llvm_missing(verdict, scratch, program)
    confined(verdict, scratch, program)
    sanitizers(verdict, scratch)
    other_libc(verdict, scratch)
    verdict.finish(scratch)


main()
