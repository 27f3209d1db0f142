/*
 * Samples: both ways are tried for a moment, in the probe; how the run will get its samples.
 */
#include "tools/doctor/ompp-doctor.h"

#include "sample/ompp_sample_way.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PERIOD_NS = 10000000, MOST_PERIODS = 6 };

static volatile sig_atomic_t came;

static void count(int signal)
{
    (void)signal;
    came++;
}

static void try_way(ompp_sample_way_t way, char *why, size_t n)
{
    ompp_sampler_t sampler = {.fd = -1};
    const int error = ompp_sample_way_open(&sampler, way, PERIOD_NS);
    const clock_t begin = clock();

    came = 0;
    if (error) {
        snprintf(why, n, "%s", strerror(error));
        return;
    }
    ompp_sample_way_arm(&sampler);
    while (!came && (clock() - begin) / (CLOCKS_PER_SEC / 1000) < MOST_PERIODS * (PERIOD_NS / 1000000)) continue;
    ompp_sample_way_disarm(&sampler);
    ompp_sample_way_close(&sampler);
    if (!came) snprintf(why, n, "no signal came");
}

/* The handler stays: a signal may be on its way. */
void ompp_doctor_try_samples(ompp_probe_t *p)
{
    const struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};

    sigaction(SIGPROF, &action, NULL);
    try_way(OMPP_SAMPLE_TIMER, p->timers, sizeof p->timers);
    try_way(OMPP_SAMPLE_PERF, p->events, sizeof p->events);
    if (!ompp_sample_timers_are_safe()) snprintf(p->interrupts, sizeof p->interrupts, "yes");
    snprintf(p->most_hz, sizeof p->most_hz, "%u", ompp_sample_timers_most());
}

void ompp_doctor_check_samples(ompp_doctor_t *d, const ompp_probe_t *timers, const ompp_probe_t *interrupts,
                               const ompp_probe_t *events)
{
    const bool are_safe = !timers && !interrupts;

    if (are_safe && !events)
        ompp_doctor_say(d, OMPP_FINE, "samples", "by CPU timers, and by perf events above %s Hz",
                        d->plain.rank[0].most_hz);
    else if (are_safe)
        ompp_doctor_say(d, OMPP_FINE, "samples", "by CPU timers, up to %s Hz; perf events on %s: %s", events->most_hz,
                        events->host, events->events);
    else if (!events)
        ompp_doctor_say(d, OMPP_FINE, "samples", "by perf events; CPU timers %s on %s",
                        timers ? timers->timers : "can interrupt system calls", (timers ? timers : interrupts)->host);
    else {
        ompp_doctor_say(d, OMPP_NOTE, "samples", "none; perf events on %s: %s; CPU timers on %s: %s", events->host,
                        events->events, (timers ? timers : interrupts)->host,
                        timers ? timers->timers : "can interrupt system calls");
        ompp_doctor_advise("%s", timers ? "ulimit -i, for timers; sysctl kernel.perf_event_paranoid=2, for perf events"
                                        : "ompp --sample=100 takes them all the same");
    }
}
