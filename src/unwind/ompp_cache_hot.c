/*
 * What walks share: the cache of recipes, and what libompp-unwind.so offers.
 */
#include "unwind/ompp_cache_priv.h"

_Atomic(ompp_cache_entry_t *) ompp_cache_entries;
_Atomic(const ompp_unwind_decoder_t *) ompp_decoder;

const ompp_unwind_decoder_t *ompp_unwind_decoder_get(void)
{
    return atomic_load_explicit(&ompp_decoder, memory_order_acquire);
}
