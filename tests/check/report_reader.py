"""Text reports, read for ompp-check.py: their layout, which columns constructs have, and what stands in their tables."""
import re

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
SHORT = {'PARALLEL LOOP': 'PARLOOP', 'PARALLEL SECTIONS': 'PARSECTS', 'PARALLEL WORKSHARE': 'PARWRKSH', 'WORKSHARE': 'WRKSHARE',
         'USER REGION': 'USERREG', 'UTASKEXEC': 'UTASKEXC', 'TASKGROUP': 'TASKGRP', 'DISTRIBUTE': 'DISTRIB'}
MPI_COLUMNS = 'mpiT inV outV recvC sendC collC'.split()
KNOWN = set(MPI_COLUMNS + ' '.join(COLUMNS.values()).replace('*', '').split())
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


class Reader:
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
                self.say(i, "the type '%s' has no row in %s of report_reader.py" % (head[1], table))
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
