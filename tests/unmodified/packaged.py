#!/usr/bin/env python3
"""Programs as Debian packages them, stripped: lammps (Open MPI) and imagemagick (libgomp), where they are installed. docs/unmodified.md has
larger ones, by hand."""

import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "run"))

import harness  # noqa: E402

LAMMPS = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 8 0 8 0 8
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
fix 1 all nve
thermo 50
run 50
"""


def thermo(out):
    """The numbers that do not depend on time."""
    return [line for line in out.splitlines() if line.strip()[:1].isdigit() and len(line.split()) == 6]


def picture(folder):
    path = os.path.join(folder, "out.ppm")
    return open(path, "rb").read() if os.path.exists(path) else None


# Command, ranks, files it needs, what must be equal (of output and folder), and what the report must have: type, text of a place.
PROGRAMS = {
    "lmp": (["lmp", "-in", "in.lj"], 2, {"in.lj": LAMMPS}, lambda out, folder: thermo(out), ("MPI", "MPI_Allreduce")),
    "convert-im6.q16": (["convert-im6.q16", "-size", "400x400", "gradient:", "-blur", "0x3", "-depth", "8", "out.ppm"], 0, {},
                        lambda out, folder: picture(folder), ("PARALLEL", None)),
}


def run(name, folder, measured):
    words, ranks, files, _, _ = PROGRAMS[name]
    for path, text in files.items():
        open(os.path.join(folder, path), "w").write(text)
    if measured:
        words = [harness.command("ompp"), "--", *words]
    if ranks:
        launcher = os.environ.get("mpirun_openmpi", "mpirun.openmpi")
        words = [launcher, *harness.launcher_options(launcher), "-n", str(ranks), *words]
    return harness.execute(words, folder, OMP_NUM_THREADS=2)


def test(verdict, scratch, name):
    kind, text = PROGRAMS[name][4]
    folder, result = os.path.dirname(scratch.file(name, "plain", "x")), PROGRAMS[name][3]
    plain = verdict.unmeasured(name, lambda: run(name, folder, False), lambda outcome: outcome.status == 0 and result(outcome.out, folder))
    if not plain:
        return
    measured = run(name, os.path.dirname(scratch.file(name, "measured", "x")), True)
    verdict.equal(measured.status, plain.status, name + ": status")
    verdict.check(result(measured.out, measured.folder) == result(plain.out, plain.folder), name + ": result")
    profile = measured.profile()
    verdict.profile(profile, name)
    regions = profile.find(kind, name=text) if text else profile.find(kind)
    verdict.check(sum(profile.total("execC", regions).values()) > 0, "%s: no executions of %s %s" % (name, kind, text or ""))


def main():
    present = [name for name in PROGRAMS if shutil.which(name)]
    if not present:
        harness.skip("none of these is installed: " + ", ".join(PROGRAMS))
    verdict, scratch = harness.Verdict("packaged"), harness.Scratch("packaged")
    for name in present:
        try:
            test(verdict, scratch, name)
        except (harness.Failure, harness.subprocess.TimeoutExpired, OSError) as failure:
            verdict.check(False, "%s: %s" % (name, failure))
    verdict.finish(scratch)


main()
