#!/usr/bin/env python3
"""
Efficiencies and losses: equal to hand-computed ones in profiles with round numbers, and of programs that are built to have known ones,
with 1, 2 and 4 threads and ranks; what is lost adds up in each of them, and it is the same in XML, CSV, JSON and text.
usage: efficiency.py [profiles|programs|ideal]...
"""

import importlib.util
import json
import os
import re
import sys

import harness
import ompp_profile

SOURCE = os.path.join(harness.HERE, "efficiency.c")
NEAR = 0.08  # of a region of 0.1 s or more: a thread may be held up between two readings of the clock


def load_profiles():
    spec = importlib.util.spec_from_file_location("make_profiles", os.path.join(harness.SOURCE, "tests", "golden", "make-profiles.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def show(*words):
    return harness.execute([harness.command("ompp-report"), *words], ".").out


def check_formats(verdict, path, title):
    """CSV, JSON and text say the same. Returns [Efficiency] and the losses of the run as JSON has them."""
    found = json.loads(show("show", "--json", path))
    csv, text = show("csv", path), show("show", path)
    if not verdict.check("efficiency" in found, title + ": no efficiency in JSON"):
        return None
    run = found["efficiency"][0]
    rows = re.search(r"##BEG ompp efficiency\n(.*?)\n##END", csv, re.S)[1].split("\n")
    verdict.equal(rows[1].split(",")[:4], [str(run[k]) for k in ("thread_ns", "threads", "ranks", "useful_ns")], title + ": CSV")
    budget = re.search(r"##BEG ompp loss budget\n.*?\n(.*?)##END", csv, re.S)[1].splitlines()
    verdict.equal(sum(int(row.split(",")[2]) for row in budget), run["thread_ns"] - run["useful_ns"], title + ": loss budget of CSV")
    verdict.equal(sorted(int(row.split(",")[2]) for row in budget), sorted(loss["lost_ns"] for loss in found["losses"]),
                  title + ": losses of CSV and JSON")
    for e in found["efficiency"]:
        verdict.equal(sum(e["lost_ns"].values()), e["thread_ns"] - e["useful_ns"], title + ": losses of region %s" % e.get("region"))
    if run["threads"] > 1:
        section = re.search(r"-- +ompp Efficiency +-+\n-+\n(.*?)\n\n", text, re.S)[1]
        verdict.check(len(section.splitlines()) <= 15, title + ": %d lines" % len(section.splitlines()))
        verdict.check("%.2f = %.2f x %.2f" % (run["parallel"], run["balance"], run["communication"]) in section, title + ": text: " + section)
        verdict.check("sec of thread time" not in text or "Parallel efficiency %.2f" % run["parallel"] in text, title + ": summary")
    else:
        verdict.check("ompp Efficiency" not in text, title + ": a section for one thread")
    return found


# ---- Profiles --------------------------------------------------------------------------------------------------------

def openmp(p):
    """10 s on four threads: 2 s outside, a region of 8 s in which threads work 7.99, 6, 4, 4 s, one of them 1 s of it in a critical section."""
    region, inner = p.region("PARALLEL", 1, begin=1, end=9), p.region("CRITICAL", 2, begin=3, end=4)
    node = p.node(region, 0, 2000)
    lock = p.node(inner, node, 2100)
    for tid, body in enumerate((7990, 6000, 4000, 4000)):
        wait = 500 if tid == 1 else 0
        p.time(node, (0, tid), 1, startup=0, body=(body, 1000 if tid == 1 else 0), exitbar=7990 - body, shutdown=10)
        if tid == 1:
            p.time(lock, (0, tid), 1, enter=wait, body=400, exit=100)
    return dict(useful=2000 + 7990 + 5400 + 4000 + 4000, all=40000, most=9990,
                lost=dict(imbalance=1990 + 3990 + 3990, synchronisation=500, management=100 + 40, serial=3 * 2000))


def ranks(p):
    """10 s on two ranks of two threads: a region of 6 s in which all work, then an MPI call of 1 and 3 s; rank 0 ends a second earlier."""
    p.durations[0] = 9000
    region, call = p.region("PARALLEL", 1, begin=1, end=9), p.region("MPI", 2, begin=10, name="MPI_Barrier")
    node, wait = p.node(region, 0, 100), p.node(call, 0, 7000)
    for location in p.locations:
        p.time(node, location, 1, startup=0, body=6000, exitbar=0, shutdown=0)
    p.time(wait, (0, 0), 1, exec=1000)
    p.time(wait, (1, 0), 1, exec=3000)
    # outside: 9 - 7 and 10 - 9 s
    return dict(useful=4 * 6000 + 2000 + 1000, all=40000, most=8000,
                lost=dict(serial=2000 + 1000, mpi=2 * 1000 + 2 * 3000, ended=2 * 1000))


def small_team(p):
    """10 s on four threads, of which a region of 5 s has two."""
    region = p.region("PARALLEL", 1, begin=1, end=9)
    node = p.node(region, 0, 0)
    for tid in range(2):
        p.time(node, (0, tid), 1, startup=0, body=5000, exitbar=0, shutdown=0)
    return dict(useful=10000 + 5000, all=40000, most=10000, lost={"serial": 3 * 5000, "small-team": 2 * 5000})


def user(p):
    """A user region of 6 s outside of teams, with a region of 4 s in it on two threads that work 4 and 2 s."""
    outer, region = p.region("USER REGION", 1, begin=1, end=20, name="solve"), p.region("PARALLEL LOOP", 2, begin=3, end=9)
    top = p.node(outer, 0, 1000)
    node = p.node(region, top, 2000)
    p.time(top, (0, 0), 1, exec=(6000, 4000))
    for tid, body in enumerate((4000, 2000)):
        p.time(node, (0, tid), 1, startup=0, body=body, exitbar=4000 - body, shutdown=0)
    return dict(useful=10000 + 2000, all=20000, most=10000, lost=dict(imbalance=2000, serial=6000),
                region=dict(useful=6000 + 2000, all=12000, most=6000, lost=dict(imbalance=2000, serial=2000)))


def own_threads(p):
    """Threads of the program's own, beside the first one: it works alone for 10 s, they for 6 and 2 s of it, in a user region."""
    region = p.region("USER REGION", 1, begin=1, end=9, name="thread")
    node = p.node(region, 0, 100)
    p.time(node, (0, 1), 1, exec=6000)
    p.time(node, (0, 2), 1, exec=2000)
    return dict(useful=10000 + 6000 + 2000, all=30000, most=10000, lost=dict(serial=12000))


CASES = ((openmp, dict(threads=4)), (ranks, dict(ranks=2, threads=2, mpi=True)), (small_team, dict(threads=4)), (user, dict(threads=2)),
         (own_threads, dict(threads=3)))


def check_efficiency(verdict, e, wanted, title):
    """To the millisecond, and to the last digit."""
    n = e["threads"]
    length = wanted["all"] / n
    verdict.equal((e["useful_ns"], e["thread_ns"]), (wanted["useful"] * 10**6, wanted["all"] * 10**6), title + ": useful, thread time")
    verdict.equal({k: v / 10**6 for k, v in e["lost_ns"].items()}, {k: float(v) for k, v in wanted["lost"].items()}, title + ": lost")
    for name, value in (("parallel", wanted["useful"] / wanted["all"]), ("balance", wanted["useful"] / n / wanted["most"]),
                        ("communication", wanted["most"] / length)):
        verdict.check(abs(e[name] - value) < 1e-6, "%s: %s is %r, by hand %r" % (title, name, e[name], value))


def measuring(verdict, scratch, p):
    """What measuring took of work is a part of its own, and the parts add up; where Coverage has no line of it, it is none."""
    for told, coverage in ((520, p.coverage), (0, [])):
        p.coverage, path = coverage, scratch.file("measured.xml")
        with open(path, "w") as file:
            file.write(p.xml())
        found, text = check_formats(verdict, path, "measured"), show("show", path)
        verdict.equal(found["efficiency"][0].get("measuring_ns", 0), told * 10**6, "measured: " + str(coverage))
        parts = re.findall(r"^ +(\d+\.\d\d) sec +(\d+\.\d) %  (work|measuring.*)", text, re.M)
        verdict.equal(parts, [("16.98", "84.9", "work"), ("0.52", "2.6", "measuring (about 3.0 % in all, the rest is below)")] if told
                      else [("17.50", "87.5", "work")], "measured: the summary")


def profiles(verdict, scratch):
    make = load_profiles()
    measuring(verdict, scratch, make.measured())
    for case, shape in CASES:
        p = make.Profile(case.__name__, **shape)
        if case is own_threads:
            p.kinds.update({(0, 1): "other", (0, 2): "other"})
        wanted = case(p)
        path = scratch.file(case.__name__ + ".xml")
        with open(path, "w") as file:
            file.write(p.xml())
        found = check_formats(verdict, path, case.__name__)
        if not found:
            continue
        check_efficiency(verdict, found["efficiency"][0], wanted, case.__name__)
        if "region" in wanted:
            check_efficiency(verdict, found["efficiency"][1], wanted["region"], case.__name__ + ": region")
        if case is ranks:  # without MPI ranks have 8 and 7 of 10 s
            e = found["efficiency"][0]
            for name, value in (("mpi_parallel", 0.75), ("mpi_balance", 0.75 / 0.8), ("mpi_communication", 0.8),
                                ("openmp_parallel", 27 / 40 / 0.75), ("openmp_balance", 27 / 40 / 0.8 / (0.75 / 0.8))):
                verdict.check(abs(e[name] - value) < 1e-6, "ranks: %s is %r, by hand %r" % (name, e[name], value))
        verdict.equal(harness.execute([harness.command("ompp-report"), "check", path], ".").status, 0, case.__name__ + ": check")
    broken = scratch.file("broken.xml")
    with open(scratch.file("ranks.xml")) as file:
        text = file.read()
    losses = '<efficiencies><efficiency thread-ns="100" useful-ns="60" threads="1" ranks="1" %s><loss to="serial" lost-ns="%d"/></efficiency></efficiencies>'
    factors = " ".join('%s%s="1"' % (level, name) for level in ("", "mpi-", "openmp-") for name in ("parallel", "balance", "communication"))
    for lost, status in ((40, 0), (39, 1)):
        with open(broken, "w") as file:
            file.write(text.replace("</ompp-profile>", losses % (factors, lost) + "</ompp-profile>"))
        done = harness.execute([harness.command("ompp-report"), "check", broken], ".")
        verdict.equal(done.status, status, "check of a budget of %d of 40: %s" % (lost, done.err))
    verdict.check("losses do not add up: 1 ns" in done.err, "check: " + done.err)


# ---- Programs --------------------------------------------------------------------------------------------------------

# What each region may lose time to: it is built so. A thread without others waits for nobody: it may lose it to management.
BUILT = dict(ramp=["imbalance"], serial=["serial"], even=[], critical=["synchronisation", "imbalance"], alone=["small-team"],
             group=["synchronisation", "imbalance", "ended"],  # a rank whose one thread takes all tasks is there for longer
             late=["serial", "mpi"], hybrid=["imbalance", "mpi"], leave=["serial", "ended"], each=["imbalance"])


def wanted_of(out, t, p):
    """{region: {name: value}} with t threads on each of p ranks, by hand from how long each thread worked, each rank waited and was in it."""
    told = {}
    for region, rank, what, seconds in re.findall(r"^(\w+) (\d+) (\w+) ([\d.]+)$", out, re.M):
        told.setdefault(region, {})[int(rank), what] = float(seconds)
    wanted = {}
    for region, values in told.items():
        work = [s for (_, what), s in values.items() if what.isdigit()]
        wall = {r: s for (r, what), s in values.items() if what == "wall"}
        met = {r: s for (r, what), s in values.items() if what == "meet"}
        length = max(work) if region == "each" else max(wall.values())
        mpi = 0 if region == "each" else sum(met[r] + length - wall[r] for r in range(p)) / p / length
        wanted[region] = dict(parallel=sum(work) / t / p / length, balance=sum(work) / t / p / max(work), communication=max(work) / length,
                              mpi_parallel=1 - mpi, mpi_communication=max(length - met[r] - length + wall[r] for r in range(p)) / length
                              if region != "each" else 1)
    return wanted


def judge(profile, out, t, p):
    """What is not as it was built to be."""
    names = profile.names()
    found = {names[e.region]: e for e in profile.efficiencies if e.region is not None}
    wanted = wanted_of(out, t, p)
    for region, kinds in BUILT.items():
        e = found.get(region)
        if e is None or region not in wanted:
            yield "no region " + region
            continue
        if e.threads != t * p or e.ranks != p:
            yield "%s: %d threads of %d ranks" % (region, e.threads, e.ranks)
        for name, value in wanted[region].items():
            if abs(getattr(e, name) - value) > NEAR:
                yield "%s: %s %.3f, by hand %.3f" % (region, name, getattr(e, name), value)
        lost = e.lost(*kinds, *["management"] * (t == 1)) + (e.lost("mpi-wait", "mpi-transfer") if "mpi" in kinds else 0)
        waits = e.lost("limited-parallelism", "synchronisation") + (region != "each") * e.lost("imbalance")  # of each: between ranks
        if t == 1 and waits:
            yield "%s: a rank with one thread waits %.5f for others" % (region, waits)
        if abs(1 - e.parallel - lost) > NEAR:
            yield "%s: lost to %s %.3f of %.3f" % (region, kinds, lost, 1 - e.parallel)


def programs(verdict, scratch):
    include = "-I" + os.path.join(harness.SOURCE, "include")
    for how in harness.sources():
        for mpi, shapes in ((False, ((1, 0), (2, 0), (4, 0))), (True, ((1, 4 if how == "ompt" else 2), (2, 2)))):
            program = scratch.file(how, "mpi" if mpi else "omp", "efficiency")
            harness.build(SOURCE, program, how, mpi=mpi, flags=["-O0", "-g", include] + ["-DUSE_MPI"] * mpi)
            for t, p in shapes:
                title = "%s, %d threads on %s ranks" % (how, t, p or "no")
                for attempt in range(harness.TRIES):  # a busy machine may hold threads up for longer than they sleep
                    folder = scratch.file(how, "%d-%d-%d" % (t, p, attempt), "x")[:-2]
                    outcome = harness.run(program, folder, t, ranks=p)
                    profile = outcome.profile()
                    wrong = list(judge(profile, outcome.out, t, p or 1))
                    if not wrong:
                        break
                for text in wrong:
                    verdict.check(False, "%s: %s" % (title, text))
                verdict.profile(profile, title)
                check_formats(verdict, profile.path, title)


# ---- What if it were ideal -------------------------------------------------------------------------------------------

def ideal(verdict, scratch):
    """What teams would gain is what their threads did not work, by their own clocks; tiny loops are told so."""
    source, points = os.path.join(harness.HERE, "ideal.c"), 0.05
    for how in harness.sources():
        program = scratch.file(how, "ideal")
        harness.build(source, program, how)
        for attempt in range(harness.TRIES):  # a busy machine may hold threads up between two readings of the clock
            wrong = []
            for case in ("slow", "turns", "even"):
                outcome = harness.run(program, scratch.file(how, "%s-%d" % (case, attempt), "x")[:-2], 2, args=[case])
                found = json.loads(show("show", "--json", outcome.reports()[0]))
                took, balanced = (float(s) for s in re.search(r"took (\S+) balanced (\S+)", outcome.out).groups())
                part = took * 1e9 / found["duration_ns"]
                (low, high), (least, most) = ((g["low"] / part, g["high"] / part) for g in found["ideal"][:2])
                # a team that waits for nobody, and whose runtime costs nothing, works all of the time; on a busy machine fork takes long
                real = 1 - balanced / took
                if abs(real - high - least) > points or abs(low + most - high - least) > 0.02:
                    wrong.append("%s: %.3f is no work, said were %.3f + %.3f" % (case, real, high, least))
                # the slow one is always the same: what is said is sure; each in turn: what all wait is no barrier's cost
                if case == "slow" and low < 0.2 or case == "turns" and high < 0.2 or case == "even" and low > points:
                    wrong.append("%s: from %.3f to %.3f" % (case, low, high))
            if not wrong:
                break
        verdict.check(not wrong, "%s: %s" % (how, "; ".join(wrong)))
        for attempt in range(harness.TRIES):
            outcome = harness.run(program, scratch.file(how, "tiny-%d" % attempt, "x")[:-2], 2, args=["tiny"])
            text = open(outcome.reports("txt")[0]).read()
            section = re.search(r"-- +ompp Ideal +-+\n-+\n(.*?)\n\n", text, re.S)
            told = section and re.search(r"^(\d+) % of PARALLEL.* ideal\.c .* is fork, join and barriers", section[1], re.M)
            # Where threads sleep in barriers, what is their cost is not known; that the loop is short is said by its advice.
            advised = how == "ompt" and section and not told and "so short that any schedule" in re.sub(r"\s+", " ", text)
            short = told and int(told[1]) >= 80 or advised
            if short:
                break
        verdict.check(short, "%s: tiny loops are not told so: %s" % (how, section and section[1]))
        outcome = harness.run(program, scratch.file(how, "barriers", "x")[:-2], 2, args=["barriers"])
        text = open(outcome.reports("txt")[0]).read()
        verdict.check(re.search(r"^not determined: balanced-teams", text, re.M) and " - 100.0 %" not in text, "%s: a range from nothing to all" % how)


def main():
    verdict, scratch = harness.Verdict("efficiency"), harness.Scratch("efficiency")
    for name in sys.argv[1:] or ("profiles", "programs", "ideal"):
        {"profiles": profiles, "programs": programs, "ideal": ideal}[name](verdict, scratch)
    verdict.finish(scratch)


main()
