#!/usr/bin/env python3
"""
Counters restricted to a data structure (PAPI_DATA_ADDRESS), against a PAPI of a processor that can do that, and against such as say
PAPI_OK and lie. The loads of that PAPI are page faults: see fake_papi.c.
"""

import os
import re
import sys
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))
import fakepapi  # noqa: E402
import harness  # noqa: E402

RANGE = "PAPI data address range"
A, B = 1024, 256  # pages of tests/memory/touch.c


def run(program, folder, papi, mode, threads=2, **changes):
    settings = dict(OMPP_CTR1="PAPI_LD_INS", OMPP_CTR2="PAPI_TOT_CYC", OMPP_DATA_BACKEND="papi", OMPP_TEST_PAPI=mode,
                    LD_LIBRARY_PATH=papi)
    settings.update(changes)
    outcome = harness.run(program, folder, threads, **settings)
    profile = outcome.profile()
    profile.root = ElementTree.parse(profile.path).getroot()
    return outcome, profile


def values(profile, source, name, kind=None, tid=None):
    """Sum of the first value of a structure, None: all data."""
    number = next((m.get("set") for m in profile.root.find("metrics") if m.get("source") == source), "")
    wanted = None if name is None else next(o.get("id") for o in profile.root.find("objects") if o.get("name") == name)
    regions = {r.get("id") for r in profile.root.find("regions") if kind == r.get("type")}
    return sum(int(v.text.split()[0]) for n in profile.root.find("nodes") if kind is None or n.get("region") in regions
               for v in n.findall("values")
               if (v.get("set"), v.get("object")) == (number, wanted) and tid in (None, int(v.get("location"))))


def check_right(verdict, program, scratch, papi, mode, threads):
    title = "%s T=%d" % (mode, threads)
    outcome, profile = run(program, scratch.file("%s-%d" % (mode, threads)), papi, mode, threads)
    verdict.equal(outcome.status, 0, title + ": exit status")
    verdict.equal([m for m in outcome.messages() if "PAPI" in m], [], title + ": messages")
    verdict.profile(profile, title)
    for tid in range(threads):
        found = values(profile, RANGE, "a", "LOOP", tid)
        verdict.equal(found, A // threads, "%s: a in the loop, thread %d" % (title, tid))
    # The larger range holds two more pages, of others: each has two faults when it is read first and written then, and more where the
    # kernel takes it away meanwhile (a busy machine).
    beside = 16 if mode == "coarse" else 0
    verdict.check(A <= values(profile, RANGE, "a") <= A + beside, "%s: a: %d" % (title, values(profile, RANGE, "a")))
    verdict.equal(values(profile, RANGE, "b"), 0, title + ": b has no range")
    verdict.check(any("restricted to the first" in c.get("subject", "") for c in profile.coverage), title + ": b is told of")
    verdict.check(values(profile, "PAPI", None) > 0, title + ": cycles count as before")
    text = open(outcome.reports("txt")[0]).read()
    verdict.check("PAPI_LD_INS(a)" in text and "PAPI_LD_INS(b)" not in text, title + ": columns")
    offsets = [int(n) for n in re.findall(r"Data (?:Start|End  ) Offs\.: (\d+)", text)]
    wanted = 4096 if mode == "coarse" else 0
    verdict.equal(offsets[:2], [wanted, wanted], title + ": offsets of a in the header")


REFUSED = {"wrong": "counts wrongly", "nothing": "counts wrongly", "refuse": "Not supported"}


def check_refused(verdict, program, scratch, papi):
    for mode, words in REFUSED.items():
        outcome, profile = run(program, scratch.file(mode), papi, mode)
        verdict.equal(outcome.status, 0, mode + ": exit status")
        verdict.check(any(words in m for m in outcome.messages()), "%s: messages: %s" % (mode, outcome.messages()))
        reasons = [c.get("reason", "") for c in profile.coverage if c["kind"] == "refused" and "papi" in c.get("subject", "")]
        verdict.check(len(reasons) == 1 and words in reasons[0], "%s: Coverage: %s" % (mode, reasons))
        verdict.check(values(profile, "PAPI", None) >= A + B, mode + ": the counters count all data")
        text = open(outcome.reports("txt")[0]).read()
        verdict.check("PAPI_LD_INS(a)" not in text and re.search(r"PAPI_LD_INS", text), mode + ": columns")
    outcome, profile = run(program, scratch.file("cycles"), papi, "right", OMPP_CTR1="PAPI_TOT_CYC", OMPP_CTR2="PAPI_TOT_CYC")
    verdict.check(any("none of the counters counts accesses" in m for m in outcome.messages()), "cycles: %s" % outcome.messages())
    outcome, profile = run(program, scratch.file("without"), papi, "right", OMPP_CTR1="", OMPP_CTR2="")
    verdict.check(any("no counters are asked for" in m for m in outcome.messages()), "no counters: %s" % outcome.messages())


def check_real(verdict, program, scratch):
    """The PAPI that is here: whatever it can do, what it says is believed only when it is right, and nothing crashes."""
    outcome = harness.run(program, scratch.file("real"), 2, OMPP_CTR1="perf::PAGE-FAULTS", OMPP_DATA_BACKEND="papi")
    verdict.equal(outcome.status, 0, "the PAPI of this machine: exit status")
    verdict.check(any("OMPP_DATA_BACKEND=papi: " in m for m in outcome.messages()), "the PAPI of this machine: %s" % outcome.messages())


def main():
    if not os.path.exists(os.path.join(harness.BUILD, ".libs", "libompp-papi.so")):
        harness.skip("built without PAPI (Debian package: libpapi-dev)")
    scratch, verdict = harness.Scratch("ranges"), harness.Verdict("ranges of counters")
    papi = fakepapi.build(scratch)
    how = harness.sources()[0]
    program = scratch.file("touch")
    harness.build(os.path.join(harness.SOURCE, "tests", "memory", "touch.c"), program, how,
                  flags=("-O0", "-g", "-I", os.path.join(harness.SOURCE, "include")))
    probe = harness.run(program, scratch.file("probe"), 1, OMPP_DATA_BACKEND="page-faults")
    if any("OMPP_DATA_BACKEND" in m for m in probe.messages()):
        harness.skip("the fake counts page faults, which are refused here: %s" % probe.messages()[0])
    for threads in (1, 4):
        check_right(verdict, program, scratch, papi, "right", threads)
    check_right(verdict, program, scratch, papi, "coarse", 2)
    check_refused(verdict, program, scratch, papi)
    check_real(verdict, program, scratch)
    verdict.finish(scratch)


main()
