#!/usr/bin/env python3
"""Memory that a program gets from MPI has the name of the variable that holds it, and the line that asks for it; a line may name it, too."""

import os
import shutil
import xml.etree.ElementTree as ElementTree

import memory
from memory import harness

FORTRAN = {"solve::density [heap": 1000, "solve::grid [heap": 100, "fields::pressure [heap": 500, "windows::mine [heap": 2000, "windows::shared [heap": 1000,
           "windows::others [heap": 500}
SOURCE = os.path.join(memory.HERE, "windows.c")
STORES = {"field [heap": 10000, "main::mine [heap": 8000, "main::window [heap": 6000, "main::shared [heap": 3990, "main::later [heap": 800}
OTHERS = {2: {"main::others [heap": 399}, 1: {}}  # of another rank, where there is one
ALIVE = {"main::atoms.x [heap": 1500, "main::atoms.v [heap": 1400}  # and what was copied before


def line_of(text):
    return 1 + next(n for n, line in enumerate(open(SOURCE)) if text in line)


def stores(profile):
    names = {o.get("id"): name for name, o in memory.objects(profile).items()}
    return {names[k]: v[memory.STORES] for k, v in memory.sums(profile).items() if k}


def run(scratch, title, launcher, program, ranks, **settings):
    words = [launcher, *harness.launcher_options(launcher), "-n", str(ranks), program]
    outcome = harness.execute(words, os.path.dirname(scratch.file(title, "x")), OMP_NUM_THREADS=1, **settings)
    if outcome.status != 0:
        raise harness.Failure("%s: %s" % (title, outcome.err[-800:]))
    profile = outcome.profile()
    profile.root = ElementTree.parse(profile.path).getroot()
    return outcome, profile


def main():
    scratch, verdict, found = harness.Scratch("windows"), harness.Verdict("windows"), False
    for name in ("openmpi", "mpich"):
        launcher, compiler = "mpirun." + name, "mpicc." + name
        if not shutil.which(launcher) or not shutil.which(compiler):
            print("note: not tested with %s" % name)
            continue
        found = True
        for level in ("-O0", "-O2"):
            program = scratch.file(name + level)
            memory.build(compiler, SOURCE, program, level)
            for ranks in (1, 2):
                title = "%s %s, %d ranks" % (name, level, ranks)
                outcome, profile = run(scratch, title, launcher, program, ranks)
                verdict.equal(outcome.out, "318410\n" * ranks, title + ": output")
                verdict.profile(profile, title)
                seen = stores(profile)
                for begin, count in {**STORES, **OTHERS[ranks]}.items():
                    got = sum(n for o, n in seen.items() if o.startswith(begin))
                    verdict.equal(got, count * ranks, "%s: %s of %s" % (title, begin, sorted(seen)))
                for begin, count in ALIVE.items():
                    got = sum(n for o, n in seen.items() if o.startswith(begin))
                    verdict.check(got >= count * ranks, "%s: %s has %d stores of %s" % (title, begin, got, seen))
            for form in ("-DOLD", "-DNEW") if shutil.which("mpifort." + name) else ():
                title = "%s Fortran %s %s" % (name, form, level)
                program = scratch.file(title.replace(" ", "-"))
                memory.build("mpifort." + name, SOURCE.replace(".c", ".F90"), program, level, form)
                outcome, profile = run(scratch, "run " + title, launcher, program, 2)
                seen = stores(profile)
                for begin, count in FORTRAN.items():
                    got = [n for o, n in seen.items() if o.startswith(begin)]
                    verdict.equal(got, [2 * count], "%s: %s of %s" % (title, begin, sorted(seen)))
            program = scratch.file(name + level)
            line = line_of("MPI_Alloc_mem(800")
            title = "%s %s, named by line %d" % (name, level, line)
            _, profile = run(scratch, title, launcher, program, 2, OMPP_DATA="windows.c:%d" % line)
            verdict.equal(stores(profile).get("windows.c:%d" % line), 2 * STORES["main::mine [heap"], title)
    if not found:
        harness.skip("no MPI here")
    verdict.finish(scratch)


main()
