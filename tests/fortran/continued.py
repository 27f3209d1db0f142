#!/usr/bin/env python3
"""
Directives and statements of Fortran that go on in other lines, in every way that gfortran takes: each construct is measured, with
its lines, and the program prints what it prints without kinst-ompp.
"""

import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "run"))
import harness  # noqa: E402

COMPILER = os.environ.get("TEST_GFORTRAN", "gfortran")
# Title: lines of a loop construct. All have the same clauses; "S" is the sum, "K" a variable, "M" is 3, C is 'a!b'.
FIXED = {
    "number on the next line": ["C$OMP PARALLEL DO NUM_THREADS(", "C$OMP+2) REDUCTION(+:S)"],
    "brackets on the next line": ["C$OMP PARALLEL DO NUM_THREADS", "C$OMP& (2) REDUCTION(+:S)"],
    "name over two lines": ["!$OMP PARALLEL", "!$OMP+DO", "!$OMP+REDUCTION(+:S)"],
    "each word on its line": ["*$OMP", "*$OMP1PARALLEL", "*$OMP2DO", "*$OMP3REDUCTION", "*$OMP4(", "*$OMP5+", "*$OMP6:", "*$OMP7S", "*$OMP8)"],
    "middle of words": ["c$omp paral", "c$omp+lel d", "c$omp+o reduc", "c$omp+tion(", "c$omp++:s) num_thr", "c$omp+eads(2)"],
    "no blanks": ["C$OMP PARALLELDOREDUCTION(+:S)", "C$OMP&NUM_THREADS(2)PRIVATE(K)SCHEDULE(STATIC)"],
    "blanks everywhere": ["C$OMP P A R A L L E L  D O  RED UCTION ( + : S )", "C$OMP. N U M_ THREADS ( 2 )"],
    "word at column 72": ["!$OMP PARALLEL DO NUM_THREADS(2) PRIVATE(K) SCHEDULE(STATIC)     REDUCT", "!$OMP&ION(+:S)"],
    "column 6": ["C$OMP0PARALLEL DO", "C$OMP1PRIVATE(K)", "C$OMPXNUM_THREADS(2)", "C$OMP*REDUCTION(+:S)", "C$OMP!SCHEDULE(STATIC)"],
    "comments between": ["C$OMP PARALLEL DO", "C", "* a comment", "", "! another: C$OMP", "C$OMP&PRIVATE(K)", "   ", "      ! x", "C$OMP&REDUCTION(+:S)"],
    "comments behind": ["C$OMP PARALLEL DO ! (first", "C$OMP&REDUCTION(+:S) ! 'second"],
    "sentinels mixed": ["!$OmP PARALLEL DO", "c$OMP&PRIVATE(K)", "*$omp&REDUCTION(+:S)"],
    "commas": ["C$OMP PARALLEL DO PRIVATE(K),", "C$OMP&REDUCTION(+:S)", "C$OMP&,NUM_THREADS(2)"],
    "text constants": ["C$OMP PARALLEL DO IF(C.EQ.'a!b') REDUCTION(+:S)", "C$OMP&NUM_THREADS(2)"],
    "text constant over two lines": ["C$OMP PARALLEL DO REDUCTION(+:S) IF(C.EQ.'a!b'.AND.'x y;z''" + "!&" + "o'.NE.'p",
                                     "C$OMP&q!r' .AND. C .NE. 'C'''''.OR..FALSE.)"],
    "a tab behind the sentinel": ["C$OMP\tPARALLEL DO", "C$OMP&REDUCTION(+:S)"],
    "conditions": ["C$OMP PARALLEL DO IF(M.GT.2.AND.M.LT.5.AND.M.NE.7.AND.M.NE.11.AN", "C$OMP&D.M.NE.13.AND.M*1.E0.GT.1.E-5) REDUCTION(+:S)"],
    "the include line": ["C$OMP PARALLEL DO", "      INCLUDE 'clauses.inc'", "C$OMP&NUM_THREADS(2)"],
}
FREE = {
    "& at the end": ["!$omp parallel do &", "!$omp reduction(+:s)"],
    "& at both ends": ["!$omp parallel do &", "!$omp & reduction(+:s)"],
    "& right behind the sentinel": ["!$omp parallel do &", "!$omp& reduction(+:s)"],
    "indented": ["!$omp parallel do &", "        !$omp reduction(+:s)"],
    "name over two lines": ["!$omp parallel &", "!$omp do &", "!$omp reduction(+:s)"],
    "& alone": ["!$omp &", "!$omp parallel do &", "!$omp& &", "!$omp& reduction(+:s)"],
    "brackets on the next line": ["!$omp parallel do num_threads &", "!$omp (2) reduction(+:s)"],
    "number on the next line": ["!$omp parallel do num_threads( &", "!$omp 2) reduction(+: &", "!$omp & s)"],
    "middle of words": ["!$omp paral&", "!$omp &lel d&", "!$omp&o reduc&", "!$omp   &tion(+&", "!$omp &:s) num_thr&", "!$omp &eads(2)"],
    "one word": ["!$omp paralleldo &", "!$omp reduction(+:s)"],
    "comments between": ["!$omp parallel do & ! (first", "! another &", "", "   ", "!$omp private(k) & ! 'third", "  ! fourth !$omp", "!$omp reduction(+:s) ! fifth &"],
    "text constants": ["!$omp parallel do if(c == 'a!b') &", "!$omp reduction(+:s)"],
    "text constant with & and !": ["!$omp parallel do if(c /= 'a&!') &", "!$omp reduction(+:s)"],
    "text constant over two lines": ["!$omp parallel do if(c == 'a!&", "!$omp &b' .and. \"it's&", "  !$omp   & \" /= '&') &", "!$omp reduction(+:s)"],
    "upper and lower case": ["!$OMP PARALLEL DO &", "!$OmP Reduction(+:S) &", "!$omp num_THREADS(2)"],
    "tabs": ["!$omp\tparallel do\t&\t", "\t!$omp\treduction(+:s)"],
    "commas": ["!$omp parallel do private(k), &", "!$omp & reduction(+:s) &", "!$omp & , num_threads(2)"],
    "conditions": ["!$omp parallel do if(m > 2 .and. m < 5 .and. m*1.e0 > 1.e-5 .an&", "!$omp &d. m /= 13) &", "!$omp reduction(+:s)"],
    "the include line": ["!$omp parallel do &", "include 'clauses.inc'", "!$omp& num_threads(2)"],
}
# The same where the preprocessor decides.
FREE_CUT = {
    "a condition in between": ["!$omp parallel do &", "#ifdef _OPENMP", "!$omp reduction(+:s) &", "#else", "!$omp private(s) &", "#endif", "!$omp private(k)"],
    "an include file": ["!$omp parallel do &", '#include "clauses.inc"', "!$omp num_threads(2)"],
    "a macro": ["!$omp parallel do &", "!$omp reduction(+:s) NUMBER(2)"],
}
FIXED_CUT = {
    "a condition in between": ["C$OMP PARALLEL DO", "#ifdef _OPENMP", "C$OMP+REDUCTION(+:S)", "#else", "C$OMP+PRIVATE(S)", "#endif", "C$OMP+PRIVATE(K)"],
    "an include file": ["C$OMP PARALLEL DO", '#include "clauses.inc"', "C$OMP&NUM_THREADS(2)"],
    "a macro": ["C$OMP PARALLEL DO", "C$OMP&REDUCTION(+:S) NUMBER(2)"],
}
# Statements: lines that leave 55 in S.
FIXED_STATEMENTS = {
    "mark": ["      S = 5", "     &0", "     1 + 5"],
    "comments": ["      S =", "C comment", "", "     & 55"],
    "conditional": ["!$    S = 5", "!$   &5", "C$    S =", "C$   1 S"],
    "conditional with a tab": ["!$\tS = 55"],
    "tab": ["\tS = 5", "\t1+ 50"],
    "loop": ["      S = 0", "      DO 20 K", "     & = 1,", "     & 10", "      S = S", "     1 + K", "   20 CONTINUE"],
}
FREE_STATEMENTS = {
    "mark": ["s = 5 &", " + 5&", "&0"],
    "comments": ["s = & ! comment", "", "! another", "  & 55"],
    "conditional": ["!$ s = 5 &", "!$& + 50", "!$ s = &", "!$ & s"],
    "loop": ["s = 0; d&", "&o k = 1, &", "10; s = s &", "+ k; end &", "do"],
}

# Statements that belong to directives, with the lines of all constructs.
FIXED_BOUND = ("""\
      PROGRAM P
      INTEGER I, S, N
      S = 0
C$OMP PARALLEL NUM_THREADS(2)
C     a comment
C$OMP DO
      D
     1O 10 I = 1, 10
C$OMP ATOMIC
      S = S
C     a comment
     &+ I
   10 CONTI
     &NUE
C$OMP MASTER TASKLOOP REDUCTION(+:S)
      DO I = 1, 5
      S = S + I
      E N D D O
C$OMP DO
      DO 20 I = 1, 10
C$OMP ATOMIC
      S =
     & S + I
   20 C O N T I N U E
C$OMP END PARALLEL
      PRINT *, S
      END
""", [(4, 25), (6, 14), (9, 12), (19, 24), (21, 23)])
FREE_BOUND = ("""\
program p
  use omp_lib
  integer :: i, s
  integer(omp_lock_kind) :: l
  type t
    integer, dimension(2) :: omp_set_lock
  end type
  type(t) :: h
  s = 0; call omp_init_lock(l)
  !$omp parallel num_threads(2)
  !$omp do
  d&
  &o i = 1, 10
    !$omp atomic
    s = s & ! a comment

    + i
  en&
  ! a comment
  &d do
  !$omp end parallel
  h % &
  omp_set_lock(2) = s
  print *, h % omp_set_lock(2)
end program
""", [(10, 21), (11, 20), (14, 17)])
ALTERNATIVES = ("""\
program p
  integer :: i, s
  s = 0
#ifdef NUMBER
  !$omp parallel do reduction(+:s)
#else
  !$omp parallel do
#endif
  do i = 1, 10
    s = s + i
  end do
#ifndef NUMBER
  !$omp parallel
#else
  !$omp parallel num_threads(2)
#endif
  !$omp end parallel
  print *, s
end program
""", [(5, 11), (15, 17)])
# What cannot be read: the include file ends the directive and goes on with the loop.
LEFT_OUT = """\
program p
  integer :: i, s
  s = 0
  !$omp parallel do &
  include 'loop.inc'
  !$omp parallel num_threads(2)
  !$omp end parallel
  !$omp parallel num_threads(7)
  !$omp master
  s = s + 1
  !$omp end master
  !$omp end parallel
  print *, s
end program
"""
LOOP = "!$omp reduction(+:s)\n  do i = 1, 10\n    s = s + i\n  end do\n"
# An OPARI2 that does not like 7 threads.
FUSSY = """#!/bin/sh
line=$(grep -n 'num_threads(7)' source.f90 | cut -d: -f1)
[ "$line" ] || exec opari2 "$@"
echo "$PWD/source.f90:$line: ERROR: seven" >&2
exit 1
"""


def program(form, loops, statements):
    """\\return the text, and the lines of its constructs."""
    indent, mark = ("      ", "!$OMP ") if form == "fixed" else ("  ", "  !$omp ")
    lines = [indent + line for line in ("program p", "integer i, s, k, m", "character*3 c", "k = 5", "m = 3", "c = 'a!b'")]
    regions = []
    for construct in loops:
        lines.append(indent + "s = 0")
        regions.append((len(lines) + 1, len(lines) + len(construct) + 3))
        lines += construct + [indent + line for line in ("do i = 1, 10", "s = s + i", "end do", "print *, s")]
    for lot in statements:
        lines += lot
        regions.append((len(lines) + 1, len(lines) + 3))
        lines += [mark + "single", indent + "print *, s", mark + "end single"]
    return "\n".join(lines + [indent + "end"]) + "\n", regions


def plain(source, options):
    output = source + ".plain"
    done = harness.execute([COMPILER, "-fopenmp", "-w", *options, source, "-o", output], os.path.dirname(source))
    return harness.execute([output], os.path.dirname(source)).out if done.status == 0 else done.err


def check(verdict, scratch, title, suffix, options, text, regions):
    source = scratch.file(title.replace(" ", "-"), "a" + suffix)
    folder, output = os.path.dirname(source), source + ".made"
    open(source, "w").write(text)
    clause = "C$OMP&REDUCTION(+:S)\n" if title.startswith("fixed") else "! a comment\n!$omp reduction(+:s) &\n"
    open(os.path.join(folder, "clauses.inc"), "w").write(clause)
    done = harness.execute([harness.command("kinst-ompp"), "-@", COMPILER, "-g", "-fopenmp", *options, source, "-o", output], folder)
    verdict.equal((done.status, "unmodified" in done.err), (0, False), title + ": build: " + done.err[-400:])
    if done.status != 0:
        return
    outcome = harness.run(output, os.path.join(folder, "run"), 2)
    verdict.equal((outcome.status, outcome.out), (0, plain(source, options)), title + ": result")
    profile = outcome.profile()
    found = {(os.path.basename(r.file or ""), r.begin, r.end) for r in profile.regions}
    wanted = {("a" + suffix, *lines) for lines in regions}
    lines = text.splitlines()
    for place in sorted(found ^ wanted):
        verdict.check(False, "%s: %s is %s:\n%s" % (title, place, "missing" if place in wanted else "too much", "\n".join(lines[place[1] - 1:place[2]])))
    verdict.equal([c for c in profile.coverage if c.get("kind") == "uninstrumented"], [], title + ": all is measured")


def check_left_out(verdict, scratch):
    """Directives that cannot be read are left out alone, with a line for each in Coverage."""
    source, opari = scratch.file("left", "a.f90"), scratch.file("left", "opari")
    folder, output = os.path.dirname(source), source + ".made"
    for path, text in ((source, LEFT_OUT), (os.path.join(folder, "loop.inc"), LOOP), (opari, FUSSY)):
        open(path, "w").write(text)
    os.chmod(opari, 0o755)
    words = [harness.command("kinst-ompp"), "--opari=" + opari, COMPILER, "-g", "-fopenmp", source, "-o", output]
    verdict.equal(harness.execute(words, folder).status, 0, "left out: build")
    outcome = harness.run(output, os.path.join(folder, "run"), 2)
    verdict.equal((outcome.status, outcome.out), (0, plain(source, [])), "left out: result")
    profile = outcome.profile()
    verdict.equal([(r.type, r.begin, r.end) for r in profile.regions], [("PARALLEL", 6, 7)], "left out: the rest is measured")
    said = sorted(c.get("reason") for c in profile.coverage if c.get("kind") == "invisible")
    places = ("OpenMP parallel (OPARI2 refuses it) (%s:8)" % source, "OpenMP parallel do (an include file has its end, and more) (%s:4)" % source)
    verdict.equal(said, list(places), "left out: what is said")


def main():
    if not shutil.which(COMPILER) or not shutil.which(os.environ.get("OPARI2", "opari2")):
        harness.skip("no gfortran or no opari2 (Debian packages: gfortran, opari2)")
    scratch, verdict = harness.Scratch("continued"), harness.Verdict("continued")
    number = "-DNUMBER(n)=num_threads(n)"
    for title, suffix, options, loops, statements in (
            ("fixed", ".f", [], FIXED, FIXED_STATEMENTS), ("fixed none", ".f", ["-ffixed-line-length-none"], FIXED, {}),
            ("fixed 132", ".f90", ["-ffixed-form", "-ffixed-line-length-132"], FIXED, FIXED_STATEMENTS),
            ("fixed F", ".F", [], FIXED, FIXED_STATEMENTS), ("fixed cut", ".F", [number], FIXED_CUT, FIXED_STATEMENTS),
            ("free", ".f90", [], FREE, FREE_STATEMENTS), ("free F90", ".F90", [], FREE, FREE_STATEMENTS),
            ("free f", ".f", ["-ffree-form"], FREE, {}), ("free cut", ".F90", [number], FREE_CUT, FREE_STATEMENTS)):
        text, regions = program(title.split()[0], loops.values(), statements.values())
        check(verdict, scratch, title, suffix, options, text, regions)
    for title, suffix, options, (text, regions) in (
            ("fixed bound", ".f", [], FIXED_BOUND), ("fixed bound F", ".F", [], FIXED_BOUND), ("free bound", ".f90", [], FREE_BOUND),
            ("free alternatives", ".F90", [number], ALTERNATIVES)):
        check(verdict, scratch, title, suffix, options, text, regions)
    check_left_out(verdict, scratch)
    verdict.finish(scratch)


main()
