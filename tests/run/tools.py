#!/usr/bin/env python3
"""
OMPT tools of others: in the program, in a library that it needs, preloaded by its user, on the list of OMP_TOOL_LIBRARIES. They run as
without ompp, which leaves OpenMP to them and says so; where they decline, or are not there, it measures. What does not come by OMPT is
measured all the same (GOMP, OPARI2).
"""

import os

import harness

TOOL, PROGRAM = os.path.join(harness.HERE, "tools.c"), os.path.join(harness.HERE, "tools_omp.c")
OURS = os.path.join(harness.BUILD, ".libs", "libompp.so")


def build(scratch):
    """Name -> program; with a tool in it, behind it, and with none. Each also built by kinst-ompp."""
    compiler, programs = harness.COMPILERS["ompt"], {}
    headers = harness.execute([compiler, "-print-resource-dir"], scratch.path).out.strip() + "/include"
    words = [compiler, "-g", "-I" + headers]

    def run(command, title):
        done = harness.execute(command, scratch.path)
        if done.status:
            harness.skip("%s cannot be built: %s" % (title, done.err[-300:]))

    run([*words, "-shared", "-fPIC", TOOL, "-o", "libtool.so"], "a tool")
    run([harness.COMPILERS["opari"], "-g", "-fopenmp", PROGRAM, "-o", "gcc"], "a program")
    run([harness.command("kinst-ompp"), harness.COMPILERS["opari"], "-g", "-fopenmp", PROGRAM, "-o", "opari"], "a program")
    for name, more in (("none", []), ("inside", [TOOL]), ("library", ["-Wl,--no-as-needed", "-L.", "-ltool", "-Wl,-rpath," + scratch.path])):
        run([*words, "-fopenmp", PROGRAM, *more, "-o", name], "a program")
        run([harness.command("kinst-ompp"), *words, "-fopenmp", PROGRAM, *more, "-o", "kinst-" + name], "a program")
        programs[name] = [os.path.join(scratch.path, prefix + name) for prefix in ("", "kinst-")]
    return programs


def judge(verdict, title, plain, measured, left_to, count=10):
    verdict.equal((measured.status, measured.out), (plain.status, plain.out), title + ": result: " + measured.err[-300:])
    profile = measured.profile()
    verdict.profile(profile, title)
    lines = [(c.get("subject"), c.get("reason", "")) for c in profile.coverage if c["kind"] == "source"]
    wanted = "left to another OMPT tool, " + left_to if left_to else ""
    verdict.equal([reason for _, reason in lines], [wanted], title + ": Coverage: %s" % lines)
    found = sum(profile.total("execC", profile.find("PARALLEL")).values())
    verdict.equal(found, 0 if left_to else count, title + ": parallel regions")
    verdict.equal(len(measured.messages()), 1 if left_to else 0, title + ": messages: %s" % measured.messages())


def main():
    verdict, scratch = harness.Verdict("tools"), harness.Scratch("tools")
    if "ompt" not in harness.sources():
        harness.skip("no clang")
    programs, library = build(scratch), os.path.join(scratch.path, "libtool.so")
    declines = {"TOOL_DECLINES": "1"}
    # title, program, variables, who has the events
    cases = [("in the program", "inside", {}, "%s"), ("in the program, declines", "inside", declines, None),
             ("in a library", "library", {}, "libtool.so"), ("in a library, declines", "library", declines, None),
             ("preloaded", "none", {"LD_PRELOAD": library}, "libtool.so"),
             ("preloaded, declines", "none", {"LD_PRELOAD": library, **declines}, None),
             ("listed", "none", {"OMP_TOOL_LIBRARIES": library}, "libtool.so"),
             ("listed, second", "none", {"OMP_TOOL_LIBRARIES": "/nonexistent.so:" + library}, "libtool.so"),
             ("listed by its name", "none", {"OMP_TOOL_LIBRARIES": "libtool.so", "LD_LIBRARY_PATH": scratch.path}, "libtool.so"),
             ("not there", "none", {"OMP_TOOL_LIBRARIES": "/nonexistent.so:nonexistent.so"}, None),
             ("disabled", "none", {"OMP_TOOL_LIBRARIES": library, "OMP_TOOL": "disabled"}, False)]
    try:
        for title, name, variables, left_to in cases:
            plain, kinst = programs[name]
            words = ["env", *("%s=%s" % pair for pair in variables.items())]
            without = harness.execute([*words, plain], scratch.path)
            for how, program, start in (("ompp", plain, [harness.command("ompp"), "--", plain]), ("kinst-ompp", kinst, [kinst])):
                folder = os.path.dirname(scratch.file("%s-%s" % (title.replace(" ", "-"), how), "x"))
                measured = harness.execute([*words, *start], folder)
                if left_to is False:
                    verdict.equal((measured.status, measured.out), (without.status, without.out), title + ": result")
                else:
                    judge(verdict, "%s, %s" % (title, how), without, measured, left_to and left_to.replace("%s", os.path.basename(program)))
        # Both are on the list: ours is asked when the one before it has declined.
        if os.path.exists(OURS):
            folder = os.path.dirname(scratch.file("both", "x"))
            without = harness.execute(["env", "TOOL_DECLINES=1", "OMP_TOOL_LIBRARIES=" + library, programs["none"][0]], folder)
            judge(verdict, "both listed", without, harness.execute(
                ["env", "TOOL_DECLINES=1", "OMP_TOOL_LIBRARIES=%s:%s" % (library, OURS), programs["none"][0]], folder), None)
        # Sources that need no OMPT.
        for title, start in (("GOMP", [harness.command("ompp"), "--", os.path.join(scratch.path, "gcc")]),
                             ("GOMP on libomp", [harness.command("ompp"), "--omp-runtime=llvm", "--", os.path.join(scratch.path, "gcc")]),
                             ("OPARI2", [os.path.join(scratch.path, "opari")])):
            if "llvm" in " ".join(start) and not harness.libomp():
                continue
            folder = os.path.dirname(scratch.file(title.replace(" ", "-"), "x"))
            measured = harness.execute(["env", "OMP_TOOL_LIBRARIES=" + library, *start], folder)
            without = harness.Outcome(0, "tool: asked\nsum 10\ntool: 5 regions\n" if "llvm" in " ".join(start) else "sum 10\n", "", folder)
            judge(verdict, title, without, measured, None)
    except (harness.Failure, harness.subprocess.TimeoutExpired) as failure:
        verdict.check(False, str(failure))
    verdict.finish(scratch)


main()
