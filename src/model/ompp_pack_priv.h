/** \file What writer and reader of the compact form share. For src/model only. */
#ifndef OMPP_PACK_PRIV_H
#define OMPP_PACK_PRIV_H

#include <stddef.h>
#include <stdint.h>

/** How a field is written: a number; an index that may be OMPP_NONE, which becomes 0; a number that may be negative. */
typedef enum { OMPP_PACKED_NUMBER, OMPP_PACKED_INDEX, OMPP_PACKED_SIGNED, OMPP_PACKED_DOUBLE } ompp_packed_kind_t;

typedef struct {
    uint16_t offset;
    uint8_t bytes; /* 1 (bool), 4 or 8 */
    uint8_t kind;  /* ompp_packed_kind_t */
} ompp_packed_field_t;

/** Fields of a record in the order in which they are written (ompp_pack_records.c). */
typedef struct {
    const ompp_packed_field_t *fields;
    size_t n, bytes; /* bytes: of a record in memory */
} ompp_packed_t;

extern const ompp_packed_t ompp_packed_profile, ompp_packed_rank, ompp_packed_location, ompp_packed_module,
    ompp_packed_region, ompp_packed_metric, ompp_packed_object, ompp_packed_coverage, ompp_packed_setting,
    ompp_packed_message, ompp_packed_whatif, ompp_packed_whatif_clock, ompp_packed_whatif_block,
    ompp_packed_whatif_region, ompp_packed_whatif_point, ompp_packed_spread, ompp_packed_node, ompp_packed_block;

#define OMPP_PACK_MAGIC_BYTES 8
#define OMPP_PACK_CHECKSUM_BYTES 8

/** \brief Fingerprint of the names and order of constructs, phases, metrics and coverage kinds: numbers in a file mean
 *         what they mean here only when it is equal. */
uint64_t ompp_pack_fingerprint(void);

#endif
