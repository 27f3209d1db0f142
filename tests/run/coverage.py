#!/usr/bin/env python3
"""
What the Coverage section says comes with numbers that are right: share of thread time outside measured regions, MPI functions that are
imported and not wrapped, counters that are refused, entries that found no room.
"""

import os
import re
import shutil

import harness

OUTSIDE = """
#include <ompp.h>
#include <unistd.h>
int main(void)
{
    ompp_region_begin("inside");
    usleep(100000);
    ompp_region_end("inside");
    usleep(300000);
    ompp_region_begin("inside");
    ompp_region_end("inside");
    return 0;
}
"""
BESIDE = """
#include <ompp.h>
#include <unistd.h>
int main(void)
{
    ompp_region_begin("alone");
    usleep(100000);
    ompp_region_end("alone");
    usleep(100000);
#pragma omp parallel
    usleep(100000);
    return 0;
}
"""
INNER = """
#include <omp.h>
#include <unistd.h>
int main(void)
{
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
#pragma omp parallel num_threads(2)
        usleep(100000);
    }
    return 0;
}
"""
MANY = """
#include <ompp.h>
#include <stdio.h>
int main(void)
{
    char name[32];
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 5000; i++) {
            sprintf(name, "region %d", i);
            ompp_region_begin(name);
            ompp_region_end(name);
        }
    return 0;
}
"""
IMPORTS = """
#include <mpi.h>
int MPIX_Of_another_library(void);
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPIX_Of_another_library();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"""


ASLEEP = """
#include <unistd.h>
int main(void)
{
#pragma omp parallel
    usleep(300000);
    return 0;
}
"""

BUSY = """
#include <stdio.h>
#include <time.h>
static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
int main(int argc, char **argv)
{
#ifdef MPI
    MPI_Init(&argc, &argv);
#endif
#pragma omp parallel
    for (double begin = cpu(); cpu() < begin + 0.3;) continue;
#ifdef MPI
    MPI_Finalize();
#endif
    return 0;
}
"""


def build(folder, name, source, *words, compiler=None):
    with open(os.path.join(folder, name + ".c"), "w") as file:
        file.write(source)
    compiler = compiler or harness.COMPILERS[harness.sources()[0]]
    front = [] if "-shared" in words else [harness.command("kinst-ompp")]
    done = harness.execute(front + [compiler, "-g", name + ".c", "-o", name, *words], folder, OMPI_CC=harness.COMPILERS["opari"])
    if done.status:
        raise harness.Failure("cannot build %s: %s" % (name, done.err[-500:]))
    return os.path.join(folder, name)


def lines(profile, kind):
    return [c for c in profile.coverage if c["kind"] == kind]


def test_outside(verdict, folder):
    """By the profile's own times: what the regions at the top do not have of the threads' time."""
    outcome = harness.run(build(folder, "outside", OUTSIDE), os.path.join(folder, "run-outside"), 1)
    profile = outcome.profile()
    inside = sum(profile.total("execT", profile.find("USER REGION", name="inside")).values())
    share = 1 - inside / int(profile.ranks[0]["duration-ns"])
    told = re.search(r"^share of thread time outside any measured region: +([\d.]+) %$", open(outcome.reports("txt")[0]).read(), re.M)
    verdict.check(told and abs(float(told[1]) - 100 * share) < 0.11 and share > 0.5, "outside: %.2f %% by the times, the report says %s"
                  % (100 * share, told and told[1]))


def test_root(verdict, folder):
    """With several threads: the same as the callgraph's root says. What one thread does alone counts for all."""
    outcome = harness.run(build(folder, "beside", BESIDE, "-fopenmp"), os.path.join(folder, "run-beside"), 4)
    text, profile = open(outcome.reports("txt")[0]).read(), outcome.profile()
    told = re.search(r"^share of thread time outside any measured region: +([\d.]+) %$", text, re.M)
    root = re.search(r"^ +[\d.]+ \(100.0%\) +[\d.]+ \( *([\d.]+)%\) +\[beside: 4 threads\]$", text, re.M)
    alone = sum(profile.total("execT", profile.find("USER REGION", name="alone")).values())
    together = sum(profile.total("execT", profile.find("PARALLEL")).values())
    duration = int(profile.ranks[0]["duration-ns"])
    verdict.check(told and root and abs(float(told[1]) - float(root[1])) < 0.06, "the root's share: %s, Coverage %s" % (root and root[1], told and told[1]))
    verdict.check(told and abs(float(told[1]) - 100 * (1 - (alone + together / 4) / duration)) < 0.11, "outside: %s by Coverage; %d alone, %d together, of %d"
                  % (told and told[1], alone, together, duration))


def test_inner(verdict, folder):
    """Threads of inner teams are inside, though the outer region does not have them."""
    outcome = harness.run(build(folder, "inner", INNER, "-fopenmp"), os.path.join(folder, "run-inner"), 2)
    profile = outcome.profile()
    told = re.search(r"^share of thread time outside any measured region: +([\d.]+) %$", open(outcome.reports("txt")[0]).read(), re.M)
    outer, inner = sorted((profile.total("execT", [region]) for region in profile.find("PARALLEL")), key=len)
    inside = sum(outer.values()) + sum(time for thread, time in inner.items() if not outer.get(thread))
    slots, duration = int(profile.ranks[0]["threads"]), int(profile.ranks[0]["duration-ns"])
    verdict.check(told and slots == 4 and abs(float(told[1]) - 100 * (1 - inside / slots / duration)) < 0.11,
                  "teams in teams: %s by Coverage; %d inside, %d threads for %d" % (told and told[1], inside, slots, duration))


def test_room(verdict, folder):
    """Every entry is counted: in a region, or as dropped."""
    outcome = harness.run(build(folder, "many", MANY), os.path.join(folder, "run-many"), 1, OMPP_MEMORY="256k")
    profile = outcome.profile()
    measured = sum(profile.total("execC", profile.find("USER REGION")).values())
    dropped = sum(int(c["count"]) for c in lines(profile, "dropped") if c["subject"] == "region entries")
    verdict.equal(measured + dropped, 10000, "no room: %d measured and %d dropped" % (measured, dropped))
    verdict.check(measured > 100 and dropped > 100, "no room: %d measured and %d dropped" % (measured, dropped))


def test_counters(verdict, folder):
    outcome = harness.run(os.path.join(folder, "outside"), os.path.join(folder, "run-counter"), 1, OMPP_CTR1="no::SUCH_EVENT")
    refused = lines(outcome.profile(), "refused")
    verdict.check(any("no::SUCH_EVENT" in c["subject"] and len(c.get("reason", "")) > 3 for c in refused),
                  "a counter that does not exist: %s; %s" % (refused, outcome.err[-300:]))


def test_imports(verdict, folder):
    harness.mpirun()
    extra = build(folder, "libextra.so", "int MPIX_Of_another_library(void) { return 0; }", "-shared", "-fPIC")
    program = build(folder, "imports", IMPORTS, extra, compiler=os.environ.get("MPICC", "mpicc"))
    for ranks in (1, 2):
        profile = harness.run(program, os.path.join(folder, "run-imports-%d" % ranks), 1, ranks).profile()
        found = [c["subject"] for c in lines(profile, "mpi-unwrapped")]
        verdict.equal(found, ["MPIX_Of_another_library"], "%d ranks: imported and not wrapped" % ranks)


def check_cause(verdict, title, outcome, subject, reason):
    """Behind the line that threads have waited for processors stands why, and the word that mends it."""
    profile = outcome.profile()
    verdict.check(lines(profile, "starved"), title + ": threads waited, and Coverage does not say it")
    found = [c for c in lines(profile, "shared") if re.search(subject, c["subject"])]
    verdict.check(len(found) == 1 and re.search(reason, found[0].get("reason", "")), "%s: cause: %s" % (title, lines(profile, "shared")))
    summary = re.search(r"-- +ompp Summary +-+\n-+\n(.*?)\n\n", open(outcome.reports("txt")[0]).read(), re.S)[1]
    verdict.check(re.search("^Caution: " + subject.strip("^$"), summary, re.M), "%s: no Caution of it: %s" % (title, summary))


def launchers():
    """Name -> words that bind a rank to one core."""
    for name, words in (("openmpi", ["--allow-run-as-root", "--bind-to", "core"]), ("mpich", ["-bind-to", "core"])):
        if shutil.which("mpirun." + name) and shutil.which("mpicc." + name):
            yield name, ["mpirun." + name, *words, "-n", "1"], "mpicc." + name
        else:
            print("note: not tested with %s" % name)


def test_bound(verdict, folder):
    """Two threads on one processor of several."""
    online = os.sysconf("SC_NPROCESSORS_ONLN")
    program = build(folder, "busy", BUSY, "-fopenmp")
    if online < 2 or len(os.sched_getaffinity(0)) < 2:
        print("note: one processor: not tested what bound threads are told")
        return
    bound, first = "^2 threads are bound to 1 of %d processors$" % online, str(min(os.sched_getaffinity(0)))
    where = os.path.join(folder, "taskset")
    os.mkdir(where)
    outcome = harness.execute(["taskset", "-c", first, program], where, OMP_NUM_THREADS=2)
    check_cause(verdict, "taskset", outcome, bound, "^taskset, .*OMP_NUM_THREADS=1$")
    threads = 2 * len(os.sched_getaffinity(0))
    outcome = harness.run(program, os.path.join(folder, "many-threads"), threads)
    if len(os.sched_getaffinity(0)) == online:
        check_cause(verdict, "too many threads", outcome, "^%d threads share %d processors$" % (threads, online), "^OMP_NUM_THREADS=%d" % online)
    # As many that have nothing to do: it costs nothing, and nothing is said.
    profile = harness.run(build(folder, "asleep", ASLEEP, "-fopenmp"), os.path.join(folder, "many-asleep"), threads).profile()
    verdict.equal(lines(profile, "shared"), [], "many threads that sleep")
    for name, words, compiler in launchers():
        program = build(folder, "busy-" + name, BUSY, "-fopenmp", "-DMPI", "-include", "mpi.h", compiler=compiler)
        where = os.path.join(folder, "run-" + name)
        os.mkdir(where)
        outcome = harness.execute([*words, program], where, OMP_NUM_THREADS=2)
        check_cause(verdict, name, outcome, bound, "^mpirun --?bind-to none.*; or OMP_NUM_THREADS=1$")


def main():
    verdict, scratch = harness.Verdict("coverage"), harness.Scratch("coverage")
    try:
        for test in (test_outside, test_root, test_inner, test_room, test_counters, test_imports, test_bound):
            test(verdict, scratch.path)
    except harness.Failure as failure:
        verdict.check(False, str(failure))
    verdict.finish(scratch)


main()
