/**
 * \file
 * Manager and workers (a task farm): one rank sends work to ranks that are free and receives from any source what comes
 * first. Whose result that is, and who therefore gets the next work, is decided as the program runs: offsets alone keep
 * the measured order. So the manager notes what it does, and how long each task took from being sent to its result, on
 * all clocks; and goes through that once more on each clock, where the result that comes first is the one that is
 * received, whoever has it, and what was handed out to the rank whose result was received then goes to that one.
 *
 * It is gone through as the program runs, on each clock as far as lengths of tasks are known: a result cannot be chosen
 * before those of all ranks' oldest tasks are there. A rank that has several does one after the other. Going through it
 * without any speed-up gives the measured run, if it is as is assumed here; the difference is what is saved.
 *
 * On plain data, as ompp_replay.h: nothing here waits, allocates, or knows MPI.
 */
#ifndef OMPP_FARM_H
#define OMPP_FARM_H

#include "causal/clock/ompp_clocks.h"

#define OMPP_FARM_EVENTS 4096u /* that some clock has not come to yet */
#define OMPP_FARM_TASKS 1024u  /* that are handed out, or that some clock has not come to */
/* events before it is gone through: until then all ranks have reported that do so by themselves */
#define OMPP_FARM_HOLD 256u
#define OMPP_FARM_TRIES 512u  /* events before the first result from any source: it is no farm; */
#define OMPP_FARM_TRY 40u     /* nor with so many for each rank that it has to do with, and one more */
#define OMPP_FARM_RANKS 4096u /* of the run, at most */
#define OMPP_FARM_SEATS 256u  /* of them that have tasks */
#define OMPP_FARM_AHEAD 32u   /* that a rank may have without a result of any: what it is sent are no tasks */

/** What the manager does at the end of a stretch of its own work. */
typedef enum {
    OMPP_FARM_GIVE, /* it hands out a task */
    OMPP_FARM_MORE, /* it sends more to the same rank: the task begins now */
    /* a rank that had none has reported for the first time, late: it has been on its way since the begin */
    OMPP_FARM_COME,
    OMPP_FARM_ANY,  /* it waits for the next result, of any rank */
    OMPP_FARM_THIS, /* for that of one rank */
    OMPP_FARM_WORK  /* something else */
} ompp_farm_op_t;

/** How long something took, on all clocks. */
typedef struct {
    unsigned used; /* clocks in v; on the others it took as long as measured */
    ompp_fine_t real;
    ompp_fine_t v[OMPP_CLOCKS];
} ompp_farm_span_t;

typedef struct {
    uint16_t op, task, seat;
    bool answers;          /* it goes to the rank whose result was received last */
    ompp_farm_span_t work; /* of the manager since the event before; waiting left out */
} ompp_farm_event_t;

typedef struct {
    bool done;                 /* its result has come, length is known */
    bool lost;                 /* nobody will send one */
    bool reported;             /* its rank has come by itself */
    bool deferred;             /* it was handed out when results of others had been received since that of its rank */
    uint16_t after;            /* the next one that the rank has, + 1; 0 = none */
    ompp_clock_vector_t given; /* or, if later, the result of the one before */
    ompp_farm_span_t length;
    /* its result takes so long to come; where the manager had not waited for it, as those of its rank usually do */
    ompp_fine_t late;
} ompp_farm_task_t;

/** Tasks that a rank has, the oldest first; + 1, 0 = none. */
typedef struct {
    uint16_t first, last;
} ompp_farm_queue_t;

#define OMPP_FARM_TRAITS (1 + OMPP_CLOCKS_SLOTS)

/** Of tasks, by what there is to know of each: how long it took, and how long in each region, 1/100 ns. */
typedef struct {
    double n, sum[OMPP_FARM_TRAITS];
} ompp_farm_sums_t;

/** How far a clock has come. What is behind seats is as far as there are some. */
typedef struct {
    uint64_t next; /* event */
    ompp_fine_t begin, time;
    int latest; /* seat whose result was received last; -1 = none yet */
    uint16_t after[OMPP_FARM_TASKS];
    ompp_fine_t since[OMPP_FARM_TASKS]; /* it was handed out */
    struct {
        ompp_farm_queue_t queue;
        ompp_fine_t free; /* when the task before ended */
    } seats[OMPP_FARM_SEATS];
} ompp_farm_walk_t;

/** What results took to come that the manager waited for, 1/100 ns. */
typedef struct {
    double n, sum;
    ompp_fine_t least;
} ompp_farm_lates_t;

/** An interval between two meetings of all ranks. */
typedef struct {
    bool begun, spoiled, held; /* held: it is not gone through yet */
    bool fits;                 /* at the end: without any speed-up it took as long as measured, within 2 %, with odd */
    int latest;                /* seat of the rank whose result from any source was received last; -1 = none yet */
    /* seat that the last event handed out something to, or was a result of: more of that is part of it; -1 */
    int gave, got;
    uint64_t set, head, results;
    uint64_t slowest; /* event that no clock is behind of */
    bool taken[OMPP_FARM_TASKS];
    ompp_farm_sums_t all; /* of tasks that ranks have done */
    double squares[OMPP_FARM_TRAITS];
    unsigned used, next; /* next: task that is looked at first */
    /* since when the manager waits, since when what it waits for was sent; 0 = that is not known */
    ompp_fine_t waits, there;
    uint16_t arrival;                  /* the task whose result that is, + 1; 0 = none */
    bool any_arrival;                  /* it could be that of any rank */
    ompp_fine_t arrived, asked;        /* when the latest such result came; since when the manager had waited for it */
    ompp_farm_lates_t lates;           /* of all results */
    ompp_fine_t odd;                   /* by which results took longer than is usual, where that is much */
    ompp_clock_vector_t begin, since;  /* since: the manager has worked */
    unsigned nseats, nanswers;         /* nanswers: of them that have had results */
    uint16_t seat_of[OMPP_FARM_RANKS]; /* + 1; 0 = the rank has had none */
    struct {
        unsigned rank, pending;  /* pending: tasks that it has */
        bool answers, mute;      /* it has had results; it will have none */
        ompp_farm_lates_t lates; /* of its results */
        ompp_farm_sums_t done;
        ompp_farm_queue_t queue;
        uint16_t reported; /* while held: the task of a rank that has come by itself, + 1; 0 = none */
    } seats[OMPP_FARM_SEATS];
    ompp_farm_event_t events[OMPP_FARM_EVENTS];
    ompp_farm_task_t tasks[OMPP_FARM_TASKS];
    ompp_farm_walk_t walks[OMPP_CLOCKS + 1]; /* the last one without speed-up */
} ompp_farm_t;

/** \brief Nothing is noted any more; ompp_farm_begin() is next. */
void ompp_farm_reset(ompp_farm_t *f);

/** \brief The interval begins, or the first that is noted of it. */
void ompp_farm_begin(ompp_farm_t *f, const ompp_clock_vector_t *now);

/** \brief The manager sends to a rank. */
void ompp_farm_give(ompp_farm_t *f, unsigned rank, const ompp_clock_vector_t *now);

/**
 * \brief It has received from a rank.
 * \param[in] any     from any source.
 * \param[in] now     its clocks when it began to wait.
 * \param[in] result  those of the rank when it sent.
 */
void ompp_farm_take(ompp_farm_t *f, unsigned rank, bool any, const ompp_clock_vector_t *now,
                    const ompp_clock_vector_t *result);

/** \brief It is about to wait for something else. */
void ompp_farm_work(ompp_farm_t *f, const ompp_clock_vector_t *now);

/**
 * \brief It has waited, and goes on with these clocks: what the message took is known now. Next after ompp_farm_take(),
 *        _work().
 */
void ompp_farm_go_on(ompp_farm_t *f, const ompp_clock_vector_t *now);

/** \return whether tasks were handed out and results of several ranks taken, and how is known. */
bool ompp_farm_is_one(const ompp_farm_t *f);

/**
 * \return whether how long tasks take, or in which regions, goes by the rank that does them: here it is taken to go
 *         with the task, and what is told is a hint. By analysis of variance; of less than some ten tasks for each rank
 *         it is not known.
 */
bool ompp_farm_is_of_ranks(const ompp_farm_t *f);

/**
 * \brief All ranks meet: what the manager's clocks are when order is decided on each of them.
 * \param[in,out] now  its clocks; v is replaced.
 * \return false when it cannot be told; now is as it was. What is told is a hint where it does not fit.
 */
bool ompp_farm_end(ompp_farm_t *f, ompp_clock_vector_t *now);

#endif
