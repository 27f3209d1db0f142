/*
 * Threads that come and go: their state and record, their place in teams.
 */
#define _GNU_SOURCE
#define OMPP_LOG_DOMAIN "thread"
#include "runtime/ompp_thread.h"

#include "base/ompp_caller.h"
#include "base/ompp_pages.h"
#include "model/ompp_profile.h"
#include "runtime/ompp_callpath_priv.h"
#include "runtime/ompp_chunk.h"
#include "runtime/ompp_meters.h"
#include "runtime/ompp_tree_priv.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIRST_FRAMES 32u /* of an implicit task; grows */

static pthread_key_t end_key;
static pthread_once_t end_key_once = PTHREAD_ONCE_INIT;
/* States of threads that have ended, with their records, and of such as were never needed. */
static ompp_thread_t *ended_threads, *unused_threads;

static void thread_is_over(void *thread)
{
    ompp_runtime_hooks.thread_ends();
    ompp_thread_end(thread, ompp_clock_now());
}

static void make_end_key(void) { pthread_key_create(&end_key, thread_is_over); }

static ompp_thread_t *list_take(ompp_thread_t **list, bool (*fits)(const ompp_thread_t *, ompp_seat_t),
                                ompp_seat_t place)
{
    ompp_thread_t **link, *found;

    const ompp_locked_t locked = ompp_lock();
    for (link = list; *link && fits && !fits(*link, place);) link = &(*link)->next_free;
    found = *link;
    if (found) *link = found->next_free;
    ompp_unlock(locked);
    return found;
}

static void list_put(ompp_thread_t **list, ompp_thread_t *thread)
{
    const ompp_locked_t locked = ompp_lock();
    thread->next_free = *list;
    *list = thread;
    ompp_unlock(locked);
}

static bool has_place(const ompp_thread_t *thread, ompp_seat_t place)
{
    const ompp_a_thread_t *record = thread->record;

    if (record->kind != place.kind) return false;
    if (place.kind == OMPP_THREAD_OTHER) return true;
    return record->index == place.index && (place.kind == OMPP_THREAD_TEAM || record->path == place.path);
}

static ompp_thread_t *make_state(void)
{
    ompp_thread_t *thread = ompp_mmap(NULL, sizeof *thread, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (thread == MAP_FAILED) return NULL;
    if (!ompp_tree_open(thread)) {
        ompp_munmap(thread, sizeof *thread);
        return NULL;
    }
    thread->base = ompp_process.arena.base;
    thread->guard = 1;
    return thread;
}

static bool make_record(ompp_thread_t *thread, ompp_time_t t)
{
    ompp_a_header_t *header = ompp_process.header;
    ompp_off_t off = ompp_thread_take(thread, sizeof(ompp_a_thread_t));

    if (!off) return false;
    ompp_a_thread_t *record = thread->record = ompp_at(thread, off);
    record->kind = OMPP_A_THREAD_UNUSED;
    record->root = ompp_node_new(thread, 0, 0, t);
    ompp_off_t stack = record->root ? ompp_stack_new(thread, FIRST_FRAMES) : 0;
    if (!stack) return false;
    ((ompp_a_stack_t *)ompp_at(thread, stack))->frames[0] =
        (ompp_a_frame_t){.node = record->root, .flags = OMPP_FRAME_F_BASE, .enter = t, .stamp = t};
    thread->base_node = record->root;
    ompp_use_stack(thread, ompp_at(thread, stack));
    const ompp_locked_t locked = ompp_lock();
    record->next = atomic_load_explicit(&header->threads, memory_order_relaxed);
    record->ordinal = record->next ? ((ompp_a_thread_t *)ompp_at(thread, record->next))->ordinal + 1 : 0;
    atomic_store_explicit(&header->threads, off, memory_order_release);
    thread->next_all = atomic_load(&ompp_process.threads);
    atomic_store(&ompp_process.threads, thread);
    ompp_unlock(locked);
    return true;
}

static ompp_thread_t *new_state(ompp_time_t t)
{
    ompp_thread_t *thread = make_state();

    if (thread && make_record(thread, t)) return thread;
    ompp_event_coverage(OMPP_COVERAGE_DROPPED, "threads", "memory for the profile is full: OMPP_MEMORY");
    if (!thread) return NULL;
    ompp_tree_close(thread);
    ompp_munmap(thread, sizeof *thread);
    return NULL;
}

/* One that was made and had nothing to do, or a new one. */
static ompp_thread_t *unused_state(ompp_time_t t)
{
    ompp_thread_t *thread = list_take(&unused_threads, NULL, (ompp_seat_t){0});

    return thread ? thread : new_state(t);
}

static void occupy(ompp_thread_t *thread, ompp_time_t t)
{
    ompp_a_thread_t *record = thread->record;

    thread->guard |= 1;
    thread->skipped = thread->skipped_team = 0;
    atomic_store(&thread->replaced, false);
    record->os_tid = (uint32_t)syscall(SYS_gettid);
    if (record->kind == OMPP_A_THREAD_UNUSED) record->begin_ns = t;
    /* t was read before the record was taken, whose last thread may have ended since. */
    thread->busy_until = record->end_ns;
    thread->since = record->end_ns > t ? record->end_ns : t;
    record->end_ns = 0;
    /* The first event may have an older time stamp: it takes the way that looks at it (ompp_push_slow). */
    ompp_node(thread, record->root)->last = 0;
    ompp_callpath_thread_begins(thread);
}

/*
 * State and record for a thread that has just come; the initial one has been there since the process's time began. A
 * program that makes threads by the thousand gets a row for each that is alive at a time: a new one goes on where one
 * that has ended stopped.
 */
static ompp_thread_t *begin(ompp_time_t t)
{
    bool initial = (uint32_t)syscall(SYS_gettid) == ompp_process.header->pid;
    ompp_thread_t *thread =
        initial ? NULL : list_take(&ended_threads, has_place, (ompp_seat_t){.kind = OMPP_THREAD_OTHER});

    if (!thread) thread = initial ? new_state(ompp_process.header->begin_ns) : unused_state(t);
    if (!thread) return NULL;
    occupy(thread, t);
    if (initial) thread->record->begin_ns = ompp_process.header->begin_ns;
    if (initial) ompp_callpath_early_add(thread);
    thread->record->kind = initial ? OMPP_THREAD_INITIAL : OMPP_THREAD_OTHER;
    thread->record->path = initial ? 0 : OMPP_A_PATH_UNKNOWN;
    return thread;
}

static void new_thread(void *made)
{
    ompp_thread_t *thread = NULL;

    if (ompp_thread_self) { /* of a handler's event, a moment ago */
        *(ompp_thread_t **)made = ompp_thread_self;
        return;
    }
    ompp_thread_self = &ompp_thread_none; /* events of what we call here are ignored */
    if (ompp_runtime_start()) {
        ompp_runtime_hooks.thread_begins();
        thread = begin(ompp_clock_now());
    }
    if (thread) {
        pthread_once(&end_key_once, make_end_key);
        pthread_setspecific(end_key, thread);
        ompp_meter_begin(thread);
        ompp_chunk_forget();
        ompp_thread_self = thread;
        ompp_moved(thread);
        ompp_guard_leave(thread);
    }
    /* An event in the start, of this thread: it is measured later. */
    if (atomic_load(&ompp_process.state) == OMPP_STATE_NEW) ompp_thread_self = NULL;
    *(ompp_thread_t **)made = thread;
}

ompp_thread_t *ompp_thread_new_slow(void)
{
    ompp_thread_t *thread = NULL;

    ompp_runtime_start(); /* events of this thread may come with it: then it has a state */
    if (ompp_thread_self) return ompp_thread_self;
    ompp_caller_run(new_thread, &thread);
    return thread;
}

void ompp_thread_end(ompp_thread_t *thread, ompp_time_t t)
{
    bool measured = thread != &ompp_thread_none && atomic_load(&ompp_process.state) == OMPP_STATE_RUNNING &&
                    !ompp_is_inside(thread);

    if (!measured) {
        if (ompp_thread_self == thread) ompp_thread_self = &ompp_thread_none;
        return;
    }
    ompp_guard_enter(thread);
    while (thread->stack->under) {
        /* A task that never ended. */
        ompp_frames_close(thread, 0, t);
        ompp_stack_pop(thread, t);
    }
    if (thread->stack->top > 0) ompp_frames_close(thread, 1, t);
    ompp_meter_end(thread);
    if (ompp_thread_self == thread) ompp_thread_self = &ompp_thread_none;
    thread->record->end_ns = t;
    list_put(&ended_threads, thread);
}

/* Until when another thread was in teams; UINT64_MAX: it still is in a region. Some sources tell a worker's end at its
 * next begin. */
static ompp_time_t works_until(const ompp_thread_t *other)
{
    const ompp_off_t off = atomic_load_explicit(&other->record->stack, memory_order_acquire);
    const ompp_a_stack_t *stack = ompp_at(other, off);
    ompp_time_t join = 0;

    if (stack->under) return UINT64_MAX; /* in a task */
    for (uint32_t i = __atomic_load_n(&stack->top, __ATOMIC_ACQUIRE); i > 0 && !join; i--) {
        const ompp_a_frame_t *frame = &stack->frames[i];
        const uint16_t flags = __atomic_load_n(&frame->flags, __ATOMIC_ACQUIRE);
        const ompp_a_team_t *team = flags & OMPP_FRAME_F_TEAM && frame->team ? ompp_at(other, frame->team) : NULL;
        join = team ? atomic_load_explicit(&team->join, memory_order_acquire) : 0;
        /* a member that has left is in its team until the join */
        if (!join && !(flags & (team ? OMPP_FRAME_F_ENDED : OMPP_FRAME_F_PENDING))) return UINT64_MAX;
    }
    const ompp_time_t before = __atomic_load_n(&other->busy_until, __ATOMIC_RELAXED); /* was written before the top */
    return join > before ? join : before;
}

/*
 * A thread comes for a place in outermost teams that others may have, too. A runtime that makes a team smaller
 * dismisses threads, which end a little later; one that is in a team now, or will be again (ompp_team.c), is no such:
 * threads fork teams independently. What the row has of the others, until they were done, is not the thread's.
 */
static void replace_others(ompp_thread_t *place)
{
    for (ompp_thread_t *other = atomic_load(&ompp_process.threads); other; other = other->next_all) {
        ompp_a_thread_t *record = other->record;
        if (other == place || record->index != place->record->index || record->kind != OMPP_THREAD_TEAM) continue;
        /* before it is looked at: one that begins just now sees the one, or shows the other */
        if (__atomic_load_n(&record->end_ns, __ATOMIC_ACQUIRE) == 0) atomic_store(&other->replaced, true);
        const ompp_time_t until = works_until(other);
        if (until == UINT64_MAX) atomic_store(&record->beside, 1);
        else if (until > place->busy_until) place->busy_until = until;
    }
}

static void put_in_place(ompp_thread_t *thread, ompp_seat_t place)
{
    ompp_a_thread_t *record = thread->record;

    record->kind = place.kind;
    record->index = place.index;
    record->path = place.path;
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* of two that come at the same time one sees the other */
    if (place.kind == OMPP_THREAD_TEAM) replace_others(thread);
}

ompp_thread_t *ompp_thread_take_place(ompp_thread_t *thread, ompp_seat_t place)
{
    bool idle = thread->stack->top == 0 && thread->stack->under == 0, fresh = thread->children_used == 0;
    ompp_time_t t = ompp_clock_now();
    ompp_thread_t *next = idle ? list_take(&ended_threads, has_place, place) : NULL;

    /* What it went on with is another's past: that stays where it is. */
    if (!next && idle && !fresh) next = unused_state(t);
    if (!next) {
        if (fresh || thread->record->kind == OMPP_THREAD_OTHER) put_in_place(thread, place);
        return thread;
    }
    occupy(next, t);
    put_in_place(next, place);
    ompp_meter_change(thread, next);
    if (fresh) {
        thread->record->kind = OMPP_A_THREAD_UNUSED;
        list_put(&unused_threads, thread);
    } else {
        thread->record->end_ns = t;
        list_put(&ended_threads, thread);
    }
    pthread_setspecific(end_key, next);
    ompp_thread_self = next;
    return next;
}
