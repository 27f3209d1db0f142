/*
 * Members of teams from fork to join, event by event. Usual is a thread that is measured, without meters (who follows
 * waiting is one), whose top frame is the one of its team, and a worker that comes from another team and knows the
 * place where this one was forked. Then an event calls no other function. In all other cases ompp_team.c finds the
 * member, or says that there is none. What the event does with it is the same.
 *
 * Each event books the phase that is over. The rest is booked when the region is: by the forking thread at the join, by
 * a worker when it begins in its next team, in the frame that it has. LLVM's and GNU's libraries keep workers in the
 * barrier until the next fork, so that a worker hears of the end of a region when the region is long joined.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-slp-vectorize") /* two words that lie side by side are quicker one after the other */
#endif

#include "runtime/ompp_callpath_priv.h"
#include "runtime/ompp_team_priv.h"

#define INLINE static inline __attribute__((always_inline))
#define NOBODY ((ompp_member_t){NULL, NULL, NULL, NULL})

/* ---- What events do with the member ------------------------------------------------------------------------------ */

INLINE bool has_forked(const ompp_member_t *m) { return ompp_team_is_forked_by(m->team, m->thread); }

/* Books the time of the phase that the member is in. */
INLINE void book(const ompp_member_t *m, ompp_time_t t)
{
    if (t <= m->frame->stamp) return;
    m->node->slot[m->frame->slot].time += t - m->frame->stamp;
    m->frame->stamp = t;
}

INLINE void go_to(const ompp_member_t *m, unsigned slot, ompp_time_t t)
{
    book(m, t);
    m->frame->slot = (uint16_t)slot;
    m->node->slot[slot].count++;
}

/* Its code begins: the phase in slot 1, BODY or MGMT. */
INLINE void begin(const ompp_member_t *m, ompp_time_t t)
{
    go_to(m, 1, t);
    m->thread->base_node = m->frame->node;
    m->thread->team = (ompp_team_t *)m->team;
}

/* \return whether it leaves the team with it: leave_team(). */
INLINE bool barrier(const ompp_member_t *m, bool begins, ompp_time_t t)
{
    if (begins) {
        go_to(m, ompp_member_exitbar(m->node), t);
        return false;
    }
    const bool forked = has_forked(m);
    if (forked) atomic_store_explicit(&m->team->release, t, memory_order_release);
    else t = ompp_worker_release(m->team, t);
    go_to(m, ompp_member_shutdown(m->node), t);
    return !forked;
}

INLINE void end(const ompp_member_t *m, ompp_time_t t)
{
    if (m->frame->slot != ompp_member_shutdown(m->node))
        go_to(m, ompp_member_shutdown(m->node), has_forked(m) ? t : ompp_worker_end(m->team, t));
}

/* A worker's end, after meters were told of it: they take one that has left for one outside of the team. */
INLINE void leave_team(const ompp_member_t *m) { m->frame->flags |= OMPP_FRAME_F_LEFT; }

/* The region is over: books what the member has not told. */
INLINE void book_rest(const ompp_member_t *m, ompp_time_t release, ompp_time_t join)
{
    if (m->frame->slot == ompp_member_exitbar(m->node))
        go_to(m, ompp_member_shutdown(m->node), release < join ? release : join);
    book(m, join);
    m->node->visits++;
}

INLINE void join(const ompp_member_t *m, ompp_time_t t)
{
    ompp_time_t release = atomic_load_explicit(&m->team->release, memory_order_relaxed);

    if (!release) atomic_store_explicit(&m->team->release, release = t, memory_order_release);
    atomic_store_explicit(&m->team->join, t, memory_order_release);
    m->thread->joined_team = m->frame->team;
    book_rest(m, release, t);
    m->thread->busy_until = m->frame->stamp;
    m->thread->base_node = m->frame->outer_base;
    m->thread->team = m->team->level == 1 ? NULL : ompp_team_below(m->thread, m->frame);
    ompp_step_top(m->thread, -1);
    ompp_frame_credit(m->thread, m->frame);
}

/* ---- The member, as usual ---------------------------------------------------------------------------------------- */

INLINE ompp_thread_t *enter_usual(void)
{
    ompp_thread_t *thread = ompp_thread_self;

    return thread && !thread->unusual && ompp_guard_enter(thread) ? thread : NULL;
}

/* What has ended above the team's frame is closed. */
INLINE ompp_member_t enter_member(void)
{
    ompp_thread_t *thread = enter_usual();

    if (!thread) return NOBODY;
    if (ompp_top(thread)->flags == OMPP_FRAME_F_ENDED)
        ompp_pop_unmetered(thread, ompp_top(thread), ompp_top(thread)->stamp);
    if (ompp_top(thread)->flags != OMPP_FRAME_F_TEAM) return ompp_member_none(thread);
    return ompp_member_of(thread, ompp_top(thread));
}

/* The frame of a worker's last part, which is over, goes on as that of its part of the next team, whose code begins. */
INLINE void pass_on(const ompp_member_t *last, ompp_team_t *team, ompp_off_t node, ompp_time_t t)
{
    ompp_thread_t *thread = last->thread;
    ompp_a_frame_t *frame = last->frame;
    ompp_a_slot_t *slot = ompp_node(thread, node)->slot;
    const ompp_time_t enter = ompp_worker_enters(&team->a, frame->stamp, t);

    ompp_frame_credit(thread, frame);
    frame->node = thread->base_node = node;
    frame->slot = 1;
    frame->flags = OMPP_FRAME_F_TEAM;
    frame->enter = enter;
    frame->stamp = t > enter ? t : enter;
    frame->credited = 0;
    frame->team = ompp_off(thread, team);
    thread->team = team;
    slot[0].time += frame->stamp - enter;
    slot[0].count++;
    slot[1].count++;
    /* If it held a team it was the last one. */
    if (atomic_exchange(&thread->held, frame->team) == 0)
        atomic_fetch_sub_explicit(&last->team->refs, 1, memory_order_release);
    ompp_worker_beside(thread);
}

/* What it knows a place for it has never forked itself, and of what it has forked the join has closed its part. */
INLINE bool begin_worker(ompp_team_t *team, ompp_time_t t)
{
    ompp_thread_t *thread = enter_usual();

    if (!thread) return false;
    const ompp_path_t *path = ompp_path_of(thread, team->a.fork_node);
    const ompp_member_t last = ompp_member_of(thread, ompp_top(thread));
    /* A frame below the stack of a task that has not ended holds its team until it is closed. */
    const ompp_off_t held = atomic_load_explicit(&thread->held, memory_order_relaxed);
    const bool usual = path->fork_node == team->a.fork_node && thread->record->kind == OMPP_THREAD_TEAM &&
                       (held == last.frame->team || !held) &&
                       (last.frame->flags & ~OMPP_FRAME_F_LEFT) == OMPP_FRAME_F_TEAM && team->a.level == 1;
    ompp_time_t join = 0, release = 0;
    if (usual && team->a.before == last.frame->team) {
        join = team->a.before_join;
        release = team->a.before_release;
    } else if (usual && last.team->level == 1) {
        join = atomic_load_explicit(&last.team->join, memory_order_acquire);
        release = atomic_load_explicit(&last.team->release, memory_order_relaxed);
    }
    if (join) {
        book_rest(&last, release, join);
        pass_on(&last, team, path->node, t);
    }
    ompp_guard_leave(thread);
    return join;
}

/* Its frame waits for it, in its first phase. */
INLINE bool begin_forker(ompp_time_t t)
{
    const ompp_member_t m = enter_member();

    if (!m.thread) return false;
    const bool usual = m.frame->slot == 0;
    if (usual) begin(&m, t);
    ompp_guard_leave(m.thread);
    return usual;
}

/* ---- The events -------------------------------------------------------------------------------------------------- */

/* What is left to do when not all is as usual. */
static void leave_slow(const ompp_member_t *m)
{
    ompp_moved(m->thread);
    ompp_guard_leave(m->thread);
}

static __attribute__((noinline)) void begin_slow(ompp_team_t *team, unsigned index, bool nested, ompp_time_t t)
{
    const ompp_member_t m = ompp_member_begins_slow(team, index, nested, t);

    if (!m.thread) return;
    ompp_sync_resume(OMPP_SYNC_FORK, ompp_team_number(m.team), t);
    begin(&m, t);
    leave_slow(&m);
}

void ompp_event_worker_begin(ompp_team_t *team, unsigned index, ompp_time_t t)
{
    if (!team || !begin_worker(team, t)) begin_slow(team, index, false, t);
}

void ompp_event_primary_begin(ompp_team_t *team, unsigned index, bool nested, ompp_time_t t)
{
    if (!team || index > 0 || !begin_forker(t)) begin_slow(team, index, nested, t);
}

static __attribute__((noinline)) void barrier_slow(bool begins, ompp_time_t t)
{
    const ompp_member_t m = ompp_member_slow(OMPP_MEMBER_BARRIER, t);

    if (!m.thread) return;
    if (!begins) ompp_sync_resume(OMPP_SYNC_BARRIER, ompp_team_number(m.team), t);
    const bool leaves = barrier(&m, begins, t);
    if (begins) ompp_sync_arrive(ompp_team_number(m.team), t);
    ompp_moved(m.thread);
    if (leaves) leave_team(&m);
    ompp_guard_leave(m.thread);
}

void ompp_event_member_barrier(bool begins, ompp_time_t t)
{
    const ompp_member_t m = enter_member();

    if (__builtin_expect(!m.thread, 0)) {
        barrier_slow(begins, t);
        return;
    }
    if (barrier(&m, begins, t)) leave_team(&m);
    ompp_guard_leave(m.thread);
}

static __attribute__((noinline)) void end_slow(ompp_time_t t)
{
    const ompp_member_t m = ompp_member_slow(OMPP_MEMBER_END, t);

    if (!m.thread) return;
    end(&m, t);
    ompp_moved(m.thread);
    if (!has_forked(&m)) leave_team(&m);
    ompp_guard_leave(m.thread);
}

void ompp_event_member_end(ompp_time_t t)
{
    const ompp_member_t m = enter_member();

    if (__builtin_expect(!m.thread, 0)) {
        end_slow(t);
        return;
    }
    end(&m, t);
    if (!has_forked(&m)) leave_team(&m);
    ompp_guard_leave(m.thread);
}

static __attribute__((noinline)) void join_slow(ompp_team_t *team, ompp_time_t t)
{
    if (!ompp_team_is_kept(team)) {
        ompp_join_lost_slow();
        return;
    }
    const ompp_member_t m = ompp_member_slow(OMPP_MEMBER_JOIN, t);
    if (!m.thread) return;
    if (m.team == &team->a && m.frame->slot == ompp_member_exitbar(m.node))
        ompp_sync_resume(OMPP_SYNC_BARRIER, ompp_team_number(m.team), t);
    if (m.team == &team->a) join(&m, t);
    leave_slow(&m);
}

void ompp_event_join(ompp_team_t *team, ompp_time_t t)
{
    ompp_member_t m = enter_member();

    if (m.thread && m.team != (ompp_a_team_t *)team) m = ompp_member_none(m.thread);
    if (__builtin_expect(!m.thread, 0)) {
        join_slow(team, t);
        return;
    }
    join(&m, t);
    ompp_guard_leave(m.thread);
}

/* A record of this thread that no frame points to any more; NULL = it knows of none. */
INLINE ompp_a_team_t *free_team(ompp_thread_t *thread)
{
    if (!thread->free_teams) return NULL;
    ompp_a_team_t *team = ompp_at(thread, thread->free_teams);
    thread->free_teams = team->next_free;
    return team;
}

ompp_team_t *ompp_event_fork(ompp_region_ref_t region, ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_get();

    if (!thread || !ompp_guard_enter(thread)) return NULL;
    const bool measured = ompp_region_is_kept(region) && !thread->skipped;
    ompp_a_team_t *team = measured ? free_team(thread) : NULL;
    if (__builtin_expect(measured && !team, 0)) team = ompp_team_new_slow(thread);
    ompp_a_frame_t *frame = team ? ompp_push_region(thread, region, t) : NULL;
    if (__builtin_expect(!frame, 0)) {
        if (team) thread->free_teams = ompp_off(thread, team);
        ompp_team_t *lost = ompp_team_lost_slow(thread, region, team != NULL);
        ompp_guard_leave(thread);
        return lost;
    }
    frame->team = ompp_off(thread, team);
    frame->outer_base = thread->base_node;
    frame->flags |= OMPP_FRAME_F_TEAM;
    team->fork_thread = ompp_off(thread, thread->record);
    team->fork_node = frame->node;
    team->fork = frame->enter;
    team->level = thread->team ? thread->team->a.level + 1 : 1;
    const ompp_a_team_t *before = ompp_at(thread, thread->joined_team);
    team->before = thread->joined_team && before->level == team->level ? thread->joined_team : 0;
    team->before_release = atomic_load_explicit(&before->release, memory_order_relaxed);
    team->before_join = atomic_load_explicit(&before->join, memory_order_relaxed);
    atomic_store_explicit(&team->release, 0, memory_order_relaxed);
    atomic_store_explicit(&team->join, 0, memory_order_relaxed);
    ompp_sync_publish(OMPP_SYNC_FORK, ompp_team_number(team), t);
    ompp_guard_leave(thread);
    return (ompp_team_t *)team;
}

ompp_team_t *ompp_event_team(void)
{
    ompp_thread_t *thread = ompp_thread_get();

    return thread ? thread->team : NULL;
}
