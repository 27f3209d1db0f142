#!/usr/bin/env python3
"""
What ompp-struct keeps of a file for the next time: used when it fits, and as if it were not there when it is damaged, another user's,
open to others, reached by a link, of another file, or of another version. Its size is bounded, and setuid programs leave it alone.
"""

import os
import re
import shutil
import stat
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "run"))

import harness  # noqa: E402

TOOL = harness.command("ompp-struct")
KEPT = ", as kept from an earlier time"
NOBODY = 65534


class Case:
    """A program, and a folder for what is kept."""

    def __init__(self, verdict, scratch):
        self.verdict, self.home = verdict, scratch.file("home", "x")[:-2]
        self.cache, self.program = os.path.join(self.home, "cache"), scratch.file("nests")
        self.folder = os.path.join(self.cache, "ompp")
        self.build()

    def build(self, *flags):
        done = harness.execute([harness.COMPILERS["opari"], "-O2", "-g", "-Wl,--build-id", *flags, os.path.join(HERE, "nests.c"), os.path.join(
            HERE, "opaque.c"), "-o", self.program], self.home)
        self.verdict.equal(done.status, 0, "build: " + done.err[-300:])

    def run(self, *options, **changes):
        """(output without the time, whether it was kept)."""
        changes = {"XDG_CACHE_HOME": self.cache, "HOME": self.home, **changes}
        done = subprocess.run([TOOL, *options, self.program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                              env={k: v for k, v in {**harness.environment(), **changes}.items() if v is not None})
        self.verdict.equal(done.returncode, 0, "status: " + done.stderr)
        text = re.sub(r"slowest procedure: .*\n", "", re.sub(r", in \d+\.\d\d s", "", done.stdout))
        return text.replace(KEPT, ""), KEPT in text

    def files(self):
        return sorted(os.path.join(self.folder, name) for name in os.listdir(self.folder)) if os.path.isdir(self.folder) else []

    def begin(self):
        shutil.rmtree(self.cache, ignore_errors=True)
        os.mkdir(self.cache)
        self.run()

    def refused(self, title, change, again=True):
        """What was kept is changed: it is not used. again: what is found now takes its place."""
        self.begin()
        self.verdict.equal(self.run()[1], True, title + ": kept at first")
        change(self.files()[0])
        text, kept = self.run()
        self.verdict.equal((text, kept), (self.text, False), title)
        self.verdict.equal(self.run(), (self.text, again), title + ": the next time")


def damage(at):
    def change(path):
        with open(path, "r+b") as file:
            file.seek(at if at >= 0 else os.path.getsize(path) + at)
            byte = file.read(1)
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte[0] ^ 0x10]))
    return change


def cut(size):
    return lambda path: os.truncate(path, size if size >= 0 else os.path.getsize(path) + size)


def link_to(target, path):
    shutil.move(path, target)
    os.symlink(target, path)


def used(verdict, case):
    case.begin()
    case.text, kept = case.run("--no-cache")
    verdict.equal(kept, False, "--no-cache")
    verdict.equal(case.run(), (case.text, True), "used")
    verdict.equal([stat.S_IMODE(os.stat(p).st_mode) for p in (case.folder, *case.files())], [0o700, 0o600], "modes")
    for options in (["--loops"], ["--function=main"], ["--summary"]):
        verdict.equal(case.run(*options), (case.run("--no-cache", *options)[0], True), "used by " + options[0])
    shutil.rmtree(case.cache)
    verdict.equal((case.run("--no-cache")[1], case.files()), (False, []), "--no-cache keeps nothing")
    case.run("--seconds=0.000000001")
    verdict.equal(case.files(), [], "what was cut short is not kept")
    for name, where in (("relative", os.path.join(case.home, ".cache", "ompp")), (None, os.path.join(case.home, ".cache", "ompp"))):
        shutil.rmtree(os.path.join(case.home, ".cache"), ignore_errors=True)
        case.run(XDG_CACHE_HOME=name)
        verdict.equal(len(os.listdir(where)) if os.path.isdir(where) else 0, 1, "XDG_CACHE_HOME=%s: in the home" % name)
    case.run(XDG_CACHE_HOME=None, HOME=None)


def not_used(verdict, case):
    case.begin()
    size = os.path.getsize(case.files()[0])
    for at in (0, 9, 100, 180, 260, 300, 400, size // 2, -1):
        case.refused("damaged at %d" % at, damage(at))
    for left in (0, 1, 200, 300, size // 2, -1):
        case.refused("cut to %d" % left, cut(left))
    case.refused("bytes behind it", lambda path: open(path, "ab").write(b"\0" * 16))
    case.refused("empty text in its place", lambda path: open(path, "w").write("no structure\n" * 50))
    case.refused("a link in its place", lambda path: link_to(os.path.join(case.home, "elsewhere"), path))
    case.refused("others may write to it", lambda path: os.chmod(path, 0o666))
    case.refused("a pipe in its place", lambda path: (os.unlink(path), os.mkfifo(path)))
    case.refused("others may write to the folder", lambda path: os.chmod(case.folder, 0o777), again=False)
    case.refused("a link to the folder", lambda path: link_to(os.path.join(case.home, "folder"), case.folder), again=False)
    shutil.rmtree(os.path.join(case.home, "folder"))
    case.refused("the program's time", lambda path: os.utime(case.program, (1e9, 1e9)))
    if shutil.which("objcopy"):
        case.begin()
        text = case.run()[0]
        harness.execute(["objcopy", "-g", case.program], case.home)
        verdict.check(case.run()[0] != text and not case.run("--no-cache")[1], "without debug information")
        case.build()
    if os.geteuid() == 0:
        case.refused("another user's", lambda path: os.chown(path, NOBODY, NOBODY))
        case.refused("another user's folder", lambda path: os.chown(case.folder, NOBODY, NOBODY), again=False)


def bounded(verdict, case):
    case.begin()
    case.run()
    own = case.files()
    old = [os.path.join(case.folder, "%040d.structure" % i) for i in range(4)]
    for i, path in enumerate(old):
        with open(path, "w") as file:
            file.truncate(200 << 20)
        os.utime(path, (1000 + i, 1000 + i))
    other = os.path.join(case.folder, "note.txt")
    open(other, "w").close()
    os.unlink(own[0])
    case.run()
    verdict.equal(case.files(), sorted(own + old[2:] + [other]), "bounded: the oldest are removed")


def setuid(verdict, case, scratch):
    """Started by another user with this user's rights, it leaves the folder alone."""
    tool = os.path.join(os.path.dirname(TOOL), ".libs", "ompp-struct")
    tool = tool if os.path.exists(tool) else TOOL
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        return
    case.begin()
    for path in (scratch.path, case.home, os.path.dirname(case.program)):
        os.chmod(path, 0o755)
    copy, cache = scratch.file("struct"), os.path.join(case.home, "open")
    shutil.copy(tool, copy)
    os.makedirs(cache, exist_ok=True)
    os.chmod(cache, 0o777)
    os.chmod(copy, 0o4755)
    words = ["setpriv", "--reuid", "1234", "--regid", "1234", "--clear-groups", copy, case.program]
    done = harness.execute(words, case.home, XDG_CACHE_HOME=cache)
    verdict.equal((done.status, os.listdir(cache)), (0, []), "setuid: " + done.err)
    os.chmod(copy, 0o755)
    done = harness.execute(words, case.home, XDG_CACHE_HOME=cache)
    verdict.equal((done.status, os.listdir(cache)), (0, ["ompp"]), "the same without: " + done.err)


def main():
    verdict, scratch = harness.Verdict("saved"), harness.Scratch("saved")
    case = Case(verdict, scratch)
    used(verdict, case)
    not_used(verdict, case)
    bounded(verdict, case)
    setuid(verdict, case, scratch)
    verdict.finish(scratch)


main()
