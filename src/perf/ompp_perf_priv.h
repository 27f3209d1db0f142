/**
 * \file
 * Events of perf_event_open(2) on one thread, with or without a ring of samples. Private to src/perf.
 */
#ifndef OMPP_PERF_PRIV_H
#define OMPP_PERF_PRIV_H

#include "perf/ompp_perf_record.h"

#include <linux/perf_event.h>

typedef struct {
    int fd;                /* -1 = not open */
    ompp_perf_ring_t ring; /* ring.data NULL: none */
    void *pages;
    size_t bytes; /* of pages, mapped */
} ompp_perf_t;

/** \brief Moves a file above the numbers that the program is used to; no other one inherits it. \return where. */
int ompp_perf_move_up(int fd);

/**
 * \brief Opens an event for the calling thread, counting from now on unless attr->disabled.
 * \param[in] attr   size is set here.  \param[in] leader  of a group, -1 = none.
 * \param[in] ring   bytes wanted for samples, a power of two; less is taken where the system gives less; 0 = none.
 * \return 0, or errno.
 */
int ompp_perf_open(ompp_perf_t *event, struct perf_event_attr *attr, int leader, size_t ring);

/** \brief Frees all of it; any thread. */
void ompp_perf_close(ompp_perf_t *event);

/** \brief The event's count; 0 when it cannot be read. Any thread. */
uint64_t ompp_perf_count(const ompp_perf_t *event);

/** \return whether samples are waiting. */
bool ompp_perf_has(const ompp_perf_t *event);

/**
 * \brief Reads what there is, one record after the other, and gives the room back to the kernel. One thread at a time.
 */
void ompp_perf_drain(ompp_perf_t *event, void (*visit)(void *data, ompp_perf_record_t *record), void *data);

/**
 * \brief Why perf_event_open() refuses, in words.
 * \param[in] what  of the event, "page faults".
 * \param[out] why  shape [n].
 */
void ompp_perf_why(int error, const char *what, char *why, size_t n);

#endif
