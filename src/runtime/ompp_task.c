/*
 * Explicit tasks. A running task has a stack of frames of its own; it lies on the stack it interrupted. An interrupted
 * frame of an implicit task is given the task's time as task time, so that nobody counts it twice; the frames of an
 * interrupted or suspended explicit task move by the time it did not run. Suspended tasks keep their stack, and may go
 * on on another thread.
 *
 * Handles: running, the offset of the stack, a multiple of 16. Created, from the lowest bit: 1; 28 bits of the region's
 * offset, without its four zeros; 35 bits of the time of creation in TICK ns, so that waits of up to nine minutes can
 * be told. Of a task that is only counted (ompp_task_hot.c) these are all 1.
 */
#include "runtime/ompp_task_priv.h"

#define TICK 32u
#define LOST_TASK UINT64_C(1) /* created, and there was no room for its region */

ompp_task_t ompp_task_created(ompp_region_ref_t exec, ompp_time_t t)
{
    const uint64_t ticks = t / TICK & OMPP_TASK_COUNTED;

    return (ticks - (ticks == OMPP_TASK_COUNTED)) << OMPP_TASK_TIME_SHIFT | (ompp_task_t)(exec >> 4) << 1 | 1;
}

ompp_task_t ompp_event_task_create(ompp_region_ref_t exec, ompp_time_t t)
{
    if (exec <= OMPP_REGION_SKIPPED) return 0;
    if (exec == OMPP_REGION_LOST) return LOST_TASK;
    if (__builtin_expect(!atomic_load_explicit(&ompp_task_sets[1], memory_order_relaxed), 0)) ompp_task_sets_slow();
    ompp_task_t task = ompp_task_created(exec, t);
    ompp_sync_task(OMPP_SYNC_TASK_CREATE, task, 0, t);
    return task;
}

/* From creation to t; 0 also when another processor's clock stood a little later at the creation. */
static uint64_t wait_of(ompp_task_t created, ompp_time_t t)
{
    uint64_t ticks = (t / TICK - (created >> OMPP_TASK_TIME_SHIFT)) & OMPP_TASK_COUNTED;

    return ticks <= OMPP_TASK_COUNTED / 2 ? ticks * TICK : 0;
}

/* Those that were counted before it on this thread have waited as long; of one that was to be counted, too, nothing is
 * known. */
static inline void book_start(ompp_thread_t *thread, ompp_off_t off, ompp_task_t created, ompp_time_t t)
{
    uint64_t *values = ompp_task_starts(thread, off);
    const ompp_a_node_t *node = ompp_node(thread, off);
    uint64_t wait = wait_of(created, t), stands_for = 1;

    if (!values) return;
    if (__builtin_expect(ompp_task_is_counted(created), 0))
        wait = values[OMPP_METRIC_TASK_STARTS] ? values[OMPP_METRIC_TASK_WAIT] / values[OMPP_METRIC_TASK_STARTS] : 0;
    else if (__builtin_expect(node->brief != 0, 0)) {
        ompp_a_tasks_t *tasks = ompp_at(thread, node->brief);
        stands_for += tasks->unwaited;
        tasks->unwaited = 0;
    }
    values[OMPP_METRIC_TASK_STARTS]++;
    values[OMPP_METRIC_TASK_WAIT] += wait * stands_for;
    if (wait > values[OMPP_METRIC_TASK_WAIT_MAX]) values[OMPP_METRIC_TASK_WAIT_MAX] = wait;
}

static inline void book_end(ompp_thread_t *thread, ompp_off_t node, uint64_t run)
{
    uint64_t *values = ompp_task_ends(thread, node);

    if (!values) return;
    if (values[OMPP_METRIC_TASK_ENDS]++ == 0 || run < values[OMPP_METRIC_TASK_RUN_MIN])
        values[OMPP_METRIC_TASK_RUN_MIN] = run;
    values[OMPP_METRIC_TASK_RUN] += run;
    if (run > values[OMPP_METRIC_TASK_RUN_MAX]) values[OMPP_METRIC_TASK_RUN_MAX] = run;
}

/* It is not measured for itself; where there is a place for it in the tables, it counts there. */
static __attribute__((noinline)) void lose(ompp_thread_t *thread, ompp_off_t node, ompp_task_t created, ompp_loss_t why,
                                           ompp_time_t t)
{
    if (node) {
        ompp_node(thread, node)->visits++;
        ompp_node(thread, node)->slot[0].count++;
        book_start(thread, node, created, t);
    }
    thread->record->lost[node ? why : OMPP_LOSS_TASKS]++;
}

static void lose_skipped(ompp_thread_t *thread, ompp_task_t created, ompp_time_t t)
{
    const ompp_region_ref_t region = thread->lost == OMPP_LOSS_DEEP ? ompp_task_region_of(created) : 0;

    if (thread->lost)
        lose(thread, region ? ompp_child(thread, thread->base_node, region, t) : 0, created, OMPP_LOSS_DEEP_TASKS, t);
}

static inline __attribute__((always_inline)) void begin(ompp_task_t *task, ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_get();
    ompp_task_t created = *task & 1 ? *task : 0;

    *task = 0;
    if (!thread || !created || !(atomic_load_explicit(&ompp_process.on, memory_order_relaxed) & OMPP_ON_ENTER) ||
        !ompp_guard_enter(thread))
        return;
    if (thread->skipped) {
        lose_skipped(thread, created, t);
        ompp_guard_leave(thread);
        return;
    }
    if (ompp_task_is_creation(thread, ompp_top(thread))) ompp_tasks_time_creation_slow(thread, ompp_top(thread), t);
    else ompp_settled_top(thread, t);
    const bool deep = thread->stack->depth >= OMPP_MAX_TASKS;
    ompp_off_t node = created == LOST_TASK ? 0 : ompp_child(thread, thread->base_node, ompp_task_region_of(created), t);
    ompp_off_t off = node && !deep ? ompp_task_new_stack(thread) : 0;
    if (off) {
        ompp_a_stack_t *stack = ompp_at(thread, off);
        ompp_task_fill(stack, node, 0, t);
        ompp_node(thread, node)->slot[0].count++;
        book_start(thread, node, created, t);
        ompp_task_push_stack(thread, stack, t);
        *task = off;
        ompp_sync_task(OMPP_SYNC_TASK_BEGIN, created, off, t);
    } else {
        lose(thread, node, created, deep ? OMPP_LOSS_DEEP_TASKS : OMPP_LOSS_PLAIN_TASKS, t);
    }
    ompp_guard_leave(thread);
}

void ompp_event_task_begin(ompp_task_t *task, ompp_time_t t) { begin(task, t); }

void ompp_event_task_begin_brief(ompp_task_t *task)
{
    if (__builtin_expect(ompp_task_is_counted(*task), 0) && ompp_task_begin_counted(ompp_thread_self, task)) return;
    begin(task, ompp_event_now());
}

static bool is_in_chain(const ompp_thread_t *thread, const ompp_a_stack_t *stack)
{
    const ompp_a_stack_t *s = thread->stack;

    while (s != stack && s->under) s = ompp_at(thread, s->under);
    return s == stack;
}

static inline void close_top(ompp_thread_t *thread, ompp_time_t t)
{
    ompp_a_frame_t *base = thread->stack->frames;

    if (__builtin_expect(ompp_top(thread) == base && base->flags == OMPP_FRAME_F_BASE, 1)) {
        ompp_frame_book(thread, base, t);
        ompp_node(thread, base->node)->visits++;
    } else {
        ompp_frames_close(thread, 0, t);
    }
    ompp_stack_pop(thread, t);
}

static uint64_t less(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

/* The innermost task ends. */
static void end_top(ompp_thread_t *thread, ompp_time_t t)
{
    ompp_a_stack_t *stack = thread->stack;

    const bool untimed = stack->frames[0].flags & OMPP_FRAME_F_UNTIMED;
    close_top(thread, t);
    const ompp_off_t node = stack->frames[0].node;
    const uint64_t run = less(stack->ran, stack->lent);
    if (__builtin_expect(untimed, 0)) {
        uint64_t *values = ompp_task_ends(thread, node);
        if (values) values[OMPP_METRIC_TASK_ENDS]++;
    } else {
        book_end(thread, node, run);
        if (__builtin_expect(ompp_node(thread, node)->brief != 0, 0))
            ompp_tasks_timed_slow(thread, ompp_node(thread, node), run, t);
    }
    ompp_task_free_stack(thread, stack);
}

/* Tasks begun above this one that never ended are ended now. */
static __attribute__((noinline)) void unwind_to(ompp_thread_t *thread, const ompp_a_stack_t *stack, ompp_time_t t)
{
    while (thread->stack != stack) {
        ompp_a_stack_t *s = thread->stack;
        thread->record->unclosed++;
        close_top(thread, t);
        ompp_task_free_stack(thread, s);
    }
}

/* Books what the open frames have had so far where it was spent: the task may go on in another thread's tree. */
static void book_all(ompp_thread_t *thread, ompp_a_stack_t *stack, ompp_time_t t)
{
    for (uint32_t i = 0; i <= stack->top; i++) {
        ompp_a_frame_t *frame = &stack->frames[i];
        uint64_t had = frame->enter + frame->credited;
        ompp_frame_book(thread, frame, t);
        if (i == 0 || t <= had) continue;
        ompp_node(thread, frame[-1].node)->slot[frame[-1].slot].child += t - had;
        frame->credited += t - had;
    }
}

/* Nodes of the frames in this thread's tree, for a task that comes from another thread. */
static bool move_here(ompp_thread_t *thread, ompp_a_stack_t *stack, ompp_time_t t)
{
    ompp_off_t parent = thread->base_node;

    for (uint32_t i = 0; i <= stack->top; i++) {
        ompp_off_t node = ompp_child(thread, parent, ompp_node(thread, stack->frames[i].node)->region, t);
        if (!node) return false;
        stack->frames[i].node = parent = node;
    }
    return true;
}

static bool resume(ompp_thread_t *thread, ompp_a_stack_t *stack, ompp_time_t t)
{
    uint64_t suspended = atomic_load_explicit(&stack->suspended, memory_order_acquire);

    if (!suspended) return false;
    if (!move_here(thread, stack, t)) {
        thread->record->lost[OMPP_LOSS_TASKS]++;
        return false;
    }
    ompp_stack_leave_out(stack, t > suspended ? t - suspended : 0);
    ompp_settled_top(thread, t);
    ompp_task_push_stack(thread, stack, t);
    return true;
}

/*
 * An untied task can be ended by the thread that ran an earlier part of it, when the one that runs the last part is
 * faster: the two threads agree by the fields of the stack who closes it. The thread that is told of the end counts it.
 */
static bool claim_end(ompp_a_stack_t *stack, uint64_t over)
{
    return over > 1 && atomic_compare_exchange_strong(&stack->over, &over, 1);
}

static __attribute__((noinline)) void end_elsewhere(ompp_thread_t *thread, ompp_a_stack_t *stack, ompp_time_t t)
{
    ompp_off_t node = ompp_child(thread, thread->base_node, ompp_node(thread, stack->frames[0].node)->region, t);
    uint64_t ran = stack->ran + less(t, stack->begin), lent = stack->lent;

    atomic_store(&stack->over, t);
    if (atomic_load(&stack->suspended) && claim_end(stack, t) && resume(thread, stack, t)) end_top(thread, t);
    else if (node) book_end(thread, node, less(ran, lent));
}

static void suspend_top(ompp_thread_t *thread, ompp_time_t t)
{
    ompp_a_stack_t *stack = thread->stack;
    ompp_time_t over = atomic_load(&stack->over);

    if (claim_end(stack, over)) {
        close_top(thread, over < t ? over : t);
        ompp_task_free_stack(thread, stack);
        return;
    }
    ompp_settled_top(thread, t);
    book_all(thread, stack, t);
    ompp_stack_pop(thread, t);
    stack->lost = thread->lost;
    stack->skipped = thread->skipped; /* regions of the task alone: none begins while another's are skipped */
    thread->skipped = 0;
    ompp_sync_task(OMPP_SYNC_TASK_SUSPEND, ompp_off(thread, stack), 0, t);
    atomic_store(&stack->suspended, t);
    if (claim_end(stack, atomic_load(&stack->over)) && resume(thread, stack, t)) {
        close_top(thread, t);
        ompp_task_free_stack(thread, stack);
    }
}

static inline __attribute__((always_inline)) void end(ompp_thread_t *thread, ompp_a_stack_t *stack, ompp_time_t t)
{
    if (!ompp_guard_enter(thread)) return;
    ompp_sync_task(OMPP_SYNC_TASK_END, ompp_off(thread, stack), 0, t);
    if (is_in_chain(thread, stack)) {
        unwind_to(thread, stack, t);
        thread->skipped = 0;
        end_top(thread, t);
    } else {
        end_elsewhere(thread, stack, t);
    }
    ompp_guard_leave(thread);
}

void ompp_event_task_end(ompp_task_t task, ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_get();
    ompp_a_stack_t *stack = thread ? ompp_task_stack(thread, task) : NULL;

    if (stack) end(thread, stack, t);
}

void ompp_event_task_end_brief(ompp_task_t task)
{
    ompp_thread_t *thread = ompp_thread_get();
    ompp_a_stack_t *stack = thread ? ompp_task_stack(thread, task) : NULL;

    if (!stack) return;
    if (__builtin_expect(stack->frames[0].flags & OMPP_FRAME_F_UNTIMED, 0) && ompp_task_end_counted(thread, stack))
        return;
    end(thread, stack, ompp_event_now());
}

void ompp_event_task_suspend(ompp_task_t task, ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_get();

    if (!thread || !ompp_guard_enter(thread)) return;
    ompp_a_stack_t *stack = ompp_task_stack(thread, task);
    if (stack && thread->stack == stack) suspend_top(thread, t);
    ompp_guard_leave(thread);
}

void ompp_event_task_resume(ompp_task_t task, ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_get();

    if (!thread || thread->skipped || !ompp_guard_enter(thread)) return;
    ompp_a_stack_t *stack = ompp_task_stack(thread, task);
    if (stack && resume(thread, stack, t)) {
        thread->skipped = stack->skipped;
        thread->lost = stack->lost;
        ompp_sync_task(OMPP_SYNC_TASK_CONTINUE, task, 0, t);
    }
    ompp_guard_leave(thread);
}

/* Whether an implicit task is open in it: of the thread itself, or of a parallel region inside the explicit task. */
static bool has_implicit(const ompp_a_stack_t *stack)
{
    for (uint32_t i = stack->top; i > 0; i--)
        if (stack->frames[i].flags & OMPP_FRAME_F_TEAM) return true;
    return !stack->explicit_task;
}

/* wanted: NULL = the innermost implicit task. */
static void leave_tasks(ompp_thread_t *thread, const ompp_a_stack_t *wanted, ompp_time_t t)
{
    const ompp_a_stack_t *s = thread->stack;

    while (s != wanted && !has_implicit(s)) s = ompp_at(thread, s->under);
    if (wanted && s != wanted) return;
    while (thread->stack != s) suspend_top(thread, t);
}

void ompp_event_task_current(ompp_task_t task, ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_get();

    if (!thread || ompp_is_inside(thread) || !thread->stack || !thread->stack->explicit_task) return;
    const ompp_a_stack_t *stack = ompp_task_stack(thread, task);
    if (thread->stack == stack || !ompp_guard_enter(thread)) return;
    leave_tasks(thread, stack, t);
    ompp_guard_leave(thread);
}

ompp_region_ref_t ompp_event_task_region(void)
{
    const ompp_thread_t *thread = ompp_thread_get();

    if (!thread || ompp_is_inside(thread) || !thread->stack->explicit_task) return 0;
    const ompp_a_region_t *exec = ompp_at(thread, ompp_node(thread, thread->stack->frames[0].node)->region);
    return atomic_load_explicit(&exec->exec, memory_order_acquire);
}

bool ompp_event_task_below(ompp_task_t task)
{
    const ompp_thread_t *thread = ompp_thread_get();
    const ompp_a_stack_t *stack = thread && !ompp_is_inside(thread) ? ompp_task_stack(thread, task) : NULL;

    if (!stack) return true;
    for (const ompp_a_stack_t *s = thread->stack; s->under;) {
        s = ompp_at(thread, s->under);
        if (s == stack) return true;
    }
    return false;
}

bool ompp_event_task_suspended(ompp_task_t task)
{
    const ompp_thread_t *thread = ompp_thread_get();
    const ompp_a_stack_t *stack = thread && !ompp_is_inside(thread) ? ompp_task_stack(thread, task) : NULL;

    return stack && atomic_load_explicit(&stack->suspended, memory_order_acquire);
}
