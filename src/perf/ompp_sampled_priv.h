/**
 * \file
 * Back ends that count by samples with addresses: events on each thread, whose records are mapped to structures when
 * the thread's place in the call tree changes. All records since the last change belong to the place that is left.
 * Private to src/perf.
 *
 * A ring that is half full before the thread changes its place is emptied by a thread of ours, into counts that wait
 * for the change.
 */
#ifndef OMPP_SAMPLED_PRIV_H
#define OMPP_SAMPLED_PRIV_H

#include "model/ompp_tables.h"
#include "perf/ompp_perf_priv.h"
#include "runtime/ompp_meter.h"

#define OMPP_SAMPLED_EVENTS 2 /* of a back end */
#define OMPP_SAMPLED_VALUES 9

/** The last rows of a back end: what a stream tells of samples that are missing, in the order of ompp_perf_loss_t. */
#define OMPP_SAMPLED_LOSS(name, meaning)                                                                            \
    {                                                                                                               \
        name, OMPP_UNIT_COUNT, OMPP_QUALITY_EXACT, OMPP_REDUCE_SUM, OMPP_REDUCE_SUM, SOURCE, meaning, OMPP_USE_LOSS \
    }
#define OMPP_SAMPLED_LOSSES                                                                                      \
    OMPP_SAMPLED_LOSS("lost", "came too fast to be told of: theirs are missing"),                                \
        OMPP_SAMPLED_LOSS("throttled", "times the kernel stopped sampling for a moment, because too many came"), \
        OMPP_SAMPLED_LOSS("unthrottled", "times it went on again")

/** A back end; one of each lives in its file. */
typedef struct {
    const char *what;              /* for messages */
    const ompp_metric_row_t *rows; /* shape [nvalues]; the last ones are OMPP_SAMPLED_LOSSES */
    unsigned nvalues;
    /** Adds a sample that stands for weight events. \param[in,out] values  of its structure, shape [nvalues]. */
    void (*count)(const ompp_perf_record_t *record, uint64_t weight, uint64_t *values);
    /** Looks at each record, also at those that are no samples, before it is counted; sets record->again. May be
     * NULL. */
    void (*look)(ompp_perf_record_t *record);
    struct perf_event_attr attr[OMPP_SAMPLED_EVENTS], leader; /* leader: of the first event's group */
    unsigned nevents;
    bool has_leader;
    size_t ring;      /* bytes per event */
    unsigned metrics; /* set; 0 = not started */
} ompp_sampled_t;

/** \brief Opens the address map that these back ends share. \return false: no addresses for it. */
bool ompp_sampled_map(void);

/** \brief put() of all of them. */
void ompp_sampled_put(uint32_t object, uintptr_t begin, uintptr_t end);

/**
 * \brief Tries to open the events on this thread.
 * \return 0, or errno.
 * \param[out] events  open then, shape [nevents].
 */
int ompp_sampled_open(ompp_sampled_t *backend, ompp_perf_t *events, ompp_perf_t *leader);

/** \brief Registers metrics. \return false: no room. */
bool ompp_sampled_start(ompp_sampled_t *backend);

/** Functions of the component, but for thread_begin(), which calls ompp_sampled_begin(). */
#define OMPP_SAMPLED_FUNCTIONS \
    .move = ompp_sampled_move, .thread_end = ompp_sampled_end, .readable = true, .put = ompp_sampled_put
void *ompp_sampled_begin(ompp_sampled_t *backend);
void ompp_sampled_move(void *state, ompp_place_now_t from, ompp_place_now_t to);
void ompp_sampled_end(void *state);

#endif
