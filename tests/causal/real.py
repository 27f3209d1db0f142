#!/usr/bin/env python3
"""
Programs that others wrote. A report, not a test: takes minutes, and wants an idle machine.

usage: real.py gain PROGRAM=FOLDER...         what the what-if section predicts, and what the program really gains when a region is made faster
       real.py overhead PROGRAM=FOLDER...     the program alone, measured, with virtual clocks, with experiments
       ... [--repetitions=N] [--keep=FOLDER]  default: 11; FOLDER: builds are kept there, and used again

Programs: comd (CoMD), sp (NPB, folder of NPB3.3-OMP), lulesh (LULESH 2), xsbench (XSBench), heat (examples/heat). FOLDER is the unpacked source; it
is copied. A region is made faster by other flags for its source file. Lines are medians of pairs: runs take turns.
"""

import collections
import os
import re
import shutil
import statistics
import sys
import xml.etree.ElementTree as ElementTree

import validation
from validation import harness

# A change that makes regions faster: the source file that gets other flags, and the regions, by name, or by file for OpenMP's.
Change = collections.namedtuple("Change", "name file regions")
# seconds, rate: what the program prints; runs are compared by the rate, which has more digits.
Program = collections.namedtuple("Program", "folder patches make binary flags fast ranks arguments files seconds rate changes")

SLOW, FAST = "-O1 -g", "-O3 -g -march=native -ffast-math"
# A file to change, what is replaced in it (None: all), by what. CoMD has timers around its parts: they become regions.
TIMERS = [("Makefile", None, "include Makefile.vanilla\n"),
          ("performanceTimers.c", '#include "performanceTimers.h"\n', '#include "performanceTimers.h"\n#include <ompp.h>\n'),
          ("performanceTimers.c", "   perfTimer[handle].start =", "   ompp_region_begin(timerName[handle]);\n   perfTimer[handle].start ="),
          ("performanceTimers.c", "   perfTimer[handle].elapsed += delta;\n",
           "   perfTimer[handle].elapsed += delta;\n   ompp_region_end(timerName[handle]);\n")]
FORTRAN = " -fopenmp -std=legacy -fallow-argument-mismatch"

PROGRAMS = {
    "comd": Program("src-mpi", TIMERS, ["make", "CC=mpicc", "INCLUDES=-I%(include)s", "OPTFLAGS=%(flags)s"], "../bin/CoMD-mpi", SLOW, FAST, 2, "-x 20 -y 20 -z 20 -i 2 -j 1 -k 1 -N 40 -n 10".split(), {},
                    r"^loop +1 +([0-9.]+)", None,
                    [Change("first", "ljForce.c", ["  force"]), Change("last", "timestep.c", ["  velocity", "  position"])]),
    "sp": Program(".", [("config/make.def", None, "F77 = gfortran\nFLINK = $(F77)\nFFLAGS = \nFLINKFLAGS = -fopenmp\nCC = gcc\nUCC = gcc\n"
                                                  "BINDIR = ../bin\nRAND = randi8\nWTIME = wtime.c\n"), ("bin/empty", None, "")],
                  ["make", "sp", "CLASS=W", "FFLAGS=%(flags)s"], "bin/sp.W.x", SLOW + FORTRAN, FAST + FORTRAN, 0, [],
                  {"inputsp.data": "200\n0.0015d0\n36 36 36\n"}, r"Time in seconds = +([0-9.]+)", r"Mop/s total += +([0-9.]+)",
                  [Change("first", "SP/rhs.f", ["rhs.f"]), Change("last", "SP/pinvr.f", ["pinvr.f"])]),
    "lulesh": Program(".", [], ["make", "CXX=g++ -DUSE_MPI=0", "CXXFLAGS=%(flags)s -fopenmp -I.", "LDFLAGS=-fopenmp"], "lulesh2.0", "-O2 -g", None, 0,
                      ["-s", "24", "-i", "200"], {}, r"Elapsed time += +([0-9.]+)", r"FOM += +([0-9.]+)", []),
    "xsbench": Program("openmp-threading", [], ["make", "CC=gcc"], "XSBench", "", None, 0, "-t 2 -s small -m event -l 2000000".split(), {},
                       r"Runtime: +([0-9.]+)", r"Lookups/s: +([0-9,]+)", []),
    "heat": Program(".", [], ["make", "CFLAGS=%(flags)s"], "heat", "-O2 -g", None, 2, ["60"], {}, None, None, []),
}


# ---- Building and running ----------------------------------------------------------------------------------------------

def write_patches(program, folder):
    for file, old, new in program.patches:
        path = os.path.join(folder, file)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        text = open(path).read() if old else ""
        if old and old not in text:
            raise harness.Failure("%s: not the version that the change is for" % path)
        with open(path, "w") as out:
            out.write(text.replace(old, new, 1) if old else new)


def make(program, folder, flags):
    words = [w % {"flags": flags, "include": os.path.join(harness.SOURCE, "include")} for w in program.make]
    done = harness.execute(words, folder)
    if done.status != 0:
        raise harness.Failure("%s: %s" % (" ".join(words), (done.out + done.err)[-1500:]))


def build(program, source, folder, change):
    """Path of the executable: all with the slow flags, the file of the change with the fast ones."""
    where = os.path.join(folder, program.folder)
    binary = os.path.join(where, program.binary)
    if os.path.exists(folder):
        return binary
    shutil.copytree(source, folder)
    write_patches(program, where)
    make(program, where, program.flags)
    if change:
        os.utime(os.path.join(where, change.file))
        make(program, where, program.fast)
        os.remove(binary)
        make(program, where, program.flags)  # -ffast-math adds a function to what is linked, and all code moves
    return binary


def told(program, out):
    """(seconds, what runs are compared by); none of both when the program says nothing."""
    seconds = re.search(program.seconds, out, re.MULTILINE) if program.seconds else None
    rate = re.search(program.rate, out, re.MULTILINE) if program.rate else None
    value = float(seconds.group(1)) if seconds else None
    return value, (1 / float(rate.group(1).replace(",", "")) if rate else value)


counter = iter(range(1000000))


def run(program, binary, scratch, mode, **more):
    """One run: none = alone, off = measured. Returns (seconds, to compare, outcome)."""
    folder = scratch.file("runs", "r%d" % next(counter), "x")[:-2]
    for name, text in program.files.items():
        with open(os.path.join(folder, name), "w") as out:
            out.write(text)
    words = [binary] + program.arguments
    if mode != "none":
        words = [harness.command("ompp"), "--quiet=1", "--causal=" + mode, "--"] + words
    begin = os.times().elapsed
    outcome = harness.run(words[0], folder, 1 if program.ranks else 2, program.ranks, words[1:], **more)
    took = os.times().elapsed - begin
    seconds, comparable = told(program, outcome.out)
    if outcome.status != 0 and not comparable:  # XSBench knows the result of its own sizes alone
        raise harness.Failure("%s: status %s: %s" % (binary, outcome.status, (outcome.out + outcome.err)[-800:]))
    return (seconds or took), (comparable or took), outcome


# ---- Numbers -----------------------------------------------------------------------------------------------------------

def text_of(values):
    return "%5.1f (%.1f to %.1f)" % tuple(100 * v for v in validation.interval(values))


def regions_of(profile, wanted):
    """Indices of the regions that a change is about."""
    names, regions = profile.names(), profile.regions
    return [i for i in profile.whatif.results if i in range(len(regions)) and (names[i] in wanted or os.path.basename(regions[i].file or "") in wanted)]


def interpolate(profile, region, x):
    points = sorted([(0, 0.0)] + [(p / 1000, g.gain) for (r, p), g in profile.whatif.gains.items() if r == region])
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        if x <= x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return points[-1][1]


def work(profile, region):
    """Of all threads, ns; a share of the work, as of the part of the run in which it was followed."""
    return profile.whatif.results[region].share * profile.whatif.worked if region in profile.whatif.results else 0


# ---- Gains -------------------------------------------------------------------------------------------------------------

def measure_gains(program, binaries, scratch, repetitions):
    """Pairs of base and change, in turn first: {change: [(base, change)]}. Profiles by binary."""
    pairs, profiles = collections.defaultdict(list), collections.defaultdict(list)
    for i in range(repetitions):
        for name in binaries:
            order = ["base", name] if i % 2 else [name, "base"]
            times = {which: run(program, binaries[which], scratch, "none")[1] for which in order if name != "base"}
            if times:
                pairs[name].append((times["base"], times[name]))
            seconds, _, outcome = run(program, binaries[name], scratch, "virtual")
            profiles[name].append((outcome.profile(), seconds))
    return pairs, profiles


def name_of(profile, region):
    """As OMPP_CAUSAL_REGION wants it."""
    root = ElementTree.parse(profile.path).getroot()
    element = [r for r in root.iter("region") if int(r.get("id")) == region][0]
    module = [m.get("path") for m in root.iter("module") if m.get("id") == element.get("module")]
    return element.get("name") or os.path.basename(module[0]) + "+" + element.get("address")


def by_experiments(program, binary, scratch, name, wanted, x, repetitions):
    """Gains that experiments with one region predict at the nearest whole percent."""
    found, percent = [], max(1, round(100 * x))
    for _ in range(repetitions):
        seconds, _, outcome = run(program, binary, scratch, "delay", OMPP_CAUSAL_REGION=name, OMPP_CAUSAL_SPEEDUP=percent)
        profile = outcome.profile()
        for region in regions_of(profile, [wanted]):
            gain, paid = profile.whatif.gains.get((region, 10 * percent)), profile.whatif.paid
            if gain:
                found.append(gain.gain * (profile.whatif.time - paid) / (1e9 * seconds - paid))
    return found


def show_ranks(profile):
    names = profile.names()
    own = [(g.gain, r) for (r, p), g in profile.whatif.gains.items() if p == 500 and profile.whatif.results[r].own >= 0.5]
    for gain, region in sorted(own, reverse=True):
        place = os.path.basename(profile.regions[region].file or "") if region in range(len(profile.regions)) else ""
        print("    50 %%: %5.1f   share %5.1f   %s %s" % (100 * gain, 100 * profile.whatif.results[region].share, names[region].strip(), place))


def gains(name, source, folder, repetitions):
    program, scratch = PROGRAMS[name], harness.Scratch("real")
    binaries = {"base": build(program, source, os.path.join(folder, name + "-base"), None)}
    for change in program.changes:
        binaries[change.name] = build(program, source, os.path.join(folder, name + "-" + change.name), change)
    pairs, profiles = measure_gains(program, binaries, scratch, repetitions)
    print("%s: %.2f sec" % (name, statistics.median(seconds for _, seconds in profiles["base"])))
    show_ranks(profiles["base"][0][0])
    for change in program.changes:
        predicted, flags = [0] * repetitions, set()
        for wanted in change.regions:
            before = [sum(work(p, r) for r in regions_of(p, [wanted])) for p, _ in profiles["base"]]
            after = [sum(work(p, r) for r in regions_of(p, [wanted])) for p, _ in profiles[change.name]]
            x = 1 - statistics.median(after) / statistics.median(before)
            for i, (profile, seconds) in enumerate(profiles["base"]):
                for region in regions_of(profile, [wanted]):
                    predicted[i] += interpolate(profile, region, x) * profile.whatif.time / (1e9 * seconds)
                    flags |= profile.whatif.flags[region]
            first = profiles["base"][0][0]
            name_there = name_of(first, regions_of(first, [wanted])[0])
            tried = by_experiments(program, binaries["base"], scratch, name_there, wanted, x, min(repetitions, 5))
            print("  %-6s %-12s faster by %.1f %%; experiments with it say %s" % (
                change.name, wanted.strip(), 100 * x, text_of(tried) if tried else "nothing"))
        real, least = [1 - b / a for a, b in pairs[change.name]], [min(times) for times in zip(*pairs[change.name])]
        print("  %-6s predicted %s   real %s, least disturbed runs %.1f   flags %s" % (
            change.name, text_of(predicted), text_of(real), 100 * (1 - least[1] / least[0]), ",".join(sorted(flags)) or "-"), flush=True)
    scratch.done(True)


# ---- Overhead ----------------------------------------------------------------------------------------------------------

def overhead(name, source, folder, repetitions):
    program, scratch = PROGRAMS[name], harness.Scratch("real")
    binary = build(program, source, os.path.join(folder, name + "-base"), None)
    times, events = collections.defaultdict(list), []
    for i in range(repetitions + 1):
        for mode in ("none", "off", "virtual", "delay"):
            _, time, outcome = run(program, binary, scratch, mode)
            if i:  # the first ones warm up
                times[mode].append(time)
            if mode == "virtual":
                whatif = outcome.profile().whatif
                events.append(1e9 * whatif.events / whatif.time)
    ratio = {pair: [a / b - 1 for a, b in zip(times[pair[0]], times[pair[1]])]
             for pair in (("off", "none"), ("virtual", "off"), ("virtual", "none"), ("delay", "none"))}
    print("%-8s %8.0f events/s | measured %s | clocks %s | both %s | delays %s" % (
        name, statistics.median(events), *(text_of(ratio[pair]) for pair in ratio)), flush=True)
    scratch.done(True)


def main():
    options, words = {"repetitions": "11", "keep": None}, []
    for word in sys.argv[1:]:
        if word.startswith("--"):
            key, _, value = word[2:].partition("=")
            options[key] = value
        else:
            words.append(word)
    if len(words) < 2 or words[0] not in ("gain", "overhead") or set(options) != {"repetitions", "keep"}:
        sys.exit(__doc__)
    builds = harness.Scratch("real-builds")
    for word in words[1:]:
        name, _, source = word.partition("=")
        try:
            (gains if words[0] == "gain" else overhead)(name, source, options["keep"] or builds.path, int(options["repetitions"]))
        except harness.Failure as failure:
            print("%s: %s" % (name, failure), flush=True)
    builds.done(True)


main()
