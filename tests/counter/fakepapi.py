"""A PAPI of our own in front of the real one (fake_papi.c), and the relations that counts of instructions must have."""

import os
import re
import shutil

import harness

HERE = os.path.join(harness.SOURCE, "tests", "counter")
INSTRUCTIONS, CYCLES = "PAPI_TOT_INS", "PAPI_TOT_CYC"


def soname():
    done = harness.execute(["readelf", "-d", os.path.join(harness.BUILD, ".libs", "libompp-papi.so")], ".")
    found = re.search(r"\[(libpapi\.so[^]]*)\]", done.out)
    return found.group(1) if found else harness.skip("libompp-papi.so does not say which PAPI it needs")


def build(scratch):
    """Folder with the fake, for LD_LIBRARY_PATH."""
    compiler = harness.COMPILERS["opari"]
    if not os.path.exists(os.path.join(harness.BUILD, ".libs", "libompp-papi.so")):
        harness.skip("built without PAPI (Debian package: libpapi-dev)")
    if not shutil.which(compiler) or not shutil.which("readelf"):
        harness.skip("no %s or no readelf" % compiler)
    source, name = os.path.join(harness.SOURCE, "src"), soname()
    words = [compiler, "-std=gnu11", "-O1", "-w", "-shared", "-fPIC", "-I", source, os.path.join(HERE, "fake_papi.c"),
             os.path.join(source, "perf", "ompp_perf.c"), os.path.join(source, "perf", "ompp_perf_record.c"),
             "-Wl,-soname," + name, "-o", scratch.file("papi", name)]
    done = harness.execute(words, scratch.path)
    if done.status != 0:
        raise harness.Failure("cannot build the fake: " + done.err[-1500:])
    return os.path.dirname(scratch.file("papi", name))


def report(outcome):
    """General Information and Coverage: label -> text; and the rows of the tables."""
    text = open(outcome.reports("txt")[0]).read()
    return dict(re.findall(r"^([A-Za-z_0-9. ]{16}): (.*)$", text, re.M)), [line.split() for line in text.split("\n")]


def counted(profile, name, kind=None, tid=None):
    """Counts of a column while working: in the nodes of a type, or in all."""
    metric = next(m for m in profile.metric_rows if m["name"] == name and m.get("use") == "column")
    nodes = profile.nodes if kind is None else profile.nodes_of(profile.find(kind))
    return sum(values[metric["index"]] for n in nodes for ((_, t), s), values in n.values.items()
               if s == metric["set"] and tid in (None, t))


def below(profile, name, function):
    """The same below the nodes of a function; of all regions when function is None."""
    metric = next(m for m in profile.metric_rows if m["name"] == name and m.get("use") == "column")

    def callers(node):
        while node is not None:
            yield node.region.name if node.region is not None and node.region.type == "FUNCTION" else None
            node = node.caller
    return sum(values[metric["index"]] for n in profile.tree if n.region is not None and (function is None or function in callers(n))
               for (_, s), values in n.values.items() if s == metric["set"])


def at_root(profile, name, use):
    """Sum over threads of a metric that stands at the root."""
    metric = next(m for m in profile.metric_rows if m["name"] == name and m.get("use") == use)
    return sum(values[metric["index"]] for (_, s), values in profile.nodes[0].values.items() if s == metric["set"])


# What work.c does in its constructs, in units.
WORK = {"LOOP|PARALLEL LOOP": 4, "SINGLE": 2, "MASTER": 1}


def broken_relations(profile, threads, tolerance=0.02):
    """Twice the work is twice the instructions: what does not hold, in words."""
    unit = counted(profile, INSTRUCTIONS, "SINGLE") / WORK["SINGLE"]
    found = [(kind, counted(profile, INSTRUCTIONS, kind), units) for kind, units in WORK.items()]
    found += [("loop, thread %d" % tid, counted(profile, INSTRUCTIONS, "LOOP|PARALLEL LOOP", tid), 4 / threads) for tid in range(threads)]
    wrong = ["%s: %d instructions are %.3f units, wanted %g" % (what, count, count / unit if unit else 0, units)
             for what, count, units in found if not abs(count - units * unit) < tolerance * units * unit]
    cycles = counted(profile, CYCLES, "SINGLE")
    return wrong + (["no cycles in the single construct"] if cycles <= 0 else [])
