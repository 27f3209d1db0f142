/* What is kept of a thread between events, and what several kinds of events need. Private to src/ompt. */
#ifndef OMPP_OMPT_SELF_H
#define OMPP_OMPT_SELF_H

#include "runtime/ompp_event.h"

#include <omp-tools.h>
#include <stdbool.h>
#include <stdint.h>

/** Parallel regions forked inside one another by one thread. */
#define OMPP_OMPT_FORKS 16u

typedef struct {
    const void *code;
    ompp_team_t *team;
} ompp_ompt_fork_t;

/** Where a thread was a worker so far. One that was in a nested team may be in any each time. */
typedef enum { OMPP_OMPT_UNKNOWN, OMPP_OMPT_OUTERMOST, OMPP_OMPT_NESTED } ompp_ompt_role_t;

/** Of one thread: what end events need and do not tell. */
typedef struct {
    ompp_ompt_fork_t forks[OMPP_OMPT_FORKS]; /* parallel regions it has forked and not joined, innermost last */
    unsigned nforks;
    bool league_begins; /* what it forks next is the implicit parallel region of its team of a league */
    /* of the implicit tasks it is in, innermost in bit 0: 1 = of libomp's own teams */
    uint64_t own_teams;
    const void *group_code;    /* where the last taskgroup began */
    const void *taskloop_code; /* where the taskloop it is in begins */
    bool dynamic_loop;         /* it is in a loop whose iterations are handed out as it goes */
    bool work_cancelled;       /* the worksharing construct it was in has been left already */
    union {
        struct {
            ompp_region_ref_t lock; /* lock it tries to acquire; 0 = none */
            unsigned singles;       /* single constructs it executes, as far as their ends have been told */
        };
        uint64_t untold; /* both: 0 = it is in nothing whose end may not be told */
    };
    ompp_time_t lock_since;  /* 0 = it will only be counted */
    ompp_region_ref_t mutex; /* critical, ordered: what it waits for; found before it has it, for others wait then */
    bool left;               /* the barrier of the region that it has forked, and is in: the join ends its part */
    ompp_ompt_role_t role;
} ompp_ompt_self_t;

extern __thread ompp_ompt_self_t ompp_ompt_self __attribute__((tls_model("initial-exec"), visibility("hidden")));

/** \return region of a construct at a place that this thread has not met. */
ompp_region_ref_t ompp_ompt_region_at_slow(ompp_construct_t construct, const void *code);

/** A place that this thread has met is right, and none of the library's. */
static inline ompp_region_ref_t ompp_ompt_region_at(ompp_construct_t construct, const void *code)
{
    const ompp_region_ref_t region = ompp_region_met_at(construct, code);

    return __builtin_expect(region != 0, 1) ? region : ompp_ompt_region_at_slow(construct, code);
}

/** \brief The lock that was tried last was not acquired: counted, without time. */
void ompp_ompt_flush_failed_lock_slow(void);

static inline void ompp_ompt_flush_failed_lock(void)
{
    if (__builtin_expect(ompp_ompt_self.lock != 0, 0)) ompp_ompt_flush_failed_lock_slow();
}

/** Data of a task that is not measured; that of an implicit task is 0. */
#define OMPP_OMPT_UNMEASURED 2u

extern bool ompp_ompt_has_untied __attribute__((visibility("hidden"))); /* an untied task has been created */

/** As a relaxed load, which compilers do not make part of a comparison. */
static inline bool ompp_ompt_some_untied(void)
{
    return __builtin_expect(*(const volatile bool *)&ompp_ompt_has_untied, 0);
}

/** A part of an untied task ends without an event when another thread has the task already: what the thread runs now
 * tells. */
static inline void ompp_ompt_runs_now(const ompt_data_t *task, ompp_time_t t)
{
    if (!ompp_ompt_some_untied()) return;
    if (task && task->value != OMPP_OMPT_UNMEASURED && !(task->value & 1)) ompp_event_task_current(task->value, t);
}

#endif
