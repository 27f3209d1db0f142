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

/** A member inside an event, and what its events need. */
typedef struct {
    ompp_thread_t *thread; /* NULL = none, and no thread is inside */
    ompp_a_frame_t *frame; /* of the team; the top one */
    ompp_a_node_t *node;   /* of the frame */
    ompp_a_team_t *team;
} ompp_member_t;

static inline ompp_member_t ompp_member_of(ompp_thread_t *thread, ompp_a_frame_t *frame)
{
    return (ompp_member_t){thread, frame, ompp_node(thread, frame->node), ompp_at(thread, frame->team)};
}

/** \brief Goes outside again. */
static inline ompp_member_t ompp_member_none(ompp_thread_t *thread)
{
    ompp_guard_leave(thread);
    return (ompp_member_t){NULL, NULL, NULL, NULL};
}

typedef enum { OMPP_MEMBER_BARRIER, OMPP_MEMBER_END, OMPP_MEMBER_JOIN } ompp_member_event_t;

/** \brief The member, inside this event, when something is not as usual. What it has left open is closed. */
ompp_member_t ompp_member_slow(ompp_member_event_t event, ompp_time_t t);

/** \brief The same as it begins; its frame is in its first phase. */
ompp_member_t ompp_member_begins_slow(ompp_team_t *team, unsigned index, bool nested, ompp_time_t t);

/** \return a record of a team, in a line of its own, which all members look at, when no free one is known; NULL = no
 *          room. */
ompp_a_team_t *ompp_team_new_slow(ompp_thread_t *thread);

/**
 * \brief A fork that is not measured.
 * \param[in] counted  the region has been counted as skipped.
 * \return what stands for the team: its members count what they lose. NULL = they lose nothing.
 */
ompp_team_t *ompp_team_lost_slow(ompp_thread_t *thread, ompp_region_ref_t region, bool counted);

/** \brief The join of such a team. */
void ompp_join_lost_slow(void);

#define OMPP_TEAM_NO_NODE 1u /* fork_node of such teams: offset of no record, no worker knows a place for it */

static inline bool ompp_team_is_kept(const ompp_team_t *team) { return team && team->a.fork_node != OMPP_TEAM_NO_NODE; }

static inline uint64_t ompp_team_number(const ompp_a_team_t *team) { return (uint64_t)(uintptr_t)team; }

/** \return slot of the phase EXITBAR, of SHUTDWN: the last two of all constructs that fork. */
static inline unsigned ompp_member_exitbar(const ompp_a_node_t *node) { return node->nphases - 2u; }
static inline unsigned ompp_member_shutdown(const ompp_a_node_t *node) { return node->nphases - 1u; }

/** \brief Where the thread's cache keeps the node that stands for another thread's node. */
static inline ompp_path_t *ompp_path_of(ompp_thread_t *thread, ompp_off_t foreign)
{
    return &thread->paths[(foreign >> 4) * 0x9e3779b1u >> 26];
}

/** \return since when a worker is in a team: from the fork on, unless its row was busy until later. */
static inline ompp_time_t ompp_worker_enters(const ompp_a_team_t *team, ompp_time_t busy_until, ompp_time_t t)
{
    if (team->fork < t) t = team->fork;
    return busy_until > t ? busy_until : t;
}

/**
 * \brief A worker's frame is one of the team now: whether another thread has come for its place, before now or just now
 *        (replace_others). The frame is seen before "replaced" is read: its team was counted or held in sequential
 *        consistency.
 */
static inline void ompp_worker_beside(ompp_thread_t *thread)
{
    if (__builtin_expect(!atomic_load(&thread->replaced), 1)) return;
    atomic_store(&thread->replaced, false);
    atomic_store(&thread->record->beside, 1);
}

/** \return until when a worker's part lasts, seen at t: to the join at most, as far as that is known. */
static inline ompp_time_t ompp_worker_end(const ompp_a_team_t *team, ompp_time_t t)
{
    const ompp_time_t join = atomic_load_explicit(&team->join, memory_order_acquire);

    return join && join < t ? join : t;
}

/** \return when a worker left the barrier, seen at t: not after the forking thread has, as far as that is known. */
static inline ompp_time_t ompp_worker_release(const ompp_a_team_t *team, ompp_time_t t)
{
    /* LLVM libomp tells a worker's leaving at its next fork. */
    const ompp_time_t release = atomic_load_explicit(&team->release, memory_order_acquire);

    return ompp_worker_end(team, release && release < t ? release : t);
}

#endif
