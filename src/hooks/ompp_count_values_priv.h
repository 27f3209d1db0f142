/**
 * \file
 * The value blocks of places in the call tree, found again quickly however many structures a place has counts for.
 * Private to src/hooks.
 */
#ifndef OMPP_COUNT_VALUES_PRIV_H
#define OMPP_COUNT_VALUES_PRIV_H

#include "runtime/ompp_meter.h"

typedef struct {
    ompp_off_t node; /* 0 = free */
    uint32_t object;
    uint64_t *values; /* NULL: memory for the profile was full */
} ompp_values_found_t;

/** Of one thread; zeroed when new. */
typedef struct {
    ompp_values_found_t *found; /* shape [size] */
    size_t size, used;          /* size is a power of two, or 0 */
} ompp_values_cache_t;

/** \brief As ompp_meter_values(), of one set. */
uint64_t *ompp_values_cached(ompp_values_cache_t *cache, ompp_off_t node, unsigned set, unsigned object, unsigned n);

void ompp_values_cache_free(ompp_values_cache_t *cache);

#endif
