#!/usr/bin/env python3
"""Makes the profiles *.xml of this folder: invented runs with round numbers, so that every cell of the text can be computed by
hand. usage: make-profiles.py DIRECTORY. The files are in the tree; this is how they came to be (`make update-golden`).
"""
import os
import sys
from xml.sax.saxutils import quoteattr

MS = 1000000
METRICS = [('bytes_in', 'bytes', 'bytes received'), ('bytes_out', 'bytes', 'bytes sent'), ('recvs', 'count', 'receive calls'),
           ('sends', 'count', 'send calls'), ('colls', 'count', 'collective calls')]


def attributes(pairs):
    return ''.join(' %s=%s' % (k, quoteattr(str(v))) for k, v in pairs if v is not None)


class Profile:
    """Call paths with their values; times in ms."""

    def __init__(self, app, ranks=1, threads=1, mpi=False, duration=10000, rest=0, threads_of=None):
        self.app, self.mpi, self.rest = app, mpi, rest
        self.nthreads = [threads_of[r] if threads_of else threads for r in range(ranks)]
        self.slots = sum(self.nthreads) + rest * threads
        self.durations = [duration] * ranks
        self.kinds, self.costs = {}, []  # costs: attributes of each rank
        self.modules, self.regions, self.nodes, self.coverage = [], [], [dict(region=None, parent=None, times={}, spread='')], []
        self.settings = [('OMP_NUM_THREADS', threads)]
        self.whatif = []  # lines of the element
        self.sets, self.more = [], {}  # registered metrics: (set, rows); values of (node, location): [(set, values)]
        self.locations = [(r, t) for r in range(ranks) for t in range(self.nthreads[r])]
        if rest:
            self.locations.append((None, 0))

    def region(self, kind, number, file='solve.c', begin=None, end=None, **more):
        self.regions.append(dict(id=len(self.regions), number=number, type=kind, file=file, begin=begin, end=end, **more))
        return len(self.regions) - 1

    def node(self, region, parent, first_ms):
        self.nodes.append(dict(region=region, parent=parent, first=first_ms * MS, times={}, spread=''))
        return len(self.nodes) - 1

    def time(self, node, location, visits, values=None, **phases):
        """phases: name=(time, child, task, count) in ms, shorter tuples mean 0 and a count equal to visits."""
        out = []
        for name, v in phases.items():
            v = tuple(v) if isinstance(v, (tuple, list)) else (v,)
            v = v + (0, 0, visits)[len(v) - 1:]
            out.append((name, [round(v[0] * MS), round(v[1] * MS), round(v[2] * MS), v[3]]))
        self.nodes[node]['times'][location] = (visits, out, values)

    def all(self, node, visits, values=None, **phases):
        for location in self.locations:
            if location[0] is not None:
                self.time(node, location, visits, values, **phases)

    def xml(self):
        o = ['<?xml version="1.0" encoding="UTF-8"?>', '<ompp-profile format="1">']
        o.append(' <run%s/>' % attributes([
            ('application', self.app), ('version', '0.9.0'), ('build-date', 'Jan  2 2026 03:04:05'), ('openmp-source', 'OPARI2'),
            ('mpi', 'true' if self.mpi else 'false'), ('ranks', len(self.nthreads) + self.rest), ('slots', self.slots),
            ('rest-ranks', self.rest or None), ('rest-duration-max-ns', 10500 * MS if self.rest else None),
            ('rest-wall-threads-ns', 2 * 10000 * MS * self.rest if self.rest else None),
            ('rest-user-ns', 2000 * MS * self.rest if self.rest else None)]))
        o.append(' <settings>')
        o += ['  <setting%s/>' % attributes([('name', n), ('value', v)]) for n, v in self.settings]
        o += [' </settings>', ' <modules>']
        o += ['  <module%s/>' % attributes([('id', i), ('path', p), ('build', b)]) for i, (p, b) in enumerate(self.modules)]
        o += [' </modules>', ' <ranks>']
        for r, n in enumerate(self.nthreads):
            o.append('  <rank%s/>' % attributes([
                ('rank', r), ('pid', 1000 + r), ('threads', n), ('end', 'final'), ('host', 'node%d' % (r // 2)), ('clock', 'tsc'),
                ('begin-epoch-ns', 1767225600 * 1000 * MS + r * MS), ('duration-ns', self.durations[r] * MS),
                ('user-ns', (self.durations[r] - 500) * MS), ('system-ns', 250 * MS), *self.costs]))
        o += [' </ranks>', ' <locations>']
        for i, (r, t) in enumerate(self.locations):
            kind = self.kinds.get((r, t), 'initial' if t == 0 else 'team')
            o.append('  <location%s/>' % attributes([('id', i), ('rank', r), ('tid', t), ('kind', kind)]))
        o += [' </locations>', ' <regions>']
        o += ['  <region%s/>' % attributes((k.replace('_', '-'), v) for k, v in r.items()) for r in self.regions]
        o += [' </regions>', ' <metrics>']
        for i, (name, unit, meaning) in enumerate(METRICS):
            o.append('  <metric%s/>' % attributes([
                ('set', 1), ('index', i), ('name', name), ('unit', unit), ('quality', 'exact'), ('over-threads', 'sum'),
                ('over-ranks', 'sum'), ('source', 'PMPI'), ('meaning', meaning)]))
        for number, rows in self.sets:
            for i, (name, unit, reduction, meaning) in enumerate(rows):
                o.append('  <metric%s/>' % attributes([
                    ('set', number), ('index', i), ('name', name), ('unit', unit), ('quality', 'exact'),
                    ('over-threads', reduction), ('over-ranks', reduction), ('source', 'tasks'), ('meaning', meaning)]))
        o += [' </metrics>', ' <nodes>']
        for i, n in enumerate(self.nodes):
            o.append('  <node%s>' % attributes([('id', i), ('parent', n['parent']), ('region', n['region']),
                                                ('first-ns', n.get('first') or None)]))
            for number, location in enumerate(self.locations):
                if location in n['times']:
                    self.block(o, number, *n['times'][location])
                for which, values in self.more.get((i, location), []):
                    o.append('   <values%s>%s</values>' % (attributes([('location', number), ('set', which)]),
                                                           ' '.join(map(str, values))))
            if n['spread']:
                o.append(n['spread'])
            o.append('  </node>')
        o += [' </nodes>', ' <coverage>']
        o += ['  <line%s/>' % attributes(line) for line in self.coverage]
        o += [' </coverage>'] + self.whatif + ['</ompp-profile>']
        return '\n'.join(o) + '\n'

    @staticmethod
    def block(o, number, visits, phases, values):
        o.append('   <times%s>' % attributes([('location', number), ('visits', visits)]))
        for name, v in phases:
            o.append('    <phase%s/>' % attributes([
                ('name', name), ('time-ns', v[0] or None), ('child-ns', v[1] or None), ('task-ns', v[2] or None),
                ('count', v[3] or None)]))
        o.append('   </times>')
        if values:
            o.append('   <values%s>%s</values>' % (attributes([('location', number), ('set', 1)]), ' '.join(map(str, values))))


def serial():
    p = Profile('serial', duration=5000)
    p.time(p.node(p.region('USER REGION', 1, begin=3, end=9, name='work'), 0, 10), (0, 0), 2, exec=4000)
    return p


def constructs():
    """One thread team of four; every construct at least once."""
    p = Profile('constructs', threads=4)
    par = p.node(p.region('PARALLEL', 1, begin=10, end=90), 0, 100)
    # 8000 ms: startup 10, body 7800 - 100 t, exitbar 180 + 100 t, shutdown 10; of the body 6000 in children.
    children = {'LOOP': 11, 'SECTIONS': 20, 'SINGLE': 30, 'WORKSHARE': 34, 'BARRIER': 36, 'CRITICAL': 38, 'ATOMIC': 42,
                'MASTER': 44, 'FLUSH': 48, 'LOCK': None, 'ORDERED': 50, 'SCOPE': 54, 'DISTRIBUTE': 58}
    taken = [0, 0, 0, 0]
    number = 1
    for kind, begin in children.items():
        number += 1
        where = dict(begin=begin, end=begin + 1) if begin else dict(file=None, address='0x7f10', key=1)
        node = p.node(p.region(kind, number, **where), par, 200 + 10 * number)
        for t in range(4):
            took = 0
            if kind in ('LOOP', 'WORKSHARE', 'SCOPE', 'DISTRIBUTE'):
                p.time(node, (0, t), 10, body=300 + 100 * t, exitbar=400 - 100 * t)
                took = 700
            elif kind == 'SECTIONS':  # three sections, four threads come: few
                p.time(node, (0, t), 1, mgmt=5, section=(200 if t < 3 else 0, 0, 0, 1 if t < 3 else 0), exitbar=95 if t < 3 else 295)
                took = 300
            elif kind == 'SINGLE':
                p.time(node, (0, t), 1, mgmt=2, single=(100 if t == 1 else 0, 0, 0, 1 if t == 1 else 0), exitbar=98 if t == 1 else 198)
                took = 200
            elif kind in ('CRITICAL', 'LOCK', 'ORDERED'):
                p.time(node, (0, t), 100, enter=50 * t, body=50, exit=4)
                took = 50 * t + 54
            elif kind == 'MASTER':
                if t == 0:
                    p.time(node, (0, t), 1, exec=120)
                took = 120 if t == 0 else 0
            else:
                p.time(node, (0, t), 1000 if kind in ('ATOMIC', 'FLUSH') else 2, exec=20 + t)
                took = 20 + t
            taken[t] += took
    for t in range(4):
        p.time(par, (0, t), 1, startup=10, body=(7800 - 100 * t, taken[t]), exitbar=180 + 100 * t, shutdown=10)
    two = p.node(p.region('PARALLEL LOOP', 20, begin=100, end=110), 0, 9000)
    three = p.node(p.region('PARALLEL SECTIONS', 21, begin=120, end=130), 0, 9200)
    four = p.node(p.region('PARALLEL WORKSHARE', 22, begin=140, end=141), 0, 9400)
    for t in range(4):
        p.time(two, (0, t), 1, startup=1, body=100 + 10 * t, exitbar=98 - 10 * t, shutdown=1)
        p.time(three, (0, t), 1, startup=1, mgmt=4, section=(100, 0, 0, 2), exitbar=94, shutdown=1)
        p.time(four, (0, t), 1, startup=1, body=50, exitbar=48, shutdown=1)
    p.coverage.append([('kind', 'invisible'), ('subject', 'OPARI2'), ('reason', 'constructs in headers'), ('count', 1), ('ranks', 1)])
    p.coverage.append([('kind', 'waited'), ('count', 70), ('ranks', 1)])  # 7 %: three times as much is what the others of a team wait at most
    return p


def mpi_calls(p, parent, number, first, line, name, exec_of, values, count=10):
    node = p.node(p.region('MPI', number, begin=line, name=name), parent, first)
    for location in p.locations:
        if location[0] is not None and location[1] == 0:
            p.time(node, location, count, values, exec=exec_of(location[0]))
    return node


def mpi():
    """2 ranks x 2 threads; rank 1 comes late, so that rank 0 waits in MPI."""
    p = Profile('mpi', ranks=2, threads=2, mpi=True)
    par = p.node(p.region('PARALLEL LOOP', 1, begin=20, end=30), 0, 50)
    p.durations = [10000, 9990]
    for r in range(2):
        for t in range(2):
            wait = 500 if t == 1 else 0
            inside = 200 if t == 0 else 0
            p.time(par, (r, t), 10, startup=5, body=(2490 - wait + 1000 * r, inside), exitbar=wait, shutdown=5)
    mpi_calls(p, par, 2, 60, 25, 'MPI_Send', lambda r: 200, [0, 8000, 0, 10, 0])
    mpi_calls(p, 0, 3, 3000, 32, 'MPI_Allreduce', lambda r: 1100 - 1000 * r, [80, 80, 0, 0, 10])
    return p


def plain():
    """2 ranks x 1 thread without a parallel region: sends that wait for the receiver, and sends that need their time for their bytes."""
    p = Profile('plain', ranks=2, threads=1, mpi=True)
    mpi_calls(p, 0, 1, 60, 25, 'MPI_Send', lambda r: 2000, [0, 8000, 0, 10, 0])
    mpi_calls(p, 0, 2, 3000, 32, 'MPI_Send', lambda r: 400, [0, 80000000, 0, 10, 0])
    return p


def properties():
    """2 ranks x 2 threads, 40 s of thread time: properties that the other profiles do not have. Shares in percent of it."""
    p = Profile('properties', ranks=2, threads=2, mpi=True)
    par = p.node(p.region('PARALLEL', 1, begin=10, end=60), 0, 500)
    sections = p.node(p.region('SECTIONS', 2, begin=11, end=20), par, 600)
    often = p.node(p.region('ATOMIC', 3, begin=30, end=31), par, 700)
    seldom = p.node(p.region('ATOMIC', 4, begin=40, end=41), par, 800)
    for r in range(2):
        for t in range(2):
            received = 100 if t == 0 else 0
            p.time(par, (r, t), 1, startup=10, body=(3990, 1300 + received), exitbar=0, shutdown=0)
            # Five sections and three: uneven; 400 ms: 1.0
            p.time(sections, (r, t), 1, mgmt=0, section=(800 if t == 0 else 600, 0, 0, 5 if t == 0 else 3), exitbar=0 if t == 0 else 200)
            p.time(often, (r, t), 1000000, exec=300)  # 1200 ms: 3.0
            p.time(seldom, (r, t), 100, exec=200)  # not a property
    mpi_calls(p, par, 5, 900, 50, 'MPI_Recv', lambda r: 100, [8000, 0, 10, 0, 0])  # 200 ms: 0.5
    mpi_calls(p, 0, 6, 0, 5, 'MPI_Init', lambda r: 400, None)  # holds both threads: 1600 ms: 4.0
    mpi_calls(p, 0, 7, 5000, 70, 'MPI_Bcast', lambda r: 50, [40, 40, 0, 0, 10])  # both threads: 200 ms: 0.5
    mpi_calls(p, 0, 8, 6000, 80, 'MPI_Barrier', lambda r: 310 - 300 * r, [0, 0, 0, 0, 10])  # rank 0 waits, twice 300 ms: 1.5
    mpi_calls(p, 0, 9, 7000, 90, 'MPI_Waitall', lambda r: 100, None)  # both threads: 400 ms: 1.0
    mpi_calls(p, 0, 10, 7500, 91, 'MPI_Barrier', lambda r: 50, [0, 0, 0, 0, 1])  # together, nothing is moved: 200 ms: 0.5
    mpi_calls(p, 0, 11, 8000, 92, 'MPI_Put', lambda r: 25, [0, 800, 0, 0, 0])  # bytes, no message: 100 ms: 0.25
    # Serial: 10000 - 4000 - 935 and 10000 - 4000 - 635, of one thread of two each: 10430 ms: 26.075
    p.coverage.append([('kind', 'starved'), ('count', 2 * 778), ('ranks', 2)])  # 77.8 % in the mean of the ranks
    p.coverage.append([('kind', 'shared'), ('subject', '2 threads are bound to 1 of 2 processors'), ('reason', 'OMP_NUM_THREADS=1'),
                       ('count', 2), ('ranks', 2)])
    return p


def tiny():
    """2 threads, 20 s of thread time: parallel regions and loops with little work each time, beside ones with more."""
    p = Profile('tiny', threads=2)
    short = p.node(p.region('PARALLEL LOOP', 1, begin=10, end=12), 0, 100)  # 1 s in 100000 executions: no other schedule
    p.all(short, 100000, startup=300, body=400, exitbar=100, shutdown=200)  # 1000 ms in management: 5.0; 200 ms: 1.0
    large = p.node(p.region('PARALLEL LOOP', 2, begin=20, end=22), 0, 200)  # 4 s in 1000 executions; 40 ms in management: 1 % of it
    p.all(large, 1000, startup=10, body=1780, exitbar=200, shutdown=10)  # 400 ms: 2.0
    late = p.node(p.region('PARALLEL', 3, begin=30, end=40), 0, 300)  # 2 s in 4 executions; 600 ms in management: 3.0
    p.all(late, 2, startup=250, body=(700, 435), exitbar=0, shutdown=50)
    loop = p.node(p.region('LOOP', 4, begin=31, end=33), late, 310)  # 30 us an execution; 100 ms: 0.5
    p.all(loop, 10000, body=250, exitbar=50)
    edge = p.node(p.region('PARALLEL SECTIONS', 5, begin=50, end=60), 0, 400)  # 5 % of its 1 s: 0.25
    p.all(edge, 10000, startup=20, mgmt=0, section=475, exitbar=0, shutdown=5)
    tasks = p.node(p.region('PARALLEL', 6, begin=70, end=80), 0, 500)  # 400 us an execution without the tasks; 100 ms: 0.5
    p.all(tasks, 10, startup=50, body=4, exitbar=(436, 0, 426), shutdown=0)
    own = p.node(p.region('LOOP', 7, begin=41, end=43), late, 320)  # its tasks make it long; 60 ms: 0.3
    p.all(own, 1000, body=5, exitbar=(130, 0, 100))
    return p


def measured():
    """Events cost 200 us, 80 of them in their own region: 2000 of them in a region of the user, 1000 at a barrier, where the 80 are no work."""
    p = Profile('measured', threads=2)
    node = p.node(p.region('PARALLEL', 1, begin=1, end=9), 0, 2000)
    p.time(node, (0, 0), 1, startup=0, body=(8000, 4000), exitbar=0, shutdown=0)
    p.time(node, (0, 1), 1, startup=0, body=(8000, 500), exitbar=0, shutdown=0)
    p.time(p.node(p.region('USER REGION', 2, begin=3, end=4, name='step'), node, 2100), (0, 0), 2000, exec=4000)  # 400 ms
    p.time(p.node(p.region('BARRIER', 3, begin=5), node, 2200), (0, 1), 1000, exec=500)  # 120 ms, and 80 in the barrier
    p.costs = [('cost-enter-ps', 200 * 10**6), ('inside-enter-ps', 80 * 10**6)]
    p.coverage.append([('kind', 'own'), ('subject', 'USER REGION'), ('count', 30)])
    return p


def many_ranks(name='ranks20', ranks=20, rest=0):
    p = Profile(name, ranks=ranks, threads=2, mpi=True, rest=rest)
    par = p.node(p.region('PARALLEL', 1, begin=5, end=15), 0, 10)
    for r in range(ranks):
        for t in range(2):
            p.time(par, (r, t), 1, startup=1, body=1000 + 100 * ((7 * r) % ranks), exitbar=8, shutdown=1)
    call = mpi_calls(p, 0, 2, 4000, 17, 'MPI_Barrier', lambda r: 10 + r, [0, 0, 0, 0, 1])
    if rest:
        # per rank of the rest: two threads of 2000 ms, one call of 50 ms
        p.time(par, (None, 0), 2 * rest, startup=2 * rest, body=3980 * rest, exitbar=16 * rest, shutdown=2 * rest)
        p.time(call, (None, 0), 10 * rest, [0, 0, 0, 0, rest], exec=50 * rest)
        spread = '   <spread over="%s" count="%d" sum-ns="%d" min-ns="%d" max-ns="%d" max-rank="21" mean-ns="%d"/>'
        p.nodes[par]['spread'] = '\n'.join([spread % ('threads', 2 * rest, 4000 * MS * rest, 2000 * MS, 2000 * MS, 2000 * MS),
                                            spread % ('ranks', rest, 4000 * MS * rest, 4000 * MS, 4000 * MS, 4000 * MS)])
        p.nodes[call]['spread'] = '\n'.join([spread % ('threads', rest, 50 * MS * rest, 50 * MS, 50 * MS, 50 * MS),
                                             spread % ('ranks', rest, 50 * MS * rest, 50 * MS, 50 * MS, 50 * MS)])
    return p


STARTS = [('task_starts', 'count', 'sum', 'tasks begun'),
          ('task_wait', 'ns', 'sum', 'from the creation of tasks to their begin'),
          ('task_wait_max', 'ns', 'max', 'longest of these times')]
ENDS = [('task_ends', 'count', 'sum', 'tasks ended'),
        ('task_run', 'ns', 'sum', 'time of tasks, without other tasks that ran meanwhile'),
        ('task_run_min', 'ns', 'min', 'shortest of these times'), ('task_run_max', 'ns', 'max', 'longest of these times')]


def tasks():
    """A single makes tasks; both threads run them, in the single's barrier, in a taskwait and in the exit barrier."""
    p = Profile('tasks', threads=2)
    par = p.node(p.region('PARALLEL', 1, begin=10, end=40), 0, 100)
    single = p.node(p.region('SINGLE', 2, begin=12, end=30), par, 110)
    task = p.node(p.region('TASK', 3, begin=14, end=20), single, 120)
    wait = p.node(p.region('TASKWAIT', 4, begin=22), single, 130)
    run = p.node(p.region('TASKEXEC', 3, begin=14, end=20), par, 125)
    barrier = p.node(p.region('BARRIER', 5, begin=32), par, 900)
    p.time(task, (0, 0), 8, exec=40)
    p.time(wait, (0, 0), 1, exec=(1000, 0, 900))
    p.time(single, (0, 0), 1, mgmt=1, single=(1099, 1040, 0, 1), exitbar=100)
    p.time(single, (0, 1), 1, mgmt=1, single=(0, 0, 0, 0), exitbar=(1199, 0, 1000))
    p.time(barrier, (0, 0), 1, exec=(300, 0, 200))
    p.time(barrier, (0, 1), 1, exec=(300, 0, 0))
    p.time(run, (0, 0), 5, exec=900 + 200 + 100)
    p.time(run, (0, 1), 4, exec=1000)
    p.sets = [(2, STARTS), (3, ENDS)]
    p.more[run, (0, 0)] = [(2, (5, 600 * MS, 300 * MS)), (3, (5, 1200 * MS, 100 * MS, 400 * MS + 126))]
    p.more[run, (0, 1)] = [(2, (4, 40 * MS, 20 * MS)), (3, (4, 1000 * MS, 64, 700 * MS))]
    p.time(par, (0, 0), 1, startup=10, body=(1600, 1500), exitbar=(380, 0, 100), shutdown=10)
    p.time(par, (0, 1), 1, startup=10, body=(1580, 1500), exitbar=(400, 0, 0), shutdown=10)
    return p


def collapsed():
    """OMPP_COLLAPSE_LOCKS: the threads of a rank share a row in the tables of a lock."""
    p = Profile('collapsed', ranks=2, threads=2, mpi=True)
    p.settings.append(('OMPP_COLLAPSE_LOCKS', '1'))
    par = p.node(p.region('PARALLEL', 1, begin=10, end=40), 0, 100)
    lock = p.node(p.region('LOCK', 2, file=None, address='0x7f10', key=1), par, 110)
    for rank, thread in p.locations:
        p.time(lock, (rank, thread), 10 + rank, enter=100 * thread, body=500, exit=10)
        p.time(par, (rank, thread), 1, startup=10, body=(1600, 510 + 100 * thread), exitbar=380, shutdown=10)
    return p


def unresolved():
    """Addresses without lines, names that readers would trip over, nested threads, 64-bit counts."""
    p = Profile('gr\u00fc\u00dfe \\x0a<&>"', threads=3)
    p.kinds[(0, 2)] = 'nested'
    p.modules = [('/opt/my app/solver', 'a1b2'), ('/lib/lib\u03c0.so', 'c3')]
    par = p.node(p.region('PARALLEL', 1, file=None, module=0, address='0x1190', flags=1), 0, 1)
    crit = p.node(p.region('CRITICAL', 2, file=None, module=1, address='0x20', flags=1), par, 2)
    user = p.node(p.region('USER REGION', 3, file='/src/my file.c', begin=4, end=8, name="it's \\xff done"), 0, 3)
    flush = p.node(p.region('FLUSH', 4, file='f\u00fcr.c', begin=7), user, 4)
    nested = p.node(p.region('PARALLEL', 5, file=None), par, 5)
    for t in range(3):
        p.time(par, (0, t), 1, startup=0, body=(999, 100 if t == 1 else 300), exitbar=0.4, shutdown=0.6)
    p.all(crit, 12345678901, enter=10, body=80, exit=10)
    p.time(nested, (0, 0), 1, startup=0, body=200, exitbar=0, shutdown=0)
    p.time(nested, (0, 2), 1, startup=0, body=200, exitbar=0, shutdown=0)
    p.time(user, (0, 0), 1, exec=(2500, 4))
    p.time(flush, (0, 0), 3, exec=4)
    p.coverage.append([('kind', 'unresolved'), ('subject', 'solver'), ('reason', 'no debug information'), ('count', 2), ('ranks', 1)])
    p.coverage.append([('kind', 'torn'), ('count', 2), ('ranks', 1)])
    p.coverage.append([('kind', 'note'), ('subject', 'line\\x0afeed'), ('ranks', 1)])
    return p


def followed(region, flags, work, share, blocks=10, paid=None, part=10000, visits=100):
    """
    A region with its four clocks; share: part of the run's 10 s that is saved at 25, 50, 75, 100 %. The blocks scatter around it by
    turns, so that intervals can be told; paid: delays at each speed-up, in ms.
    """
    o = ['  <followed%s>' % attributes([('region', region), ('flags', flags), ('work-ns', work * MS), ('followed-ns', part * MS),
                                        ('visits', visits)])]
    for permille, gain, delay in zip((250, 500, 750, 1000), share, paid or (0, 0, 0, 0)):
        saved = round(gain * part) + delay
        o.append('   <clock%s>' % attributes([('permille', permille), ('time-ns', (part + delay) * MS), ('saved-ns', saved * MS),
                                              ('paid-ns', delay * MS or None), ('observations', 400)]))
        for i in range(blocks):
            scatter = (i * i % 5 - 1.2) * (part // 100 if gain else 0) * MS // 10
            o.append('    <block%s/>' % attributes([
                ('number', i), ('visits', 10), ('time-ns', (part + delay) * MS // blocks),
                ('saved-ns', round(saved * MS / blocks + scatter)), ('paid-ns', delay * MS // blocks or None)]))
        o.append('   </clock>')
    return o + ['  </followed>']


def whatif():
    """10 s: every kind of shape, flag and verdict; a region in another; one followed for half of the run."""
    p = Profile('whatif', threads=4)
    par = p.node(p.region('PARALLEL', 1, begin=10, end=90), 0, 100)
    steps = [('a', 12, (4990, 0, 0, 0)), ('b', 20, (0, 4700, 0, 0)), ('spin', 30, (0, 0, 3000, 0)), ('half', 40, (500, 500, 500, 500))]
    nodes = [p.node(p.region('USER REGION', 2 + i, begin=line, end=line + 5, name=name), par, 110 + i)
             for i, (name, line, _) in enumerate(steps)]
    critical = p.node(p.region('CRITICAL', 6, begin=42, end=44, name='sum'), nodes[3], 120)
    loop = p.node(p.region('LOOP', 7, begin=60, end=70), par, 130)
    for t in range(4):
        below = 0
        for node, (name, line, times) in zip(nodes, steps):
            if times[t]:
                p.time(node, (0, t), 100, exec=(times[t], 100 + 20 * t if name == 'half' else 0))
                below += times[t]
        p.time(critical, (0, t), 100, enter=20 * t, body=90, exit=10)
        p.time(loop, (0, t), 100, body=2000 + 100 * t, exitbar=400 - 100 * t)
        p.time(par, (0, t), 1, startup=10, body=(9000, below + 2400), exitbar=980, shutdown=10)
    o = [' <whatif%s>' % attributes([('mode', 'delay'), ('time-ns', 10000 * MS), ('paid-ns', 800 * MS), ('events', 123456), ('cost-ns', 40 * MS), ('lost', 3), ('lost-ns', 12 * MS)])]
    o.append('  <point kind="throughput" name="step" visits="100"/>')
    o.append('  <point kind="throughput" automatic="1" region="6" visits="100"/>')
    o.append('  <point kind="latency" name="request" visits="98" begins="100" in-flight-ns="%d"/>' % (25000 * MS))
    o += followed(1, None, 4990, (0.047, 0.048, 0.048, 0.048))
    o += followed(2, None, 4700, (0, 0, 0, 0))
    o += followed(3, 'polling', 2760, (-0.01, -0.02, -0.03, -0.04), paid=(200, 400, 600, 800), part=9200)
    o += followed(4, 'lock', 2000, (0.05, 0.10, 0.15, 0.20))
    o += followed(5, 'lock', 360, (0.03, 0.06, 0.09, 0.12))
    o += followed(6, 'dynamic partly', 8600 // 4, (0.06, 0.12, 0.18, 0.24), blocks=3, part=5000)
    p.whatif = o + [' </whatif>']
    return p


def pieces():
    """
    10 s on 2 ranks, a quarter of it with clocks: all of a call that is made once, 800 ms of work, and a quarter of those that are made
    all the time, which take no more than 300 ms; and two of 8000 others, which do not say what these do, 2 ms.
    """
    p = Profile('pieces', ranks=2, threads=1, mpi=True)
    mpi_calls(p, 0, 1, 60, 25, 'MPI_Bcast', lambda r: 500, [8, 8, 0, 0, 1], count=1)
    mpi_calls(p, 0, 2, 3000, 32, 'MPI_Allreduce', lambda r: 150, [3200, 3200, 0, 0, 400], count=400)
    mpi_calls(p, 0, 3, 4000, 40, 'MPI_Send', lambda r: 1500, [0, 32000, 0, 4000, 0], count=4000)
    p.whatif = [' <whatif%s>' % attributes([('mode', 'virtual'), ('time-ns', 10000 * MS), ('events', 4000), ('cost-ns', 100 * MS),
                                            ('worked-ns', 16000 * MS), ('outside-ns', 16000 * MS), ('rested-ns', 7500 * MS)]),
                '  <point kind="throughput" name="step" visits="400"/>']
    p.whatif += followed(0, 'partly', 800, (0.05, 0.1, 0.15, 0.2), part=2500, visits=2)
    p.whatif += followed(1, 'partly', 100, (0.005, 0.01, 0.015, 0.02), part=2500, visits=200)
    p.whatif += followed(2, 'partly', 2, (0.0002, 0.0004, 0.0006, 0.0008), part=2500, visits=2)
    p.whatif += followed(None, 'partly', 3600, (0.18, 0.36, 0.54, 0.72), part=2500) + [' </whatif>']
    return p


def tried():
    """Experiments with one region that brings nothing; what has most of the work had none."""
    p = Profile('tried', threads=2)
    par = p.node(p.region('PARALLEL', 1, begin=10, end=40), 0, 100)
    small = p.node(p.region('USER REGION', 2, begin=12, end=14, name='small'), par, 110)
    large = p.node(p.region('USER REGION', 3, begin=20, end=30, name='large'), par, 120)
    for t in range(2):
        p.time(small, (0, t), 10, exec=1500)
        p.time(large, (0, t), 10, exec=7500)
        p.time(par, (0, t), 1, startup=0, body=(9000, 9000), exitbar=0, shutdown=0)
    p.whatif = [' <whatif%s>' % attributes([('mode', 'delay'), ('time-ns', 10000 * MS), ('events', 20), ('cost-ns', 1 * MS)]),
                '  <point kind="throughput" name="step" visits="100"/>']
    p.whatif += followed(1, None, 3000, (0, 0, 0, 0)) + [' </whatif>']
    return p


def main():
    for name, profile in (('serial', serial()), ('collapsed', collapsed()), ('constructs', constructs()), ('measured', measured()), ('mpi', mpi()), ('pieces', pieces()), ('plain', plain()),
                          ('properties', properties()), ('ranks20', many_ranks()), ('rest', many_ranks('rest', 4, 96)), ('tasks', tasks()), ('tiny', tiny()), ('unresolved', unresolved()),
                          ('tried', tried()), ('whatif', whatif())):
        with open(os.path.join(sys.argv[1], name + '.xml'), 'w', encoding='utf-8') as out:
            out.write(profile.xml())


if __name__ == "__main__":
    main()
