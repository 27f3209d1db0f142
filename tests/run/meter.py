#!/usr/bin/env python3
"""A component that counts sees every change of a thread's place: exact counts by construct and thread, through both sources."""

import os

import harness

SET = 2  # the first one that is registered
PER_THREAD = {"PARALLEL": 20, "LOOP": 400, "CRITICAL": 1000}


def check(verdict, profile, threads, title):
    verdict.profile(profile, title)
    which = profile.metrics["ticks"][0]
    for kind, wanted in PER_THREAD.items():
        for tid in range(threads):
            found = sum(n.values.get(((0, tid), which), [0])[0] for n in profile.nodes_of(profile.find(kind)))
            verdict.equal(found, wanted, "%s: %s of thread %d" % (title, kind, tid))
    tasks = sum(v[0] for n in profile.nodes_of(profile.find("TASKEXEC")) for (_, s), v in n.values.items() if s == which)
    verdict.equal(tasks, 80000, "%s: tasks" % title)
    verdict.equal(profile.nodes[0].values.get(((0, 0), which), [0])[0], 2, "%s: outside regions" % title)
    waiting = sum(v[1] for n in profile.nodes for (_, s), v in n.values.items() if s == which)
    verdict.equal(waiting, 0, "%s: while waiting" % title)


def main():
    scratch = harness.Scratch("meter")
    verdict = harness.Verdict("meter")
    for how in harness.sources():
        program = scratch.file("meter-" + how)
        fakes = harness.SOURCE + "/tests/fakes"
        flags = ("-O1", "-g", "-I", harness.SOURCE + "/src", "-I", harness.SOURCE + "/include", "-I", fakes)
        harness.build(os.path.join(harness.HERE, "meter.c"), program, how, flags=flags + (fakes + "/null_component.c",))
        for threads in (1, 2, 4):
            # with samples the initial thread would be measured from the load on, before main adds the component
            run = harness.run(program, scratch.file("%s-%d" % (how, threads)), threads, OMPP_SAMPLE_HZ=0)
            if verdict.equal(run.status, 0, "%s: exit status" % how):
                check(verdict, run.profile(), threads, "%s T=%d" % (how, threads))
    verdict.finish(scratch)


main()
