/*
 * Data structures by their numbers and by their names.
 */
#include "data/ompp_data_objects_priv.h"

#include "base/ompp_pages.h"
#include "model/ompp_profile.h"
#include "runtime/ompp_event.h"
#include "runtime/ompp_state.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

const char *ompp_data_objects_text(ompp_off_t off)
{
    return off ? ((ompp_a_string_t *)(ompp_process.arena.base + off))->text : "";
}

/* Structures by their numbers, from 1; parts of the table stay where they are, for ompp_data_name() reads them without
 * the lock. */
#define PART 4096
static ompp_a_object_t **parts[OMPP_DATA_MAX / PART + 1];
static _Atomic uint32_t nobjects;

/* By their names: numbers, 0 = free. One that was renamed stands under its former name, too. */
static uint32_t *by_name;
static size_t places, used_places; /* a power of two; at most half of it is used */

ompp_a_object_t *ompp_data_objects_at(uint32_t object) { return parts[object / PART][object % PART]; }

const char *ompp_data_objects_name(uint32_t object)
{
    return ompp_data_objects_text(ompp_data_objects_at(object)->name);
}

/* Not from malloc: this may be called where the program has the allocator in its hands. */
static void *fresh(size_t size)
{
    void *at = ompp_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return at == MAP_FAILED ? NULL : at;
}

static size_t place_of_name(const char *name)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */

    for (const char *c = name; *c; c++) hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    return (size_t)(hash ^ hash >> 32) & (places - 1);
}

uint32_t ompp_data_objects_find(const char *name)
{
    if (!places) return 0;
    for (size_t at = place_of_name(name); by_name[at]; at = (at + 1) & (places - 1))
        if (strcmp(ompp_data_objects_name(by_name[at]), name) == 0) return by_name[at];
    return 0;
}

static void enter_name(uint32_t object)
{
    size_t at = place_of_name(ompp_data_objects_name(object));

    while (by_name[at]) at = (at + 1) & (places - 1);
    by_name[at] = object;
    used_places++;
}

static bool room_for_name(void)
{
    size_t old = places;
    uint32_t *former = by_name, *bigger;

    if (2 * (used_places + 1) <= places) return true;
    bigger = fresh((old ? 2 * old : PART) * sizeof *bigger);
    if (!bigger) return false;
    by_name = bigger;
    places = old ? 2 * old : PART;
    used_places = 0;
    for (uint32_t object = 1; object <= nobjects; object++) enter_name(object);
    if (former) ompp_munmap(former, old * sizeof *former);
    return true;
}

static bool room_for_object(uint32_t object)
{
    if (object > OMPP_DATA_MAX || !room_for_name()) return false;
    if (!parts[object / PART]) parts[object / PART] = fresh(PART * sizeof *parts[0]);
    return parts[object / PART] != NULL;
}

/* Many structures have one origin. */
static ompp_off_t origin_text(const char *origin)
{
    static ompp_off_t last;

    if (!last || strcmp(ompp_data_objects_text(last), origin) != 0) last = ompp_string_take(origin);
    return last;
}

uint32_t ompp_data_objects_make(const char *name, const char *origin, const void *address, size_t size)
{
    ompp_a_header_t *header = ompp_process.header;
    const uint32_t number = nobjects + 1;

    if (!room_for_object(number)) {
        ompp_event_coverage(OMPP_COVERAGE_DROPPED, "data structures",
                            number > OMPP_DATA_MAX ? "there is room for 1048575" : "out of memory");
        return 0;
    }
    const ompp_locked_t locked = ompp_lock();
    const bool room = ompp_process.arena.used < ompp_process.arena.reserved / 2; /* regions and counts need some, too */
    ompp_off_t off = room ? ompp_arena_take(&ompp_process.arena, sizeof(ompp_a_object_t)) : 0;
    ompp_off_t text = off ? ompp_string_take(name) : 0;
    if (text) {
        ompp_a_object_t *object = (ompp_a_object_t *)(ompp_process.arena.base + off);
        *object = (ompp_a_object_t){.next = atomic_load_explicit(&header->objects, memory_order_relaxed),
                                    .id = number,
                                    .name = text,
                                    .origin = origin_text(origin),
                                    .address = (uintptr_t)address,
                                    .size = size};
        parts[number / PART][number % PART] = object;
        atomic_store_explicit(&nobjects, number, memory_order_release);
        atomic_store_explicit(&header->objects, off, memory_order_release);
        enter_name(number);
    }
    ompp_unlock(locked);
    if (!text)
        ompp_event_coverage(
            OMPP_COVERAGE_DROPPED, "data structures",
            "half of the memory for the profile is taken (OMPP_MEMORY); these are counted as other data");
    return text ? number : 0;
}

uint32_t ompp_data_objects_count(void) { return nobjects; }

const char *ompp_data_name(uint32_t object)
{
    return object && object <= nobjects ? ompp_data_objects_name(object) : "";
}

void ompp_data_objects_rename(uint32_t object, const char *name)
{
    const ompp_locked_t locked = ompp_lock();
    ompp_off_t off = ompp_string_take(name);
    if (off && room_for_name()) {
        ompp_data_objects_at(object)->name = off;
        enter_name(object);
    }
    ompp_unlock(locked);
}

uint32_t ompp_data_object(const char *name, uint64_t address, uint64_t size)
{
    uint32_t object = ompp_data_objects_find(name);

    if (!object) object = ompp_data_objects_make(name, OMPP_OBJECT_ALL, (const void *)(uintptr_t)address, size);
    if (object) atomic_fetch_add_explicit(&ompp_data_objects_at(object)->nranges, 1, memory_order_relaxed);
    return object;
}

void ompp_data_object_says(uint32_t object, const char *text)
{
    if (object == 0 || object > nobjects) return;
    const ompp_locked_t locked = ompp_lock();
    const ompp_off_t off = ompp_string_take(text);
    if (off) ompp_data_objects_at(object)->origin = off;
    ompp_unlock(locked);
}

static void keep_largest(_Atomic uint64_t *value, uint64_t candidate)
{
    uint64_t old = atomic_load(value);

    while (old < candidate && !atomic_compare_exchange_weak(value, &old, candidate)) continue;
}

void ompp_data_offsets(uint32_t object, uint64_t start, uint64_t end)
{
    if (object == 0 || object > nobjects) return;
    keep_largest(&ompp_data_objects_at(object)->start_offset, start);
    keep_largest(&ompp_data_objects_at(object)->end_offset, end);
}
