#!/usr/bin/env python3
"""
Many regions and call paths: the end of the run, and the commands that read what it leaves, take time in proportion to them; the text
report is limited in size, and says what it leaves out; so is the time for the report.
usage: many.py [--table]: prints what the end takes, by number of regions and ranks, and judges nothing.
"""

import importlib.machinery
import importlib.util
import os
import re
import resource
import subprocess
import sys

import harness

RATIO = 6      # what four times the regions may take at most, in units of what they take; a quadratic step takes 16
TRIES = 3      # the least time counts: whatever else runs can only make it longer
ENOUGH = 0.02  # s: below it a time is not compared, for the clock of the processor's time does not tell more
CASE_SECONDS = 5
LIMIT = 64 << 20


def load_profiles():
    path = os.path.join(harness.SOURCE, "tests", "golden", "make-profiles.py")
    loader = importlib.machinery.SourceFileLoader("make_profiles", path)
    spec = importlib.util.spec_from_loader("make_profiles", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def used(words, folder, out=subprocess.DEVNULL, **changes):
    """User time of a process and of what it waits for, s; what it printed; its messages."""
    os.makedirs(folder, exist_ok=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(words, cwd=folder, env=harness.environment(**changes), stdout=out, stderr=subprocess.PIPE,
                          timeout=harness.LIMIT, universal_newlines=True)
    if done.returncode:
        raise harness.Failure("%s: status %d: %s" % (" ".join(words), done.returncode, done.stderr[-500:]))
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, done.stdout, done.stderr


def end_of(words, folder, **changes):
    """User time of the end of a program, s."""
    seconds, out, _ = used(words, folder, subprocess.PIPE, OMPP_MEMORY="512M", OMPP_OVERWRITE=1, **changes)
    found = re.search(r"^(before|end) ([0-9.]+)$", out, re.MULTILINE)
    return seconds - float(found.group(2)) if found.group(1) == "before" else float(found.group(2))


def before_end_of(words, folder):
    """User time of a program before its end, s."""
    _, out, _ = used(words, folder, subprocess.PIPE, OMPP_MEMORY="512M", OMPP_OVERWRITE=1, OMPP_OUTFORMAT="xml")
    return float(re.search(r"^before ([0-9.]+)$", out, re.MULTILINE).group(1))


def compare(verdict, title, measure):
    """measure(factor) returns user time of 1 and 4 times as many."""
    for _ in range(2):  # as the time of one may be short by chance
        small = min(measure(1) for _ in range(TRIES))
        large = min(measure(4) for _ in range(TRIES))
        if large <= RATIO * max(small, ENOUGH):
            break
    verdict.check(large <= RATIO * max(small, ENOUGH), "%s: %.3f s, of four times as many %.3f s" % (title, small, large))


# ---- The end of programs ---------------------------------------------------------------------------------------------------


def check_ends(verdict, scratch, programs):
    compare(verdict, "many names", lambda factor: before_end_of([programs["serial"], "names", str(factor * 25000)], scratch.file("before", "x")[:-2]))
    for kind, n in (("names", 10000), ("paths", 20000)):
        compare(verdict, "end with many " + kind, lambda factor: end_of([programs["serial"], kind, str(factor * n)], scratch.file(kind, "x")[:-2]))
    if "mpi" in programs:
        words = [harness.mpirun(), *harness.launcher_options(harness.mpirun()), "-n", "2", programs["mpi"]]
        compare(verdict, "end with many calls of MPI", lambda factor: end_of([*words, "calls", str(factor * 5000)], scratch.file("calls", "x")[:-2]))


CONSTRUCTS = """void f%d(void)
{
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 2; i++) x += i;
#pragma omp critical(lock%d)
    x += 1;
#pragma omp barrier
#pragma omp single
    x += 2;
#pragma omp task
    x += 3;
#pragma omp taskwait
  }
}
"""


def build_constructs(scratch, n, compiler):
    source, program = scratch.file("omp%d.c" % n), scratch.file("omp%d-%s" % (n, os.path.basename(compiler)))
    with open(source, "w") as out:
        out.write("#include <stdio.h>\n#include <sys/resource.h>\nvolatile int x;\n")
        out.writelines(CONSTRUCTS % (i, i) for i in range(n))
        out.write("int main(void)\n{\n  struct rusage u;\n%s  getrusage(RUSAGE_SELF, &u);\n" % "".join("  f%d();\n" % i for i in range(n)))
        out.write('  printf("before %.3f\\n", (double)u.ru_utime.tv_sec + 1e-6 * (double)u.ru_utime.tv_usec);\n  return 0;\n}\n')
    harness.execute([compiler, "-O1", "-g", "-fno-inline", "-fopenmp", source, "-o", program], scratch.path)
    return program


def check_constructs(verdict, scratch):
    """Constructs of one source file, whose lines are found by debug information and the source text."""
    for how in harness.sources():
        programs = {factor: build_constructs(scratch, 150 * factor, harness.COMPILERS[how]) for factor in (1, 4)}
        compare(verdict, "constructs by %s" % harness.COMPILERS[how], lambda factor: end_of(
            [harness.command("ompp"), "--", programs[factor]], scratch.file("constructs-" + how, "x")[:-2], OMP_NUM_THREADS=2))


# ---- Commands that read reports -----------------------------------------------------------------------------------------------


def make_profile(make, path, n):
    """n times: a parallel region with a loop, a critical section, a task and its executions, and a call of MPI, on all of 2 x 2 threads."""
    p = make.Profile("many", ranks=2, threads=2, mpi=True, duration=1000 * n)
    for i in range(n):
        def add(kind, k, parent, **phases):
            node = p.node(p.region(kind, 6 * i + k, begin=20 * i + k, end=20 * i + k), parent, 10 * i + k)
            p.all(node, 1, **phases)
            return node
        parallel = add("PARALLEL", 1, 0, startup=1, body=(100, 60), exitbar=10, shutdown=1)
        add("LOOP", 2, parallel, body=20, exitbar=5)
        add("CRITICAL", 3, parallel, enter=5, body=5, exit=1)
        add("TASK", 4, parallel, exec=5)
        add("TASKEXEC", 5, parallel, exec=15)
        call = p.node(p.region("MPI", 6 * i + 6, begin=20 * i + 6, end=20 * i + 6, name="MPI_Allreduce"), 0, 10 * i + 6)
        for rank in (0, 1):
            p.time(call, p.locations.index((rank, 0)), 1, (8, 8, 0, 0, 1), exec=1 + rank)
    with open(path, "w") as out:
        out.write(p.xml())


def check_commands(verdict, scratch):
    make, tool = load_profiles(), harness.command("ompp-report")
    files = {}
    for factor in (1, 4):
        base = scratch.file("profile-%d" % factor)
        make_profile(make, base + ".xml", 250 * factor)
        for kind, verb in (("txt", "show"), ("csv", "csv")):
            with open("%s.%s" % (base, kind), "w") as out:
                used([tool, verb, base + ".xml"], scratch.path, out)
        files[factor] = base
    for verb, kind in (("show", "xml"), ("csv", "xml"), ("check", "xml"), ("check", "txt"), ("check", "csv"), ("show", "csv"), ("csv", "txt")):
        compare(verdict, "ompp-report %s of %s" % (verb, kind), lambda factor: used([tool, verb, "%s.%s" % (files[factor], kind)], scratch.path)[0])


# ---- Limits ------------------------------------------------------------------------------------------------------------------


def report_of(verdict, scratch, title, words, **changes):
    """Runs; the report is whole, its text is what is shown of the XML. Returns text and profile."""
    folder = scratch.file(title, "x")[:-2]
    outcome = harness.run(words[0], folder, 2, args=words[1:], OMPP_MEMORY="512M", OMPP_OUTFORMAT="text,csv", **changes)
    verdict.equal(outcome.status, 0, title + ": exit status")
    profile = outcome.profile()
    tool, text = harness.command("ompp-report"), open(outcome.reports("txt")[0]).read()
    # show looks up what the run had no time for
    late = any(c["kind"] == "late" or "time limit" in c.get("reason", "") for c in profile.coverage)
    shown = harness.execute([tool, "show", profile.path], folder).out
    verdict.check(late or shown == text, title + ": the text is not what show prints of the XML")
    for path in (profile.path, *outcome.reports("txt"), *outcome.reports("csv")):
        done = harness.execute([tool, "check", path], folder)
        verdict.equal((done.status, done.err), (0, ""), "%s: check of %s" % (title, os.path.basename(path)))
    return text, profile


def section(text, title):
    return text.split("     %s     " % title, 1)[-1].split("\n", 2)[2].split("\n-----", 1)[0]


def check_size(verdict, scratch, program):
    n = 3000
    text, _ = report_of(verdict, scratch, "no limit", [program, "work", str(n)], OMPP_TEXT_LIMIT=0)
    verdict.check("folded: " not in text and len(text) > 1000000, "no limit: %d bytes" % len(text))
    text, _ = report_of(verdict, scratch, "large limit", [program, "work", str(n)])
    verdict.check("folded: " not in text and len(text) > 1000000, "default limit: %d bytes" % len(text))
    text, profile = report_of(verdict, scratch, "limit", [program, "work", str(n)], OMPP_TEXT_LIMIT="100k")
    verdict.equal(len(profile.find("USER REGION")), n, "limit: regions in the XML")
    folded = re.search(r"^folded: (\d+) regions and (\d+) call paths, .* ([0-9.]+) sec", section(text, "ompp Coverage"), re.MULTILINE)
    if verdict.check(folded is not None, "limit: Coverage does not say what is left out"):
        shown = re.findall(r"^ \* R\d+ .*$", section(text, "ompP Region Overview"), re.MULTILINE)
        verdict.equal((int(folded.group(1)) + len(shown), int(folded.group(2)) + text.count("[=01]")), (n, n), "limit: left out and shown")
        verdict.check(any("work_%d_" % (n // 2) in line for line in shown), "limit: the region that works is left out")
    verdict.check(len(text) < 100 << 10, "limit: %d bytes" % len(text))
    full = harness.execute([harness.command("ompp-report"), "show", "--full", profile.path], scratch.path).out
    verdict.equal((full.count("\n * R"), "folded: " in full), (n, False), "limit: show --full")
    # Each region has a time when it is printed with all digits: the least go. show prints two digits, so it is not compared.
    outcome = harness.run(program, scratch.file("digits", "x")[:-2], 2, args=("work", str(n)), OMPP_MEMORY="512M", OMPP_TEXT_LIMIT="100k",
                          OMPP_TIME_DIGITS=9)
    text = open(outcome.reports("txt")[0]).read()
    verdict.check(50 << 10 < len(text) < 110 << 10 and "or the least time" in text and "work_%d_" % (n // 2) in text,
                  "limit: where all have time, %d bytes" % len(text))


def check_deadline(verdict, scratch, program):
    text, profile = report_of(verdict, scratch, "no time", [program, "work", "20000"], OMPP_REPORT_SECONDS=0)
    verdict.equal(len(profile.find("USER REGION")), 20000, "no time: regions in the XML")
    verdict.check(len(text) < 2 << 20, "no time: %d bytes of text" % len(text))
    coverage = section(text, "ompp Coverage")
    for said in ("time for the report was over: bytes that the text has room for: ", "OMPP_REPORT_SECONDS", "folded: "):
        verdict.check(said in coverage, "no time: Coverage does not say \"%s\"" % said)
    if harness.plain_sources():
        words = [harness.command("ompp"), "--", build_constructs(scratch, 20, harness.COMPILERS["opari"])]
        for variable in ("OMPP_REPORT_SECONDS", "OMPP_RESOLVE_SECONDS"):
            text, profile = report_of(verdict, scratch, variable, words, **{variable: 0})
            verdict.check("(time limit: %s)" % variable in section(text, "ompp Coverage"), variable + "=0: not in Coverage")
            verdict.check("<0x" in section(text, "ompP Region Overview"), variable + "=0: regions have lines")


def check_case(verdict, scratch, program):
    """8 ranks with 20,000 regions each: within seconds, and the text is of a size that one can read."""
    folder = scratch.file("case", "x")[:-2]
    words = [harness.mpirun(), *harness.launcher_options(harness.mpirun()), "-n", "8", program, "names", "20000"]
    seconds = min(end_of(words, folder) for _ in range(TRIES))
    verdict.check(seconds <= CASE_SECONDS, "8 x 20,000 regions: the end took %.2f s" % seconds)
    outcome = harness.Outcome(0, "", "", folder)
    verdict.check(os.path.getsize(outcome.reports("txt")[0]) <= LIMIT, "8 x 20,000 regions: text of %d bytes" % os.path.getsize(outcome.reports("txt")[0]))
    done = harness.execute([harness.command("ompp-report"), "check", outcome.reports("xml")[0]], folder)
    verdict.check(re.search(r"in order: 160\d\d\d ", done.out), "8 x 20,000 regions: check: %s%s" % (done.out, done.err))


# ---- All of it -----------------------------------------------------------------------------------------------------------------


def table(scratch, programs):
    """For the documentation: user time of the end, memory, sizes."""
    print("| program | ranks | regions | call paths | end, s | memory, MB | text, MB | XML, MB |\n|---|---|---|---|---|---|---|---|")
    for kind in ("names", "paths", "calls"):
        for ranks in (1, 2, 4, 8) if "mpi" in programs else (1,):
            for n in (1000, 5000, 20000, 50000, 200000):
                if n % ranks:
                    continue
                folder = scratch.file("table", "%s-%d-%d" % (kind, ranks, n))
                words = [harness.mpirun(), *harness.launcher_options(harness.mpirun()), "-n", str(ranks), "/usr/bin/time", "-f",
                         "memory %M", programs["mpi"]]
                os.makedirs(folder)
                seconds, out, err = used([*words, kind, str(n // ranks)], folder, subprocess.PIPE, OMPP_MEMORY="1G")
                outcome = harness.Outcome(0, out, err, folder)
                profile = harness.execute([harness.command("ompp-report"), "check", outcome.reports("xml")[0]], folder).out
                found = re.search(r"in order: (\d+) regions, (\d+) call paths", profile)
                sizes = [os.path.getsize(outcome.reports(k)[0]) / 1e6 for k in ("txt", "xml")]
                print("| %s | %d | %s | %s | %s | %.0f | %.1f | %.1f |" % (
                    kind, ranks, found.group(1), found.group(2), re.search(r"^end (.*)$", out, re.MULTILINE).group(1),
                    max(int(m) for m in re.findall(r"memory (\d+)", err)) / 1000, *sizes), flush=True)


def main():
    verdict, scratch = harness.Verdict("many"), harness.Scratch("many")
    source = os.path.join(harness.HERE, "many.c")
    programs = {"serial": scratch.file("many")}
    how = harness.sources()[0]
    harness.build(source, programs["serial"], how, flags=("-O2", "-g", "-I" + os.path.join(harness.SOURCE, "include")))
    if harness.shutil.which(os.environ.get("MPICC", "mpicc")):
        programs["mpi"] = scratch.file("many-mpi")
        harness.build(source, programs["mpi"], how, mpi=True,
                      flags=("-O2", "-g", "-DWITH_MPI", "-I" + os.path.join(harness.SOURCE, "include")))
    if sys.argv[1:] == ["--table"]:
        table(scratch, programs)
        scratch.done(True)
        return
    try:
        check_ends(verdict, scratch, programs)
        check_constructs(verdict, scratch)
        check_commands(verdict, scratch)
        check_size(verdict, scratch, programs["serial"])
        check_deadline(verdict, scratch, programs["serial"])
        if "mpi" in programs:
            check_case(verdict, scratch, programs["mpi"])
    except (harness.Failure, subprocess.TimeoutExpired) as failure:
        verdict.check(False, str(failure))
    verdict.finish(scratch)


main()
