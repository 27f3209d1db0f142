/**
 * \file
 * Loaded files as of the last ompp_unwind_refresh(): for C libraries that do not say it without a lock (glibc before
 * 2.35), and which ones are ours. Written by ompp_unwind_start.c, read by ompp_image_map_hot.c; private to src/unwind.
 */
#ifndef OMPP_IMAGE_TABLE_PRIV_H
#define OMPP_IMAGE_TABLE_PRIV_H

#include "unwind/ompp_unwind.h"

#include <stddef.h>
#include <stdint.h>

#define OMPP_IMAGES 1024u
#define OMPP_IMAGE_OWNED 32u

typedef struct {
    uintptr_t low, high;
} ompp_image_range_t;

typedef struct {
    size_t n;
    ompp_image_range_t items[OMPP_IMAGES]; /* ascending */
} ompp_image_table_t;

/** The one in use is [ompp_image_version & 1]. */
extern ompp_image_table_t ompp_image_tables[2];
extern _Atomic unsigned ompp_image_version;

/** Files whose owner is not the program; [ompp_image_nowned], in the order in which they were found. */
typedef struct {
    ompp_image_range_t range;
    ompp_owner_t owner;
} ompp_image_owned_t;

extern ompp_image_owned_t ompp_image_owned[OMPP_IMAGE_OWNED];
extern _Atomic unsigned ompp_image_nowned;

#endif
