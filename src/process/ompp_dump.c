/*
 * Reports and copies of the profile while the program runs: on request (OMPP_Dump, MPI_Pcontrol), and every
 * OMPP_DUMP_INTERVAL or OMPP_CHECKPOINT seconds by a thread of ours. Not collective: each process writes its own.
 *
 * The arena is copied first, thread by thread, so that each thread's numbers are those of one moment and add up. A
 * thread is copied between two of its events: either the reader sees an even guard before and the same after, or a
 * thread that is too busy for that makes the copy itself at its next region entry (ompp_may_push_slow). Nobody waits
 * for anybody but the thread that dumps.
 */
#define _GNU_SOURCE
#define OMPP_LOG_DOMAIN "dump"
#include "process/ompp_dump_priv.h"

#include "base/ompp_env.h"
#include "base/ompp_log.h"
#include "process/ompp_finish_priv.h"
#include "process/ompp_lifecycle.h"
#include "runtime/ompp_thread_priv.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MAX_RECORDS 1000000u   /* of one list: what is read while it changes must not keep us for ever */
#define GLANCES 64             /* attempts to read a thread between two events, per round */
#define ROUNDS 400             /* of those, and of waiting for the thread itself */
#define ROUND_NS 500000        /* that one round waits */
#define STACK_BYTES (2u << 20) /* of our thread */

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

void ompp_dump_self_slow(ompp_thread_t *thread)
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

ompp_profile_t *ompp_dump_profile(ompp_end_t end)
{
    copy_t c = {.from = ompp_process.arena.base, .size = ompp_process.arena.reserved};
    void *room = mmap(NULL, c.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (room == MAP_FAILED) return NULL;
    c.to = room;
    copy_definitions(&c);
    take_threads(&c);
    /* Not before: a thread may have been read after it had gone on. */
    ompp_profile_t *profile = ompp_finish_collect(c.to, c.copied, ompp_clock_now(), end);
    munmap(room, c.size);
    if (profile && c.torn) ompp_profile_add_coverage(profile, OMPP_COVERAGE_TORN, NULL, NULL, c.torn);
    return profile;
}

/* ---- Reports by the clock ---------------------------------------------------------------------------------------- */

static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    _Atomic bool running;
    bool stop;
} timer = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void add_ns(struct timespec *t, uint64_t ns)
{
    ns += (uint64_t)t->tv_nsec;
    t->tv_sec += (time_t)(ns / 1000000000u);
    t->tv_nsec = (long)(ns % 1000000000u);
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* A program whose first thread ends by pthread_exit() ends with its last thread: that must not be ours. */
static bool is_alone(void)
{
    DIR *tasks = opendir("/proc/self/task");
    unsigned n = 0;

    if (!tasks) return false;
    for (struct dirent *e; (e = readdir(tasks));) n += e->d_name[0] != '.';
    closedir(tasks);
    return n == 1 || (n == 2 && ompp_task_state((uint32_t)getpid()) == 'Z');
}

/* Waits until then. \return false when it is time to end. */
static bool sleep_until(const struct timespec *then)
{
    const uint64_t look_ns = 1000000000u; /* for others */
    bool go_on = true;

    pthread_mutex_lock(&timer.lock);
    for (;;) {
        struct timespec now, next;
        clock_gettime(CLOCK_MONOTONIC, &now);
        next = now;
        add_ns(&next, look_ns);
        go_on = !timer.stop && !is_alone();
        if (!go_on || !is_before(&now, then)) break;
        pthread_cond_timedwait(&timer.wake, &timer.lock, is_before(then, &next) ? then : &next);
    }
    pthread_mutex_unlock(&timer.lock);
    return go_on;
}

static void dump(void) { ompp_runtime_dump(false, "OMPP_DUMP_INTERVAL"); }

/* What is done by the clock. */
typedef struct {
    void (*run)(void);
    uint64_t interval_ns; /* 0 = never */
    struct timespec next;
} duty_t;

static void do_duties(duty_t *duty, const duty_t *end)
{
    for (struct timespec now; duty < end; duty++) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (!duty->interval_ns || is_before(&now, &duty->next)) continue;
        duty->run();
        clock_gettime(CLOCK_MONOTONIC, &now);
        /* What takes longer than the interval leaves some out. */
        while (!is_before(&now, &duty->next)) add_ns(&duty->next, duty->interval_ns);
    }
}

static void *do_by_the_clock(void *unused)
{
    duty_t duties[] = {{.run = dump, .interval_ns = (uint64_t)(1e9 * ompp_env.dump_interval)},
                       {.run = ompp_finish_checkpoint, .interval_ns = (uint64_t)(1e9 * ompp_env.checkpoint)}};
    enum { N = sizeof duties / sizeof duties[0] };
    const struct timespec *first;

    (void)unused;
    ompp_thread_self = &ompp_thread_none;
    pthread_setname_np(pthread_self(), "ompp-dump");
    for (unsigned i = 0; i < N; i++) {
        clock_gettime(CLOCK_MONOTONIC, &duties[i].next);
        add_ns(&duties[i].next, duties[i].interval_ns);
    }
    do {
        do_duties(duties, duties + N);
        first = NULL;
        for (unsigned i = 0; i < N; i++)
            if (duties[i].interval_ns && (!first || is_before(&duties[i].next, first))) first = &duties[i].next;
    } while (first && sleep_until(first));
    return NULL;
}

/* Our thread takes no signal: they are the program's. */
static int create_quietly(pthread_t *thread)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    int error = pthread_attr_init(&attributes);

    if (error) return error;
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    error = pthread_sigmask(SIG_SETMASK, &all, &before);
    if (!error) {
        error = pthread_create(thread, &attributes, do_by_the_clock, NULL);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    pthread_attr_destroy(&attributes);
    return error;
}

void ompp_dump_start(void)
{
    pthread_condattr_t attributes;
    int saved_errno = errno, error;

    if (ompp_env.dump_interval <= 0 && ompp_env.checkpoint <= 0) return;
    tzset(); /* reads TZ once, here: our thread must not read the environment while the program changes it */
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&timer.wake, &attributes);
    pthread_condattr_destroy(&attributes);
    error = create_quietly(&timer.thread);
    timer.running = !error;
    if (error) ompp_warn_common("no incremental reports nor copies: no thread for them (%s)", strerror(error));
    errno = saved_errno;
}

void ompp_dump_stop(void)
{
    struct timespec limit;

    if (!atomic_exchange(&timer.running, false)) return;
    pthread_mutex_lock(&timer.lock);
    timer.stop = true;
    pthread_cond_signal(&timer.wake);
    pthread_mutex_unlock(&timer.lock);
    /* it was the last thread of the process, which ends with it */
    if (pthread_equal(pthread_self(), timer.thread)) return;
    clock_gettime(CLOCK_REALTIME, &limit);
    add_ns(&limit, (uint64_t)(1e9 * (ompp_env.resolve_seconds + 10)));
    pthread_timedjoin_np(timer.thread, NULL, &limit);
}
