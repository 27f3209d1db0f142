#!/usr/bin/env python3
"""Progress points: coz.h unchanged, ompp.h in C, C++ and Fortran, automatic ones; exact counts, and latency by Little's law."""

import os
import shutil

import validation
from validation import harness

HERE = validation.HERE
ROUNDS = 30


def build(scratch, compiler, source, name):
    output = scratch.file("bin", name)
    flags = ["-I" + os.path.join(harness.SOURCE, "include"), "-I" + HERE]
    if os.path.exists("/usr/include/coz.h"):
        flags.append("-DHAVE_COZ")
    words = [harness.command("kinst-ompp"), compiler, "-g", "-O1", *flags, os.path.join(HERE, source), "-o", output]
    if name == "cxx":
        words[4:4] = ["-x", "c++"]
    done = harness.execute(words, os.path.dirname(output))
    if done.status != 0:
        raise harness.Failure("cannot build %s: %s" % (source, done.err[-800:]))
    return output


def check_c(verdict, profile, title):
    points = {(p.kind, p.name): p for p in profile.whatif.points}
    for name in ("step", "coz step"):
        verdict.equal(points["throughput", name].visits, ROUNDS, "%s: visits of %s" % (title, name))
    verdict.equal(points["throughput", "third"].visits, ROUNDS // 3, "%s: visits of third" % title)
    unit, coz = points["latency", "unit"], points["latency", "coz unit"]
    verdict.equal((unit.begins, unit.visits), (ROUNDS + 1, ROUNDS), "%s: unit" % title)
    verdict.equal((coz.begins, coz.visits), (ROUNDS, ROUNDS), "%s: coz unit" % title)
    # Each took 1 ms at least, the last is under way for a moment; however busy the machine, not longer than the run.
    verdict.check(ROUNDS * 1e6 <= unit.in_flight <= profile.whatif.time, "%s: %d ns under way" % (title, unit.in_flight))
    verdict.check(coz.in_flight <= profile.whatif.time, "%s: %d ns of coz's units under way" % (title, coz.in_flight))


def check_fortran(verdict, profile, title):
    found = {p.name: (p.begins, p.visits) for p in profile.whatif.points}
    verdict.equal(found, {"unit": (30, 30), "step": (0, 30), "other": (0, 30)}, "%s: points" % title)


# Case latency of openmp.c: region, speed-up in percent, and by what part a request gets shorter, and a round.
LATENCY = [("a", 100, 0, 0), ("d", 50, 0.4, 0.25), ("b", 100, 0.2, 0.125), ("c", 100, 0, 0.375)]
NEAR = 0.06


def unit_gain(clock):
    return (clock.saved - clock.paid) / (clock.time - clock.paid)


def coz_latencies(path, point):
    """As Coz's viewer has it: by region and speed-up, the time that a unit takes, by whole numbers alone."""
    latencies, selected, duration = {}, None, 0
    for line in open(path):
        fields = dict(word.split("=", 1) for word in line.rstrip("\n").split("\t")[1:])
        if line.startswith("experiment\t"):
            selected, duration = (fields["selected"], round(1000 * float(fields["speedup"]))), int(fields["duration"])
        elif line.startswith("latency-point\t") and fields["name"] == point:
            latencies[selected] = int(fields["difference"]) * duration / int(fields["arrivals"])
    return latencies


def check_coz(verdict, path, units, title):
    """What the viewer shows for the latency point is what the report has."""
    latencies = coz_latencies(path, "request")
    for (region, permille), clock in units.items():
        found = [value for (selected, x), value in latencies.items() if x == permille and selected.endswith(" " + region)]
        base = [value for (selected, x), value in latencies.items() if x == 0 and selected.endswith(" " + region)]
        if not region or len(found) != 1:
            continue
        verdict.check(len(base) == 1 and abs(1 - found[0] / base[0] - unit_gain(clock)) < 1e-4, "%s: Coz's viewer would show %s of %s for %s at %d, not %g" % (
            title, found, base, region, permille, unit_gain(clock)))
    verdict.check(len({selected for selected, x in latencies if x == 1000}) >= 4, "%s: latencies of %s for Coz's viewer" % (title, sorted(latencies)))


SELDOM = """
int main(void)
{
    static double x[2000];
    for (int round = 0; round < 13; round++) {
#pragma omp parallel num_threads(2)
        for (int k = 0; k < 300; k++) {
#pragma omp for
            for (int i = 0; i < 2000; i++)
                for (int n = 0; n < 30; n++) x[i] = x[i] * 0.999 + n;
        }
    }
    return x[1] < 0;
}
"""


def seldom(verdict, scratch):
    """A loop that is executed thousands of times is the point, not the parallel region around it with 13 visits."""
    source, program = scratch.file("seldom", "seldom.c"), scratch.file("seldom", "seldom")
    with open(source, "w") as file:
        file.write(SELDOM)
    harness.build(source, program, harness.sources()[0], flags=("-O1", "-g"))
    profile = harness.run(program, scratch.file("seldom-run", "x")[:-2], 2, OMPP_CAUSAL="virtual").profile()
    leaders = [point.visits for point in profile.whatif.points if point.automatic == 2]
    verdict.check(len(leaders) == 1 and leaders[0] > 128, "a point with 13 visits and one with thousands: %s" % leaders)


def latency(verdict, scratch):
    """What begins and ends, and for how long, in the program with a faster region: known by construction, waiting for others included."""
    program = validation.build(scratch, "openmp", harness.sources()[0])
    case = validation.Case("openmp", "latency", {}, 0, 40)

    def compare(mode, wanted, **environment):
        seconds, outcome = validation.execute(scratch, program, case, OMPP_CAUSAL=mode, **environment)
        profile, off = outcome.profile(), []
        names, text = profile.names(), open(outcome.reports("txt")[0]).read()
        verdict.profile(profile, "latency, " + mode)
        verdict.check("Latency of request:" in text, "latency, %s: not in the report" % mode)
        units = {(names[region], permille): clock for (_, region, permille), clock in profile.whatif.units.items()}
        gains = validation.predictions(profile, seconds)
        for region, percent, shorter, faster in wanted:
            clock = units.get((region, 10 * percent))
            if clock is None or abs(unit_gain(clock) - shorter) > NEAR:
                off.append("%s: a request with %s faster by %d %% takes %s less, not %g" % (
                    mode, region, percent, clock and unit_gain(clock), shorter))
            elif clock.observations > case.rounds or (mode == "virtual" and clock.observations != case.rounds):
                off.append("%s: %d requests" % (mode, clock.observations))
            if (region, 10 * percent) not in gains or abs(gains[region, 10 * percent].gain - faster) > NEAR:
                off.append("%s: %s faster by %d %%: %s" % (mode, region, percent, gains.get((region, 10 * percent))))
        if mode == "virtual":
            check_coz(verdict, outcome.reports("coz")[0], units, "latency, " + mode)
        point = [p for p in profile.whatif.points if p.kind == "latency"][0]
        if not 4.9e6 * case.rounds < point.in_flight:
            off.append("%s: requests take %d ns in all" % (mode, point.in_flight))
        return off, 2 * len(wanted)
    verdict.timed(lambda: compare("virtual", LATENCY))
    for row in LATENCY[1:3]:
        verdict.timed(lambda row=row: compare("delay", [row], OMPP_CAUSAL_REGION=row[0], OMPP_CAUSAL_SPEEDUP=str(row[1])))


# Requests of threads.c: all of one is in u, and nothing in what the other thread does meanwhile.
UNDER_WAY = [("requests", "virtual", {}), ("unfinished", "virtual", {}), ("crowded", "virtual", {}), ("requests", "delay", {}),
             ("unfinished", "delay", {"OMPP_CAUSAL_REGION": "u"}), ("unfinished", "delay", {"OMPP_CAUSAL_REGION": "r0"})]


def under_way(verdict, scratch):
    """Units that are under way where regions or experiments change, and at the end, say nothing wrong: a unit's gain is that of its thread."""
    program = validation.build(scratch, "threads", harness.sources()[0])

    def compare(name, mode, environment):
        case, off = validation.Case("threads", name, {}, 0, 40), []
        _, outcome = validation.execute(scratch, program, case, OMPP_CAUSAL=mode, OMPP_CAUSAL_SPEEDUP="100", **environment)
        names, found = outcome.profile().names(), 0
        for (_, region, permille), clock in outcome.profile().whatif.units.items():
            wanted = 1 if names[region] == "u" else 0
            if permille != 1000 or not clock.time:
                continue
            found += clock.observations
            if abs(unit_gain(clock) - wanted) > NEAR:
                off.append("%s, %s: a request takes %g less with %s, not %d" % (name, mode, unit_gain(clock), names[region], wanted))
        if not found:
            off.append("%s, %s: no request" % (name, mode))
        return off, 10
    for row in UNDER_WAY:
        verdict.timed(lambda row=row: compare(*row))
    # One that lasts longer than each of the experiments: its gain is not known, and the report says so.
    _, outcome = validation.execute(scratch, program, validation.Case("threads", "session", {}, 0, 40), OMPP_CAUSAL="delay")
    text = open(outcome.reports("txt")[0]).read()
    verdict.check(": no unit began and ended while the same regions were followed" in text, "session: the report does not say that nothing is known")


# Case asked of threads.c: region, speed-up in percent, and by what part a request gets shorter: the answer takes all of it, and who asks
# at once waits until the other has tidied up, too.
ASKED = [("answer", 50, 0.5), ("answer", 100, 1), ("think", 100, -0.5), ("tidy", 100, 0)]


def asked(verdict, scratch):
    """A request takes as long as its answer, also where coz.h's macros count it, which tell no times; in experiments without their delays."""
    program = validation.build(scratch, "threads", harness.sources()[0])
    case = validation.Case("threads", "asked", {}, 0, 60)

    def times():
        _, outcome = validation.execute(scratch, program, case, OMPP_CAUSAL="virtual")
        points = {p.name: p for p in outcome.profile().whatif.points}
        told, coz = points["request"], points["coz request"]
        verdict.equal((coz.begins, coz.visits), (told.begins, told.visits), "asked: units that coz.h counts")
        good = 0.8 * told.in_flight < coz.in_flight < 1.2 * told.in_flight
        return [] if good else ["asked: requests take %d ns, by coz.h %d" % (told.in_flight, coz.in_flight)], 1

    def gains(region, percent, shorter):
        _, outcome = validation.execute(scratch, program, case, OMPP_CAUSAL="delay", OMPP_CAUSAL_REGION=region, OMPP_CAUSAL_SPEEDUP=str(percent))
        names = outcome.profile().names()
        found = [unit_gain(clock) for (_, r, permille), clock in outcome.profile().whatif.units.items() if names[r] == region and clock.time]
        good = len(found) == 1 and abs(found[0] - shorter) < 0.12
        return [] if good else ["asked: with %s faster by %d %% a request takes %s less, not %g" % (region, percent, found, shorter)], 1
    verdict.timed(times)
    for row in ASKED:
        verdict.timed(lambda row=row: gains(*row))


def languages():
    for name, compiler, source, check in (("c", "gcc", "points.c", check_c), ("cxx", "g++", "points.c", check_c),
                                          ("fortran", "gfortran", "points.f90", check_fortran)):
        if shutil.which(compiler):
            yield name, compiler, source, check


def main():
    verdict, scratch = harness.Verdict("points"), harness.Scratch("points")
    for name, compiler, source, check in languages():
        try:
            program = build(scratch, compiler, source, name)
            outcome = harness.run(program, scratch.file(name), 1, args=["points"], OMPP_CAUSAL="virtual")
            verdict.equal(outcome.status, 0, "%s: status" % name)
            profile = outcome.profile()
            verdict.profile(profile, name)
            check(verdict, profile, name)
            verdict.equal(len(outcome.reports("coz")), 1, "%s: profiles for Coz's viewer" % name)
            # Without OMPP_CAUSAL nothing is counted, and nothing is said.
            plain = harness.run(program, scratch.file(name + "-plain"), 1, args=["points"])
            verdict.check(plain.profile().whatif is None and not plain.reports("coz"), "%s: what-if part without OMPP_CAUSAL" % name)
        except harness.Failure as failure:
            verdict.check(False, "%s: %s" % (name, failure))
    seldom(verdict, scratch)
    latency(verdict, scratch)
    under_way(verdict, scratch)
    asked(verdict, scratch)
    verdict.finish(scratch)


main()
