/*
 * What libompp-unwind.so offers to libompp.
 */
#include "unwind/ompp_decoder_priv.h"

const ompp_unwind_decoder_t ompp_unwind_decoder
    __attribute__((visibility("default"))) = {.version = OMPP_UNWIND_DECODER,
                                              .infer = ompp_infer,
                                              .warm = ompp_infer_warm,
                                              .procedure = ompp_bounds,
                                              .prepare = ompp_bounds_prepare,
                                              .known = ompp_bounds_known};
