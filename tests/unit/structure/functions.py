#!/usr/bin/env python3
"""
The functions that gfortran makes of parallel regions and tasks begin where their code does: not at its last statement, whose line the
first instruction has; also of sources that OPARI2 has changed.
"""

import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "run"))
import harness

SOURCE = """subroutine both(x)
  real(8) :: x(8)
  integer :: k, i
!$omp parallel
  !$omp single
  do k = 1, 8
    !$omp task firstprivate(k) shared(x)
    do i = 1, 100
      x(k) = x(k) + i
    end do
    x(k) = 2 * x(k)
    !$omp end task
  end do
  !$omp end single
!$omp end parallel
end subroutine both
"""
FIRST = {0: (4, 5, 6), 1: (7, 8)}  # lines of directives and first statements: of the region, of the task


def main():
    verdict, scratch = harness.Verdict("functions"), harness.Scratch("functions")
    fortran = os.environ.get("TEST_GFORTRAN", "gfortran")
    if not shutil.which(fortran) or not shutil.which("nm"):
        harness.skip("no gfortran, or no nm")
    source, program = scratch.file("both.f90"), scratch.file("both.so")
    with open(source, "w") as file:
        file.write(SOURCE)
    ways = [("plain", [fortran])] + [("opari", [harness.command("kinst-ompp"), fortran])] * ("opari" in harness.sources())
    for title, words in ways:
        for level in ("-O0", "-O1", "-O2"):
            done = harness.execute([*words, level, "-g", "-fopenmp", "-fPIC", "-shared", source, "-o", program], scratch.path)
            if not verdict.equal(done.status, 0, "%s: %s" % (words, done.err[-500:])):
                continue
            symbols = re.findall(r"^([0-9a-f]+) t both_\._omp_fn\.(\d)$", harness.execute(["nm", program], scratch.path).out, re.M)
            verdict.equal(len(symbols), 2, "%s %s: functions" % (title, level))
            asked = "".join("FUNCTION %x 0\n" % int(address, 16) for address, _ in symbols)
            told = subprocess.run([os.path.join(harness.BUILD, "tests", "unit", "structure", "show_lines"), program], input=asked, capture_output=True,
                                  text=True, check=True).stdout.splitlines()
            for (_, number), line in zip(symbols, told):
                verdict.check(int(line.split()[1]) in FIRST[int(number)], "%s %s: function %s begins at %s" % (title, level, number, line))
    verdict.finish(scratch)


main()
