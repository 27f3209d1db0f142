#!/usr/bin/env python3
"""No circle of files inside a room, and none of rooms: who needs a symbol of whom is read from the objects.

Files that need one another, directly or by others of their room, cannot be read, tested or moved one by one. Circles that stand
for a while are listed in circles-allowed.txt, a line each: the room, the files, a colon, the reason. A circle passes when all of
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
    """(room, file, object) of every source below src and tools; dependency files of automake say what an object is made of.

    A room is a folder with all that is below it: cutting it into further folders removes no circle.
    """
    for deps in sorted(build.glob("src/**/.deps/*.Plo")) + sorted(build.glob("tools/**/.deps/*.Po")):
        first = deps.read_text(errors="replace").replace("\\\n", " ").split("\n", 1)[0]
        name, _, needed = first.partition(":")
        if not needed.split():
            continue
        made = build / name
        if made.suffix == ".lo":
            made = made.parent / ".libs" / (made.stem + ".o")
        file = (build / needed.split()[0]).resolve()
        if not file.exists() or not made.exists() or made.stat().st_mtime < file.stat().st_mtime:
            continue  # of an earlier build
        file = file.relative_to((build if build.resolve() in file.parents else source).resolve())
        yield "/".join(file.parts[:2]), "/".join(file.parts[2:]), made


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


def judge(room, arrows, why, exceptions, used):
    """Says each circle of a room that no exception covers. \return their number."""
    bad = 0
    for group in circles(arrows):
        rows = [row for row in exceptions if row[0] == room and group <= row[1]]
        used += [row for row in rows if group == row[1]]
        if rows:
            continue
        bad += 1
        print(f"{room}: a circle of {len(group)}")
        for (one, other), names in sorted(why.items()):
            if one in group and other in group:
                print(f"  {one} -> {other}: {' '.join(sorted(names))}")
    return bad


def main():
    defined, needed = {}, collections.defaultdict(lambda: collections.defaultdict(set))
    for room, file, made in objects():
        own, others = symbols(made)
        for name in own:
            defined.setdefault(name, {})[room] = file
        needed[room][file] |= others
    if not defined:
        print("SKIP: no objects were built")
        return 77
    exceptions, used, bad = allowed(), [], 0
    rooms, between = {room: set() for room in needed if room.startswith("src/")}, collections.defaultdict(set)
    for room in sorted(needed):
        why = collections.defaultdict(set)
        arrows = {file: set() for file in needed[room]}
        for file, names in needed[room].items():
            for name in names:
                places = defined.get(name, {})
                if places.get(room, file) != file and places[room] in arrows:
                    arrows[file].add(places[room])
                    why[file, places[room]].add(name)
                if room in rooms and room not in places and name.startswith("ompp_"):
                    for other in places:
                        if other in rooms and other != "src/lib":
                            rooms[room].add(other)
                            between[room, other].add(f"{name} ({file})")
        bad += judge(room, arrows, why, exceptions, used)
    bad += judge("src", rooms, between, exceptions, used)
    for row in exceptions:
        if row not in used:
            bad += 1
            print(f"{allowed_file.name}: no such circle any more, take its files or the line away: {row[2]}")
    return bad > 0


sys.exit(main())
