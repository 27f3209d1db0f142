/**
 * \file
 * What load/store hooks count for one data structure, and the values that follow from it. Hooks have one number each to
 * increase, so that they are quick; a report has others. The thread that hands its counts over and the reader of an
 * arena whose process died both use this.
 */
#ifndef OMPP_COUNTED_H
#define OMPP_COUNTED_H

#include <stdbool.h>
#include <stdint.h>

#define OMPP_COUNTED_SOURCE "load/store hooks" /* of the metrics */
#define OMPP_COUNTED_SIZES 5                   /* 1, 2, 4, 8 and 16 bytes */

/** Loads stand before stores, [0] and [1]. */
typedef struct {
    uint64_t scalars[2][OMPP_COUNTED_SIZES]; /* accesses of 1 << n bytes */
    uint64_t others[2];                      /* accesses of other sizes; a block copied or set at once is one */
    uint64_t other_bytes[2];
    uint64_t foreign[2]; /* accesses to pages that another thread touched first */
} __attribute__((aligned(128))) ompp_counted_t;

/** Values: of loads; of stores one more. */
enum {
    OMPP_COUNTED_ACCESSES,
    OMPP_COUNTED_BYTES = 2,
    OMPP_COUNTED_FOREIGN = 4,
    OMPP_COUNTED_BLOCKS = 6,
    OMPP_COUNTED_VALUES = 8
};

/**
 * \param[in]  blocks  of the others, those that are blocks; shape [2].
 * \param[out] values  shape [OMPP_COUNTED_VALUES].
 * \return false: nothing was counted.
 */
static inline bool ompp_counted_values(const ompp_counted_t *counted, const uint64_t *blocks, uint64_t *values)
{
    for (unsigned kind = 0; kind < 2; kind++) {
        values[OMPP_COUNTED_ACCESSES + kind] = counted->others[kind];
        values[OMPP_COUNTED_BYTES + kind] = counted->other_bytes[kind];
        values[OMPP_COUNTED_FOREIGN + kind] = counted->foreign[kind];
        values[OMPP_COUNTED_BLOCKS + kind] = blocks[kind];
        for (unsigned n = 0; n < OMPP_COUNTED_SIZES; n++) {
            values[OMPP_COUNTED_ACCESSES + kind] += counted->scalars[kind][n];
            values[OMPP_COUNTED_BYTES + kind] += counted->scalars[kind][n] << n;
        }
    }
    return values[OMPP_COUNTED_ACCESSES] != 0 || values[OMPP_COUNTED_ACCESSES + 1] != 0;
}

#endif
