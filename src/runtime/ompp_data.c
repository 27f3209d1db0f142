/*
 * The register of data structures. Ranges are few (thousands at most) and change rarely, so they stand in one array in order of
 * registration; back ends keep whatever is fast for them.
 */
#define OMPP_LOG_DOMAIN "data"
#include "runtime/ompp_data_priv.h"

#include "base/ompp_env.h"
#include "base/ompp_log.h"
#include "model/ompp_profile.h"
#include "runtime/ompp_lifecycle.h"
#include "runtime/ompp_thread_priv.h"

#include <ctype.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MAX_BACKENDS 8
#define MAX_NAME 256
#define LOWEST_ADDRESS 0x10000u

static pthread_mutex_t data_lock = PTHREAD_MUTEX_INITIALIZER;
static const ompp_data_backend_t *backends[MAX_BACKENDS];
static unsigned nbackends;
static ompp_a_object_t *objects[OMPP_DATA_MAX + 1];
static uint32_t nobjects;
static ompp_data_range_t *ranges; /* in order of registration */
static size_t nranges, aranges;

static void tell(uint32_t object, uintptr_t begin, uintptr_t end)
{
    for (unsigned i = 0; i < nbackends; i++) backends[i]->put(object, begin, end);
}

bool ompp_data_has_backend(void)
{
    return nbackends > 0 || ompp_data_has_offers();
}

bool ompp_data_subscribe(const ompp_data_backend_t *backend)
{
    bool room;

    pthread_mutex_lock(&data_lock);
    room = nbackends < MAX_BACKENDS;
    if (room) backends[nbackends++] = backend;
    for (size_t i = 0; room && i < nranges; i++) backend->put(ranges[i].object, ranges[i].begin, ranges[i].end);
    pthread_mutex_unlock(&data_lock);
    return room;
}

void ompp_data_unsubscribe(const ompp_data_backend_t *backend)
{
    unsigned kept = 0;

    pthread_mutex_lock(&data_lock);
    for (unsigned i = 0; i < nbackends; i++)
        if (backends[i] != backend) backends[kept++] = backends[i];
    nbackends = kept;
    pthread_mutex_unlock(&data_lock);
}

bool ompp_data_has(const char *backend)
{
    bool has = false;

    pthread_mutex_lock(&data_lock);
    for (unsigned i = 0; i < nbackends; i++) has |= backends[i]->name && strcmp(backends[i]->name, backend) == 0;
    pthread_mutex_unlock(&data_lock);
    return has;
}

/* ---- Names ---------------------------------------------------------------------------------------------------------- */

static void clean_name(char *clean, const char *name, const void *address)
{
    size_t n;

    while (name && isspace((unsigned char)*name)) name++;
    snprintf(clean, MAX_NAME, "%s", name ? name : "");
    for (n = strlen(clean); n && isspace((unsigned char)clean[n - 1]);) clean[--n] = '\0';
    if (!n) snprintf(clean, MAX_NAME, "%p", address);
}

static const char *text_of(ompp_off_t off)
{
    return off ? ((ompp_a_string_t *)(ompp_process.arena.base + off))->text : "";
}

static uint32_t find_name(const char *name)
{
    for (uint32_t i = 1; i <= nobjects; i++)
        if (strcmp(text_of(objects[i]->name), name) == 0) return i;
    return 0;
}

static uint32_t make_object(const char *name, const char *origin, const void *address, size_t size)
{
    ompp_a_header_t *header = ompp_process.header;

    if (nobjects == OMPP_DATA_MAX) {
        ompp_event_coverage(OMPP_COVERAGE_DROPPED, "data structures", "there is room for 1023");
        return 0;
    }
    const ompp_held_t held = ompp_lock();
    ompp_off_t off = ompp_arena_take(&ompp_process.arena, sizeof(ompp_a_object_t));
    if (off) {
        ompp_a_object_t *object = (ompp_a_object_t *)(ompp_process.arena.base + off);
        *object = (ompp_a_object_t){.next = atomic_load_explicit(&header->objects, memory_order_relaxed),
                                    .id = nobjects + 1,
                                    .name = ompp_string_take(name),
                                    .origin = ompp_string_take(origin),
                                    .address = (uintptr_t)address,
                                    .size = size};
        objects[++nobjects] = object;
        atomic_store_explicit(&header->objects, off, memory_order_release);
    }
    ompp_unlock(held);
    if (!off) ompp_event_coverage(OMPP_COVERAGE_DROPPED, "data structures", "memory for the profile is full");
    return off ? nobjects : 0;
}

/* ---- Ranges --------------------------------------------------------------------------------------------------------- */

/* Not from malloc: this may be called where the program has the allocator in its hands. */
static bool room_for_range(void)
{
    size_t bigger = aranges ? 2 * aranges : 256;
    ompp_data_range_t *more;

    if (nranges < aranges) return true;
    more = mmap(NULL, bigger * sizeof *more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (more == MAP_FAILED) return false;
    if (ranges) memcpy(more, ranges, nranges * sizeof *more);
    if (ranges) munmap(ranges, aranges * sizeof *ranges);
    ranges = more;
    aranges = bigger;
    return true;
}

static bool overlaps(ompp_data_range_t range, uintptr_t begin, uintptr_t end)
{
    return range.begin < end && range.end > begin;
}

/* The range that was registered last of those that share bytes with begin..end; NULL = none does. */
static const ompp_data_range_t *newest(uintptr_t begin, uintptr_t end)
{
    for (size_t i = nranges; i-- > 0;)
        if (overlaps(ranges[i], begin, end)) return &ranges[i];
    return NULL;
}

static bool is_same(const ompp_data_range_t *range, uint32_t object, uintptr_t begin, uintptr_t end)
{
    return range && range->object == object && range->begin == begin && range->end == end;
}

/* Ranges of the structure that begin there and end no later: they say nothing beside a newer one, and would be released with it. */
static void drop_covered(uint32_t object, uintptr_t begin, uintptr_t end)
{
    size_t kept = 0;

    for (size_t i = 0; i < nranges; i++)
        if (ranges[i].object != object || ranges[i].begin != begin || ranges[i].end > end) ranges[kept++] = ranges[i];
    nranges = kept;
}

/* Named from outside the source. */
static bool is_outside(const char *origin)
{
    return strncmp(origin, "OMPP_DATA", 9) == 0;
}

static bool contains(ompp_data_range_t outer, ompp_data_range_t inner)
{
    return outer.begin <= inner.begin && inner.end <= outer.end;
}

static void note_hidden(uint32_t object, uint32_t by)
{
    char subject[MAX_NAME + 40], why[MAX_NAME + 80];

    snprintf(subject, sizeof subject, "data structure %s", text_of(objects[object]->name));
    snprintf(why, sizeof why, "its bytes were named %s later, and count for that from then on", text_of(objects[by]->name));
    ompp_event_coverage(OMPP_COVERAGE_NOTE, subject, why);
}

/* The newest range takes its bytes from older ones, but not from parts of it that were named from outside: these stay on top. */
static void settle_newest(void)
{
    const ompp_data_range_t range = ranges[nranges - 1];

    for (size_t i = 0, n = nranges - 1; i < n;) {
        const ompp_data_range_t older = ranges[i];
        bool inside = older.object != range.object && contains(range, older);
        if (inside && !contains(older, range) && is_outside(text_of(objects[older.object]->origin))) {
            memmove(&ranges[i], &ranges[i + 1], (nranges - 1 - i) * sizeof *ranges);
            ranges[nranges - 1] = older;
            tell(older.object, older.begin, older.end);
            n--;
            continue;
        }
        if (inside && atomic_load(&objects[older.object]->nranges) == 1) note_hidden(older.object, range.object);
        i++;
    }
}

static void rename_outside(uint32_t object, const char *name)
{
    const ompp_held_t held = ompp_lock();
    ompp_off_t off = ompp_string_take(name);
    if (off) objects[object]->name = off;
    ompp_unlock(held);
}

/*
 * What the source calls by a name and what that names from outside may be unlike things (a pointer, and what it points to): they are
 * not summed, and the name is the source's. \return the structure, 0 = a new one. apart: the name of the one from outside.
 */
static uint32_t find_or_part(const char *name, const char *origin, ompp_data_range_t range, char apart[MAX_NAME + 16])
{
    uint32_t object = find_name(name);
    bool mine = is_outside(origin), other = object && is_outside(text_of(objects[object]->origin)), same = false;

    *apart = '\0';
    if (!object || mine == other) return object;
    for (size_t i = 0; i < nranges && !same; i++) same = is_same(&ranges[i], object, range.begin, range.end);
    if (same) return object;
    snprintf(apart, MAX_NAME + 16, "OMPP_DATA:%s", name);
    ompp_event_coverage(OMPP_COVERAGE_NOTE, apart, "the source calls other bytes by this name, too: those have it alone");
    if (mine) return find_name(apart);
    rename_outside(object, apart);
    return 0;
}

static uint32_t add_locked(const void *address, size_t size, const char *name, const char *origin)
{
    uintptr_t begin = (uintptr_t)address, end = begin + size;
    char apart[MAX_NAME + 16];
    uint32_t object = find_or_part(name, origin, (ompp_data_range_t){0, begin, end}, apart);

    const ompp_data_range_t *last = newest(begin, end);

    if (*apart && is_outside(origin)) name = apart;
    if (object && is_same(last, object, begin, end)) return object;
    if (object && last) drop_covered(object, begin, end);
    if (!room_for_range()) return 0;
    if (!object) object = make_object(name, origin, address, size);
    if (!object) return 0;
    ranges[nranges++] = (ompp_data_range_t){object, begin, end};
    atomic_fetch_add_explicit(&objects[object]->nranges, 1, memory_order_relaxed);
    tell(object, begin, end);
    settle_newest();
    return object;
}

/* The first pages of a process, which systems leave unmapped (vm.mmap_min_addr): no variable lies there, but NULL and small numbers. */
static void refuse_address(const void *address, const char *name, const char *origin)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;

    if (!atomic_flag_test_and_set(&said))
        ompp_warn("%s: %s has the address %#lx, where no data can be; it is not counted", origin, name, (unsigned long)address);
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
    pthread_mutex_lock(&data_lock);
    object = add_locked(address, size, clean, origin);
    pthread_mutex_unlock(&data_lock);
    errno = saved;
    return object;
}

bool ompp_data_release(const void *address)
{
    uintptr_t begin = (uintptr_t)address, end = begin;
    size_t kept = 0;
    int saved = errno;

    if (atomic_load(&ompp_process.state) != OMPP_STATE_RUNNING) return false;
    pthread_mutex_lock(&data_lock);
    for (size_t i = 0; i < nranges; i++) {
        if (ranges[i].begin != begin)
            ranges[kept++] = ranges[i];
        else if (ranges[i].end > end)
            end = ranges[i].end;
    }
    nranges = kept;
    if (end > begin) tell(0, begin, end);
    for (size_t i = 0; i < nranges; i++) {
        uintptr_t from = ranges[i].begin > begin ? ranges[i].begin : begin, to = ranges[i].end < end ? ranges[i].end : end;
        if (from < to) tell(ranges[i].object, from, to);
    }
    pthread_mutex_unlock(&data_lock);
    errno = saved;
    return end > begin;
}

/* What is left of a range without the bytes begin..end: nothing, one or two ranges in its place. \return their number. */
static size_t rest_of(ompp_data_range_t range, uintptr_t begin, uintptr_t end, ompp_data_range_t rest[2])
{
    size_t n = 0;

    if (range.begin < begin) rest[n++] = (ompp_data_range_t){range.object, range.begin, begin < range.end ? begin : range.end};
    if (range.end > end) rest[n++] = (ompp_data_range_t){range.object, end > range.begin ? end : range.begin, range.end};
    return n;
}

bool ompp_data_overlaps(const void *address, size_t size)
{
    uintptr_t begin = (uintptr_t)address;
    bool some = false;

    if (atomic_load(&ompp_process.state) != OMPP_STATE_RUNNING) return false;
    pthread_mutex_lock(&data_lock);
    some = newest(begin, begin + size);
    pthread_mutex_unlock(&data_lock);
    return some;
}

static ompp_data_piece_t piece_of(ompp_data_range_t range, uintptr_t begin, uintptr_t end)
{
    uintptr_t from = range.begin > begin ? range.begin : begin, to = range.end < end ? range.end : end;

    return (ompp_data_piece_t){range.object, from - begin, to - from};
}

static size_t forget_locked(uintptr_t begin, uintptr_t end, ompp_data_piece_t *pieces, size_t max)
{
    ompp_data_range_t rest[2];
    size_t n = 0;

    for (size_t i = 0; i < nranges;) {
        if (!overlaps(ranges[i], begin, end)) {
            i++;
            continue;
        }
        if (n < max) pieces[n++] = piece_of(ranges[i], begin, end);
        size_t kept = rest_of(ranges[i], begin, end, rest);
        if (kept == 2 && !room_for_range()) kept = 1;
        memmove(&ranges[i + kept], &ranges[i + 1], (nranges - i - 1) * sizeof *ranges);
        memcpy(&ranges[i], rest, kept * sizeof *ranges);
        nranges += kept - 1;
        i += kept;
    }
    tell(0, begin, end);
    return n;
}

size_t ompp_data_forget(const void *address, size_t size, ompp_data_piece_t *pieces, size_t max)
{
    uintptr_t begin = (uintptr_t)address;
    size_t n = 0;
    int saved = errno;

    if (size == 0 || atomic_load(&ompp_process.state) != OMPP_STATE_RUNNING) return 0;
    pthread_mutex_lock(&data_lock);
    n = forget_locked(begin, begin + size, pieces, max);
    pthread_mutex_unlock(&data_lock);
    errno = saved;
    return n;
}

void ompp_data_restore(const void *address, size_t size, const ompp_data_piece_t *pieces, size_t n)
{
    uintptr_t begin = (uintptr_t)address;
    int saved = errno;

    if (n == 0 || atomic_load(&ompp_process.state) != OMPP_STATE_RUNNING) return;
    pthread_mutex_lock(&data_lock);
    for (size_t i = 0; i < n && room_for_range(); i++) {
        if (pieces[i].offset >= size) continue;
        size_t rest = size - pieces[i].offset;
        uintptr_t from = begin + pieces[i].offset, to = from + (pieces[i].size < rest ? pieces[i].size : rest);
        ranges[nranges++] = (ompp_data_range_t){pieces[i].object, from, to};
        tell(pieces[i].object, from, to);
    }
    pthread_mutex_unlock(&data_lock);
    errno = saved;
}

size_t ompp_data_ranges(ompp_data_range_t *to, size_t max)
{
    size_t n = 0;

    if (atomic_load(&ompp_process.state) != OMPP_STATE_RUNNING) return 0;
    pthread_mutex_lock(&data_lock);
    n = nranges;
    if (n) memcpy(to, ranges, (n < max ? n : max) * sizeof *ranges);
    pthread_mutex_unlock(&data_lock);
    return n;
}

const char *ompp_data_name(uint32_t object)
{
    return object && object <= nobjects ? text_of(objects[object]->name) : "";
}

uint32_t ompp_data_find(uintptr_t address)
{
    uint32_t object = 0;

    if (atomic_load(&ompp_process.state) != OMPP_STATE_RUNNING) return 0;
    pthread_mutex_lock(&data_lock);
    for (size_t i = nranges; i-- > 0 && !object;)
        if (ranges[i].begin <= address && address < ranges[i].end) object = ranges[i].object;
    pthread_mutex_unlock(&data_lock);
    return object;
}

static void keep_largest(_Atomic uint64_t *value, uint64_t candidate)
{
    uint64_t old = atomic_load(value);

    while (old < candidate && !atomic_compare_exchange_weak(value, &old, candidate)) continue;
}

void ompp_data_offsets(uint32_t object, uint64_t start, uint64_t end)
{
    if (object == 0 || object > nobjects) return;
    keep_largest(&objects[object]->start_offset, start);
    keep_largest(&objects[object]->end_offset, end);
}

/* ---- The user's variables ------------------------------------------------------------------------------------------- */

static bool number(const char *name, const char *text, uint64_t *value)
{
    char *rest;

    errno = 0;
    *value = strtoull(text, &rest, 0);
    if (isdigit((unsigned char)*text) && !*rest && errno == 0 && *value) return true;
    ompp_warn_common("%s=%s is not a number above 0; no data range is set", name, text);
    return false;
}

void ompp_data_from_environment(void)
{
    uint64_t address, size;

    if (!*ompp_env.data_addr && !*ompp_env.data_size) return;
    if (!*ompp_env.data_addr || !*ompp_env.data_size) {
        ompp_warn_common("OMPP_DATA_ADDR and OMPP_DATA_SIZE belong together; no data range is set");
        return;
    }
    if (!number("OMPP_DATA_ADDR", ompp_env.data_addr, &address) || !number("OMPP_DATA_SIZE", ompp_env.data_size, &size)) return;
    if (address + size < address)
        ompp_warn_common("OMPP_DATA_ADDR + OMPP_DATA_SIZE is beyond the end of memory; no data range is set");
    else
        ompp_data_add((const void *)(uintptr_t)address, size, ompp_env.data_name, "OMPP_DATA_ADDR");
}

void ompp_data_finish(void)
{
    ompp_data_note_missing();
    if (nbackends == 0 && (nobjects > 0 || *ompp_env.data))
        ompp_event_coverage(OMPP_COVERAGE_NOTE, "data structures are named, but nothing counts for them",
                            "build the program with kinst-ompp --memory, or see OMPP_DATA_BACKEND");
}
