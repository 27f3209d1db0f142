"""One changed value in an XML changes exactly the cells that depend on it. usage: dependent.py OMPP-REPORT GOLDEN-FOLDER

A case: profile, text to replace, how (nth occurrence, new text), and every pair "old>new" of cells that must differ, in order.
The pairs are worked out by hand from the definitions in docs/report.md. Sections that sort by size (Efficiency, Ideal) are left out.
"""
import os
import re
import subprocess
import sys
import tempfile

CASES = [
    # CPU time of rank 0: 9.5 + 9.49 s -> 10.5 + 9.49 s.
    ('mpi', 'user-ns="9500000000"', 1, 'user-ns="10500000000"', '18.99>19.99'),
    # Bytes that rank 1 sends in MPI_Send: header, then rank 1 and SUM of the loop around it and of the call, flat and callgraph.
    ('mpi', '>0 8000 0 10 0<', 2, '>0 9000 0 10 0<', '16160>17160' + ' 8000>9000 16000>17000' * 4),
    # A region that is longer by one visit.
    ('serial', 'visits="2"', 1, 'visits="3"', '2>3 2>3 2>3 2>3'),
    # 100 ms more at the loop's exit barrier on rank 1, thread 1. Callgraph: root 10 - 12.1/4 - 0.6; loop 12.1/4 and 11.7/4.
    # Summary: OpenMP, imbalance, idle, largest loss. Tables: row, SUM, twice. Wallclock (2.5 + 3.6)/2; total 2 (2.5 + 3.6); Imbal 1.1 of 12.2 and of 40. Property: 1.1 of 40.
    ('mpi', 'name="exitbar" time-ns="500000000"', 2, 'name="exitbar" time-ns="600000000"',
     '1.04>1.14 2.6>2.9 2.5,>2.8, 12.81>12.71 32.0>31.8 1.00>1.10 2.5>2.8 6.40>6.38 (64.00%)>(63.75%) 3.00>3.03 (30.00%)>(30.25%) 2.90>2.93 (29.00%)>(29.25%)'
     + ' 3.50>3.60 0.50>0.60 12.00>12.10 1.00>1.10' * 2
     + ' 3.00>3.05 (30.00%)>(30.50%)' + ' 3.00>3.05 (30.00)>(30.50)' * 2
     + ' 12.00>12.20 1.44>1.54 (12.00)>(12.62) 1.00>1.10 (8.33)>(9.02) (3.33)>(3.28)'
     + ' 12.00>12.20 1.44>1.54 (3.60)>(3.85) 1.00>1.10 (2.50)>(2.75)' * 2 + ' 2.500000>2.750000'),
    # A task that took 100 ms more of a taskwait: only what is left of the taskwait itself gets less, and its
    # property, of 20 s. Summary: OpenMP, synchronising, idle, the loss.
    ('tasks', 'task-ns="900000000"', 1, 'task-ns="950000000"',
     '1.56>1.51 7.8>7.6 2.5,>2.2, 8.00>8.05 40.0>40.2 1.52>1.47 7.6>7.3'
     + ' 0.05>0.03 (0.50%)>(0.25%) 0.10>0.05 0.10>0.05 7.595000>7.345000'),
    # Time in children of a user region. Summary: work, idle, efficiencies.
    ('unresolved', 'time-ns="2500000000" child-ns="4000000"', 1, 'time-ns="2500000000" child-ns="1004000000"',
     '11.93>10.93 39.8>36.4 18.00>19.00 60.0>63.3 0.40>0.36 0.40>0.41 1.00>0.90'
     + ' 2.50>1.50 (24.96%)>(14.96%) 2.50>1.50 2.50>1.50'),
]


def replace_nth(text, old, n, new):
    parts = text.split(old)
    if len(parts) <= n:
        raise SystemExit('FAIL: %r does not occur %d times' % (old, n))
    return old.join(parts[:n]) + new + old.join(parts[n:])


def show(program, path):
    run = subprocess.run([program, 'show', path], stdout=subprocess.PIPE, check=True, env=dict(os.environ, TZ='UTC0'))
    text = run.stdout.decode()
    # Sections that sort by size are tests/run/efficiency.py's and ideal.py's matter.
    text = re.sub(r'-+\n-+ +ompp (?:Efficiency|Ideal) +-+\n-+\n.*?\n\n', '', text, flags=re.S)
    return re.sub(r'\( +', '(', text).split('\n')  # a share is one word


def main(program, golden):
    failed = 0
    for name, old, n, new, expected in CASES:
        path = os.path.join(golden, name + '.xml')
        with open(path, encoding='utf-8') as file:
            text = replace_nth(file.read(), old, n, new)
        with tempfile.NamedTemporaryFile('w', suffix='.xml', encoding='utf-8') as changed:
            changed.write(text)
            changed.flush()
            before, after = show(program, path), show(program, changed.name)
        pairs = [(a.split(), b.split()) for a, b in zip(before, after)]
        cells = ['%s>%s' % (x, y) for a, b in pairs for x, y in zip(a, b) if x != y]
        same_shape = len(before) == len(after) and all(len(a) == len(b) for a, b in pairs)
        if cells != expected.split() or not same_shape:
            failed = 1
            print('FAIL: %s: %s -> %s\n  want %s\n  have %s' % (name, old, new, expected, ' '.join(cells)))
    print('%d changes' % len(CASES))
    return failed


sys.exit(main(*sys.argv[1:]))
