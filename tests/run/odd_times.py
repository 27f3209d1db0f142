#!/usr/bin/env python3
"""
Programs made by chance, of what is odd about threads: teams in teams, threads of the program's own with teams, detached ones, a pool, tasks,
locks, children that are forked and children that end in a team, threads and teams that overlap. In each report no time is longer than
the run, no share is above 100 %, sections agree, and text and XML are in order.

By hand: odd_times.py FIRST LAST tries the seeds between.
"""

import os
import random
import re
import sys

import harness

SEEDS = 3, 4, 13, 26, 36

FRAME = """
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef MPI
#include <mpi.h>
#endif
static omp_lock_t lock;
static _Atomic int detached;
static volatile double sink;
static void work(int us)
{
    for (int i = 0; i < 20 * us; i++) sink = sink + i;
}
static void nap(int us) { usleep((useconds_t)us); }
/* Threads that get their work one by one. */
enum { POOL = 3 };
static struct {
    pthread_mutex_t lock;
    pthread_cond_t change;
    void (*job[200])(void);
    int first, last, busy, over;
    pthread_t thread[POOL];
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER};
static void *serve(void *unused)
{
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (pool.first == pool.last && !pool.over) pthread_cond_wait(&pool.change, &pool.lock);
        if (pool.first == pool.last) break;
        void (*job)(void) = pool.job[pool.first++];
        pool.busy++;
        pthread_mutex_unlock(&pool.lock);
        job();
        pthread_mutex_lock(&pool.lock);
        pool.busy--;
        pthread_cond_broadcast(&pool.change);
    }
    pthread_mutex_unlock(&pool.lock);
    return unused;
}
static void give(void (*job)(void))
{
    pthread_mutex_lock(&pool.lock);
    if (pool.last < 200) pool.job[pool.last++] = job;
    pthread_cond_broadcast(&pool.change);
    pthread_mutex_unlock(&pool.lock);
}
static void *run(void *job)
{
    ((void (*)(void))job)();
    return NULL;
}
static void *run_detached(void *job)
{
    run(job);
    detached--;
    return NULL;
}
static void beside(void (*job)(void), void (*meanwhile)(void))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, (void *)job) != 0) return;
    meanwhile();
    pthread_join(thread, NULL);
}
static void detach(void (*job)(void))
{
    pthread_t thread;
    detached++;
    if (pthread_create(&thread, NULL, run_detached, (void *)job) != 0) detached--;
    else pthread_detach(thread);
}
static void child(void (*job)(void), int end)
{
    const pid_t pid = fork();
    if (pid == 0) {
        if (job) job();
        if (end) _exit(0);
        exit(0);
    }
    waitpid(pid, NULL, 0);
}
#ifdef MPI
static void to_self(void)
{
    int x = 1, y, tag = (int)(pthread_self() >> 12 & 0x3fff);
    MPI_Request request;
    MPI_Irecv(&y, 1, MPI_INT, 0, tag, MPI_COMM_SELF, &request);
    usleep(300);
    MPI_Send(&x, 1, MPI_INT, 0, tag, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
#endif
"""

MAIN = """
int main(int argc, char **argv)
{
    int given = 0;
    (void)argc, (void)argv, (void)given;
    omp_init_lock(&lock);
    omp_set_max_active_levels(4);
#ifdef MPI
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
#endif
    for (int i = 0; i < POOL; i++) pthread_create(&pool.thread[i], NULL, serve, NULL);
%s
    pthread_mutex_lock(&pool.lock);
    while (%s && (pool.first < pool.last || pool.busy)) pthread_cond_wait(&pool.change, &pool.lock);
    pool.over = 1;
    pthread_cond_broadcast(&pool.change);
    pthread_mutex_unlock(&pool.lock);
    for (int i = 0; i < POOL; i++) pthread_join(pool.thread[i], NULL);
    while (%s && detached) usleep(1000);
#ifdef MPI
    while (detached) usleep(1000);
    MPI_Finalize();
#endif
    puts("done");
    return 0;
}
"""


class Maker:
    """C functions job_0, job_1, ...: each of some statements, which may call functions before it."""

    def __init__(self, seed, mpi):
        self.random, self.jobs, self.mpi, self.in_team = random.Random(seed), [], mpi, False

    def pick(self, *choices):
        return self.random.choice(choices)

    def us(self):
        return self.pick(0, 10, 100, 500, 2000)

    def job(self):
        return self.random.randrange(len(self.jobs)) if self.jobs else None

    def simple(self):
        return self.pick("work(%d);", "nap(%d);") % self.us()

    def inside(self, depth):
        """Statements that each thread of a team may run, in any order of threads."""
        kinds = ["simple", "critical", "lock", "atomic", "single", "loop", "master", "barrier", "taskgroup", "tasks", "taskloop", "sections", "uneven"]
        if depth < 2:
            kinds += ["parallel", "parallel", "beside"]
        return self.block(self.random.randint(1, 4), kinds, depth)

    def block(self, n, kinds, depth):
        return "\n".join(getattr(self, "make_" + self.random.choice(kinds))(depth) for _ in range(n))

    def make_simple(self, _):
        return self.simple()

    def make_critical(self, _):
        return "\n#pragma omp critical%s\n{ %s }" % (self.pick("", "(a)", "(b)"), self.simple())

    def make_lock(self, _):
        return "omp_set_lock(&lock); %s omp_unset_lock(&lock);" % self.simple()

    def make_atomic(self, _):
        return "{ static int n;\n#pragma omp atomic\nn++;\n}"

    def make_single(self, _):
        return "\n#pragma omp single%s\n{ %s }" % (self.pick("", " nowait"), self.simple())

    def make_master(self, _):
        return "\n#pragma omp master\n{ %s }" % self.simple()

    def make_barrier(self, _):
        return "\n#pragma omp barrier\n"

    def make_uneven(self, _):
        return "if (omp_get_thread_num() == 0) { %s }" % self.simple()

    def make_loop(self, _):
        return "\n#pragma omp for schedule(%s)%s\nfor (int i = 0; i < %d; i++) { %s }" % (
            self.pick("static", "dynamic", "guided", "dynamic,2"), self.pick("", " nowait"), self.pick(0, 1, 3, 10), self.simple())

    def make_sections(self, _):
        return "\n#pragma omp sections\n{ { %s }\n#pragma omp section\n{ %s } }" % (self.simple(), self.simple())

    def make_tasks(self, _):
        return ("for (int i = 0; i < %d; i++)\n{\n#pragma omp task\n{ %s\n#pragma omp task\n{ %s }\n%s }\n}\n%s\n" %
                (self.pick(1, 3, 8), self.simple(), self.simple(), self.pick("", "\n#pragma omp taskwait\n"), self.pick("", "\n#pragma omp taskwait\n", "\n#pragma omp taskyield\n")))

    def make_taskgroup(self, _):
        return "\n#pragma omp taskgroup\n{\n#pragma omp task\n{ %s }\n}" % self.simple()

    def make_taskloop(self, _):
        return "\n#pragma omp single\n{\n#pragma omp taskloop grainsize(2)\nfor (int i = 0; i < %d; i++) { %s }\n}" % (self.pick(1, 9), self.simple())

    def make_parallel(self, depth):
        return "\n#pragma omp parallel num_threads(%d)\n{\n%s\n}" % (self.pick(1, 2, 2, 3, 4), self.inside(depth + 1))

    def make_combined(self, _):
        return "\n#pragma omp parallel for num_threads(%d) schedule(dynamic)\nfor (int i = 0; i < %d; i++) { %s }" % (self.pick(1, 2, 3), self.pick(1, 7), self.simple())

    def make_beside(self, _):
        return "beside(job_%s, job_%s);" % (self.job(), self.job()) if self.jobs else self.simple()

    def make_call(self, _):
        return "job_%s();" % self.job() if self.jobs else self.simple()

    def make_give(self, _):
        return "give(job_%s);" % self.job() if self.jobs else self.simple()

    def make_detach(self, _):
        return "detach(job_%s);" % self.job() if self.jobs else self.simple()

    def make_child(self, _):
        return "child(%s, 1);" % self.pick("NULL", "still") if not self.mpi else self.simple()

    def make_exiting(self, _):
        return "child(NULL, 0);" if not self.mpi else self.simple()

    def make_message(self, _):
        return "to_self();" if self.mpi else self.simple()

    def program(self):
        small = ["simple", "parallel", "parallel", "combined", "message"]
        large = small + ["beside", "beside", "give", "detach", "call", "message"]
        text = [FRAME, "static void still(void) { nap(500); }\n"]
        for n in range(6):
            # one that is called by others has none of its own thread's children: they would be too many
            body = self.block(self.random.randint(1, 3), small if n < 4 else large, 1 if n < 4 else 0)
            text.append("static void job_%d(void)\n{\n%s\n}\n" % (n, body))
            self.jobs.append(n)
        body = self.block(self.random.randint(4, 9), large + ["child", "exiting", "give", "detach"], 0)
        text.append(MAIN % (body, self.pick("0", "1"), self.pick("0", "1")))
        return "".join(text)


def share_rows(path):
    with open(path, encoding="utf-8") as text:
        graph = text.read().split("ompP Callgraph  ")[1].split("ompP Flat Region Profile")[0]
    return [(float(a), float(b)) for a, b in re.findall(r"^ +[\d.]+ \( *([\d.]+)%\) +[\d.]+ \( *([\d.]+)%\)", graph, re.M)]


def judge(verdict, outcome, title):
    if not verdict.equal((outcome.status, outcome.out.strip()), (0, "done"), title + ": status and output: " + outcome.err[-300:]):
        return
    if not outcome.reports() and "nothing was measured" in outcome.err:
        return
    profile = outcome.profile()
    verdict.profile(profile, title)
    table = harness.execute([harness.command("ompp-report"), "csv", outcome.reports()[0]], outcome.folder)
    with open(outcome.reports()[0][:-len("xml")] + "csv", "w", encoding="utf-8") as csv:
        csv.write(table.out)
    for kind in "xml", "txt", "csv":
        found = harness.execute([harness.command("ompp-report"), "check", *outcome.reports(kind)], outcome.folder)
        verdict.equal(found.status, 0, "%s: ompp-report check of %s: %s" % (title, kind, (found.out + found.err)[-600:]))
    with open(outcome.reports("txt")[0], encoding="utf-8") as text:
        covered = [float(share) for share in re.findall(r"^Parallel coverage.*\( *([\d.]+)%\)$", text.read(), re.M)]
    verdict.check(len(covered) == 1 and covered[0] <= 100, "%s: parallel coverage: %s" % (title, covered))
    rows = share_rows(outcome.reports("txt")[0])
    verdict.check(rows and all(share <= 100.05 for row in rows for share in row), "%s: shares: %s" % (title, rows))
    # What one thread of a rank does alone counts for all of them in MASTER, and not in the region around it. Threads of inner teams
    # are in the root, too.
    with open(outcome.reports("txt")[0], encoding="utf-8") as text:
        exempt = re.search(r"^ +[\d.]+ \(.*\) +(MASTER|PAR[A-Z]+  ?[| ]  )", text.read(), re.M)
    verdict.check(exempt or abs(sum(own for _, own in rows) - 100) < 0.02 * len(rows) + 0.1, "%s: exclusive shares add up to %.2f" % (title, sum(own for _, own in rows)))
    bad = [c for c in profile.coverage if c["kind"] in ("mismatch", "clock") or (c["kind"] == "outside" and int(c["count"]) > 1000)]
    verdict.equal(bad, [], title + ": Coverage")


def measure(verdict, words, folder, how, title):
    """LLVM's library may crash at the end of a program whose threads still run, with and without ompp."""
    for _ in range(harness.TRIES):
        outcome = harness.execute(words, folder, OMP_NUM_THREADS=2)
        if outcome.status >= 0 or not how.startswith(("ompt", "llvm")):
            break
        print("note: %s: the program ended by signal %d" % (title, -outcome.status))
        harness.shutil.rmtree(folder)
        os.makedirs(folder)
    judge(verdict, outcome, title)


def builds(scratch, seed):
    """Name -> words that run the program of this seed, as it is built and measured in each way."""
    for mpi in (False, True):
        source = scratch.file("%d-%d" % (seed, mpi), "odd.c")
        with open(source, "w", encoding="utf-8") as out:
            out.write(Maker(seed, mpi).program())
        for how in ("gomp",) if mpi else harness.sources() + harness.preloaded_sources():
            path = os.path.join(os.path.dirname(source), how)
            preloaded = how in ("gomp", "llvm")
            compiler = "opari" if preloaded else how
            flags = ("-O1", "-g", *(("-DMPI",) if mpi else ()))
            harness.build(source, path, compiler, mpi=mpi, flags=flags, instrument=not preloaded)
            options = ["--omp-runtime=llvm"] if how == "llvm" else []
            plain = [path] if preloaded else [path + "-plain"]
            if not preloaded:
                harness.build(source, plain[0], compiler, flags=flags, instrument=False)
            if how == "llvm":
                plain = ["env", "LD_PRELOAD=" + harness.libomp(), path]
            yield how + ", MPI" * mpi, plain, [harness.command("ompp"), *options, "--", path] if preloaded else [path]


def main():
    verdict, scratch = harness.Verdict("odd_times"), harness.Scratch("odd_times")
    seeds = range(int(sys.argv[1]), int(sys.argv[2]) + 1) if len(sys.argv) == 3 else SEEDS
    for seed in seeds:
        try:
            for how, plain, words in builds(scratch, seed):
                title = "seed %d, %s" % (seed, how)
                if not verdict.unmeasured(title, lambda: harness.execute(plain, scratch.path, OMP_NUM_THREADS=2)):
                    continue
                try:
                    measure(verdict, words, scratch.file("run-%d-%s" % (seed, how.replace(", ", "-")), "x")[:-2], how, title)
                except (harness.Failure, harness.subprocess.TimeoutExpired) as failure:
                    verdict.check(False, "%s: %s" % (title, failure))
        except harness.Failure as failure:
            verdict.check(False, "seed %d: %s" % (seed, failure))
    verdict.finish(scratch)


main()
