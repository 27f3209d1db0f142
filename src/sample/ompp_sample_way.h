/**
 * \file
 * What makes the signals of samples, for a thread. The caller holds the lock of samplers, or is the thread before
 * others know it. For src/sample and tools/doctor, which tries it.
 */
#ifndef OMPP_SAMPLE_WAY_H
#define OMPP_SAMPLE_WAY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef enum { OMPP_SAMPLE_TIMER, OMPP_SAMPLE_PERF, OMPP_SAMPLE_WAYS } ompp_sample_way_t;

/** Of a thread that gets samples. Never freed: others go on with it. */
typedef struct ompp_sampler {
    char *stack_top; /* the handler works on a stack of its own: the program's may be small */
    uint64_t period_ns;
    ompp_sample_way_t way;
    pid_t tid; /* of its thread; 0 = of nobody */
    /* one of the two */
    int timer; /* kernel's number */
    int fd;
    uint64_t id;       /* of the event that fd was opened for: the program may have closed it */
    uint64_t next_ns;  /* while it rests: of the thread's processor time, when the next sample is due */
    uint64_t begin_ns; /* of the thread's processor time, when it was opened */
    uint64_t samples, ns;
    unsigned slow; /* samples in a row that took too long */
    bool is_open, is_armed, is_inside, is_slowed;
    struct ompp_sampler *next, *next_free;
} ompp_sampler_t;

/** What the timers' signals carry. */
extern const char ompp_sample_cookie __attribute__((visibility("hidden")));

/** \brief Makes it for the calling thread; it rests. \return 0, or errno. */
int ompp_sample_way_open(ompp_sampler_t *sampler, ompp_sample_way_t way, uint64_t period_ns);

/** \brief Any thread. \return false: the program has closed our descriptor meanwhile. */
bool ompp_sample_way_close(ompp_sampler_t *sampler);

void ompp_sample_way_arm(ompp_sampler_t *sampler);

/** \brief On its thread. A signal may have been sent just before. */
void ompp_sample_way_disarm(ompp_sampler_t *sampler);

/** \brief Twice the period. Async-signal-safe, on the sampler's thread. */
void ompp_sample_way_slow_down(ompp_sampler_t *sampler);

/** \return of the calling thread, ns. Async-signal-safe. */
uint64_t ompp_sample_processor_time(void);

/** \return of another thread of this process, ns; 0 = it is over. */
uint64_t ompp_sample_time_of(pid_t tid);

/** \return whether timers interrupt no system call of this kernel: they expire on the way back to the program. */
bool ompp_sample_timers_are_safe(void);

/** \return how often timers expire at most, Hz. */
unsigned ompp_sample_timers_most(void);

#endif
