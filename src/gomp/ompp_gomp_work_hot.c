/*
 * Worksharing constructs and barriers of programs on libgomp: single, loops that hand out iterations as they go, and
 * sections.
 */
#include "gomp/ompp_gomp_priv.h"

#include "unwind/ompp_unwind.h"

__thread unsigned ompp_gomp_singles __attribute__((tls_model("initial-exec"), visibility("hidden")));
__thread const void *ompp_gomp_single_code __attribute__((tls_model("initial-exec"), visibility("hidden")));

bool ompp_gomp_end_single_slow(ompp_time_t t)
{
    ompp_region_ref_t region = ompp_event_innermost(OMPP_CONSTRUCT_SINGLE);

    if (!ompp_region_is_kept(region)) return false;
    ompp_gomp_singles--;
    ompp_event_unwind(region, t);
    ompp_event_phase(region, OMPP_PHASE_MGMT, t);
    ompp_event_exit_or_barrier(region, t);
    return true;
}

static ompp_region_ref_t enter_work(ompp_construct_t construct, const void *code)
{
    ompp_region_ref_t region = ompp_region_at(construct, code, NULL);
    ompp_time_t t = ompp_event_now();

    ompp_gomp_end_single(t);
    ompp_event_enter(region, t);
    return region;
}

/* ---- Single ------------------------------------------------------------------------------------------------------ */

OMPP_EXPORT bool GOMP_single_start(void)
{
    bool (*real)(void) = OMPP_REAL(bool (*)(void), "GOMP_single_start");

    if (!ompp_gomp_on()) return real();
    ompp_region_ref_t region = enter_work(OMPP_CONSTRUCT_SINGLE, OMPP_GOMP_HERE);
    ompp_gomp_come_for_one();
    bool executes = real();
    ompp_gomp_single_code = __builtin_return_address(0);
    ompp_gomp_singles += executes;
    if (executes) ompp_event_phase(region, OMPP_PHASE_SINGLE, ompp_event_now());
    else ompp_event_exit_or_barrier(region, ompp_event_now());
    return executes;
}

/* Of copyprivate: the executor is told so by NULL. The others come back when it has called the function below. */
OMPP_EXPORT void *GOMP_single_copy_start(void)
{
    void *(*real)(void) = OMPP_REAL(void *(*)(void), "GOMP_single_copy_start");

    if (!ompp_gomp_on()) return real();
    ompp_region_ref_t region = enter_work(OMPP_CONSTRUCT_SINGLE, OMPP_GOMP_HERE);
    ompp_gomp_come_for_one();
    ompp_time_t t = ompp_event_now();
    void *data = real();
    if (!data) {
        ompp_gomp_singles++;
        ompp_event_phase(region, OMPP_PHASE_SINGLE, ompp_event_now());
    } else {
        ompp_event_exit_or_barrier(region, t);
        ompp_event_barrier_phase(true, t); /* up to the barrier behind the copying */
        /* That the others wait here for the executor is known when they have; a barrier of all follows. */
        if (ompp_sync_follower()) ompp_sync_arrive(ompp_gomp_team(), t);
        ompp_gomp_go_on();
    }
    return data;
}

OMPP_EXPORT void GOMP_single_copy_end(void *data)
{
    void (*real)(void *) = OMPP_REAL(void (*)(void *), "GOMP_single_copy_end");

    if (ompp_gomp_on()) {
        ompp_time_t t = ompp_event_now();
        ompp_region_ends_at(ompp_event_innermost(OMPP_CONSTRUCT_SINGLE), OMPP_GOMP_HERE);
        ompp_gomp_end_single(t);
        ompp_event_barrier_phase(true, t);
    }
    ompp_gomp_arrive();
    real(data);
    ompp_gomp_go_on();
}

/* ---- Loops ------------------------------------------------------------------------------------------------------- */

__thread bool ompp_gomp_dynamic __attribute__((tls_model("initial-exec"), visibility("hidden")));

enum { MONOTONIC = 1u << 31 }; /* beside a schedule's number */

/* schedule(runtime) may be any, and auto is static. */
static bool is_dynamic(int schedule)
{
    unsigned kind = (unsigned)schedule & ~(unsigned)MONOTONIC;
    int chunk, set = STATIC;

    if (kind == RUNTIME) {
        OMPP_REAL(void (*)(int *, int *), "omp_get_schedule")(&set, &chunk);
        kind = (unsigned)set & ~(unsigned)MONOTONIC;
    }
    return kind == DYNAMIC || kind == GUIDED;
}

void ompp_gomp_loop_begins(int schedule)
{
    ompp_gomp_dynamic = ompp_sync_follower() && is_dynamic(schedule);
    if (ompp_gomp_dynamic) ompp_sync_wait(OMPP_SYNC_CHUNK, ompp_gomp_team(), ompp_event_now());
}

/* The thread has come for iterations. \return more: it has got some. */
static inline bool handed_out(bool more)
{
    if (__builtin_expect(!ompp_gomp_dynamic, 1)) return more;
    ompp_gomp_dynamic = more;
    (more ? ompp_sync_resume : ompp_sync_publish)(OMPP_SYNC_CHUNK, ompp_gomp_team(), ompp_event_now());
    return more;
}

#define OMPP_GOMP_LOOP(name, n, schedule)                                        \
    OMPP_EXPORT bool GOMP_##name(OMPP_P##n)                                      \
    {                                                                            \
        bool (*real)(OMPP_P##n) = OMPP_REAL(bool (*)(OMPP_P##n), "GOMP_" #name); \
                                                                                 \
        if (!ompp_gomp_on()) return real(OMPP_A##n);                             \
        enter_work(OMPP_CONSTRUCT_LOOP, OMPP_GOMP_HERE);                         \
        ompp_gomp_loop_begins(schedule);                                         \
        return handed_out(real(OMPP_A##n));                                      \
    }

#define OMPP_GOMP_NEXT(name)                                                    \
    OMPP_EXPORT bool GOMP_##name(OMPP_P2)                                       \
    {                                                                           \
        const ompp_time_t begin = ompp_event_chunk_begin();                     \
        const bool more = OMPP_REAL(bool (*)(OMPP_P2), "GOMP_" #name)(OMPP_A2); \
                                                                                \
        if (ompp_gomp_on()) ompp_event_chunk(begin, more, OMPP_CHUNK_DONE);     \
        return handed_out(more);                                                \
    }
#include "gomp/ompp_gomp.def"

/* ---- Sections ---------------------------------------------------------------------------------------------------- */

ompp_region_ref_t ompp_gomp_sections_here(void)
{
    ompp_region_ref_t region = ompp_event_innermost(OMPP_CONSTRUCT_SECTIONS);

    return region ? region : ompp_event_innermost(OMPP_CONSTRUCT_PARSECTS);
}

static unsigned got_section(ompp_region_ref_t region, unsigned number)
{
    if (number) ompp_event_phase(region, OMPP_PHASE_SECTION, ompp_event_now());
    return number;
}

OMPP_EXPORT unsigned GOMP_sections_start(unsigned count)
{
    unsigned (*real)(unsigned) = OMPP_REAL(unsigned (*)(unsigned), "GOMP_sections_start");

    if (!ompp_gomp_on()) return real(count);
    enter_work(OMPP_CONSTRUCT_SECTIONS, OMPP_GOMP_HERE);
    ompp_gomp_come_for_one();
    return got_section(ompp_gomp_sections_here(), real(count));
}

OMPP_EXPORT unsigned GOMP_sections2_start(unsigned count, ompp_word_t *reductions, void **memory)
{
    unsigned (*real)(unsigned, ompp_word_t *, void **) =
        OMPP_REAL(unsigned (*)(unsigned, ompp_word_t *, void **), "GOMP_sections2_start");

    if (!ompp_gomp_on()) return real(count, reductions, memory);
    enter_work(OMPP_CONSTRUCT_SECTIONS, OMPP_GOMP_HERE);
    ompp_gomp_come_for_one();
    return got_section(ompp_gomp_sections_here(), real(count, reductions, memory));
}

OMPP_EXPORT unsigned GOMP_sections_next(void)
{
    unsigned (*real)(void) = OMPP_REAL(unsigned (*)(void), "GOMP_sections_next");

    if (!ompp_gomp_on()) return real();
    ompp_region_ref_t region = ompp_gomp_sections_here();
    ompp_event_phase(region, OMPP_PHASE_MGMT, ompp_event_now());
    ompp_gomp_come_for_one();
    return got_section(region, real());
}

/* ---- Ends -------------------------------------------------------------------------------------------------------- */

/* What libgomp's functions for them give back, if anything: whether the construct was cancelled. */
typedef ompp_word_t end_t(void);

/* The region may be 0: that of a combined construct is the team's, and ends with it. */
static ompp_region_ref_t region_that_ends(ompp_construct_t construct, const void *code)
{
    ompp_region_ref_t region = ompp_gomp_on() ? ompp_event_innermost(construct) : 0;

    ompp_region_ends_at(region, code);
    return region;
}

static inline ompp_word_t end_with_barrier(ompp_construct_t construct, end_t *real, const void *code)
{
    const ompp_region_ref_t region = region_that_ends(construct, code);

    ompp_event_phase(region, OMPP_PHASE_EXITBAR, ompp_event_now());
    ompp_gomp_arrive();
    const ompp_word_t cancelled = real();
    ompp_gomp_go_on();
    ompp_event_exit(region, ompp_event_now());
    return cancelled;
}

static inline ompp_word_t end_without(ompp_construct_t construct, end_t *real, const void *code)
{
    ompp_event_exit(region_that_ends(construct, code), ompp_event_now());
    return real();
}

#define OMPP_GOMP_END(name, construct, how)                                                              \
    OMPP_EXPORT ompp_word_t GOMP_##name(void)                                                            \
    {                                                                                                    \
        return end_##how(OMPP_CONSTRUCT_##construct, OMPP_REAL(end_t *, "GOMP_" #name), OMPP_GOMP_HERE); \
    }

/* ---- Barriers ---------------------------------------------------------------------------------------------------- */

/* Whether the single before has a barrier at its end, as the code tells: then it is this one. It may be there several
 * times. */
static bool ends_single(end_t *called)
{
    return ompp_unwind_calls_next((uintptr_t)ompp_gomp_single_code, (uintptr_t)called);
}

/* The end of a single construct, or a barrier of its own. \return region that was entered; 0 = the barrier belongs to a
 * single. */
static ompp_region_ref_t enter_barrier(end_t *called, const void *code)
{
    ompp_time_t t = ompp_event_now();
    ompp_barrier_state_t state = ompp_event_barrier_state();
    ompp_region_ref_t region = 0;

    if (state == OMPP_BARRIER_NONE && ompp_gomp_end_single(t)) state = OMPP_BARRIER_AWAITED;
    if (state == OMPP_BARRIER_AWAITED && !ends_single(called)) state = OMPP_BARRIER_NONE;
    if (state == OMPP_BARRIER_AWAITED) ompp_event_barrier_phase(true, t);
    else if (state == OMPP_BARRIER_NONE)
        ompp_event_enter(region = ompp_region_at(OMPP_CONSTRUCT_BARRIER, code, NULL), t);
    return region;
}

static void leave_barrier(ompp_region_ref_t region)
{
    if (region) ompp_event_exit(region, ompp_event_now());
    else ompp_event_barrier_phase(false, ompp_event_now());
}

static inline ompp_word_t barrier(end_t *real, end_t *called, const void *code)
{
    const bool on = ompp_gomp_on();
    const ompp_region_ref_t region = on ? enter_barrier(called, code) : 0;

    ompp_gomp_arrive();
    const ompp_word_t cancelled = real();
    ompp_gomp_go_on();
    if (on) leave_barrier(region);
    return cancelled;
}

#define OMPP_GOMP_BARRIER(name)                                                         \
    OMPP_EXPORT ompp_word_t GOMP_##name(void)                                           \
    {                                                                                   \
        return barrier(OMPP_REAL(end_t *, "GOMP_" #name), GOMP_##name, OMPP_GOMP_HERE); \
    }
#include "gomp/ompp_gomp.def"
