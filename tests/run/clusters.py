#!/usr/bin/env python3
"""
Where clusters differ: a small /dev/shm, containers in which our files are missing, job arrays in one directory, hyper-threads, NUMA nodes
and affinity, processors of several kinds, huge pages, accelerators, processes that are restored from a checkpoint. What this machine does
not have is faked.
"""

import glob
import os
import re
import shutil
import subprocess
import sys

import harness

SOURCE = os.path.join(harness.HERE, "clusters.c")
OMPP = [harness.command("ompp"), "--"]
SHM_BYTES, REGIONS = 1 << 20, 4000


def compiled(scratch, name, text, *flags):
    """A library or program from text."""
    source, path = scratch.file(name + ".c"), scratch.file(name)
    with open(source, "w", encoding="utf-8") as out:
        out.write(text)
    made = harness.execute(["gcc", "-g", source, "-o", path, *flags], scratch.path)
    if made.status:
        raise harness.Failure("cannot build %s: %s" % (name, made.err[-500:]))
    return path


def program(scratch, name="clusters", *flags, mpi=False, instrument=False):
    path = scratch.file(name, "clusters")
    harness.build(SOURCE, path, "opari", mpi=mpi, flags=("-O1", "-g", "-pthread", *flags), instrument=instrument)
    return path


def may(*words):
    """Whether this may be done here, as unshare needs it."""
    good = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    if not good:
        print("note: not permitted here, and not tested: " + " ".join(words))
    return good


def general(outcome, name):
    """A line of General Information."""
    with open(outcome.reports("txt")[0], encoding="utf-8") as text:
        found = re.search("^%-16s: (.*)$" % name, text.read(), re.M)
    return found and found.group(1)


def lines(profile, kind):
    return [c["subject"] for c in profile.coverage if c["kind"] == kind]


def test_shm(verdict, scratch):
    """The profile takes less than half of a small /dev/shm: the other half is for MPI."""
    here = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=%d ompp-test /dev/shm && exec "$@"' % SHM_BYTES, "sh"]
    if not may(*here, "true"):
        return
    path = program(scratch, "regions", "-DREGIONS=%d" % REGIONS, instrument=True)
    outcome = harness.execute([*here, path, "shm", str(SHM_BYTES * 3 // 8)], scratch.file("run-shm", "x")[:-2], OMP_NUM_THREADS=2)
    verdict.equal((outcome.status, outcome.out), (7, "team 2\nroom\n"), "small /dev/shm: " + outcome.err[-300:])
    profile = outcome.profile()
    verdict.equal(sum(profile.total("execC", profile.find("USER REGION")).values()), REGIONS, "small /dev/shm: regions")
    said = [c["reason"] for c in profile.coverage if c["kind"] == "arena"]
    verdict.check(len(said) == 1 and "/dev/shm/ompp-" in said[0], "small /dev/shm: Coverage: %s" % said)


def test_container(verdict, scratch):
    """Starters of containers are named; a program that is in one when it ends, or when it replaces itself, ends as without ompp."""
    path = program(scratch)
    folder = scratch.file("bin", "x")[:-2]
    for name in "apptainer", "singularity", "podman":
        compiled(scratch, os.path.join("bin", name), "#include <unistd.h>\nint main(int c, char **v) { (void)c; return execv(v[3], v + 3); }\n")
        for options in [], ["--children"]:
            run = scratch.file("run-%s-%d" % (name, len(options)), "x")[:-2]
            done = harness.execute([OMPP[0], *options, "--", name, "exec", "image", path], run, OMP_NUM_THREADS=2,
                                   PATH=folder + ":" + os.environ["PATH"])
            verdict.equal((done.status, done.out), (7, "team 2\n"), name + ": result")
            verdict.equal(done.err.splitlines(), ["ompp: put ompp behind %s, as %s ... ompp -- ./app: %s is not measured: it starts what is to "
                          "be measured in a container, which needs ompp's directory in it" % (name, name, name)], name + ": what is said")
    root = scratch.file("root", "x")[:-2]
    compiled(scratch, "root/other", '#include <unistd.h>\nint main(void) { return 3 + (write(1, "other\\n", 6) != 6); }\n', "-static")
    if os.geteuid() != 0:
        print("note: chroot is for root: not tested")
        return
    for what, status, out in ("chroot", 7, "team 2\n"), ("exec", 3, "team 2\nother\n"):
        for front in OMPP, [OMPP[0], "--children", "--"]:
            done = harness.execute([*front, path, what, root], scratch.file("run-root", "x")[:-2], OMP_NUM_THREADS=2,
                                   OMPP_JOB_DIR=scratch.file("job", "x")[:-2])
            verdict.equal((done.status, done.out), (status, out), "%s %s: result: %s" % (front[1], what, done.err))
            verdict.check(len(done.err.splitlines()) <= 1, "%s %s: %s" % (front[1], what, done.err))
    missing = harness.execute([path], scratch.path, OMP_NUM_THREADS=2, LD_PRELOAD="/nonexistent/libompp.so")
    verdict.equal((missing.status, missing.out), (7, "team 2\n"), "the library to be preloaded is missing")


def test_arrays(verdict, scratch):
    """Tasks of a job array start at the same time in one directory: each has its own report, of its own ranks alone."""
    path, folder = program(scratch, "mpi", "-DMPI", mpi=True), scratch.file("array", "x")[:-2]
    words = [harness.mpirun(), *harness.launcher_options(harness.mpirun()), "-n", "2", *OMPP, path]
    os.makedirs(folder, exist_ok=True)
    tasks = []
    for task in range(1, 5):
        slurm = {"SLURM_ARRAY_JOB_ID": 4711, "SLURM_ARRAY_TASK_ID": task, "LSB_JOBID": 12, "LSB_JOBINDEX": task, "PBS_ARRAYID": task}
        tasks.append(subprocess.Popen([*words, str(task)], cwd=folder, env=harness.environment(OMP_NUM_THREADS=1, **slurm),
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True))
    for task in tasks:
        out, err = task.communicate(timeout=harness.LIMIT)
        verdict.equal((task.returncode, out), (0, ""), "job array: " + err[-300:])
    found = []
    for report in sorted(glob.glob(folder + "/*.ompp.xml")):
        profile = harness.ompp_profile.Profile(report)
        verdict.profile(profile, "job array")
        verdict.equal(len(profile.ranks), 2, "job array: ranks of " + os.path.basename(report))
        found.append(sum(profile.total("execC", profile.find("PARALLEL")).values()) // 2)
    verdict.equal(sorted(found), [1, 2, 3, 4], "job array: reports, by what each task did")
    verdict.equal([name for name in os.listdir(folder) if ".ompp." not in name], [], "job array: other files")


FOUR = """
#define _GNU_SOURCE
#include <sched.h>
#include <string.h>
int sched_getaffinity(pid_t task, size_t size, cpu_set_t *set)
{
    (void)task;
    memset(set, 0, size);
    *(unsigned char *)set = CPUS;
    return 0;
}
"""


def fake_system(scratch, name, siblings, nodes):
    """A tree like that of /sys/devices/system: core of each processor, processors of each NUMA node."""
    folder = scratch.file(name, "x")[:-2]
    for cpu, its in enumerate(siblings):
        with open(scratch.file(name, "cpu", "cpu%d" % cpu, "topology", "thread_siblings_list"), "w", encoding="utf-8") as out:
            out.write(its + "\n")
    shutil.copy("/sys/devices/system/cpu/online", scratch.file(name, "cpu", "online"))
    for node, its in enumerate(nodes):
        with open(scratch.file(name, "node", "node%d" % node, "cpulist"), "w", encoding="utf-8") as out:
            out.write(its + "\n")
    with open(scratch.file(name, "node", "online"), "w", encoding="utf-8") as out:
        out.write("0-%d\n" % (len(nodes) - 1))
    return ["unshare", "-m", "sh", "-c", "mount --bind '%s' /sys/devices/system && exec \"$@\"" % folder, "sh"]


def test_cores(verdict, scratch):
    """Hyper-threads: said, before what advises by times, where some threads share a core and others do not. NUMA and affinity: in the header."""
    path = program(scratch)
    here = fake_system(scratch, "system", ("0,2", "1,3", "0,2", "1,3"), ("0,2", "1,3"))
    if not may(*here, "true"):
        return
    four = compiled(scratch, "four.so", FOUR, "-shared", "-fPIC", "-DCPUS=15")
    for threads, said in (2, []), (3, ["3 threads share 2 cores (hyper-threads)"]), (4, []):
        outcome = harness.execute([*here, *OMPP, path], scratch.file("run-cores-%d" % threads, "x")[:-2], OMP_NUM_THREADS=threads,
                                  LD_PRELOAD=four)
        title = "%d threads on 2 cores" % threads
        profile = outcome.profile()
        verdict.profile(profile, title)
        verdict.equal(lines(profile, "unequal"), said, title)
        verdict.equal(general(outcome, "Processors"), "0-3 (2 cores, NUMA nodes 0-1)", title + ": header")
        with open(outcome.reports("txt")[0], encoding="utf-8") as text:
            text = text.read()
        cautions = re.findall("^Caution: .*hyper-threads.*is not all imbalance of the program", text, re.M)
        sections = 2 + ("ompp Ideal" in text)
        verdict.equal(len(cautions), sections * len(said), title + ": before the overheads, the properties, and what would be ideal")
    one = str(max(os.sched_getaffinity(0)))
    outcome = harness.execute(["taskset", "-c", one, *here, *OMPP, path], scratch.file("run-bound", "x")[:-2], OMP_NUM_THREADS=1)
    verdict.equal(general(outcome, "Processors"), "%s (1 core, NUMA node %d, 1 thread bound to one core)" % (one, int(one) % 2), "taskset")


def test_kinds(verdict, scratch):
    """Ranks on nodes with different processors: who is slower is so for that, too."""
    path = program(scratch, "mpi", "-DMPI", mpi=True)
    for rank, kind in enumerate(("Old Processor 1", "New Processor 2")):
        with open(scratch.file("cpuinfo%d" % rank), "w", encoding="utf-8") as out:
            out.write("processor\t: 0\nmodel name\t: %s\n" % kind)
    with open(scratch.file("node.sh"), "w", encoding="utf-8") as out:
        out.write("rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\nexport rank where=%s\n"
                  "exec unshare -m sh -c 'mount --bind $where/cpuinfo$rank /proc/cpuinfo && exec \"$@\"' sh \"$@\"\n" % scratch.path)
    if not may("unshare", "-m", "mount", "--bind", scratch.file("cpuinfo0"), "/proc/cpuinfo"):
        return
    runner = [harness.mpirun(), *harness.launcher_options(harness.mpirun()), "-n", "2"]
    for title, front, kinds in (("two kinds", ["sh", scratch.file("node.sh")], 2), ("one kind", [], 1)):
        outcome = harness.execute([*runner, *front, *OMPP, path, "1"], scratch.file("run-" + title, "x")[:-2], OMP_NUM_THREADS=1)
        verdict.equal(outcome.status, 0, title + ": status: " + outcome.err[-300:])
        profile = outcome.profile()
        verdict.profile(profile, title)
        found = [(c["subject"], c["ranks"]) for c in profile.coverage if c["kind"] == "processor"]
        verdict.equal(len(found), kinds, "%s: %s" % (title, found))
        verdict.equal(lines(profile, "unequal"), ["ranks run on 2 kinds of processors"] if kinds == 2 else [], title)
        if kinds == 2:
            verdict.equal(sorted(found), [("New Processor 2", "1"), ("Old Processor 1", "1")], title)


def test_huge(verdict, scratch):
    """Huge pages of each sort: the program and its data structures are as with small ones."""
    path = program(scratch)
    for tunables in "", "glibc.malloc.hugetlb=1", "glibc.malloc.hugetlb=2":
        title = "huge pages, " + (tunables or "asked for")
        plain = harness.execute([path, "huge"], scratch.path, OMP_NUM_THREADS=2, GLIBC_TUNABLES=tunables)
        for options in [], ["--data=given"], ["--causal=virtual"], ["--children"]:
            run = scratch.file("run-huge-%d" % verdict.checks, "x")[:-2]
            done = harness.execute([OMPP[0], *options, "--", path, "huge"], run, OMP_NUM_THREADS=2, GLIBC_TUNABLES=tunables)
            verdict.equal((done.status, done.out), (plain.status, plain.out), "%s, %s: result" % (title, options))
            verdict.profile(done.profile(), title)
    if "with\n" not in plain.out:
        print("note: no huge pages are reserved here (vm.nr_hugepages): MAP_HUGETLB was refused, with and without ompp")


# Its thread waits and is woken with functions of the C library: they must be those of the C library.
ACCELERATOR = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static int queued, done, over;
static sigset_t mask;
static void *serve(void *unused)
{
    pthread_mutex_lock(&lock);
    while (!over) {
        while (queued > done) done++;
        pthread_cond_broadcast(&wake);
        pthread_cond_wait(&wake, &lock);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}
static pthread_t server;
__attribute__((constructor)) static void begin(void)
{
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    pthread_create(&server, NULL, serve, NULL);
}
__attribute__((destructor)) static void end(void)
{
    pthread_mutex_lock(&lock);
    over = 1;
    pthread_cond_broadcast(&wake);
    pthread_mutex_unlock(&lock);
    pthread_join(server, NULL);
}
/* How many functions are another's. */
int gpu_count(void)
{
    Dl_info info;
    void *const own[] = {(void *)pthread_create, (void *)pthread_cond_wait, (void *)pthread_mutex_lock, (void *)pthread_join};
    int n = 0;
    for (unsigned i = 0; i < sizeof own / sizeof own[0]; i++) n += !dladdr(own[i], &info) || !strstr(info.dli_fname, "libc.so");
    return n;
}
int gpu_run(int n)
{
    for (int i = 0; i < n; i++) {
        pthread_mutex_lock(&lock);
        const int mine = ++queued;
        pthread_cond_broadcast(&wake);
        while (done < mine) pthread_cond_wait(&wake, &lock);
        pthread_mutex_unlock(&lock);
    }
    return done;
}
"""
ACCELERATORS = "libcuda.so.1", "libcudart.so.12", "libamdhip64.so.6", "libhsa-runtime64.so.1", "libze_loader.so.1"


def test_accelerators(verdict, scratch):
    """Libraries of CUDA, HIP and Level Zero with threads of their own: they work, and nobody stands between them and the C library."""
    for name in ACCELERATORS:
        folder = scratch.file(name + "-run", "x")[:-2]
        library = compiled(scratch, os.path.join(name + "-run", name), ACCELERATOR, "-shared", "-fPIC", "-O1", "-pthread", "-Wl,-soname," + name)
        path = program(scratch, name, "-DGPU", "-Wl,--no-as-needed", library, "-Wl,-rpath," + folder)
        plain = harness.execute([path, "gpu"], scratch.path, OMP_NUM_THREADS=2)
        verdict.equal((plain.status, plain.out), (7, "team 2\ngpu 0 1000\n"), name + ": without ompp")
        for options in [], ["--causal=virtual"], ["--causal=delay"], ["--children"], ["--data=none"]:
            done = harness.execute([OMPP[0], *options, "--", path, "gpu"], scratch.file("run-gpu-%d" % verdict.checks, "x")[:-2], OMP_NUM_THREADS=2)
            verdict.equal((done.status, done.out), (plain.status, plain.out), "%s, %s: result: %s" % (name, options, done.err[-300:]))
            verdict.profile(done.profile(), name)


# Once the file AWAY is there, the process is another one, as /proc says it, and the clock is that of another machine.
RESTORED = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static int away(void) { return syscall(SYS_access, getenv("AWAY"), 0) == 0; }
int clock_gettime(clockid_t id, struct timespec *t)
{
    const int status = (int)syscall(SYS_clock_gettime, id, t);
    if (id == CLOCK_MONOTONIC && away()) t->tv_sec += atol(getenv("SECONDS_AWAY"));
    return status;
}
int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    const int mode = va_arg(args, int);
    va_end(args);
    if (strcmp(path, "/proc/self/stat") == 0 && away()) path = getenv("STAT");
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
"""


def test_restored(verdict, scratch):
    """
    A process that comes back from a checkpoint: the report says it. Where the clock has gone back there are no times, and no time is
    longer than the run; reports by the clock go on.
    """
    path = program(scratch)
    fake = compiled(scratch, "restored.so", RESTORED, "-shared", "-fPIC", "-ldl")
    with open(scratch.file("stat"), "w", encoding="utf-8") as out:
        out.write("1 (restored) S " + " ".join(str(i) for i in range(4, 53)) + "\n")
    for title, seconds, stat, clock, says in (
            ("stays", 0, "/proc/self/stat", "gettime", ()),
            ("restored", 0, scratch.file("stat"), "auto", ("the process was restored from a checkpoint",)),
            ("restored later", 100000, scratch.file("stat"), "gettime", ("the process was restored from a checkpoint",)),
            ("suspended", 100000, "/proc/self/stat", "tsc", ("the processor's counter and the clock of the system have parted",)),
            ("restored after a restart", -100000, scratch.file("stat"), "gettime",
             ("the clock went back, and all times are left out", "the process was restored from a checkpoint"))):
        folder = scratch.file("run-" + title.replace(" ", "-"), "x")[:-2]
        away = os.path.join(folder, "away")
        os.makedirs(folder, exist_ok=True)
        outcome = harness.execute([*OMPP, path, "away", away], folder, OMP_NUM_THREADS=2, OMPP_CLOCK=clock, LD_PRELOAD=fake, AWAY=away,
                                  SECONDS_AWAY=seconds, STAT=stat, OMPP_JOB_DIR=os.path.join(folder, "job"))
        verdict.equal((outcome.status, outcome.out, outcome.messages()), (7, "team 2\n", []), title + ": result")
        profile = outcome.profile()
        verdict.profile(profile, title)
        if clock != "tsc" or "tsc" in {rank["clock"] for rank in profile.ranks}:
            verdict.equal(sorted(lines(profile, "clock")), sorted(says), title + ": Coverage")
        checked = harness.execute([harness.command("ompp-report"), "check", *outcome.reports(), *outcome.reports("txt")], folder)
        verdict.equal(checked.status, 0, title + ": ompp-report check: " + checked.out[-400:])
        verdict.equal(sum(profile.total("execC", profile.find("PARALLEL")).values()), 6, title + ": counts")
        times = sum(profile.total("execT", profile.find("PARALLEL")).values())
        verdict.check(times == 0 if seconds < 0 else times > 0, "%s: %d ns in parallel regions" % (title, times))


TESTS = {"shm": test_shm, "container": test_container, "arrays": test_arrays, "cores": test_cores, "kinds": test_kinds, "huge": test_huge,
         "accelerators": test_accelerators, "restored": test_restored}


def main():
    verdict, scratch = harness.Verdict("clusters"), harness.Scratch("clusters")
    if not harness.plain_sources():
        harness.skip("no gcc")
    for name in sys.argv[1:] or TESTS:
        try:
            TESTS[name](verdict, scratch)
        except (harness.Failure, subprocess.TimeoutExpired) as failure:
            verdict.check(False, "%s: %s" % (name, failure))
    verdict.finish(scratch)


main()
