/*
 * Programs that are made up, in which order is decided as they run: loops whose iterations go to who is free, locks,
 * tasks.
 */
#ifndef ORDER_PROGRAMS_H
#define ORDER_PROGRAMS_H

#include "tests/unit/causal/random.h"

#include <string.h>

#define CONTEXTS 4
#define REGIONS 4u
#define PHASES 12
#define LOCKS 2
#define LOOPS 2
#define UNITS 24
#define TASKS 24
#define OPS 8

typedef enum { END, WORK, LOCK, UNLOCK, LOOP, CREATE, WAIT } op_t;

typedef struct {
    op_t op;
    unsigned what; /* lock, loop, task; WORK: regions it is in */
    unsigned ns;
} step_t;

typedef struct {
    step_t own[CONTEXTS][OPS * 4 + 2 * TASKS];
    step_t tasks[TASKS][OPS * 4];
    step_t units[LOOPS][UNITS][OPS];
    unsigned nunits[LOOPS];
} phase_t;

typedef struct {
    phase_t phases[PHASES];
} program_t;

static step_t *add_work(step_t *s)
{
    *s = (step_t){WORK, below(2) ? 1u << below(REGIONS) : 0, 1 + below(below(3) ? 30000 : 200000)};
    return s + 1;
}

static step_t *add_locked(step_t *s)
{
    const unsigned lock = below(LOCKS);

    *s++ = (step_t){LOCK, lock, 0};
    s = add_work(s);
    *s++ = (step_t){UNLOCK, lock, 0};
    return s;
}

/* loops: how many; locks: one in so many pieces is followed by a lock, 0 = none. */
static void make(program_t *p, unsigned loops, unsigned locks)
{
    memset(p, 0, sizeof *p);
    for (unsigned n = 0; n < PHASES; n++) {
        phase_t *phase = &p->phases[n];
        for (unsigned c = 0; c < CONTEXTS; c++) {
            step_t *s = add_work(phase->own[c]);
            for (unsigned l = 0; l < loops; l++) {
                *s++ = (step_t){LOOP, l, 0};
                if (below(2)) s = add_work(s); /* the loop is nowait */
            }
            for (unsigned i = 0; i < 4; i++) {
                if (locks && below(locks) == 0) s = add_locked(s);
                if (below(2)) s = add_work(s);
            }
        }
        for (unsigned l = 0; l < loops; l++) {
            phase->nunits[l] = below(UNITS + 1);
            for (unsigned u = 0; u < phase->nunits[l]; u++) {
                step_t *s = add_work(phase->units[l][u]);
                if (below(2)) s = add_work(s);
                if (locks && below(locks) == 0) s = add_locked(s);
            }
        }
    }
}

typedef enum { ONE_CREATOR, MANY_CREATORS, NESTED } shape_t;

/* A context, or a task, makes so many; between them it works, or waits for them. */
static step_t *add_tasks(step_t *s, unsigned first, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        *s++ = (step_t){CREATE, first + i, 0};
        if (below(3) == 0) s = add_work(s);
        if (below(6) == 0) *s++ = (step_t){WAIT, 0, 0};
    }
    if (below(2)) {
        *s++ = (step_t){WAIT, 0, 0};
        s = add_work(s);
    }
    return s;
}

static void make_tasks(program_t *p, shape_t shape, unsigned locks)
{
    memset(p, 0, sizeof *p);
    for (unsigned n = 0; n < PHASES; n++) {
        phase_t *phase = &p->phases[n];
        const unsigned creators = shape == ONE_CREATOR ? 1 : CONTEXTS,
                       each = (shape == NESTED ? TASKS / 2 : TASKS) / creators;
        for (unsigned c = 0; c < CONTEXTS; c++) {
            step_t *s = below(2) ? add_work(phase->own[c]) : phase->own[c];
            if (c < creators) s = add_tasks(s, c * each, each);
        }
        for (unsigned t = 0; t < creators * each; t++) {
            step_t *s = add_work(phase->tasks[t]);
            if (shape == NESTED) s = add_tasks(s, TASKS / 2 + t, 1);
            if (locks && below(locks) == 0) s = add_locked(s);
        }
        for (unsigned t = creators * each; t < TASKS; t++) add_work(phase->tasks[t]);
    }
}

#endif
