#!/usr/bin/env python3
"""
Places of constructs whose directive, block or end comes from another file: fragments that are included in the middle of a
function, macros, files included twice, #line. Begin and end of a region are in one file, in C and in C++.
"""

import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "run"))
import harness  # noqa: E402

# Each: files, and the regions as file and lines.
LOOP = "    for (int i = 0; i < 10; i++)\n    {\n      x[i] += i;\n    }\n"
CASES = {
    "directive": ({"pragma.h": "#ifdef _OPENMP\n#pragma omp parallel for\n#endif\n",
                   "main": '#include "pragma.h"\n' + LOOP}, [("main", 1, 5)]),
    "directive of a fragment of a fragment": ({"in.h": "\n\n#pragma omp parallel for\n", "pragma.h": '\n#include "in.h"\n',
                                               "main": "\n#include \\\n\"pragma.h\"\n" + LOOP}, [("main", 3, 7)]),
    "directive in one, loop in another": ({"pragma.h": "#pragma omp parallel for\n", "loop.h": "\n" + LOOP,
                                           "main": '#include "pragma.h"\n#include "loop.h"\n'}, [("main", 1, 2)]),
    "block": ({"block.h": "{\n  x[1] += 1;\n}\n", "main": '\n#pragma omp parallel\n#include "block.h"\n'}, [("main", 2, 3)]),
    "block ends": ({"end.h": "\n}\n", "main": '#pragma omp parallel\n{\n  x[1] += 1;\n#include "end.h"\n'}, [("main", 1, 4)]),
    "block begins": ({"begin.h": "\n\n#pragma omp parallel\n{\n", "main": '\n#include "begin.h"\n  x[1] += 1;\n}\n'}, [("main", 2, 4)]),
    "all": ({"all.h": "\n#pragma omp parallel\n{\n  x[1] += 1;\n}\n", "main": '#include "all.h"\n'}, [("all.h", 2, 5)]),
    "all, in two fragments of a fragment": ({"one.h": "\n#pragma omp parallel\n", "two.h": "{\n}\n", "all.h": '\n#include "one.h"\n\n#include "two.h"\n',
                                             "main": '\n\n\n#include "all.h"\n'}, [("all.h", 2, 4)]),
    "twice": ({"pragma.h": "#pragma omp parallel for\n", "main": ('#include "pragma.h"\n' + LOOP) * 2}, [("main", 1, 5), ("main", 6, 10)]),
    "all twice": ({"part.h": "\n#pragma omp parallel for\nfor (int i = 0; i < N; i++)\n  x[i] += N;\n#undef N\n",
                   "main": '#define N 2\n#include "part.h"\n#define N 3\n#include "part.h"\n'}, [("part.h", 2, 4)]),
    "list included twice": ({"list.h": "ITEM(1)\nITEM(2)\n", "main":
                             '#define ITEM(n) _Pragma("omp parallel") { x[n] += n; }\n#include "list.h"\n#undef ITEM\n'
                             '#define ITEM(n) x[n] -= 1;\n#pragma omp parallel\n{\n#include "list.h"\n}\n'},
                            [("list.h", 1, 1), ("list.h", 2, 2), ("main", 5, 8)]),
    "macro": ({"macro.h": '#define DO(n) \\\n  _Pragma("omp parallel for") \\\n  for (int i = 0; i < n; i++)\n',
               "main": '#include "macro.h"\n\nDO(\n  4)\n  x[i] += i;\n'}, [("main", 3, 5)]),
    "macro of the directive": ({"main": '#define PARALLEL _Pragma("omp parallel for schedule(static)")\nPARALLEL\n' + LOOP}, [("main", 2, 6)]),
    "macro of the block": ({"main": '#define BEGIN {\n#define END }\n#pragma omp parallel\nBEGIN\n  x[1] += 1;\nEND\n'}, [("main", 3, 6)]),
    "#line": ({"main": '#line 100 "loops.y"\n#pragma omp parallel for\n' + LOOP}, [("loops.y", 100, 104)]),
    "#line in between": ({"main": '#line 100 "loops.y"\n#pragma omp parallel\n{\n  x[1] += 1;\n#line 7 "made.c"\n  x[2] += 2;\n}\n'},
                         [("loops.y", 100, 102)]),
    "#line and back": ({"main": '#line 100 "loops.y"\n#pragma omp parallel\n{\n#line 7 "made.c"\n  x[1] += 1;\n#line 110 "loops.y"\n}\n'},
                       [("loops.y", 100, 110)]),
    "#line in a fragment": ({"pragma.h": '#line 55 "rules.y"\n#pragma omp parallel\n', "main": '\n#include "pragma.h"\n{\n}\n'}, [("main", 2, 4)]),
    "constructs inside": ({"single.h": "#pragma omp single\n", "atomic.h": "#pragma omp atomic\nx[1] += 1;\n", "main":
                           '#pragma omp parallel\n{\n#include "single.h"\n  {\n    x[2] += 2;\n  }\n#include "atomic.h"\n}\n'},
                          [("main", 1, 8), ("main", 3, 6), ("atomic.h", 1, 2)]),
    "of the wrapper": ({"group.h": "#pragma omp taskgroup\n", "main": '\n#include "group.h"\n{\n  x[1] += 1;\n}\n'}, [("main", 2, 5)]),
    "user's": ({"begin.h": "#pragma pomp inst begin(own)\n", "end.h": "\n#pragma pomp inst end(own)\n", "main":
                '#include "begin.h"\n#pragma omp parallel\n  x[1] += 1;\n#include "end.h"\n'}, [("main", 1, 4), ("main", 2, 3)]),
    "user's, from here to there": ({"end.h": "\n#pragma pomp inst end(own)\n", "main":
                                    '\n#pragma pomp inst begin(own)\n#pragma omp parallel\n  x[1] += 1;\n#include "end.h"\n'},
                                   [("main", 2, 5), ("main", 3, 4)]),
}
TEMPLATE = ({"kernel.h": "template <class T>\nvoid kernel(T *y)\n{\n#include \"pragma.h\"\n  for (int i = 0; i < 4; i++)\n    y[i] += i;\n}\n",
             "pragma.h": "#pragma omp parallel for\n", "main": "kernel(x);\nint y[4] = {0};\nkernel(y);\n"}, [("kernel.h", 4, 6)])
HEAD = '#include <stdio.h>\nstatic double x[10];\nint main(void)\n{\n'
TAIL = 'printf("%g %g %g %g\\n", x[1], x[2], x[3], x[9]);\n}\n'


def check(verdict, scratch, title, compiler, suffix, files, regions, head=""):
    source = scratch.file(title.replace(" ", "-").replace(",", "").replace("'", ""), "main" + suffix)
    folder, offset = os.path.dirname(source), (head + HEAD).count("\n")
    for name, text in files.items():
        open(source if name == "main" else os.path.join(folder, name), "w").write(head + HEAD + text + TAIL if name == "main" else text)
    outputs = []
    for output, wrapper in (("plain", []), ("made", [harness.command("kinst-ompp")])):
        done = harness.execute(wrapper + [compiler, "-g", "-O1", "-fopenmp", source, "-o", output], folder)
        verdict.equal((done.status, done.err), (0, ""), "%s: %s build" % (title, output))
        outputs.append(harness.run(os.path.join(folder, output), os.path.join(folder, "run-" + output), 2))
    plain, outcome = outputs
    verdict.equal((outcome.status, outcome.out), (plain.status, plain.out), title + ": result")
    found = sorted({(os.path.basename(r.file or ""), r.begin, r.end) for r in outcome.profile().regions})
    wanted = sorted({("main" + suffix, first + offset, last + offset) if name == "main" else (name, first, last) for name, first, last in regions})
    verdict.equal(found, wanted, title + ": places")


def main():
    if not shutil.which(os.environ.get("OPARI2", "opari2")):
        harness.skip("no opari2 (Debian package: opari2)")
    scratch, verdict = harness.Scratch("fragments"), harness.Verdict("fragments")
    for compiler, suffix in (("gcc", ".c"), ("g++", ".cc")):
        for name, (files, regions) in CASES.items():
            check(verdict, scratch, "%s: %s" % (compiler, name), compiler, suffix, files, regions)
    check(verdict, scratch, "g++: template", "g++", ".cc", *TEMPLATE, head='#include "kernel.h"\n')
    verdict.finish(scratch)


main()
