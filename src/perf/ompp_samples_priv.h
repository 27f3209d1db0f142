/**
 * \file
 * Which events of this processor sample loads and stores with their addresses. Private to src/perf; needs nothing of
 * ours, so that it is tested on copies of the system's files.
 */
#ifndef OMPP_SAMPLES_PRIV_H
#define OMPP_SAMPLES_PRIV_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

#define OMPP_SAMPLES_EVENTS 2

typedef struct {
    const char *kind; /* "PEBS", "IBS" */
    unsigned nevents;
    struct perf_event_attr attr[OMPP_SAMPLES_EVENTS], leader;
    bool has_leader; /* the first event is counted only in a group behind this one */
} ompp_samples_events_t;

/**
 * \brief Reads the descriptions of events.
 * \param[in] devices  directory of the system's event sources, "/sys/bus/event_source/devices". \param[in] period
 *                     events per sample.
 * \return false: this processor has none.
 */
bool ompp_samples_find(const char *devices, unsigned long period, ompp_samples_events_t *events);

/** What a loop of known loads and stores left. */
typedef struct {
    unsigned long period, loads, stores;       /* done */
    unsigned long load_samples, store_samples; /* that have an address in the loop's memory */
    unsigned long elsewhere, without_address;  /* other samples */
} ompp_samples_trial_t;

/**
 * \brief Whether samples can be believed: as many as the loop's accesses call for, up to a factor of 2, and their
 *        addresses in its memory.
 * \param[out] why  when not, what was seen; shape [n].
 */
bool ompp_samples_judge(const ompp_samples_trial_t *trial, char *why, size_t n);

#endif
