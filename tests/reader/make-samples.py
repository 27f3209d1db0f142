#!/usr/bin/env python3
"""Writes small reports in ompP's formats, as its versions wrote them, from one made-up run. usage: make-samples.py DIR

A second writer on purpose: what the reader prints again is compared with what this program prints. Times are microseconds.
"""
import os
import sys

THREADS = 2
DURATION = 10_000_000
MPI = ['mpiT', 'inV', 'outV', 'recvC', 'sendC', 'collC']
CLASSES = ['Synch', 'Imbal', 'Limpar', 'Mgmt']

# number, full name, short name, text place, CSV fields; level; columns with the split one starred; rows of (values, exclusive).
PARALLEL = (2, 'PARALLEL', 'PARALLEL', 'my code.c (20-48)', 'my code.c,20,48,', 1,
            ['execT', 'execC', 'bodyT*', 'exitBarT', 'startupT', 'shutdwnT', 'taskT'],
            [([8_000_000, 1, 7_800_000, 100_000, 50_000, 50_000, 0], 100_000),
             ([8_000_000, 1, 7_400_000, 500_000, 50_000, 50_000, 0], 100_000)])
LOOP = (3, 'LOOP', 'LOOP', 'my code.c (24-30)', 'my code.c,24,30,', 2,
        ['execT', 'execC', 'bodyT*', 'exitBarT', 'taskT'],
        [([6_600_000, 10, 6_200_000, 400_000, 0], 6_200_000), ([6_400_000, 10, 6_000_000, 400_000, 0], 6_000_000)])
CRITICAL = (4, 'CRITICAL', 'CRITICAL', "my code.c (40-44) ('upd')", 'my code.c,40,44,upd', 2,
            ['execT', 'execC', 'bodyT*', 'enterT', 'exitT'],
            [([1_100_000, 100, 500_000, 500_000, 100_000], 500_000), ([900_000, 100, 400_000, 400_000, 100_000], 400_000)])
BARRIER = (5, 'BARRIER', 'BARRIER', 'other.c (7)', 'other.c,7,7,', 3, ['execT', 'execC', 'taskT'],
           [([4, 10, 0], None), ([6, 10, 0], None)])
USER = (1, 'USER REGION', 'USERREG', "other.c (50-60) ('a (b)')", 'other.c,50,60,a (b)', 1, ['execT*', 'execC'],
        [([1_000_000, 3], 1_000_000), ([0, 0], 0)])
MASTER = (6, 'MASTER', 'MASTER', 'other.c (8-9)', 'other.c,8,9,', 2, ['execT*', 'execC'], [([123_456, 4], 123_456)])
LOCKED = (1000001, 'LOCK', 'LOCK', 'LOCK (<0x1f0>) ', 'LOCK,0x1f0,0x1f0,', None, ['execT', 'execC', 'bodyT', 'enterT', 'exitT'],
          [([32_000, 5, 10_000, 16_000, 6_000], None), ([22_000, 5, 10_000, 6_000, 6_000], None)])
COLLAPSED = (1000002, 'LOCK', 'LOCK', 'LOCK (<0x2f0>) (collapsed stats)', 'LOCK,0x2f0,0x2f0,', None,
             ['execT', 'execC', 'bodyT', 'enterT', 'exitT'], [([32_000, 5, 10_000, 16_000, 6_000], None)])
FUNCTION = (1000003, 'USER REGION', 'USERREG', 'GCCFUNC (<0x401136>)', 'GCCFUNC,0x401136,0x401136,', 1, ['execT*', 'execC'],
            [([1_000_000, 3], 1_000_000), ([0, 0], 0)])
ORDER = ['PARALLEL', 'LOOP', 'USER REGION', 'BARRIER', 'CRITICAL', 'LOCK', 'MASTER']


class Run:
    """What a report is about, and which of ompP's builds wrote it."""

    def __init__(self, regions, version='0.8.99', counters=(), evaluators=(), mpi=False, drange=None, lacks=(), duration=DURATION):
        self.regions, self.version, self.counters, self.evaluators, self.mpi = regions, version, counters, evaluators, mpi
        self.drange, self.lacks, self.duration = drange, lacks, duration
        self.graph = [r for r in regions if r[5]]
        self.parallel = [r for r in self.graph if r[1] == 'PARALLEL']

    def children(self, node):
        below = self.graph[self.graph.index(node) + 1:] if node else self.graph
        level = node[5] if node else 0
        for r in below:
            if r[5] <= level:
                return
            if r[5] == level + 1:
                yield r

    def inclusive(self, r):
        return sum(v[0] for v, _ in r[7]) / self.slots(r)

    def exclusive(self, r):
        split = next((i for i, c in enumerate(r[6]) if c[-1] == '*'), None)
        taken = 0 if split is None else sum(v[split] - e for v, e in r[7])
        return (sum(v[0] for v, _ in r[7]) - taken) / self.slots(r)

    @staticmethod
    def slots(r):
        return 1 if r[1] in ('MASTER', 'USER REGION') else THREADS

    def columns(self, r, split):
        """(title, how, value of a row) of each column; how: time, count, counter, evaluator."""
        out = []
        for i, c in enumerate(r[6]):
            name = c.rstrip('*')
            if name in self.lacks:
                continue
            how = 'time' if name.endswith('T') else 'count'
            out.append((name + ('/I' if split and c[-1] == '*' else ''), how, lambda row, i=i: row[0][i]))
            if split and c[-1] == '*':
                out.append((name + '/E', how, lambda row: row[1]))
        counted = r[1] not in ('BARRIER', 'LOCK')
        for k, name in enumerate(self.counters if counted else ()):
            out.append((name + ('/I' if split else ''), 'counter', lambda row, k=k: row[0][0] * (k + 1) * 123))
            if split:
                out.append((name + '/E', 'counter', lambda row, k=k: row[0][0] * (k + 1) * 23))
        for k, name in enumerate(self.evaluators if counted else ()):
            out.append(('OMPP_EVAL%-2d' % (k + 1), 'evaluator', lambda row, k=k: float(row[0][1]) / 7 + k))
        if self.mpi:
            out += [(name, 'time' if name == 'mpiT' else 'count',
                     lambda row, k=k: row[0][0] // 100 if k == 0 else row[0][1] * k) for k, name in enumerate(MPI)]
        return out

    def row_order(self, columns):
        """ompP's MPI builds write MPI before the counters, under titles in the other order."""
        return ([c for c in columns if c[1] in ('time', 'count')] + [c for c in columns if c[1] not in ('time', 'count')])

    def wall(self, r):
        return r[7][0][0][0]

    def classes(self, fork):
        sums = dict.fromkeys(CLASSES + (['MPI'] if self.mpi else []), 0)
        inside = False
        for r in self.graph:
            inside = r is fork or (inside and r[5] > fork[5])
            if not inside:
                continue
            total = {c.rstrip('*'): sum(v[i] for v, _ in r[7]) for i, c in enumerate(r[6])}
            sums['Imbal'] += total.get('exitBarT', 0)
            sums['Mgmt'] += total.get('startupT', 0) + total.get('shutdwnT', 0) + total.get('exitT', 0)
            sums['Synch'] += total.get('enterT', 0) + (total['execT'] if r[1] == 'BARRIER' else 0)
            if self.mpi and r is fork:
                sums['MPI'] += sum(v[0] // 100 for v, _ in r[7])
        return sums


def times(us, digits):
    return '%.*f' % (digits, us / 1e6)


def percent(part, whole):
    return 100.0 * part / whole if whole else float('nan')


# ---- Text ------------------------------------------------------------------------------------------------------------

def title(out, text):
    out += ['-' * 70, ('----     %s     ' % text).ljust(70, '-'), '-' * 70]


def general(run, out):
    title(out, 'ompP General Information')
    rows = [('Start Date', 'Mon Mar 02 10:15:00 2015'), ('End Date', 'Mon Mar 02 10:15:10 2015'),
            ('Duration', times(run.duration, 2) + ' sec'), ('Application Name', 'de:mo'), ('Type of Report', 'final'),
            ('User Time', '15.80 sec'), ('System Time', '0.10 sec'), ('Max Threads', str(THREADS)), ('ompP Version', run.version),
            ('ompP Build Date', 'Mar  1 2015 09:00:00'), ('PAPI Support', 'available' if run.counters else 'not available')]
    if run.counters:
        rows += [('Max Counters', '4'), ('PAPI Active', 'yes'), ('Used Counters', str(len(run.counters)))]
        rows += [('OMPP_CTR%d' % (i + 1), (list(run.counters) + ['not set'] * 4)[i]) for i in range(4)]
        rows += [('Max Evaluators', '4'), ('Used Evaluators', str(len(run.evaluators)))]
        rows += [('OMPP_EVAL%d' % (i + 1), (list(run.evaluators) + ['not set'] * 4)[i]) for i in range(4)]
    rows += run.drange or []
    if run.mpi:
        rows += [('MPI my rank', '0'), ('MPI num procs', '4'), ('MPI hostname', 'node0'), ('MPI time', '1.234567'),
                 ('MPI bytes in', '800'), ('MPI bytes out', '900'), ('MPI recv calls', '1'), ('MPI send calls', '2'),
                 ('MPI collectives', '3')]
    out += ['%-16s: %s' % row for row in rows] + ['']


def overview(run, out):
    title(out, 'ompP Region Overview')
    for kind in ORDER:
        found = [r for r in run.regions if r[1] == kind]
        if found:
            out.append('%s: %d region%s:' % (kind, len(found), 's' if len(found) > 1 else ''))
            out += [' * R%05d %s' % (r[0], r[3]) for r in found] + ['']


def shares(a, b):
    if (a > 99.9 or a < 0.1) and (b > 99.9 or b < 0.1):
        return tuple('%5.*f' % (1 if x > 99.9 else 3, x) for x in (a, b))
    return '%5.2f' % a, '%5.2f' % b


def callgraph(run, out):
    title(out, 'ompP Callgraph')
    outside = run.duration - sum(run.inclusive(r) for r in run.children(None))
    out += ['', '  Inclusive  (%)   Exclusive  (%)',
            '%7s (100.0%%) %7s (%5.2f%%)           [de:mo: %d threads]' % (times(run.duration, 2), times(outside, 2),
                                                                          percent(outside, run.duration), THREADS)]
    bars = []
    for i, r in enumerate(run.graph):
        level = r[5]
        later = next((x for x in run.graph[i + 1:] if x[5] <= level), None)
        sibling = later is not None and later[5] == level
        bars = bars[:level - 1]
        a, b = shares(percent(run.inclusive(r), run.duration), percent(run.exclusive(r), run.duration))
        out.append('%7s (%s%%) %7s (%s%%) %8s %s%3sR%05d %s' % (
            times(run.inclusive(r), 2), a, times(run.exclusive(r), 2), b, r[2],
            ''.join('%3s' % ('| ' if bar else '  ') for bar in bars), '|-' if sibling else '+-', r[0], r[3]))
        bars.append(sibling)
    out.append('')


def grouped(n):
    return '{:,}'.format(n).replace(',', '.')


def cell(how, value, part):
    if how == 'counter':
        return ' %*s' % (20 if part else 18, grouped(value))
    if how == 'evaluator':
        return ' %12.2f ' % value
    return ' %10s' % (times(value, 2) if how == 'time' else value)


def table(run, r, out, split):
    columns = run.columns(r, split)
    head = ' TID'
    for name, how, _ in columns:
        plain, _, part = name.partition('/')
        head += ' %18s%s' % (plain, '/' + part if part else '') if how == 'counter' else \
            ' %13s' % name if how == 'evaluator' else ' %10s' % name
    out.append(head)
    rows = [('%3d' % i, row) for i, row in enumerate(r[7])]
    for label, row in rows:
        out.append(' ' + label + ''.join(cell(how, value(row), '/' in name) for name, how, value in run.row_order(columns)))
    out.append(' SUM' + ''.join(cell(how, sum(value(row) for row in r[7]), '/' in name) for name, how, value in run.row_order(columns)))
    out.append('')


def heading(r):
    return 'R%05d %s%s' % (r[0], r[3], '' if r[1] == 'LOCK' else ' ' + r[1])


def path_of(run, r):
    path = []
    for x in run.graph[:run.graph.index(r) + 1]:
        path = path[:x[5] - 1] + [x]
    return path


def mark(run, r):
    return '+' if list(run.children(r)) else '='


def overheads(run, out):
    title(out, 'ompP Overhead Analysis Report')
    covered = sum(run.wall(r) for r in run.parallel)
    extra = ''.join(' %18s' % c for c in run.counters) + ''.join(' %13s' % ('OMPP_EVAL%-2d' % (i + 1)) for i in range(len(run.evaluators)))
    zeros = ' %18d' % 0 * len(run.counters) + ' %12.2f ' % 0 * len(run.evaluators)
    out += ['Total runtime (wallclock)   : %s sec [%d threads]' % (times(run.duration, 2), THREADS),
            'Number of parallel regions  : %d' % len(run.parallel),
            'Parallel coverage           : %s sec (%5.2f%%)' % (times(covered, 2), percent(covered, run.duration)), '',
            'Parallel regions sorted by wallclock time:',
            '            Type                            Location      Wallclock (%) ' + extra]
    for r in run.parallel:
        out.append('R%05d  %8s %35s    %7s (%5.2f) %s' % (r[0], r[2], r[3], times(run.wall(r), 2), percent(run.wall(r), run.duration), zeros))
    out += ['%16s %35s    %7s (%5.2f) %s' % ('', 'SUM', times(covered, 2), percent(covered, run.duration), zeros), '']
    for what in ('each individual parallel region', 'whole program'):
        out += ['Overheads wrt. %s:' % what, '          Total        Ovhds (%)  =   Synch  (%)  +  Imbal   (%)  +   Limpar (%)   +    Mgmt (%)'
                + ('   +     MPI (%)' if run.mpi else '')]
        rows = [('R%05d' % r[0], run.wall(r) * THREADS, run.classes(r)) for r in run.parallel]
        if what == 'whole program':
            names = CLASSES + (['MPI'] if run.mpi else [])
            rows.append(('   SUM', covered * THREADS, {k: sum(c[k] for _, _, c in rows) for k in names}))
        for label, total, classes in rows:
            basis = total if 'each' in what else run.duration * THREADS
            out.append('%s  %7s  %s' % (label, times(total, 2), ' '.join(
                '%7s (%5.2f)' % (times(x, 2), percent(x, basis)) for x in [sum(classes.values())] + list(classes.values()))))
        out.append('')
    out.append('')


def text(run):
    out = []
    general(run, out)
    overview(run, out)
    callgraph(run, out)
    title(out, 'ompP Flat Region Profile (inclusive data)')
    for r in run.regions:
        out.append(heading(r))
        table(run, r, out, False)
    title(out, 'ompP Callgraph Region Profiles (incl./excl. data)')
    out.append('')
    for r in run.graph:
        out.append('[*00] de:mo')
        out += ['[%s%02d] %s' % (mark(run, x), x[5], heading(x)) for x in path_of(run, r)]
        table(run, r, out, True)
    out.append('')
    overheads(run, out)
    return '\n'.join(out) + '\n'


# ---- CSV -------------------------------------------------------------------------------------------------------------

def csv_region(r, old):
    return 'R%05d,%s,%s' % ((r[0], r[3], r[1]) if old else (r[0], r[1], r[4]))


def csv_cell(how, value):
    return times(value, 6) if how == 'time' else '%f' % value if how == 'evaluator' else '%d' % value


def csv_table(run, r, out, split):
    columns = run.columns(r, split)
    out.append(','.join(['TID'] + [name for name, _, _ in columns]))
    for i, row in enumerate(r[7]):
        out.append(','.join([str(i)] + [csv_cell(how, value(row)) for _, how, value in columns]))
    out.append(','.join(['SUM'] + [csv_cell(how, sum(value(row) for row in r[7])) for _, how, value in columns]))


def csv_header(run, out):
    general_lines = []
    general(run, general_lines)
    out.append('##BEG header separator=,')
    for line in general_lines[3:-1]:
        key, value = line[:16].strip(), line[18:]
        if key == 'Duration':
            out.append('Duration,%s,sec' % times(run.duration, 6))
        elif key == 'ompP Version':
            out += ['ompP Version %s,%s' % (k, v) for k, v in zip(('Major', 'Minor', 'Revision'), value.split('.'))]
        elif key not in ('User Time', 'System Time') and not key.startswith('Data '):
            out.append('%s,%s' % ('Thread Count' if key == 'Max Threads' else key, value))
    out.append('##END header')


def csv_callgraph(run, out, old):
    outside = run.duration - sum(run.inclusive(r) for r in run.children(None))
    out += ['##BEG ompp callgraph', 'Inclusive,(%),Exclusive,(%)',
            '%s,100.0,%s,%f,0,[de:mo: %d threads]' % (times(run.duration, 6), times(outside, 6), percent(outside, run.duration), THREADS)]
    for r in run.graph:
        a, b = run.inclusive(r), run.exclusive(r)
        out.append('%s,%f,%s,%f,%d,%s' % (times(a, 6), percent(a, run.duration), times(b, 6), percent(b, run.duration), r[5], csv_region(r, old)))
    out += ['##END ompp callgraph', '']


def csv_overheads(run, out):
    covered = sum(run.wall(r) for r in run.parallel)
    extra = ''.join(',%s' % c for c in run.counters) + ''.join(',OMPP_EVAL%-2d' % (i + 1) for i in range(len(run.evaluators)))
    zeros = ',0' * len(run.counters) + ',%f ' % 0 * len(run.evaluators)
    out += ['##BEG overhead analysis report', 'Total runtime (wallclock) [secs],%s' % times(run.duration, 6),
            'Number of threads,%d' % THREADS, 'Number of parallel regions,%d' % len(run.parallel),
            'Parallel coverage [secs],%s' % times(covered, 6), 'Parallel coverage [percent],%f' % percent(covered, run.duration), '',
            '##BEG parallel regions sorted by wallclock time', ',Type,Wallclock,(%)' + extra]
    out += ['R%05d,%s,%s,%f%s' % (r[0], r[2], times(run.wall(r), 6), percent(run.wall(r), run.duration), zeros) for r in run.parallel]
    out += ['SUM,%s,,%f%s' % (times(covered, 6), percent(covered, run.duration), zeros),
            '##END parallel regions sorted by wallclock time', '']
    names = CLASSES + (['MPI'] if run.mpi else [])
    for what in ('overheads for parallel region', 'overheads for whole program'):
        out += ['##BEG ' + what, ',Total,Ovhds,(%)' + ''.join(',%s,(%%)' % n for n in names)]
        rows = [('R%05d' % r[0], run.wall(r) * THREADS, run.classes(r)) for r in run.parallel]
        if 'whole' in what:
            rows.append(('SUM', covered * THREADS, {k: sum(c[k] for _, _, c in rows) for k in names}))
        for label, total, classes in rows:
            basis = total if 'parallel' in what else run.duration * THREADS
            out.append(','.join([label, times(total, 6)] + ['%s,%f' % (times(x, 6), percent(x, basis))
                                                            for x in [sum(classes.values())] + list(classes.values())]))
        out += ['##END ' + what, '']
    out += ['##END overhead analysis report', '']


def csv(run, old=False):
    out = []
    csv_header(run, out)
    out.append('##BEG region overview')
    for kind in ORDER:
        found = [r for r in run.regions if r[1] == kind]
        if found:
            out += ['%s,%d' % (kind, len(found))] + [csv_region(r, old) for r in found]
    out += ['##END region overview', '']
    csv_callgraph(run, out, old)
    out.append('##BEG flat region profiles')
    for r in run.regions:
        out += ['##BEG R%05d flat profile' % r[0], csv_region(r, old)]
        csv_table(run, r, out, False)
        out += ['##END R%05d flat profile' % r[0], '']
    out += ['##END flat region profiles', '', '##BEG callgraph region profiles']
    for r in run.graph:
        out += ['##BEG R%05d callgraph profile' % r[0], '[*00],de:mo']
        out += ['[%s%02d],%s' % (mark(run, x), x[5], csv_region(x, old)) for x in path_of(run, r)]
        csv_table(run, r, out, True)
        out += ['##END R%05d callgraph profile' % r[0], '']
    out += ['##END callgraph region profiles', '']
    csv_overheads(run, out)
    return '\n'.join(out) + '\n'


NEST = [PARALLEL, LOOP, BARRIER, CRITICAL, USER]
COUNTERS = ('PAPI_FP_OPS', 'PAPI_L3_TCM')
EVALUATORS = ('PAPI_FP_OPS/(EXECT*1000000)', 'EXECC')
SHORT = (1, 'PARALLEL', 'PARALLEL', 'a.c (1-2)', 'a.c,1,2,', 1, PARALLEL[6], [([0, 1, 0, 0, 0, 0, 0], 0), ([0, 1, 0, 0, 0, 0, 0], 0)])
RANGE = [('Data Address', '0x6000000000010a80'), ('Data Size', '1048576'), ('Data Name', 'matrix'), ('Data Start Offs.', '0'),
         ('Data End   Offs.', '128')]
NO_RANGE = [('Data Address', 'not set'), ('Data Size', 'N/A'), ('Data Name', 'N/A')]

SAMPLES = {
    'plain.txt': text(Run(NEST)), 'plain.csv': csv(Run(NEST)),
    'v070.txt': text(Run(NEST, version='0.7.0', counters=COUNTERS)), 'v070.csv': csv(Run(NEST, version='0.7.0', counters=COUNTERS)),
    'eval.txt': text(Run(NEST, counters=COUNTERS, evaluators=EVALUATORS)), 'eval.csv': csv(Run(NEST, counters=COUNTERS, evaluators=EVALUATORS)),
    'mpi.txt': text(Run(NEST, mpi=True)), 'mpi.csv': csv(Run(NEST, mpi=True)),
    'mpi-counters.txt': text(Run(NEST, mpi=True, counters=COUNTERS, evaluators=EVALUATORS)),
    'range.txt': text(Run(NEST, counters=COUNTERS, drange=RANGE)), 'norange.txt': text(Run(NEST, counters=COUNTERS, drange=NO_RANGE)),
    'v06.csv': csv(Run(NEST, version='0.6.0', lacks=('taskT', 'singleC')), old=True),
    'lacking.txt': text(Run(NEST, version='0.6.0', lacks=('taskT', 'singleC'))),
    'locks.txt': text(Run([PARALLEL, LOOP, BARRIER, CRITICAL, MASTER, LOCKED, COLLAPSED, FUNCTION])),
    'locks.csv': csv(Run([PARALLEL, LOOP, BARRIER, CRITICAL, MASTER, LOCKED, COLLAPSED, FUNCTION])),
    'serial.txt': text(Run([USER])), 'serial.csv': csv(Run([USER])),
    'nothing.txt': text(Run([], duration=0)), 'nothing.csv': csv(Run([], duration=0)),
    'short.txt': text(Run([SHORT], duration=0)),
}

if __name__ == '__main__':
    for name, content in SAMPLES.items():
        with open(os.path.join(sys.argv[1], name), 'w', encoding='utf-8') as file:
            file.write(content)
