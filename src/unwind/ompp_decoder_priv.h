/**
 * \file
 * The files of libompp-unwind.so, the part of src/unwind that needs Zydis.
 */
#ifndef OMPP_DECODER_PRIV_H
#define OMPP_DECODER_PRIV_H

#include "unwind/ompp_unwind_priv.h"

/** \brief See ompp_unwind_decoder_t. */
bool ompp_infer(const ompp_image_map_t *image, uintptr_t address, int64_t apart, const ompp_infer_help_t *help,
                ompp_recipe_t *recipe);
void ompp_infer_warm(void);
bool ompp_bounds(const ompp_image_map_t *image, uintptr_t address, uintptr_t *low, uintptr_t *high);

/** \brief The same, where ompp_bounds_prepare() has been at work on the file. Async-signal-safe. */
bool ompp_bounds_known(const ompp_image_map_t *image, uintptr_t address, uintptr_t *low, uintptr_t *high);
void ompp_bounds_prepare(const ompp_image_map_t *image);

#endif
