#!/usr/bin/env python3
"""
ompp doctor on launch lines that work and on broken ones: no debug information, the mpirun of another MPI, perf refused, a directory
that cannot be written, a static program, a line that starts nothing, ranks bound to one processor. What it says, and what to do; the
program itself is never run. The command that it proposes works.
"""

import os
import re
import shlex
import shutil
import subprocess

import harness

PROGRAM = """
#include <stdio.h>
#ifdef MPI
#include <mpi.h>
#endif
int main(int argc, char **argv)
{
    int sum = 0;
#ifdef MPI
    MPI_Init(&argc, &argv);
#endif
    fclose(fopen("was-run", "w"));
#pragma omp parallel
#pragma omp critical
    sum++;
#ifdef MPI
    MPI_Finalize();
#endif
    return sum == 0;
}
"""
GCC = os.environ.get("TEST_GCC", "gcc")
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": 1, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": 1, "OMPI_MCA_rmaps_base_oversubscribe": 1}


class Doctor:
    def __init__(self, verdict, folder):
        self.verdict, self.folder = verdict, folder

    def ask(self, title, words, status, lines, **changes):
        """lines: {topic: (verdict, word that is in its line or advice)}"""
        done = harness.execute([harness.command("ompp"), "doctor", *words], self.folder, **changes)
        self.verdict.equal((done.status, done.err), (status, ""), "%s: status and stderr\n%s" % (title, done.out))
        for topic, (verdict, *patterns) in lines.items():
            found = re.search(r"^%-4s  %-12s .*\n(?: +-> .*\n)*" % (verdict, topic), done.out, re.M)
            self.verdict.check(found, "%s: no line %s %s in\n%s" % (title, verdict, topic, done.out))
            for pattern in patterns:
                self.verdict.check(found and re.search(pattern, found[0]), "%s: %s does not say '%s':\n%s"
                                   % (title, topic, pattern, done.out))
        return done.out


def compile_(folder, name, source, *words, compiler=None):
    with open(os.path.join(folder, name + ".c"), "w") as file:
        file.write(source)
    done = harness.execute([compiler or GCC, *words, name + ".c", "-o", name], folder)
    if done.status:
        raise harness.Failure("cannot build %s: %s" % (name, done.err[-500:]))
    return "./" + name


def launcher(family):
    """[mpirun and options], compiler; None when this family is not here."""
    run, compiler = "mpirun." + family, "mpicc." + family
    if not shutil.which(run) or not shutil.which(compiler):
        print("note: not tested with %s" % family)
        return None
    return [run] + (["--allow-run-as-root", "--oversubscribe"] if family == "openmpi" else []), compiler


def test_alone(doctor):
    folder = doctor.folder
    good = compile_(folder, "good", PROGRAM, "-g", "-fopenmp")
    out = doctor.ask("good", [good, "a b"], 0, {"program": ("ok",), "lines": ("ok",), "MPI": ("ok", "none"), "libraries": ("ok",),
                                                "affinity": ("ok",), "reports": ("ok", folder), "survival": ("ok",)})
    doctor.verdict.check(not os.path.exists(os.path.join(folder, "was-run")), "good: the program was run")
    command = re.search(r"^Measure with:\n  (.*)$", out, re.M)
    if doctor.verdict.check(command, "good: no command in\n" + out):
        words = shlex.split(command[1])
        doctor.verdict.equal(words, ["ompp", "--", "./good", "a b"], "good: command")
        done = harness.execute([harness.command("ompp")] + words[1:], folder)
        doctor.verdict.equal((done.status, len(done.reports())), (0, 1), "good: the command makes a report")
    bare = compile_(folder, "bare", PROGRAM, "-fopenmp")
    doctor.ask("no -g", [bare], 0, {"lines": ("note", "no debug information", "compile with -g")})
    static = compile_(folder, "fixed", PROGRAM, "-static", "-g")
    doctor.ask("static", [static], 1, {"program": ("BAD", "statically linked", "kinst-ompp")})
    doctor.ask("static, with a launcher", ["env", "A=1", static], 1, {"program": ("BAD", "statically linked")})
    doctor.ask("perf refused", [good], 0, {"counters": ("note", "Permission denied", "perf_event_paranoid")},
               LD_PRELOAD=harness.refuse_events(folder))
    doctor.ask("limits", ["sh", "-c", "exit"], 1, {"OpenMP": ("BAD", "nothing to measure")})
    static_loops = ("note", "what is a call is seen", "to see them: CC=\"kinst-ompp gcc\" in the build$")
    doctor.ask("OpenMP", [good], 0, {"OpenMP": static_loops})
    if harness.shutil.which("g++"):
        cxx = os.path.join(folder, "plus.cc")
        with open(cxx, "w") as file:
            file.write("#include <iostream>\nint main() {\n#pragma omp parallel\n  { }\n  std::cout << 1;\n}\n")
        plus = os.path.join(folder, "plus")
        if harness.execute(["g++", "-g", "-fopenmp", cxx, "-o", plus], folder).status == 0:
            doctor.ask("OpenMP, C++", [plus], 0, {"OpenMP": ("note", "what is a call is seen", "CXX=\"kinst-ompp g[+][+]\" in the build")})
    if harness.libomp():
        doctor.ask("OpenMP, libomp", [good], 0, {"OpenMP": ("note", "libomp in place of libgomp", *static_loops[1:])},
                   OMPP_OMP_RUNTIME="llvm")
    doctor.ask("OMP_TOOL", [good], 0, {"OpenMP": ("note", "libgomp")}, OMP_TOOL="disabled")
    doctor.ask("settings", [good], 0, {"settings": ("ok",)}, OMPP_QUIET=1, OMPP_VERBOSE=2)
    doctor.ask("another counter", [good], 1, {"settings": ("BAD", "OMPP_CTR1=PAPI_TOT_INZ is not counted: .*nearest.*PAPI_TOT_INS")},
               OMPP_CTR1="PAPI_TOT_INZ")
    bad = {"OMPP_CAUSAL": "virtul", "OMPP_TIME_DIGITS": "12", "OMPP_NOTHING": "1"}
    out = doctor.ask("bad settings", [good], 1, {"settings": ("BAD",)}, OMPP_QUIET=1, **bad)
    done = harness.execute([harness.command("ompp"), "--", good], doctor.folder, **bad)
    said = [line[6:] for line in done.messages()]
    doctor.verdict.equal(len(said), len(bad), "bad settings: the run says: %s" % said)
    doctor.verdict.equal(re.findall(r"^BAD   settings     (.*)", out, re.M), said, "bad settings: the words of the run")
    doctor.ask("one processor", ["taskset", "-c", "0", good], 0, {"processors": ("note", "4 threads on 1 processor")}, OMP_NUM_THREADS=4)
    stays = os.path.join(folder, "env") # in place of the command that starts others
    with open(stays, "w") as file:
        file.write('#!/bin/sh\n"$@"\nexec >&- 2>&-\nsleep 1000\n')
    os.chmod(stays, 0o755)
    doctor.ask("a launcher that stays", [stays, good], 0, {"launch": ("ok", "1 process on 1 node"), "libraries": ("ok",)})
    doctor.ask("not there", ["./nothing"], 1, {"program": ("BAD", "not found")})
    return good


def test_directories(doctor, good):
    """Read-only: a file system without rights to write, where we may mount one; else one where no file can be made."""
    folder = os.path.join(doctor.folder, "fixed-fs")
    os.mkdir(folder)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "ompp-test", folder], stderr=subprocess.DEVNULL).returncode == 0
    try:
        where = folder if mounted else "/proc"
        reason = "Read-only file system" if mounted else "/proc"
        doctor.ask("read-only directory", [good], 1, {"reports": ("BAD", reason, "OMPP_OUTDIR")}, OMPP_OUTDIR=where)
        doctor.ask("read-only job directory", [good], 0, {"survival": ("note", reason, "OMPP_JOB_DIR")}, OMPP_JOB_DIR=where)
    finally:
        if mounted:
            subprocess.run(["umount", folder])


def test_debug_apart(doctor):
    """Debug information in a file that the program names: present, and used by the report."""
    if not shutil.which("objcopy"):
        print("note: no objcopy")
        return
    linked = compile_(doctor.folder, "linked", PROGRAM, "-g", "-fopenmp")
    for words in (["--only-keep-debug", "linked", "linked.debug"], ["--strip-all", "linked"], ["--add-gnu-debuglink=linked.debug", "linked"]):
        doctor.verdict.equal(harness.execute(["objcopy", *words], doctor.folder).status, 0, "objcopy")
    doctor.ask("debug information apart", [linked], 0, {"lines": ("ok", "in a file of its own")})
    folder = os.path.join(doctor.folder, "apart")
    os.mkdir(folder)
    harness.execute([harness.command("ompp"), "--", "../linked"], folder)
    texts = [open(os.path.join(folder, name)).read() for name in os.listdir(folder) if name.endswith(".txt")]
    doctor.verdict.check(texts and re.search(r"linked\.c \(\d+-\d+\)", texts[0]), "debug information apart: no lines in the report")
    os.unlink(os.path.join(doctor.folder, "linked.debug"))
    packaged = shutil.which("tr", path="/usr/bin:/bin")
    if packaged:
        out = doctor.ask("of a package", [packaged, "--version"], 0, {"lines": ("note", "no debug information", "NAME-dbgsym", "debuginfod-find")})
        doctor.verdict.check("compile with -g" not in out, "of a package: nobody compiles it")
    doctor.ask("debug information lost", [linked], 0, {"lines": ("note", "no debug information", "NAME-dbgsym", "compile with -g")})


def test_options(doctor, good):
    """What the user's line has already is kept, understood and tried."""
    ompp = harness.command("ompp")
    new = os.path.join(doctor.folder, "new")
    out = doctor.ask("options", [ompp, "--appname", "x", "--job-dir=" + new, "--", good, "a"], 0,
                     {"program": ("ok", "./good"), "survival": ("ok", re.escape(new + " (the run makes it)"))})
    doctor.verdict.check(out.endswith("\n  %s --appname x --job-dir=%s -- ./good a \n" % (ompp, new)), "options: command in\n" + out)
    doctor.verdict.check(not os.path.exists(new), "options: made the directory")
    doctor.ask("no parent", [good], 0, {"survival": ("note", "No such file or directory", "OMPP_JOB_DIR")}, OMPP_JOB_DIR=new + "/deeper")
    left = os.path.join(doctor.folder, "left")
    os.mkdir(left)
    doctor.ask("data", [good], 1, {"settings": ("BAD", "OMPP_DATA: nothing: no variable")}, OMPP_DATA="nothing", OMPP_JOB_DIR=left)
    doctor.verdict.equal(os.listdir(left), [], "data: memory of the probes that is left")
    test_words_of_the_run(doctor)
    for words in (["--causal=virtul"], ["--causal", "virtul"]):
        out = doctor.ask("bad option", [ompp, *words, "--overwrite", "--", good], 1,
                         {"options": ("BAD", r"set --causal to one of off\|virtual\|delay: 'virtul' is not understood"), "settings": ("ok",)})
        doctor.verdict.check(out.endswith("\n  %s --overwrite -- ./good \n" % ompp), "bad option: command in\n" + out)
    doctor.ask("bad directory", [ompp, "--outdir", "/proc", "--", good], 1, {"reports": ("BAD", "/proc")})
    doctor.ask("unknown option", [ompp, "--dta", "--", good], 1, {"options": ("BAD", "--dta"), "program": ("ok", "./good")})
    doctor.ask("near option", [ompp, "--datta=x", "--", good], 1, {"options": ("BAD", "--datta", "--data\\?")})
    out = doctor.ask("names that are not there", [ompp, "--data", "zzz", "--ctr1=PAPI_NOPE", "--appname=x", "--", good], 1, {"settings": ("BAD",)})
    doctor.verdict.check(out.endswith("\n  %s --appname=x -- ./good \n" % ompp), "names that are not there: command in\n" + out)
    later = compile_(doctor.folder, "later", "int main(void) { return 0; }\n")
    out = doctor.ask("loaded later", [later], 0, {"OpenMP": ("note", "samples", "ompp --omp-runtime=gomp --")})
    doctor.verdict.check(out.endswith("\n  ompp -- ./later \n"), "loaded later: command in\n" + out)
    doctor.ask("loaded later, said", [ompp, "--omp-runtime=gomp", "--", later], 0, {"OpenMP": ("ok", "--omp-runtime=gomp")})
    doctor.ask("no value", [ompp, "--outdir", "--", good], 1, {"options": ("BAD", "--outdir"), "program": ("ok", "./good")})


NAMED = """
double grid[100];
int *pointer;
int main(void)
{
#pragma omp parallel for
    for (int i = 0; i < 100; i++)
        grid[i] = i;
    return 0;
}
"""


def test_words_of_the_run(doctor):
    """Expressions, counters, names of data: what the run says when it is too late, with places and what may have been meant."""
    with open(os.path.join(doctor.folder, "named.c"), "w") as file:
        file.write(NAMED)
    done = harness.execute([harness.command("kinst-ompp"), "--memory", GCC, "-g", "-fopenmp", "named.c", "-o", "named"], doctor.folder)
    if done.status:
        raise harness.Failure("cannot build named: " + done.err[-500:])
    bad = {"OMPP_CTR1": "perf::PAGE-FAULT", "OMPP_EVAL1": "EXECT/EXCEC", "OMPP_EVAL2": "(EXECT", "OMPP_EVAL3": "2*perf::PAGE-FAULT",
           "OMPP_DATA": "gird,pointer,named.c:77,grid"}
    out = doctor.ask("words of the run", ["./named"], 1, {}, **bad)
    done = harness.execute(["./named"], doctor.folder, **bad)
    said = sorted(line[6:] for line in done.messages())
    told = sorted(re.findall(r"^(?:BAD |note)  settings     (.*)", out, re.M))
    doctor.verdict.equal(told, said, "words of the run")
    doctor.verdict.equal(len(said), 7, "words of the run: lines: %s" % said)
    # PAPI has no events of the kernel on processors that it does not know.
    counter = ".*nearest.*PAGE-FAULTS|OMPP_CTR1=perf::PAGE-FAULT .*its component perf_event is off: "
    for pattern in (r"OMPP_EVAL1='EXECT/EXCEC': .*, at character 7: 'EXCEC'; nearest: .*EXECC", "OMPP_EVAL2='\\(EXECT': .* at character 7",
                    "OMPP_CTR1=perf::PAGE-FAULT " + counter, "OMPP_DATA: gird: .*there is grid", "OMPP_DATA: pointer: a pointer"):
        doctor.verdict.check(any(re.search(pattern, line) for line in told), "words of the run: no '%s' in %s" % (pattern, told))
    doctor.ask("a part that may be had", ["./named"], 0, {"settings": ("ok",)}, OMPP_EVAL1="EXECT/EXECC", OMPP_DATA="grid[2]")
    doctor.ask("no hooks", [compile_(doctor.folder, "plain", NAMED, "-g", "-fopenmp")], 0,
               {"settings": ("note", "kinst-ompp --memory")}, OMPP_DATA="grid")


# Stands between launcher and program as env does, and leaves ompp out on rank 1.
FORGETS = """#!/bin/sh
if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ]; then
    case " $* " in *" -- "*) while [ "$1" != -- ]; do shift; done; shift;; esac
fi
exec "$@"
"""


def test_ranks(doctor, name, run, program, good):
    """Every rank is asked; every program of a line is looked at."""
    os.makedirs(os.path.join(doctor.folder, "bin"), exist_ok=True)
    forgets = os.path.join(doctor.folder, "bin", "env")
    with open(forgets, "w") as file:
        file.write(FORGETS)
    os.chmod(forgets, 0o755)
    doctor.ask(name + ": one rank without", [*run, "-n", "3", forgets, program], 1, {"libraries": ("BAD", "not in 1 of 3 processes, first rank 1")})
    if not harness.takes_programs(run[0]):
        return
    out = doctor.ask(name + ": two programs", [*run, "-n", "1", program, ":", "-n", "2", good, "x"], 0, {"launch": ("ok", "3 processes"),
                     "libraries": ("ok", "all 3 processes")})
    doctor.verdict.equal(re.findall(r"^ok    program      (\S+):", out, re.M), [program, good], name + ": two programs")
    doctor.verdict.check(out.endswith("-n 1 ompp -- %s : -n 2 ompp -- %s x \n" % (program, good)), name + ": command in\n" + out)
    doctor.ask(name + ": second one is static", [*run, "-n", "1", program, ":", "-n", "1", "./fixed"], 1,
               {"program": ("BAD", "./fixed", "statically"), "libraries": ("ok",)})


def test_alien(doctor, name, other, words, program):
    """Without the doctor: one line from the first of the processes, and in the report of each."""
    folder = os.path.join(doctor.folder, "%s-by-%s" % (name, other))
    os.mkdir(folder)
    done = harness.execute([*words, os.path.abspath(os.path.join(doctor.folder, program))], folder, OMP_NUM_THREADS=1)
    said = [line for line in done.messages() if "of another MPI" in line]
    doctor.verdict.equal(len(said), 1, "%s by %s, measured: %s" % (name, other, done.err))
    texts = [open(path).read() for path in done.reports("txt")]
    doctor.verdict.equal([len(re.findall("its launcher started 2 processes", text)) for text in texts], [1, 1],
                         "%s by %s: Coverage" % (name, other))


def test_bound(doctor, families, programs):
    """Ranks bound to fewer processors than threads: the command that is proposed says otherwise, whatever the user's line says."""
    if len(os.sched_getaffinity(0)) < 2:
        print("note: one processor: not tested what bound ranks are told")
        return
    for name, (run, _) in families.items():
        option, none = ("--bind-to", "--bind-to none") if name == "openmpi" else ("-bind-to", "-bind-to none")
        for said in [[option, "core"]] + ([["--map-by", "slot:PE=1"]] if name == "openmpi" else []):
            title = "%s: bound by %s" % (name, said)
            out = doctor.ask(title, [*run, *said, "-n", "1", programs[name]], 0,
                             {"processors": ("note", "2 threads on 1 processor", "mpirun " + none)}, OMP_NUM_THREADS=2)
            doctor.verdict.check(out.endswith("\n  OMP_NUM_THREADS=2 %s %s %s-n 1 ompp -- %s \n" % (run[0], none, "".join(w + " " for w in run[1:]),
                                                                                programs[name])), "%s: command in\n%s" % (title, out))


def test_mpi(doctor, good):
    families = {name: launcher(name) for name in ("openmpi", "mpich")}
    families = {name: found for name, found in families.items() if found}
    programs = {name: compile_(doctor.folder, name, PROGRAM, "-g", "-DMPI", "-fopenmp", compiler=compiler)
                for name, (_, compiler) in families.items()}
    test_bound(doctor, families, programs)
    config = harness.execute([harness.command("ompp"), "--help"], doctor.folder)
    for name, (run, _) in families.items():
        out = doctor.ask(name, [*run, "-n", "2", programs[name]], 0, {"MPI": ("ok",), "launch": ("ok", "2 processes on 1 node")})
        doctor.verdict.check(out.endswith("-n 2 ompp -- %s \n" % programs[name]), "%s: command in\n%s" % (name, out))
        doctor.ask(name + ", with ompp", [*run, "-n", "2", harness.command("ompp"), "--overwrite", "--", programs[name]], 0,
                   {"launch": ("ok", "2 processes")})
        test_ranks(doctor, name, run, programs[name], good)
        for other in families:
            if other != name:
                out = doctor.ask("%s by %s" % (name, other), ["mpirun." + other, "-n", "2", programs[name]], 1,
                                 {"launch": ("BAD", "rank 0 of 1", "mpirun." + name)}, **AS_ROOT)
                doctor.verdict.check(out.endswith("\n  mpirun.%s -n 2 ompp -- %s \n" % (name, programs[name])), "%s by %s: command in\n%s"
                                     % (name, other, out))
                test_alien(doctor, name, other, [*families[other][0], "-n", "2", harness.command("ompp"), "--"], programs[name])
        for words in ([], [*run, "-n", "1"], [*run, "-n", "2"]):
            done = harness.execute([*words, harness.command("ompp"), "--", programs[name]], doctor.folder)
            doctor.verdict.check("of another MPI" not in done.err, "%s: %s: %s" % (name, words, done.err))
        doctor.ask(name + ": nothing is started", [*run, "-n", "2", "--no-such-option", programs[name]], 1, {"launch": ("BAD",)})
    test_refusals(doctor, good)
    test_slurm(doctor, programs, good)
    doctor.verdict.check("ompp doctor" in config.out, "ompp --help does not name doctor")


def test_refusals(doctor, good):
    """What mpirun of Open MPI says when it starts nothing, and the option that mends it."""
    for said, option in (("mpirun has detected an attempt to run as root.", "--allow-run-as-root"),
                         ("There are not enough slots available in the system to satisfy the 20", "--oversubscribe")):
        refuses = os.path.join(doctor.folder, "bin", "mpirun")
        with open(refuses, "w") as file:
            file.write("#!/bin/sh\necho '%s' >&2\nexit 1\n" % said)
        os.chmod(refuses, 0o755)
        out = doctor.ask("refused: " + said, [refuses, "-n", "20", good], 1, {"launch": ("BAD", re.escape(said), option)}, OMP_NUM_THREADS=2)
        doctor.verdict.check(out.endswith("\n  OMP_NUM_THREADS=2 %s %s -n 20 ompp -- %s \n" % (refuses, option, good)), "refused: command in\n" + out)
    os.remove(refuses)


# Slurm's launcher as far as a program sees it: two tasks, and what --mpi gives them.
SRUN = """#!/bin/sh
give= bind=
while :; do
    case $1 in
    --mpi=*) give=${1#--mpi=} ;;
    -n) shift ;;
    -c) bind="taskset -c 0"; shift ;;
    *) break ;;
    esac
    shift
done
export SLURM_JOB_ID=17 SLURM_STEP_ID=2 SLURM_NTASKS=2
for rank in 0 1; do
    case $give in
    pmix) extra="PMIX_RANK=$rank PMIX_NAMESPACE=slurm.pmix.17.2" ;;
    pmi2) extra="PMI_RANK=$rank PMI_SIZE=2 PMI_JOBID=17.2" ;;
    *) extra= ;;
    esac
    env SLURM_PROCID=$rank $extra $bind "$@" &
done
wait
"""


def test_slurm(doctor, programs, good):
    """srun has to give PMIx to Open MPI, PMI2 to MPICH."""
    srun = os.path.join(doctor.folder, "bin", "srun")
    with open(srun, "w") as file:
        file.write(SRUN)
    os.chmod(srun, 0o755)
    if len(os.sched_getaffinity(0)) > 1:
        out = doctor.ask("srun -c 1", [srun, "-c", "1", "-n", "2", good], 0,
                         {"processors": ("note", "2 threads on 1 processor", "srun --cpus-per-task=N")}, OMP_NUM_THREADS=2)
        each = min(2, max(1, len(os.sched_getaffinity(0)) // 2))  # processors of a rank
        doctor.verdict.check(out.endswith("\n  OMP_NUM_THREADS=%d %s --cpus-per-task=%d -n 2 ompp -- %s \n" % (each, srun, each, good)), "srun -c 1: command in\n" + out)
    for name, program in programs.items():
        wanted = {"openmpi": "pmix", "mpich": "pmi2"}[name]
        libraries = harness.execute(["ldd", program], doctor.folder).out
        for option in ([], ["--mpi=pmix"], ["--mpi=pmi2"]):
            good = option == ["--mpi=" + wanted] or name == "mpich" and re.search("libpmi2?.so|libpmix.so", libraries)
            out = doctor.ask("srun %s: %s" % (option, name), [srun, *option, "-n", "2", program], 0 if good else 1,
                             {"launch": ("ok", "2 processes") if good else ("BAD", "not find each other", "--mpi=" + wanted)})
            if not good or option:
                doctor.verdict.check(out.endswith("\n  %s --mpi=%s -n 2 ompp -- %s \n" % (srun, wanted, program)), "srun %s: command in\n%s"
                                     % (option, out))


def main():
    verdict, scratch = harness.Verdict("doctor"), harness.Scratch("doctor")
    doctor = Doctor(verdict, scratch.path)
    try:
        good = test_alone(doctor)
        test_directories(doctor, good)
        test_debug_apart(doctor)
        test_options(doctor, good)
        test_mpi(doctor, good)
    except harness.Failure as failure:
        verdict.check(False, str(failure))
    verdict.finish(scratch)


main()
