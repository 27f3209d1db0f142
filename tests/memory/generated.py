#!/usr/bin/env python3
"""Programs made by chance, of loops of all kinds over small arrays that lie beside each other: results as without hooks, and the same
counts of each array whether hooks are called or code that counts stands in their place. Arguments: number of programs (else some,
always the same ones), seed of the first."""

import os
import random
import re
import sys
import time
import xml.etree.ElementTree as ElementTree

import memory
from memory import harness

LENGTH, MOST = 640, 200  # elements of an array; highest number of turns of most loops
SECONDS = 25             # without arguments: then no further program is begun
# Keeps hooks from being inlined, and changes nothing else here: tools/kinst-ompp-inline.c.
CALLED = {"gcc": ["-masm=intel"], "g++": ["-masm=intel"], "clang": ["-Xclang", "-fno-caret-diagnostics"],
          "clang++": ["-Xclang", "-fno-caret-diagnostics"]}
TYPES = ("u8", "u16", "u32", "u64", "float", "double")
WHOLE = TYPES[:4]

HEAD = """#include <ompp.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__clang__)
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noipa))
#endif
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;
typedef u32 near_t __attribute__((vector_size(16), aligned(1), may_alias));
typedef u32 wide_t __attribute__((vector_size(32), aligned(1), may_alias));
static u32 big[20000];
static jmp_buf back;
static volatile int turns[] = {0, 1, 2, 3, 5, 16, 63, 199, 200};
static u64 sum;
ALONE static void leap(void) { longjmp(back, 1); }
ALONE __attribute__((noreturn)) static void finish(void) { printf("end %lx\\n", sum); exit(0); }
__attribute__((const, noinline)) static u64 mix(u64 h) { return (h ^ h >> 7) * 0x9e3779b97f4a7c15ul >> 5; }
ALONE static void again(void *from, size_t size, const char *name)
{
    ompp_release_drange(from);
    ompp_papi_set_drange(from, size, name);
}
#ifdef __cplusplus
struct thrown { int value; };
ALONE static void toss(int value) { throw thrown{value}; }
#endif
"""
EACH = """ALONE static u64 told_{t}({t} *p) {{ *p = ({t})(((u64)*p + 1) & 63); return (u64)*p; }}
__attribute__((pure, noinline)) static u64 three_{t}(const {t} *p) {{ return (u64)p[0] + (u64)p[1] * 3 + (u64)p[2]; }}
#ifdef __cplusplus
struct guard_{t} {{ {t} *at; guard_{t}({t} *p) : at(p) {{ *p = 1; }} ~guard_{t}() {{ *at = 2; }} }};
#endif
"""


class Function:
    """The text of one function, and its arrays: name -> type."""

    def __init__(self, chance, name, cxx):
        self.chance, self.name, self.cxx = chance, name, cxx
        self.arrays = {"%s%s" % (name, letter): chance.choice(TYPES) for letter in "abc"}
        self.lines, self.depth, self.count, self.room, self.shared = [], 1, 0, 4, False
        self.jumps, self.top = chance.random() < 0.1, []
        if self.jumps:
            self.put("if (setjmp(back)) return 7;")
        for _ in range(chance.choice((1, 1, 2))):
            self.loop([])
        self.put("goto out;")
        self.lines.append("out:")
        self.put("return h;")

    def text(self):
        arguments = ", ".join("%s *%s" % (t, a) for a, t in self.arrays.items())
        return "\n".join(["ALONE static u64 %s(%s, int n, int s)" % (self.name, arguments), "{", "    u64 h = n;", *self.top, *self.lines, "}", ""])

    def put(self, line):
        self.lines.append("    " * self.depth + line)

    def number(self, low, high):
        return self.chance.randint(low, high)

    def new(self, letter="i"):
        self.count += 1
        return "%s%d" % (letter, self.count)

    def begin(self, line):
        self.put(line + " {")
        self.depth += 1

    def end(self, line="}"):
        self.depth -= 1
        self.put(line)

    # ---- Expressions -----------------------------------------------------------------------------------------------------------

    def index(self, inside):
        """An index of any array below LENGTH - 40, from variables and the highest values that they have."""
        if not inside or self.chance.random() < 0.08:
            return str(self.number(0, 600))
        (name, most), ways = self.chance.choice(inside[-2:]), ["%s %% 600u", "(%s * 7 + h) %% 600u", "(h + %s) & 511"]
        if self.chance.random() < 0.15:
            return "(unsigned)%s" % (self.chance.choice(ways) % name)
        if self.chance.random() < 0.1:
            other = self.chance.choice(list(self.arrays))
            return "(u64)%s[%s] %% 600u" % (other, self.linear(name, most)) if most <= 590 else "%s & 63" % name
        return self.linear(name, most)

    def linear(self, name, most):
        ways = ["(%s & 255)" % name]
        for factor in (1, 1, 1, 2, 3):
            if factor * most <= 590:
                offset = self.number(0, min(9, 599 - factor * most))
                ways += ["%d * %s + %d" % (factor, name, offset) if factor > 1 else "%s + %d" % (name, offset)]
                ways += ["%d - %s" % (most + self.number(0, 9), name)] if factor == 1 else []
        return self.chance.choice(ways[1:] or ways)

    def place(self, inside):
        array = self.chance.choice(list(self.arrays))
        return array, self.arrays[array], "%s[%s]" % (array, self.index(inside))

    def value(self, inside):
        if self.chance.random() < 0.6:
            return "(u64)" + self.place(inside)[2]
        return self.chance.choice(["h", "(u64)n", "(u64)%s" % inside[-1][0] if inside else "3ul", str(self.number(0, 60))])

    # ---- Statements ------------------------------------------------------------------------------------------------------------

    def statement(self, inside, leaves=(), quiet=False):
        """leaves: what the loop around may do to go on or end; quiet: nothing that is no loop of plain accesses."""
        array, kind, place = self.place(inside)
        plain = [self.load, self.load, self.store, self.store, self.change, self.several, self.condition]
        others = [self.leave, self.leave, self.call, self.special, self.block, self.switch, self.anew]
        if self.cxx:
            others += [self.exception]
        if self.room > 0 and self.depth < 5:
            plain.append(self.nested)
        if quiet or self.chance.random() < 0.72:
            self.chance.choice(plain)(inside, leaves, quiet, array, kind, place)
        else:
            self.chance.choice(others)(inside, leaves, quiet, array, kind, place)

    def load(self, inside, leaves, quiet, array, kind, place):
        self.put("h += (u64)%s;" % place)

    def store(self, inside, leaves, quiet, array, kind, place):
        self.put("%s = (%s)((%s + %s) & 63);" % (place, kind, self.value(inside), self.value(inside)))

    def change(self, inside, leaves, quiet, array, kind, place):
        self.put("%s = (%s)(((u64)%s * 5 + h) & 63);" % (place, kind, place))

    def several(self, inside, leaves, quiet, array, kind, place):
        """As an unrolled loop has it."""
        at, number = self.index(inside), self.number(2, 6)
        for offset in self.chance.sample(range(number), number) if self.chance.random() < 0.3 else range(number):
            self.put("h += (u64)%s[%s + %d];" % (array, at, offset))

    def condition(self, inside, leaves, quiet, array, kind, place):
        self.begin("if ((%s & %d) %s %d)" % (self.value(inside), self.number(1, 7), self.chance.choice(("==", ">", "!=")), self.number(0, 3)))
        self.statement(inside, leaves, quiet)
        if self.chance.random() < 0.4:
            self.end("} else {")
            self.depth += 1
            self.statement(inside, leaves, quiet)
        self.end()

    def nested(self, inside, leaves, quiet, array, kind, place):
        self.loop(inside)

    def leave(self, inside, leaves, quiet, array, kind, place):
        ways = ["break;", "return h;", "goto out;"] + list(leaves)
        if not inside:
            return
        if self.jumps:
            ways.append("leap();")
        self.put("if ((%s + h) %% %d == %d) %s" % (self.value(inside), self.number(90, 2000), self.number(0, 20), self.chance.choice(ways)))

    def call(self, inside, leaves, quiet, array, kind, place):
        self.put(self.chance.choice(("h += told_%s(&%s);" % (kind, place), "h += three_%s(&%s);" % (kind, place), "h = mix(h);",
                                     "h += %s;" % ("mix((u64)%s)" % place))))

    def special(self, inside, leaves, quiet, array, kind, place):
        ways = ["h += (u64)*(volatile %s *)&%s;" % (kind, place), '__asm__ volatile("" ::: "memory");', '__asm__("" : "+r"(h));',
                "*(volatile %s *)&%s = 1;" % (kind, place)]
        if kind in WHOLE:
            ways += ["h += __atomic_fetch_add(&%s, 1, __ATOMIC_RELAXED);" % place, "h += __atomic_load_n(&%s, __ATOMIC_ACQUIRE);" % place,
                     "__atomic_store_n(&%s, 3, __ATOMIC_RELEASE);" % place]
        self.put(self.chance.choice(ways))

    def block(self, inside, leaves, quiet, array, kind, place):
        other = self.place(inside)[2]
        size = self.chance.choice((1, 3, 8, 16, 24, 32))
        ways = ["memmove(&%s, &%s, sizeof(%s));" % (place, other if kind in WHOLE else place, kind) if kind in WHOLE else ";",
                "memset(&%s, 0, %d);" % (place, size) if kind in WHOLE else "memset(&%s, 0, sizeof(%s));" % (place, kind)]
        if kind in WHOLE:
            ways += ["*(%s *)&%s += 1;" % (self.chance.choice(("near_t", "wide_t")), place)]
        self.put(self.chance.choice(ways))

    def switch(self, inside, leaves, quiet, array, kind, place):
        self.begin("switch (%s & 7)" % self.value(inside))
        for case in self.chance.sample(range(8), self.number(2, 5)):
            self.put("case %d:" % case)
            self.statement(inside, leaves, True)
            self.put(self.chance.choice(["break;"] * 3 + ["/* fall through */"] + (["goto out;", "return h;"] if inside else [])))
        self.put("default: h++;")
        self.end()

    def anew(self, inside, leaves, quiet, array, kind, place):
        """Rarely in a loop: it takes long."""
        self.put('if (h %% 31 == 5) again(%s, %d * sizeof(%s), "%s");' % (array, LENGTH, kind, array))

    def exception(self, inside, leaves, quiet, array, kind, place):
        self.begin("try")
        if self.chance.random() < 0.5:
            self.put("guard_%s g(&%s);" % (kind, place))
        if self.chance.random() < 0.5:
            self.loop(inside)
        self.put("if ((h & 15) == %d) %s;" % (self.number(0, 15), self.chance.choice(("toss(3)", "throw thrown{4}", "throw 5"))))
        self.statement(inside, leaves, True)
        self.end("} catch (const thrown &t) {")
        self.depth += 1
        self.statement(inside, (), True)
        self.put("h += t.value;")
        self.end("} catch (int) { h++; }")

    # ---- Loops -----------------------------------------------------------------------------------------------------------------

    def loop(self, inside):
        self.room -= 1
        ways = [self.upwards] * 4 + [self.downwards, self.by_step, self.last_first, self.do_while, self.pointer, self.pointer_back, self.small,
                                     self.wraps, self.searches, self.for_ever, self.labels, self.into_middle, self.known, self.many, self.vector,
                                     self.table]
        if self.depth == 1 and not self.jumps:
            ways += [self.parallel] * 2
        self.chance.choice(ways)(inside)

    def body(self, inside, name, most, leaves=()):
        quiet = self.chance.random() < 0.5
        for _ in range(self.chance.choice((1, 1, 2, 3))):
            self.statement(inside + [(name, most)], leaves, quiet)

    def alone(self, inside, leaves):
        """Between labels: no jump goes past what begins there."""
        self.begin("")
        self.statement(inside, leaves, True)
        self.end()

    def turns(self):
        """Of an inner loop, fewer: loops of loops of loops must end soon."""
        return "n" if self.depth < 3 else "(n & 31)"

    def upwards(self, inside):
        i, step = self.new(), self.chance.choice((1, 1, 1, 2, 3, 5))
        bound = inside[-1][0] if inside and inside[-1][1] <= MOST and self.chance.random() < 0.3 else self.turns()
        kind = self.chance.choice(("int", "int", "long", "unsigned", "short"))
        self.begin("for (%s %s = 0; %s < (%s)%s; %s += %d)" % (kind, i, i, kind, bound, i, step))
        self.body(inside, i, MOST, ("continue;",))
        self.end()

    def downwards(self, inside):
        i = self.new()
        self.begin("for (int %s = %s - 1; %s >= 0; %s -= %d)" % (i, self.turns(), i, i, self.number(1, 4)))
        self.body(inside, i, MOST, ("continue;",))
        self.end()

    def by_step(self, inside):
        i = self.new()
        self.begin("for (long %s = 0; %s < %s; %s += s)" % (i, i, self.turns(), i))
        self.body(inside, i, MOST, ("continue;",))
        self.end()

    def last_first(self, inside):
        i = self.new()
        self.begin("for (size_t %s = %s; %s-- > 0;)" % (i, self.turns(), i))
        self.body(inside, i, MOST, ("continue;",))
        self.end()

    def do_while(self, inside):
        i = self.new()
        self.put("int %s = 0;" % i)
        self.begin("do")
        self.body(inside, i, MOST)
        self.end("} while ((%s += %d) < %s);" % (i, self.number(1, 3), self.turns()))

    def pointer(self, inside):
        array, p = self.chance.choice(list(self.arrays)), self.new("p")
        kind, first, step = self.arrays[array], self.number(0, 20), self.chance.choice((1, 1, 2, 7))
        self.begin("for (%s *%s = %s + %d, *e%s = %s + %s; %s < e%s; %s += %d)" % (kind, p, array, first, p, p, self.turns(), p, p, p, step))
        self.put("h += (u64)%s[%d];" % (p, self.number(0, 3)))
        if self.chance.random() < 0.5:
            self.put("*%s = (%s)(h & 63);" % (p, kind))
        self.body(inside, "(%s - %s)" % (p, array), MOST + 20, ("continue;",))
        self.end()

    def pointer_back(self, inside):
        array, p = self.chance.choice(list(self.arrays)), self.new("p")
        self.begin("for (%s *%s = %s + %s; %s-- > %s;)" % (self.arrays[array], p, array, self.turns(), p, array))
        self.put("h += (u64)*%s;" % p)
        self.body(inside, "(%s - %s)" % (p, array), MOST, ("continue;",))
        self.end()

    def small(self, inside):
        """A counter that wraps."""
        i, left, step = self.new(), self.new("left"), self.chance.choice((1, 1, 3, 37, 255))
        self.begin("for (unsigned char %s = %d, %s = %s; %s-- > 0; %s += %d)" % (i, self.number(0, 255), left, self.turns(), left, i, step))
        self.body(inside, i, 255, ("continue;",))
        self.end()

    def wraps(self, inside):
        i, left = self.new(), self.new("left")
        self.begin("for (unsigned %s = 4294967295u - %d, %s = %s; %s-- > 0; %s += %d)" %
                   (i, self.number(0, 150), left, self.turns(), left, i, self.number(1, 3)))
        self.body(inside, "(u8)%s" % i if self.chance.random() < 0.5 else "(%s & 255)" % i, 255, ("continue;",))
        self.end()

    def searches(self, inside):
        i, other = self.new(), self.new("z")
        self.put("int %s = 0, %s = 0;" % (i, other))
        array = self.chance.choice(list(self.arrays))
        self.begin("while (%s < %s && (u64)%s[%s] != %d && (%s += (int)(u64)%s[%s + 1] & 1) < 150)" %
                   (i, self.turns(), array, i, self.number(0, 63), other, array, i))
        self.body(inside, i, MOST)
        self.put("%s++;" % i)
        self.end()

    def for_ever(self, inside):
        i = self.new()
        self.put("int %s = 0;" % i)
        self.begin("for (;;)")
        self.statement(inside + [(i, MOST)], (), True)
        self.put("if (%s >= %s) break;" % (i, self.turns()))
        self.body(inside, i, MOST)
        self.put("%s++;" % i)
        self.end()

    def labels(self, inside):
        i, label = self.new(), self.new("l")
        self.begin("")
        self.put("int %s = 0;" % i)
        self.put("%s:" % label)
        self.lines[-1] += " ;"
        self.alone(inside + [(i, MOST)], ("goto e%s;" % label,))
        self.put("if (++%s < %s) goto %s;" % (i, self.turns(), label))
        self.put("e%s: ;" % label)
        self.end()

    def into_middle(self, inside):
        """What turns is no loop to the compiler."""
        i, label = self.new(), self.new("l")
        self.begin("")
        self.put("int %s = 0;" % i)
        self.put("if (h & 1) goto m%s;" % label)
        self.put("%s: ;" % label)
        self.alone(inside + [(i, MOST)], ())
        self.put("m%s: ;" % label)
        self.alone(inside + [(i, MOST)], ())
        self.put("if (++%s < %s) goto %s;" % (i, self.turns(), label))
        self.end()

    def table(self, inside):
        """Jumps that are computed, to any of a function's labels whose addresses are taken."""
        if self.top:
            return self.upwards(inside)
        i, label = self.new(), self.new("l")
        self.top.append("    int %s;" % i)
        self.begin("")
        self.put("static void *const t%s[] = {&&a%s, &&b%s, &&c%s};" % ((label,) * 4))
        self.put("%s = -1;" % i)
        for letter in "ab":
            self.put("%s%s: ;" % (letter, label))
            self.put("if (++%s >= %s) goto c%s;" % (i, self.turns(), label))
            self.alone(inside + [(i, MOST)], ())
            self.put("goto *t%s[h & 1];" % label)
        self.put("c%s: ;" % label)
        self.end()

    def known(self, inside):
        i, number = self.new(), self.chance.choice((1, 2, 3, 4, 8, 15, 33, 128, 200))
        self.begin("for (int %s = 0; %s < %d; %s++)" % (i, i, number if self.depth < 3 else number % 16, i))
        self.body(inside, i, number, ("continue;",))
        self.end()

    def many(self, inside):
        """More accesses than are held."""
        if inside:
            return self.known(inside)
        i, first = self.new(), self.number(0, 99)
        self.begin("for (int %s = 0; %s < %d; %s++)" % (i, i, self.number(4000, 9000), i))
        self.put("h += big[%s + %d];" % (i, first))
        if self.chance.random() < 0.6:
            self.put("%sbig[%d * %s + %d] = %s;" % (self.chance.choice(("", "if (h & 4) ")), self.chance.choice((1, 2)), i, first, i))
        if self.chance.random() < 0.4:
            self.put("%s += 1;" % ("big[%d]" % self.number(0, 19000)))
        if self.chance.random() < 0.5:
            self.put("if (big[%s] + h %% 100000 == %d) %s" % (i, self.number(0, 9000), self.chance.choice(("break;", "return h;", "goto out;"))))
        self.end()

    def vector(self, inside):
        """A loop that the source wants vectorised: iterations that know nothing of each other."""
        i, (to, kind), (other, _) = self.new(), self.chance.choice(list(self.arrays.items())), self.chance.choice(list(self.arrays.items()))
        self.put("#pragma omp simd" + self.chance.choice(("", " simdlen(4)", " safelen(8)", " reduction(+:h)", " simdlen(8) reduction(+:h)")))
        reduces = "reduction" in self.lines[-1]
        self.begin("for (int %s = 0; %s < %s; %s++)" % (i, i, self.turns(), i))
        if reduces:
            self.put("h += (u64)%s[%s];" % (other, i))
        else:
            self.put("%s[%s] = (%s)(((u64)%s[%s] + %d) & 63);" % (to, i, kind, other if other == to else to, i, self.number(1, 9)))
        self.end()

    def parallel(self, inside):
        """Of any number of threads: each element is one iteration's."""
        i, (to, kind) = self.new(), self.chance.choice(list(self.arrays.items()))
        others = [a for a in self.arrays if a != to]
        schedule = self.chance.choice(("", " schedule(static, 3)", " schedule(dynamic)", " schedule(guided)"))
        self.put("#pragma omp parallel for%s%s num_threads(3) reduction(+:h)" % (self.chance.choice(("", "", " simd")), schedule))
        self.begin("for (int %s = 0; %s < n; %s++)" % (i, i, i))
        for _ in range(self.number(1, 3)):
            at = self.chance.choice((i, "2 * %s + 1" % i, "%d - %s" % (MOST + 3, i)))
            self.put(self.chance.choice(("h += (u64)%s[%s];" % (self.chance.choice(others), at),
                                         "%s[%s] = (%s)(((u64)%s[%s] + (u64)%s[%s]) & 63);" % (to, i, kind, to, i, self.chance.choice(others), at),
                                         "for (int k = 0; k < 9; k++) h += (u64)%s[%s + k];" % (self.chance.choice(others), at),
                                         "if ((u64)%s[%s] & 1) %s[%s] = 5;" % (to, i, to, i))))
        self.end()


def program(seed, cxx, number=12):
    """The text of a program and its arrays."""
    chance = random.Random(seed)
    functions = [Function(chance, "f%d" % k, cxx) for k in range(number)]
    text, arrays = [HEAD, *[EACH.format(t=t) for t in TYPES]], {}
    for f in functions:
        arrays.update(f.arrays)
    text.append("static struct {")
    for name, kind in arrays.items():
        text.append("    %s %s[%d]; char gap_%s[%d];" % (kind, name, LENGTH, name, chance.choice((1, 1, 8, 16, 37, 600))))
    text += ["} data;", *[f.text() for f in functions], "int main(void)", "{"]
    for name, kind in arrays.items():
        text.append("    for (int i = 0; i < %d; i++) data.%s[i] = (%s)(i * %d & 63);" % (LENGTH, name, kind, chance.choice((1, 7, 37))))
        text.append('    ompp_papi_set_drange(data.%s, sizeof data.%s, "%s");' % (name, name, name))
    text.append('    ompp_papi_set_drange(big, sizeof big, "big");')
    for f in functions:
        for _ in range(2):
            text.append("    sum = sum * 31 + %s(%s, turns[%d], turns[%d]);" %
                        (f.name, ", ".join("data." + a for a in f.arrays), chance.randint(0, 8), chance.randint(1, 4)))
            text.append('    printf("%s %%lx\\n", sum);' % f.name)
    for name in arrays:
        text.append("    for (int i = 0; i < %d; i++) sum = sum * 7 + (u64)data.%s[i];" % (LENGTH, name))
    text += ['    printf("%lx\\n", sum);', "    for (int i = 0;; i++) {", "        sum += big[i];", "        if (i == 12345) finish();", "    }", "}"]
    return "\n".join(text) + "\n", arrays


# ---- What is compared -------------------------------------------------------------------------------------------------------------


def counted(name, source, compiler, level, flags, folder):
    """What a program prints, and its counts by array, without who was first to touch a page: that is a matter of time."""
    path = os.path.join(folder, name)
    memory.build(compiler, source, path, level, "-w", *flags)
    run = harness.run(path, os.path.join(folder, "run-" + name), 3)
    if run.status != 0:
        return (run.status, run.out, run.err[-300:]), {}
    profile = run.profile()
    profile.root = ElementTree.parse(profile.path).getroot()
    sums, numbers = memory.sums(profile), {o.get("id"): n for n, o in memory.objects(profile).items()}
    return (run.status, run.out, ""), {numbers[k]: v[:memory.FOREIGN_LOADS] + v[memory.BLOCK_LOADS:] for k, v in sums.items() if k in numbers}


def plain(verdict, title, source, compiler, level, flags, folder):
    path = os.path.join(folder, "plain")
    done = harness.execute([compiler, "-fopenmp", level, "-w", *flags, "-I", os.path.join(harness.SOURCE, "include"), source, "-o", path], folder)
    if done.status != 0:
        raise harness.Failure("cannot build %s: %s" % (source, done.err[-1500:]))
    run = verdict.unmeasured(title, lambda: harness.execute([path], folder))
    return run and (run.status, run.out, "")


def compare(verdict, scratch, seed, name, compiler, level, flags):
    cxx = name.endswith("++")
    title = "%s %s %s seed %d" % (name, level, " ".join(flags), seed)
    folder = os.path.dirname(scratch.file(re.sub(r"[^\w+]+", "_", title), "x"))
    os.makedirs(folder, exist_ok=True)
    source = os.path.join(folder, "generated." + ("cc" if cxx else "c"))
    text, arrays = program(seed, cxx)
    with open(source, "w") as file:
        file.write(text)
    wanted = plain(verdict, title, source, compiler, level, flags, folder)
    if not wanted:
        return
    out, found = counted("found", source, compiler, level, flags, folder)
    called_out, called = counted("called", source, compiler, level, [*flags, *CALLED[name]], folder)
    if wanted not in (out, called_out) and out == called_out == plain(verdict, title, source, compiler, "-O0", flags, folder):
        print("note: %s: without hooks the compiler's own results are others than those of -O0" % title)
    else:
        verdict.equal((out, called_out), (wanted, wanted), title + ": results")
    for array in [*arrays, "big"]:
        if found.get(array) != called.get(array):
            verdict.equal(found.get(array), called.get(array), "%s: %s" % (title, array))
    verdict.check(len(called) > len(arrays) // 2, title + ": arrays are counted: %d" % len(called))


def main():
    scratch, verdict, begin, done = harness.Scratch("generated"), harness.Verdict("generated"), time.monotonic(), 0
    few = len(sys.argv) < 2
    number, first = (6, 20) if few else (int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    found = dict(memory.compilers("gcc", "clang", "g++", "clang++"))
    names = [n for n in ("clang", "gcc", "clang++", "g++") if n in found]
    levels = ("-O2", "-O1", "-O3", "-Os", "-O0")
    for k in range(number):
        chance = random.Random(first + k)
        for name in names if not few else [names[k % len(names)]]:
            level = levels[k % 4] if few else chance.choice(levels)
            flags = [] if few else chance.choice(([], [], ["-mavx2"], ["-fno-strict-aliasing"], ["-fPIC"], ["-funroll-loops"], ["-mno-red-zone"]))
            if flags == ["-mavx2"] and not memory.processor_has("avx2"):
                flags = []
            if few and done and time.monotonic() - begin > SECONDS:
                print("note: %d programs in %.0f s, which is enough" % (done, time.monotonic() - begin))
                return verdict.finish(scratch)
            compare(verdict, scratch, first + k, name, found[name], level, flags)
            done += 1
    print("note: %d programs" % done)
    verdict.finish(scratch)


main()
