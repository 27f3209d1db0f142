#!/usr/bin/env python3
"""Programs that come to libgomp in odd ways: from several threads, around a fork, late, in a library that brings one of its own."""

import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "run"))

import harness  # noqa: E402

SOURCE = os.path.join(HERE, "odd.c")


def build(folder, name, *flags):
    path = os.path.join(folder, "lib" + name + ".so" if "-shared" in flags else name + ".x")
    done = harness.execute(["gcc", "-O2", "-g", SOURCE, "-o", path, *flags], folder)
    if done.status:
        raise harness.Failure("cannot build %s: %s" % (name, done.err[-800:]))
    return path


def compare(verdict, scratch, title, words, *options, counts):
    plain = harness.run(words[0], scratch.path, 4, args=words[1:])
    measured = harness.run(harness.command("ompp"), scratch.file(title, "x")[:-2], 4, args=(*options, "--", *words))
    verdict.equal((measured.status, measured.out), (plain.status, plain.out), title + ": result")
    profile = measured.profile()
    verdict.profile(profile, title)
    for kind, count in counts.items():
        regions = [r for r in profile.find(kind) if r.type == kind]
        verdict.equal(sum(profile.total("execC", regions).values()), count, "%s: %s" % (title, kind))


def bundled(scratch):
    """A libgomp under another name, as packages of Python bring one; None where it cannot be made."""
    found = harness.execute(["gcc", "-print-file-name=libgomp.so.1"], scratch.path).out.strip()
    if not os.path.isabs(found):
        return None
    with open(found, "rb") as file:
        image = file.read()
    path = os.path.join(scratch.path, "libgomq.so.1")
    with open(path, "wb") as file:
        file.write(image.replace(b"libgomp.so.1\0", b"libgomq.so.1\0"))
    return path


def path_search(verdict, scratch):
    """As a shell finds a command: without PATH, and by an empty place in it."""
    folder = scratch.file("path", "x")[:-2]
    program = os.path.join(folder, "here")
    shutil.copy(shutil.which("echo"), program)
    ompp = harness.command("ompp")
    for setting, name in (((), "echo"), (("PATH=/nonexistent:",), "here"), (("PATH=",), "here")):
        done = harness.execute(["/usr/bin/env", "-i", *setting, ompp, "--", name, "a  b", ""], folder)
        verdict.equal((done.status, done.out), (0, "a  b \n"), "%s with %s" % (name, setting or "no PATH"))


def main():
    verdict, scratch = harness.Verdict("odd"), harness.Scratch("odd")
    if not shutil.which("gcc"):
        print("no gcc")
        sys.exit(77)
    program = build(scratch.path, "threads", "-fopenmp")
    # Teams of 1, 2, 3, 1, ... threads, on each of 4; nests of 2, and of 3 in each of these.
    members = 4 * sum(1 + i % 3 for i in range(25))
    compare(verdict, scratch, "threads", [program], counts={"PARALLEL": members + 10 * (2 + 6), "LOOP": members, "CRITICAL": 4 * 250})
    opener = build(scratch.path, "opener", "-DOPENER", "-ldl")
    late = build(scratch.path, "late", "-DLIBRARY", "-fopenmp", "-shared", "-fPIC")
    compare(verdict, scratch, "late", [opener, late], "--omp-runtime=gomp", counts={"PARALLEL LOOP": 2, "LOOP": 0})
    other = bundled(scratch)
    if other:
        own = build(scratch.path, "own", "-DLIBRARY", "-fopenmp", "-shared", "-fPIC", "-Wl,--as-needed", other, "-Wl,-rpath,$ORIGIN")
        compare(verdict, scratch, "own", [opener, own], "--omp-runtime=gomp", counts={"PARALLEL LOOP": 2, "LOOP": 0})
    path_search(verdict, scratch)
    verdict.finish(scratch)


main()
