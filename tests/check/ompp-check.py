#!/usr/bin/env python3
"""Strict check of text reports: layout, and every number that follows from other numbers of the same report.

usage: ompp-check.py REPORT...

Accepts ompP's own reports and ours (told apart by the section "ompp Coverage"). Within the rounding of the printed digits it
recomputes sums of tables, parts of execT (ours), exclusive times, the callgraph, wallclocks, totals, overhead classes, their
sums, and every percentage; and it compares region numbers, types and places between the sections.
Exit status: 0 nothing to complain about, 1 otherwise.
"""
import re
import sys

FORKS = ('PARALLEL', 'PARALLEL LOOP', 'PARALLEL SECTIONS', 'PARALLEL WORKSHARE', 'TEAMS')
EXEC = 'execT* execC'
COLUMNS = {
    'LOOP': 'execT execC bodyT* exitBarT taskT', 'WORKSHARE': 'execT execC bodyT* exitBarT taskT',
    'SECTIONS': 'execT execC sectT* sectC exitBarT mgmtT taskT', 'SINGLE': 'execT execC singleT* singleC exitBarT taskT',
    'BARRIER': 'execT execC taskT', 'CRITICAL': 'execT execC bodyT* enterT exitT', 'ORDERED': 'execT execC bodyT* enterT exitT',
    'LOCK': 'execT execC bodyT enterT exitT', 'ATOMIC': 'execT execC', 'FLUSH': 'execT execC', 'TEAMS': EXEC + ' exitBarT startupT shutdwnT taskT',
    'SCOPE': EXEC + ' exitBarT taskT', 'TASKGROUP': EXEC + ' exitBarT taskT',
}
COLUMNS.update({k: 'execT execC bodyT* exitBarT startupT shutdwnT taskT' for k in FORKS[:4]})
COLUMNS['PARALLEL SECTIONS'] = 'execT execC sectT* sectC exitBarT startupT shutdwnT taskT'
COLUMNS.update({k: EXEC for k in ('MASTER', 'USER REGION', 'TASK', 'TASKEXEC', 'UTASK', 'UTASKEXEC', 'TASKWAIT',
                                  'TASKLOOP', 'DISTRIBUTE', 'TARGET', 'MPI', 'FUNCTION')})
# The columns whose sum is execT, in our reports. (Sections of PARALLEL SECTIONS: choosing them is not a column.)
PARTS = {k: [c.rstrip('*') for c in COLUMNS[k].split() if c not in ('execT', 'execC', 'sectC', 'singleC')]
         for k in FORKS[:2] + FORKS[3:4] + ('LOOP', 'WORKSHARE', 'SECTIONS', 'CRITICAL', 'ORDERED', 'LOCK')}
SHORT = {'PARALLEL LOOP': 'PARLOOP', 'PARALLEL SECTIONS': 'PARSECTS', 'PARALLEL WORKSHARE': 'PARWRKSH', 'WORKSHARE': 'WRKSHARE',
         'USER REGION': 'USERREG', 'UTASKEXEC': 'UTASKEXC', 'TASKGROUP': 'TASKGRP', 'DISTRIBUTE': 'DISTRIB'}
MPI_COLUMNS = 'mpiT inV outV recvC sendC collC'.split()
KNOWN = set(MPI_COLUMNS + ' '.join(COLUMNS.values()).replace('*', '').split())
CLASSES = ['Synch', 'Imbal', 'Limpar', 'Mgmt', 'MPI']
TYPE = '(%s)' % '|'.join(sorted(COLUMNS, key=len, reverse=True))
PLACE = (r"(\S+ \((?:\d+(?:-\d+)?|<?0x[0-9a-f]+>?)\)(?: \('[^']*'\)| \(unnamed\))?|"
         r"(?:LOCK|GCCFUNC) \(<?0x[0-9a-f]+>?\)(?: \(collapsed stats\))?)")
TIME = r' *(\d+\.\d\d+)'
SHARE = TIME + r' \(( *[\d.]+)\)'
TITLES = ['ompP General Information', 'ompP Region Overview', 'ompP Callgraph', 'ompP Flat Region Profile (inclusive data)',
          'ompP Callgraph Region Profiles (incl./excl. data)', 'ompP Overhead Analysis Report']
NO_PARALLEL = ('There is no parallel region: this section is about OpenMP. What MPI costs stands in the callgraph, in the section',
               "'ompp Outside Parallel Regions' (column MPI), and in the Performance Properties Report.")
PROPERTIES, OUTSIDE = 'ompP Performance Properties Report', 'ompp Outside Parallel Regions'
EFFICIENCY = 'ompp Efficiency'
OWN = 0.05  # of a region's time: so much own cost is left out of a severity without a mark
# Properties whose time is a column of the flat table: without the tasks that ran in it, where it has taskT and is not less them already.
PROPERTY_COLUMN = {'WaitAtBarrier': 'execT', 'StaticLoopImbalance': 'execT', 'CriticalSectionContention': 'enterT', 'LockContention': 'enterT', 'FrequentAtomic': 'execT',
                   'WaitAtOrdered': 'enterT', 'ThreadManagement': 'startupT+shutdwnT',
                   'UnparallelizedInSingleRegion': 'exitBarT'}


class Number:
    """A printed number and how far the truth may be from it."""

    def __init__(self, text):
        text = text.strip()
        self.v = float(text)
        self.h = 0.5 * 10 ** -len(text.split('.')[1]) if '.' in text else 0.0


class Table:
    def __init__(self, line, region, place, kind):
        self.line, self.region, self.place, self.kind = line, region, place, kind
        self.path, self.head, self.rows, self.sum, self.ranked = [], [], [], None, False

    def total(self, column, default=0.0):
        """Value of a column in the SUM row; execT and the split column mean their inclusive values."""
        for name in (column, column + '/I'):
            if name in self.head:
                return self.sum[self.head.index(name)].v
        return default

    def of(self, row, column):
        for name in (column, column + '/I'):
            if name in self.head:
                return row[self.head.index(name)]
        return Number('0')

    def half(self):
        """Rounding of one time of this table."""
        return self.sum[0].h


class Report:
    def __init__(self, name, lines):
        self.name, self.lines, self.bad, self.checked = name, lines, [], 0
        self.structures = []
        self.general, self.overview, self.nodes, self.flat, self.tables = {}, {}, [], [], []
        self.ours, self.root, self.run, self.wall, self.each, self.whole = False, None, {}, [], [], []
        self.properties, self.ranks, self.absent = [], [], 0
        self.efficiency = []  # lines of the section
        self.unknown = []  # objections to types that this checker does not know: all else follows from these

    def say(self, i, what):
        self.bad.append('%s:%d: %s\n    %r' % (self.name, i + 1, what, self.lines[i] if i < len(self.lines) else ''))

    def near(self, i, what, printed, want, slack=0.0):
        self.checked += 1
        if abs(printed.v - want) > printed.h + slack + 1e-12 * abs(want) + 1e-9:
            self.say(i, '%s is printed as %g, follows as %.6g (+- %.2g)' % (what, printed.v, want, printed.h + slack))

    # ---- Reading ----------------------------------------------------------------------------------------------------

    def read(self):
        title, seen = None, []
        for i, l in enumerate(self.lines):
            m = re.fullmatch(r'----     (.*?)     -*', l)
            if m:
                title = m[1]
                seen.append(title)
                self.ours |= title == 'ompp Coverage'
                if len(l) != 70 or self.lines[i - 1] != '-' * 70 or self.lines[i + 1] != '-' * 70:
                    self.say(i, 'a title has three lines of 70')
            elif l and l != '-' * 70 and title in TITLES:
                (self.read_general, self.read_overview, self.read_callgraph, self.read_table, self.read_table,
                 self.read_overheads)[TITLES.index(title)](i, l, title)
            elif l and l != '-' * 70 and title in (PROPERTIES, OUTSIDE):
                (self.read_property if title == PROPERTIES else self.read_rank)(i, l)
            elif l and l != '-' * 70 and title == EFFICIENCY:
                self.efficiency.append((i, l))
            elif l.startswith('ranks of MPI_COMM_WORLD that are not measured'):
                self.absent = int(re.search(r': (\d+) of', l)[1])
            elif re.fullmatch(r'rank \d+: nothing of it was found', l):
                self.absent += 1
        if [t for t in seen if t in TITLES] != TITLES:
            self.say(0, 'sections are missing or out of order')

    def read_general(self, i, l, _):
        m = re.fullmatch(r'([A-Za-z_0-9. ]{16}): (.*)', l)
        if not m:
            return self.say(i, 'layout')
        self.general[m[1].strip()] = m[2]
        if m[1].strip() == 'Data Name':
            self.structures.append(m[2].replace(' ', '_'))

    def read_overview(self, i, l, _):
        head, item = re.fullmatch(r'([A-Z ]+): (\d+) regions?:', l), re.fullmatch(r' \* (R\d{5}) ' + PLACE + ' ?', l)
        if head:
            self.kind, n = head[1], 0
            while re.match(r' \* ', self.lines[i + n + 1]):
                n += 1
            if n != int(head[2]):
                self.say(i, 'says %s regions, lists %d' % (head[2], n))
            for table in [n for n, known in (('COLUMNS', head[1] in COLUMNS), ('SHORT', len(head[1]) <= 8 or head[1] in SHORT)) if not known]:
                self.say(i, "the type '%s' has no row in %s of ompp-check.py" % (head[1], table))
                self.unknown.append(self.bad[-1])
        elif item:
            if (item[1], self.kind) in self.overview:
                self.say(i, 'region number twice')
            self.overview[item[1], self.kind] = item[2]
        else:
            self.say(i, 'layout')

    def read_callgraph(self, i, l, _):
        pct = r' \(( *[\d.]+)%\)'
        root = re.fullmatch(TIME + r' \(100\.0%\)' + TIME + pct + r' {11}\[(.*): (\d+) threads\]', l)
        node = re.fullmatch(TIME + pct + TIME + pct + r' ([A-Z ]{8}) ((?: \| |   )*)(?: \|-| \+-)(R\d{5}) ' + PLACE, l)
        if root:
            self.root = (i, Number(root[1]), Number(root[2]), Number(root[3]), root[4], int(root[5]))
        elif node:
            self.nodes.append((i, [Number(node[k]) for k in range(1, 5)], node[5].strip(), len(node[6]) // 3 + 1, node[7], node[8]))
        elif not re.fullmatch(r' +Inclusive  \(%\) +Exclusive  \(%\)', l):
            self.say(i, 'layout')

    def read_table(self, i, l, title):
        split = title == TITLES[4]
        tables = self.tables if split else self.flat
        head = re.fullmatch((r'\[([+=])(\d\d)\] ' if split else '()()') + r'(R\d{5}) ' + PLACE + '(?: ' + TYPE + ')?', l)
        if re.match(r'\[\*00\] ', l):
            self.path = []
        elif head:
            t = Table(i, head[3], head[4], head[5] or 'LOCK')
            if split:
                if int(head[2]) != len(self.path) + 1:
                    self.say(i, 'level')
                self.path = self.path + [(head[3], t.kind)]
                t.path, t.leaf = self.path, head[1] == '='
                if tables and tables[-1].sum is None:
                    tables.pop()  # was a step of this path
            tables.append(t)
        elif re.match(r'(?: RANK)? TID', l) and tables:
            self.read_head(i, l, tables[-1], split)
        elif re.match(r' +(\d+|oth|SUM) ', l + ' ') and tables and tables[-1].head:
            self.read_row(i, l, tables[-1])
        else:
            self.say(i, 'layout')

    def read_head(self, i, l, t, split):
        words = l.split()
        t.ranked = words[0] == 'RANK'
        t.head = words[2 if t.ranked else 1:]
        want = []
        for c in COLUMNS[t.kind].split():
            want += [c[:-1] + '/I', c[:-1] + '/E'] if c[-1] == '*' and split else [c.rstrip('*')]
        rest = t.head[len(want):]
        if t.head[:len(want)] != want:
            self.say(i, '%s has the columns %s' % (t.kind, ' '.join(want)))
        if self.ours and rest != self.extra_columns(split):
            self.say(i, 'further columns: %s' % ' '.join(rest))

    def evaluators(self):
        """Titles of columns that are computed from others: the user's in use, then the derived ones."""
        used = [k for k in sorted(self.general, key=lambda k: (len(k), k)) if re.match('OMPP_EVAL', k) and self.general[k] != 'not set']
        derived = [d.split(' [')[0] for d in self.general['Derived'].split('; ')] if 'Derived' in self.general else []
        return (used if int(self.general.get('Used Evaluators', 0)) == len(used) else []) + derived

    def data_columns(self):
        """Of each section about structures: the columns with a star, for the structures it counts for."""
        found, stars, inside = [], [], False
        for l in self.lines:
            if l.startswith('----     '):
                inside, stars, rows = l.startswith('----     ompp Data '), [], None
            m = re.match(r' \* (\S+) ', l)
            if inside and m:
                stars.append(m[1])
            if inside and l.startswith(' structure '):
                rows = True
            elif inside and rows and (l.startswith(' (') or not l):
                rows = False
            elif inside and rows:
                found += ['%s(%s)' % (what, l.split()[0]) for what in stars]
        return found

    def extra_columns(self, split):
        names = [self.general[k] for k in sorted(self.general, key=lambda k: (len(k), k))
                 if re.match('OMPP_CTR', k) and self.general[k] != 'not set']
        if int(self.general.get('Used Counters', 0)) != len(names):
            names = []
        if any(line.startswith('----     ompp Data ') for line in self.lines):
            data = self.data_columns()  # counters that are restricted to a structure are no columns of their own
            names = [n for n in names if not any(c.startswith(n + '(') for c in data)]
            names = names + data[:32 - len(names)]
        counters = [n + s for n in names for s in (('/I', '/E') if split else ('',))]
        return counters + self.evaluators() + (MPI_COLUMNS if 'MPI num procs' in self.general else [])

    def read_row(self, i, l, t):
        words = l.split()
        n = len(words) - len(t.head)
        if n != (1 if words[0] == 'SUM' or not t.ranked and words[0] != 'oth' else 2):
            return self.say(i, 'number of cells')
        try:
            known = [c.split('/')[0] in KNOWN or 'EVAL' in c or c in self.evaluators() for c in t.head]
            values = [Number('0' if w == '-' else w if k else w.replace('.', '')) for w, k in zip(words[n:], known)]  # counters: dots group digits
        except ValueError:
            return self.say(i, 'not a number')
        if words[0] == 'SUM':
            t.sum, t.sum_line = values, i
        else:
            t.rows.append((i, words[:n], values))

    def read_overheads(self, i, l, _):
        keys = [('runtime', r'Total runtime \(wallclock\)   : ([\d.]+) sec \[(\d+) threads?\]'),
                ('number', r'Number of parallel regions  : (\d+)'),
                ('coverage', r'Parallel coverage           : ([\d.]+) sec \(( *[\d.]+)%\)')]
        for key, pattern in keys:
            m = re.fullmatch(pattern, l)
            if m:
                self.run[key] = (i,) + tuple(Number(g) for g in m.groups())
                return
        wall = re.fullmatch(r'(R\d{5})  ([A-Z ]{8}) (.{35,})    ' + SHARE + ' .*| {49}(SUM)    ' + SHARE + ' .*', l)
        line = re.fullmatch(r'(R\d{5}|   SUM)  ' + TIME + '  ' + SHARE + '((?: ' + SHARE + '){4,5})', l)
        if l.startswith('Overheads wrt. '):
            self.target = self.each if 'individual' in l else self.whole
        elif wall:
            region = wall[1] or 'SUM'
            place = (wall[2] or '').strip(), (wall[3] or '').strip()
            self.wall.append((i, region, place, Number(wall[4] or wall[7]), Number(wall[5] or wall[8])))
        elif line:
            shares = [(Number(a), Number(b)) for a, b in re.findall(SHARE, line[5])]
            self.target.append((i, line[1].strip(), Number(line[2]), (Number(line[3]), Number(line[4])), shares))
        elif l in NO_PARALLEL:
            if 'number' not in self.run or self.run['number'][1].v or 'MPI num procs' not in self.general:
                self.say(i, 'of a program with MPI and without parallel regions alone')
        elif not re.match(r'Parallel regions sorted by wallclock time:$| +Type +Location +Wallclock \(%\) | +Total +Ovhds \(%\) ', l):
            self.say(i, 'layout')

    def read_property(self, i, l):
        head = re.fullmatch(r"Property P(\d{5}) '(\w+)' holds for", l)
        subject = re.fullmatch(r"     '(PROGRAM .*|%s(?: .*)?)', with a severity \(in percent\) of (\d+\.\d{6})" % TYPE, l)
        if head:
            if int(head[1]) != len(self.properties) + 1:
                self.say(i, 'number of the property')
            self.properties.append([i, head[2], None, None, False])
        elif subject and self.properties and not self.properties[-1][3]:
            self.properties[-1][2:4] = [subject[1], Number(subject[3])]
        elif not re.match(r'     [A-Z].*[.]$|Caution: |Below 0\.1 percent, and not listed: \d+$|None\.$', l):
            self.say(i, 'layout')
        elif self.properties and '* Measuring took' in l:
            self.properties[-1][4] = True

    def read_rank(self, i, l):
        row = re.fullmatch(r' +(\d+) +(\d+)((?: +\d+\.\d+){4})  .*', l)
        if row:
            self.ranks.append((i, [Number(w) for w in row[3].split()]))

    # ---- Checks -----------------------------------------------------------------------------------------------------

    def check(self):
        self.read()
        self.bad = self.unknown or self.bad
        if self.bad or not self.root or 'runtime' not in self.run or 'coverage' not in self.run:
            if not self.bad:
                self.say(0, 'not a whole report')
            return
        self.slots, self.duration = self.root[5], self.run['runtime'][1]
        self.nranks = int(self.general.get('MPI num procs', 1)) - self.absent if any(t.ranked for t in self.flat) else 1
        self.check_numbers()
        if self.bad:
            return
        for t in self.flat + self.tables:
            self.check_table(t)
        self.check_flat()
        self.check_callgraph()
        self.check_wall()
        self.check_classes()
        self.check_properties()
        self.check_efficiency()
        for i, (wall, parallel, mpi, serial) in self.ranks:
            self.near(i, 'Wallclock', wall, parallel.v + mpi.v + serial.v, parallel.h + mpi.h + serial.h)

    def check_properties(self):
        """Severities that are a column of a flat table without own cost, of duration x threads; in descending order."""
        tables = {'%s %s' % (t.kind, t.place) if t.kind != 'LOCK' else t.place: t for t in self.flat}
        tasks = any(t.kind in ('TASK', 'TASKLOOP', 'TASKEXEC') for t in self.flat)
        last = None
        for i, name, subject, severity, marked in self.properties:
            if severity is None or last and severity.v > last:
                self.say(i, 'a property without severity, or not in order')
                continue
            last = severity.v
            table = tables.get(subject)
            column = PROPERTY_COLUMN.get(name, 'exitBarT' if name.startswith('Imbalance') else None)
            if name == 'WaitAtBarrier' and subject.startswith('SINGLE '):
                column = 'exitBarT'
            if subject.startswith('PROGRAM ') or not column:
                continue
            if table is None:
                self.say(i, 'a property of a region that has no table')
                continue
            lost = sum(map(table.total, column.split('+'))) - (table.total('taskT') if column == 'execT' else 0)
            if self.duration.v > self.duration.h:
                least = 100 * (lost - 2 * table.half()) / (self.slots * (self.duration.v + self.duration.h))
                most = 100 * (lost + 2 * table.half()) / (self.slots * (self.duration.v - self.duration.h))
                # Where tasks explain the wait on some of the call paths, it is told of the tasks.
                least *= 0 if marked or tasks else 1 - OWN
                self.near(i, 'severity', severity, (least + most) / 2, (most - least) / 2)

    def percent(self, i, what, printed, value, basis):
        """printed = 100 value / basis, both rounded themselves."""
        if basis.v <= basis.h:
            return
        least, most = 100 * (value.v - value.h) / (basis.v + basis.h), 100 * (value.v + value.h) / (basis.v - basis.h)
        self.near(i, what + ' (%)', printed, (least + most) / 2, (most - least) / 2)

    def check_numbers(self):
        parts = {(t.region, t.kind): t.place for t in self.flat}
        if parts != self.overview or len(self.flat) != len(parts):
            self.say(self.flat[0].line if self.flat else 0, 'flat profile and overview list different regions')
        for t in self.flat + self.tables:
            if t.sum is None or not t.rows:
                self.say(t.line, 'table without rows or sum')
        tree, shown = [], []
        for i, _, short, depth, region, place in self.nodes:
            tree = tree[:depth - 1] + [(region, short)]
            shown.append((tuple(tree), place))
        tabled = [(tuple((r, SHORT.get(k, k)) for r, k in t.path), t.place) for t in self.tables]
        if shown != tabled:
            self.say(self.nodes[0][0] if self.nodes else 0, 'callgraph and callgraph profiles differ')
        for k, t in enumerate(self.tables):
            follows = k + 1 < len(self.tables) and len(self.tables[k + 1].path) > len(t.path)
            if t.leaf == follows:
                self.say(t.line, 'marked as %s' % ('leaf' if t.leaf else 'inner node'))
            if self.overview.get(t.path[-1]) != t.place:
                self.say(t.line, 'another place than in the overview')
        for i, region, place, _, _ in self.wall:
            if region != 'SUM' and place[1] not in [p for (r, k), p in self.overview.items()
                                                    if r == region and SHORT.get(k, k) == place[0]]:
                self.say(i, 'another type or place than in the overview')
        if [n[1] for n in self.each] != [w[1] for w in self.wall[:-1]] or sorted(n[1] for n in self.whole) != sorted(w[1] for w in self.wall):
            self.say(self.run['runtime'][0], 'the tables of overheads list different regions')
        forks = [r for r, k in self.overview if k in FORKS]
        if int(self.run['number'][1].v) != len(forks) or sorted(forks) != sorted(w[1] for w in self.wall[:-1]):
            self.say(self.run['number'][0], '%d parallel regions in the overview' % len(forks))
        if self.duration.v != self.root[1].v or self.run['runtime'][2].v != self.slots:
            self.say(self.run['runtime'][0], 'runtime or threads differ from the callgraph')
        if self.general['Duration'] != '%s sec' % self.lines[self.run['runtime'][0]].split(': ')[1].split(' ')[0]:
            self.say(self.run['runtime'][0], 'runtime is not the duration')

    def check_table(self, t):
        for c, column in enumerate(t.head):
            if 'EVAL' in column or column in self.evaluators():
                continue
            values = [row[2][c] for row in t.rows]
            self.near(t.sum_line, 'SUM of ' + column, t.sum[c], sum(v.v for v in values), sum(v.h for v in values))
        names = [tuple(w) for _, w, _ in t.rows]
        if len(set(names)) != len(names):
            self.say(t.line, 'a row twice')
        for i, _, row in t.rows + [(t.sum_line, [], t.sum)]:
            for c, column in enumerate(t.head):
                if column.endswith('/E') and row[c].v > row[c - 1].v + row[c].h + row[c - 1].h:
                    self.say(i, 'exclusive above inclusive')
            if self.ours and t.kind in PARTS:
                parts = [t.of(row, p) for p in PARTS[t.kind]]
                self.near(i, 'execT', t.of(row, 'execT'), sum(p.v for p in parts), sum(p.h for p in parts))

    def check_flat(self):
        """Counts of a region are those of its call paths together, and in our reports the times, too."""
        for t in self.flat:
            paths = [p for p in self.tables if p.path[-1] == (t.region, t.kind)]
            if not paths:
                continue
            for c, column in enumerate(t.head):
                if column in MPI_COLUMNS or t.sum[c].h and not self.ours or 'EVAL' in column or column in self.evaluators() or 'PAPI' in column and not self.ours:
                    continue
                values = [p.of(p.sum, column) for p in paths]
                self.near(t.sum_line, 'SUM of ' + column, t.sum[c], sum(v.v for v in values), sum(v.h for v in values))

    def has_tasks(self):
        return any(k in ('TASKEXEC', 'UTASKEXEC') for _, k in self.overview)

    def divisors(self, t):
        """Possible divisors of inclusive time: ompP's and ours (docs/compatibility.md)."""
        kinds = [k for _, k in t.path]
        for n, k in reversed(list(enumerate(kinds))):
            if k == 'MASTER':
                if self.ours and (self.by_own_threads(t) or self.in_inner_team(kinds[:n])):
                    return {self.slots}
                return {self.nranks, 1} if kinds[-1] == 'MASTER' else {self.nranks} if self.ours else {self.slots}
            if k in FORKS:
                return {self.slots} | ({1} if kinds[-1] == 'USER REGION' and not self.ours else set())
        return {self.slots if self.by_own_threads(t) else self.nranks} if self.ours else {1, self.slots}

    @staticmethod
    def in_inner_team(kinds):
        """Whether several teams were there at the same time: a fork below a fork, without MASTER in between."""
        below = 0
        for k in kinds:
            below = 0 if k == 'MASTER' else below + (k in FORKS)
            if below > 1:
                return True
        return False

    def by_own_threads(self, t):
        """Whether threads of the program's own were on the call path from its outermost region on."""
        top = next((p for p in self.tables if p.path == t.path[:1]), t)
        others = [tuple(reversed(one.split(' of rank '))) for one in self.general.get('Other TIDs', '').split(', ')]
        return any(tuple(words) in others and top.of(row, 'execC').v > 0 for _, words, row in top.rows)

    def exclusives(self, t, children):
        """Possible sums of exclusive time. ompP does not subtract tasks, and children only from the body."""
        exec_t = t.total('execT')
        split = [c[:-2] for c in t.head if c.endswith('/E') and c[:-2] in KNOWN and c[:-2] + '/I' in t.head]
        taken = sum(t.sum[t.head.index(c + '/I')].v - t.sum[t.head.index(c + '/E')].v for c in split)
        if not self.ours:
            return [exec_t - taken]
        inside = sum(c.total('execT') for c in children if c.kind not in ('TASKEXEC', 'UTASKEXEC'))
        return [exec_t - taken - t.total('taskT'), exec_t - inside - t.total('taskT')]

    @staticmethod
    def has_locks(t, children):
        """Locks need not nest: one released before a later one gives its time to the node above, where no table shows it."""
        return t.kind == 'LOCK' or any(c.kind == 'LOCK' for c in children)

    def children(self, t):
        return [c for c in self.tables if c.path[:-1] == t.path] if t else []

    def check_callgraph(self):
        inside, slack = 0.0, 0.0
        for (i, (incl, incl_p, excl, excl_p), _, depth, _, _), t in zip(self.nodes, self.tables):
            children = self.children(t)
            h, exec_t = t.half(), t.total('execT')
            ways = [(d, exec_t / d) for d in self.divisors(t)]
            d, want = min(ways, key=lambda w: abs(w[1] - incl.v))
            self.near(i, 'inclusive', incl, want, h / d)
            wants = [max(0.0, x / d) for x in self.exclusives(t, children)]
            if self.has_locks(t, children):
                wants.append(excl.v)
            self.near(i, 'exclusive', excl, min(wants, key=lambda w: abs(w - excl.v)), (4 + len(children)) * h / d)
            self.percent(i, 'inclusive', incl_p, incl, self.duration)
            self.percent(i, 'exclusive', excl_p, excl, self.duration)
            self.check_exclusive_column(t, children)
            if depth == 1:
                inside, slack = inside + incl.v, slack + incl.h
        i, total, excl, excl_p = self.root[:4]
        self.near(i, 'exclusive of the root', excl, max(0.0, total.v - inside), total.h + slack)
        self.percent(i, 'exclusive of the root', excl_p, excl, self.duration)

    def check_exclusive_column(self, t, children):
        """Without tasks the exclusive value of a row is the inclusive one less the children's execT on that thread."""
        split = [c for c, name in enumerate(t.head) if name.endswith('/E') and name[:-2] in KNOWN]
        if self.has_tasks() or not split or not self.ours or self.has_locks(t, children):
            return
        for i, name, row in t.rows:
            taken = [c.of(r, 'execT') for c in children for _, n, r in c.rows if n == name]
            if name[0] == 'oth' or any(n[0] == 'oth' for c in children for _, n, r in c.rows):
                continue  # a rank may be among the others in one table and not in the other
            inclusive = row[split[0] - 1]
            self.near(i, 'exclusive', row[split[0]], max(0.0, inclusive.v - sum(x.v for x in taken)),
                      inclusive.h + sum(x.h for x in taken))

    def is_nested(self):
        return any(sum(k in FORKS for _, k in t.path) > 1 for t in self.tables)

    def check_wall(self):
        walls = self.wall[:-1]
        if not self.wall or self.wall[-1][1] != 'SUM':
            return self.say(self.run['runtime'][0], 'no SUM of wallclocks')
        i, _, _, total, total_p = self.wall[-1]
        if not self.is_nested():
            walls_sum, slack = sum(w[3].v for w in walls), sum(w[3].h for w in walls)
            if self.ours and walls_sum > self.duration.v:
                walls_sum, slack = self.duration.v, slack + self.duration.h  # they ran at the same time
            self.near(i, 'SUM of wallclock', total, walls_sum, slack)
        self.near(i, 'SUM of wallclock', total, self.run['coverage'][1].v)
        self.near(i, 'parallel coverage (%)', self.run['coverage'][2], total_p.v, total_p.h)
        for (i, region, _, wall, wall_p) in self.wall:
            self.percent(i, 'wallclock', wall_p, wall, self.duration)
        for a, b in zip(walls, walls[1:]):
            if b[3].v > a[3].v:
                self.say(b[0], 'not sorted by wallclock')
        for (i, region, _, wall, _), each in zip(walls, self.each):
            t = next(f for f in self.flat if f.region == region and f.kind in FORKS)
            if not t.ranked:
                rows = [t.of(r, 'execT') for _, _, r in t.rows]
                best = max(r.v for r in rows) if self.ours else rows[0].v
                self.near(i, 'wallclock', wall, best, rows[0].h)
                self.near(each[0], 'total', each[2], wall.v * self.slots, wall.h * self.slots)
            elif not any(n[0] == 'oth' for _, n, _ in t.rows):
                self.check_ranked_wall(i, t, wall, each)

    def check_ranked_wall(self, i, t, wall, each):
        by_rank = {}
        for _, name, row in t.rows:
            by_rank.setdefault(name[0], []).append(t.of(row, 'execT'))
        longest = [max(v.v for v in values) for values in by_rank.values()]
        h = t.half()
        self.near(i, 'wallclock', wall, sum(longest) / self.nranks, h)
        threads = [len(values) for values in by_rank.values()]
        self.near(each[0], 'total', each[2], sum(w * n for w, n in zip(longest, threads)), h * sum(threads))

    # ---- Overhead classes -------------------------------------------------------------------------------------------

    def credit(self, t, add):
        total, few = t.total, t.kind in ('SECTIONS', 'PARALLEL SECTIONS') and t.total('sectC') < t.total('execC')
        if t.kind in FORKS[:4]:
            add('Mgmt', total('startupT') + total('shutdwnT'))
        if t.kind in FORKS[:4] + ('LOOP', 'WORKSHARE', 'SECTIONS'):
            add('Limpar' if few else 'Imbal', total('exitBarT'))
        if t.kind == 'SECTIONS':
            add('Mgmt', total('mgmtT'))
        if t.kind == 'SINGLE':
            add('Limpar', total('exitBarT'))
        if t.kind in ('CRITICAL', 'LOCK', 'ORDERED'):
            add('Synch', total('enterT'))
            add('Mgmt', total('exitT'))
        if t.kind in ('BARRIER', 'ATOMIC', 'FLUSH'):
            add('Synch', total('execT') - total('taskT'))
        if t.kind == 'MPI':
            add('MPI', total('execT'))

    def check_classes(self):
        sums, slack = {}, {}
        for t in self.tables:
            fork = next((r for r, k in reversed(t.path) if k in FORKS), None)

            def add(name, value):
                sums[fork, name] = sums.get((fork, name), 0.0) + value
                slack[fork, name] = slack.get((fork, name), 0.0) + 2 * t.half()
            self.credit(t, add)
            if t.kind in FORKS and not self.ours:  # an MPI build of ompP has no nodes of MPI calls
                add('MPI', t.total('mpiT'))
        program = Number('0')
        program.v, program.h = self.duration.v * self.slots, self.duration.h * self.slots
        for lines, basis in ((self.each, None), (self.whole, program)):
            for i, region, total, (ovhds, ovhds_p), shares in lines:
                self.near(i, 'Ovhds', ovhds, sum(s.v for s, _ in shares), sum(s.h for s, _ in shares))
                self.percent(i, 'Ovhds', ovhds_p, ovhds, basis or total)
                for name, (share, share_p) in zip(CLASSES, shares):
                    self.percent(i, name, share_p, share, basis or total)
                    if region != 'SUM':
                        self.near(i, name, share, sums.get((region, name), 0.0), slack.get((region, name), 0.0))
        self.check_sums_of_classes()

    def check_sums_of_classes(self):
        rows = self.whole[:-1]
        i, _, total, ovhds, shares = self.whole[-1]
        for column, (value, parts) in enumerate([(ovhds[0], [r[3][0] for r in rows])] +
                                                [(s[0], [r[4][k][0] for r in rows]) for k, s in enumerate(shares)]):
            self.near(i, 'SUM of ' + (['Ovhds'] + CLASSES)[column], value, sum(p.v for p in parts), sum(p.h for p in parts))
        if not self.is_nested():
            coverage = self.run['coverage'][1]
            totals_sum, slack = sum(r[2].v for r in rows), sum(r[2].h for r in rows) + coverage.h * self.slots
            if self.ours and totals_sum > self.duration.v * self.slots:
                totals_sum, slack = self.duration.v * self.slots, slack + self.duration.h * self.slots
            self.near(i, 'SUM of Total', total, totals_sum, slack)
        totals = {e[1]: e[2].v for e in self.each}
        for r in rows:
            if totals[r[1]] != r[2].v:
                self.say(r[0], 'another total than in the other table')
        for a, b in zip(rows, rows[1:]):
            if b[3][0].v > a[3][0].v:
                self.say(b[0], 'not sorted by overheads')

    # ---- Efficiency -------------------------------------------------------------------------------------------------

    def check_efficiency(self):
        """What is lost adds up as it is printed: the terms of the budget, in hundredths of a percent, and the additive form."""
        if len(self.efficiency) > 15:
            self.say(self.efficiency[0][0], 'the section has %d lines' % len(self.efficiency))
        parts, whole = 0, None
        for i, l in self.efficiency:
            lost, budget = re.fullmatch(r' *[\d.]+ sec +(\d+)\.(\d\d) %  .*', l), re.match(r'Loss budget: .*, (\d+)\.(\d\d) %:$', l)
            if lost:
                parts += int(lost[1] + lost[2])
            if budget:
                whole = (i, int(budget[1] + budget[2]))
            if l.startswith('Additive: '):
                sides = [re.findall(r'(-?\d+\.\d{4})', part) for part in re.sub(r'\(.*?\)', '', l).split('=')]
                self.exact(i, 'additive form', sum(int(n.replace('.', '')) for n in sides[0]), sum(int(n.replace('.', '')) for n in sides[1]))
            for m in re.finditer(r'MPI (\S+) \(load balance (\S+), communication (\S+)\)', l):
                mpi, balance, communication = (int(n.replace('.', '')) for n in m.groups())
                self.exact(i, 'additive form of MPI', mpi, balance + communication)
        if whole:
            self.exact(whole[0], 'loss budget', whole[1], parts)

    def exact(self, i, what, printed, want):
        self.checked += 1
        if printed != want:
            self.say(i, '%s is %d, its parts are %d' % (what, printed, want))


def check(name, text):
    """The objections to a report, a list of strings, and the number of values checked."""
    report = Report(name, text.split('\n'))
    report.check()
    return report.bad, report.checked


def main(names):
    bad, values = [], 0
    for name in names:
        with open(name, encoding='utf-8', errors='replace') as file:
            found, n = check(name, file.read())
        bad += found
        values += n
    if bad:
        print('\n'.join(bad[:20]))
    print('%d reports, %d values checked, %d objections' % (len(names), values, len(bad)))
    return 1 if bad or not names else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
