/*
 * The slow side of counting: threads that come and go, handing counts to the call tree, registration of structures, blocks.
 */
#define OMPP_LOG_DOMAIN "memory"
#include "memory/ompp_count_priv.h"

#include "base/ompp_log.h"
#include "memory/ompp_free_priv.h"
#include "memory/ompp_values_priv.h"
#include "model/ompp_profile.h"
#include "runtime/ompp_lifecycle.h"
#include "runtime/ompp_meter.h"
#include "runtime/ompp_metric.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#define SOURCE "load/store hooks"
#define ROW(name, unit, use, meaning)                                                                               \
    {name, OMPP_UNIT_##unit, OMPP_QUALITY_EXACT, OMPP_REDUCE_SUM, OMPP_REDUCE_SUM, SOURCE, meaning, OMPP_USE_##use}

enum { LOADS, LOADED = 2, FOREIGN = 4, BLOCKS = 6, VALUES = 8 }; /* of stores: one more */

static const ompp_metric_row_t rows[] = {
    ROW("loads", COUNT, OBJECTS, "reads by the compiled code; a block copied at once is one"),
    ROW("stores", COUNT, OBJECTS, "writes by the compiled code; a block copied or set at once is one"),
    ROW("loaded", BYTES, VALUE, "bytes read"),
    ROW("stored", BYTES, VALUE, "bytes written"),
    ROW("foreign-loads", COUNT, VALUE, "reads of pages that another thread touched first"),
    ROW("foreign-stores", COUNT, VALUE, "writes to pages that another thread touched first"),
    ROW("block-loads", COUNT, VALUE, "of the reads, blocks: memcpy, struct and array assignments"),
    ROW("block-stores", COUNT, VALUE, "of the writes, blocks: memcpy, memset, struct and array assignments"),
};

_Static_assert(sizeof rows / sizeof rows[0] == VALUES, "a row per value");

/* What threads count into that are not measured, and that have not been seen yet. */
static uint32_t no_page;
static uint64_t no_blocks[1][2];
static ompp_counter_t unread = {.pages = &no_page, .blocks = no_blocks};
static ompp_counter_t unseen = {.tag = ~OMPP_MAP_LOW, .pages = &no_page, .blocks = no_blocks};
__thread ompp_counter_t *ompp_counter_self = &unseen;
unsigned ompp_counter_files[OMPP_FILES_NUM];

static bool at_load_is_over;          /* all of the program's libraries are there */
static bool open_for_counting;       /* the map is there */
static unsigned metrics;             /* set of rows */
static _Atomic uint32_t nobjects;    /* highest object that was ever registered */
static _Atomic uint32_t nthreads;

/* ---- Structures ----------------------------------------------------------------------------------------------------- */

static void put(uint32_t object, uintptr_t begin, uintptr_t end)
{
    if (object > nobjects) nobjects = object;
    if (!ompp_map_put(object, begin, end))
        ompp_event_coverage(OMPP_COVERAGE_DROPPED, "edges of data structures", "too many structures that share a page");
}

bool ompp_counter_no_objects(void)
{
    return nobjects == 0;
}

static const ompp_data_backend_t backend = {.put = put, .name = "hooks"};

/* ---- Threads -------------------------------------------------------------------------------------------------------- */

/* Object files have said who made them before main. What each compiler keeps from its hooks: docs/data.md, tests/memory/kernels.py. */
static void register_metrics(void)
{
    unsigned all = ompp_counter_files[OMPP_FILES_ALL], clang = ompp_counter_files[OMPP_FILES_CLANG];

    metrics = ompp_metric_register(rows, VALUES);
    ompp_event_coverage(OMPP_COVERAGE_INVISIBLE, SOURCE,
                        "code and libraries that were not built with --memory (those of C, C++ with std::string, Fortran, OpenMP, MPI), "
                        "assembly");
    if (all > clang)
        ompp_event_coverage(OMPP_COVERAGE_INVISIBLE, SOURCE " of gcc",
                            "constant data, the read before a bit-field is written, writes of floating-point atomics and reductions; "
                            "with -Os, memcpy and memset of more than 8 KiB right behind an assignment of the same bytes");
    if (clang)
        ompp_event_coverage(OMPP_COVERAGE_INVISIBLE, SOURCE " of clang",
                            "long double, OpenMP atomics and reductions, functions that never return");
}

/* A thread's counters, and what else its counts need: addresses for all, memory for what is used. */
typedef struct {
    ompp_used_t used;
    ompp_values_cache_t cache;
    uint64_t blocks[OMPP_DATA_MAX + 1][2];
    ompp_counter_t counter; /* the last: its counts go on behind it */
    ompp_count_t count[OMPP_DATA_MAX];
} thread_t;

_Static_assert(offsetof(thread_t, count) == offsetof(thread_t, counter) + sizeof(ompp_counter_t), "one array");

static thread_t *thread_of(ompp_counter_t *counter)
{
    return (thread_t *)((char *)counter - offsetof(thread_t, counter));
}

static ompp_counter_t *new_counter(void)
{
    thread_t *thread = mmap(NULL, sizeof *thread, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (thread == MAP_FAILED) return NULL;
    madvise(thread, sizeof *thread, MADV_NOHUGEPAGE);
    thread->counter.limit = OMPP_DATA_MAX;
    thread->counter.blocks = thread->blocks;
    thread->counter.used = &thread->used;
    return &thread->counter;
}

/* Numbers of threads have a limit: what comes behind it shares the last one. */
static void *begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    ompp_counter_t *counter = open_for_counting ? new_counter() : NULL;

    if (!counter) return NULL;
    pthread_once(&once, register_metrics);
    uint32_t number = ++nthreads;
    counter->tag = (number < OMPP_MAP_OWNERS ? number : OMPP_MAP_OWNERS - 1) << OMPP_MAP_OWNER_SHIFT;
    counter->pages = ompp_map_page;
    counter->mask = ompp_map_mask;
    return ompp_counter_self = counter;
}

/* What was counted for an object, as values. \return false: nothing. */
static bool take(ompp_counter_t *counter, uint32_t object, uint64_t values[VALUES])
{
    ompp_count_t *c = ompp_count_at(counter, (uint64_t)object << OMPP_INLINE_COUNT_BITS);

    for (unsigned kind = 0; kind < 2; kind++) {
        values[LOADS + kind] = c->others[kind];
        values[LOADED + kind] = c->other_bytes[kind];
        values[FOREIGN + kind] = c->foreign[kind];
        values[BLOCKS + kind] = counter->blocks[object][kind];
        for (unsigned n = 0; n < OMPP_COUNT_SIZES; n++) {
            values[LOADS + kind] += c->scalars[kind][n];
            values[LOADED + kind] += c->scalars[kind][n] << n;
        }
    }
    if (values[LOADS] == 0 && values[LOADS + 1] == 0) return false;
    *c = (ompp_count_t){0};
    counter->blocks[object][OMPP_LOAD] = counter->blocks[object][OMPP_STORE] = 0;
    return true;
}

static void add(ompp_counter_t *counter, ompp_off_t node, unsigned object, const uint64_t from[VALUES])
{
    uint64_t *values = ompp_values_cached(&thread_of(counter)->cache, node, metrics, object, VALUES);

    for (unsigned i = 0; values && i < VALUES; i++) values[i] += from[i];
}

/* Hands over what was counted for an object. \return whether there was anything. */
static bool hand_over(ompp_counter_t *counter, ompp_off_t node, uint32_t object, uint64_t total[VALUES])
{
    uint64_t values[VALUES];

    if (!take(counter, object, values)) return false;
    if (metrics && object) add(counter, node, object, values);
    for (unsigned i = 0; i < VALUES; i++) total[i] += values[i];
    return true;
}

static void move(void *state, ompp_place_now_t from, ompp_place_now_t to)
{
    ompp_counter_t *counter = state;
    uint64_t total[VALUES] = {0};
    uint32_t n = nobjects, near = n < OMPP_MAP_NEAR ? n : OMPP_MAP_NEAR, next = 0, first;
    bool any = false;

    (void)to;
    for (uint32_t object = 0; object <= near; object++) any |= hand_over(counter, from.node, object, total);
    for (uint64_t bits; n > near && (bits = ompp_used_take(counter->used, n, &next, &first));)
        for (; bits; bits &= bits - 1) any |= hand_over(counter, from.node, first + (uint32_t)__builtin_ctzll(bits), total);
    if (metrics && any) add(counter, from.node, 0, total);
}

static void end(void *state)
{
    thread_t *thread = thread_of(state);

    ompp_counter_self = &unread;
    ompp_values_cache_free(&thread->cache);
    munmap(thread, sizeof *thread);
}

static const ompp_meter_t meter = {begin, move, end, .readable = true};

__attribute__((noinline)) static ompp_counter_t *first_access(void)
{
    int saved = errno;

    ompp_counter_self = &unread; /* while the runtime looks at the thread; begin() sets it */
    ompp_counter_start();
    ompp_meter_place();
    errno = saved;
    return ompp_counter_self;
}

ompp_counter_t *ompp_counter_get(void)
{
    ompp_counter_t *counter = ompp_counter_self;

    return __builtin_expect(counter != &unseen, 1) ? counter : first_access();
}

/* Gives an entry without an owner this one; none changes nothing. \return the entry as it is then. */
static uint32_t own(uint32_t *entry, uint32_t owner)
{
    uint32_t value = __atomic_load_n(entry, __ATOMIC_ACQUIRE);

    while (!(value & ~OMPP_MAP_LOW) && owner)
        if (__atomic_compare_exchange_n(entry, &value, value | owner, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) return value | owner;
    return value;
}

/* The entry of a page that may be another thread's: the first entry of the system's page says whose all of it is. */
static uint32_t touch(const ompp_counter_t *counter, uintptr_t address)
{
    uint32_t *entry = ompp_map_entry(address), *first = ompp_map_entry(address >> OMPP_MAP_TOUCH_BITS << OMPP_MAP_TOUCH_BITS);
    uint32_t value = __atomic_load_n(entry, __ATOMIC_ACQUIRE);

    return value & ~OMPP_MAP_LOW ? value : own(entry, own(first, counter->tag) & ~OMPP_MAP_LOW);
}

ompp_found_t ompp_count_find_slow(uintptr_t address, unsigned kind)
{
    ompp_counter_t *counter = ompp_counter_get();
    uint32_t entry = touch(counter, address);
    uint64_t at = (uint64_t)ompp_count_note(counter, ompp_map_in_page(entry, address)) << OMPP_INLINE_COUNT_BITS;

    ompp_count_at(counter, at)->foreign[kind] += (entry & ~OMPP_MAP_LOW) != counter->tag;
    return (ompp_found_t){counter, at};
}

/* ---- Blocks --------------------------------------------------------------------------------------------------------- */

/* Bytes from address on, within the page, that belong to the same object. */
static size_t run_length(uintptr_t address, size_t size, uint32_t entry, uint32_t object)
{
    size_t in_page = (1ul << OMPP_MAP_PAGE_BITS) - (address & ((1ul << OMPP_MAP_PAGE_BITS) - 1));
    size_t limit = size < in_page ? size : in_page, n = 1;

    if (!(entry & OMPP_MAP_PAGE_LEADS)) return limit;
    while (n < limit && ompp_map_in_edge(entry, address + n) == object) n++;
    return n;
}

void ompp_count_block(uintptr_t address, size_t size, unsigned kind)
{
    ompp_counter_t *counter = ompp_counter_get();
    uint32_t last = UINT32_MAX;
    bool block = size > OMPP_COUNT_SCALAR;

    for (size_t n; size > 0; address += n, size -= n) {
        uint32_t entry = touch(counter, address), object = ompp_map_in_page(entry, address);
        uint32_t slot = ompp_count_note(counter, object);
        ompp_count_t *c = ompp_count_at(counter, (uint64_t)slot << OMPP_INLINE_COUNT_BITS);
        n = run_length(address, size, entry, object);
        c->other_bytes[kind] += n;
        if (object == last) continue;
        c->others[kind]++;
        counter->blocks[slot][kind] += block;
        c->foreign[kind] += (entry & ~OMPP_MAP_LOW) != counter->tag;
        last = object;
    }
}

/* ---- Start ---------------------------------------------------------------------------------------------------------- */

static void start(void)
{
    if (!ompp_data_wants("hooks")) return;
    open_for_counting = ompp_map_open() && ompp_meter_add(&meter) && ompp_data_subscribe(&backend);
    if (open_for_counting) return;
    ompp_warn_common("loads and stores are not counted: no addresses for the map of structures (ulimit -v, vm.overcommit_memory)");
    ompp_event_coverage(OMPP_COVERAGE_NOTE, "loads and stores are not counted", "no addresses for the map of structures");
}

void ompp_counter_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, start);
}

/*
 * Before threads come that are metered. Other libraries' constructors may run hooks before: those start it, too. The runtime starts
 * now and not at the first hook, which may be one of a signal handler that interrupts its start.
 */
__attribute__((constructor)) static void at_load(void)
{
    ompp_counter_start();
    ompp_free_start();
    ompp_runtime_start();
    ompp_data_resolve();
    at_load_is_over = true;
}

void ompp_counter_file(unsigned compiler)
{
    __atomic_fetch_add(&ompp_counter_files[compiler], 1, __ATOMIC_RELAXED);
    if (at_load_is_over) ompp_data_resolve(); /* it may be of a library that was opened now */
}
