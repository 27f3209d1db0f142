/**
 * \file
 * Shared by the hooks that compilers put into functions (ompp_function_hot.c) and what they call once per function
 * (ompp_function.c). Private to src/function.
 */
#ifndef OMPP_FUNCTION_PRIV_H
#define OMPP_FUNCTION_PRIV_H

#include "base/ompp_hash.h"
#include "runtime/ompp_event.h"

/* Slots of the table of functions, a power of two. Pages of it that no function has come to cost no memory. */
enum { OMPP_FUNCTIONS_SHIFT = 15, OMPP_FUNCTIONS_NUM = 1 << OMPP_FUNCTIONS_SHIFT };

/** A function that has been met. */
typedef struct {
    const void *code;      /* its entry; NULL = free, OMPP_FUNCTION_GONE = was in a library that is unloaded */
    ompp_region_ref_t ref; /* 0 = not measured; set before code, by a release store */
} ompp_function_slot_t;

#define OMPP_FUNCTION_GONE ((const void *)1)

/** Slots looked at for a function, from its place on. */
enum { OMPP_FUNCTION_PROBES = 64 };

/** The stack pointer of the caller where it calls us, on machines where the frame address is known without its help. */
#define OMPP_CALLERS_STACK ((const char *)__builtin_dwarf_cfa())

/** Open addressing, written by compare-and-swap on code; entries are never moved. */
extern ompp_function_slot_t ompp_functions[OMPP_FUNCTIONS_NUM];

static inline uint32_t ompp_function_hash(const void *code)
{
    return (uint32_t)ompp_hash_place((uintptr_t)code, OMPP_FUNCTIONS_SHIFT);
}

/** \brief What compilers call at entry and exit, by our own names. */
void ompp_function_enter(void *code, void *site);
void ompp_function_exit(void *code, void *site);

/**
 * \brief Region of a function that is not in the table; puts it there when that can be said for good.
 * \return 0 when it is not measured, also when called again from within (an allocator that is instrumented).
 */
ompp_region_ref_t ompp_function_meet_slow(const void *code);

/**
 * \brief Whether OMPP_FUNCTIONS takes the function in.
 * \note Reads the symbols of the function's module when there are patterns: allocates. One thread at a time (takes a
 *       lock).
 */
bool ompp_function_selected(const void *code);

#endif
