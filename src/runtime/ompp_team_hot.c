/*
 * The usual way of a team's member, event by event: begin, barrier, end, and the forking thread's join. Usual is a
 * thread that is measured and has no meters, whose top frame is the one of its team, and a worker that knows the place
 * where the team was forked. All else is left to the slow twins (ompp_team.c), which come to the same result.
 *
 * LLVM's and GNU's libraries keep workers in the barrier until the next fork, so that a worker hears of the end of a
 * region when the region is long joined. Its frame is closed at once, when it begins in the next team at the latest.
 */
#include "runtime/ompp_team_priv.h"

/* The thread, inside the event; NULL = not as usual. */
static inline ompp_thread_t *enter_usual(void)
{
    ompp_thread_t *thread = ompp_thread_self;

    return thread && !thread->unusual && ompp_guard_enter(thread) ? thread : NULL;
}

/*
 * The frame of the team that this thread is a member of, when that is all that is open in the team: what has ended
 * above it is closed.
 */
static inline ompp_a_frame_t *member_frame(ompp_thread_t *thread)
{
    if (ompp_top(thread)->flags == OMPP_FRAME_F_ENDED) ompp_pop(thread, ompp_top(thread), ompp_top(thread)->stamp);
    ompp_a_frame_t *frame = ompp_top(thread);
    return frame->flags == OMPP_FRAME_F_TEAM && frame->team ? frame : NULL;
}

static inline ompp_a_team_t *team_of(const ompp_thread_t *thread, const ompp_a_frame_t *frame)
{
    return ompp_at(thread, frame->team);
}

static inline bool forked(const ompp_thread_t *thread, const ompp_a_team_t *team)
{
    return team->fork_thread == ompp_off(thread, thread->record);
}

/* As ompp_frame_book() and ompp_frame_to(), without meters, which are not usual. */
static inline void to_slot(ompp_a_node_t *node, ompp_a_frame_t *frame, unsigned slot, ompp_time_t t)
{
    if (t > frame->stamp) {
        node->slot[frame->slot].time += t - frame->stamp;
        frame->stamp = t;
    }
    frame->slot = (uint16_t)slot;
    node->slot[slot].count++;
}

static inline unsigned slot_of(const ompp_a_node_t *node, ompp_phase_t phase)
{
    return ompp_phase_slot(node->construct, phase);
}

/* As ompp_frame_leave_team() and ompp_pop(). */
static inline void close_member(ompp_thread_t *thread, ompp_a_frame_t *frame, ompp_time_t end)
{
    ompp_a_team_t *team = team_of(thread, frame);
    ompp_a_node_t *node = ompp_node(thread, frame->node);

    if (team->level > 1) {
        if (end < frame->stamp) end = frame->stamp;
        ompp_frame_leave_team(thread, frame, end);
        ompp_pop(thread, frame, end);
        return;
    }
    if (end > frame->stamp) {
        node->slot[frame->slot].time += end - frame->stamp;
        frame->stamp = end;
    }
    thread->busy_until = frame->stamp;
    thread->base_node = frame->outer_base;
    thread->team = NULL;
    node->visits++;
    ompp_step_top(thread, -1);
    ompp_frame_credit(thread, frame);
    atomic_fetch_sub_explicit(&team->refs, 1, memory_order_release);
}

/* A worker's frame when its region is over. \return false = it is not, or the thread has forked it. */
static inline bool close_worker(ompp_thread_t *thread, ompp_a_frame_t *frame)
{
    ompp_a_node_t *node = ompp_node(thread, frame->node);
    const ompp_a_team_t *team = team_of(thread, frame);
    const ompp_time_t join = atomic_load_explicit(&team->join, memory_order_acquire);

    if (!join || forked(thread, team)) return false;
    if (frame->slot == slot_of(node, OMPP_PHASE_EXITBAR))
        to_slot(node, frame, slot_of(node, OMPP_PHASE_SHUTDWN), ompp_worker_release(team, join));
    close_member(thread, frame, join);
    return true;
}

/* A worker of an outermost team, whose last one is closed or can be. */
static inline ompp_a_frame_t *worker_begins(ompp_thread_t *thread, ompp_team_t *team, ompp_time_t t)
{
    ompp_a_frame_t *top = ompp_top(thread);

    if (!team || thread->record->kind != OMPP_THREAD_TEAM || forked(thread, &team->a)) return NULL;
    const ompp_path_t *path = ompp_path_of(thread, team->a.fork_node);
    if (path->fork_node != team->a.fork_node) return NULL;
    if ((top->flags & ~OMPP_FRAME_F_LEFT) == OMPP_FRAME_F_TEAM && top->team) {
        if (!close_worker(thread, top)) return NULL;
        top = ompp_top(thread);
    }
    if (thread->team || top->flags & OMPP_FRAME_F_PENDING || top == thread->last) return NULL;
    ompp_a_frame_t *frame = ompp_worker_push(thread, &team->a, path->node, t);
    ompp_worker_beside(thread);
    return frame;
}

void ompp_event_member_begin(ompp_team_t *team, unsigned index, bool nested, ompp_time_t t)
{
    ompp_thread_t *thread = enter_usual();
    ompp_a_frame_t *frame = NULL;

    if (thread && index == 0) frame = member_frame(thread);
    else if (thread && !nested) frame = worker_begins(thread, team, t);
    if (__builtin_expect(!frame || frame->slot != 0 || !team, 0)) {
        if (thread) ompp_guard_leave(thread);
        ompp_member_begin_slow(team, index, nested, t);
        return;
    }
    ompp_sync_resume(OMPP_SYNC_FORK, ompp_team_number(&team->a), t);
    to_slot(ompp_node(thread, frame->node), frame, 1, t);
    thread->base_node = frame->node;
    thread->team = team;
    ompp_guard_leave(thread);
}

static inline void barrier_ends(ompp_thread_t *thread, ompp_a_frame_t *frame, ompp_a_team_t *team, ompp_time_t t)
{
    ompp_a_node_t *node = ompp_node(thread, frame->node);

    ompp_sync_resume(OMPP_SYNC_BARRIER, ompp_team_number(team), t);
    if (close_worker(thread, frame)) return;
    if (forked(thread, team)) atomic_store_explicit(&team->release, t, memory_order_release);
    else t = ompp_worker_release(team, t);
    to_slot(node, frame, slot_of(node, OMPP_PHASE_SHUTDWN), t);
}

void ompp_event_member_barrier(bool begin, ompp_time_t t)
{
    ompp_thread_t *thread = enter_usual();
    ompp_a_frame_t *frame = thread ? member_frame(thread) : NULL;

    if (__builtin_expect(!frame, 0)) {
        if (thread) ompp_guard_leave(thread);
        ompp_member_barrier_slow(begin, t);
        return;
    }
    ompp_a_team_t *team = team_of(thread, frame);
    if (begin) {
        ompp_a_node_t *node = ompp_node(thread, frame->node);
        to_slot(node, frame, slot_of(node, OMPP_PHASE_EXITBAR), t);
        ompp_sync_arrive(ompp_team_number(team), t);
    } else {
        barrier_ends(thread, frame, team, t);
    }
    ompp_guard_leave(thread);
}

void ompp_event_member_end(ompp_time_t t)
{
    const ompp_thread_t *self = ompp_thread_self;

    if (self && !self->unusual && !self->team && !(ompp_top(self)->flags & OMPP_FRAME_F_TEAM))
        return; /* closed already */
    ompp_thread_t *thread = enter_usual();
    ompp_a_frame_t *frame = thread ? member_frame(thread) : NULL;
    const bool usual = frame && frame->slot == slot_of(ompp_node(thread, frame->node), OMPP_PHASE_SHUTDWN);
    if (usual && !forked(thread, team_of(thread, frame))) frame->flags |= OMPP_FRAME_F_LEFT;
    if (thread) ompp_guard_leave(thread);
    if (__builtin_expect(!usual, 0)) ompp_member_end_slow(t);
}

void ompp_event_join(ompp_team_t *team, ompp_time_t t)
{
    ompp_thread_t *thread = enter_usual();
    ompp_a_frame_t *frame = thread && team ? member_frame(thread) : NULL;

    if (__builtin_expect(!frame || team_of(thread, frame) != &team->a, 0)) {
        if (thread) ompp_guard_leave(thread);
        ompp_join_slow(team, t);
        return;
    }
    if (!atomic_load_explicit(&team->a.release, memory_order_relaxed))
        atomic_store_explicit(&team->a.release, t, memory_order_release);
    atomic_store_explicit(&team->a.join, t, memory_order_release);
    close_member(thread, frame, t);
    ompp_guard_leave(thread);
}

ompp_team_t *ompp_event_team(void)
{
    ompp_thread_t *thread = ompp_thread_get();

    return thread ? thread->team : NULL;
}
