/**
 * \file
 * Reads numbers of DWARF from memory between two addresses. What lies beyond reads as 0 and is noted.
 * Private to src/unwind.
 */
#ifndef OMPP_READER_PRIV_H
#define OMPP_READER_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    const uint8_t *at, *end;
    bool is_bad;
} ompp_reader_t;

/** \brief The next 1 to 8 bytes as a number without sign. */
static inline uint64_t ompp_read_fixed(ompp_reader_t *r, unsigned bytes)
{
    uint64_t value = 0;

    if ((uintptr_t)r->end - (uintptr_t)r->at < bytes || r->at > r->end) return r->is_bad = true, 0;
    for (unsigned i = 0; i < bytes; i++) value |= (uint64_t)r->at[i] << 8 * i;
    r->at += bytes;
    return value;
}

static inline uint64_t ompp_read_uleb(ompp_reader_t *r)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 70; shift += 7) {
        const uint64_t byte = ompp_read_fixed(r, 1);
        if (shift < 64) value |= (byte & 0x7f) << shift;
        if (!(byte & 0x80)) return value;
    }
    r->is_bad = true;
    return 0;
}

static inline int64_t ompp_read_sleb(ompp_reader_t *r)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 70; shift += 7) {
        const uint64_t byte = ompp_read_fixed(r, 1);
        if (shift < 64) value |= (byte & 0x7f) << shift;
        if (byte & 0x80) continue;
        if (byte & 0x40 && shift + 7 < 64) value |= ~UINT64_C(0) << (shift + 7);
        return (int64_t)value;
    }
    r->is_bad = true;
    return 0;
}

static inline void ompp_read_skip(ompp_reader_t *r, uint64_t bytes)
{
    if (r->at > r->end || bytes > (uintptr_t)r->end - (uintptr_t)r->at) r->is_bad = true;
    else r->at += bytes;
}

#endif
