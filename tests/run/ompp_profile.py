"""Reads the XML profile of a run (docs/xml.md) into plain dictionaries, for tests.

    p = Profile("app.2x2-0.ompp.xml")
    p.regions    list of Region: type, file, begin, end, name, function, number
    p.nodes      list of Node: id, parent, region (None for the root), times, values; of regions, without what is on call paths
    p.tree       the same with functions and lines on call paths; caller is a node's parent among these
    p.column("execT", node, (rank, tid))        ns, bytes or count
    p.total("execC", p.find("LOOP", line=12))   {(rank, tid): value} over all nodes of these regions
    p.whatif     None, or Whatif: mode, why, points, clocks {(region id, permille): Clock}, gains {(region id, permille): Gain}
"""

import collections
import os
import xml.etree.ElementTree as ElementTree

Point = collections.namedtuple("Point", "kind name automatic visits begins in_flight")
Clock = collections.namedtuple("Clock", "time saved paid observations work blocks")
CLOCK = ("time-ns", "saved-ns", "paid-ns", "observations", "work-ns")
BLOCK = ("time-ns", "saved-ns", "paid-ns", "visits", "work-ns")
Gain = collections.namedtuple("Gain", "gain low high by_control", defaults=(False,))  # low, high: None where there is no interval
Result = collections.namedtuple("Result", "share followed own correction slope knee contention inside verdict flags")
Region = collections.namedtuple("Region", "id number type file begin end name function flags")
Phase = collections.namedtuple("Phase", "time child task count")
NO_PHASE = Phase(0, 0, 0, 0)
OUTSIDE = -1  # in what-if results, for the region id: what is outside of all regions

# Column -> (what, phase): the definitions of the report, written down a second time on purpose.
COLUMNS = {
    "execT": ("exec", None), "execC": ("visits", None), "bodyT": ("time", "body"), "sectT": ("time", "section"),
    "sectC": ("count", "section"), "singleT": ("time", "single"), "singleC": ("count", "single"),
    "enterT": ("time", "enter"), "exitT": ("time", "exit"), "exitBarT": ("less", "exitbar"), "mgmtT": ("time", "mgmt"),
    "startupT": ("time", "startup"), "shutdwnT": ("time", "shutdown"), "taskT": ("tasks", None), "mpiT": ("mpi", None),
    "inV": ("metric", 0), "outV": ("metric", 1), "recvC": ("metric", 2), "sendC": ("metric", 3), "collC": ("metric", 4),
}
PARALLEL_TYPES = ("PARALLEL", "PARALLEL LOOP", "PARALLEL SECTIONS", "PARALLEL WORKSHARE")
PATH_TYPES = ("FUNCTION", "INLINED", "SOURCE LOOP", "LINE")
TASK_TYPES = ("TASKEXEC", "UTASKEXEC")
MPI_SET = 1


class Node:
    def __init__(self, identity, parent, region):
        self.id, self.parent, self.region, self.children = identity, parent, region, []
        self.visits = {}  # (rank, tid) -> count
        self.phases = {}  # (rank, tid) -> {phase: Phase}
        self.values = {}  # ((rank, tid), set) -> [int]

    def where(self):
        return set(self.phases) | {place for place, _ in self.values}


def unit(blocks):
    """Time of a unit of work in the program with the faster region, of blocks (time, saved, paid, visits, work)."""
    counted = [b for b in blocks if b[3]]
    return sum(b[0] - b[1] for b in counted) / sum(b[3] for b in counted)


class Whatif:
    """What causal profiling has found: what was observed, and what the writer of the file made of it."""

    def __init__(self, element, results):
        self.mode, self.why, self.time = element.get("mode"), element.get("why", ""), number(element, "time-ns")
        self.paid, self.lost, self.events, self.cost = (number(element, key) for key in ("paid-ns", "lost", "events", "cost-ns"))
        self.replayed, self.kept, self.passed = (number(element, key) for key in ("replayed", "kept", "passed-ns"))
        self.suspended = number(element, "rested-ns")
        self.worked, self.outside = number(element, "worked-ns"), number(element, "outside-ns")
        self.points = [Point(e.get("kind"), e.get("name", ""), number(e, "automatic"), number(e, "visits"), number(e, "begins"),
                             number(e, "in-flight-ns")) for e in element.findall("point")]
        self.clocks, self.gains, self.results, self.flags, self.total, self.seen = {}, {}, {}, {}, {}, {}
        self.units = {}  # (name of a latency point, region id, permille): Clock
        control = element.find("control")
        self.control = None if control is None else Clock(number(control, "time-ns"), 0, 0, number(control, "observations"), 0, [
            tuple(number(b, key) for key in BLOCK) for b in control.findall("block")])
        for followed in element.findall("followed"):
            region = number(followed, "region", OUTSIDE)
            if followed.get("point"):
                for e in followed.findall("clock"):
                    self.units[self.points[number(followed, "point")].name, region, number(e, "permille")] = Clock(
                        *(number(e, key) for key in CLOCK), [])
                continue
            self.flags[region] = set(followed.get("flags", "").split())
            self.seen[region] = self.flags[region]
            self.total[region] = number(followed, "total-ns")
            for e in followed.findall("clock"):
                blocks = [tuple(number(b, key) for key in BLOCK) for b in e.findall("block")]
                self.clocks[region, number(e, "permille")] = Clock(
                    *(number(e, key) for key in CLOCK), blocks)
        for e in results if results is not None else ():
            region = number(e, "region", OUTSIDE)
            self.results[region] = Result(*(float(e.get(key)) for key in ("share", "followed", "own", "correction", "slope")), number(e, "knee"),
                                          e.get("contention") == "true", number(e, "inside", -1), e.get("verdict"), set(e.get("flags", "").split()))
            self.flags[region] = self.results[region].flags
            for g in e.findall("gain"):
                known = g.get("interval") == "true"
                self.gains[region, number(g, "permille")] = Gain(float(g.get("gain")), float(g.get("low", 0)) if known else None,
                                                                 float(g.get("high", 0)) if known else None, g.get("by-control") == "true")

    def controls(self):
        return [b for b in self.control.blocks if b[3]] if self.control else []

    def excess(self, region, clock, controls):
        """What delays took in experiments with a region, beyond what is known of them: by units of work without them."""
        if "baseline" not in self.seen[region] or len(controls) < 2:
            return 0
        counted, excess = [b for b in clock.blocks if b[3]], 0
        work = sum(b[4] for b in counted) / sum(b[3] for b in counted) if counted else 0
        for time, saved, paid, visits, did in clock.blocks:
            units = visits or (did / work if work else 0)
            excess += time - paid - min(max(units * unit(controls), time - saved), time)
        return excess

    def alone(self):
        """Time of the run without delays."""
        controls = self.controls()
        return max(self.time - self.paid - sum(self.excess(region, clock, controls) for (region, _), clock in self.clocks.items()), 0)

    def correction(self, region, clock):
        """COZ's equation 8: work in the region for each ns of the run, and of the experiments with this speed-up; where that is known."""
        run, alone = self.alone(), clock.time - clock.paid - self.excess(region, clock, self.controls())
        if not self.total[region] or not clock.work or alone <= 0 or run <= 0:
            return self.results[region].correction
        return 1 if alone >= 0.99 * run else self.total[region] / run / (clock.work / alone)

    def part_in_units(self, region, clock):
        """Of the run, by the work in units; all, where that is not known. Blocks may be those of one rank of all."""
        counted, told = [b for b in clock.blocks if b[3]], sum(b[4] for b in clock.blocks)
        work, visits = (sum(b[i] for b in counted) for i in (4, 3))
        if not (work and clock.work and self.total[region]):
            return 1
        return min(self.total[region] / self.alone() * unit(self.controls()) / (work / visits * clock.work / told), 1)

    def defects(self):
        """Gains follow from the clocks; parts are not larger than the whole."""
        for (region, permille), clock in self.clocks.items():
            where = "what-if of region %d at %d permille" % (region, permille)
            if clock.time > self.time:
                yield "%s: observed for %d of %d ns" % (where, clock.time, self.time)
            if sum(b[0] for b in clock.blocks) > clock.time:
                yield "%s: blocks are longer than all of it" % where
            if clock.saved > clock.time:
                yield "%s: %d ns saved of %d" % (where, clock.saved, clock.time)
            if not self.results or (not clock.observations and self.total[region] and (region, permille) not in self.gains):
                continue  # nothing was done in the region in these experiments
            gain, alone = self.gains[region, permille], clock.time - clock.paid
            correction, seen = self.correction(region, clock), (clock.saved - clock.paid) / alone if alone > 0 else 0
            wanted = min(seen * correction, max(seen, permille / 1000) if correction > 1 else 1, 1)
            if gain.by_control:
                wanted = min((1 - unit(clock.blocks) / unit(self.control.blocks)) * self.part_in_units(region, clock), 1)
            is_limited = "inflated" in self.flags[region] and gain.gain < wanted  # to the time in which the region is executed
            if abs(gain.gain - wanted) > 1e-9 and not is_limited:
                yield "%s: gain %r, its clock says %r" % (where, gain.gain, wanted)
            if gain.low is not None and not gain.low <= gain.high:
                yield "%s: interval from %r to %r" % (where, gain.low, gain.high)
        for region, result in self.results.items():
            if not 0 <= result.share <= 1 or not 0 <= result.followed <= 1:
                yield "what-if of region %d: share %r, followed %r" % (region, result.share, result.followed)


MPI_LOSSES = ("mpi", "mpi-wait", "mpi-transfer", "mpi-start", "ended")
Loss = collections.namedtuple("Loss", "to ns region node rank rank_ns")


class Efficiency:
    """Of the run (region None), or of a user region."""

    def __init__(self, element):
        self.region = None if element.get("region") is None else number(element, "region")
        self.thread_ns, self.useful_ns = number(element, "thread-ns"), number(element, "useful-ns")
        self.threads, self.ranks = number(element, "threads"), number(element, "ranks")
        for name in ("parallel", "balance", "communication"):
            for level in ("", "mpi-", "openmp-"):
                setattr(self, (level + name).replace("-", "_"), float(element.get(level + name)))
        self.losses = [Loss(e.get("to"), number(e, "lost-ns"), number(e, "region", -1), number(e, "node", -1), number(e, "rank", -1),
                            number(e, "rank-ns")) for e in element]

    def lost(self, *to):
        """Thread time that is lost to these, as part of all."""
        return sum(loss.ns for loss in self.losses if loss.to in to) / self.thread_ns


class Profile:
    def __init__(self, path):
        self.path = path
        root = ElementTree.parse(path).getroot()
        self.run = root.find("run").attrib
        self.mpi = self.run["mpi"] == "true"
        self.settings = {e.get("name"): e.get("value") for e in root.iter("setting")}
        self.ranks = [e.attrib for e in root.iter("rank")]
        self.coverage = [e.attrib for e in root.find("coverage")]
        self.locations = [(number(e, "rank", -1), number(e, "tid")) for e in root.iter("location")]
        self._all_regions = [read_region(e) for e in root.iter("region")]
        self.regions = [r for r in self._all_regions if r.type not in PATH_TYPES]
        self.metric_rows = [dict(e.attrib, set=number(e, "set"), index=number(e, "index")) for e in root.iter("metric")]
        self.metrics = {e.get("name"): (number(e, "set"), number(e, "index")) for e in root.iter("metric")}
        self.efficiencies = [Efficiency(e) for e in root.iter("efficiency")]
        whatif = root.find("whatif")
        self.whatif = None if whatif is None else Whatif(whatif, root.find("results"))
        self.tree, self.nodes = [], []
        for element in root.find("nodes"):
            self._read_node(element)

    def _read_node(self, element):
        parent, region = element.get("parent"), element.get("region")
        node = Node(number(element, "id"), None if parent is None else self.tree[int(parent)],
                    None if region is None else self._all_regions[int(region)])
        node.caller = node.parent
        while is_path(node.parent):
            node.parent = node.parent.parent
        if node.parent is not None and not is_path(node):
            node.parent.children.append(node)
        for times in element.findall("times"):
            place = self.locations[int(times.get("location"))]
            node.visits[place] = number(times, "visits")
            node.phases[place] = {
                e.get("name"): Phase(*(number(e, key) for key in ("time-ns", "child-ns", "task-ns", "count"))) for e in times}
        for values in element.findall("values"):
            if values.get("object"):
                continue  # of one data structure: tests/memory
            place = self.locations[int(values.get("location"))]
            node.values[place, number(values, "set")] = [int(v) for v in (values.text or "").split()]
        self.tree.append(node)
        if not is_path(node):
            self.nodes.append(node)

    def names(self):
        """{region id: name}, with that of what is outside of all regions."""
        return {OUTSIDE: "(outside regions)", **{r.id: r.name for r in self.regions}}

    # ---- Values ----

    def column(self, title, node, place):
        if title not in COLUMNS:  # a metric, by its name
            which, index = self.metrics.get(title, (None, 0))
            return node.values.get((place, which), [0] * (index + 1))[index]
        what, which = COLUMNS[title]
        phases = node.phases.get(place, {})
        phase = phases.get(which, NO_PHASE)
        if what == "exec":
            return sum(p.time for p in phases.values())
        if what == "visits":
            return node.visits.get(place, 0)
        if what == "time":
            return phase.time
        if what == "less":
            return phase.time - phase.task
        if what == "count":
            return phase.count
        if what == "tasks":
            return sum(p.task for name, p in phases.items() if name in ("exitbar", "exec"))
        if what == "mpi":
            return sum(self.column("execT", n, place) for n in below(node) if n.region and n.region.type == "MPI")
        return sum(n.values.get((place, MPI_SET), [0] * 5)[which] for n in below(node))

    def find(self, kind=None, line=None, name=None, file=None):
        """Regions of a type (several: joined by |), beginning on a line."""
        kinds = kind.split("|") if kind else None
        return [r for r in self.regions if (kinds is None or r.type in kinds) and (line is None or r.begin == line)
                and (name is None or r.name == name) and (file is None or os.path.basename(r.file) == file)]

    def nodes_of(self, regions):
        identities = {r.id for r in regions}
        return [n for n in self.nodes if n.region is not None and n.region.id in identities]

    def total(self, title, regions):
        """{(rank, tid): value}, summed over the nodes of these regions; places without a value are left out."""
        result = collections.Counter()
        for node in self.nodes_of(regions):
            for place in node.where():
                result[place] += self.column(title, node, place)
        return {place: value for place, value in result.items() if value}

    # ---- What holds in every profile ----

    def defects(self):
        """Broken rules, as text: sums must be exact, parts not larger than the whole."""
        checks = [self._phases_sane, self._tasks_sane, self._children_exact, self._threads_exact, self._losses_exact]
        checks += [self.whatif.defects, self._shares_disjoint] if self.whatif else []
        return [text for check in checks for text in check()]

    def _shares_disjoint(self):
        """Regions that never lie in another one of the table, and what is outside of all: parts of one sum."""
        shares = {region: result.share for region, result in self.whatif.results.items()}
        for node in self.nodes:
            above = node.parent
            while above is not None and above.region is not None and above.region.id not in self.whatif.results:
                above = above.parent
            if node.region is not None and above is not None and above.region is not None:
                shares.pop(node.region.id, None)
        if sum(shares.values()) > 1.001:
            yield "what-if: shares of disjoint regions add up to %.3f: %s" % (sum(shares.values()), shares)

    def _phases_sane(self):
        for node in self.nodes:
            for place, phases in node.phases.items():
                for name, p in phases.items():
                    if p.time < p.child + p.task or min(p) < 0:
                        yield "%s %s: phase %s has %s" % (title_of(node), place, name, p)

    def _tasks_sane(self):
        """The mean of a thread's tasks lies between the shortest and the longest, where each is timed."""
        if "task_run_min" not in self.metrics:
            return
        thinned = self.metrics["thinned"][0] if "thinned" in self.metrics else None
        number_of, places = self.metrics["task_run"][0], [self.metrics["task_" + n][1] for n in ("ends", "run", "run_min", "run_max")]
        for node in self.nodes:
            for (place, which), values in node.values.items():
                if which == number_of and (place, thinned) not in node.values:
                    ends, run, least, most = (values[i] for i in places)
                    if not least * ends <= run <= most * ends:
                        yield "%s %s: %d tasks took %d ns, from %d to %d each" % (title_of(node), place, ends, run, least, most)

    def _children_exact(self):
        """What a node says its children took is what they say they took. Locks need not nest, so not around them."""
        for node in self.nodes[1:]:
            if any(c.region.type == "LOCK" for c in node.children) or node.region.type == "LOCK":
                continue
            inside = any(a.region and a.region.type in PARALLEL_TYPES for a in [node] + list(above(node)))
            if inside and any(c.region.type in PARALLEL_TYPES for c in node.children):
                continue  # a thread may be worker of an inner team without having been in the outer one
            for place, phases in node.phases.items():
                told = sum(p.child for p in phases.values())
                found = sum(self.column("execT", c, place) for c in node.children if c.region.type not in TASK_TYPES)
                if told != found:
                    yield "%s %s: children have %d ns, it says %d" % (title_of(node), place, found, told)

    def _threads_exact(self):
        """
        Per thread: what all nodes have for themselves adds up to the time of the nodes at the top. A task's time stands in its
        own node and as task time in the frame it interrupted, so it cancels out; but not when it interrupted nothing that is
        measured: those stand at the top. Nested teams and locks that do not nest are left out: their top nodes are not to be
        seen in the tree.
        """
        for place in sorted(set(self.locations)):
            if place[0] < 0 or self._odd_thread(place):
                continue
            own = top = alone = tasks = 0
            for node in self.nodes[1:]:
                phases = node.phases.get(place)
                if phases is None:
                    continue
                own += sum(p.time - p.child - p.task for p in phases.values())
                if node.region.type in TASK_TYPES:
                    tasks += self.column("execT", node, place)
                if node.region.type in TASK_TYPES and node.parent is self.nodes[0]:
                    alone += self.column("execT", node, place)
                if node.region.type not in TASK_TYPES and not any(place in a.phases for a in above(node)):
                    top += self.column("execT", node, place)
            if not top <= own <= top + alone:
                yield "rank %d thread %d: parts %d ns, whole %d ns" % (place + (own, top))
            if tasks > top + alone:
                yield "rank %d thread %d: tasks run %d ns of %d ns" % (place + (tasks, top + alone))

    def _losses_exact(self):
        """What is lost makes up all that is no useful time, and efficiencies follow from these."""
        for e in self.efficiencies:
            name = "efficiency of region %s" % e.region
            if sum(loss.ns for loss in e.losses) != e.thread_ns - e.useful_ns:
                yield "%s: %d ns lost, of them told %d" % (name, e.thread_ns - e.useful_ns, sum(loss.ns for loss in e.losses))
            mpi = sum(loss.ns for loss in e.losses if loss.to in MPI_LOSSES)
            for found, wanted in ((e.parallel, e.useful_ns / e.thread_ns), (e.mpi_parallel, 1 - mpi / e.thread_ns),
                                  (e.parallel, e.balance * e.communication), (e.mpi_parallel, e.mpi_balance * e.mpi_communication),
                                  (e.parallel, e.mpi_parallel * e.openmp_parallel), (e.balance, e.mpi_balance * e.openmp_balance)):
                if abs(found - wanted) > 1e-6:
                    yield "%s: %r does not follow: %r" % (name, found, wanted)
            if e.region is None and any(loss.rank_ns > loss.ns for loss in e.losses):
                yield "%s: a rank loses more than all" % name

    def _odd_thread(self, place):
        for node in self.nodes[1:]:
            if place in node.phases and node.region.type == "LOCK":
                return True
            if node.region.type in PARALLEL_TYPES and any(a.region and a.region.type in PARALLEL_TYPES for a in above(node)):
                return True
        return False


def is_path(node):
    return node is not None and node.region is not None and node.region.type in PATH_TYPES


def read_region(e):
    return Region(number(e, "id"), number(e, "number"), e.get("type"), e.get("file", ""), number(e, "begin"), number(e, "end"),
                  e.get("name", ""), e.get("function", ""), number(e, "flags"))


def number(element, key, otherwise=0):
    return int(element.get(key, otherwise))


def below(node):
    yield node
    for child in node.children:
        yield from below(child)


def above(node):
    while node.parent is not None:
        node = node.parent
        yield node


def title_of(node):
    r = node.region
    return "node %d %s %s:%d" % (node.id, r.type, os.path.basename(r.file), r.begin) if r else "root"
