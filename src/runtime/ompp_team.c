/*
 * Teams: fork, and members that are not as usual (ompp_team_hot.c). A worker's tree repeats the path of the forking
 * thread down to the parallel region, so that what it does has its place; the mapping is cached by the forking thread's
 * node.
 */
#include "runtime/ompp_team_priv.h"

#include "model/ompp_profile.h"
#include "runtime/ompp_callpath_priv.h"

#define CACHE_LINE 64u
#define NO_NODE 1u                      /* offset of no record: no worker knows a place for it */
#define MOST_NODES (2 * OMPP_MAX_DEPTH) /* on the path to a team, of all threads that lead to it */

_Static_assert(sizeof(ompp_a_team_t) <= CACHE_LINE, "a team is one line");

/* A record of this thread that no frame points to any more, or a new one: in a line of its own, which all members look
 * at. */
static ompp_team_t *team_new(ompp_thread_t *thread)
{
    ompp_a_team_t *team;

    for (ompp_off_t off = thread->teams; off; off = team->next) {
        team = ompp_at(thread, off);
        if (atomic_load_explicit(&team->refs, memory_order_acquire) == 0) return (ompp_team_t *)team;
    }
    ompp_off_t off = ompp_thread_take(thread, 2 * CACHE_LINE);
    if (!off) return NULL;
    off = (off + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    team = ompp_at(thread, off);
    team->next = thread->teams;
    thread->teams = off;
    return (ompp_team_t *)team;
}

/* In the place of teams that are not measured for want of room: why. Their members count what they lose. */
static ompp_team_t lost_teams[OMPP_LOSS_NUM] = {[0 ... OMPP_LOSS_NUM - 1] = {.a = {.fork_node = NO_NODE}}};

static bool is_lost(const ompp_team_t *team) { return team >= lost_teams && team < lost_teams + OMPP_LOSS_NUM; }

static ompp_loss_t lost_by(const ompp_team_t *team)
{
    const ompp_loss_t why = is_lost(team) ? (ompp_loss_t)(team - lost_teams) : OMPP_LOSS_NONE;

    return why == OMPP_LOSS_DEEP ? OMPP_LOSS_TEAMS : why; /* a worker has no frame around it to count below */
}

ompp_team_t *ompp_event_fork(ompp_region_ref_t region, ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_get();
    ompp_team_t *team = NULL;

    if (!thread || !ompp_guard_enter(thread)) return NULL;
    if (ompp_region_is_kept(region) && !thread->skipped) team = team_new(thread);
    ompp_a_frame_t *frame = team ? ompp_push_region(thread, region, t) : NULL;
    if (!frame) {
        /* Nothing inside is measured until the join; if there was a record of the team, the push has seen to it. */
        if (!team) ompp_skip_slow(thread, region, region ? OMPP_LOSS_ENTRIES : OMPP_LOSS_NONE);
        team = region && thread->lost ? &lost_teams[thread->lost] : NULL;
    } else {
        frame->flags |= OMPP_FRAME_F_TEAM;
        frame->outer_base = thread->base_node;
        frame->team = ompp_off(thread, team);
        team->a.fork_thread = ompp_off(thread, thread->record);
        team->a.fork_node = frame->node;
        team->a.fork = frame->enter;
        team->a.level = thread->team ? thread->team->a.level + 1 : 1;
        atomic_store_explicit(&team->a.release, 0, memory_order_relaxed);
        atomic_store_explicit(&team->a.join, 0, memory_order_relaxed);
        atomic_store_explicit(&team->a.refs, 1, memory_order_release);
        ompp_sync_publish(OMPP_SYNC_FORK, ompp_team_number(&team->a), t);
    }
    ompp_guard_leave(thread);
    return team;
}

/* Node of this thread's tree on the same path as another thread's node, which that one is writing to: it is not looked
 * at again. */
static ompp_off_t map_path(ompp_thread_t *thread, ompp_off_t foreign, ompp_time_t t, unsigned depth)
{
    const ompp_a_node_t *node = ompp_node(thread, foreign);
    ompp_path_t *path = ompp_path_of(thread, foreign);

    if (path->fork_node == foreign) return path->node;
    if (node->parent == 0) return thread->record->root;
    ompp_off_t parent = depth < MOST_NODES ? map_path(thread, node->parent, t, depth + 1) : 0;
    ompp_off_t own = !parent        ? 0
                     : node->region ? ompp_child(thread, parent, node->region, t)
                                    : ompp_callpath_child(thread, parent, node->code, t);
    if (own) *path = (ompp_path_t){foreign, own};
    return own;
}

static bool is_too_deep(const ompp_thread_t *thread, ompp_off_t node)
{
    unsigned depth = 0;

    for (; node && depth <= MOST_NODES; node = ompp_node(thread, node)->parent) depth++;
    return depth > MOST_NODES;
}

/* The part of a worker that is not measured: its entry is counted, and what it enters. */
static void skip_part(ompp_thread_t *thread, ompp_loss_t why)
{
    thread->lost = why;
    thread->skipped = 1;
    if (why) thread->record->lost[why]++;
}

static void worker_begin(ompp_thread_t *thread, ompp_team_t *team, ompp_time_t t)
{
    ompp_off_t node = map_path(thread, team->a.fork_node, t, 0);

    if (thread->top == thread->last && !ompp_stack_grow_slow(thread)) node = 0;
    if (!node) {
        skip_part(thread, is_too_deep(thread, team->a.fork_node) ? OMPP_LOSS_TEAMS : OMPP_LOSS_ENTRIES);
        return;
    }
    ompp_worker_push(thread, &team->a, node, t);
}

/* Where a member stands whose team was forked by a thread with a place of its own. */
static uint64_t path_of(const ompp_thread_t *thread, const ompp_team_t *team, unsigned index, bool nested)
{
    const ompp_a_thread_t *forker = team && team->a.fork_thread ? ompp_at(thread, team->a.fork_thread) : NULL;
    const unsigned level = team ? team->a.level : 0;

    if (!forker || level == 0 || level > OMPP_A_PATH_LEVELS || index >= OMPP_A_PATH_NUMBERS || nested != (level > 1))
        return OMPP_A_PATH_UNKNOWN;
    if (forker->path == OMPP_A_PATH_UNKNOWN || atomic_load_explicit(&forker->beside, memory_order_relaxed))
        return OMPP_A_PATH_UNKNOWN;
    return forker->path | (uint64_t)index << 10 * (OMPP_A_PATH_LEVELS - level);
}

/* Threads of nested teams come from where they are free: what they do is told of the place that they have in the
 * team. */
static ompp_thread_t *to_place(ompp_thread_t *thread, const ompp_team_t *team, unsigned index, bool nested)
{
    const ompp_a_thread_t *record = thread->record;

    if (index == 0 || (record->kind != OMPP_THREAD_OTHER && !(nested && record->kind == OMPP_THREAD_NESTED)))
        return thread;
    const uint64_t path = path_of(thread, team, index, nested);
    if (record->kind == OMPP_THREAD_NESTED && (path == record->path || path == OMPP_A_PATH_UNKNOWN)) return thread;
    return ompp_thread_take_place(thread, (ompp_seat_t){nested ? OMPP_THREAD_NESTED : OMPP_THREAD_TEAM, index, path});
}

/* A worker's frame whose region is over: sources need not tell (ompp_event_member_end). */
static bool is_over(const ompp_thread_t *thread, const ompp_a_frame_t *frame)
{
    const ompp_a_team_t *team = frame->flags & OMPP_FRAME_F_TEAM && frame->team ? ompp_at(thread, frame->team) : NULL;

    return team && team->fork_thread != ompp_off(thread, thread->record) &&
           atomic_load_explicit(&team->join, memory_order_acquire);
}

/* Index of the innermost team frame; 0 = none. */
static uint32_t find_team(const ompp_thread_t *thread)
{
    uint32_t i = thread->stack->top;

    while (i > 0 && !(thread->stack->frames[i].flags & OMPP_FRAME_F_TEAM)) i--;
    return i;
}

void ompp_member_begin_slow(ompp_team_t *team, unsigned index, bool nested, ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_get();

    if (!thread || !ompp_guard_enter(thread)) return;
    ompp_settled_top(thread, t);
    if (index > 0 && is_over(thread, ompp_top(thread))) ompp_frames_close(thread, thread->stack->top, t);
    thread = to_place(thread, team, index, nested);
    ompp_a_thread_t *record = thread->record;
    bool forked_it = team && team->a.fork_thread == ompp_off(thread, record);
    if (!forked_it && index > 0) {
        /* A worker starts afresh: what it has left open or skipped belongs to an earlier team. */
        thread->skipped = 0;
        for (uint32_t i; (i = find_team(thread)) > 0;) ompp_frames_close(thread, i, t);
        if (team && !is_lost(team)) worker_begin(thread, team, t);
        else skip_part(thread, lost_by(team));
        thread->skipped_team = thread->skipped;
        ompp_worker_beside(thread);
    }
    ompp_a_frame_t *frame = ompp_top(thread);
    if (!thread->skipped && frame->flags & OMPP_FRAME_F_TEAM && frame->slot == 0) {
        if (team && !is_lost(team)) ompp_sync_resume(OMPP_SYNC_FORK, ompp_team_number(&team->a), t);
        ompp_member_body(thread, frame, t);
    }
    ompp_guard_leave(thread);
}

/* The member is at the end of its part: frames that it has left open above the team's are closed. */
static ompp_a_frame_t *team_frame_on_top(ompp_thread_t *thread, ompp_time_t t)
{
    uint32_t index;

    if (thread->stack->top && ompp_top(thread)->flags & OMPP_FRAME_F_ENDED) ompp_settle_slow(thread, t);
    index = find_team(thread);
    if (!index) return NULL;
    if (thread->stack->top > index) {
        ompp_note_unclosed_slow(thread, index);
        ompp_frames_close(thread, index + 1, t);
    }
    return ompp_top(thread);
}

void ompp_member_barrier_slow(bool begin, ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_get();

    if (!thread || thread->skipped || !ompp_guard_enter(thread)) return;
    ompp_a_frame_t *frame = team_frame_on_top(thread, t);
    if (frame && frame->team && !(frame->flags & OMPP_FRAME_F_LEFT)) {
        ompp_a_team_t *team = ompp_at(thread, frame->team);
        bool master = team->fork_thread == ompp_off(thread, thread->record);
        if (!begin && master) atomic_store_explicit(&team->release, t, memory_order_release);
        if (!begin && !master) t = ompp_worker_release(team, t);
        ompp_member_phase(thread, frame, begin ? OMPP_PHASE_EXITBAR : OMPP_PHASE_SHUTDWN, t);
        if (begin) ompp_sync_arrive(ompp_team_number(team), t);
        else ompp_sync_resume(OMPP_SYNC_BARRIER, ompp_team_number(team), t);
    }
    ompp_guard_leave(thread);
}

void ompp_member_end_slow(ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_get();

    if (!thread || !ompp_guard_enter(thread)) return;
    if (thread->skipped) {
        /* A worker that began without team; the forking thread goes on skipping until the join. */
        if (thread->skipped == 1 && thread->skipped_team) thread->skipped = thread->skipped_team = 0;
    } else {
        ompp_a_frame_t *frame = team_frame_on_top(thread, t);
        ompp_a_team_t *team = frame && frame->team ? ompp_at(thread, frame->team) : NULL;
        bool master = !team || team->fork_thread == ompp_off(thread, thread->record);
        if (frame && !(frame->flags & OMPP_FRAME_F_LEFT)) {
            unsigned slot = ompp_phase_slot(ompp_node(thread, frame->node)->construct, OMPP_PHASE_SHUTDWN);
            ompp_time_t join = team ? atomic_load_explicit(&team->join, memory_order_acquire) : 0;
            if (!master && join && join < t) t = join;
            if (frame->slot != slot) {
                ompp_frame_book(thread, frame, t);
                ompp_frame_to(thread, frame, slot);
            }
            if (!master) frame->flags |= OMPP_FRAME_F_LEFT;
        }
    }
    ompp_guard_leave(thread);
}

void ompp_join_slow(ompp_team_t *team, ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_get();

    if (!thread || !ompp_guard_enter(thread)) return;
    if (!team || is_lost(team)) {
        if (thread->skipped) thread->skipped--;
    } else {
        thread->skipped = 0; /* what is skipped still began in the region, and its end was not told */
        ompp_a_frame_t *frame = team_frame_on_top(thread, t);
        if (frame && frame->team == ompp_off(thread, team)) {
            if (!atomic_load_explicit(&team->a.release, memory_order_relaxed))
                atomic_store_explicit(&team->a.release, t, memory_order_release);
            atomic_store_explicit(&team->a.join, t, memory_order_release);
            ompp_frames_close(thread, thread->stack->top, t);
        }
    }
    ompp_guard_leave(thread);
}
