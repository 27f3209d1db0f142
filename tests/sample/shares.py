#!/usr/bin/env python3
"""
What samples say of a program whose work is in known parts (shares.c): functions, lines, callers, owners, and all of the processor time; on
one and two threads, of OpenMP and of POSIX; instrumented and not. The section has at most 80 columns; the views agree with it.
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "run"))

import harness  # noqa: E402

SOURCE = os.path.join(HERE, "shares.c")
SECONDS = 1.5


def part(verdict, title, found, of, wanted, samples):
    """A share of so many samples, within four standard errors."""
    share = found / of if of else 0
    error = 4 * (wanted * (1 - wanted) / max(samples, 1)) ** 0.5 + 0.02
    verdict.chance(abs(share - wanted) <= error, "%s: found %.3f, wanted %.3f (+- %.3f)" % (title, share, wanted, error))


def sums(profile):
    """{(function, caller's caller): ns} of the innermost but spin(), and {name: ns} inclusive."""
    which, index = profile.metrics["sampled_time"]
    below, pairs = {}, {}
    for node in profile.tree:
        own = sum(values[index] for (_, s), values in node.values.items() if s == which)
        names, up = [], node
        while up is not None:
            if up.region is not None and up.region.type == "FUNCTION":
                names.append(up.region.name)
            up = up.caller
        for name in set(names):
            below[name] = below.get(name, 0) + own
        for caller in ("heavy", "light"):
            if caller in names:
                outer = [n for n in names if n in ("first", "second")]
                pairs[caller, outer[0] if outer else ""] = pairs.get((caller, outer[0] if outer else ""), 0) + own
    return below, pairs


def rows_of(text):
    """[own %, all %, depth, name] of the rows of a tree, --by=callee or caller."""
    table = text[text.index(" own sec"):].splitlines()[1:]
    cells = [(line[:25], line[25:]) for line in table if line.strip()]
    return [([float(part) for part in left.split()[1:]], (len(name) - len(name.lstrip())) // 2, name.strip()) for left, name in cells]


def below_of(rows, i):
    """Rows right below a row."""
    for inner in rows[i + 1:]:
        if inner[1] <= rows[i][1]:
            return
        if inner[1] == rows[i][1] + 1:
            yield inner


def add_up(verdict, title, rows):
    """The percentages of what is below a row, and the row's own, are those of the row; of callers, those of the row. All are 100 %."""
    callee = title.endswith("callee")
    top = sum(values[callee] for values, depth, _ in rows if depth == 0)
    verdict.check(abs(top - 100) < 0.01 * len(rows) + 0.02, "%s: the outermost rows are %.2f %%" % (title, top))
    for i, (values, _, name) in enumerate(rows):
        inner = [values[callee] for values, _, _ in below_of(rows, i)]
        found = sum(inner) + (values[0] if callee else 0)
        verdict.check(not inner or abs(found - values[callee]) <= 0.006 * (len(inner) + 2), "%s: %s: below it %s" % (title, (values, name), inner))


def hot(verdict, title, rows, callee):
    """One row below the other, each with half of the time above it or more; no other row has that much. It is a part of the view by callee."""
    verdict.equal([depth for _, depth, _ in rows], list(range(len(rows))), title + ": depths")
    for (outer, _, _), (inner, _, name) in zip(rows, rows[1:]):
        verdict.check(inner[1] >= outer[1] / 2 - 0.01, "%s: %s has %s of %s" % (title, name, inner, outer))
    at = [i for i, row in enumerate(callee) if row == rows[-1]]
    verdict.check(at, "%s: %s is not in the view by callee" % (title, rows[-1]))
    least = [values for values, _, _ in below_of(callee, at[0])] if at else []
    verdict.check(all(values[1] <= rows[-1][0][1] / 2 + 0.01 for values in least), "%s: ends early, at %s: %s" % (title, rows[-1], least))


def agree(verdict, title, outcome):
    """In each view rows add up, also where small ones have none of their own; views agree with each other."""
    def view(*words):
        return harness.execute([harness.command("ompp-report"), "show", *words, outcome.reports()[0]], outcome.folder).out

    for words in (["--full"], []):
        for by in ("callee", "caller"):
            add_up(verdict, " ".join([title, *words, by]), rows_of(view(*words, "--by=" + by)))
    own_of, function = {}, {}
    callee = rows_of(view("--full", "--by=callee"))
    hot(verdict, title + " hot", rows_of(view("--by=hot")), callee)
    for values, depth, name in callee:
        is_part = name.startswith("[loop ") or ", inlined at " in name
        function[depth] = function[depth - 1] if is_part and depth else name
        own_of[function[depth]] = own_of.get(function[depth], 0) + values[0]
    for values, depth, name in rows_of(view("--full", "--by=caller")):
        if depth == 0:
            verdict.check(abs(own_of.get(name, 0) - values[0]) <= 0.1, "%s: %s has %s by caller, %s by callee" % (title, name, values, own_of.get(name)))
    flat = view("--full", "--by=flat")
    functions = flat[flat.index("all %  function"):]
    functions = functions[:functions.index("\n\n")].splitlines()[1:]
    own = sum(float(line.split()[1]) for line in functions)
    verdict.check(abs(own - 100) < 0.01 * len(functions) + 0.02, "%s: flat: functions' own time is %.2f %%" % (title, own))


def check(verdict, title, outcome, threads):
    if not verdict.equal((outcome.status, outcome.out), (0, "done\n"), title + ": result; stderr: " + outcome.err[-300:]):
        return
    profile = outcome.profile()
    verdict.profile(profile, title)
    which, index = profile.metrics["samples"]
    samples = sum(v[index] for n in profile.tree for (_, s), v in n.values.items() if s == which)
    below, pairs = sums(profile)
    total = sum(v[profile.metrics["sampled_time"][1]] for n in profile.tree for (_, s), v in n.values.items() if s == which)
    used = sum(int(r.get("user-ns", 0)) + int(r.get("system-ns", 0)) for r in profile.ranks)
    verdict.chance(total >= 0.9 * used - 2e7 * threads, "%s: %d ms of %d ms" % (title, total // 10**6, used // 10**6))
    verdict.chance(total <= 1.05 * used + 2e7 * threads, "%s: %d ms of %d ms" % (title, total // 10**6, used // 10**6))
    verdict.chance(samples >= 50 * SECONDS * threads, "%s: %d samples" % (title, samples))
    part(verdict, title + ": spin", below.get("spin", 0), total, 0.99, samples)
    part(verdict, title + ": heavy", below.get("heavy", 0), total, 0.75, samples)
    part(verdict, title + ": light", below.get("light", 0), total, 0.25, samples)
    part(verdict, title + ": first", below.get("first", 0), total, 2 / 3, samples)
    part(verdict, title + ": heavy by second", pairs.get(("heavy", "second"), 0), total, 0.25, samples)
    nameless = {n.region.function for n in profile.tree if n.region is not None and n.region.type == "FUNCTION" and not n.region.name}
    verdict.equal(nameless & {"spin", "heavy", "light", "first", "second", "main"}, set(), title + ": functions without a name as their callers")
    text = open(outcome.reports("txt")[0]).read()
    section = text[text.index("ompp Samples"):]
    verdict.equal([line for line in section.splitlines() if len(line) > 80], [], title + ": lines of more than 80 columns")
    hot = next(i for i, line in enumerate(open(SOURCE), 1) if "@hot" in line)
    own = dict((int(line), float(share)) for share, line in re.findall(r"^ *\d+\.\d+ +(\d+\.\d+) +shares\.c:(\d+) spin$", section, re.M))
    verdict.chance(sum(share for line, share in own.items() if abs(line - hot) <= 1) > 90, "%s: line %d: %s" % (title, hot, own))
    verdict.check(re.search(r"the program$", section, re.M), title + ": owner")
    lines = harness.execute([harness.command("ompp-report"), "annotate", "--full", outcome.reports()[0], SOURCE], outcome.folder).out.splitlines()[1:]
    beside = [re.fullmatch(r"(.{41}) *(\d+)  (.*)", line).groups() for line in lines]
    source = open(SOURCE).read().splitlines()
    verdict.equal([text for _, _, text in beside], source, title + ": source text")
    near = sum(float(cells.split()[1]) for cells, line, _ in beside if cells[:16].strip() and abs(int(line) - hot) <= 1)
    verdict.chance(near > 90, "%s: annotate: line %d has %.2f %%" % (title, hot, near))
    agree(verdict, title, outcome)
    loop = r"work shares\.c:\d+\n +\d[^\n]*\[loop shares\.c:\d+-\d+\]\n +\d[^\n]*(first|second)" if os.path.exists(os.path.join(harness.BUILD, ".libs", "libompp-unwind.so")) else "work"
    for view, wanted in (("callee", loop), ("callee", r"heavy shares\.c:\d+\n +\d[^\n]*spin"), ("caller", r"spin shares\.c:\d+\n +\d[^\n]*heavy"), ("flat", r"spin shares\.c")):
        shown = harness.execute([harness.command("ompp-report"), "show", "--by=" + view, outcome.reports()[0]], outcome.folder).out
        verdict.chance(re.search(wanted, shown), "%s: --by=%s: %s" % (title, view, shown[:600]))


def direct(verdict, title, outcome, _):
    """Work in the body of a parallel region, at several lines: one function, also where the compiler has made it."""
    if not verdict.equal((outcome.status, outcome.out), (0, "done\n"), title + ": result; stderr: " + outcome.err[-300:]):
        return
    text = open(outcome.reports("txt")[0]).read()
    section = text[text.index("ompp Samples"):]
    table = section[section.index("all %  function"):section.index("own %         line")]
    rows = re.findall(r"^ *\d+\.\d+ +(\d+\.\d+) +\d+\.\d+  (\S+) shares\.c:\d+$", table, re.M)
    verdict.equal(len([name for _, name in rows if "direct" in name]), 1, title + ": rows of one function: %s" % rows)
    verdict.chance(max([float(share) for share, _ in rows] or [0]) > 80, title + ": its share: %s" % rows)


def main():
    verdict, scratch = harness.Verdict("shares"), harness.Scratch("shares")

    def test(title, check, program, threads, *args, **settings):
        verdict.tried(lambda v: check(v, title, harness.run(program, scratch.fresh(title), threads, args=args, **settings), threads))

    for how in harness.sources():
        for flags in (("-O2", "-g"), ("-O3", "-g", "-fomit-frame-pointer")):
            name = how + flags[0] + flags[-1]
            program = scratch.file(name, "shares")
            harness.build(SOURCE, program, how, flags=flags)
            for threads in (1, 2):
                title = "%s, %d threads" % (name, threads)
                test(title, check, program, threads, str(SECONDS), str(threads))
        title = how + ", serial work before the first region"
        test(title, check, program, 1, "0.8", "1", BEFORE="1")
        outcome = harness.run(program, scratch.file(how + "-serial", "x")[:-2], 1, args=("0.2", "1"), SERIAL="1")
        verdict.equal((outcome.status, outcome.out, outcome.reports()), (0, "done\n", []), how + ", built with us and no region: result, reports")
        verdict.check("nothing was measured, no report" in outcome.err, how + ", no region: says " + outcome.err)
        test(how + ", direct", direct, program, 2, str(SECONDS), "2", "direct")
        plain = scratch.file(how + "-plain", "shares")
        harness.build(SOURCE, plain, how, flags=("-O2", "-g"), instrument=False)
        for posix in ({}, {"POSIX": "1"}):
            title = "%s behind ompp%s" % (how, ", POSIX threads" if posix else "")
            test(title, check, harness.command("ompp"), 2, "--", plain, str(SECONDS), "2", **posix)
    off = harness.run(plain, scratch.file("off", "x")[:-2], 1, args=("0.2",), OMPP_SAMPLE_HZ="0")
    verdict.equal(off.status, 0, "off: status")
    verdict.finish(scratch)


main()
