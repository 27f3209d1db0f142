#!/usr/bin/env python3
"""
The pragmas for user regions: the same counts and lines with gcc (OPARI2) and clang (OMPT), in C and in C++: begin, altend, end, on,
off, init, finalize, noinstrument, instrument, with both sentinels.
"""

import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))

import harness  # noqa: E402

SOURCE = os.path.join(harness.SOURCE, "tests", "user", "pragmas.c")
# label -> (type, name, executions with T threads)
WANTED = {
    "ways": ("USER REGION", "ways", "6"), "recursive": ("USER REGION", "recursive", "51"), "same1": ("USER REGION", "same", "1"),
    "same2": ("USER REGION", "same", "2"), "around": ("USER REGION", "around", "1"), "inside": ("USER REGION", "inside", "T"),
    "seen": ("USER REGION", "seen", "1"), "unseen": ("USER REGION", "unseen", "0"), "late": ("USER REGION", "late", "0"),
    "parallel": ("PARALLEL", "", "T"), "quiet": ("PARALLEL", "", "T"), "loud": ("PARALLEL", "", "T"),
    "quietcritical": ("CRITICAL", "", "0"), "loudcritical": ("CRITICAL", "", "T"),
}


def test(verdict, scratch, how, cxx):
    title = how + (" C++" if cxx else "")
    program = scratch.file(title.replace(" ", ""), "pragmas")
    if cxx:
        compiler = harness.COMPILERS[how].replace("clang", "clang++").replace("gcc", "g++")
        words = [harness.command("kinst-ompp"), "--with=" + how, compiler, "-x", "c++", "-g", "-fopenmp", SOURCE, "-o", program]
        if not shutil.which(compiler):
            return
        done = harness.execute(words, os.path.dirname(program))
        if done.status:
            raise harness.Failure("cannot build: %s\n%s" % (" ".join(words), done.err[-1500:]))
    else:
        harness.build(SOURCE, program, how)
    begin, end = harness.labels(SOURCE)
    for threads in (1, 2, 4):
        outcome = harness.run(program, os.path.join(os.path.dirname(program), str(threads)), threads)
        verdict.equal((outcome.status, outcome.out), (0, "%d\n" % (68 + 3 * threads)), title + ": result")
        profile = outcome.profile()
        verdict.profile(profile, title)
        for label, (kind, name, wanted) in WANTED.items():
            regions = profile.find(kind, line=begin[label])
            found = sum(profile.total("execC", regions).values())
            verdict.equal(found, eval(wanted, {"T": threads}), "%s T=%d: executions of %s" % (title, threads, label))
            for region in regions:
                verdict.equal(region.name, name, title + ": name of " + label)
                verdict.check(label not in end or region.end == end[label], "%s: %s ends in line %d" % (title, label, region.end))
        mismatches = [c for c in profile.coverage if c["kind"] == "mismatch"]
        verdict.equal(mismatches, [], title + ": begins and ends match")
        quiet = [c["subject"].rsplit("/", 1)[-1] for c in profile.coverage if c["kind"] == "quiet"]
        verdict.equal(len(quiet), 1, title + ": noinstrument stands in Coverage: %s" % quiet)


def main():
    verdict, scratch = harness.Verdict("pragmas"), harness.Scratch("pragmas")
    for how in harness.sources():
        test(verdict, scratch, how, False)
        test(verdict, scratch, how, True)
    verdict.finish(scratch)


main()
