/* Random numbers for programs that are made up: from the same seed the same on every machine. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

static uint64_t seed;

static unsigned below(unsigned n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((seed >> 33) % n);
}

#endif
