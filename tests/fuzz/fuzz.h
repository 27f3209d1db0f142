/**
 * \file
 * Targets for fuzzers: any bytes in, nothing but a report or a refusal out. Run by libFuzzer (make fuzz) and, over the
 * files that it found, by replay.c in the normal tests.
 */
#ifndef OMPP_FUZZ_H
#define OMPP_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/** \brief One input. \return 0. Aborts where something that must hold does not. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_REQUIRE(condition, what)                \
    do {                                             \
        if (!(condition)) {                          \
            fprintf(stderr, "violated: %s\n", what); \
            abort();                                 \
        }                                            \
    } while (0)

#endif
