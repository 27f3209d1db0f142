#!/usr/bin/env python3
"""
When times are judged (Verdict.timed): off on a quiet machine; grossly wrong also where the system says that others are busy and sleepers
are in time nevertheless; not judged where nothing can be known. And programs that fail without ompp (Verdict.unmeasured): they run again, and
are left out when they always fail. What is drawn by lot is drawn again (Verdict.tried), and nothing else is.
"""

import contextlib
import io
import subprocess

import harness
import machine
import tolerance


class Watch:
    """A machine that is made up: an attempt each."""

    attempts = iter(())

    def __enter__(self):
        self.disturbed, self.calm = next(Watch.attempts)
        return self

    def __exit__(self, *_):
        pass


QUIET, SHARED, BUSY = ("", True), ("others used 90 % of a processor", True), ("others used 90 % of a processor", False)
WRONG = tolerance.said("much", 100, 10)
OFF = tolerance.said("little", 12, 10)


def judge(machines, texts):
    """(failed, not judged) of times that are found as in texts, on machines one after the other."""
    verdict, found = harness.Verdict("made up"), iter(texts)
    Watch.attempts = iter(machines)
    with contextlib.redirect_stdout(io.StringIO()):
        verdict.timed(lambda: (list(filter(None, [next(found)])), 1))
    return len(verdict.failed), len(verdict.unjudged)


def tried(attempts):
    """(failed, attempts that were made) of attempts, each of which says which checks hold: (of counts, by chance)."""
    verdict, made, found = harness.Verdict("made up"), [], iter(attempts)

    def attempt(inner):
        counts, chance = next(found)
        made.append(inner)
        inner.check(counts, "counts")
        inner.chance(chance, "chance")

    with contextlib.redirect_stdout(io.StringIO()):
        verdict.tried(attempt)
    return len(verdict.failed), len(made)


def left_out(statuses):
    """(what the run ends with that counts, cases left out) of a program whose runs end with these; None: it hangs."""
    verdict, found = harness.Verdict("made up"), iter(statuses)

    def start():
        status = next(found)
        if status is None:
            raise subprocess.TimeoutExpired("made up", harness.LIMIT)
        return harness.Outcome(status, "", "aborted", ".")

    with contextlib.redirect_stdout(io.StringIO()):
        outcome = verdict.unmeasured("made up", start)
    return outcome and outcome.status, len(verdict.left_out)


def main():
    verdict, scratch = harness.Verdict("judged"), harness.Scratch("judged")
    real, machine.Watch, machine.alone = machine.Watch, Watch, lambda folder: None
    n = tolerance.ATTEMPTS
    for title, machines, texts, wanted in (
            ("good", [BUSY], [None], (0, 0)),
            ("off, quiet", [QUIET] * n, [OFF] * n, (1, 0)),
            ("off, quiet once", [QUIET] + [BUSY] * (n - 1), [OFF] * n, (0, 1)),
            ("off, quiet twice", [QUIET, BUSY, QUIET] + [BUSY] * (n - 3), [OFF] * n, (1, 0)),
            ("off, shared", [SHARED] * n, [OFF] * n, (0, 1)),
            ("grossly wrong, shared", [SHARED] * n, [WRONG] * n, (1, 0)),
            ("grossly wrong, busy", [BUSY] * n, [WRONG] * n, (0, 1)),
            ("grossly wrong once", [SHARED] + [BUSY] * (n - 1), [WRONG] * n, (0, 1)),
            ("grossly wrong, then off", [SHARED] * n, [WRONG] * (n - 1) + [OFF], (0, 1)),
            ("good at last", [SHARED] * 3, [WRONG, WRONG, None], (0, 0))):
        verdict.equal(judge(machines, texts), wanted, title + ": failed, not judged")
    for measured, true, parts, gross in ((30, 9, 1, True), (9, 30, 1, True), (0, 21, 1, True), (0, 19, 1, False), (50, 20, 1, False),
                                         (0, 50, 4, False)):
        verdict.equal(isinstance(tolerance.said("", measured, true, parts), tolerance.Gross), gross, "%s ms, true %s" % (measured, true))
    for statuses, wanted in (([0], (0, 0)), ([6, None, 0], (0, 0)), ([6] * harness.TRIES, (None, 1))):
        verdict.equal(left_out(statuses), wanted, "without ompp, %s" % statuses)
    good, chance, wrong = (True, True), (True, False), (False, False)
    for attempts, wanted in (([good], (0, 1)), ([chance, good], (0, 2)), ([chance] * harness.TRIES, (1, harness.TRIES)), ([wrong], (2, 1))):
        verdict.equal(tried(attempts), wanted, "tried: %s" % attempts)
    with real() as watch:
        pass
    verdict.check(watch.calm in (True, False), "a real machine")
    verdict.finish(scratch)


main()
