#!/usr/bin/env python3
"""
Several users and one directory. Files of others that are found are not opened, and counted; one that is named is read as if it were
hostile: what is in it never takes long, nor does its becoming shorter end the reader. Nothing is written through links and into pipes
of others; a report is whole or not there, whatever ends the program, and nobody waits for ever. Needs root, which can be every user.
"""

import glob
import os
import re
import signal
import stat
import subprocess
import sys
import threading
import time

import harness

sys.path.insert(0, os.path.join(harness.SOURCE, "tests", "html"))
import page  # noqa: E402

NOBODY, GROUP = 65534, 54321
HERE = os.path.dirname(os.path.abspath(__file__))
BOUND = 20  # seconds: much more than anything here takes
TARGET = "what another user has\n"


def execute(words, folder, user=0, group=None, **settings):
    who = {"user": user, "group": user if group is None else group, "extra_groups": []} if user else {}
    done = subprocess.run(words, cwd=folder, env=harness.environment(OMP_NUM_THREADS=2, **settings), **who, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=BOUND)
    return harness.Outcome(done.returncode, done.stdout, done.stderr, folder)


def report(*words, folder, user=0, **settings):
    return execute([harness.command("ompp-report"), *words], folder, user, **settings)


def shared(scratch, name, mode=0o777):
    folder = scratch.file(name, "x")[:-2]
    os.chmod(folder, mode)
    return folder


def is_whole(path):
    text = open(path, errors="replace").read()
    return text.endswith(">\n") if path.endswith(".xml") else "ompp Coverage" in text and text.endswith("\n")


# ---- Reading


def check_quiet(verdict, done, title):
    """Nothing that a terminal obeys, and no death."""
    bad = [c for c in done.out + done.err if not c.isprintable() and c not in "\n\t"]
    verdict.check(done.status in (0, 1, 2) and not bad, "%s: status %d, %r, %r" % (title, done.status, bad, done.err[-200:]))


def build_hostile(scratch):
    output = scratch.file("hostile")
    includes = ["-I" + path for path in (os.path.join(harness.SOURCE, "src"), harness.BUILD, os.path.join(harness.SOURCE, "tests", "unit", "model"))]
    words = [harness.COMPILERS["opari"], "-D_GNU_SOURCE", *includes,
             os.path.join(HERE, "hostile.c"), "-o", output]
    done = harness.execute(words, scratch.path)
    if done.status:
        raise harness.Failure("cannot build: " + done.err)
    return output


def test_hostile(verdict, scratch, hostile):
    """Where it is named: bounded by its size, which may be a hole."""
    folder = shared(scratch, "hostile.d")
    for kind in ("circle", "nodes", "blocks", "order", "coverage", "pages"):
        for size in (100000, 5000000):
            path = os.path.join(folder, "ompp-0-1-%s-%d" % (kind, size))
            execute([hostile, path, kind, str(size)], folder, NOBODY)
            for hole in (0, 1 << 32, 100 << 30):
                os.truncate(path, max(size, hole))
                for words in (["merge", "--to=" + folder, path], ["convert", path]):
                    begin = time.monotonic()
                    done = report(*words, folder=folder)
                    verdict.check(done.status in (0, 1), "%s %s, %d bytes: status %d: %s" % (words[0], kind, hole, done.status, done.err))
                    verdict.check(time.monotonic() - begin < BOUND / 2, "%s %s: %.1f s" % (words[0], kind, time.monotonic() - begin))
            os.remove(path)


def test_bent(verdict, scratch, hostile):
    """Circles and links to themselves in every list, and links bent by chance (many more: tests/unit/model/test_hostile)."""
    folder = shared(scratch, "bent")
    links = sorted(set(execute([hostile], folder).out.split()))
    verdict.check(len(links) > 50, "bent: %d links" % len(links))
    kinds = [way + link for link in links if link.endswith((".next", ".under")) for way in ("self:", "circle:")] + [str(n) for n in range(60)]
    for number, kind in enumerate(kinds):
        path, begin = os.path.join(folder, "ompp-0-1-%d" % number), time.monotonic()
        execute([hostile, path, kind, "65536"], folder, NOBODY)
        done = report(*(["convert", path], ["merge", "--to=" + folder, path])[number % 2], folder=folder)
        verdict.check(done.status in (0, 1), "bent %s: status %d: %s" % (kind, done.status, done.err))
        verdict.check(time.monotonic() - begin < BOUND / 2, "bent %s: %.1f s" % (kind, time.monotonic() - begin))


def test_shorter(verdict, scratch, path):
    """A file that becomes shorter and longer while it is read."""
    data, over = open(path, "rb").read(), threading.Event()
    copy = scratch.file("shorter", "ompp-0-1-1")

    def change():
        while not over.is_set():
            with open(copy, "r+b") as file:
                file.truncate(4096)
                file.seek(0)
                file.write(data)

    open(copy, "wb").write(data)
    thread = threading.Thread(target=change)
    thread.start()
    for _ in range(100):
        done = report("merge", "--list", copy, folder=os.path.dirname(copy))
        verdict.check(done.status in (0, 1), "a file that becomes shorter: status %d" % done.status)
    over.set()
    thread.join()


def test_found(verdict, scratch, program, hostile):
    """Own files are joined, those of others counted; root's own are nothing to others."""
    folder = shared(scratch, "found")
    execute([program, "kill"], folder, OMPP_JOB_DIR=folder)
    own = glob.glob(os.path.join(folder, "ompp-*"))
    verdict.equal(len(own), 1, "found: files that a killed program leaves")
    execute([hostile, os.path.join(folder, "ompp-0-1-1"), "circle", "100000"], folder, NOBODY)
    execute([hostile, os.path.join(folder, "a.ompp.bin"), "circle", "100000"], folder, NOBODY)
    execute(["ln", "-s", own[0], os.path.join(folder, "ompp-0-1-2")], folder, NOBODY)
    execute(["mkfifo", os.path.join(folder, "ompp-0-1-3")], folder, NOBODY)
    said = "ompp-report: name a file to read it: 2 found there are another user's, and not opened\n"
    for words in (["merge", "--list", folder], ["merge", "--list", own[0]]):
        done = report(*words, folder=folder)
        verdict.equal((done.status, done.out.count("\n"), done.err), (0, 1, said), "found: " + " ".join(words))
    done = report("merge", "--list", folder=folder, OMPP_JOB_DIR=folder)
    verdict.equal((done.status, done.out.count("\n"), done.err), (0, 1, said), "found: OMPP_JOB_DIR")
    done = report("merge", "--list", folder, folder=folder, user=NOBODY)
    verdict.check("1 found there is another user's" in done.err and own[0] not in done.out, "found by another user: %s%s" % (done.out, done.err))
    fifo = report("merge", os.path.join(folder, "ompp-0-1-3"), folder=folder)
    verdict.equal(fifo.status, 1, "a pipe that is named: " + fifo.err)
    test_shorter(verdict, scratch, own[0])


# ---- Writing


def link_to_foreign(folder, name, user=NOBODY):
    """A link by another user to what is not his. Returns how to see that it is untouched."""
    target = os.path.join(folder, "target")
    if not os.path.exists(target):
        open(target, "w").write(TARGET)
    os.symlink(target, os.path.join(folder, name))
    os.chown(os.path.join(folder, name), user, user, follow_symlinks=False)
    return lambda: open(target).read() == TARGET


def test_links(verdict, scratch, program):
    """Links of others at the names of reports: refused, and the report is elsewhere, or has another number."""
    for number, (name, settings, refused) in enumerate((
            ("users.2-0.ompp.txt", {}, False), ("users.2-0.ompp.xml", {}, False), ("users.2.ompp.txt", {"OMPP_OVERWRITE": 1}, True),
            ("users.2.ompp.xml", {"OMPP_OVERWRITE": 1}, True), ("r", {"OMPP_REPORTFILE": "r"}, True), ("r.xml", {"OMPP_REPORTFILE": "r"}, True),
            ("users.2-0.ompp.bin", {"OMPP_REPORT_LIB": "/nonexistent"}, False))):
        for sticky in (0o777, 0o1777):
            folder, away = shared(scratch, "links-%d-%o" % (number, sticky), sticky), shared(scratch, "away-%d-%o" % (number, sticky), 0o755)
            untouched = link_to_foreign(folder, name)
            for dangling in (False, True):
                if dangling:
                    os.remove(os.path.join(folder, "target"))
                done = execute([program], away, OMPP_OUTDIR=folder, TMPDIR=away, **settings)
                title = "a foreign link%s at %s, %o: " % (" to nothing" if dangling else "", name, sticky)
                verdict.equal(done.status, 0, title + "status")
                verdict.check(not os.path.exists(os.path.join(folder, "target")) if dangling else untouched(), title + "target")
                verdict.check(os.path.islink(os.path.join(folder, name)), title + "replaced")
                if refused:
                    verdict.check(re.search("cannot write the report .*another user's file, link or pipe", done.err), title + done.err)
                    verdict.check(os.listdir(away), title + "no report elsewhere")
                elif "bin" not in name:
                    verdict.check(all(is_whole(path) for path in glob.glob(folder + "/users.2-[1-9]*")), title + "reports")
                    verdict.equal(len(glob.glob(folder + "/users.2-[1-9]*")), 4 if dangling else 2, title + "reports")
                for path in glob.glob(folder + "/.ompp-*"):
                    verdict.check(False, title + "left behind: " + path)


def test_own_links(verdict, scratch, program):
    """Links of this user's go on working; also with root's in between."""
    folder = shared(scratch, "own-links")
    os.mkdir(os.path.join(folder, "far"))
    os.chmod(os.path.join(folder, "far"), 0o777)
    link_to_foreign(folder, "unused")
    os.symlink("far/report", os.path.join(folder, "r"))
    os.symlink("r", os.path.join(folder, "mine"))
    os.chown(os.path.join(folder, "mine"), NOBODY, NOBODY, follow_symlinks=False)
    done = execute([program], folder, NOBODY, OMPP_OUTDIR=folder, OMPP_REPORTFILE="mine")
    verdict.check(is_whole(os.path.join(folder, "far", "report")), "own links: " + done.err)


def test_collect(verdict, scratch, program):
    """Copies of what was left go where nobody can lead them elsewhere."""
    folder, job = shared(scratch, "collect"), shared(scratch, "collect-job", 0o755)
    execute([program, "kill"], folder, OMPP_JOB_DIR=job)
    name = os.listdir(job)[0] + "." + re.sub("[^A-Za-z0-9._+-]", "_", os.uname().nodename) + ".ompp.bin"
    untouched = link_to_foreign(folder, name)
    done = report("collect", "--to=" + folder, job, folder=job)
    verdict.equal((done.status, untouched()), (1, True), "collect onto a foreign link: " + done.err)
    verdict.check(name + ": not permitted: another user's" in done.err, "collect onto a foreign link: " + done.err)
    os.remove(os.path.join(folder, name))
    done = report("collect", "--to=" + folder, job, folder=job)
    verdict.equal((done.status, done.err), (0, ""), "collect")
    verdict.equal(report("merge", "--list", folder, folder=job).out.count("\n"), 1, "what was collected")


def test_moved(verdict, scratch, program):
    """Who may write to the directory puts a link in the place of what was read: where it leads nothing goes."""
    for words in (["merge", "--remove"], ["collect", "--remove"]):
        folder, mine = shared(scratch, "moved-" + words[0]), shared(scratch, "mine-" + words[0], 0o755)
        with open(os.path.join(mine, "thesis"), "w") as file:
            file.write(TARGET)
        one = subprocess.Popen([program, "wait", "here"], cwd=mine, env=harness.environment(OMP_NUM_THREADS=2, OMPP_JOB_DIR=folder))
        wait_until(lambda: glob.glob(folder + "/ompp-*"))
        path = glob.glob(folder + "/ompp-*")[0]
        wait_until(lambda: b"ompp" in open(path, "rb").read(4096))
        reader = subprocess.Popen([harness.command("ompp-report"), *words, "--to=" + mine, folder], stderr=subprocess.PIPE, text=True,
                                  stdout=subprocess.DEVNULL, env=harness.environment())
        wait_until(lambda: path in opened_by(reader.pid))
        os.rename(path, path + ".away")
        os.symlink(os.path.join(mine, "thesis"), path)
        one.kill()
        one.wait()
        said = reader.communicate(timeout=BOUND)[1]
        verdict.check(os.path.exists(os.path.join(mine, "thesis")), "%s, what a link leads to: %s" % (words, said))
        verdict.check("something else is there now" in said and reader.returncode == 1, "%s: %d, %s" % (words, reader.returncode, said))


def wait_until(what):
    end = time.monotonic() + BOUND
    while not what() and time.monotonic() < end:
        time.sleep(0.002)


def opened_by(pid):
    try:
        return [os.readlink(link) for link in glob.glob("/proc/%d/fd/*" % pid)]
    except OSError:
        return []


def test_secrets(verdict, scratch):
    """A profile of another user names a program: its lines are in root's report when he may read the program himself."""
    folder, hidden = shared(scratch, "secrets"), shared(scratch, "secrets/hidden", 0o755)
    copy = os.path.join(hidden, "users")
    harness.build(os.path.join(HERE, "users.c"), copy, harness.sources()[0], instrument=False)
    execute([harness.command("ompp"), "--", copy, "kill"], folder, NOBODY, OMPP_JOB_DIR=folder)
    left = glob.glob(folder + "/ompp-*")
    for title, mode, of_file, read in (("all may read", 0o755, 0o755, True), ("hidden directory", 0o700, 0o755, False), ("hidden file", 0o755, 0o711, False)):
        os.chmod(hidden, mode)
        os.chmod(copy, of_file)
        for words in (["convert", *left], ["merge", "--to=" + folder, *left]):
            done = report(*words, folder=folder)
            text = "".join(open(os.path.join(folder, path)).read() for path in done.out.split() if path.endswith(".txt"))
            verdict.check(done.status == 0 and "Coverage" in text, "secrets: %s, %s: %s" % (title, words[0], done.err))
            verdict.equal("users.c (" in text, read, "secrets: %s, %s: lines" % (title, words[0]))


def test_debug(verdict, scratch):
    """The debug file that a program names: of this user, of root or of the program's owner; nothing is waited for, and no hole is read."""
    folder = shared(scratch, "debug", 0o755)
    program, debug, out = os.path.join(folder, "users"), os.path.join(folder, "users.debug"), shared(scratch, "debug/out")
    harness.build(os.path.join(HERE, "users.c"), program, harness.sources()[0], instrument=False, flags=("-g", "-Wl,--build-id=none"))
    for words in (["--only-keep-debug", program, debug], ["--strip-debug", program], ["--add-gnu-debuglink=" + debug, program]):
        verdict.equal(execute(["objcopy", *words], folder).status, 0, "objcopy " + words[0])
    with open(debug, "rb") as file:
        data = file.read()
    mine, maker, other = NOBODY, 1234, 1235

    def fill(size):
        with open(debug, "wb") as file:
            file.write(data)
        os.truncate(debug, size or len(data))

    for title, make, owner, read in (
            ("own", lambda: fill(0), mine, True), ("root's", lambda: fill(0), 0, True), ("its maker's", lambda: fill(0), maker, True),
            ("another user's", lambda: fill(0), other, False), ("another user's hole", lambda: fill(1 << 42), other, False),
            ("own hole", lambda: fill(1 << 42), mine, False), ("a pipe", lambda: os.mkfifo(debug), mine, False),
            ("a device", lambda: os.symlink("/dev/zero", debug), mine, False)):
        if os.path.lexists(debug):
            os.remove(debug)
        make()
        for path, who in ((debug, owner), (program, maker)):
            os.chown(path, who, who, follow_symlinks=False)
        for path in glob.glob(out + "/*"):
            os.remove(path)
        done = execute([harness.command("ompp"), "--", program], out, mine)
        text = "".join(open(path).read() for path in glob.glob(out + "/*.txt"))
        title = "debug file, %s: " % title
        verdict.check(done.status == 0 and "ompp Coverage" in text, title + done.err)
        verdict.equal("users.c (" in text, read, title + "lines")
        verdict.equal("its debug file is another user's, and was not read" in text, owner == other, title + "what Coverage says")


def test_shown(verdict, scratch):
    """Names that others have chosen do nothing to the terminal."""
    folder = shared(scratch, "shown")
    name = "a\x1b]0;b\x07\nompp-report: c\x7f\x9b"
    with open(os.path.join(folder, name), "w") as file:
        file.write("nothing")
    for command in ("show", "csv", "check", "coz", "convert", "merge", "collect", "merg", "--x"):
        done = report(*([command + name] if "-" in command else [command, name]), folder=folder)
        verdict.check(done.status in (1, 2) and done.err.count("\n") == 1 and done.err[:-1].isprintable() and done.out == "",
                      "names with control characters: %s: %r %r" % (command, done.err, done.out))
    for kind, words in (("mpi", ["annotate", "--full", "h.xml", "solve.c"]), ("whatif", ["coz", "h.xml"]), ("mpi", ["show", "h.xml"])):
        with open(os.path.join(harness.SOURCE, "tests", "golden", kind + ".xml")) as file, open(os.path.join(folder, "h.xml"), "w") as to:
            to.write(re.sub(r' (file|name)="((?!solve)[^"]*)"', r' \1="\2\\x1b]0;b\\x07\\x9b"', file.read()))
        with open(os.path.join(folder, "solve.c"), "w") as file:
            file.write("x\n" * 99)
        check_quiet(verdict, report(*words, folder=folder), "names in a profile: " + words[0])
    source = os.path.join(folder, "a\x1b]0;b\x07.c")
    with open(source, "w") as file:
        file.write("int there(int n) { while (n > 9) n /= 3; return n; }\nint main(int n, char **v) { return there(n); }\n")
    for options in (["-g"], []):
        done = execute([harness.COMPILERS["opari"], "-O0", *options, source, "-o", name], folder)
        execute(["objcopy", "--redefine-sym", "there=a\x1b]0;b\x07", name], folder)
        verdict.equal(done.status, 0, "ompp-struct: built: " + done.err)
        for words in ([name], ["--function=a\x1bb", name], ["--address=1\x1b", name], ["--address=1", name], [name + "x"], ["--\x1b"]):
            check_quiet(verdict, execute([harness.command("ompp-struct"), *words], folder), "ompp-struct %s" % words[0])


def test_expire(verdict, scratch, program):
    """Root removes what is old and whose processes are gone, of all users, and nothing else; a user his own."""
    folder = shared(scratch, "expire")
    for user in (0, 1234, 1235):
        execute([program, "kill"], folder, user, OMPP_JOB_DIR=folder)
    left = {os.stat(path).st_uid: path for path in glob.glob(folder + "/ompp-*")}
    verdict.equal(sorted(left), [0, 1234, 1235], "expire: files of killed programs")
    names = [os.path.basename(path) for path in left.values()]
    living = "ompp-0-%d-%x" % (os.getpid(), int(open("/proc/self/stat").read().rpartition(")")[2].split()[19]))
    kept = [living, "ompp-1234-1-1", "ompp-notes", "data", ".ompp-meet-99-0123456789abcdef", "link"]
    for name in (living, "ompp-1234-1-1", "ompp-notes", "data", ".ompp-0123456789abcdef"):
        open(os.path.join(folder, name), "w").close()
    for name in (".ompp-meet-0-0123456789abcdef", ".ompp-meet-99-0123456789abcdef"):
        os.mkdir(os.path.join(folder, name))
        os.symlink("0", os.path.join(folder, name, "here.0.1.x"))
    os.symlink("data", os.path.join(folder, "link"))
    removed = [left[0], folder + "/.ompp-0123456789abcdef", folder + "/.ompp-meet-0-0123456789abcdef", left[1235]]
    words = ["collect", "--expire=1h", folder]
    done = report(*words, folder=folder)
    verdict.equal((done.status, done.out, done.err), (0, "", ""), "expire: nothing is old")
    for path in [os.path.join(folder, name) for name in os.listdir(folder)]:
        os.utime(path, (1, 1), follow_symlinks=False)
    done = report(*words, folder=folder, user=1234)
    verdict.equal((done.status, done.out, done.err), (0, left[1234] + "\n", ""), "expire: a user's own")
    young = [".ompp-fedcba9876543210", ".ompp-meet-0-fedcba9876543210"]  # they may be in use
    open(os.path.join(folder, young[0]), "w").close()
    os.mkdir(os.path.join(folder, young[1]))
    for name in young:
        os.utime(os.path.join(folder, name), (time.time() - 3000,) * 2)
    done = report("collect", "--expire", "0", folder=folder, OMPP_JOB_DIR=folder)
    verdict.equal((done.status, sorted(done.out.splitlines()), done.err), (0, sorted(removed), ""), "expire: root's")
    verdict.equal(sorted(os.listdir(folder)), sorted(kept + young), "expire: what stays of %s" % names)
    for words in (["--expire=x"], ["--expire=-1"], ["--expire=1w"], ["--expire=1", "--all"], ["--expire"]):
        verdict.equal(report("collect", *words, folder=folder).status, 2, "expire: " + " ".join(words))


def test_pipes(verdict, scratch, program):
    """A pipe at the report's name: own ones get it when somebody reads; nobody who does not read holds the program."""
    folder = shared(scratch, "pipes")
    pipe = os.path.join(folder, "users.2.ompp.txt")
    for owner in (0, NOBODY):
        os.mkfifo(pipe)
        os.chmod(pipe, 0o666)
        os.chown(pipe, owner, owner)
        user = NOBODY if owner == 0 else 1234
        for reads in (False, True):
            held = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
            read = []
            reader = threading.Thread(target=lambda: read.append(open(pipe).read())) if reads else None
            if reader:
                reader.start()
                time.sleep(0.2)
            else:
                while True:  # there is no room in it
                    try:
                        os.write(held, b"x" * 4096)
                    except BlockingIOError:
                        break
            done = execute([program], folder, user, OMPP_OUTDIR=folder, OMPP_OVERWRITE=1, TMPDIR=folder)
            if not reader:
                while os.read(held, 65536) and select_readable(held):
                    pass
            os.close(held)
            if reader:
                reader.join(BOUND)
            title = "a pipe of %s, %s: " % ("root" if owner == 0 else "another user", "read" if reads else "not read")
            verdict.equal(done.status, 0, title + "status")
            if owner == 0 and reads:
                verdict.check(read and "Coverage" in read[0] and "cannot write" not in done.err, title + done.err)
            else:
                verdict.check("cannot write the report" in done.err, title + done.err)
                verdict.equal(read, [""] if reads else [], title + "what was read")
        os.remove(pipe)
        for path in glob.glob(folder + "/*"):
            os.remove(path)


def select_readable(fd):
    import select
    return select.select([fd], [], [], 0)[0]


def test_elsewhere(verdict, scratch, program):
    """A report that cannot be where it belongs is where it is said to be, for its user alone."""
    folder, away = shared(scratch, "closed", 0o755), shared(scratch, "tmp", 0o1777)
    done = execute([program], folder, NOBODY, OMPP_OUTDIR=folder, TMPDIR=away)
    found = glob.glob(away + "/users.2-0.ompp.*")
    verdict.equal(len(found), 2, "elsewhere: reports: " + done.err)
    verdict.check(os.path.join(away, "users.2-0.ompp.txt") in done.err, "elsewhere: what is said: " + done.err)
    verdict.equal({stat.S_IMODE(os.stat(path).st_mode) for path in found}, {0o600}, "elsewhere: modes")


def text_of(path):
    """Of a report; of a page what is packed in it."""
    return page.unpacked(path) if path.endswith(".html") else open(path).read()


def test_redacted(verdict, scratch, program):
    """A report for others: no directory, no host, no value of a variable that is no number."""
    folder = shared(scratch, "redacted")
    host = os.uname().nodename
    for redact in (0, 1):
        done = execute([program], folder, OMPP_REDACT=redact, OMPP_JOB_DIR=folder, OMPP_OUTDIR=folder, OMP_PLACES="sockets", OMPP_OUTFORMAT="text,csv,html")
        verdict.equal(done.status, 0, "OMPP_REDACT=%d: status" % redact)
        texts = [text_of(path) for path in glob.glob(folder + "/users.2-%d.ompp.*" % redact)]
        verdict.equal(len(texts), 4, "OMPP_REDACT=%d: reports" % redact)
        found = [what for what in (scratch.path, harness.SOURCE, 'host="%s"' % host, "sockets") if any(what in text for text in texts)]
        verdict.equal(found, [] if redact else [scratch.path, harness.SOURCE, 'host="%s"' % host, "sockets"], "OMPP_REDACT=%d: what it holds" % redact)
        verdict.check(any("users.c" in text for text in texts), "OMPP_REDACT=%d: names of files" % redact)
    execute([program, "kill"], folder, OMPP_JOB_DIR=folder)
    left = glob.glob(folder + "/ompp-*")
    done = report("merge", "--to=" + folder, *left, folder=folder, OMPP_REDACT=1)
    texts = [open(path).read() for path in done.out.split()]
    verdict.check(texts and not any(scratch.path in text or 'host="%s"' % host in text for text in texts), "merge, OMPP_REDACT=1: " + done.err)
    for path in glob.glob(folder + "/*.xml"):
        verdict.equal(report("check", path, folder=folder).status, 0, "check " + path)


def test_redacted_blanks(verdict, scratch):
    """Directories whose names have blanks and other characters that end words: in files, settings and sentences of Coverage."""
    folder = shared(scratch, "alice (her own)")
    secret = os.path.join(folder, "secret work; at home")
    os.makedirs(secret)
    source, program = os.path.join(secret, "users.c"), os.path.join(secret, "users")
    with open(os.path.join(HERE, "users.c")) as file, open(source, "w") as to:
        to.write(file.read().replace("int sum = 0;", "int sum = 0;\n#pragma pomp noinstrument\n#pragma omp parallel\nsum += 0;\n#pragma pomp instrument"))
    harness.build(source, program, harness.sources()[0])
    for number, settings in enumerate(({"OMPP_JOB_DIR": os.path.join(secret, "no place", "for jobs")}, {"OMPP_JOB_DIR": "secret of hers/no where/at all"},
                                       {"OMPP_CLOCK": "/a secret/and more/of it"})):
        done = execute([program], secret, OMPP_REDACT=1, OMPP_OUTDIR=folder, OMPP_OUTFORMAT="text,csv,html", **settings)
        verdict.equal(done.status, 0, "redacted blanks: status")
        texts = [text_of(path) for path in glob.glob(glob.escape(folder) + "/users.2-%d.ompp.*" % number)]
        verdict.equal(len(texts), 4, "redacted blanks: reports: " + done.err)
        for text in texts:
            bad = [line for line in text.splitlines() if re.search("secret|alice|home|her own|no place|no where|and more", line)]
            verdict.equal(bad, [], "redacted blanks: %s: what it holds" % settings)
        verdict.check(any("users.c" in text for text in texts), "redacted blanks: names of files")


def test_group(verdict, scratch, program):
    """A project's directory: members of the group replace each other's reports."""
    folder = shared(scratch, "project", 0o2775)
    os.chown(folder, 0, GROUP)
    os.chmod(folder, 0o2775)
    for user in (1234, 1235, NOBODY):
        done = execute([program], folder, user, GROUP, OMPP_OUTDIR=folder, OMPP_OVERWRITE=1)
        verdict.equal((done.status, [line for line in done.err.splitlines() if "cannot" in line]), (0, []), "project: user %d" % user)
        verdict.equal([(os.stat(p).st_uid, os.stat(p).st_gid) for p in glob.glob(folder + "/users.2.ompp.*")], [(user, GROUP)] * 2,
                      "project: owner and group")
        done = execute([program], folder, user, GROUP, OMPP_OUTDIR=folder)
        verdict.check("cannot" not in done.err, "project, with numbers: user %d: %s" % (user, done.err))


def has_nameless(folder):
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY))
    except OSError:
        return False
    return True


def test_whole(verdict, scratch, program):
    """Programs that are killed while they write, side by side: no file under a final name is empty or half."""
    folder = shared(scratch, "whole")
    settings = harness.environment(OMP_NUM_THREADS=2, OMPP_OUTDIR=folder)
    for delay in range(40):
        some = [subprocess.Popen([program], cwd=folder, env=settings, stderr=subprocess.DEVNULL) for _ in range(4)]
        time.sleep(0.002 * delay)
        for one in some:
            one.send_signal(signal.SIGKILL)
        for one in some:
            one.wait()
    found = glob.glob(folder + "/users*")
    if has_nameless(folder):
        verdict.equal(glob.glob(folder + "/.ompp-*"), [], "killed while they write: what is left")
    verdict.equal([path for path in found if not is_whole(path)], [], "killed while they write")
    print("note: %d reports of 160 programs were written before they were killed" % len(glob.glob(folder + "/users*.xml")))
    both = [subprocess.Popen([program], cwd=folder, env=settings, stderr=subprocess.DEVNULL) for _ in range(8)]
    for one in both:
        one.wait()
    numbers = [re.search(r"-(\d+)\.ompp\.xml", path).group(1) for path in glob.glob(folder + "/users*.xml")]
    texts = [re.search(r"-(\d+)\.ompp\.txt", path).group(1) for path in glob.glob(folder + "/users*.txt")]
    verdict.check(set(texts) <= set(numbers) and len(numbers) - len(found) <= 8, "numbers: %s %s" % (numbers, texts))


def main():
    if os.geteuid() != 0:
        harness.skip("only root can be every user")
    verdict = harness.Verdict("users")
    scratch = harness.Scratch("users")
    os.chmod(scratch.path, 0o755)
    try:
        program = scratch.file("users")
        harness.build(os.path.join(HERE, "users.c"), program, harness.sources()[0])
        hostile = build_hostile(scratch)
        test_hostile(verdict, scratch, hostile)
        test_bent(verdict, scratch, hostile)
        test_found(verdict, scratch, program, hostile)
        test_links(verdict, scratch, program)
        test_own_links(verdict, scratch, program)
        test_collect(verdict, scratch, program)
        test_moved(verdict, scratch, program)
        test_secrets(verdict, scratch)
        test_debug(verdict, scratch)
        test_shown(verdict, scratch)
        test_expire(verdict, scratch, program)
        test_pipes(verdict, scratch, program)
        test_elsewhere(verdict, scratch, program)
        test_redacted(verdict, scratch, program)
        test_redacted_blanks(verdict, scratch)
        test_group(verdict, scratch, program)
        test_whole(verdict, scratch, program)
    except (harness.Failure, subprocess.TimeoutExpired) as failure:
        verdict.check(False, str(failure))
    verdict.finish(scratch)


sys.exit(main())
