/*
 * The slow side of counting: threads that come and go, handing counts to the call tree, registration of structures.
 */
#define OMPP_LOG_DOMAIN "memory"
#include "hooks/ompp_whose.h"

#include "hooks/ompp_feed_priv.h"

#include "base/ompp_log.h"
#include "base/ompp_reserve.h"
#include "base/ompp_table.h"
#include "model/ompp_profile.h"
#include "runtime/ompp_component.h"
#include "runtime/ompp_metric.h"
#include "runtime/ompp_pending.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define SOURCE OMPP_COUNTED_SOURCE
#define ROW(name, unit, use, meaning)                                                                                 \
    {                                                                                                                 \
        name, OMPP_UNIT_##unit, OMPP_QUALITY_EXACT, OMPP_REDUCE_SUM, OMPP_REDUCE_SUM, SOURCE, meaning, OMPP_USE_##use \
    }

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

_Static_assert(sizeof rows / sizeof rows[0] == OMPP_COUNTED_VALUES, "a row per value");

/* What threads count into that are not measured, and that have not been seen yet. */
static uint32_t no_page;
static uint64_t no_blocks[1][2];
static ompp_counter_t unread = {
    .most = UINT32_MAX, .epoch = 1, .widths = OMPP_COUNT_WIDTHS, .pages = &no_page, .blocks = no_blocks};
static ompp_counter_t unseen = {.tag = OMPP_COUNT_UNSEEN,
                                .epoch = 1,
                                .own = OMPP_COUNT_UNSEEN,
                                .most = UINT32_MAX,
                                .widths = OMPP_COUNT_WIDTHS,
                                .pages = &no_page,
                                .blocks = no_blocks};
__thread ompp_counter_t *ompp_counter_self = &unseen;
unsigned ompp_counter_files[OMPP_FILES_NUM];

static bool open_for_counting;    /* the map is there */
static unsigned metrics;          /* set of rows */
static _Atomic uint32_t nobjects; /* highest object that was ever registered */
static _Atomic uint32_t nthreads;

/* ---- Memory of a thread's counts --------------------------------------------------------------------------------- */

#define PAGE OMPP_PENDING_PAGE
#define COUNTS_OF_PAGE (PAGE / sizeof(ompp_count_t))
#define BLOCKS_OF_PAGE (PAGE / (2 * sizeof(uint64_t)))
#define PAGES_OF(per_page) ((OMPP_DATA_MAX + (per_page)) / (per_page))

/*
 * A thread's counters, and what else its counts need: addresses for all, memory for what is used. Pages of counts are
 * the arena's, while that has room: what a thread has counted since its place changed last survives the process. Such
 * memory serves one thread after another, and stays.
 */
typedef struct thread {
    struct thread *next;
    _Atomic bool taken;
    ompp_a_pending_t *pending; /* the arena's, or lone */
    ompp_a_pending_t lone;
    ompp_used_t used;
    ompp_table_t values; /* by place and structure: their addresses */
    ompp_whose_thread_t whose;
    _Atomic bool backed_counts[PAGES_OF(COUNTS_OF_PAGE)], backed_blocks[PAGES_OF(BLOCKS_OF_PAGE)];
    uint64_t blocks[OMPP_DATA_MAX + 1][2] __attribute__((aligned(PAGE)));
    char before[PAGE - offsetof(ompp_counter_t, count)] __attribute__((aligned(PAGE))); /* count[0] begins a page */
    ompp_counter_t counter; /* the last: its counts go on behind it */
    ompp_count_t count[OMPP_DATA_MAX];
} thread_t;

_Static_assert(offsetof(thread_t, count) == offsetof(thread_t, counter) + sizeof(ompp_counter_t), "one array");
_Static_assert((offsetof(thread_t, counter) + offsetof(ompp_counter_t, count)) % PAGE == 0, "pages of counts");

static _Atomic(thread_t *) threads; /* all, newest first; never removed */

static thread_t *thread_of(ompp_counter_t *counter)
{
    return (thread_t *)((char *)counter - offsetof(thread_t, counter));
}

/*
 * A page is put there once, before any of its structures is in the map: nothing has been counted in it. Who finds that
 * it is backed finds the page there: another thread that backs it is waited for.
 */
static void back(thread_t *t, _Atomic bool *backed, unsigned kind, void *array, uint32_t page, uint32_t n)
{
    if (!atomic_load(&backed[page]))
        ompp_pending_page(t->pending, kind, page * n, n, (char *)array + (size_t)page * PAGE, &backed[page]);
}

/* For the structures there are. A thread that begins now and one that registers a structure see each other, or the
 * other's pages. */
static void back_all(thread_t *t)
{
    const uint32_t n = nobjects;

    if (!atomic_load(&t->taken) || t->pending == &t->lone) return;
    for (uint32_t page = 0; page <= n / COUNTS_OF_PAGE; page++)
        back(t, t->backed_counts, OMPP_A_PAGE_COUNTS, t->counter.count, page, COUNTS_OF_PAGE);
    for (uint32_t page = 0; page <= n / BLOCKS_OF_PAGE; page++)
        back(t, t->backed_blocks, OMPP_A_PAGE_BLOCKS, t->blocks, page, BLOCKS_OF_PAGE);
}

static thread_t *new_thread(void)
{
    thread_t *t = ompp_reserve(sizeof *t);

    if (!t) return NULL;
    t->pending = ompp_pending_new(metrics);
    if (!t->pending) t->pending = &t->lone;
    t->values.pages = true;
    atomic_store(&t->taken, true);
    t->next = atomic_load(&threads);
    while (!atomic_compare_exchange_weak(&threads, &t->next, t)) continue;
    return t;
}

/* The memory of a thread that is over, or new. */
static ompp_counter_t *take_counter(void)
{
    thread_t *t = atomic_load(&threads);

    while (t && atomic_exchange(&t->taken, true)) t = t->next;
    if (!t && !(t = new_thread())) return NULL;
    t->counter = (ompp_counter_t){
        .limit = OMPP_DATA_MAX, .epoch = 1, .blocks = t->blocks, .used = &t->used, .widths = OMPP_COUNT_WIDTHS};
    if (ompp_whose_all) {
        ompp_whose_thread(&t->whose);
        t->counter.whose = &t->whose;
    }
    back_all(t);
    return &t->counter;
}

/* ---- Structures -------------------------------------------------------------------------------------------------- */

void ompp_counter_expect(uint32_t object)
{
    if (object <= nobjects) return;
    nobjects = object;
    for (thread_t *t = atomic_load(&threads); t; t = t->next) back_all(t);
}

/* Those that code in the program counts for by itself: near ones that are, or were, in the map, and those of variables
 * of functions. A bit each, and one for each word of these that is not 0. */
#define MOST_INLINE 8191u
#define MAPPED ((MOST_INLINE + 64) / 64)
static _Atomic uint64_t mapped[MAPPED], mapped_some[MAPPED / 64];
#define MOST_LOCALS 256u
_Atomic bool ompp_counter_locals_full;
static _Atomic bool no_locals; /* the user has named some: the map alone knows */

bool ompp_counter_inline(uint32_t object)
{
    if (object > MOST_INLINE) return false;
    atomic_fetch_or(&mapped[object / 64], 1ull << object % 64);
    atomic_fetch_or(&mapped_some[object / 64 / 64], 1ull << object / 64 % 64);
    return true;
}

bool ompp_counter_local_room(void)
{
    static uint32_t n;
    const bool room = n < MOST_LOCALS && nobjects < MOST_INLINE;

    if (room) n++;
    else atomic_store(&ompp_counter_locals_full, true);
    return room;
}

static void put(uint32_t object, uintptr_t begin, uintptr_t end)
{
    ompp_counter_expect(object);
    if (object <= OMPP_MAP_NEAR) ompp_counter_inline(object);
    if (!ompp_map_put(object, begin, end))
        ompp_event_coverage(OMPP_COVERAGE_DROPPED, "edges of data structures", "too many structures that share a page");
    __atomic_fetch_add(&ompp_feed_structures, 1, __ATOMIC_ACQ_REL);
}

void ompp_counter_put(uint32_t object, uintptr_t begin, uintptr_t end) { put(object, begin, end); }

ompp_whose_thread_t *ompp_counter_in_stack(uintptr_t address)
{
    for (thread_t *t = atomic_load(&threads); t; t = t->next)
        if (address >= t->whose.unwind.stack_low && address < t->whose.unwind.stack_high) return &t->whose;
    return NULL;
}

/* What is used is noted anew, and stacks are looked up anew. */
static void new_epoch(ompp_counter_t *counter)
{
    const uint32_t next = counter->epoch + 1;

    __atomic_store_n(&counter->epoch, next ? next : 1, __ATOMIC_RELAXED);
}

/* What the user names may be part of a stack. */
static void put_named(uint32_t object, uintptr_t begin, uintptr_t end)
{
    if (ompp_whose_all && ompp_counter_in_stack(begin)) {
        atomic_store(&no_locals, true);
        for (thread_t *t = atomic_load(&threads); t; t = t->next) {
            t->counter.locals = t->counter.cells = 0;
            new_epoch(&t->counter);
        }
    }
    put(object, begin, end);
}

bool ompp_counter_no_objects(void) { return nobjects == 0; }

static void got(const void *block, size_t size, const void *code, void *const *word)
{
    if (ompp_whose_all) ompp_heap_got(block, size, code, word);
}

static void gone(const void *block, size_t size)
{
    if (ompp_whose_all) ompp_heap_gone(block, size);
}

static void finish(void)
{
    ompp_feed_finish();
    ompp_heap_finish();
}

static const char no_map[] = "no addresses for the map of structures (ulimit -v, vm.overcommit_memory)";

static void put_nothing(uint32_t object, uintptr_t begin, uintptr_t end) { (void)object, (void)begin, (void)end; }

static bool refuse(char *why, size_t n)
{
    snprintf(why, n, "loads and stores are not counted: %s", no_map);
    return false;
}

/* In the place of the other: there are hooks, and why they do not count. */
static const ompp_component_t refused = {.name = "hooks", .start = refuse, .put = put_nothing};

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

/* Object files have said who made them before main. What each compiler keeps from its hooks: docs/data-hooks.md,
 * tests/memory/kernels.py. */
static void register_metrics(void)
{
    unsigned all = ompp_counter_files[OMPP_FILES_ALL], clang = ompp_counter_files[OMPP_FILES_CLANG];

    metrics = ompp_metric_register(rows, OMPP_COUNTED_VALUES);
    ompp_event_coverage(OMPP_COVERAGE_INVISIBLE, SOURCE,
                        "code and libraries that were not built with --memory (those of C, C++ with std::string, "
                        "Fortran, OpenMP, MPI), "
                        "assembly");
    if (all > clang)
        ompp_event_coverage(
            OMPP_COVERAGE_INVISIBLE, SOURCE " of gcc",
            "constant data, the read before a bit-field is written, writes of floating-point atomics and reductions, "
            "blanks that fill a text of Fortran, functions that decide for an ifunc; at -O0, numbers and pointers in "
            "variables of functions, unless their "
            "address is taken; with -Os, memcpy and memset of more than 8 KiB right behind an "
            "assignment of the same bytes");
    if (clang)
        ompp_event_coverage(OMPP_COVERAGE_INVISIBLE, SOURCE " of clang",
                            "OpenMP atomics and reductions, functions that never return; where there was no plugin for "
                            "it (docs/data-hooks.md) "
                            "long double and what is larger than 16 bytes");
}

/* Numbers of threads have a limit: what comes behind it shares the last one. */
static void *begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    ompp_counter_t *counter;

    if (!open_for_counting) return NULL;
    pthread_once(&once, register_metrics);
    if (!(counter = take_counter())) return NULL;
    uint32_t number = ++nthreads;
    counter->own = (number < OMPP_MAP_LAST_OWNER ? number : OMPP_MAP_LAST_OWNER) << OMPP_MAP_OWNER_SHIFT;
    counter->tag = counter->own;
    counter->most = UINT32_MAX;
    counter->pages = ompp_map_page;
    counter->mask = ompp_map_mask;
    counter->edges = ompp_map_edge;
    ompp_feed_begin(counter);
    if (counter->whose && !atomic_load(&no_locals)) counter->cells = UINT32_MAX;
    if (!counter->feed) counter->locals = counter->cells;
    return ompp_counter_self = counter;
}

static void copy(uint64_t *to, const uint64_t *from)
{
    for (unsigned i = 0; i < OMPP_COUNTED_VALUES; i++) to[i] = from[i];
}

/*
 * One step of handing over: values and the total become those of redo, and the object's counts none. Whoever reads the
 * arena of a process that was killed in the middle takes it as done. The compiler keeps the order; a processor that
 * stops has kept its own.
 */
static void redo(thread_t *t, uint32_t object, uint64_t *values)
{
    ompp_a_pending_t *p = t->pending;

    p->redo.object = object;
    p->redo.block = ompp_pending_block(values);
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&p->redo.is, 1, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    if (values) copy(values, p->redo.values);
    copy(p->total, p->redo.total);
    if (object != OMPP_A_NO_OBJECT) {
        *ompp_count_at(&t->counter, (uint64_t)object << OMPP_INLINE_COUNT_BITS) = (ompp_count_t){0};
        t->blocks[object][OMPP_LOAD] = t->blocks[object][OMPP_STORE] = 0;
    }
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&p->redo.is, 0, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
}

/*
 * A place keeps its value blocks in a chain, which is walked; so those of structures that come late are remembered in a
 * table. Where memory for the profile is full, that is remembered, too, and not tried again with each change of region.
 */
static uint64_t *values_of(thread_t *t, ompp_off_t node, uint32_t object)
{
    enum { CHAINED = 16, FULL = 1 }; /* structures: a chain is as quick for so many; for want of an address */
    const bool remembers = object > CHAINED && node;
    const uint64_t key = ompp_hash_pair(node, object);
    uint64_t values = remembers ? ompp_table_get(&t->values, key) : 0;

    if (!values) {
        values = (uintptr_t)ompp_meter_values(node, metrics, object, OMPP_COUNTED_VALUES);
        if (!values) values = FULL;
        if (remembers) ompp_table_set(&t->values, key, values);
    }
    return values == FULL ? NULL : (uint64_t *)(uintptr_t)values;
}

_Static_assert(sizeof(ompp_count_t) == 128, "as busy() looks at it");

/* Of some objects, a bit each from the first on, those that anything was counted for since the last time: few. */
static uint64_t busy(const ompp_count_t *first, uint64_t objects)
{
    typedef uint64_t words_t __attribute__((vector_size(16), may_alias));
    uint64_t found = 0;

    for (; objects; objects &= objects - 1) {
        const words_t *w = (const words_t *)(first + __builtin_ctzll(objects));
        const words_t any = (w[0] | w[1]) | (w[2] | w[3]) | (w[4] | w[5]) | (w[6] | w[7]);
        if (any[0] | any[1]) found |= objects & -objects;
    }
    return found;
}

#if defined(__x86_64__)
__attribute__((target("avx2,bmi"))) static uint64_t busy_wide(const ompp_count_t *first, uint64_t objects)
{
    uint64_t found = 0;

    for (; objects; objects &= objects - 1) {
        const __m256i *w = (const __m256i *)(first + __builtin_ctzll(objects));
        const __m256i any = _mm256_or_si256(_mm256_or_si256(w[0], w[1]), _mm256_or_si256(w[2], w[3]));
        if (__builtin_expect(!_mm256_testz_si256(any, any), 0)) found |= objects & -objects;
    }
    return found;
}

static bool is_wide(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi");
}
#else
static uint64_t busy_wide(const ompp_count_t *first, uint64_t objects) { return busy(first, objects); }
static bool is_wide(void) { return false; }
#endif

static bool wide; /* the processor has vectors of 32 bytes */

static _Atomic uint64_t foreign_ones[(OMPP_DATA_MAX + 64) / 64];

void ompp_counter_foreign(uint32_t object) { atomic_fetch_or(&foreign_ones[object / 64], 1ull << object % 64); }

static bool is_foreign(uint32_t object)
{
    return atomic_load_explicit(&foreign_ones[object / 64], memory_order_relaxed) >> object % 64 & 1;
}

/* Hands over what was counted for an object. \return whether there was anything. */
static bool hand_over(thread_t *t, ompp_off_t node, uint32_t object)
{
    ompp_a_pending_t *p = t->pending;
    uint64_t counted[OMPP_COUNTED_VALUES], *values = NULL;
    const ompp_count_t *count = ompp_count_at(&t->counter, (uint64_t)object << OMPP_INLINE_COUNT_BITS);

    if (!ompp_counted_values(count, t->blocks[object], counted)) return false;
    for (unsigned kind = 0; kind < 2 && is_foreign(object); kind++)
        counted[OMPP_COUNTED_FOREIGN + kind] = counted[OMPP_COUNTED_ACCESSES + kind];
    if (metrics && object) values = values_of(t, node, object);
    for (unsigned i = 0; i < OMPP_COUNTED_VALUES; i++) {
        p->redo.values[i] = (values ? values[i] : 0) + counted[i];
        p->redo.total[i] = p->total[i] + counted[i];
    }
    redo(t, object, values);
    return true;
}

static void hand_over_total(thread_t *t, ompp_off_t node)
{
    ompp_a_pending_t *p = t->pending;
    uint64_t *values = metrics ? values_of(t, node, 0) : NULL;

    for (unsigned i = 0; i < OMPP_COUNTED_VALUES; i++) {
        p->redo.values[i] = (values ? values[i] : 0) + p->total[i];
        p->redo.total[i] = 0;
    }
    redo(t, OMPP_A_NO_OBJECT, values);
}

static void leave(thread_t *t, ompp_off_t node)
{
    uint32_t next = 0, first;

    ompp_feed_move(&t->counter, node);
    new_epoch(&t->counter);
    bool any = hand_over(t, node, 0);
    for (uint32_t i = 0; i < MAPPED / 64; i++)
        for (uint64_t some = atomic_load_explicit(&mapped_some[i], memory_order_relaxed); some; some &= some - 1) {
            const uint32_t at = 64 * i + (uint32_t)__builtin_ctzll(some);
            const uint64_t objects = atomic_load_explicit(&mapped[at], memory_order_relaxed);
            const ompp_count_t *first = ompp_count_at(&t->counter, (uint64_t)(64 * at) << OMPP_INLINE_COUNT_BITS);
            for (uint64_t bits = wide ? busy_wide(first, objects) : busy(first, objects); bits; bits &= bits - 1)
                any |= hand_over(t, node, 64 * at + (uint32_t)__builtin_ctzll(bits));
        }
    for (uint64_t bits; (bits = ompp_used_take(&t->used, nobjects, &next, &first));)
        for (; bits; bits &= bits - 1) any |= hand_over(t, node, first + (uint32_t)__builtin_ctzll(bits));
    if (any) hand_over_total(t, node);
}

static void move(void *state, ompp_place_now_t from, ompp_place_now_t to)
{
    thread_t *t = thread_of(state);
    const ompp_off_t left = ompp_counter_place(from.node), next = ompp_counter_place(to.node);

    if (left == next && from.node != to.node) return;
    leave(t, left);
    atomic_store_explicit(&t->pending->node, next, memory_order_release);
}

static void end(void *state)
{
    thread_t *t = thread_of(state);

    ompp_counter_self = &unread;
    ompp_feed_end(&t->counter);
    ompp_table_fini(&t->values);
    atomic_store(&t->taken, false);
}

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

/* ---- Start ------------------------------------------------------------------------------------------------------- */

static bool open_map(char *why, size_t n)
{
    const bool open = ompp_map_open();

    if (!open) snprintf(why, n, "%s", no_map);
    return open;
}

static const ompp_component_t hooks = {
    .name = "hooks",
    .start = open_map,
    .thread_begin = begin,
    .move = move,
    .thread_end = end,
    .readable = true,
    .put = put_named,
    .got = got,
    .gone = gone,
    .quiesce = finish,
};

static void start(void)
{
    char why[120];

    wide = is_wide();
    if (!ompp_data_wants("hooks")) return;
    open_for_counting = ompp_component_start(&hooks, why, sizeof why) && ompp_data_subscribe(&hooks);
    if (open_for_counting) {
        ompp_feed_start(ompp_data_wants_all() ? ompp_heap_begin : NULL);
        ompp_whose_start();
        return;
    }
    ompp_data_offer(&refused);
    ompp_warn_common("loads and stores are not counted: %s", why);
    ompp_event_coverage(OMPP_COVERAGE_NOTE, "loads and stores are not counted", why);
}

void ompp_counter_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const bool first = ompp_counter_self == &unseen;

    if (first) ompp_counter_self = &unread; /* the start may call functions of the program: a strdup() with hooks */
    pthread_once(&once, start);
    if (first && ompp_counter_self == &unread) ompp_counter_self = &unseen;
}
