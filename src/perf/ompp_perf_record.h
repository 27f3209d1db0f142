/**
 * \file
 * Records that the kernel leaves in the ring buffer of a perf_event: taken apart without trusting them. Private to
 * src/perf by use; needs nothing else of ours, so that it is tested on streams of bytes.
 *
 * Source of the formats: perf_event_open(2) and linux/perf_event.h; of IBS' raw registers AMD's "Processor Programming
 * Reference", chapter on instruction-based sampling.
 */
#ifndef OMPP_PERF_RECORD_H
#define OMPP_PERF_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A ring: bytes at data[(offset from the start) mod size], tail <= offset < head. */
typedef struct {
    const unsigned char *data; /* borrowed */
    uint64_t size;             /* bytes, a power of two */
    uint64_t head, tail;       /* running offsets; tail moves on as records are read */
    uint64_t sample_type;      /* PERF_SAMPLE_* of the event */
} ompp_perf_ring_t;

typedef enum {
    OMPP_PERF_END, /* nothing more */
    OMPP_PERF_SAMPLE,
    OMPP_PERF_LOST,       /* the ring was full: so many records are missing */
    OMPP_PERF_THROTTLE,   /* the kernel has switched the event off until the next tick of its clock */
    OMPP_PERF_UNTHROTTLE, /* and on again */
    OMPP_PERF_MAPPED,     /* memory was mapped: addr, length */
    OMPP_PERF_OTHER,      /* of no interest here, or of a kind that is not known */
    OMPP_PERF_BROKEN      /* not a record: nothing behind it can be read, the ring is emptied */
} ompp_perf_kind_t;

typedef enum { OMPP_LEVEL_UNKNOWN, OMPP_LEVEL_L1, OMPP_LEVEL_L2, OMPP_LEVEL_L3, OMPP_LEVEL_MEMORY } ompp_level_t;

/** What is not in the sample is 0. */
typedef struct {
    ompp_perf_kind_t kind;
    uint64_t ip, time, addr, period;
    uint64_t weight;     /* cycles from issue to completion */
    uint64_t lost;       /* LOST: records */
    uint64_t length;     /* MAPPED: bytes */
    uint64_t page_bytes; /* of the page that addr lay in when the sample was taken; 0: there was none */
    uint32_t pid, tid;
    bool load, store;
    ompp_level_t level; /* where the data was found */
    bool again;         /* left to who counts: not the first of its kind */
} ompp_perf_record_t;

/** PERF_SAMPLE_DATA_PAGE_SIZE of Linux 5.11, which older headers do not have. */
#define OMPP_PERF_PAGE_SIZE (1u << 22)

/** PERF_SAMPLE_* that can be taken apart; an event must not ask for others. */
#define OMPP_PERF_KNOWN                                                                                \
    (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | \
     PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW | \
     PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC | OMPP_PERF_PAGE_SIZE)

/**
 * \brief Takes the next record.
 * \return its kind, which is record->kind, too. A sample that is too short for its type is BROKEN alone: the next one
 *         is read. One whose data says nothing of load or store (load and store false) is a SAMPLE all the same.
 */
ompp_perf_kind_t ompp_perf_next(ompp_perf_ring_t *ring, ompp_perf_record_t *record);

/** What a stream tells of samples that are missing. */
typedef enum { OMPP_LOSS_LOST, OMPP_LOSS_THROTTLED, OMPP_LOSS_UNTHROTTLED, OMPP_LOSS_NUM } ompp_perf_loss_t;

/**
 * \brief Adds what the record says of samples that are missing: their number, or times the event was switched off and
 *        on.
 * \param[in,out] losses  shape [OMPP_LOSS_NUM].
 * \return whether it said anything.
 */
bool ompp_perf_count_loss(const ompp_perf_record_t *record, uint64_t *losses);

#endif
