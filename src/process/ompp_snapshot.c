/*
 * The profile while the program runs. The arena is copied, thread by thread, so that each thread's numbers are those of
 * one moment and add up. A thread is copied between two of its events: either the reader sees an even guard before and
 * the same after, or a thread that is too busy for that makes the copy itself at its next region entry
 * (ompp_may_push_slow). Nobody waits for anybody but the thread that dumps.
 */
#define _GNU_SOURCE
#include "process/ompp_snapshot.h"

#include "base/ompp_pages.h"
#include "process/ompp_finish_priv.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define MAX_RECORDS 1000000u /* of one list: what is read while it changes must not keep us for ever */
#define GLANCES 64           /* attempts to read a thread between two events, per round */
#define ROUNDS 400           /* of those, and of waiting for the thread itself */
#define ROUND_NS 500000      /* that one round waits */

/* ---- Copying ----------------------------------------------------------------------------------------------------- */

/* A copy of the arena. Offsets are the same; to has room for all that the arena can grow to. */
typedef struct {
    const char *from;
    char *to;
    uint64_t size;   /* bytes of room */
    uint64_t copied; /* bytes of the arena that have been copied once */
    uint64_t reach;  /* end of the last record of a thread */
    unsigned torn;   /* threads that could only be read while they were at work */
} copy_t;

/* The thread that is asked to copy itself, or one of the marks below; one dump at a time. */
static ompp_thread_t taken, done;
static _Atomic(ompp_thread_t *) wanted;
static copy_t *wanted_copy;

static const void *copy_record(copy_t *c, ompp_off_t off, uint64_t size)
{
    if (!off || off + size > c->size) return NULL;
    if (off + size > c->reach) c->reach = off + size;
    return memcpy(c->to + off, c->from + off, size);
}

static void copy_nodes(copy_t *c, ompp_off_t off)
{
    for (uint32_t n = 0; off && n < MAX_RECORDS; n++) {
        const ompp_a_node_t *node = copy_record(c, off, sizeof *node);
        if (!node || node->nphases > OMPP_MAX_PHASES ||
            !copy_record(c, off, sizeof *node + node->nphases * sizeof node->slot[0]))
            return;
        ompp_off_t set = atomic_load_explicit(&node->sets, memory_order_relaxed);
        for (uint32_t k = 0; set && k < MAX_RECORDS; k++) {
            const ompp_a_block_t *block = copy_record(c, set, sizeof *block);
            if (!block || !copy_record(c, set, sizeof *block + block->nvalues * sizeof block->values[0])) break;
            set = block->next;
        }
        off = node->next;
    }
}

static void copy_stacks(copy_t *c, ompp_off_t off)
{
    for (uint32_t n = 0; off && n < MAX_RECORDS; n++) {
        const ompp_a_stack_t *stack = copy_record(c, off, sizeof *stack);
        if (!stack || stack->top >= stack->capacity ||
            !copy_record(c, off, sizeof *stack + (stack->top + 1ull) * sizeof stack->frames[0]))
            return;
        for (uint32_t i = 0; i <= stack->top; i++)
            if (stack->frames[i].flags & OMPP_FRAME_F_TEAM)
                copy_record(c, stack->frames[i].team, sizeof(ompp_a_team_t));
        off = stack->under;
    }
}

/* All that the thread alone writes. */
static void copy_thread(copy_t *c, ompp_off_t off)
{
    const ompp_a_thread_t *record = copy_record(c, off, sizeof *record);

    if (!record) return;
    copy_nodes(c, atomic_load_explicit(&record->nodes, memory_order_acquire));
    copy_stacks(c, atomic_load_explicit(&record->stack, memory_order_acquire));
}

/* Definitions: made under the lock, and never changed in a way that matters here. */
static void copy_definitions(copy_t *c)
{
    const ompp_locked_t locked = ompp_lock();
    uint64_t used = ompp_process.arena.used < c->size ? ompp_process.arena.used : c->size;
    if (used > c->copied) memcpy(c->to + c->copied, c->from + c->copied, used - c->copied);
    c->copied = used;
    copy_record(c, OMPP_LAYOUT_HEADER, sizeof(ompp_a_header_t));
    ompp_unlock(locked);
}

/* ---- One thread -------------------------------------------------------------------------------------------------- */

static unsigned version_of(const ompp_thread_t *thread) { return __atomic_load_n(&thread->guard, __ATOMIC_ACQUIRE); }

/* Copies the thread; true when it had no event meanwhile. One that has ended keeps its guard. */
static bool glance(copy_t *c, const ompp_thread_t *thread)
{
    const ompp_a_thread_t *record = thread->record;
    unsigned version = version_of(thread);
    bool ended = record->kind == OMPP_A_THREAD_UNUSED || __atomic_load_n(&record->end_ns, __ATOMIC_ACQUIRE) != 0;

    if (version & 1 && !ended) return false;
    copy_thread(c, ompp_off(thread, record));
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (version_of(thread) != version) return false;
    return !(version & 1) || record->kind == OMPP_A_THREAD_UNUSED ||
           __atomic_load_n(&record->end_ns, __ATOMIC_ACQUIRE) != 0;
}

/* Asks the thread to copy itself when it enters a region; true when it has. */
static bool ask(copy_t *c, ompp_thread_t *thread)
{
    const struct timespec pause = {0, ROUND_NS / 10};
    ompp_thread_t *expected = thread;

    wanted_copy = c;
    atomic_store(&wanted, thread);
    atomic_fetch_or(&ompp_process.on, OMPP_ON_COPY);
    for (int i = 0; i < 10 && atomic_load(&wanted) != &done; i++) nanosleep(&pause, NULL);
    atomic_fetch_and(&ompp_process.on, ~OMPP_ON_COPY);
    if (atomic_compare_exchange_strong(&wanted, &expected, NULL)) return false;
    while (atomic_load(&wanted) != &done) sched_yield(); /* it is at it */
    return true;
}

void ompp_snapshot_self(ompp_thread_t *thread)
{
    ompp_thread_t *expected = thread;

    if (!atomic_compare_exchange_strong(&wanted, &expected, &taken)) return;
    copy_thread(wanted_copy, ompp_off(thread, thread->record));
    atomic_store(&wanted, &done);
}

static bool take_once(copy_t *c, ompp_thread_t *thread)
{
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < GLANCES; i++)
            if (glance(c, thread)) return true;
        if (ask(c, thread)) return true;
    }
    copy_thread(c, ompp_off(thread, thread->record));
    return false;
}

/* A thread that has records beyond what was copied once is read again: copying the rest would overwrite them. */
static void take_thread(copy_t *c, ompp_thread_t *thread)
{
    for (int i = 0; i < GLANCES; i++) {
        c->reach = 0;
        bool whole = take_once(c, thread);
        if (c->reach > c->copied) {
            copy_definitions(c);
            continue;
        }
        c->torn += !whole;
        return;
    }
    c->torn++;
}

/* Threads that came after the last look stand before those of it. */
static void take_threads(copy_t *c)
{
    const ompp_thread_t *until = NULL;

    for (;;) {
        ompp_thread_t *first = atomic_load(&ompp_process.threads);
        copy_definitions(c);
        if (first == until) return;
        for (ompp_thread_t *thread = first; thread != until; thread = thread->next_all) take_thread(c, thread);
        until = first;
    }
}

ompp_profile_t *ompp_snapshot_profile(ompp_end_t end)
{
    copy_t c = {.from = ompp_process.arena.base, .size = ompp_process.arena.reserved};
    void *room = ompp_mmap(NULL, c.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (room == MAP_FAILED) return NULL;
    c.to = room;
    copy_definitions(&c);
    take_threads(&c);
    /* Not before: a thread may have been read after it had gone on. */
    ompp_profile_t *profile = ompp_finish_collect(c.to, c.copied, ompp_clock_now(), end, 0);
    ompp_munmap(room, c.size);
    if (profile && c.torn) ompp_profile_add_coverage(profile, OMPP_COVERAGE_TORN, NULL, NULL, c.torn);
    return profile;
}
