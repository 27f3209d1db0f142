/**
 * \file
 * State of a measured thread, for the runtime and for the rooms that start, read and end measurement. Nobody else
 * includes this.
 */
#ifndef OMPP_THREAD_H
#define OMPP_THREAD_H

#include "model/ompp_layout.h"
#include "model/ompp_profile.h"
#include "runtime/ompp_event.h"
#include "runtime/ompp_meter.h"
#include "runtime/ompp_state.h"

#include <stdbool.h>

#define OMPP_SITES_SHIFT 9u /* a place has two entries of the call site cache, of which there are so many pairs */
#define OMPP_SITES (2u << OMPP_SITES_SHIFT)
#define OMPP_PATHS 64u /* entries of the worker path cache; power of two */
#define OMPP_MAX_DEPTH 256u
#define OMPP_MAX_TASKS 128u /* on one thread, begun on top of one another */

struct ompp_team {
    ompp_a_team_t a;
};

typedef struct {
    ompp_off_t parent, region, node;
} ompp_child_t;

typedef struct {
    const void *code, *name; /* name: static text, or a small number for the construct */
    ompp_region_ref_t region;
    ompp_off_t node; /* calls: last node entered from here; 0 = none */
    union {
        uint64_t place;      /* calls: ompp_a_frame_t of the frame it lay below */
        uint64_t iterations; /* loops: the most in an execution of this thread */
    };
} ompp_site_t;

typedef struct {
    ompp_off_t fork_node, node;
} ompp_path_t;

/** Of one thread; written by it alone. Not in the arena: nothing in it is needed after its death. */
struct ompp_thread {
    char *base;            /* of the arena */
    ompp_a_stack_t *stack; /* set by ompp_use_stack() */
    ompp_a_frame_t *top;   /* = &stack->frames[stack->top] */
    ompp_a_frame_t *last;  /* = the last frame the stack has room for */
    union {
        struct {
            unsigned skipped; /* open regions that are not measured; while > 0 nothing is */
            unsigned nmeters;
        };
        uint64_t unusual; /* both: 0 on a thread that is measured without meters */
    };
    /* odd: inside the runtime, further events on this thread are ignored; counts up at each end of one */
    unsigned guard;
    ompp_loss_t lost;      /* while regions are skipped for want of room: how they are counted; else OMPP_LOSS_NONE */
    unsigned skipped_team; /* 1: this worker skips a whole team's part */
    _Atomic bool replaced; /* another thread has come for its place: it should end, and begin in no team any more */
    ompp_off_t base_node;  /* where TASKEXEC nodes hang: innermost team's node, else the root */
    ompp_team_t *team;
    ompp_a_thread_t *record;
    ompp_child_t *children; /* open addressing: (parent, region) -> node */
    uint32_t children_mask, children_used;
    ompp_off_t block, block_end; /* piece of the arena this thread hands out from */
    ompp_off_t free_stacks;
    ompp_off_t teams;       /* records of teams this thread forked */
    ompp_off_t joined_team; /* the one joined last; 0 = none yet */
    ompp_off_t free_teams;  /* those of them to which no frame points any more */
    /* A team that one of its frames belongs to; the team does not count it. Members of a team come at the same time:
     * a count that all of them change is slow. Who forks looks here before it uses a record again. 0 = none. */
    _Atomic ompp_off_t held;
    struct ompp_thread *next_free, *next_all;
    ompp_off_t meter_node; /* the place meters were told last */
    /* 1 + slot of the phase there, when they have not been told of it: they rest; 0 = they have */
    uint16_t meter_unreported;
    bool meter_waits;
    ompp_time_t since; /* its first event: no stamp may be older */
    /* end of what its row had before: of the row's last thread, or of the team that this thread left last */
    ompp_time_t busy_until;
    bool is_stopped;                  /* by ompp_threads_stop() */
    unsigned stopped;                 /* guard as it has set it; 0 = it has not */
    uint64_t stopped_at;              /* ns of processor that the thread had had then */
    bool thins;                       /* some of its nodes are timed now and then */
    uint32_t timed;                   /* executions of brief regions that were */
    bool follows;                     /* the call paths of outermost regions and of MPI calls are looked for */
    struct ompp_callpaths *callpaths; /* NULL = no walks are made */
    void *meter_states[OMPP_MAX_COMPONENTS];
    ompp_site_t sites[OMPP_SITES];
    ompp_path_t paths[OMPP_PATHS];
};

/**
 * \brief Makes the state of this thread, starting measurement if need be.
 * \return NULL when there is nothing to measure.
 */
ompp_thread_t *ompp_thread_new_slow(void);

/** \brief Node for (parent, region) of this thread, made when missing. \return 0 when memory is full. */
ompp_off_t ompp_child_slow(ompp_thread_t *thread, ompp_off_t parent, ompp_off_t region, ompp_time_t t);

/** \brief Twice the room for open frames. \return false when the largest depth is reached or memory is full. */
bool ompp_stack_grow_slow(ompp_thread_t *thread);

/** \brief A stack for an explicit task, where none is free. \return 0 when memory is full. */
ompp_off_t ompp_stack_new_slow(ompp_thread_t *thread);

/** \brief The thread is over: closes what it has open, keeps its state for a thread that takes its place. */
void ompp_thread_end(ompp_thread_t *thread, ompp_time_t t);

/**
 * \brief At the end of measurement: threads but self have no events any more. Those that are inside one are waited for,
 *        some 30 ms at most for all of them: what they have written is read next, and must be whole. OpenMP's threads
 *        tell the end of their last barrier when they next look, not before the program ends.
 * \return the end of measurement: when the last of them had its last event, or a little later.
 */
ompp_time_t ompp_threads_stop(const ompp_thread_t *self);

/** \return what a thread of this process is at, as Linux says it: 'R', 'S', 'Z' ...; 0 = it is gone. */
char ompp_task_state(uint32_t task);

/** A place in teams: number in those of its kind, and where these are (ompp_layout.h). */
typedef struct {
    ompp_thread_kind_t kind;
    unsigned index;
    uint64_t path;
} ompp_seat_t;

/**
 * \brief This thread becomes a member of teams in this place. When an earlier thread that had it has ended, it goes on
 *        with that one's record and tree: runtimes end and make threads as team sizes vary, rows are places in a team.
 * \return the state to go on with, guarded like thread.
 */
ompp_thread_t *ompp_thread_take_place(ompp_thread_t *thread, ompp_seat_t place);

static inline void *ompp_at(const ompp_thread_t *thread, ompp_off_t off) { return thread->base + off; }

static inline ompp_off_t ompp_off(const ompp_thread_t *thread, const void *record)
{
    return (ompp_off_t)((const char *)record - thread->base);
}

static inline ompp_a_node_t *ompp_node(const ompp_thread_t *thread, ompp_off_t off) { return ompp_at(thread, off); }

static inline ompp_a_frame_t *ompp_top(const ompp_thread_t *thread) { return thread->top; }

/** \brief Tells the thread's meters where it is now. */
void ompp_meter_move(ompp_thread_t *thread);

/** Meters that need not be told of moves for now. */
extern _Atomic unsigned ompp_meters_suspended __attribute__((visibility("hidden")));

/** \return whether none of the thread's meters, if it has any, needs to be told of moves: it is noted where it is. */
static inline bool ompp_meters_are_suspended(const ompp_thread_t *thread)
{
    return thread->nmeters <= atomic_load_explicit(&ompp_meters_suspended, memory_order_relaxed);
}

/** \brief While they rest: the thread is in this frame, whose end is not known yet. */
static inline void ompp_meter_note(ompp_thread_t *thread, const ompp_a_frame_t *frame)
{
    thread->meter_node = frame->node;
    thread->meter_unreported = (uint16_t)(frame->slot + 1);
}

/** \brief The thread's place has changed: its top frame, or that one's phase. */
static inline void ompp_moved(ompp_thread_t *thread)
{
    if (__builtin_expect(thread->nmeters != 0, 0)) ompp_meter_move(thread);
}

/** \brief Makes stack the current one. */
static inline void ompp_use_stack(ompp_thread_t *thread, ompp_a_stack_t *stack)
{
    thread->stack = stack;
    thread->top = &stack->frames[stack->top];
    thread->last = &stack->frames[stack->capacity - 1];
    atomic_store_explicit(&thread->record->stack, ompp_off(thread, stack), memory_order_release);
    ompp_moved(thread);
}

/**
 * \brief Moves the top of the current stack by one frame, for readers of the arena too. Meters are told by the caller.
 */
static inline void ompp_step_top(ompp_thread_t *thread, int by)
{
    thread->top += by;
    __atomic_thread_fence(__ATOMIC_RELEASE); /* the frame is complete before it is seen; no instruction on x86 */
    thread->stack->top += (unsigned)by;
}

/** \brief The same of any thread. */
static inline void ompp_move_top(ompp_thread_t *thread, int by)
{
    ompp_step_top(thread, by);
    ompp_moved(thread);
}

/** \brief This thread's state; NULL when it is not to be measured. */
static inline ompp_thread_t *ompp_thread_get(void)
{
    ompp_thread_t *thread = ompp_thread_self;

    return __builtin_expect(thread != NULL, 1) ? thread : ompp_thread_new_slow();
}

/** \return whether the thread is inside an event. */
static inline bool ompp_is_inside(const ompp_thread_t *thread) { return thread->guard & 1; }

/** \return whether ompp_threads_stop() found it outside of events, and has kept it there. */
static inline bool ompp_thread_is_stopped(const ompp_thread_t *thread) { return thread->is_stopped; }

/** \brief Goes outside again without having done anything. */
static inline void ompp_guard_drop(ompp_thread_t *thread)
{
    __asm__ volatile("" ::: "memory");
    thread->guard--;
}

/** \brief First statement of every event: false when this thread is inside the runtime already. */
static inline bool ompp_guard_enter(ompp_thread_t *thread)
{
    /* looked at once: ompp_threads_stop() may change it */
    const unsigned guard = __atomic_load_n(&thread->guard, __ATOMIC_RELAXED);

    if (__builtin_expect(guard & 1, 0)) return false;
    __atomic_store_n(&thread->guard, guard + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE); /* for readers of the arena (ompp_dump.c); no instruction on x86 */
    __asm__ volatile("" ::: "memory");
    return true;
}

static inline void ompp_guard_leave(ompp_thread_t *thread)
{
    __asm__ volatile("" ::: "memory");
    __atomic_thread_fence(__ATOMIC_RELEASE);
    thread->guard++;
}

static inline uint32_t ompp_hash2(uint32_t a, uint32_t b)
{
    return (uint32_t)(((uint64_t)a * 0x9e3779b1u + (uint64_t)b * 0x85ebca77u) * 0xc2b2ae3d27d4eb4fu >> 40);
}

/** \brief Node for (parent, region): last child first, then the table. Constant time. */
static inline ompp_off_t ompp_child(ompp_thread_t *thread, ompp_off_t parent, ompp_off_t region, ompp_time_t t)
{
    ompp_a_node_t *p = ompp_node(thread, parent);
    ompp_off_t last = p->last;

    /* Offset 0 is never a node: its bytes are zero, and no region is. */
    if (__builtin_expect(ompp_node(thread, last)->region == region, 1)) return last;
    for (uint32_t i = ompp_hash2(parent, region);; i++) {
        const ompp_child_t *c = &thread->children[i & thread->children_mask];
        if (c->parent == parent && c->region == region) return p->last = c->node;
        if (c->node == 0) return ompp_child_slow(thread, parent, region, t);
    }
}

#endif
