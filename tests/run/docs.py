#!/usr/bin/env python3
"""
Every file that README.md, CONTRIBUTING.md and docs/CODEMAP.md name exists, every folder of src is in the code map, excerpts show what
is printed.
"""

import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def text(name):
    with open(os.path.join(TOP, name)) as f:
        return f.read()


def main():
    bad = []
    codemap = text("docs/CODEMAP.md")
    for name in ("docs/CODEMAP.md", "CONTRIBUTING.md"):
        for path in re.findall(r"`((?:src|include|tools|tests|scripts|examples|docs)/[^` ]*)`", text(name)):
            if not os.path.exists(os.path.join(TOP, path)):
                bad.append("%s names %s" % (name, path))
    for name in ("README.md", "docs/quickstart.md", "examples/heat/README.md"):
        for path in re.findall(r"\]\(([^)#:]+)\)", text(name)):
            if not os.path.exists(os.path.join(TOP, os.path.dirname(name), path)):
                bad.append("%s links to %s" % (name, path))
    for folder in sorted(os.listdir(os.path.join(TOP, "src"))):
        if os.path.isdir(os.path.join(TOP, "src", folder)) and "src/%s/" % folder not in codemap:
            bad.append("docs/CODEMAP.md does not mention src/%s" % folder)
    # Excerpts of reports: properties are those of the table, and are all explained.
    table = re.findall(r'^OMPP_PROPERTY\(\w+, "(\w+)",\s*"([^"]*)"\)', text("src/model/ompp_property.def"), re.M)
    for name in ("README.md", "docs/report.md", "docs/quickstart.md"):
        for found, advice in re.findall(r"Property P\d{5} '(\w+)' holds for\n.*\n     (.*)\n", text(name)):
            if not any(p == found and re.fullmatch(re.escape(a).replace("%r", r"\d+"), advice) for p, a in table):
                bad.append("%s shows the property %s: %s" % (name, found, advice))
    explained = re.sub(r"ImbalanceInParallelRegion, \.\.\.Loop, \.\.\.Workshare",
                       "ImbalanceInParallelRegion ImbalanceInParallelLoop ImbalanceInParallelWorkshare", text("docs/report.md"))
    bad += ["docs/report.md does not explain the property %s" % p for p, _ in table if not re.search(r"\b%s\b" % p, explained)]
    print("\n".join(bad) or "all there")
    sys.exit(1 if bad else 0)


main()
