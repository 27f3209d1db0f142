/*
 * Accesses to blocks: one for each structure that a block touches, with the bytes that lie there. Uses no vector
 * registers, as ompp_found_hot.c.
 */
#include "hooks/ompp_found_priv.h"

/* Bytes from address on, within the page, that belong to the same object. */
static size_t run_length(uintptr_t address, size_t size, uint32_t entry, uint32_t object)
{
    size_t in_page = (1ul << OMPP_MAP_PAGE_BITS) - (address & ((1ul << OMPP_MAP_PAGE_BITS) - 1));
    size_t limit = size < in_page ? size : in_page, n = 1;

    if (!(entry & OMPP_MAP_PAGE_LEADS)) return limit;
    while (n < limit && ompp_map_in_edge(entry, address + n) == object) n++;
    return n;
}

void ompp_count_block(ompp_counter_t *counter, uintptr_t address, size_t size, unsigned kind, ompp_accessor_t by)
{
    uint32_t last = UINT32_MAX, before = 0;
    bool block = size > OMPP_COUNT_SCALAR;

    for (size_t n; size > 0; address += n, size -= n) {
        uint32_t entry = ompp_found_touch(counter, address), object = ompp_map_in_page(entry, address);
        const uint32_t structure = object == OMPP_WHOSE_STACK && object == before
                                       ? last /* of a frame, all that its first byte says: where pages end is chance */
                                       : ompp_whose(counter, object, address, by);
        uint32_t slot = ompp_count_note(counter, structure);
        ompp_count_t *c = ompp_count_at(counter, (uint64_t)slot << OMPP_INLINE_COUNT_BITS);
        n = run_length(address, size, entry, object);
        before = object;
        c->other_bytes[kind] += n;
        if (counter->feed) ompp_found_tell(counter, entry, address, n, kind, slot);
        if (structure == last) continue;
        c->others[kind]++;
        counter->blocks[slot][kind] += block;
        c->foreign[kind] += ompp_found_is_foreign(counter, entry, address);
        last = structure;
    }
}

/* Of a block from here on, what lies in the line. */
static size_t tell_line(ompp_counter_t *counter, uintptr_t address, size_t size, unsigned kind, ompp_accessor_t by)
{
    enum { LINE = 32 }; /* the shortest there are */
    const size_t left = LINE - (address & (LINE - 1)), n = size < left ? size : left;
    const uint32_t entry = ompp_count_entry(counter, address);
    const uint32_t object = ompp_whose(counter, ompp_map_in_page(entry, address), address, by);

    ompp_found_tell(counter, entry, address, 1, kind, ompp_count_note(counter, object));
    return n;
}

void ompp_count_tell_copy(ompp_counter_t *counter, uintptr_t to, uintptr_t from, size_t size, ompp_accessor_t by)
{
    size_t read = 0, written = 0;

    while (written < size) {
        if (read < size) read += tell_line(counter, from + read, size - read, OMPP_LOAD, by);
        written += tell_line(counter, to + written, size - written, OMPP_STORE, by);
    }
}
