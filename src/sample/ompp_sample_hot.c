/*
 * The handler of SIGPROF. All signals wait while it runs, but those of faults. On the stack of the program it takes
 * some 200 bytes beside what the system puts there.
 */
#include "sample/ompp_sample_priv.h"

#include "base/ompp_caller.h"
#include "base/ompp_clock.h"
#include "runtime/ompp_callpath.h"

#include <errno.h>

#define SLOW_PART 20u /* a sample takes at most this part of the period: 5 % */
#define SLOW_ROW 8u   /* of so many in a row: one may have been interrupted, or have met new code */

__thread ompp_sampler_t *ompp_sample_self __attribute__((tls_model("initial-exec")));

typedef struct {
    ompp_sampler_t *self;
    const siginfo_t *info;
    const void *context;
} taken_t;

static uint64_t clock_time(void) { return ompp_clock_now(); }

static void take(void *argument)
{
    const taken_t *taken = argument;
    ompp_sampler_t *self = taken->self;
    const int overrun = taken->info->si_code == SI_TIMER ? taken->info->si_overrun : 0;
    const uint64_t ns = self->period_ns * (1 + (unsigned)overrun);
    /* after one that was slow by the clock: the thread may have had to leave its processor, often just now */
    uint64_t (*const now)(void) = self->slow ? ompp_sample_processor_time : clock_time;
    const uint64_t begin = now();

    ompp_callpath_sample(taken->context, ns);
    self->samples++;
    self->ns += ns;
    if ((now() - begin) * SLOW_PART <= self->period_ns) self->slow = 0;
    else if (++self->slow >= SLOW_ROW) ompp_sample_way_slow_down(self);
}

void ompp_sample_handle(int signal, siginfo_t *info, void *context)
{
    const int saved = errno;
    ompp_sampler_t *self = ompp_sample_self;
    taken_t taken = {self, info, context};

    (void)signal;
    if (!ompp_sample_is_ours(info)) ompp_sample_foreign(info);
    else if (self && self->is_armed && !self->is_inside) {
        self->is_inside = true;
        ompp_caller_call(self->stack_top, take, &taken);
        self->is_inside = false;
    }
    errno = saved;
}
