/**
 * \file
 * Time stamps: nanoseconds since our library was loaded into this process, on every thread the same clock.
 *
 * The invariant time stamp counter is read directly and scaled at once (one multiplication), so that durations are
 * exact integer differences and sums of them stay exact. Where the counter is not invariant,
 * clock_gettime(CLOCK_MONOTONIC).
 */
#ifndef OMPP_CLOCK_H
#define OMPP_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* Seen by the other libraries in the process. */
#pragma GCC visibility push(default)

/** Nanoseconds since time 0: ompp_clock_mark(). */
typedef uint64_t ompp_time_t;

typedef struct {
    bool use_tsc;
    uint64_t origin_ticks; /* counter at time 0 */
    uint64_t scale;        /* ns per tick, as a fraction of 2^32 */
    uint64_t origin_ns;    /* CLOCK_MONOTONIC at time 0; 0: there was none yet */
    uint64_t origin_epoch; /* CLOCK_REALTIME at time 0, ns since 1970 */
} ompp_clock_t;

extern ompp_clock_t ompp_clock;

/** \brief Time 0 is now, unless there was one. Called as the library is loaded; cheap. */
void ompp_clock_mark(void);

/**
 * \brief Chooses the time source and calibrates it. Takes up to 3 ms, less when time 0 was earlier.
 * \param[in] choice  "auto", "tsc" or "gettime" (OMPP_CLOCK); "tsc" on a machine without falls back and warns.
 */
void ompp_clock_start(const char *choice);

/** \brief The slow source: CLOCK_MONOTONIC since time 0, ns; 0 before there is one. */
ompp_time_t ompp_clock_gettime(void);

/** \brief Name of the source in use, for the report: "tsc" or "clock_gettime". */
const char *ompp_clock_source(void);

/**
 * \brief Now, ns, where ompp_clock.use_tsc. Signed, so that differences of two times stay small numbers, positive or
 *        negative, when the counter goes back: a process may be restored from a checkpoint on another machine.
 */
static inline ompp_time_t ompp_clock_tsc(void)
{
#if defined(__x86_64__)
    const int64_t ticks = (int64_t)(__rdtsc() - ompp_clock.origin_ticks);

    return (ompp_time_t)(((__int128)ticks * (int64_t)ompp_clock.scale) >> 32);
#else
    return 0;
#endif
}

/** \brief Now, ns. Budget: one counter read plus four instructions. */
static inline ompp_time_t ompp_clock_now(void)
{
    return __builtin_expect(ompp_clock.use_tsc, 1) ? ompp_clock_tsc() : ompp_clock_gettime();
}

#pragma GCC visibility pop

/** \brief CLOCK_MONOTONIC, s: for deadlines; time 0 does not matter. */
double ompp_clock_seconds(void);

#endif
