#!/usr/bin/env python3
"""
Functions compiled with -finstrument-functions (gcc, clang; C, C++, Fortran) appear by name, at the lines of the source, with exact
counts: recursion, exceptions, longjmp, threads, tasks, libraries, code before main and after it. OMPP_FUNCTIONS chooses among them.
"""

import collections
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))

import harness  # noqa: E402

FOLDER = os.path.join(harness.SOURCE, "tests", "user")
HOOKS = "-finstrument-functions"

# name in the report -> (label, executions with T threads); label None: not looked at.
C_COUNTS = {
    "early": ("early", "1"), "late": ("late", "1"), "fib": ("fib", "177 + 15"), "even": ("even", "5 * T + 6"),
    "odd": ("odd", "4 * T + 6"), "deep": ("deep", "1001"), "leaps": ("leaps", "1"), "middle": ("middle", "1"),
    "returns": ("returns", "1"), "jumps": ("jumps", "1"), "thread": ("thread", "1"), "member": ("member", "T + 3"),
    "main": ("main", "1"), "in_library": (None, "T + 3"), "hidden": (None, "T + 3"),
}
CXX_COUNTS = {
    "geo::twice<double>": ("twice", "T"), "geo::twice<int>": ("twice", "T"), "geo::Body::Body": ("body", "6 + T"),
    "geo::Body::~Body": ("gone", "6 + T"), "geo::Body::mass": ("mass", "T"), "geo::Body::operator()": ("call", "T"),
    "(anonymous namespace)::hidden": ("hidden", "1"), "throws": ("throws", "6"), "passes": ("passes", "6"),
    "after": ("after", "3"), "catches": ("catches", "1"), "main": ("main", "1"),
}
FORTRAN_COUNTS = {"shapes::area": ("area", "4"), "outer": ("outer", "3"), "inner": ("inner", "3")}


def compiler(how, language):
    name = harness.COMPILERS[how]
    if language == "cc":
        name = name.replace("clang", "clang++").replace("gcc", "g++")
    return name if language != "f90" else name.replace("gcc", "gfortran") if "gcc" in name else "gfortran"


def build(how, source, output, *flags):
    words = [harness.command("kinst-ompp"), "--with=" + how, compiler(how, source.rsplit(".", 1)[1]), "-g", "-pthread",
             os.path.join(FOLDER, source), *flags, "-o", output]
    done = harness.execute(words, os.path.dirname(output))
    if done.status:
        raise harness.Failure("cannot build: %s\n%s" % (" ".join(words), done.err[-1500:]))


def executions(profile, name):
    return sum(profile.total("execC", profile.find("USER REGION", name=name)).values())


def check_counts(verdict, profile, counts, source, threads, title, exact=True):
    """exact: the last line, too. (Compilers that optimise mix the code of functions.)"""
    begin, end = harness.labels(os.path.join(FOLDER, source))
    for name, (label, wanted) in counts.items():
        verdict.equal(executions(profile, name), eval(wanted, {"T": threads}), "%s: executions of %s" % (title, name))
        for region in profile.find("USER REGION", name=name) if label else []:
            place = "%s: place of %s" % (title, name)
            verdict.equal((os.path.basename(region.file), region.begin), (source, begin[label]), place)
            if label in end and exact:
                verdict.check(end[label] - 1 <= region.end <= end[label], "%s: ends in line %d" % (place, region.end))
    known = set(counts) | {"area", "driver", "main"}
    for region in profile.find("USER REGION"):
        verdict.check(region.name in known, "%s: unexpected function %s" % (title, (region,)))


def no_mismatch(verdict, profile, title):
    verdict.equal([c for c in profile.coverage if c["kind"] == "mismatch"], [], title + ": coverage")


def under(profile, name, parent):
    """Whether a function stands below another on some call path."""
    for node in profile.nodes_of(profile.find("USER REGION", name=name)):
        while node.parent is not None:
            node = node.parent
            if node.region and node.region.name == parent:
                return True
    return False


def test_c(verdict, scratch, how, optimise):
    title = "C %s %s" % (how, optimise)
    program = scratch.file("c-" + how + optimise, "functions")
    library = os.path.join(os.path.dirname(program), "libfun.so")
    build(how, "functions_lib.c", library, "-shared", "-fPIC", HOOKS, optimise)
    build(how, "functions.c", program, "-fopenmp", HOOKS, optimise, library, "-Wl,-rpath," + os.path.dirname(library))
    for threads in (1, 2, 4):
        outcome = harness.run(program, scratch.file("c-" + how + optimise, str(threads)), threads)
        verdict.equal(outcome.out, "%d 5\n" % (1 + 55 + 1000 + 18 * threads), title + ": result")
        profile = outcome.profile()
        verdict.profile(profile, title)
        check_counts(verdict, profile, C_COUNTS, "functions.c", threads, "%s T=%d" % (title, threads), optimise == "-O0")
        verdict.check(not under(profile, "member", "middle"), title + ": member stands below what longjmp has left")
    return program


def test_cxx(verdict, scratch, how, optimise):
    title = "C++ %s %s" % (how, optimise)
    program = scratch.file("cc-" + how + optimise, "functions")
    build(how, "functions.cc", program, "-fopenmp", HOOKS, optimise)
    for threads in (1, 2, 4):
        outcome = harness.run(program, scratch.file("cc-" + how + optimise, str(threads)), threads)
        verdict.equal(outcome.out, "%d\n" % (3 + 4 + 6 + 2 + threads * 12), title + ": result")
        profile = outcome.profile()
        verdict.profile(profile, title)
        check_counts(verdict, profile, CXX_COUNTS, "functions.cc", threads, "%s T=%d" % (title, threads), optimise == "-O0")
        areas = profile.find("USER REGION", name="area")
        verdict.equal(len(areas), 2, title + ": overloads are told apart")
        if optimise == "-O0":
            no_mismatch(verdict, profile, title)
            verdict.check(not under(profile, "after", "passes"), title + ": after stands below what an exception has left")


def test_fortran(verdict, scratch):
    program = scratch.file("f90", "functions")
    build("opari", "functions.f90", program, HOOKS)
    outcome = harness.run(program, scratch.file("f90", "1"), 1)
    verdict.equal(outcome.out, "13\n", "Fortran: result")
    profile = outcome.profile()
    verdict.profile(profile, "Fortran")
    check_counts(verdict, profile, FORTRAN_COUNTS, "functions.f90", 1, "Fortran")
    no_mismatch(verdict, profile, "Fortran")


def test_choice(verdict, scratch, how, program):
    """OMPP_FUNCTIONS and OMPP_DISABLE_USER_REGION."""
    for number, (patterns, names) in enumerate((
            ("fib,ma*", {"fib", "main"}), ("-*,deep", {"deep"}), ("-e*,-odd,-hidden,-in_library,early",
                                                                  set(C_COUNTS) - {"even", "odd", "hidden", "in_library"}),
            ("*,-fib", set(C_COUNTS) - {"fib"}))):
        profile = harness.run(program, scratch.file("choice-" + how, str(number)), 2, OMPP_FUNCTIONS=patterns).profile()
        verdict.equal({r.name for r in profile.find("USER REGION")}, names, "OMPP_FUNCTIONS=" + patterns)
        for name in names:
            verdict.equal(executions(profile, name), eval(C_COUNTS[name][1], {"T": 2}), "OMPP_FUNCTIONS=%s: %s" % (patterns, name))
    profile = harness.run(program, scratch.file("choice-" + how, "none"), 2, OMPP_DISABLE_USER_REGION="1").profile()
    verdict.equal(profile.find("USER REGION"), [], "OMPP_DISABLE_USER_REGION")


def test_stripped(verdict, scratch, program):
    """Without debug information: by symbol; without symbols: by module and offset, the counts the same."""
    plain = scratch.file("stripped", "functions")
    for option, named in (("--strip-debug", True), ("--strip-all", False)):
        harness.execute(["strip", option, program, "-o", plain], os.path.dirname(plain))
        profile = harness.run(plain, scratch.file("stripped", option), 2).profile()
        verdict.profile(profile, option)
        regions = [r for r in profile.find("USER REGION") if not r.file]
        counts = sorted(sum(profile.total("execC", [r]).values()) for r in regions)
        inside = [n for n in C_COUNTS if n not in ("in_library", "hidden")]
        wanted = [eval(C_COUNTS[n][1], {"T": 2}) for n in inside]
        # Without symbols the functions that clang makes of constructs are not known for what they are.
        missing = collections.Counter(wanted) - collections.Counter(counts)
        verdict.check(not missing and (not named or len(counts) == len(wanted)), "%s: executions %s" % (option, counts))
        verdict.equal({r.name for r in regions}, set(inside) if named else {""}, option + ": names")


def test_unload(verdict, scratch, how):
    """A library that is loaded where another one was is not taken for that."""
    program = scratch.file("unload-" + how, "load")
    folder = os.path.dirname(program)
    for name in ("one", "two"):
        build(how, "functions_plugin.c", os.path.join(folder, name + ".so"), "-shared", "-fPIC", HOOKS, "-DNAME=" + name)
    build(how, "functions_load.c", program, HOOKS, "-ldl")
    args = ["./one.so", "2", "./two.so", "3", "./one.so", "4", "./two.so", "5"]
    outcome = harness.execute([program, *args], folder)
    verdict.equal(outcome.out, "14\n", how + ": plug-ins: result")
    profile = outcome.profile()
    verdict.equal({n: executions(profile, n) for n in ("inner_one", "inner_two")}, {"inner_one": 6, "inner_two": 8}, how + ": plug-ins")


RECURSIVE = """
static void swap(int *v, int i, int j) { int t = v[i]; v[i] = v[j]; v[j] = t; }
void sort(int *v, int left, int right)
{
    int last = left;
    if (left >= right) return;
    swap(v, left, (left + right) / 2);
    for (int i = left + 1; i <= right; i++) if (v[i] < v[left]) swap(v, ++last, i);
    swap(v, left, last);
    sort(v, left, last - 1);
    sort(v, last + 1, right);
}
int main(void)
{
    static int v[2000];
    for (int i = 0; i < 2000; i++) v[i] = i * 7919 % 2000;
    sort(v, 0, 1999);
    return v[7] != 7;
}
"""


def test_recursive(verdict, scratch, how):
    """The hook at a function's end is called as a jump, or the function is inlined into itself: no end is missing, nor too many."""
    source = scratch.file("recursive-" + how, "recursive.c")
    with open(source, "w") as file:
        file.write(RECURSIVE)
    for optimise in ("-O0", "-O1", "-O2", "-O3", "-Os"):
        title = "recursive-%s%s" % (how, optimise)
        program = scratch.file(title, "recursive")
        build(how, source, program, HOOKS, optimise)
        done = harness.run(program, os.path.dirname(program), 1)
        verdict.equal((done.status, done.messages()), (0, []), title)
        said = [c for c in done.profile().coverage if c["kind"] in ("mismatch", "left")]
        verdict.equal(said, [], title + ": coverage")


def test_early(verdict, scratch, how):
    """The first event comes before any constructor, as of libraries that are initialised before ours and call into the program."""
    program = scratch.file("early-" + how, "early")
    build(how, "functions_early.c", program, HOOKS)
    outcome = harness.execute([program], os.path.dirname(program))
    verdict.equal(outcome.out, "9\n", how + ": early: result")
    profile = outcome.profile()
    verdict.equal({n: executions(profile, n) for n in ("early", "inner", "late", "main")}, {"early": 1, "inner": 7, "late": 1, "main": 1},
                  how + ": early")


def main():
    verdict, scratch = harness.Verdict("functions"), harness.Scratch("functions")
    for how in harness.sources():
        for optimise in ("-O0", "-O2"):
            if shutil.which(compiler(how, "cc")):
                test_cxx(verdict, scratch, how, optimise)
            program = test_c(verdict, scratch, how, optimise)
        test_choice(verdict, scratch, how, program)
        test_unload(verdict, scratch, how)
        test_early(verdict, scratch, how)
        test_recursive(verdict, scratch, how)
    if shutil.which("strip"):
        test_stripped(verdict, scratch, program)
    if shutil.which("gfortran"):
        test_fortran(verdict, scratch)
    verdict.finish(scratch)


main()
