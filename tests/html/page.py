"""
Reads the page of a profile again, and makes profiles of any size. The page is viewer/page.html with the profile at its mark, as JSON that is
compressed and in base64: nothing else of it depends on the profile.
"""

import base64
import importlib.machinery
import importlib.util
import json
import os
import random
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))
import harness  # noqa: E402

VIEWER = os.path.join(harness.SOURCE, "viewer")
MARK = "@PROFILE@"


class Foreign(Exception):
    """The page has something else than the viewer and a profile."""


def load_profiles():
    """tests/golden/make-profiles.py as a module."""
    loader = importlib.machinery.SourceFileLoader("make_profiles", os.path.join(harness.SOURCE, "tests", "golden", "make-profiles.py"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("make_profiles", loader))
    loader.exec_module(module)
    return module


def unpacked(path):
    """The JSON of a page, as text. Raises Foreign where a byte of the page is neither the viewer's nor base64."""
    with open(os.path.join(VIEWER, "page.html"), encoding="utf-8") as file:
        before, after = file.read().split(MARK)
    with open(path, encoding="utf-8") as file:
        page = file.read()
    if not page.startswith(before) or not page.endswith(after):
        raise Foreign("the page is not that of the viewer")
    packed = page[len(before):len(page) - len(after)]
    try:
        return zlib.decompress(base64.b64decode(packed, validate=True)).decode()
    except (ValueError, zlib.error) as error:
        raise Foreign("what is in the page is no profile: %s" % error)


def read(path):
    """The profile of a page."""
    return json.loads(unpacked(path))


def make(xml, output, **changes):
    """ompp-report html."""
    return harness.execute([harness.command("ompp-report"), "html", xml, "-o", output], os.path.dirname(output), **changes)


def mean(total, n):
    """As the text report rounds."""
    return total // n + (total % n >= n - n // 2)


KINDS = ("PARALLEL LOOP", "LOOP", "CRITICAL", "BARRIER", "USER REGION", "PARALLEL")


def synthetic(nodes, regions, ranks=1, name=lambda kind, number: None):
    """The XML of a profile with so many call paths; times made by chance, always the same."""
    chance = random.Random(nodes)
    p = load_profiles().Profile("synthetic", ranks=ranks, mpi=ranks > 1)
    known = [(kind, p.region(kind, i + 1, file="/src/%d/file%d.c" % (i % 7, i % 97), begin=10 * i + 1, end=10 * i + 8, name=name(kind, i)))
             for i, kind in ((i, KINDS[i % len(KINDS)]) for i in range(regions))]
    left = {0: 9000.0}  # ms that a node has for what is below it
    last = [0]
    for number in range(nodes):
        parent = chance.choice(last[-500:])
        kind, region = known[(7 * number) % regions]
        time = left[parent] * chance.random() * 0.3
        left[parent] -= time
        node = p.node(region, parent, 1 + 9000 * number // nodes)
        left[node] = time * 0.8
        last.append(node)
        for place in p.locations:
            body = time * (0.7 + 0.2 * chance.random())
            phases = {"exec" if kind in ("BARRIER", "USER REGION") else "body": body}
            if kind in ("PARALLEL", "LOOP", "PARALLEL LOOP"):
                phases["exitbar"] = time * 0.1 * chance.random()
            if kind == "CRITICAL":
                phases["enter"] = time * 0.1 * chance.random()
            p.time(node, place, chance.randint(1, 1000), **phases)
    return p.xml()


def structures(scratch):
    """The profile of a run with data structures and simulated caches."""
    program = scratch.file("structures", "unasked")
    os.makedirs(os.path.dirname(program), exist_ok=True)
    words = [harness.command("kinst-ompp"), "--memory", harness.COMPILERS["opari"], "-O1", "-g", os.path.join(harness.SOURCE, "tests", "memory", "unasked.c")]
    done = harness.execute([*words, "-o", program], os.path.dirname(program))
    if done.status:
        raise harness.Failure("cannot build with hooks: " + done.err[-800:])
    return harness.run(program, os.path.dirname(program), 1, OMPP_CACHE="model").reports()[0]
