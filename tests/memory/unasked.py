#!/usr/bin/env python3
"""
Data that nobody has named is told apart: variables, blocks of the heap by the pointers that hold their addresses, frames, variables of
threads. Counts are exact, names are those of the source, all accesses belong to some structure, and structures that are named by the user
alone are reported as before.
"""

import os
import sys
import xml.etree.ElementTree as ElementTree

for folder in ("run", "cache"):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", folder))
import caches  # noqa: E402
import harness  # noqa: E402
import memory  # noqa: E402

# Stores by name, which each compiler makes: those of fill() and of the loops.
STORES = {"unasked.c": {"grid": 1000, "pointer [heap": 300, "mesh->density [heap": 200, "mesh->energy [heap": 100, "stack::local [stack]": 300,
                        "deep::at_level [stack]": 40, "callers::first [stack]": 16, "callers::second [stack]": 12, "board": 2, "inside::own [stack]": 500, "pair_of::pair [stack]": 90, "counter": 30,
                        "mine [of threads]": 8},
          "unasked.cc": {"mesh->nodes [heap": 400, "mesh->cells [heap": 800, "work::mine [heap": 500},
          # blocks that wrappers give on are those of who gets them; members of what another file defines
          "given.c": {"work::first [heap": 701, "work::second [heap": 900, "work::in.cells [heap": 500, "work::out.cells [heap": 300,
                      "owner.mesh->density [heap": 400, "owner.mesh->energy [heap": 200,
                      "smooth::scratch [heap": 130,
                      "stored::wrapped [heap": 210, "stored::within [heap": 220, "stored::mine [heap": 230, "stored::other [heap": 240,
                      "main::own.cells [heap": 250, "kept.cells [heap": 260, "alone [heap": 270,
                      "stored::typed [heap": 280},
          "unasked.f90": {"work::automatic [heap": 60, "state::pressure [heap": 400, "state::fixed": 300, "state::chunk%tiles%density [heap": 200,
                          "state::chunk%tiles%energy [heap": 100, "work::temporary [heap": 70}}
# Further ones that begin so are wrong, but for what the compiler adds: the same block under another name.
ELSEWHERE = ("[unknown", "[heap")


def stores(profile):
    """Stores by structure."""
    names = {o.get("id"): name for name, o in memory.objects(profile).items()}
    return {names[k]: v[memory.STORES] for k, v in memory.sums(profile).items() if k}


def run(scratch, title, program, **settings):
    folder = os.path.dirname(scratch.file(title, "x"))
    outcome = harness.execute([program], folder, **settings)
    if outcome.status != 0:
        raise harness.Failure("%s: ends with %d: %s" % (title, outcome.status, outcome.err[-800:]))
    profile = outcome.profile()
    profile.root = ElementTree.parse(profile.path).getroot()
    return outcome, profile


def check(verdict, profile, title, source):
    found, sums = stores(profile), memory.sums(profile)
    whole = sums[None]
    for name, count in STORES[source].items():
        values = [n for o, n in found.items() if o == name or ("[heap" in name and o.startswith(name))]
        # C++ stores zeros before
        verdict.check(sum(values) >= count if source == "unasked.cc" else sum(values) == count,
                      "%s: %s has %s stores instead of %d; there are %s" % (title, name, values, count, sorted(found)))
    if source == "unasked.cc":  # the members of an array that has a number in front
        planes = sum(n for o, n in found.items() if o.startswith("domains") and "planes [heap" in o)
        verdict.equal(planes, 300, title + ": domains' planes")
    verdict.equal([sum(v[i] for k, v in sums.items() if k) for i in range(4)], whole[:4], title + ": the sum over structures")
    names = {o.get("id"): name for name, o in memory.objects(profile).items()}
    blocks = sum(v[memory.BLOCK_STORES] for k, v in sums.items() if k and "copy" in names[k])
    verdict.equal(blocks, 20 if source == "unasked.c" else 0, title + ": stores of a structure on the stack")
    lost = [o for o in found if o.startswith(ELSEWHERE) and found[o] > whole[memory.STORES] // 50]
    verdict.equal(lost, [], title + ": structures without a name")


def check_text(verdict, outcome, title):
    with open(outcome.reports("txt")[0], errors="replace") as file:
        text = file.read()
    table = text[text.index("  structure\n"):text.index("(all data)")]
    verdict.check(3 <= table.count("\n") <= 32, "%s: the table has %d lines" % (title, table.count("\n")))
    verdict.check("structure, region" in text, title + ": regions by structures")
    verdict.check("Data Name" not in text and "\1" not in text, title + ": only the user's structures are in General Information")


def check_named(verdict, scratch, program):
    """Who names structures gets these; OMPP_DATA=all adds all others."""
    for setting, alone in (("grid", True), ("grid,all", False)):
        outcome, profile = run(scratch, "named " + setting, program, OMPP_DATA=setting)
        found = stores(profile)
        verdict.equal(found.get("grid"), 1000, "OMPP_DATA=%s: stores to grid" % setting)
        verdict.equal(set(found) == {"grid"}, alone, "OMPP_DATA=%s: other structures: %s" % (setting, sorted(found)))


def check_part(verdict, scratch):
    """Code that knows where it counts a local variable learns that a part of it has got another name."""
    for kind, compiler in memory.compilers("gcc", "clang"):
        program = scratch.file("part-" + kind)
        memory.build(compiler, os.path.join(memory.HERE, "part.c"), program, "-O2")
        profile = run(scratch, "run part " + kind, program, OMPP_DATA="all")[1]
        verdict.equal(stores(profile).get("half"), 40, kind + ": stores to a part of a local variable")
        verdict.equal(memory.sums(profile)[None][memory.STORES], 480, kind + ": stores with such a part")


def check_captured(verdict, scratch):
    """What a region of OpenMP has captured of the function around it, while a pointer there changes, and places, too."""
    for kind, compiler in memory.compilers("gcc", "clang"):
        program = scratch.file("captured-" + kind)
        memory.build(compiler, os.path.join(memory.HERE, "captured.c"), program, "-O2")
        for threads in ("1", "2"):
            profile = run(scratch, "run captured %s %s" % (kind, threads), program, OMP_NUM_THREADS=threads)[1]
            found = stores(profile)
            title = "%s, %s threads: " % (kind, threads)
            for name in ("first", "second"):
                count = found.get("main::%s [stack]" % name)
                verdict.equal(count, 4000, title + "stores to %s; there are %s" % (name, found))


def check_given(verdict, scratch):
    """Names of blocks are those of the variables that have them while they live."""
    for kind, compiler in memory.compilers("gcc", "clang"):
        for level in ("-O0", "-O2"):
            program = scratch.file("given-%s%s" % (kind, level))
            memory.build(compiler, os.path.join(memory.HERE, "given.c"), program, level, os.path.join(memory.HERE, "given_mesh.c"))
            title = "given.c %s %s" % (kind, level)
            found = stores(run(scratch, "run " + title.replace(" ", "-"), program)[1])
            for name, count in STORES["given.c"].items():
                values = [n for o, n in found.items() if o.startswith(name)]
                verdict.equal(values, [count], "%s: stores to %s; there are %s" % (title, name, sorted(found)))
            others = [n for o, n in found.items() if o.startswith(("work::columns [heap", "both::more [heap"))]
            verdict.equal(sum(others), 110, "%s: stores to the block that is not returned; there are %s" % (title, sorted(found)))
    for kind, compiler in memory.compilers("g++", "clang++"):
        source, program = scratch.file("lone.cc"), scratch.file("lone-" + kind)
        with open(source, "w") as file:
            file.write("int main() { volatile int *p = new int[40]; for (int i = 0; i < 40; i++) p[i] = i; int r = p[3] - 3; delete[] p; return r; }\n")
        memory.build(compiler, source, program, "-O1")
        verdict.equal(sum(stores(run(scratch, "run lone " + kind, program)[1]).values()) >= 40, True, kind + ": new and nothing else of C++")


def check_caches(verdict, scratch, program):
    """Simulated caches change no count, and what they miss belongs to some structure, too."""
    found = [run(scratch, "caches " + mode, program, OMPP_CACHE=mode, OMPP_OUTFORMAT="csv,text") for mode in ("off", "curves", "model")]
    for outcome, profile in found[1:]:
        verdict.equal(stores(profile), stores(found[0][1]), outcome.folder + ": stores by structure")
    rows = caches.rows_of(found[1][0].reports("csv")[0])
    for size in [key for key in rows["all", "(all data)"] if key.startswith("misses")]:
        parts = [row[size] for (region, name), row in rows.items() if region == "all" and name != "(all data)"]
        known, whole = [part for part in parts if part is not None], rows["all", "(all data)"][size]
        title = "curves: the sum of %s over structures: %s of %s" % (size, sum(known), whole)
        verdict.check(whole is None or sum(known) == whole or (sum(known) < whole and None in parts), title)
    rows = caches.rows_of(found[2][0].reports("csv")[0])
    for level in ("L1-load-misses", "L1-store-misses"):
        parts = {name: row[level] or 0 for (region, name), row in rows.items() if region == "all"}
        whole = parts.pop("(all data)")
        verdict.check((whole > 0 or "load" in level) and len(parts) > 10, "model: %s of %s" % (level, parts))
        verdict.equal(sum(parts.values()), whole, "model: the sum of %s over structures" % level)


def main():
    scratch, verdict = harness.Scratch("unasked"), harness.Verdict("unasked")
    for source, wanted in (("unasked.c", ("gcc", "clang")), ("unasked.cc", ("g++", "clang++")), ("unasked.f90", ("gfortran",))):
        for kind, compiler in memory.compilers(*wanted):
            for level in ("-O0", "-O2"):
                title = "%s %s %s" % (source, kind, level)
                program = scratch.file(title.replace(" ", "-"))
                memory.build(compiler, os.path.join(memory.HERE, source), program, level)
                outcome, profile = run(scratch, "run " + title, program)
                verdict.profile(profile, title)
                check(verdict, profile, title, source)
                check_text(verdict, outcome, title)
                if (source, level) == ("unasked.c", "-O2") and kind == "gcc":
                    check_named(verdict, scratch, program)
                    check_caches(verdict, scratch, program)
    check_part(verdict, scratch)
    check_captured(verdict, scratch)
    check_given(verdict, scratch)
    verdict.finish(scratch)


main()
