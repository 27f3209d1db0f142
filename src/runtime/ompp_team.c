/*
 * Teams: fork, and members that are not as usual (ompp_team_hot.c). A worker's tree repeats the path of the forking
 * thread down to the parallel region, so that what it does has its place; the mapping is cached by the forking thread's
 * node.
 */
#include "runtime/ompp_team_priv.h"

#include "model/ompp_profile.h"
#include "runtime/ompp_callpath_priv.h"

#define CACHE_LINE 64u
#define TEAMS 16u                       /* records that are made at once */
#define MOST_NODES (2 * OMPP_MAX_DEPTH) /* on the path to a team, of all threads that lead to it */

_Static_assert(sizeof(ompp_a_team_t) <= CACHE_LINE, "a team is one line");

static void add_free(ompp_thread_t *thread, ompp_a_team_t *team)
{
    team->next_free = thread->free_teams;
    thread->free_teams = ompp_off(thread, team);
}

/* Finds those of its records to which no frame points any more: their teams are over, and none comes to belong to them
 * any more. \return how many there are. */
static unsigned find_free(ompp_thread_t *thread)
{
    const ompp_off_t held_mark = 1; /* offset of no record */
    unsigned n = 0;

    for (const ompp_thread_t *other = atomic_load(&ompp_process.threads); other; other = other->next_all) {
        const ompp_off_t held = atomic_load_explicit(&other->held, memory_order_acquire);
        if (!held || other->base != thread->base) continue; /* calibration has a memory of its own */
        ompp_a_team_t *team = ompp_at(thread, held);
        if (ompp_team_is_forked_by(team, thread)) team->next_free = held_mark;
    }
    for (ompp_off_t off = thread->teams; off;) {
        ompp_a_team_t *team = ompp_at(thread, off);
        const bool is_held = team->next_free == held_mark;
        team->next_free = 0;
        const bool is_over = atomic_load_explicit(&team->join, memory_order_relaxed) != 0;
        if (is_over && !is_held && atomic_load_explicit(&team->refs, memory_order_acquire) == 0) {
            add_free(thread, team);
            n++;
        }
        off = team->next;
    }
    return n;
}

static void make_some(ompp_thread_t *thread)
{
    ompp_off_t off = ompp_thread_take(thread, (TEAMS + 1) * CACHE_LINE);

    if (!off) return;
    off = (off + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    for (unsigned i = 0; i < TEAMS; i++, off += CACHE_LINE) {
        ompp_a_team_t *team = ompp_at(thread, off);
        team->next = thread->teams;
        thread->teams = off;
        add_free(thread, team);
    }
}

ompp_a_team_t *ompp_team_new_slow(ompp_thread_t *thread)
{
    if (find_free(thread) < TEAMS / 2) make_some(thread);
    const ompp_off_t off = thread->free_teams;
    ompp_a_team_t *team = off ? ompp_at(thread, off) : NULL;

    if (team) thread->free_teams = team->next_free;
    return team;
}

/* In the place of teams that are not measured for want of room: why. Their members count what they lose. */
static ompp_team_t lost_teams[OMPP_LOSS_NUM] = {[0 ... OMPP_LOSS_NUM - 1] = {.a = {.fork_node = OMPP_TEAM_NO_NODE}}};

static ompp_loss_t lost_by(const ompp_team_t *team)
{
    const ompp_loss_t why = team ? (ompp_loss_t)(team - lost_teams) : OMPP_LOSS_NONE;

    return why == OMPP_LOSS_DEEP ? OMPP_LOSS_TEAMS : why; /* a worker has no frame around it to count below */
}

/* Nothing inside is measured until the join. */
ompp_team_t *ompp_team_lost_slow(ompp_thread_t *thread, ompp_region_ref_t region, bool counted)
{
    if (!counted) ompp_skip_slow(thread, region, region ? OMPP_LOSS_ENTRIES : OMPP_LOSS_NONE);
    return region && thread->lost ? &lost_teams[thread->lost] : NULL;
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
    ompp_a_frame_t *frame =
        ompp_frame_fill(thread, node, OMPP_FRAME_F_TEAM, ompp_worker_enters(&team->a, thread->busy_until, t));
    frame->team = ompp_off(thread, team);
    frame->outer_base = thread->base_node;
    ompp_push_filled(thread, frame);
    atomic_fetch_add(&team->a.refs, 1);
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
    ompp_a_thread_t *record = thread->record;

    /* One of several with a place in an inner team that all serve in outermost teams now, at the same time. */
    if (index > 0 && !nested && record->kind == OMPP_THREAD_NESTED)
        atomic_store_explicit(&record->beside, 1, memory_order_relaxed);
    if (index == 0 || (record->kind != OMPP_THREAD_OTHER && !(nested && record->kind == OMPP_THREAD_NESTED)))
        return thread;
    const uint64_t path = path_of(thread, team, index, nested);
    const bool stays = path == record->path || path == OMPP_A_PATH_UNKNOWN ||
                       atomic_load_explicit(&record->beside, memory_order_relaxed);
    if (record->kind == OMPP_THREAD_NESTED && stays) return thread;
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

ompp_member_t ompp_member_begins_slow(ompp_team_t *team, unsigned index, bool nested, ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_get();

    if (!thread || !ompp_guard_enter(thread)) return (ompp_member_t){NULL, NULL, NULL, NULL};
    ompp_settled_top(thread, t);
    if (index > 0 && is_over(thread, ompp_top(thread))) ompp_frames_close(thread, thread->stack->top, t);
    thread = to_place(thread, team, index, nested);
    if (index > 0 && !(team && ompp_team_is_forked_by(&team->a, thread))) {
        /* A worker starts afresh: what it has left open or skipped belongs to an earlier team. */
        thread->skipped = 0;
        for (uint32_t i; (i = find_team(thread)) > 0;) ompp_frames_close(thread, i, t);
        if (ompp_team_is_kept(team)) worker_begin(thread, team, t);
        else skip_part(thread, lost_by(team));
        thread->skipped_team = thread->skipped;
        ompp_worker_beside(thread);
    }
    ompp_a_frame_t *frame = ompp_top(thread);
    if (thread->skipped || !(frame->flags & OMPP_FRAME_F_TEAM) || frame->slot != 0) return ompp_member_none(thread);
    return ompp_member_of(thread, frame);
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

ompp_member_t ompp_member_slow(ompp_member_event_t event, ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_get();

    if (!thread || !ompp_guard_enter(thread)) return (ompp_member_t){NULL, NULL, NULL, NULL};
    /* What is skipped still began in the region, and its end was not told. */
    if (event == OMPP_MEMBER_JOIN) thread->skipped = 0;
    if (thread->skipped) {
        /* A worker that began without team; the forking thread goes on skipping until the join. */
        if (event == OMPP_MEMBER_END && thread->skipped == 1 && thread->skipped_team)
            thread->skipped = thread->skipped_team = 0;
        return ompp_member_none(thread);
    }
    ompp_a_frame_t *frame = team_frame_on_top(thread, t);
    if (!frame || frame->flags & OMPP_FRAME_F_LEFT) return ompp_member_none(thread);
    return ompp_member_of(thread, frame);
}

void ompp_join_lost_slow(void)
{
    ompp_thread_t *thread = ompp_thread_get();

    if (!thread || !ompp_guard_enter(thread)) return;
    if (thread->skipped) thread->skipped--;
    ompp_guard_leave(thread);
}
