/*
 * Regions that are brief and come often: atomic updates, critical sections, locks. While they come so often that the
 * clock would be most of what they take, one of several is timed, chosen by chance, and stands for those before it that
 * were only counted. These lie in the time of the region around them, out of which theirs is taken then: phases go on
 * to add up to the time of the thread.
 */
#include "runtime/ompp_brief.h"
#include "runtime/ompp_task_priv.h"

#define LONG_NS 20000000u /* between two looks at nodes that are not timed each time */
#define NOT_NOW (OMPP_FRAME_F_UNSETTLED | OMPP_FRAME_F_RECURSIVE)

/* ---- Without a time ---------------------------------------------------------------------------------------------- */

/* \return node of the region's next execution, when that is only counted; 0 = it is timed. */
static inline ompp_off_t counted_child(ompp_thread_t *thread, ompp_region_ref_t region)
{
    const ompp_a_frame_t *top = ompp_top(thread);

    if (top->flags & NOT_NOW || top == thread->last || ompp_node(thread, top->node)->region == region) return 0;
    if (top->flags & OMPP_FRAME_F_BASE && thread->follows) return 0;
    const ompp_off_t node = ompp_child(thread, top->node, region, 0);
    return node && ompp_brief_of(thread, ompp_node(thread, node))->left > 1 ? node : 0;
}

static inline void push_counted(ompp_thread_t *thread, ompp_off_t off)
{
    ompp_a_node_t *node = ompp_node(thread, off);

    ompp_brief_of(thread, node)->left--;
    ompp_frame_fill(thread, off, OMPP_FRAME_F_UNTIMED, UINT64_MAX);
    ompp_step_top(thread, 1);
    node->slot[0].count++;
}

void ompp_event_enter_brief(ompp_region_ref_t region)
{
    ompp_thread_t *thread = ompp_thread_self;

    if (region && ompp_brief_may(thread) && thread->thins && ompp_guard_enter(thread)) {
        const ompp_off_t node = counted_child(thread, region);
        if (node) push_counted(thread, node);
        ompp_guard_leave(thread);
        if (node) return;
    }
    ompp_event_enter(region, ompp_event_now());
}

bool ompp_event_is_counted(ompp_region_ref_t region)
{
    ompp_thread_t *thread = ompp_thread_self;

    if (!region || !ompp_brief_may(thread) || !thread->thins || !ompp_guard_enter(thread)) return false;
    const bool counted = counted_child(thread, region) != 0;
    ompp_guard_leave(thread);
    return counted;
}

/* ---- For those that had none ------------------------------------------------------------------------------------- */

/* How many the execution that is open stands for: one that happened to be timed before its turn is one of many. */
static inline uint32_t weight(const ompp_a_brief_t *brief) { return brief->left <= 1 && brief->span ? brief->span : 1; }

/* The phase ends: its time is that of the others, too, as far as the region around them has it. */
static inline void stand_for(ompp_thread_t *thread, ompp_a_frame_t *frame, uint32_t others, ompp_time_t t)
{
    const ompp_a_frame_t *below = frame - 1;
    ompp_a_node_t *node = ompp_node(thread, frame->node);
    const ompp_a_slot_t *around = &ompp_node(thread, below->node)->slot[below->slot];
    const ompp_a_brief_t *brief = ompp_brief_of(thread, node);
    const uint64_t own = frame->stamp + brief->inside_ns + brief->inner_ns;
    const uint64_t each = t <= own ? 0 : t - own < OMPP_BRIEF_LONGEST_NS ? t - own : OMPP_BRIEF_LONGEST_NS;
    const int64_t room = (int64_t)(around->time + (t - below->stamp) - around->child - around->task -
                                   (t - frame->enter - frame->credited));
    uint64_t more = each * others;

    if (room <= 0) return;
    if (more > (uint64_t)room) more = (uint64_t)room;
    node->slot[frame->slot].time += more;
    frame->credited -= more;
}

/* Which one is timed next. */
static inline void draw(ompp_a_brief_t *brief)
{
    uint32_t x = brief->random;

    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    brief->random = x;
    brief->left = brief->span = brief->mean > 1 ? 1 + (uint32_t)((uint64_t)x * (2 * brief->mean - 1) >> 32) : 0;
}

/* One that was timed is over at t: of a node that is, or may be, timed now and then. */
static __attribute__((noinline)) void over_sample(ompp_thread_t *thread, ompp_off_t off, ompp_time_t enter,
                                                  ompp_time_t t)
{
    ompp_a_node_t *node = ompp_node(thread, off);
    ompp_a_brief_t *brief = ompp_brief_of(thread, node);

    if (!node->brief) {
        ompp_brief_begin_slow(thread, node, t);
        return;
    }
    const uint64_t ns = t - enter < OMPP_BRIEF_LONGEST_NS ? t - enter : OMPP_BRIEF_LONGEST_NS;
    if (brief->span) ompp_brief_note(ompp_at(thread, brief->values), weight(brief), ns);
    brief->inner_ns = 0;
    if (brief->inner) ompp_tasks_created_slow(thread, brief, t);
    if (brief->tick >= OMPP_BRIEF_LOOK || t - brief->looked > LONG_NS) ompp_brief_look_slow(thread, off, t);
    if (brief->left > 1) brief->left--, brief->span--;
    else draw(brief);
}

static inline void over(ompp_thread_t *thread, ompp_off_t off, ompp_time_t enter, ompp_time_t t)
{
    const ompp_a_node_t *node = ompp_node(thread, off);
    ompp_a_brief_t *brief = ompp_brief_of(thread, node);

    thread->timed++;
    thread->record->timed_ns = t;
    if (__builtin_expect(!node->brief, 0)) {
        if (node->visits % OMPP_BRIEF_LOOK == OMPP_BRIEF_LOOK - 1) over_sample(thread, off, enter, t);
    } else if (++brief->tick >= OMPP_BRIEF_LOOK || brief->mean > 1 || brief->inner) {
        over_sample(thread, off, enter, t);
    }
}

/* ---- Its phases and its end -------------------------------------------------------------------------------------- */

/* The innermost frame, of this region, timed or not, and nothing else to be done; NULL = otherwise. Inside then. */
static inline ompp_a_frame_t *enter_top(ompp_thread_t *thread, ompp_region_ref_t region)
{
    if (__builtin_expect(!thread || thread->unusual || !ompp_guard_enter(thread), 0)) return NULL;
    ompp_a_frame_t *frame = ompp_top(thread);
    if (ompp_node(thread, frame->node)->region == region && !(frame->flags & ~OMPP_FRAME_F_UNTIMED)) return frame;
    ompp_guard_drop(thread);
    return NULL;
}

/* Timed: to another phase, or over. */
static inline void book(ompp_thread_t *thread, ompp_a_frame_t *frame, ompp_time_t t)
{
    const uint32_t others = weight(ompp_brief_of(thread, ompp_node(thread, frame->node))) - 1;

    if (others) stand_for(thread, frame, others, t);
}

/* From inside, at t if it is timed. */
static inline void to_phase(ompp_thread_t *thread, ompp_a_frame_t *frame, ompp_phase_t phase, ompp_time_t t)
{
    const unsigned slot = ompp_phase_slot(ompp_node(thread, frame->node)->construct, phase);

    if (slot == OMPP_NO_SLOT) return;
    if (!frame->flags) book(thread, frame, t), ompp_frame_book(thread, frame, t);
    ompp_frame_to(thread, frame, slot);
}

void ompp_event_phase_brief(ompp_region_ref_t region, ompp_phase_t phase)
{
    ompp_thread_t *thread = ompp_thread_self;
    ompp_a_frame_t *frame = enter_top(thread, region);

    if (__builtin_expect(!frame, 0)) {
        ompp_event_phase(region, phase, ompp_event_now());
        return;
    }
    to_phase(thread, frame, phase, frame->flags ? 0 : ompp_event_now());
    ompp_guard_leave(thread);
}

/* last: the phase that it is in only now; OMPP_PHASE_NUM = none. \return false = something else is to be done. */
static inline __attribute__((always_inline)) bool leave(ompp_region_ref_t region, ompp_phase_t last)
{
    ompp_thread_t *thread = ompp_thread_self;
    ompp_a_frame_t *frame = enter_top(thread, region);

    if (__builtin_expect(!frame, 0)) return false;
    const ompp_time_t t = frame->flags ? 0 : ompp_event_now();
    if (last != OMPP_PHASE_NUM) to_phase(thread, frame, last, t);
    if (frame->flags) {
        ompp_node(thread, frame->node)->visits++;
        ompp_step_top(thread, -1);
    } else {
        book(thread, frame, t);
        over(thread, frame->node, frame->enter, t);
        ompp_pop(thread, frame, t);
    }
    ompp_guard_leave(thread);
    return true;
}

void ompp_event_exit_brief(ompp_region_ref_t region)
{
    if (!leave(region, OMPP_PHASE_NUM)) ompp_event_exit(region, ompp_event_now());
}

void ompp_event_release_brief(ompp_region_ref_t region)
{
    if (!leave(region, OMPP_PHASE_NUM)) ompp_event_release(region, ompp_event_now());
}

void ompp_event_released_brief(ompp_region_ref_t region)
{
    if (leave(region, OMPP_PHASE_EXIT)) return;
    ompp_event_phase_brief(region, OMPP_PHASE_EXIT);
    ompp_event_release_brief(region);
}

/* ---- Creations of tasks ------------------------------------------------------------------------------------------ */

/* \return node of the next creation, where all is as usual; 0 = otherwise. */
static inline ompp_off_t creation_node(ompp_thread_t *thread, ompp_region_ref_t region)
{
    const ompp_a_frame_t *top = ompp_top(thread);
    const ompp_a_node_t *parent = ompp_node(thread, top->node);

    if (top->flags & NOT_NOW || top == thread->last || (top->flags & OMPP_FRAME_F_BASE && thread->follows)) return 0;
    if (ompp_node(thread, parent->last)->region == region) return parent->last;
    return parent->region != region ? ompp_child(thread, top->node, region, ompp_event_now()) : 0;
}

/* Whether creation and task are counted: not in another task, and not where each is timed. */
static inline bool is_counted(const ompp_thread_t *thread, ompp_off_t node, ompp_region_ref_t exec)
{
    if (!thread->thins || ompp_brief_of(thread, ompp_node(thread, node))->left <= 1 || !ompp_region_is_kept(exec))
        return false;
    const ompp_a_region_t *region = ompp_at(thread, exec);
    return !thread->stack->explicit_task && !atomic_load_explicit(&region->timed_each, memory_order_relaxed);
}

/* The creation takes no time. */
static inline void count_at_once(ompp_thread_t *thread, ompp_off_t off, bool counted, ompp_time_t t)
{
    ompp_a_node_t *node = ompp_node(thread, off);

    node->slot[0].count++;
    if (counted) ompp_brief_of(thread, node)->left--;
    else over(thread, off, t, t);
    node->visits++;
}

static inline __attribute__((always_inline)) ompp_task_t create(ompp_region_ref_t region, ompp_region_ref_t exec,
                                                                bool at_once)
{
    ompp_thread_t *thread = ompp_thread_self;

    if (ompp_region_is_kept(region) && ompp_brief_may(thread) && ompp_guard_enter(thread)) {
        const ompp_off_t node = creation_node(thread, region);
        const bool counted = node && is_counted(thread, node, exec);
        const ompp_time_t t = node && !counted ? ompp_event_now() : 0;
        if (node && at_once) count_at_once(thread, node, counted, t);
        else if (counted) push_counted(thread, node);
        else if (node) ompp_push_node(thread, node, 0, t);
        ompp_guard_leave(thread);
        if (node) return counted ? ompp_task_counted(exec) : ompp_event_task_create(exec, t);
    }
    const ompp_time_t t = ompp_event_now();
    ompp_event_enter(region, t);
    if (at_once) ompp_event_exit(region, t);
    return ompp_event_task_create(exec, t);
}

ompp_task_t ompp_task_creating(ompp_region_ref_t region, ompp_region_ref_t exec) { return create(region, exec, false); }

ompp_task_t ompp_event_task_creating(ompp_region_ref_t region)
{
    return ompp_task_creating(region, ompp_region_exec_of(region));
}

ompp_task_t ompp_event_task_made(ompp_region_ref_t region) { return create(region, ompp_region_exec_of(region), true); }
