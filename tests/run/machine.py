"""
How quiet the machine is: what others take of its processors meanwhile, and how late a sleeper wakes. A test of times that are off can
tell with it whether the times were wrong or the machine was busy.
"""

import fcntl
import os
import re
import resource
import threading
import time

TICK = 1 / os.sysconf("SC_CLK_TCK")
OTHERS = 0.03   # processors that others may use on a quiet machine: this share of one, and two ticks
LATE = 0.005    # seconds that a sleeper may wake late, where the test itself leaves a processor free
CALM = 0.010    # a sleeper that wakes no later than this shows that who else is busy is not in the way: the busy ones may be elsewhere
FREE = 0.3      # of the processors, used by the test: below it, one is free
PERIOD = 0.002


def busy():
    """Seconds of processor time used by anybody, and by hosts in place of us; None where that cannot be known."""
    try:
        words = open("/proc/stat").readline().split()
    except OSError:
        return None
    user, nice, system, _, _, irq, softirq, steal = (int(w) for w in words[1:9])
    return (user + nice + system + irq + softirq + steal) * TICK


def stolen():
    """[processor]: seconds that hosts gave to others while we wanted it; empty where that is not known."""
    try:
        lines = [line.split() for line in open("/proc/stat")]
    except OSError:
        return []
    return [int(words[8]) * TICK for words in lines if re.match("cpu[0-9]", words[0]) and len(words) > 8]


def ours():
    """Seconds of processor time used by this process and its descendants that have ended and been waited for."""
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def throttled():
    """Seconds for which a limit on processor time has stopped this container."""
    try:
        values = dict(line.split() for line in open("/sys/fs/cgroup/cpu.stat"))
    except OSError:
        return 0.0
    return int(values.get("throttled_usec", 0)) / 1e6


_lock = []


def alone(folder):
    """From now on until its end this test has the machine for itself, as far as other tests of times in this build tree go."""
    if not _lock:
        _lock.append(open(os.path.join(folder, "test-of-times.lock"), "w"))
        fcntl.flock(_lock[0], fcntl.LOCK_EX)


class Watch:
    """
    with Watch() as watch: ...; watch.disturbed is then a sentence about what disturbed, or empty. watch.calm: sleepers were in time
    nevertheless, as where the system's statistics are those of a machine that is shared.
    """

    def __enter__(self):
        self.disturbed, self.late, self.over, self.calm = "", 0.0, False, False
        self.start, self.busy, self.ours, self.throttled = time.monotonic(), busy(), ours(), throttled()
        self.sleeper = threading.Thread(target=self.sleep, daemon=True)
        self.sleeper.start()
        return self

    def sleep(self):
        while not self.over:
            begin = time.monotonic()
            time.sleep(PERIOD)
            self.late = max(self.late, time.monotonic() - begin - PERIOD)

    def __exit__(self, *_):
        self.over = True
        self.sleeper.join()
        seconds, used = time.monotonic() - self.start, ours() - self.ours
        others = busy() - self.busy - used if self.busy is not None else 0.0
        stopped = throttled() - self.throttled
        self.calm = stopped <= 0 and self.late <= CALM
        if others > OTHERS * seconds + 2 * TICK:
            self.disturbed = "others used %.0f %% of a processor" % (100 * others / seconds)
        elif stopped > 0:
            self.disturbed = "stopped for %.0f ms by a limit on processor time" % (1e3 * stopped)
        elif self.late > LATE and used < FREE * seconds * len(os.sched_getaffinity(0)):
            self.disturbed = "a sleeper woke %.0f ms late on a free processor" % (1e3 * self.late)
