#!/usr/bin/env python3
"""
Back ends beside the compiler's hooks, where the kernel's perf events work: page faults per structure, thread and construct, accesses
of scalars by breakpoints, in programs that were built without hooks; what cannot work here says why.
"""

import mmap
import os
import re
import resource
import sys
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))
import harness  # noqa: E402
import memory  # noqa: E402

SOURCE = os.path.join(memory.HERE, "touch.c")
TOUCHES, FAULTS, LOST = range(3)
ACCESSES, WRITES = 0, 1
A, B, READ, REPEATS, PASSED, ROUNDS, MOVED, GIVEN, LATE = 1024, 256, 128, 1000, 64, 3, 64, 32, 16
LARGE = 60000  # pages; more than a ring holds


def set_of(profile, source):
    return next((m.get("set") for m in profile.root.find("metrics") if m.get("source") == source), None)


TABLE = 2048  # pages of serial.c


def counts(profile, source, name, kind=None, tid=None):
    """Sums of a structure's values, of all regions of a type, in the tree of a thread."""
    wanted, number, total = memory.objects(profile)[name].get("id"), set_of(profile, source), [0, 0]
    regions = {r.get("id") for r in profile.root.find("regions") if kind is None or r.get("type") in kind.split("|")}
    for node in profile.root.find("nodes"):
        if kind is not None and node.get("region") not in regions:
            continue
        for values in node.findall("values"):
            if (values.get("set"), values.get("object")) != (number, wanted) or tid not in (None, int(values.get("location"))):
                continue
            found = [int(text) for text in values.text.split()]
            total = [a + b for a, b in zip(found, total + [0] * (len(found) - len(total)))]
    return total


def refused(verdict, outcome, backend, title):
    """Says so, once and in the report; the program's results are the same."""
    verdict.equal(outcome.status, 0, title + ": exit status")
    said = [m for m in outcome.messages() if "OMPP_DATA_BACKEND=" + backend in m]
    verdict.equal(len(said), 1, "%s: messages %s" % (title, outcome.messages()))
    lines = [c for c in outcome.profile().coverage if c["kind"] == "refused" and backend in c.get("subject", "")]
    verdict.equal(len(lines), 1, title + ": lines in Coverage")
    return said[0] if said else ""


def profile_of(verdict, outcome, title):
    profile = outcome.profile()
    verdict.profile(profile, title)
    profile.root = ElementTree.parse(profile.path).getroot()
    return profile


def is_refused(outcome, backend):
    return any("OMPP_DATA_BACKEND=" + backend in m for m in outcome.messages())


def faults_of_reading_first():
    """Faults of a page that is read and then written: with most kernels two, the first one maps the system's page of zeros."""
    pages = 64
    area = mmap.mmap(-1, pages * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    area.madvise(mmap.MADV_NOHUGEPAGE)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for i in range(pages):
        area[i * mmap.PAGESIZE] = area[i * mmap.PAGESIZE]
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
    area.close()
    return 1 if faults < pages * 3 // 2 else 2


def check_faults(verdict, program, folder, threads, title, **settings):
    outcome = harness.run(program, folder, threads, args=(str(LARGE),), OMPP_DATA_BACKEND="page-faults", **settings)
    if is_refused(outcome, "page-faults"):
        print("note: page faults cannot be sampled here: %s" % outcome.messages())
        return
    verdict.equal(outcome.status, 0, title + ": exit status")
    verdict.equal(outcome.out, "0 %d\n" % threads, title + ": the program's output")
    profile = profile_of(verdict, outcome, title)
    verdict.equal(counts(profile, "page faults", "a")[TOUCHES], A, title + ": a")
    for tid in range(threads):
        verdict.equal(counts(profile, "page faults", "a", "LOOP", tid)[TOUCHES], A // threads, "%s: a, thread %d" % (title, tid))
    verdict.equal(counts(profile, "page faults", "b", "SINGLE")[TOUCHES], B - 1, title + ": b; its first byte touched is not its own")
    verdict.equal(counts(profile, "page faults", "b")[TOUCHES], B - 1, title + ": b, all")
    verdict.equal(counts(profile, "page faults", "read")[:2], [2 * READ, (1 + faults_of_reading_first()) * READ],
                  title + ": read, written, mapped anew and written")
    verdict.equal(counts(profile, "page faults", "a")[FAULTS], A, title + ": a, faults")
    rows = {m.get("name"): m.get("quality") for m in profile.root.find("metrics") if m.get("source") == "page faults"}
    notes = [c for c in profile.coverage if c["kind"] == "note" and "first touches are estimated" in c.get("subject", "")]
    told = not settings and (int(os.uname().release.split(".")[0]) >= 6 or rows["touches"] == "exact")
    verdict.equal((rows["touches"], rows["faults"], len(notes)), ("exact", "exact", 0) if told else ("sampled", "exact", 1),
                  title + ": quality, and what Coverage says of it")
    if told:
        verdict.equal(counts(profile, "page faults", "passed", "PARALLEL LOOP|LOOP")[TOUCHES], ROUNDS * PASSED, title + ": mapped by another")
        verdict.equal(counts(profile, "page faults", "moved")[TOUCHES], 2 * MOVED - 1, title + ": brought by mremap, one page with it")
        verdict.equal(counts(profile, "page faults", "given")[TOUCHES], 2 * GIVEN, title + ": given back, and touched again")
    verdict.equal(counts(profile, "page faults", "late")[TOUCHES], LATE, title + ": named after other memory of that address")
    large, whole = counts(profile, "page faults", "large")[TOUCHES], lost(profile)
    verdict.check(large == LARGE or large < LARGE and whole >= LARGE - large, "%s: large: %d and %d lost" % (title, large, whole))
    said = [int(c["count"]) for c in profile.coverage if c["kind"] == "loss" and c.get("subject") == "page faults: lost"]
    verdict.equal(sum(said), whole, title + ": what Coverage says of it")
    verdict.equal(counts(profile, "page faults", "shared")[LOST:], [], title + ": lost belongs to no structure")


def has(profile, source, name):
    wanted, number = memory.objects(profile)[name].get("id"), set_of(profile, source)
    return any((v.get("set"), v.get("object")) == (number, wanted) for v in profile.root.find("nodes").iter("values"))


def lost(profile):
    number, total = set_of(profile, "page faults"), 0
    for node in profile.root.find("nodes"):
        for values in node.findall("values"):
            if values.get("set") == number and values.get("object") is None:
                total += int(values.text.split()[LOST])
    return total


def check_breakpoints(verdict, program, folder, threads, title):
    outcome = harness.run(program, folder, threads, OMPP_DATA_BACKEND="breakpoints")
    if is_refused(outcome, "breakpoints"):
        print("note: breakpoints cannot be used here: %s" % outcome.messages())
        return
    verdict.equal(outcome.status, 0, title + ": exit status")
    profile = profile_of(verdict, outcome, title)
    for tid in range(threads):
        verdict.equal(counts(profile, "breakpoints", "shared", "LOOP", tid), [REPEATS // threads, 0],
                      "%s: shared in the loop, thread %d" % (title, tid))
        verdict.equal(counts(profile, "breakpoints", "shared", "CRITICAL", tid), [2, 1],
                      "%s: shared in the critical section, thread %d" % (title, tid))
    verdict.equal(counts(profile, "breakpoints", "small", "MASTER"), [1, 1], title + ": small")
    verdict.equal(has(profile, "breakpoints", "small"), True, title + ": small has a column")
    verdict.equal(has(profile, "breakpoints", "wide"), False, title + ": wide does not fit, and has none")
    verdict.equal(counts(profile, "breakpoints", "shared"), [REPEATS + 2 * threads + 1, threads], title + ": shared, all")
    notes = [c for c in profile.coverage if "cannot watch" in c.get("subject", "")]
    verdict.equal(len(notes), 1, title + ": what does not fit is named in Coverage")


TRAPS = r"breakpoints: (\d+) accesses were trapped, which took about (\d+\.\d+) s of (\d+\.\d+) s thread time"


def check_cost(verdict, scratch):
    """Coverage says how many accesses were trapped and what it cost; when that is a second, stderr does, too, and it goes on."""
    n, source, program = 200000, scratch.file("often.c"), scratch.file("often")
    with open(source, "w", encoding="utf-8") as out:
        out.write("#include <stdio.h>\nstatic volatile int often;\nstatic int *volatile other;\nint main(void) {\n"
                  "    for (int i = 0; i < %d; i++) often = i;\n    printf(\"%%d\\n\", other != 0);\n    return 0;\n}\n" % n)
    harness.build(source, program, next(iter(harness.sources())), flags=("-O1", "-g"), instrument=False)
    outcome = harness.execute([harness.command("ompp"), "--", program], os.path.dirname(scratch.file("often-run", "x")),
                              OMPP_DATA="often", OMPP_DATA_BACKEND="breakpoints")
    if is_refused(outcome, "breakpoints"):
        return
    profile, text = profile_of(verdict, outcome, "cost"), open(outcome.reports("txt")[0], encoding="utf-8").read()
    verdict.equal(counts(profile, "breakpoints", "often"), [n, n], "cost: all are counted")
    lines = [(c["kind"], re.match(TRAPS, c["subject"])) for c in profile.coverage if c.get("subject", "").startswith("breakpoints:")]
    verdict.check(len(lines) == 1 and lines[0][1], "cost: what Coverage says: %s" % lines)
    if len(lines) == 1 and lines[0][1]:
        traps, took, all_time = int(lines[0][1][1]), float(lines[0][1][2]), float(lines[0][1][3])
        verdict.equal((traps, lines[0][0]), (n, "trapped" if took >= 0.01 * all_time else "note"), "cost: accesses, and its weight")
        verdict.check(took > 0, "cost: an access costs something")
        said = [m for m in outcome.messages() if "counting with breakpoints has taken about" in m]
        verdict.equal(len(said), int(took >= 1), "cost: %.3f s, what is said on stderr: %s" % (took, outcome.messages()))
        cautions = [line for line in text.splitlines() if line.startswith("Caution: breakpoints:")]
        verdict.equal(len(cautions), 2 * int(lines[0][0] == "trapped"), "cost: before the overheads, and the properties")
    outcome = harness.execute([harness.command("ompp"), "--", program], os.path.dirname(scratch.file("often-other", "x")),
                              OMPP_DATA="other", OMPP_DATA_BACKEND="breakpoints")
    remarks = [m for m in outcome.messages() if "a pointer: it is counted itself" in m]
    verdict.check(len(remarks) == 1 and "kinst-ompp --memory" in remarks[0] and "FILE:LINE" in remarks[0], "a pointer: %s" % outcome.messages())


def check_named(verdict, scratch, how, launched):
    """Structures named from outside: what the master touches before the first region is seen; auto takes what works."""
    title, program = "%s%s" % (how, " unmodified" if launched else ""), scratch.file("serial-%s-%d" % (how, launched))
    harness.build(os.path.join(memory.HERE, "serial.c"), program, how, flags=("-O1", "-g"), instrument=not launched)
    words = [harness.command("ompp"), "--", program] if launched else [program]

    def run(name, **settings):
        folder = os.path.dirname(scratch.file("serial-%s-%d-%s" % (how, launched, name), "x"))
        return harness.execute(words, folder, OMP_NUM_THREADS=2, **settings)

    outcome = run("faults", OMPP_DATA="table", OMPP_DATA_BACKEND="page-faults")
    if is_refused(outcome, "page-faults"):
        return
    verdict.equal(outcome.out, "%d 1000\n" % TABLE, title + ": the program's output")
    profile = profile_of(verdict, outcome, title)
    large = table_in_large_pages(profile)
    verdict.check(large or counts(profile, "page faults", "table", None, 0)[TOUCHES] == TABLE, title + ": the master touched the table")
    verdict.equal(counts(profile, "page faults", "table", "PARALLEL|PARALLEL LOOP")[TOUCHES], 0, title + ": and nobody else did")
    outcome = run("both", OMPP_DATA="table,counter", OMPP_DATA_BACKEND="page-faults,breakpoints")
    if not is_refused(outcome, "breakpoints"):
        profile = profile_of(verdict, outcome, title)
        found = counts(profile, "breakpoints", "counter", "CRITICAL")
        verdict.check(found[WRITES] == 1000 and found[ACCESSES] in (1000, 2000), "%s: counter: %s" % (title, found))
        verdict.equal(has(profile, "breakpoints", "table"), False, title + ": breakpoints do not fit the table")
    outcome = run("auto", OMPP_DATA="table")
    profile = profile_of(verdict, outcome, title)
    verdict.check(set_of(profile, "memory samples") or set_of(profile, "page faults"), title + ": auto finds one that works")
    refusals = [c.get("subject", "") for c in profile.coverage if c["kind"] == "refused"]
    for better in ("hooks", "papi"):
        verdict.check(any(better in r for r in refusals), "%s: auto: why not %s: %s" % (title, better, refusals))
    wanted = [(True, True)] if set_of(profile, "page faults") else []
    verdict.equal([("OMPP_DATA counts page faults" in m, m.startswith("ompp: build the program with kinst-ompp --memory: ")) for m in outcome.messages()], wanted, title + ": auto: what is said on stderr")
    outcome = run("refused", OMPP_DATA="table", LD_PRELOAD=harness.refuse_events(scratch.path))
    said = [m for m in outcome.messages() if re.search("build the program with kinst-ompp --memory: OMPP_DATA counts nothing, and page faults cannot be counted", m)]
    verdict.equal((len(outcome.messages()), len(said)), (1, 1), "%s: nothing counts: %s" % (title, outcome.messages()))
    outcome = run("auto-scalar", OMPP_DATA="counter")
    profile = profile_of(verdict, outcome, title)
    verdict.check(set_of(profile, "memory samples") or set_of(profile, "breakpoints") or set_of(profile, "page faults"),
                  title + ": auto for a scalar")


def check_memory(verdict, scratch):
    """What remembers pages: no core dump has it, and no large pages back it."""
    outcome = harness.execute([harness.command("ompp"), "--", "cat", "/proc/self/smaps"], os.path.dirname(scratch.file("smaps", "x")),
                              OMPP_DATA_BACKEND="page-faults")
    if is_refused(outcome, "page-faults"):
        return
    flags, size = [], 4 << 30
    for line in outcome.out.splitlines():
        found = re.match("([0-9a-f]+)-([0-9a-f]+) ", line)
        at = int(found[2], 16) - int(found[1], 16) if found else at
        if line.startswith("VmFlags:") and at >= size:
            flags.append(line.split()[1:])
    verdict.check(flags and all("dd" in f and "nh" in f for f in flags), "memory of pages: %s" % flags)


def check_refused_hooks(verdict, scratch):
    """Hooks without addresses for their map: the program was built with them, and is not told to be."""
    _, compiler = memory.compilers("gcc", "clang")[0]
    program = scratch.file("refused-hooks")
    memory.build(compiler, os.path.join(memory.HERE, "serial.c"), program, "-O1")
    for settings in ({"OMPP_DATA": "table"}, {"OMPP_DATA": "table", "OMPP_DATA_BACKEND": "hooks"}):
        title = "hooks and ulimit -v: %s" % settings
        folder = os.path.dirname(scratch.file("refused-hooks-%d" % len(settings), "x"))
        outcome = harness.execute(["sh", "-c", 'ulimit -v 8000000; exec "$0"', program], folder, OMP_NUM_THREADS=2, **settings)
        verdict.equal((outcome.status, outcome.out), (0, "%d 1000\n" % TABLE), title + ": status and output")
        notes = [str(dict(c)) for c in outcome.profile().coverage]
        verdict.equal([m for m in outcome.messages() + notes if "kinst-ompp --memory" in m], [], title + ": what is said")
        for said in (outcome.messages(), notes):
            verdict.check(any("ulimit -v" in m for m in said), "%s: why: %s" % (title, said))


def table_in_large_pages(profile):
    return counts(profile, "page faults", "table")[TOUCHES] < TABLE // 100


def check_samples(verdict, program, folder):
    outcome = harness.run(program, folder, 2, OMPP_DATA_BACKEND="samples")
    if is_refused(outcome, "samples"):
        text = refused(verdict, outcome, "samples", "samples")
        verdict.check("no events that sample" in text or "untested on this processor" in text or "not permitted" in text,
                      "samples: a reason in words: %s" % text)
        return
    print("note: memory samples work here")
    verdict.equal(outcome.status, 0, "samples: exit status")
    verdict.profile(outcome.profile(), "samples")


def main():
    scratch, verdict = harness.Scratch("backends"), harness.Verdict("backends")
    for how in harness.sources():
        program = scratch.file("touch-" + how)
        harness.build(SOURCE, program, how, flags=("-O0", "-g", "-I", os.path.join(harness.SOURCE, "include")))
        for threads in (1, 4):
            title = "%s T=%d" % (how, threads)
            check_faults(verdict, program, scratch.file("faults-%s-%d" % (how, threads)), threads, title + ": page faults")
            check_faults(verdict, program, scratch.file("estimated-%s-%d" % (how, threads)), threads, title + ": an older kernel",
                         LD_PRELOAD=harness.refuse_events(scratch.path, "attr->sample_type >> 22 & 1", "EINVAL"))
            check_breakpoints(verdict, program, scratch.file("break-%s-%d" % (how, threads)), threads, title + ": breakpoints")
        for launched in (False, True):
            check_named(verdict, scratch, how, launched)
    check_cost(verdict, scratch)
    check_samples(verdict, program, scratch.file("samples"))
    check_memory(verdict, scratch)
    check_refused_hooks(verdict, scratch)
    outcome = harness.run(program, scratch.file("hooks"), 1, OMPP_DATA_BACKEND="hooks")
    verdict.check("not built with kinst-ompp --memory" in refused(verdict, outcome, "hooks", "hooks"), "hooks: why")
    outcome = harness.run(program, scratch.file("none"), 1)
    verdict.check(any("nothing counts for them" in c.get("subject", "") for c in outcome.profile().coverage), "nothing counts: said")
    verdict.finish(scratch)


main()
