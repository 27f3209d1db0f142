/*
 * Data on stacks: which call's frame an address is in, and where in that frame. Calls come and go without a word, so
 * each access looks anew: by what is remembered of the same code at the same stack pointer, when the return address
 * of the frame is still that; else by a walk of the stack.
 */
#include "hooks/ompp_whose.h"

#include "base/ompp_reserve.h"
#include "model/ompp_raw.h"

#include <errno.h>
#include <stdio.h>

#define MOST_FRAMES 4096u
#define RED_ZONE 128u /* bytes below the stack pointer that a function may use */

typedef ompp_whose_frame_t frame_t;

static _Atomic(frame_t *) frames; /* a hash table, shape [MOST_FRAMES] */

/* ---- Between ompp_data_try() and ompp_data_done() ---------------------------------------------------------------- */

static frame_t *frame_of(uintptr_t entry, size_t bytes)
{
    frame_t *all = atomic_load(&frames);

    if (!all) {
        all = ompp_reserve(MOST_FRAMES * sizeof *all);
        if (!all) return NULL;
        atomic_store(&frames, all);
    }
    for (uint32_t i = 0, at = (uint32_t)ompp_hash_place(entry, 12); i < MOST_FRAMES / 2;
         i++, at = (at + 1) % MOST_FRAMES) {
        if (all[at].entry == entry) return &all[at];
        if (all[at].entry) continue;
        all[at].bytes = (uint32_t)bytes;
        for (all[at].shift = OMPP_WHOSE_WORD; (bytes >> all[at].shift) >= OMPP_WHOSE_PARTS;) all[at].shift++;
        atomic_store(&all[at].entry, entry);
        return &all[at];
    }
    return NULL;
}

/* Of 1 << shift bytes, which begin so far below the CFA. */
/* foreign: one whose accesses are all to pages that others touched first. The report joins both: they have one name. */
static uint32_t make_object(const frame_t *frame, uint32_t below, unsigned shift, bool foreign)
{
    char name[200], place[120];

    ompp_whose_place(frame->entry, place, sizeof place);
    snprintf(name, sizeof name, "%cs %s %x %x %x%s", OMPP_RAW_MARK, place, below, 1u << shift, frame->bytes,
             foreign ? " f" : "");
    const uint32_t object = ompp_whose_object(name, 0, 1u << shift);
    if (foreign && object) ompp_counter_foreign(object);
    return object;
}

/* ---- Answers ----------------------------------------------------------------------------------------------------- */

/* A part ends `below` bytes below the CFA or less. */
static uint32_t part_of(frame_t *frame, uintptr_t below)
{
    const unsigned bucket = ompp_whose_part(frame, below);
    uint32_t object = atomic_load_explicit(&frame->object[bucket], memory_order_relaxed);

    if (object || !ompp_data_try()) return object;
    object = make_object(frame, (bucket + 1) << frame->shift, frame->shift, false);
    atomic_store_explicit(&frame->object[bucket], object, memory_order_relaxed);
    ompp_data_done();
    return object;
}

bool ompp_whose_find_frame(ompp_whose_thread_t *t, uintptr_t address, ompp_accessor_t by, size_t *n, size_t *at)
{
    *n = by.code ? ompp_unwind_from(&t->unwind, by.code, by.sp, by.rbp, t->frames, OMPP_WHOSE_FRAMES)
                 : ompp_unwind_here(&t->unwind, NULL, t->frames, OMPP_WHOSE_FRAMES);
    for (*at = 0; *at + 1 < *n; ++*at)
        if (address < t->frames[*at + 1].cfa) return address + RED_ZONE >= t->frames[*at].cfa;
    return false;
}

/* The frame that find_frame() has found. */
static frame_t *found_frame(const ompp_whose_thread_t *t, size_t at)
{
    const uintptr_t entry = ompp_unwind_entry(t->frames[at].address - !t->frames[at].is_exact);
    frame_t *frame = NULL;

    if (entry && ompp_data_try()) {
        frame = frame_of(entry, t->frames[at + 1].cfa - t->frames[at].cfa);
        ompp_data_done();
    }
    return frame;
}

static void remember(ompp_whose_seen_t *seen, const ompp_whose_thread_t *t, size_t at, frame_t *frame)
{
    seen->code = 0;
    seen->returns_at = t->frames[at + 1].cfa - sizeof(uintptr_t);
    seen->returns = *(const uintptr_t *)seen->returns_at;
    seen->sp = t->frames[0].cfa;
    seen->high = t->frames[at + 1].cfa;
    seen->bytes = seen->high - t->frames[at].cfa + (at == 0 ? RED_ZONE : 0);
    seen->frame = frame;
    seen->code = t->frames[0].address;
}

static bool is_there(const ompp_whose_seen_t *seen, uintptr_t address)
{
    if (!seen->code || seen->high - address - 1 >= seen->bytes) return false;
    return *(const uintptr_t *)seen->returns_at == seen->returns;
}

/* Another thread's stack: its walks have met the frame, which is there as long as its return address is. */
static uint32_t look_at_other(ompp_whose_seen_t *mine, uintptr_t address, ompp_accessor_t by)
{
    const ompp_whose_thread_t *owner = ompp_counter_in_stack(address);

    for (unsigned i = 0; owner && i < OMPP_WHOSE_SEEN; i++) {
        const ompp_whose_seen_t seen = owner->seen[i];
        if (!is_there(&seen, address)) continue;
        mine->code = 0;
        *mine = seen;
        mine->sp = by.sp;
        mine->code = by.code;
        return part_of((frame_t *)seen.frame, seen.high - address);
    }
    return 0;
}

__attribute__((noinline)) static uint32_t look(ompp_counter_t *counter, uintptr_t address, ompp_accessor_t by,
                                               ompp_whose_seen_t *seen)
{
    ompp_whose_thread_t *t = counter->whose;
    const int saved = errno;
    uint32_t object = 0;
    size_t n, at;

    if (!ompp_whose_is_own(t, address)) {
        static _Atomic uint32_t others;
        object = look_at_other(seen, address, by);
        if (!object) object = atomic_load(&others);
        if (!object && ompp_data_try()) {
            object = ompp_whose_unknown("stacks of other threads");
            atomic_store(&others, object);
            ompp_data_done();
        }
    } else if (ompp_whose_walk_begin(t)) {
        frame_t *frame = ompp_whose_find_frame(t, address, by, &n, &at) ? found_frame(t, at) : NULL;
        if (frame) remember(seen, t, at, frame);
        if (frame) object = part_of(frame, t->frames[at + 1].cfa - address);
        ompp_whose_walk_end(t);
    }
    if (!object && ompp_data_try()) {
        object = ompp_whose_unknown("stacks whose calls were not found");
        ompp_data_done();
    }
    errno = saved;
    return object;
}

uint32_t ompp_whose_frame(ompp_counter_t *counter, uintptr_t address, ompp_accessor_t by)
{
    ompp_whose_thread_t *t = counter->whose;

    if (!t) return 0;
    const uint32_t object = by.code ? ompp_whose_again(counter, address, by) : 0;
    return object ? object : look(counter, address, by, ompp_whose_seen(t, by));
}

void ompp_whose_local(ompp_counter_t *counter, uintptr_t address, ompp_accessor_t by, _Atomic uint32_t *cell)
{
    const int saved = errno;
    ompp_whose_thread_t *t = counter->whose;
    size_t n, at;

    if (ompp_map_object(address) != OMPP_WHOSE_STACK || !ompp_whose_is_own(t, address) || !ompp_whose_walk_begin(t))
        return;
    frame_t *frame = ompp_whose_find_frame(t, address, by, &n, &at) ? found_frame(t, at) : NULL;
    const uintptr_t below = frame ? t->frames[at + 1].cfa - (address & ~(uintptr_t)((1u << OMPP_WHOSE_WORD) - 1)) : 0;
    if (frame && ompp_data_try()) {
        const uint32_t object =
            ompp_counter_local_room() ? make_object(frame, (uint32_t)below, OMPP_WHOSE_WORD, false) : 0;
        if (object && ompp_counter_inline(object)) atomic_store(cell, object << OMPP_INLINE_COUNT_BITS);
        ompp_data_done();
    }
    ompp_whose_walk_end(t);
    errno = saved;
}

void ompp_whose_keep(ompp_counter_t *counter, uintptr_t address, ompp_accessor_t by)
{
    const int saved = errno;

    const uint32_t entry = ompp_count_entry(counter, address);
    ompp_whose_frame(counter, address, by);
    const ompp_whose_seen_t *seen = ompp_whose_seen_again(counter, address, by);
    if (seen && ompp_data_try()) {
        const bool foreign = ompp_whose_keeps_foreign(counter, entry & ~OMPP_MAP_LOW);
        uint32_t below;
        _Atomic uint64_t *word = (_Atomic uint64_t *)ompp_whose_word(seen, address, foreign, &below);
        if (word && !atomic_load(word)) {
            const uint32_t object = make_object(seen->frame, below << OMPP_WHOSE_WORD, OMPP_WHOSE_WORD, foreign);
            if (object) atomic_store(word, (uint64_t)below << 32 | object);
        }
        ompp_data_done();
    }
    errno = saved;
}
