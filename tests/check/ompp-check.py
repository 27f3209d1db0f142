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

from report_reader import COLUMNS, FORKS, KNOWN, MPI_COLUMNS, Number, Reader, SHORT

# The columns whose sum is execT, in our reports. (Sections of PARALLEL SECTIONS: choosing them is not a column.)
PARTS = {k: [c.rstrip('*') for c in COLUMNS[k].split() if c not in ('execT', 'execC', 'sectC', 'singleC')]
         for k in FORKS[:2] + FORKS[3:4] + ('LOOP', 'WORKSHARE', 'SECTIONS', 'CRITICAL', 'ORDERED', 'LOCK')}
CLASSES = ['Synch', 'Imbal', 'Limpar', 'Mgmt', 'MPI']
OWN = 0.05  # of a region's time: so much own cost is left out of a severity without a mark
# Properties whose time is a column of the flat table: without the tasks that ran in it, where it has taskT and is not less them already.
PROPERTY_COLUMN = {'WaitAtBarrier': 'execT', 'StaticLoopImbalance': 'execT', 'CriticalSectionContention': 'enterT', 'LockContention': 'enterT', 'FrequentAtomic': 'execT',
                   'WaitAtOrdered': 'enterT', 'ThreadManagement': 'startupT+shutdwnT',
                   'UnparallelizedInSingleRegion': 'exitBarT'}


class Report(Reader):
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
