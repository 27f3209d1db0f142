"""What every end-to-end test needs: a scratch directory, building through kinst-ompp, running, finding the report, and the verdict.

Environment, set by tests/Makefile.inc.am or by hand: abs_top_builddir (the working directory when it is not set), or OMPP_TEST_BIN: the
directory with the commands. Run by hand from the build directory: ../tests/run/omp_facts.py [NAME...]
"""

import glob
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import machine
import ompp_profile
import tolerance

SKIP = 77
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(os.environ.get("abs_top_builddir") or os.environ.get("top_builddir") or ".")
SCHEMA = os.path.join(SOURCE, "src", "report", "ompp-profile.xsd")
LIMIT = 120  # seconds for one run: a hang is a failure, not a wait
TRIES = 3    # so often a program that fails without ompp is run again

# What Open MPI needs to spawn on a machine alone: jobs of version 5 reach each other by TCP only, and find no slots but these.
ALONE = {"OMPI_MCA_btl_tcp_if_include": "lo", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}

# How programs are built: name -> (compiler, kinst-ompp options).
COMPILERS = {"opari": os.environ.get("TEST_GCC", "gcc"), "ompt": os.environ.get("TEST_CLANG", "clang-19")}


def skip(reason):
    print("SKIP: " + reason)
    sys.exit(SKIP)


def command(name):
    """A command of the build tree, or the installed one."""
    for folder in (os.environ.get("OMPP_TEST_BIN"), os.path.join(BUILD, "tools"), BUILD):
        if folder and os.access(os.path.join(folder, name), os.X_OK):
            return os.path.join(folder, name)
    return shutil.which(name) or skip("no %s in %s" % (name, BUILD))


def sources():
    """OpenMP sources that can be tested here, in a fixed order; skips when there is none."""
    found = [s for s in ("opari", "ompt") if shutil.which(COMPILERS[s])]
    if "opari" in found and not shutil.which(os.environ.get("OPARI2", "opari2")):
        found.remove("opari")
    for missing in sorted(set(COMPILERS) - set(found)):
        print("note: not tested with %s: no compiler or tool for it" % missing)
    return found or skip("neither gcc with opari2 nor clang")


def plain_sources():
    """Sources for programs that nobody rebuilt."""
    return ["gomp"] if shutil.which(COMPILERS["opari"]) else []


def preloaded_sources():
    """The same, on either library: llvm is gomp with LLVM's in place of libgomp."""
    return plain_sources() + (["llvm"] if plain_sources() and libomp() else [])


def libomp():
    """LLVM's OpenMP library, as ompp finds it."""
    done = execute([command("ompp"), "--omp-runtime=llvm", "-n", "--", sys.executable], ".")
    found = re.search(r"LD_PRELOAD='[^']*?([^:']*/libomp\.so\.5)", done.out)
    return found.group(1) if found else None


def mpirun():
    runner = os.environ.get("MPIRUN", "mpirun")
    return runner if shutil.which(runner) else skip("no mpirun")


class Scratch:
    """A directory for one test; kept when the test fails or OMPP_TEST_KEEP is set."""

    def __init__(self, name):
        self.path, self.begin = tempfile.mkdtemp(prefix="ompp-test-%s-" % name), time.time()

    def file(self, *parts):
        path = os.path.join(self.path, *parts)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def fresh(self, *parts):
        """A folder that is not there yet: the name with a number."""
        path = self.file(*parts[:-1], re.sub(r"\W+", "-", parts[-1]))
        return next(p for p in ("%s-%d" % (path, number) for number in itertools.count(1)) if not os.path.exists(p))

    def done(self, good):
        if good and not os.environ.get("OMPP_TEST_KEEP"):
            shutil.rmtree(self.path, ignore_errors=True)
            self.remove_left()
        else:
            print("kept: " + self.path)

    def remove_left(self):
        """What killed programs of this test have left in memory: profiles that name this directory, and a file of LLVM's OpenMP library."""
        for path in glob.glob("/dev/shm/ompp-*-*-*") + glob.glob("/dev/shm/__KMP_REGISTERED_LIB_*"):
            try:
                if os.stat(path).st_mtime < self.begin:
                    continue
                with open(path, "rb") as file:
                    ours = self.path.encode() in file.read() if "ompp-" in path else not os.path.exists("/proc/" + path.split("_")[-2])
                if ours:
                    os.unlink(path)
            except OSError:
                continue


class Outcome:
    def __init__(self, status, out, err, folder):
        self.status, self.out, self.err, self.folder = status, out, err, folder

    def messages(self):
        """Lines on stderr that are ours, without the one that says where the report is."""
        return [line for line in self.err.splitlines() if line.startswith("ompp") and not line.startswith("ompp: report: ")]

    def complaints(self):
        """Messages without the one of short programs with clocks: whether one has what-if results is chance."""
        return [line for line in self.messages() if "no what-if result" not in line]

    def reports(self, kind="xml"):
        return sorted(glob.glob(os.path.join(self.folder, "*.ompp." + kind)))

    def profile(self):
        found = self.reports()
        if len(found) != 1:
            raise Failure("%d XML reports instead of 1 in %s; stderr: %s" % (len(found), self.folder, self.err[-800:]))
        return ompp_profile.Profile(found[0])


class Failure(Exception):
    pass


def wait_for(condition, what):
    """Asks again and again until it holds."""
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            raise Failure("not seen within %d s: %s" % (LIMIT, what))
        time.sleep(0.1)


def environment(**changes):
    keep = {k: v for k, v in os.environ.items() if not k.startswith(("OMPP_", "OMP_", "KMP_", "GOMP_"))}
    keep.update(OMP_WAIT_POLICY="passive", OMP_DYNAMIC="false", LC_ALL="C")
    keep.update({k: str(v) for k, v in changes.items()})
    return keep


def execute(words, folder, **changes):
    done = subprocess.run(words, cwd=folder, env=environment(**changes), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=LIMIT, universal_newlines=True, errors="replace")
    return Outcome(done.returncode, done.stdout, done.stderr, folder)


def build(source, output, how, mpi=False, flags=("-O0", "-g"), instrument=True):
    """Compiles one C file in the folder of the output. how: opari or ompt; instrument False: the plain program."""
    words = [command("kinst-ompp"), "--with=" + how] if instrument else []
    words += [os.environ.get("MPICC", "mpicc") if mpi else COMPILERS[how], "-fopenmp", "-pthread", *flags, source, "-o", output]
    done = execute(words, os.path.dirname(output), OMPI_CC=COMPILERS[how], MPICH_CC=COMPILERS[how])
    if done.status != 0:
        raise Failure("cannot build: %s\n%s" % (" ".join(words), done.err[-1500:]))


def builds_of_each_mpi(scratch, source, flags=("-O0", "-g")):
    """
    For each MPI here: (its name, its launcher, {"plain": program, "measured": program}). MPICC names its compiler while the caller works
    with them. Without any MPI the test is skipped.
    """
    found = False
    for name in ("openmpi", "mpich"):
        launcher, compiler = "mpirun." + name, "mpicc." + name
        if not shutil.which(launcher) or not shutil.which(compiler):
            print("note: not tested with %s" % name)
            continue
        os.environ["MPICC"], found = compiler, True
        programs = {kind: scratch.file(name, kind, os.path.basename(source)[:-2]) for kind in ("plain", "measured")}
        for kind, program in programs.items():
            build(source, program, sources()[0], mpi=True, flags=flags, instrument=kind == "measured")
        yield name, launcher, programs
    if not found:
        skip("no MPI here")


def launcher_options(launcher):
    """What an MPI launcher needs on a small machine, in a container."""
    return ["--oversubscribe", "--allow-run-as-root"] if re.search("Open ?MPI|OpenRTE", version_of(launcher)) else []


def takes_programs(launcher):
    """Whether it starts several programs with ":" between them; that of Open MPI 5.0.7 crashes."""
    words = [launcher, *launcher_options(launcher), "-n", "1", "true"]
    good = execute([*words, ":", *words[-3:]], ".").status == 0
    if not good:
        print("note: %s does not start several programs here, without measurement either" % launcher)
    return good


def run(program, folder, threads, ranks=0, args=(), **changes):
    """Runs in a fresh folder; ranks 0: without mpirun."""
    os.makedirs(folder, exist_ok=True)
    words = [program, *args]
    if ranks:
        options = launcher_options(mpirun())
        words = [mpirun(), *options, "-n", str(ranks)] + words
    return execute(words, folder, OMP_NUM_THREADS=threads, **changes)


def compare(verdict, scratch, title, words, *options, counts):
    """
    Runs words with four threads without ompp and under it: status and output are the same, the profile obeys the rules, and the regions
    of each type in counts were executed that often by all threads. Returns the profile; None where the program fails without ompp.
    """
    plain = verdict.unmeasured(title, lambda: run(words[0], scratch.path, 4, args=words[1:]), survives)
    if not plain:
        return None
    measured = run(command("ompp"), scratch.file(title, "x")[:-2], 4, args=(*options, "--", *words))
    verdict.equal((measured.status, measured.out), (plain.status, plain.out), title + ": result")
    profile = measured.profile()
    verdict.profile(profile, title)
    for kind, count in counts.items():
        verdict.equal(sum(profile.total("execC", of_type(profile, kind)).values()), count, "%s: %s" % (title, kind))
    return profile


def of_type(profile, kind):
    """Regions of exactly this type."""
    return [r for r in profile.find(kind) if r.type == kind]


_versions = {}


def version_of(tool):
    if tool not in _versions:
        _versions[tool] = execute([tool, "--version"], ".").out
    return _versions[tool]


def labels(source):
    """Lines below /* @label */ comments, and of /* @end label */."""
    begin, end = {}, {}
    for number, line in enumerate(open(source), 1):
        for word in re.findall(r"/\* @end (\w+) \*/", line):
            end[word] = number
        for word in re.findall(r"/\* @(?!end )(\w+) \*/", line):
            begin[word] = number + 1
    return begin, end


def succeeds(outcome):
    return outcome.status == 0


def survives(outcome):
    """No signal has ended the program."""
    return 0 <= outcome.status < 128


class Verdict:
    """Collects what failed, and says how many checks there were."""

    def __init__(self, name):
        self.name, self.failed, self.by_chance, self.unjudged, self.left_out, self.checks, self.repeated = name, [], [], [], [], 0, 0
        self.begin = time.monotonic()

    def check(self, good, text):
        self.checks += 1
        if not good:
            self.failed.append(text)
            print("FAIL: " + text)
        return good

    def equal(self, found, wanted, text):
        return self.check(found == wanted, "%s: found %s, wanted %s" % (text, found, wanted))

    def profile(self, profile, text):
        """The rules that hold in every profile, and its schema and text report."""
        for defect in profile.defects():
            self.check(False, "%s: %s" % (text, defect))
        self.checks += 1
        validate(self, profile.path, text)

    def unmeasured(self, title, start, good=succeeds):
        """
        What start() returns: the outcome of a program that runs without ompp. A program that fails without ompp says nothing about
        ompp. So the run is repeated until good(outcome) holds, TRIES times at most. Then None is returned: the caller leaves the case
        out, and a test in which all else holds is skipped.
        """
        for number in range(TRIES):
            try:
                outcome = start()
                if good(outcome):
                    return outcome
                reason = "status %s: %s" % (outcome.status, (outcome.err or outcome.out).strip()[-300:])
            except subprocess.TimeoutExpired:
                reason = "no end within %d s" % LIMIT
            print("note: %s: the program fails without ompp (run %d of %d): %s" % (title, number + 1, TRIES, reason))
        self.left_out.append("%s (%s)" % (title, reason))
        return None

    def tried(self, attempt):
        """
        attempt(verdict) runs a program and checks it. Where nothing but checks by chance() fails, it is done again, TRIES times at most,
        said aloud: what is wrong by chance is right then.
        """
        for number in range(TRIES):
            last = Verdict(self.name)
            attempt(last)
            by_chance = set(last.failed) <= set(last.by_chance)
            if not last.failed or not by_chance or number + 1 == TRIES:
                break
            self.repeated += 1
            print("measuring again (%d of %d)" % (number + 2, TRIES))
        self.checks += last.checks
        self.failed += last.failed

    def chance(self, good, text):
        """A check of what is drawn by lot, as samples are, or depends on what else runs. Within an attempt of tried()."""
        if not good:
            self.by_chance.append(text)
        return self.check(good, text)

    def timed(self, attempt):
        """
        attempt() returns a list of time failures and how many checks there were. Times that are off are measured again, said aloud; they
        have failed when they were off twice while the machine was quiet, and are not judged when it was not; but for those that were
        grossly wrong (tolerance.Gross) whenever sleepers were in time, twice at least.
        """
        quiet, calm = [], []
        machine.alone(BUILD)
        for number in range(tolerance.ATTEMPTS):
            with machine.Watch() as watch:
                bad, checks = attempt()
            if not bad:
                break
            if watch.calm:
                calm.append([text for text in bad if isinstance(text, tolerance.Gross)])
            if not watch.disturbed:
                quiet.append(bad)
            elif number + 1 >= tolerance.ATTEMPTS_LATE and time.monotonic() - self.begin > tolerance.PATIENCE:
                break
            if number + 1 < tolerance.ATTEMPTS:
                self.repeated += 1
                print("times are off%s, measuring again (%d of %d): %s" % (
                    " (%s)" % watch.disturbed if watch.disturbed else "", number + 2, tolerance.ATTEMPTS, "; ".join(bad[:3])))
        self.checks += checks
        failed = quiet[-1] if len(quiet) > 1 else calm[-1] if len(calm) > 1 and all(calm) else []
        if bad and not failed:
            self.unjudged.append("%s (%s)" % (bad[0], watch.disturbed or "the machine was busy before"))
            print("not judged: " + "; ".join(bad[:3]))
        for text in failed if bad else []:
            self.check(False, text)

    def finish(self, scratch):
        scratch.done(not self.failed)
        print("%s: %d checks, %d failed%s" % (self.name, self.checks, len(self.failed),
                                             ", measured again %d times" % self.repeated if self.repeated else ""))
        why = []
        if self.left_out:
            why.append("%d programs fail without ompp: %s" % (len(self.left_out), self.left_out[0]))
        if self.unjudged:
            why.append("%d times not judged, the machine was never quiet: %s" % (len(self.unjudged), self.unjudged[0]))
        if why and not self.failed:
            skip("all else holds; " + "; ".join(why).replace("\n", " "))
        sys.exit(1 if self.failed else 0)


def validate(verdict, path, text):
    lint, checker = shutil.which("xmllint"), os.path.join(SOURCE, "tests", "check", "ompp-check.py")
    if lint and os.path.exists(SCHEMA):
        done = execute([lint, "--noout", "--schema", SCHEMA, path], os.path.dirname(path))
        verdict.check(done.status == 0, "%s: schema: %s" % (text, done.err[-500:]))
    report = path[:-len("xml")] + "txt"
    if verdict.check(os.path.exists(report), "%s: no text report beside %s" % (text, path)) and os.path.exists(checker):
        done = execute([sys.executable, checker, report], os.path.dirname(path))
        verdict.check(done.status == 0, "%s: %s: %s" % (text, os.path.basename(checker), (done.out + done.err)[-500:]))


def over_programs(title, folder, test):
    """Calls test(verdict, scratch, name) for the programs named on the command line, else for each with a NAME.facts in the folder."""
    names = sys.argv[1:] or sorted(os.path.basename(f)[:-len(".facts")] for f in glob.glob(os.path.join(folder, "*.facts")))
    verdict, scratch = Verdict(title), Scratch(title)
    for name in names:
        try:
            test(verdict, scratch, name)
        except (Failure, subprocess.TimeoutExpired) as failure:
            verdict.check(False, "%s: %s" % (name, failure))
    verdict.finish(scratch)


# A kernel that does not permit performance counters.
REFUSE_EVENTS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <sys/syscall.h>
long syscall(long number, ...)
{
    static long (*real)(long, ...);
    va_list args;
    long a[6];
    va_start(args, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    const struct perf_event_attr *attr = (void *)a[0];
    if (number == SYS_perf_event_open && attr && (WHICH)) {
        errno = WHY;
        return -1;
    }
    if (!real)
        real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
"""


def refuse_events(folder, which="1", why="EACCES"):
    """A library to be preloaded, with which perf_event_open is refused. which: of attr, a condition in C; why: errno."""
    source, library = os.path.join(folder, "refuse-events.c"), os.path.join(folder, "refuse-events.so")
    with open(source, "w") as file:
        file.write(REFUSE_EVENTS)
    done = execute([COMPILERS["opari"], "-shared", "-fPIC", "-DWHICH=" + which, "-DWHY=" + why, source, "-o", library, "-ldl"], folder)
    if done.status:
        raise Failure("cannot build refuse-events.so: " + done.err[-500:])
    return library
