#!/usr/bin/env python3
"""No circle of files inside a folder: who needs a symbol of whom is read from the symbol tables of the objects.

Files that need one another, directly or by others of their folder, cannot be read, tested or moved one by one. Circles that stand
for a while are listed in circles-allowed.txt, a line each: the folder, the files, a colon, the reason. A circle passes when all of
its files stand in one line; a line whose files are no circle any more must go.
"""
import collections
import os
import pathlib
import subprocess
import sys

source = pathlib.Path(os.environ.get("abs_top_srcdir") or pathlib.Path(__file__).resolve().parents[2])
build = pathlib.Path(os.environ.get("abs_top_builddir") or pathlib.Path.cwd())
allowed_file = source / "tests/lint/circles-allowed.txt"


def objects():
    """(folder, file, object) of every source below src and tools; dependency files of automake say what an object is made of."""
    for deps in sorted(build.glob("src/**/.deps/*.Plo")) + sorted(build.glob("tools/**/.deps/*.Po")):
        first = deps.read_text(errors="replace").replace("\\\n", " ").split("\n", 1)[0]
        name, _, rest = first.partition(":")
        if not rest.split():
            continue
        made = build / name
        if made.suffix == ".lo":
            made = made.parent / ".libs" / (made.stem + ".o")
        file = os.path.relpath((build / rest.split()[0]).resolve(), source.resolve())
        if made.exists() and not file.startswith(".."):
            yield os.path.dirname(file), os.path.basename(file), made


def symbols(made):
    """(defined, needed) global symbols of an object."""
    lines = subprocess.run(["nm", "-g", "-P", str(made)], capture_output=True, text=True, check=True).stdout.splitlines()
    words = [line.split() for line in lines]
    return {w[0] for w in words if w[1] not in "Uwv"}, {w[0] for w in words if w[1] in "Uwv"}


def circles(arrows):
    """Strongly connected sets of more than one file (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(file):
        index[file] = low[file] = len(index)
        stack.append(file)
        for other in sorted(arrows[file]):
            if other not in index:
                visit(other)
                low[file] = min(low[file], low[other])
            elif other in stack:
                low[file] = min(low[file], index[other])
        if low[file] == index[file]:
            group = stack[stack.index(file):]
            del stack[stack.index(file):]
            if len(group) > 1:
                found.append(set(group))

    sys.setrecursionlimit(10000)
    for file in sorted(arrows):
        if file not in index:
            visit(file)
    return found


def allowed():
    """[(folder, files, line)] of circles-allowed.txt."""
    rows = []
    for line in allowed_file.read_text().splitlines():
        names, colon, reason = line.partition(":")
        if line.startswith("#") or not names.strip():
            continue
        folder, *files = names.split()
        if not colon or not reason.strip():
            sys.exit(f"{allowed_file.name}: no reason: {line}")
        rows.append((folder, set(files), line))
    return rows


def main():
    defined, needed = collections.defaultdict(dict), collections.defaultdict(lambda: collections.defaultdict(set))
    for folder, file, made in objects():
        own, others = symbols(made)
        defined[folder].update(dict.fromkeys(own, file))
        needed[folder][file] |= others
    if not defined:
        print("SKIP: no objects were built")
        return 77
    exceptions, used, status = allowed(), [], 0
    for folder in sorted(needed):
        why = collections.defaultdict(set)
        arrows = {file: set() for file in needed[folder]}
        for file, names in needed[folder].items():
            for name in names:
                other = defined[folder].get(name, file)
                if other != file and other in arrows:
                    arrows[file].add(other)
                    why[file, other].add(name)
        for group in circles(arrows):
            rows = [row for row in exceptions if row[0] == folder and group <= row[1]]
            used += [row for row in rows if group == row[1]]
            if rows:
                continue
            status = 1
            print(f"{folder}: a circle of {len(group)} files")
            for (file, other), names in sorted(why.items()):
                if file in group and other in group:
                    print(f"  {file} -> {other}: {' '.join(sorted(names))}")
    for row in exceptions:
        if row not in used:
            status = 1
            print(f"{allowed_file.name}: no such circle any more, take its files or the line away: {row[2]}")
    return status


sys.exit(main())
