/**
 * \file
 * Manager and workers (a task farm): one rank sends work to ranks that are free and receives from any source what comes first. Whose
 * result that is, and who therefore gets the next work, is decided as the program runs: offsets alone keep the measured order. So the
 * manager notes what it does, and how long each task took from being sent to its result, on all clocks; and goes through that once more
 * on each clock, where the result that comes first is the one that is received, whoever has it. A task belongs to its place among those
 * handed out, not to the rank that had it.
 *
 * It is gone through as the program runs, on each clock as far as lengths of tasks are known: a result cannot be chosen before those of
 * all tasks under way are there. Going through it without any speed-up gives the measured run, if it is as is assumed here; the difference
 * is what is saved.
 *
 * On plain data, as ompp_replay.h: nothing here waits, allocates, or knows MPI.
 */
#ifndef OMPP_FARM_H
#define OMPP_FARM_H

#include "causal/ompp_clocks.h"

#define OMPP_FARM_EVENTS 4096u /* that some clock has not come to yet */
#define OMPP_FARM_TASKS 1024u  /* that are handed out, or that some clock has not come to */
#define OMPP_FARM_HOLD 128u    /* events before it is gone through: until then all ranks have reported that do so by themselves */
#define OMPP_FARM_TRIES 512u   /* events before the first result from any source: it is no farm */
#define OMPP_FARM_RANKS 4096u  /* of the run, at most */

/** What the manager does at the end of a stretch of its own work. */
typedef enum {
    OMPP_FARM_GIVE,  /* it hands out a task */
    OMPP_FARM_MORE,  /* it sends more to a rank that has one: that begins now */
    OMPP_FARM_COME,  /* a rank that had none has reported for the first time, late: it has been on its way since the begin */
    OMPP_FARM_ANY,   /* it waits for the next result, of any task */
    OMPP_FARM_THIS,  /* for that of this task */
    OMPP_FARM_END
} ompp_farm_op_t;

/** How long something took, on all clocks. */
typedef struct {
    unsigned used;    /* clocks in v; on the others it took as long as measured */
    ompp_fine_t real;
    ompp_fine_t v[OMPP_CLOCKS];
} ompp_farm_span_t;

typedef struct {
    uint16_t op, task;
    ompp_farm_span_t work; /* of the manager since the event before; waiting left out */
} ompp_farm_event_t;

typedef struct {
    unsigned rank;
    bool open, done;    /* open: no result yet. done: it has come, length is known */
    bool lost;          /* nobody will send one */
    bool reports;       /* its rank has come by itself, and been on its way since the begin */
    uint64_t results;   /* that had been received when it was handed out */
    ompp_stamp_t given;
    ompp_farm_span_t length;
} ompp_farm_task_t;

/** How far a clock has come. */
typedef struct {
    uint64_t next; /* event */
    ompp_fine_t begin, time;
    unsigned nopen;
    struct {
        uint16_t task;
        ompp_fine_t since;
    } open[OMPP_FARM_TASKS];
} ompp_farm_walk_t;

/** An interval between two meetings of all ranks. */
typedef struct {
    bool begun, spoiled, held; /* held: it is not gone through yet */
    uint64_t set, head, results;
    uint16_t latest[OMPP_FARM_RANKS]; /* task of a rank + 1; 0 = it has had none */
    bool taken[OMPP_FARM_TASKS];
    unsigned used, next;              /* next: task that is looked at first */
    ompp_stamp_t begin, since; /* since: the manager has worked */
    ompp_farm_event_t events[OMPP_FARM_EVENTS];
    ompp_farm_task_t tasks[OMPP_FARM_TASKS];
    ompp_farm_walk_t walks[OMPP_CLOCKS + 1]; /* the last one without speed-up */
} ompp_farm_t;

/** \brief Nothing is noted any more; ompp_farm_begin() is next. */
void ompp_farm_reset(ompp_farm_t *f);

/** \brief The interval begins, or the first that is noted of it. */
void ompp_farm_begin(ompp_farm_t *f, const ompp_stamp_t *now);

/** \brief The manager sends to a rank. */
void ompp_farm_give(ompp_farm_t *f, unsigned rank, const ompp_stamp_t *now);

/**
 * \brief It has received from a rank.
 * \param[in] any     from any source.
 * \param[in] now     its clocks when it began to wait.
 * \param[in] result  those of the rank when it sent.
 */
void ompp_farm_take(ompp_farm_t *f, unsigned rank, bool any, const ompp_stamp_t *now, const ompp_stamp_t *result);

/** \brief It has waited, and goes on with these clocks. */
void ompp_farm_go_on(ompp_farm_t *f, const ompp_stamp_t *now);

/** \return whether tasks were handed out and results taken, and how is known. */
bool ompp_farm_is_one(const ompp_farm_t *f);

/**
 * \brief All ranks meet: what the manager's clocks are when order is decided on each of them.
 * \param[in,out] now  its clocks; v is replaced.
 * \return false when it cannot be told; now is as it was.
 */
bool ompp_farm_end(ompp_farm_t *f, ompp_stamp_t *now);

#endif
