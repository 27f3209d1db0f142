#!/usr/bin/env python3
"""Changes one number at a time in good reports: the strict checker must refuse every one. usage: mutate.py STEP REPORT...

Every STEP-th number of the tables, the callgraph and the overheads is changed by more than rounding can explain.
"""
import importlib.util
import os
import re
import sys

from report_reader import TITLES

here = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location('ompp_check', os.path.join(here, 'ompp-check.py'))
checker = importlib.util.module_from_spec(spec)
spec.loader.exec_module(checker)

# Numbers that nothing else in the report determines, and names.
FREE = re.compile(r'^(\[| \* |Start|End|User|System|Application|Max |Nested|Other|ompP|MPI|R\d{5} \S+ \(|R\d{5} LOCK|----|.*regions?:$)')


def numbers(lines):
    """(line, start, end) of every number that is checked."""
    title = ''
    for i, line in enumerate(lines):
        m = re.fullmatch(r'----     (.*?)     -*', line)
        title = m[1] if m else title
        if title not in TITLES[2:] or FREE.match(line):
            continue
        end = len(line)
        m = re.search(r'[RS]\d{5} \S+ \(|threads?\]$', line)  # callgraph: only what stands before the region
        if title == TITLES[2]:
            end = m.start() if m else 0
        skip = re.match(r' +\d+ +\d+ |  oth   - | {1,3}\d+ |R\d{5} +[A-Z]* .{35,}    |R\d{5} ', line)
        if title in TITLES[3:5]:
            skip = re.match(r' +\d+ +\d+ (?= )|  oth   - | +\d+ (?= )' if 'RANK' in find_head(lines, i) else r' +\d+ ', line)
        for n in re.finditer(r'(?<![\d.R])\d+(\.\d+)?(?![\d.])', line[:end]):
            if not skip or n.start() >= skip.end():
                yield i, n.start(), n.end()


def find_head(lines, i):
    while i > 0 and ' TID' not in lines[i]:
        i -= 1
    return lines[i]


def changed(text):
    if '.' not in text:
        return str(int(text) + 1)
    return '%.*f' % (len(text.split('.')[1]), float(text) * 1.2 + 7)


def main(step, names):
    missed = tried = 0
    for name in names:
        with open(name, encoding='utf-8') as file:
            lines = file.read().split('\n')
        if checker.check(name, '\n'.join(lines))[0]:
            print('%s: not accepted unchanged' % name)
            return 1
        for i, start, end in list(numbers(lines))[::step]:
            line = lines[i]
            new = changed(line[start:end])
            pad = max(0, len(line[:start]) - (len(new) - (end - start)))
            before = line[:pad] if line[pad:start].strip() == '' else line[:start]
            mutant = lines[:i] + [before + new + line[end:]] + lines[i + 1:]
            tried += 1
            if not checker.check(name, '\n'.join(mutant))[0]:
                missed += 1
                print('%s:%d: %s -> %s was not noticed\n    %s' % (name, i + 1, line[start:end], new, line))
    print('%d mutants of %d reports, %d not noticed' % (tried, len(names), missed))
    return 1 if missed or not tried else 0


if __name__ == '__main__':
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
