#!/usr/bin/env python3
"""Nobody leaves with a lock of ours: jumps out of signal handlers and threads that are cancelled at any instruction (left.c), while other
threads find out whose their memory is, with caches and without. Results are the plain program's; nothing is said."""

import os
import xml.etree.ElementTree as ElementTree

import memory
from memory import harness


LATE = 100000  # of left.c


def main():
    scratch, verdict = harness.Scratch("left"), harness.Verdict("left")
    for name, compiler in memory.compilers("gcc", "clang"):
        program = scratch.file("left-" + name)
        memory.build(compiler, os.path.join(memory.HERE, "left.c"), program, "-O1")
        for how in "jump", "cancel":
            for caches, settings in ("none", {}), ("shared", {"OMPP_CACHE": "model", "OMPP_CACHE_WITH": "coherence,shared"}):
                title = "%s, %s, caches: %s" % (name, how, caches)
                run = harness.run(program, scratch.file(title.replace(", ", "-").replace(": ", "-"), "x")[:-2], 2, args=(how,), **settings)
                verdict.equal((run.status, run.out, run.messages()), (0, "done\n", []), title)
                profile = run.profile()
                verdict.profile(profile, title)
                profile.root = ElementTree.parse(profile.path).getroot()
                late = [memory.counts(profile, name)[memory.STORES] for name in memory.objects(profile) if "after_all::late" in name]
                verdict.check(sum(late) >= LATE, "%s: %s stores to after_all::late, wanted %d" % (title, late, LATE))
    verdict.finish(scratch)


main()
