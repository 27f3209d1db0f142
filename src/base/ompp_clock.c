#include "base/ompp_clock.h"

#include "base/ompp_log.h"

#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

ompp_clock_t ompp_clock;

static uint64_t read_clock(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + t.tv_nsec;
}

ompp_time_t ompp_clock_gettime(void)
{
    if (!ompp_clock.origin_ns) return 0;
    return read_clock(CLOCK_MONOTONIC) - ompp_clock.origin_ns;
}

double ompp_clock_seconds(void) { return 1e-9 * (double)read_clock(CLOCK_MONOTONIC); }

const char *ompp_clock_source(void) { return ompp_clock.use_tsc ? "tsc" : "clock_gettime"; }

#if defined(__x86_64__)
/* CPUID leaf 0x80000007, EDX bit 8: the counter runs at a constant rate in all power states (Intel SDM vol. 3,
 * 18.17.1). */
static bool tsc_is_invariant(void)
{
    unsigned a, b, c, d;

    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
}

/* One (counter, CLOCK_MONOTONIC) pair: the tightest of a few, so that an interrupt in between does not count. */
static void read_pair(uint64_t *ticks, uint64_t *ns)
{
    uint64_t best = 0;

    for (int i = 0; i < 8; i++) {
        uint64_t before = __rdtsc(), now = read_clock(CLOCK_MONOTONIC), after = __rdtsc();
        if (i == 0 || after - before < best) {
            best = after - before;
            *ticks = before + (after - before) / 2;
            *ns = now;
        }
    }
}

static void mark(void) { read_pair(&ompp_clock.origin_ticks, &ompp_clock.origin_ns); }

/* Since time 0 when that is not long ago: later, the machine may have been suspended, or moved, and only one of the
 * clocks gone on. */
static bool calibrate(void)
{
    const uint64_t span_ns = 2000000, recent_ns = 500000000;
    uint64_t first_ticks = ompp_clock.origin_ticks, first_ns = ompp_clock.origin_ns, ticks, ns;

    if (read_clock(CLOCK_MONOTONIC) - first_ns > recent_ns) read_pair(&first_ticks, &first_ns);
    while (read_clock(CLOCK_MONOTONIC) - first_ns < span_ns) {
    }
    read_pair(&ticks, &ns);
    if (ticks <= first_ticks || first_ticks < ompp_clock.origin_ticks) return false;
    ompp_clock.scale = (uint64_t)(((unsigned __int128)(ns - first_ns) << 32) / (ticks - first_ticks));
    return ompp_clock.scale > 0;
}
#else
static bool tsc_is_invariant(void) { return false; }

static void mark(void) { ompp_clock.origin_ns = read_clock(CLOCK_MONOTONIC); }

static bool calibrate(void) { return false; }
#endif

void ompp_clock_mark(void)
{
    if (!ompp_clock.origin_ns) mark();
}

void ompp_clock_start(const char *choice)
{
    bool want = strcmp(choice, "gettime") != 0, have = tsc_is_invariant();

    if (want && !have && strcmp(choice, "tsc") == 0)
        ompp_warn_common("OMPP_CLOCK=tsc: this processor's counter is not invariant; using clock_gettime");
    ompp_clock_mark();
    ompp_clock.use_tsc = want && have && calibrate();
    ompp_clock.origin_epoch = read_clock(CLOCK_REALTIME) - ompp_clock_now();
}
