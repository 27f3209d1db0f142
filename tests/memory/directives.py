#!/usr/bin/env python3
"""Directives that name data, in Fortran of both forms: variables of every type in one unit, beside variables with the names of intrinsic
functions; sections, texts, what is not allocated. Addresses that are none are refused, in C too."""

import xml.etree.ElementTree as ElementTree

import memory
from memory import harness

FREE = """
module shapes
  type body
    integer :: id(4)
    real(8), allocatable :: x(:)
  end type
contains
  subroutine named(part, b, text, rest)
    real(8) :: part(:)
    class(body) :: b
    character(*) :: text
    real(4) :: rest(*)
    integer :: loc(4), int(4), i
    complex(8), allocatable :: never(:)
    loc = 1; int = 2
    !$pomp inst data(part, 8*2*size(part), "part")
    !$POMP INST DATA(b, 16, 'b')
    !$pomp inst data(b%x, 8*size(b%x), "x")
    !$pomp inst data(text, len(text), "text")
    !$pomp inst data(rest, 4_8*3, "rest")
    !$pomp inst data(rest(5), 4, "one")
    !$pomp inst data(never, 16, "never")
    !$omp parallel do
    do i = 1, size(part)
      part(i) = loc(1) + int(2)
    end do
    b%id(2) = 5
    do i = 1, 10
      b%x(i) = i
    end do
    rest(1:3) = 1
    rest(5) = 1
    text(2:2) = 'b'
  end subroutine
end module
program main
  use shapes
  real(8), volatile :: a(20)
  real(4) :: r(8)
  type(body) :: b
  character(7) :: word = 'aaaaaaa'
  allocate(b%x(10))
  a = 0
  call named(a(1:20:2), b, word, r)
  print '(f4.1)', a(1) + b%x(10) + r(5)
end program
"""
FREE_STORES = {"part": 10, "b": 1, "x": 10, "rest": 3, "one": 1, "text": 1}

FIXED = """
      program main
      implicit none
      integer n, i, loc(9), int(3)
      parameter (n = 100)
      double precision, allocatable :: heap(:)
      integer other(20)
      loc = 313
      int(1) = 8
      allocate(heap(n))
!$pomp inst data(heap, n*int(1), "heap")
c$pomp inst data(other(11), 40, "a second structure with a rather long name")
      do 10 i = 1, n
        heap(i) = loc(2)
   10 continue
!$omp parallel do
      do 20 i = 1, 20
        other(i) = i
   20 continue
      print '(f6.1,i3)', heap(n), other(20)
      end
"""
FIXED_STORES = {"heap": 100, "a second structure with a rather long name": 10}

NOWHERE = """
#include <ompp.h>
static volatile char text[100];
int main(void)
{
    for (int i = 0; i < 3; i++) ompp_papi_set_drange(0, 100, "nothing");
    ompp_papi_set_drange((void *)0x4e8, 100, "small");
#pragma pomp inst data(text, 100, "text")
    for (int i = 0; i < 100; i++) text[i] = 'a';
    return 0;
}
"""


def run(verdict, scratch, title, source, text, compiler, *flags):
    """The stores of each structure, and what was said of addresses."""
    file, program = scratch.file(title.replace(" ", "-"), source), scratch.file(title.replace(" ", "-"), "main")
    with open(file, "w") as f:
        f.write(text)
    memory.build(compiler, file, program, *flags)
    outcome = harness.run(program, scratch.file("run-" + title.replace(" ", "-")), 2)
    verdict.equal(outcome.status, 0, title + ": exit status")
    profile = outcome.profile()
    verdict.profile(profile, title)
    profile.root = ElementTree.parse(profile.path).getroot()
    refused = [c.get("subject") for c in profile.coverage if "whose address is NULL" in (c.get("reason") or "")]
    said = [m for m in outcome.messages() if "no data can be" in m]
    return {name: memory.counts(profile, name)[memory.STORES] for name in memory.objects(profile)}, refused, said


def main():
    scratch, verdict = harness.Scratch("directives"), harness.Verdict("directives")
    for _, compiler in memory.compilers("gfortran"):
        for options in (["-O0"], ["-O0", "-fcheck=all", "-fdefault-integer-8"], ["-O1", "-std=f2018", "-fimplicit-none"]):
            title = "free " + " ".join(options)
            counted, refused, said = run(verdict, scratch, title, "a.f90", FREE, compiler, *options)
            if "-O1" in options:
                counted = {name: FREE_STORES.get(name) for name in counted} # what stays in registers is another test's
            verdict.equal(counted, FREE_STORES, title + ": stores")
            verdict.equal(refused, ["never"], title + ": refused")
            verdict.equal(len(said), 1, title + ": lines about addresses")
        for options in (["-O0"], ["-O0", "-std=legacy"]):
            title = "fixed " + " ".join(options)
            verdict.equal(run(verdict, scratch, title, "a.f", FIXED, compiler, *options), (FIXED_STORES, [], []), title + ": stores")
    for name, compiler in memory.compilers("gcc", "clang"):
        counted, refused, said = run(verdict, scratch, name, "a.c", NOWHERE, compiler)
        verdict.equal((counted, sorted(refused)), ({"text": 100}, ["nothing", "small"]), name + ": addresses that are none")
        verdict.check(len(said) == 1 and "nothing" in said[0], name + ": lines about addresses: %s" % said)
    verdict.finish(scratch)


main()
