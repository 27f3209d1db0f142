#!/usr/bin/env python3
"""
Names of a profile may be anything: they are text in the page, and the page is the viewer's but for its data. Files that a profile names are in
the page only when they look like source, and never with OMPP_REDACT.
"""

import os

import page
from page import harness

NAMES = ["</script><script>window.hostile=1</script>", "<img src=x onerror=window.hostile=1>", "\"'`><svg onload=window.hostile=1>", "@PROFILE@", "&lt;b&gt;",
         "javascript:window.hostile=1", "${window.hostile=1}", "]]><!--", "\u2028\u202e\u200f", "__proto__", "constructor", "%s%n%x", "a" * 5000, "\\u003c\\n\"", "\U0001f4a5"]
REGIONS = len(NAMES) + 1
BAD = "\\xff\\x01\\x1b[31m\\xc0\\xaf"  # as the XML has bytes that it cannot carry


def make(scratch, output, **changes):
    """A page of a profile in which every text is hostile."""
    names = [name.replace("\\", "\\\\") for name in NAMES] + [BAD]
    text = page.synthetic(60, REGIONS, ranks=2, name=lambda kind, number: names[number % len(names)])
    for old in ("synthetic", "node0", "/src/1/file1.c"):
        text = text.replace('"%s"' % old, '"%s"' % escaped(NAMES[0]))
    with open(scratch.file("hostile.xml"), "w", encoding="utf-8") as file:
        file.write(text)
    return page.make(scratch.file("hostile.xml"), output, **changes)


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;").replace(">", "&gt;")


def check_names(verdict, scratch):
    done = make(scratch, scratch.file("names.html"))
    verdict.equal(done.status, 0, "status: " + done.err)
    data = page.read(scratch.file("names.html"))
    verdict.equal(data["application"], NAMES[0], "name of the program")
    verdict.equal(set(data["regions"]["name"]), {*NAMES, "???[31m??"}, "names of regions")


def check_bytes(verdict, scratch):
    """Bytes that are not UTF-8 and control characters, from a program itself."""
    source = scratch.file("bytes", "bytes.c")
    with open(source, "w") as file:
        file.write('#include <ompp.h>\nint main(void)\n{\n    ompp_region_begin("</script>\\xff\\x01\\x1b[31m\\n<b>");\n    ompp_region_end("</script>\\xff\\x01\\x1b[31m\\n<b>");\n'
                   '#pragma omp parallel\n    ;\n    return 0;\n}\n')
    program = scratch.file("bytes", "bytes")
    harness.build(source, program, harness.sources()[0])
    run = harness.run(program, os.path.dirname(program), 2, OMPP_OUTFORMAT="html")
    if verdict.equal(len(run.reports("html")), 1, "bytes: pages: " + run.err):
        data = page.read(run.reports("html")[0])
        name = next((n for n in data["regions"]["name"] if n.startswith("</script>")), None)
        verdict.check(name is not None and all(c >= " " and c != "\ufffd" for c in name), "bytes: name %r of %s" % (name, data["regions"]["name"]))
        verdict.check(any("int main(void)" in line for lines in data["sources"].values() for line in lines), "the page has no source")
    run = harness.run(program, os.path.dirname(program), 2, OMPP_OUTFORMAT="html", OMPP_REDACT=1)
    redacted = run.reports("html")[-1]
    data = page.read(redacted)
    verdict.check("sources" not in data, "OMPP_REDACT: the page has the source")
    verdict.check(scratch.path not in str(data), "OMPP_REDACT: the page has a directory")
    done = page.make(run.reports()[0], scratch.file("again.html"), OMPP_REDACT=1)
    verdict.check(done.status == 0 and scratch.path not in str(page.read(scratch.file("again.html"))), "ompp-report html, OMPP_REDACT: the page has a directory")


def check_files(verdict, scratch):
    """A profile that names files of its reader."""
    secrets = {"id_rsa": False, "notes.txt": False, "solve.c": True, "pipe.c": False, "bytes.c": False}
    for name in secrets:
        if name == "pipe.c":
            os.mkfifo(scratch.file("secret", name))
            continue
        with open(scratch.file("secret", name), "w") as file:
            file.write("a secret of %s\n%s" % (name, "\0" if name == "bytes.c" else ""))
    p = page.load_profiles().Profile("files")
    for i, name in enumerate(secrets):
        p.all(p.node(p.region("USER REGION", i + 1, file=scratch.file("secret", name), begin=1, end=1), 0, i), 1, exec=10)
    with open(scratch.file("files.xml"), "w") as file:
        file.write(p.xml())
    verdict.equal(page.make(scratch.file("files.xml"), scratch.file("files.html")).status, 0, "files: status")
    inside = {os.path.basename(path) for path in page.read(scratch.file("files.html"))["sources"]}
    verdict.equal(inside, {name for name, source in secrets.items() if source}, "files in the page")


def check_command(verdict, scratch):
    """Where the page goes, and what cannot be."""
    golden = os.path.join(harness.SOURCE, "tests", "golden")
    tool, folder = harness.command("ompp-report"), os.path.dirname(scratch.file("command", "x"))
    with open(os.path.join(golden, "mpi.xml")) as file, open(scratch.file("command", "run.ompp.xml"), "w") as to:
        to.write(file.read())
    for words, status, files, says in (
            (["html", "run.ompp.xml"], 0, ["run.ompp.html"], ""),
            (["html", "run.ompp.xml", "-o", "other.html"], 0, ["other.html", "run.ompp.html"], ""),
            (["html", "run.ompp.xml", "-o", "/nowhere/x.html"], 1, ["other.html", "run.ompp.html"], "give -o a file that can be written"),
            (["html", os.path.join(golden, "mpi.txt")], 1, ["other.html", "run.ompp.html"], "name the XML of the run"),
            (["html", "run.ompp.xml", "run.ompp.xml", "-o", "x"], 2, ["other.html", "run.ompp.html"], "-o is for one FILE"),
            (["show", "run.ompp.xml", "-o", "x"], 2, ["other.html", "run.ompp.html"], "-o is not for")):
        done = harness.execute([tool, *words], folder)
        verdict.equal((done.status, sorted(f for f in os.listdir(folder) if not f.endswith("xml"))), (status, files), " ".join(words) + ": " + done.err)
        verdict.check(says in done.err and len(done.err.splitlines()) == (1 if says else 0), "%s: message: %s" % (" ".join(words), done.err))
    done = harness.execute([tool, "html", "run.ompp.xml", "-o", "-"], folder)
    with open(scratch.file("command", "run.ompp.html")) as file:
        verdict.check(done.out == file.read(), "-o -: not the same page on standard output")


def main():
    verdict, scratch = harness.Verdict("html/hostile"), harness.Scratch("html-hostile")
    for test in (check_names, check_bytes, check_files, check_command):
        test(verdict, scratch)
    verdict.finish(scratch)


if __name__ == "__main__":
    main()
