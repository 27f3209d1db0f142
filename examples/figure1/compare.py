#!/usr/bin/env python3
"""
Figure 1 of the COZ paper by ompp, and by Coz where it is installed: what making a and b faster would save, how wide the 95 % interval
is, what the run takes, and what is really saved.

usage: compare.py [ROUNDS [THOUSANDS OF STEPS PER UNIT]]
kinst-ompp and ompp-report are looked for in PATH; the compiler is $CXX or g++.
"""

import glob
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "figure1.cc")
CXX = os.environ.get("CXX", "g++")
REPETITIONS = 3
ROW = "%-12s %-3s %12s %22s %14s"


def run(words, folder, **environment):
    done = subprocess.run(words, cwd=folder, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True)
    if done.returncode:
        sys.exit("compare.py: this failed: %s\n%s" % (" ".join(words), (done.stdout + done.stderr)[-500:]))
    return done.stdout


def seconds(words, folder, **environment):
    return float(re.search(r"^seconds ([0-9.]+)$", run(words, folder, **environment), re.MULTILINE).group(1))


def lines():
    """Source lines of the loops of a and b."""
    return {text.rsplit(" ", 1)[1].strip(): number for number, text in enumerate(open(SOURCE), 1) if "// line of " in text}


def of_ompp(report):
    """{region: (gain at 100 %, low, high)} of an XML report."""
    root = ElementTree.parse(report).getroot()
    names = {e.get("id"): e.get("name") for e in root.find("regions")}
    found = {}
    for result in root.iter("result"):
        gains = result.findall("gain")
        if not gains or result.get("region") not in names:
            continue  # no experiment with it; outside of all regions
        most = max(gains, key=lambda g: int(g.get("permille")))
        known = most.get("interval") == "true"
        found[names[result.get("region")]] = (float(most.get("gain")), float(most.get("low", 0)) if known else None,
                                              float(most.get("high", 0)) if known else None)
    return found


def experiments(path):
    """{line: [(speed-up, period)]} of a profile of Coz, in its form of lines."""
    found, current = {}, None
    for text in open(path):
        fields = text.rstrip("\n").split("\t")
        values = dict(field.split("=", 1) for field in fields[1:])
        if fields[0] == "experiment":
            current = values
        elif fields[0] in ("throughput-point", "progress-point") and current and int(values["delta"]):
            line = int(current["selected"].rsplit(":", 1)[1])
            found.setdefault(line, []).append((float(current["speedup"]), int(current["duration"]) / int(values["delta"])))
    return found


def slope(points):
    """Gain of the program at a speed-up of 100 %: line through the origin; the base is the middle of what had none."""
    base = [period for speedup, period in points if speedup == 0]
    rest = [(speedup, period) for speedup, period in points if speedup > 0]
    if not base or not rest:
        return None
    middle = statistics.median(base)
    return sum(x * (1 - y / middle) for x, y in rest) / sum(x * x for x, _ in rest)


def of_coz(path):
    """The same by bootstrap over experiments; as Coz's viewer, but with an interval."""
    generator, found = random.Random(1), {}
    profile = experiments(path)
    for name, line in lines().items():
        points = profile.get(line, [])
        drawn = [slope([generator.choice(points) for _ in points]) for _ in range(1000)] if len(points) > 7 else []
        drawn = sorted(d for d in drawn if d is not None)
        if drawn and slope(points) is not None:
            found[name] = (slope(points), drawn[len(drawn) * 25 // 1000], drawn[len(drawn) * 975 // 1000 - 1])
    return found


def show(tool, found, ratio):
    for name in ("a", "b"):
        gain, low, high = found.get(name, (None, None, None))
        print(ROW % (tool, name, "-" if gain is None else "%.1f %%" % (100 * gain),
                     "-" if low is None else "%.1f to %.1f (%.1f)" % (100 * low, 100 * high, 100 * (high - low)), ratio))


def main():
    if not shutil.which("kinst-ompp"):
        sys.exit("compare.py: kinst-ompp is not in PATH: add the bin folder of ompp's installation, or that of the build")
    arguments = sys.argv[1:] or ["400", "1000"]  # 400 rounds of some 30 ms: Coz needs many experiments
    folder = tempfile.mkdtemp(prefix="figure1-")
    include = os.environ.get("OMPP_INCLUDE")
    common = ["-O1", "-g", SOURCE, "-pthread"] + (["-I" + include] if include else [])
    run(["kinst-ompp", CXX, *common, "-o", "with-ompp"], folder)
    plain, real = [], {"a": [], "b": []}
    for _ in range(REPETITIONS):
        plain.append(seconds(["./with-ompp", *arguments], folder, OMPP_QUIET="1", OMPP_OUTDIR=folder + "/unused"))
        for name in real:
            real[name].append(seconds(["./with-ompp", *arguments, name + "=1"], folder, OMPP_QUIET="1", OMPP_OUTDIR=folder + "/unused"))
    base = statistics.median(plain)
    print("Figure 1, %s: what a and b gain if they take no time" % " ".join(arguments))
    print(ROW % ("", "", "gain", "95 % interval (width)", "run time"))
    show("theory", {"a": (0.05, None, None), "b": (0.0, None, None)}, "")
    show("real", {name: (1 - statistics.median(times) / base, None, None) for name, times in real.items()}, "%.2f sec" % base)
    for mode in ("virtual", "delay"):
        out = os.path.join(folder, mode)
        os.makedirs(out)
        took = seconds(["./with-ompp", *arguments], folder, OMPP_CAUSAL=mode, OMPP_OUTDIR=out, OMPP_QUIET="1")
        report = glob.glob(os.path.join(out, "*.ompp.xml"))
        if report:
            show("ompp " + mode, of_ompp(report[0]), "x %.2f" % (took / base))
    if shutil.which("coz"):
        header = "-I" + os.path.join(HERE, "..", "..", "include")
        run([CXX, "-gdwarf-3", header, *[word for word in common if word != "-g"], "-ldl", "-o", "with-coz"], folder)
        took = seconds(["coz", "run", "-o", "figure1.coz", "-s", "%figure1.cc", "---", "./with-coz", *arguments], folder)
        found = of_coz(os.path.join(folder, "figure1.coz")) if os.path.exists(os.path.join(folder, "figure1.coz")) else {}
        show("coz", found, "x %.2f" % (took / base))
        if not found:
            print("coz found nothing for the two lines: too few experiments; give it more rounds")
    shutil.rmtree(folder)


main()
