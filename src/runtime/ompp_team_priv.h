/**
 * \file
 * Members of teams: what their usual way (ompp_team_hot.c) and the rare one (ompp_team.c) share. Private to
 * src/runtime.
 *
 * A member's frame goes through the phases STARTUP, body, EXITBAR and SHUTDWN. A worker's last two end with what the
 * forking thread does: the barrier when that thread leaves it (release), the part as a whole when it goes on alone
 * (join). Sources tell a worker's end later than that, or earlier.
 */
#ifndef OMPP_TEAM_PRIV_H
#define OMPP_TEAM_PRIV_H

#include "runtime/ompp_frame_priv.h"

/** \brief What the events of ompp_event.h do when something is not as usual. */
void ompp_member_begin_slow(ompp_team_t *team, unsigned index, bool nested, ompp_time_t t);
void ompp_member_barrier_slow(bool begin, ompp_time_t t);
void ompp_member_end_slow(ompp_time_t t);
void ompp_join_slow(ompp_team_t *team, ompp_time_t t);

static inline uint64_t ompp_team_number(const ompp_a_team_t *team) { return (uint64_t)(uintptr_t)team; }

/** \brief Where the thread's cache keeps the node that stands for another thread's node. */
static inline ompp_path_t *ompp_path_of(ompp_thread_t *thread, ompp_off_t foreign)
{
    return &thread->paths[(foreign >> 4) * 0x9e3779b1u >> 26];
}

/** \brief Opens a worker's frame; the caller knows that there is room. */
static inline ompp_a_frame_t *ompp_worker_push(ompp_thread_t *thread, ompp_a_team_t *team, ompp_off_t node,
                                               ompp_time_t t)
{
    /* It counts from the fork on, unless its row was another thread's or another team's until later. */
    if (team->fork < t) t = team->fork;
    if (thread->busy_until > t) t = thread->busy_until;
    ompp_a_frame_t *frame = ompp_push_node(thread, node, OMPP_FRAME_F_TEAM, t);
    frame->team = ompp_off(thread, team);
    frame->outer_base = thread->base_node;
    atomic_fetch_add(&team->refs, 1); /* and the frame is seen before "replaced" is read */
    return frame;
}

/** \brief After the push: another thread has come for its place, before now or just now (replace_others). */
static inline void ompp_worker_beside(ompp_thread_t *thread)
{
    if (__builtin_expect(!atomic_load(&thread->replaced), 1)) return;
    atomic_store(&thread->replaced, false);
    atomic_store(&thread->record->beside, 1);
}

/** \brief The member's code begins: the phase in slot 1, BODY or MGMT. */
static inline void ompp_member_body(ompp_thread_t *thread, ompp_a_frame_t *frame, ompp_time_t t)
{
    ompp_frame_book(thread, frame, t);
    ompp_frame_to(thread, frame, 1);
    thread->base_node = frame->node;
    thread->team = frame->team ? ompp_at(thread, frame->team) : NULL;
}

/** \brief The member's frame goes to another of its phases. */
static inline void ompp_member_phase(ompp_thread_t *thread, ompp_a_frame_t *frame, ompp_phase_t phase, ompp_time_t t)
{
    ompp_frame_book(thread, frame, t);
    ompp_frame_to(thread, frame, ompp_phase_slot(ompp_node(thread, frame->node)->construct, phase));
}

/** \return when a worker left the barrier, seen at t: not after the forking thread has, as far as that is known. */
static inline ompp_time_t ompp_worker_release(const ompp_a_team_t *team, ompp_time_t t)
{
    /* LLVM libomp tells a worker's leaving at its next fork. */
    const ompp_time_t release = atomic_load_explicit(&team->release, memory_order_acquire);
    const ompp_time_t join = atomic_load_explicit(&team->join, memory_order_acquire);

    if (release && release < t) t = release;
    return join && join < t ? join : t;
}

#endif
