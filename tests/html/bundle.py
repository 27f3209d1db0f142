#!/usr/bin/env python3
"""viewer/page.html is what viewer/ makes: built again with npm, it is the same byte by byte. The lock file names no registry."""

import json
import os
import re
import shutil
import subprocess
import sys

import page
from page import harness

LIMIT = 100  # seconds for npm
LARGEST = 1 << 20


def run(words, folder):
    try:
        return subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, 1, "no end within %d s" % LIMIT)


def main():
    verdict, scratch = harness.Verdict("html/bundle"), harness.Scratch("html-bundle")
    with open(os.path.join(page.VIEWER, "page.html"), encoding="utf-8") as file:
        committed = file.read()
    verdict.check(len(committed.encode()) <= LARGEST, "the page has %d bytes" % len(committed.encode()))
    verdict.equal(re.findall(r"https?://[^\s\"'`]+", committed.replace("http://www.w3.org/2000/svg", "")), [], "addresses in the page")
    with open(os.path.join(page.VIEWER, "package-lock.json")) as file:
        verdict.equal([p["resolved"] for p in json.load(file)["packages"].values() if "resolved" in p], [], "registries in the lock file")
    npm = shutil.which("npm")
    if not npm or verdict.failed:
        scratch.done(True)
        if verdict.failed:
            sys.exit(1)
        harness.skip("no npm (Debian package: npm): the page was not built again")
    shutil.copytree(page.VIEWER, scratch.file("viewer"), dirs_exist_ok=True, ignore=shutil.ignore_patterns("node_modules", "page.html"))
    done = run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=0", "--fetch-timeout=20000"], scratch.file("viewer"))
    if done.returncode:
        scratch.done(True)
        harness.skip("npm cannot get its packages: " + done.stdout[-300:].replace("\n", " "))
    done = run([npm, "run", "build"], scratch.file("viewer"))
    if verdict.equal(done.returncode, 0, "npm run build: " + done.stdout[-1500:]):
        with open(scratch.file("viewer", "page.html"), encoding="utf-8") as file:
            verdict.check(file.read() == committed, "viewer/page.html is another than `npm run build` makes: commit what it makes")
    verdict.finish(scratch)


if __name__ == "__main__":
    main()
