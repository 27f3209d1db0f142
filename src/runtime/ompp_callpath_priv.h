/**
 * \file
 * What a thread keeps to find its call paths. Private to src/runtime.
 */
#ifndef OMPP_CALLPATH_PRIV_H
#define OMPP_CALLPATH_PRIV_H

#include "base/ompp_hash.h"
#include "runtime/ompp_frame_priv.h"
#include "unwind/ompp_unwind.h"

#define OMPP_CALLPATH_MEMOS 8u    /* places of which the last path is kept; power of two */
#define OMPP_CALLPATH_FRAMES 256u /* of a walk */
#define OMPP_CALLPATH_NODES 128u  /* of a path */

/** The path of the last event at a place. */
typedef struct {
    const void *key; /* address of the call, or the region */
    uint64_t place;  /* ompp_a_frame_t of the frame that it lay below */
    ompp_off_t node; /* the innermost function of the path */
    uint64_t caller; /* stack pointer of the caller at its call */
    ompp_unwind_memo_t walk;
} ompp_callpath_memo_t;

typedef struct {
    ompp_off_t parent, node;
    uint64_t code;
} ompp_callpath_child_t;

typedef struct ompp_callpaths {
    ompp_unwind_thread_t unwind;
    ompp_callpath_child_t *children; /* open addressing: (parent, code) -> node */
    uint32_t mask, used;
    uint64_t caller; /* of the path that was asked for last */
    uint64_t calls, cost_ns;
    ompp_callpath_memo_t memos[OMPP_CALLPATH_MEMOS];
    ompp_unwind_frame_t frames[OMPP_CALLPATH_FRAMES];
} ompp_callpaths_t;

/** \brief The thread's state is new, or another thread's: notes where its stack is. */
void ompp_callpath_thread_begins(ompp_thread_t *thread);

/**
 * \brief The node that an event of the program hangs below: the innermost function that led to it, below the top frame,
 *        which is settled.
 * \param[in] key    what tells the place of the event from others.
 * \param[in,out] t  the event's time: what a walk takes is added, which is not the region's. NULL = it is read later.
 * \return the top frame's node when there is no room. callpaths->caller: the caller's stack pointer, 0 = not known.
 */
ompp_off_t ompp_callpath_here(ompp_thread_t *thread, const void *key, ompp_time_t *t);

static inline uint32_t ompp_callpath_hash(ompp_off_t parent, uint64_t code)
{
    return (uint32_t)((parent * OMPP_HASH_STEP + code * 0xc2b2ae3d27d4eb4fu) >> 32);
}

/** The set of the metrics of samples; 0 = none are taken. */
extern unsigned ompp_samples_set __attribute__((visibility("hidden")));

/** Samples of the initial thread are kept aside. */
extern bool ompp_callpath_keeps __attribute__((visibility("hidden")));

/** \brief The initial thread begins: what was kept aside becomes samples of its root. */
void ompp_callpath_early_add(ompp_thread_t *thread);

/** \brief Finding call paths has taken so long: with OMPP_CALLPATH=auto it ends when that is too long. */
void ompp_callpath_spent_slow(ompp_thread_t *thread, uint64_t ns);

/** \brief Makes the node of ompp_callpath_child(). */
ompp_off_t ompp_callpath_child_slow(ompp_thread_t *thread, ompp_off_t parent, uint64_t code, ompp_time_t t);

/** \brief Node of (parent, code), made when missing. \return parent when there is no room. */
ompp_off_t ompp_callpath_child(ompp_thread_t *thread, ompp_off_t parent, uint64_t code, ompp_time_t t);

/** \return whether the call path of what is entered below the top frame is looked for. */
static inline bool ompp_follows_to(const ompp_thread_t *thread, const ompp_a_frame_t *top)
{
    return thread->follows && top->flags & OMPP_FRAME_F_BASE && !thread->stack->explicit_task;
}

/** \brief As ompp_push(); of an outermost region with its call path. */
static inline ompp_a_frame_t *ompp_push_region(ompp_thread_t *thread, ompp_region_ref_t region, ompp_time_t t)
{
    const ompp_a_frame_t *top = ompp_settled_top(thread, t);

    if (!ompp_follows_to(thread, top)) return ompp_push_below(thread, top->node, region, t);
    const ompp_off_t parent = ompp_callpath_here(thread, (const void *)(uintptr_t)region, &t);
    ompp_a_frame_t *frame = ompp_push_below(thread, parent, region, t);
    if (frame && !frame->caller) frame->caller = thread->callpaths->caller;
    return frame;
}

#endif
