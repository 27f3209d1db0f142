/*
 * The register of data structures. Ranges stand in an index (ompp_data_ranges.c), structures in a table of names
 * (ompp_data_objects.c); back ends keep whatever is fast for them.
 */
#define OMPP_LOG_DOMAIN "data"
#include "data/ompp_data_objects_priv.h"
#include "data/ompp_data_priv.h"
#include "data/ompp_data_ranges_priv.h"

#include "base/ompp_caller.h"
#include "base/ompp_env.h"
#include "base/ompp_log.h"
#include "model/ompp_profile.h"
#include "runtime/ompp_event.h"
#include "runtime/ompp_state.h"

#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BACKENDS 8
#define MAX_NAME 256
#define LOWEST_ADDRESS 0x10000u
#define MAX_NOTED 1023 /* structures that are looked at when measurement ends */

static pthread_mutex_t data_lock = PTHREAD_MUTEX_INITIALIZER;
static __thread bool holds;   /* this thread has the lock: a signal handler of it must not wait */
static ompp_stay_t data_stay; /* of the thread that has the lock */

static void take_lock(void)
{
    const ompp_stay_t stay = ompp_stay_if_handled();

    pthread_mutex_lock(&data_lock);
    data_stay = stay;
    holds = true;
}

static bool try_lock(void)
{
    enum { TRIES = 20000, SPINS = 100 }; /* some 10 ms: who has it may have lost its processor */
    const ompp_stay_t stay = ompp_stay_if_handled();

    for (unsigned i = 0; i < TRIES; i++) {
        if (pthread_mutex_trylock(&data_lock) == 0) {
            data_stay = stay;
            return holds = true;
        }
        if (i > SPINS) sched_yield();
    }
    ompp_stay_end(stay);
    return false;
}

static void give_lock(void)
{
    const ompp_stay_t stay = data_stay;

    holds = false;
    pthread_mutex_unlock(&data_lock);
    ompp_stay_end(stay);
}

static const ompp_component_t *backends[MAX_BACKENDS];
static unsigned nbackends;
static const ompp_component_t *offers[MAX_BACKENDS]; /* that could count */
static unsigned noffers;

static void tell(uint32_t object, uintptr_t begin, uintptr_t end)
{
    for (unsigned i = 0; i < nbackends; i++) backends[i]->put(object, begin, end);
}

bool ompp_data_offer(const ompp_component_t *backend)
{
    if (noffers == MAX_BACKENDS) return false;
    offers[noffers++] = backend;
    return true;
}

const ompp_component_t *ompp_data_offered(const char *name)
{
    for (unsigned i = 0; i < noffers; i++)
        if (strcmp(offers[i]->name, name) == 0) return offers[i];
    return NULL;
}

bool ompp_data_has_offers(void) { return noffers > 0; }

/* Hooks that count subscribe by themselves; in their place comes an offer that is always refused. */
bool ompp_data_hooks_are_refused(void) { return ompp_data_offered("hooks") != NULL; }

bool ompp_data_has_backend(void) { return nbackends > 0 || ompp_data_has_offers(); }

bool ompp_data_subscribe(const ompp_component_t *backend)
{
    const ompp_data_entry_t *found;
    bool room;

    if (nbackends == 0) ompp_runtime_hooks.data_begins();
    take_lock();
    room = nbackends < MAX_BACKENDS;
    if (room) backends[nbackends++] = backend;
    for (size_t i = 0, n = ompp_data_ranges_over(0, UINTPTR_MAX, &found); room && i < n; i++)
        backend->put(found[i].range.object, found[i].range.begin, found[i].range.end);
    give_lock();
    return room;
}

void ompp_data_unsubscribe(const ompp_component_t *backend)
{
    unsigned kept = 0;

    take_lock();
    for (unsigned i = 0; i < nbackends; i++)
        if (backends[i] != backend) backends[kept++] = backends[i];
    nbackends = kept;
    give_lock();
}

bool ompp_data_has(const char *backend)
{
    bool has = false;

    take_lock();
    for (unsigned i = 0; i < nbackends; i++) has |= backends[i]->name && strcmp(backends[i]->name, backend) == 0;
    give_lock();
    return has;
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static void clean_name(char *clean, const char *name, const void *address)
{
    size_t n;

    while (name && isspace((unsigned char)*name)) name++;
    snprintf(clean, MAX_NAME, "%s", name ? name : "");
    for (n = strlen(clean); n && isspace((unsigned char)clean[n - 1]);) clean[--n] = '\0';
    if (!n) snprintf(clean, MAX_NAME, "%p", address);
}

/* ---- Ranges ------------------------------------------------------------------------------------------------------ */

static bool is_same(ompp_data_range_t range, uint32_t object, uintptr_t begin, uintptr_t end)
{
    return range.object == object && range.begin == begin && range.end == end;
}

/* Ranges of the structure that begin there and end no later: they say nothing beside a newer one, and would be released
 * with it. */
static void drop_covered(uint32_t object, uintptr_t begin, uintptr_t end)
{
    const ompp_data_entry_t *found;

    for (size_t i = 0, n = ompp_data_ranges_over(begin, begin + 1, &found); i < n; i++)
        if (found[i].range.object == object && found[i].range.begin == begin && found[i].range.end <= end)
            ompp_data_ranges_remove(found[i]);
}

/* Named from outside the source. */
static bool is_outside(const char *origin) { return strncmp(origin, "OMPP_DATA", 9) == 0; }

static bool contains(ompp_data_range_t outer, ompp_data_range_t inner)
{
    return outer.begin <= inner.begin && inner.end <= outer.end;
}

static void note_hidden(uint32_t object, uint32_t by)
{
    char subject[MAX_NAME + 40], why[MAX_NAME + 80];

    snprintf(subject, sizeof subject, "data structure %s", ompp_data_objects_name(object));
    snprintf(why, sizeof why, "its bytes were named %s later, and count for that from then on",
             ompp_data_objects_name(by));
    ompp_event_coverage(OMPP_COVERAGE_NOTE, subject, why);
}

/* The newest range takes its bytes from older ones, but not from parts of it that were named from outside: these stay
 * on top. */
static void settle_newest(ompp_data_range_t range)
{
    const ompp_data_entry_t *found;

    for (size_t i = 0, n = ompp_data_ranges_over(range.begin, range.end, &found); i < n; i++) {
        const ompp_data_range_t older = found[i].range;
        if (older.object == range.object || !contains(range, older)) continue;
        if (!contains(older, range) && is_outside(ompp_data_objects_text(ompp_data_objects_at(older.object)->origin))) {
            ompp_data_ranges_remove(found[i]);
            ompp_data_ranges_add(older); /* in the place that is free now */
            tell(older.object, older.begin, older.end);
        } else if (atomic_load(&ompp_data_objects_at(older.object)->nranges) == 1) {
            note_hidden(older.object, range.object);
        }
    }
}

/*
 * What the source calls by a name and what that names from outside may be unlike things (a pointer, and what it points
 * to): they are not summed, and the name is the source's. \return the structure, 0 = a new one. apart: the name of the
 * one from outside.
 */
static uint32_t find_or_part(const char *name, const char *origin, ompp_data_range_t range, char apart[MAX_NAME + 16])
{
    const ompp_data_entry_t *found;
    uint32_t object = ompp_data_objects_find(name);
    bool mine = is_outside(origin),
         other = object && is_outside(ompp_data_objects_text(ompp_data_objects_at(object)->origin)), same = false;

    *apart = '\0';
    if (!object || mine == other) return object;
    for (size_t i = 0, n = ompp_data_ranges_over(range.begin, range.end, &found); i < n && !same; i++)
        same = is_same(found[i].range, object, range.begin, range.end);
    if (same) return object;
    snprintf(apart, MAX_NAME + 16, "OMPP_DATA:%s", name);
    ompp_event_coverage(OMPP_COVERAGE_NOTE, apart,
                        "the source calls other bytes by this name, too: those have it alone");
    if (mine) return ompp_data_objects_find(apart);
    ompp_data_objects_rename(object, apart);
    return 0;
}

static uint32_t add_locked(const void *address, size_t size, const char *name, const char *origin)
{
    uintptr_t begin = (uintptr_t)address, end = begin + size;
    char apart[MAX_NAME + 16];
    uint32_t object = find_or_part(name, origin, (ompp_data_range_t){0, begin, end}, apart);
    ompp_data_range_t last;
    bool covers = ompp_data_ranges_newest(begin, end, &last);

    if (*apart && is_outside(origin)) name = apart;
    if (object && covers && is_same(last, object, begin, end)) return object;
    if (object && covers) drop_covered(object, begin, end);
    if (!object) object = ompp_data_objects_make(name, origin, address, size);
    if (!object) return 0;
    const ompp_data_range_t range = {object, begin, end};
    if (!ompp_data_ranges_add(range)) {
        ompp_event_coverage(OMPP_COVERAGE_DROPPED, "ranges of data structures", "out of memory");
        return 0;
    }
    atomic_fetch_add_explicit(&ompp_data_objects_at(object)->nranges, 1, memory_order_relaxed);
    tell(object, begin, end);
    if (covers) settle_newest(range);
    return object;
}

/* The first pages of a process, which systems leave unmapped (vm.mmap_min_addr): no variable lies there, but NULL and
 * small numbers. */
static void refuse_address(const void *address, const char *name, const char *origin)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;

    if (!atomic_flag_test_and_set(&said))
        ompp_warn("%s: %s has the address %#lx, where no data can be; it is not counted", origin, name,
                  (unsigned long)address);
    ompp_event_coverage(OMPP_COVERAGE_REFUSED, name, "data was named whose address is NULL, or too small to be one");
}

uint32_t ompp_data_add(const void *address, size_t size, const char *name, const char *origin)
{
    int saved = errno;
    uint32_t object = 0;
    char clean[MAX_NAME];

    if (size == 0 || (uintptr_t)address + size < (uintptr_t)address || !ompp_runtime_start()) return 0;
    clean_name(clean, name, address);
    if ((uintptr_t)address < LOWEST_ADDRESS) {
        refuse_address(address, clean, origin);
        errno = saved;
        return 0;
    }
    take_lock();
    object = add_locked(address, size, clean, origin);
    give_lock();
    errno = saved;
    return object;
}

/* The bytes belong to whom they belonged to before a range was there. */
static void tell_what_is_left(uintptr_t begin, uintptr_t end)
{
    const ompp_data_entry_t *found;

    tell(0, begin, end);
    for (size_t i = 0, n = ompp_data_ranges_over(begin, end, &found); i < n; i++) {
        const ompp_data_range_t range = found[i].range;
        tell(range.object, range.begin > begin ? range.begin : begin, range.end < end ? range.end : end);
    }
}

bool ompp_data_release(const void *address)
{
    const ompp_data_entry_t *found;
    uintptr_t begin = (uintptr_t)address, end = begin;
    int saved = errno;

    if (atomic_load(&ompp_process.state) != OMPP_STATE_RUNNING) return false;
    take_lock();
    for (size_t i = 0, n = ompp_data_ranges_over(begin, begin + 1, &found); i < n; i++) {
        if (found[i].range.begin != begin) continue;
        if (found[i].range.end > end) end = found[i].range.end;
        ompp_data_ranges_remove(found[i]);
    }
    if (end > begin) tell_what_is_left(begin, end);
    give_lock();
    errno = saved;
    return end > begin;
}

bool ompp_data_try(void)
{
    if (holds || atomic_load_explicit(&ompp_process.state, memory_order_relaxed) != OMPP_STATE_RUNNING) return false;
    return try_lock();
}

void ompp_data_done(void) { give_lock(); }

/* What is left of a range without the bytes begin..end: nothing, one or two ranges in its place. \return their
 * number. */
static size_t rest_of(ompp_data_range_t range, uintptr_t begin, uintptr_t end, ompp_data_range_t rest[2])
{
    size_t n = 0;

    if (range.begin < begin)
        rest[n++] = (ompp_data_range_t){range.object, range.begin, begin < range.end ? begin : range.end};
    if (range.end > end)
        rest[n++] = (ompp_data_range_t){range.object, end > range.begin ? end : range.begin, range.end};
    return n;
}

bool ompp_data_overlaps(const void *address, size_t size)
{
    ompp_data_range_t newest;
    uintptr_t begin = (uintptr_t)address;
    bool some = false;

    if (atomic_load(&ompp_process.state) != OMPP_STATE_RUNNING) return false;
    take_lock();
    some = ompp_data_ranges_newest(begin, begin + size, &newest);
    give_lock();
    return some;
}

bool ompp_data_has_ranges(void) { return ompp_data_ranges_count() > 0; }

static ompp_data_piece_t piece_of(ompp_data_range_t range, uintptr_t begin, uintptr_t end)
{
    uintptr_t from = range.begin > begin ? range.begin : begin, to = range.end < end ? range.end : end;

    return (ompp_data_piece_t){range.object, from - begin, to - from};
}

static size_t forget_locked(uintptr_t begin, uintptr_t end, ompp_data_piece_t *pieces, size_t max)
{
    const ompp_data_entry_t *found;
    ompp_data_range_t rest[2];
    const size_t n = ompp_data_ranges_over(begin, end, &found);

    for (size_t i = 0; i < n; i++) {
        const ompp_data_entry_t old = found[i];
        const ompp_data_piece_t piece = piece_of(old.range, begin, end);
        if (i < max) pieces[i] = piece;
        /* what lies between may be more than can be walked over */
        tell(0, begin + piece.offset, begin + piece.offset + piece.size);
        ompp_data_ranges_remove(old);
        for (size_t k = rest_of(old.range, begin, end, rest); k-- > 0;)
            ompp_data_ranges_put((ompp_data_entry_t){rest[k], old.order});
    }
    return n < max ? n : max;
}

size_t ompp_data_forget(const void *address, size_t size, ompp_data_piece_t *pieces, size_t max)
{
    uintptr_t begin = (uintptr_t)address;
    size_t n = 0;
    int saved = errno;

    if (size == 0 || atomic_load(&ompp_process.state) != OMPP_STATE_RUNNING) return 0;
    take_lock();
    n = forget_locked(begin, begin + size, pieces, max);
    give_lock();
    errno = saved;
    return n;
}

void ompp_data_restore(const void *address, size_t size, const ompp_data_piece_t *pieces, size_t n)
{
    uintptr_t begin = (uintptr_t)address;
    int saved = errno;

    if (n == 0 || atomic_load(&ompp_process.state) != OMPP_STATE_RUNNING) return;
    take_lock();
    for (size_t i = 0; i < n; i++) {
        if (pieces[i].offset >= size) continue;
        size_t rest = size - pieces[i].offset;
        uintptr_t from = begin + pieces[i].offset, to = from + (pieces[i].size < rest ? pieces[i].size : rest);
        if (ompp_data_ranges_add((ompp_data_range_t){pieces[i].object, from, to})) tell(pieces[i].object, from, to);
    }
    give_lock();
    errno = saved;
}

size_t ompp_data_ranges(ompp_data_range_t *to, size_t max)
{
    const ompp_data_entry_t *found;
    size_t n = 0;

    if (atomic_load(&ompp_process.state) != OMPP_STATE_RUNNING) return 0;
    take_lock();
    n = ompp_data_ranges_over(0, UINTPTR_MAX, &found);
    for (size_t i = 0; i < n && i < max; i++) to[i] = found[i].range;
    give_lock();
    return n;
}

uint32_t ompp_data_find(uintptr_t address)
{
    ompp_data_range_t newest;
    uint32_t object = 0;

    if (atomic_load(&ompp_process.state) != OMPP_STATE_RUNNING) return 0;
    take_lock();
    if (ompp_data_ranges_newest(address, address + 1, &newest)) object = newest.object;
    give_lock();
    return object;
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

/* Whether newer ranges have all bytes of a structure's only range, which is still there, but none of them has it
 * alone. */
static bool is_covered(uint32_t object)
{
    const uintptr_t begin = ompp_data_objects_at(object)->address, end = begin + ompp_data_objects_at(object)->size;
    const ompp_data_entry_t *found;
    ompp_data_range_t newest;
    bool there = false;

    for (size_t i = 0, n = ompp_data_ranges_over(begin, begin + 1, &found); i < n; i++)
        there |= is_same(found[i].range, object, begin, end);
    if (!there || !ompp_data_ranges_newest(begin, begin + 1, &newest) || newest.end >= end) return false;
    for (uintptr_t at = begin; at < end; at = newest.end)
        if (!ompp_data_ranges_newest(at, at + 1, &newest) || newest.object == object) return false;
    return true;
}

void ompp_data_note_covered(void)
{
    char subject[MAX_NAME + 40];

    take_lock();
    for (uint32_t object = 1; object <= ompp_data_objects_count() && object <= MAX_NOTED; object++) {
        if (atomic_load(&ompp_data_objects_at(object)->nranges) != 1 || !is_covered(object)) continue;
        snprintf(subject, sizeof subject, "data structure %s", ompp_data_objects_name(object));
        ompp_event_coverage(OMPP_COVERAGE_NOTE, subject,
                            "its parts were named by themselves, and count for those names");
    }
    give_lock();
}

/* Caches are simulated by hooks alone. */
static void note_unsimulated(void)
{
    static const char why[] = "build the program with kinst-ompp --memory (docs/cache.md)";
    static bool said;
    bool hooks = ompp_data_hooks_are_refused();

    for (unsigned i = 0; i < nbackends; i++) hooks = hooks || strcmp(backends[i]->name, "hooks") == 0;
    if (hooks || said || strcmp(ompp_env.cache, "off") == 0) return;
    said = true;
    ompp_warn_common("OMPP_CACHE: caches are not simulated: %s", why);
    ompp_event_coverage(OMPP_COVERAGE_NOTE, "caches are not simulated", why);
}

void ompp_data_note_uncounted(void)
{
    note_unsimulated();
    ompp_components_quiesce();
    if (nbackends > 0 || (ompp_data_objects_count() == 0 && !*ompp_env.data)) return;
    ompp_event_coverage(OMPP_COVERAGE_NOTE, "data structures are named, but nothing counts for them",
                        ompp_data_hooks_are_refused()
                            ? "the program's hooks were refused"
                            : "build the program with kinst-ompp --memory, or see OMPP_DATA_BACKEND");
}
