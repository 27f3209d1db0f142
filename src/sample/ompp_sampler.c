/*
 * All samplers: who has one, and the end of all. A sampler is armed while its thread does not block the signal, so that
 * none of ours waits where the program could find it (sigwait, signalfd, ppoll).
 */
#define _GNU_SOURCE
#include "sample/ompp_sample_priv.h"

#include "base/ompp_caller.h"
#include "base/ompp_pages.h"
#include "model/ompp_profile.h"
#include "runtime/ompp_event.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STACK_BYTES ((size_t)64 << 10)
#define GUARD_BYTES ((size_t)4 << 10)
#define LONGEST_WAIT 50u /* ms, for signals that are on their way */

static _Atomic pid_t process; /* that takes samples; 0 = none */
static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;
static ompp_sampler_t *all, *unused; /* under busy */
static ompp_sampler_sum_t sum;       /* of threads that are over; the same */

/* No handler of the program comes meanwhile, which may call us, and nobody cancels the thread. */
static void lock(ompp_caller_t *caller)
{
    ompp_caller_save(caller);
    pthread_mutex_lock(&busy);
}

static void unlock(const ompp_caller_t *caller)
{
    pthread_mutex_unlock(&busy);
    ompp_caller_restore(caller);
}

void ompp_sampler_in_child(void)
{
    atomic_store(&process, 0);
    busy = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; /* a thread that is not there may hold it */
    ompp_sample_self = NULL;
}

bool ompp_sampler_is_on(void)
{
    const pid_t pid = atomic_load_explicit(&process, memory_order_acquire);

    return pid && pid == getpid();
}

bool ompp_sampler_is_here(void)
{
    const ompp_sampler_t *self = ompp_sample_self;

    return self && self->tid == (pid_t)syscall(SYS_gettid);
}

/* ---- Of a thread ------------------------------------------------------------------------------------------------- */

/* One that is left, or a new one: the record lies at the end of its stack. */
static ompp_sampler_t *take(void)
{
    ompp_sampler_t *sampler = unused;
    const size_t used = (sizeof *sampler + 63) / 64 * 64;

    if (sampler) {
        unused = sampler->next_free;
        return sampler;
    }
    char *memory = ompp_mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    mprotect(memory, GUARD_BYTES, PROT_NONE); /* what takes too much of it faults */
    sampler = (ompp_sampler_t *)(void *)(memory + STACK_BYTES - used);
    sampler->stack_top = memory + STACK_BYTES - used;
    sampler->next = all;
    return all = sampler;
}

static void put(ompp_sampler_t *sampler)
{
    sampler->next_free = unused;
    unused = sampler;
}

static int begin(ompp_sampler_t *self, ompp_sample_way_t way, uint64_t period_ns)
{
    const bool blocked = ompp_signals_blocks(SIGPROF);

    self->samples = self->ns = self->slow = 0;
    self->is_inside = self->is_slowed = false;
    const int error = ompp_sample_way_open(self, way, period_ns);
    if (error) return error;
    self->is_open = true;
    sum.threads++;
    ompp_sample_self = self;
    if (!blocked) ompp_sample_way_arm(self);
    return 0;
}

int ompp_sampler_begin(ompp_sample_way_t way, uint64_t period_ns)
{
    ompp_caller_t caller;

    lock(&caller);
    ompp_sampler_t *self = atomic_load(&process) ? take() : NULL; /* they may have ended just now */
    const int error = self ? begin(self, way, period_ns) : ENOMEM;
    if (self && error) put(self);
    unlock(&caller);
    return error;
}

/* Processor time since its last sample, or since it began, of a thread that blocks the signal. */
static uint64_t unsampled(const ompp_sampler_t *sampler)
{
    const uint64_t now = ompp_sample_time_of(sampler->tid), then = sampler->begin_ns + sampler->ns;

    return now > then ? now - then : 0;
}

static void close_it(ompp_sampler_t *sampler)
{
    if (!sampler->is_open) return;
    sampler->is_open = false;
    sum.samples += sampler->samples;
    sum.ns += sampler->ns;
    sum.slowed += sampler->is_slowed;
    sum.blocked += !sampler->is_armed;
    sum.never += !sampler->is_armed && !sampler->samples;
    if (!sampler->is_armed) sum.unsampled_ns += unsampled(sampler);
    sum.closed += !ompp_sample_way_close(sampler);
}

void ompp_sampler_end(void)
{
    ompp_sampler_t *self = ompp_sample_self;
    ompp_caller_t caller;

    if (!ompp_sampler_is_here()) return;
    lock(&caller);
    close_it(self);
    self->tid = 0;
    ompp_sample_self = NULL;
    put(self);
    unlock(&caller);
}

/* What waits comes when the thread does not block the signal any more. */
static void rest(ompp_sampler_t *self)
{
    unsigned periods = ompp_sample_drain(); /* before: some systems forget what a timer has sent that rests */

    ompp_sample_way_disarm(self);
    periods += ompp_sample_drain();
    self->next_ns -= periods * self->period_ns;
}

void ompp_sampler_mask_changed(void)
{
    ompp_sampler_t *self = ompp_sample_self;
    ompp_caller_t caller;

    if (!ompp_sampler_is_here()) return;
    const bool blocked = ompp_signals_blocks(SIGPROF);
    if (blocked != self->is_armed) return;
    lock(&caller);
    if (self->is_open && !blocked) ompp_sample_way_arm(self);
    if (self->is_open && blocked) rest(self);
    unlock(&caller);
}

void ompp_sampler_go_on(void)
{
    ompp_sampler_t *self = ompp_sample_self;
    ompp_caller_t caller;

    if (!ompp_sampler_is_here()) return;
    lock(&caller);
    const bool was_armed = self->is_armed;
    if (was_armed) rest(self);
    self->next_ns = ompp_sample_processor_time() + self->period_ns;
    self->begin_ns = self->next_ns - self->period_ns - self->ns;
    if (was_armed) ompp_sample_way_arm(self);
    unlock(&caller);
}

/* ---- Of all ------------------------------------------------------------------------------------------------------ */

void ompp_sampler_start(void) { atomic_store(&process, getpid()); }

/* What was sent to another thread, which may not have run since. */
static void wait_for(pid_t tid)
{
    const struct timespec nap = {0, 1000000};

    for (unsigned ms = 0; ms < LONGEST_WAIT && ompp_sample_is_pending(tid); ms++) syscall(SYS_nanosleep, &nap, NULL);
}

void ompp_sampler_stop(bool is_quiet)
{
    const pid_t self = (pid_t)syscall(SYS_gettid);
    ompp_caller_t caller;

    lock(&caller);
    atomic_store(&process, 0);
    for (ompp_sampler_t *s = all; s; s = s->next) close_it(s);
    for (ompp_sampler_t *s = all; s && is_quiet; s = s->next) {
        if (s->tid == self) ompp_sample_drain();
        else if (s->tid) wait_for(s->tid);
    }
    unlock(&caller);
}

ompp_sampler_sum_t ompp_sampler_sum(void)
{
    ompp_caller_t caller;

    lock(&caller);
    const ompp_sampler_sum_t now = sum;

    unlock(&caller);
    return now;
}
