/**
 * \file
 * Hashes of numbers, bytes and texts. They need no memory and cannot fail: any thread may call them, signal handlers,
 * too.
 */
#ifndef OMPP_HASH_H
#define OMPP_HASH_H

#include <stddef.h>
#include <stdint.h>

/** 2^64 divided by the golden ratio: factor of Fibonacci hashing (Knuth, volume 3, 6.4), step of splitmix64. */
#define OMPP_HASH_STEP 0x9e3779b97f4a7c15u

/** FNV-1a's hash of no bytes: ompp_hash_bytes() and ompp_hash_text() begin with it. */
#define OMPP_HASH_START 0xcbf29ce484222325u

/** \return two numbers as one key. */
static inline uint64_t ompp_hash_pair(uint32_t a, uint32_t b) { return (uint64_t)a << 32 | b; }

/** \brief Place of a key in a table of 2^bits places, 0 < bits <= 64; one multiplication. */
static inline uint64_t ompp_hash_place(uint64_t key, unsigned bits) { return key * OMPP_HASH_STEP >> (64 - bits); }

/** \brief The same of a key of 32 bits, 0 < bits <= 32; one instruction less. */
static inline uint32_t ompp_hash_place32(uint32_t key, unsigned bits)
{
    return key * (uint32_t)(OMPP_HASH_STEP >> 32) >> (32 - bits);
}

/**
 * \brief splitmix64's finisher (Steele, Lea, Flood 2014): each bit of x changes about half of the bits of the result.
 *        Of multiples of OMPP_HASH_STEP the results are random numbers.
 */
static inline uint64_t ompp_hash_mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/** \brief Joins one more number to a hash, which begins as any number. */
static inline uint64_t ompp_hash_join(uint64_t hash, uint64_t value)
{
    return ompp_hash_mix((hash ^ value) + OMPP_HASH_STEP);
}

/** \brief Joins n bytes to a hash (FNV-1a, 64 bits). Files contain it: it stays as it is. */
static inline uint64_t ompp_hash_bytes(uint64_t hash, const void *data, size_t n)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < n; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

/** \brief The same of a text, without its end. */
static inline uint64_t ompp_hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++) hash = ompp_hash_bytes(hash, text, 1);
    return hash;
}

#endif
