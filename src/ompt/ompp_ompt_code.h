/* Places in the program: which return addresses libomp tells rightly, and what the stack says of the others. */
#ifndef OMPP_OMPT_CODE_H
#define OMPP_OMPT_CODE_H

#include "model/ompp_profile.h"

#include <stdbool.h>
#include <stdint.h>

/**
 * \brief Called once, by the thread that starts the OpenMP runtime: libomp's first thread.
 * \param[in] in_runtime  an address inside the OpenMP runtime.
 */
void ompp_code_start(const void *in_runtime);

/** \brief A library is gone: places at its addresses [low, high) are not known any more. */
void ompp_code_unloaded(uintptr_t low, uintptr_t high);

typedef struct {
    uintptr_t low, high; /* loaded segments of a module */
} ompp_code_range_t;

extern ompp_code_range_t ompp_code_runtime; /* the OpenMP runtime's */

static inline bool ompp_code_is_in(const ompp_code_range_t *range, const void *code)
{
    return (uintptr_t)code >= range->low && (uintptr_t)code < range->high;
}

/** \brief Whether an address lies in the OpenMP runtime. */
static inline bool ompp_code_is_runtime(const void *code) { return ompp_code_is_in(&ompp_code_runtime, code); }

/**
 * \brief Where a construct was met.
 * \param[in] code  return address that libomp tells; NULL = none.
 * \return the innermost return address of the stack that belongs neither to libomp nor to us, where code is not known
 *         to be right; code where there is none.
 * Budget: 12 instructions on all threads but libomp's first, 20 there when the place has been met before.
 */
const void *ompp_code_of(ompp_construct_t construct, const void *code);

/** \brief The same, by the stack in any case. Slow. */
const void *ompp_code_by_stack(const void *code);

#endif
