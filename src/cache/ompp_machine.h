/**
 * \file
 * Geometry of caches and TLBs: of this machine, as the system tells, or of a described one.
 */
#ifndef OMPP_MACHINE_H
#define OMPP_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OMPP_LEVELS 3
#define OMPP_TLBS 2
#define OMPP_MOST_WAYS 128

typedef enum { OMPP_LRU, OMPP_FIFO, OMPP_RANDOM, OMPP_PLRU, OMPP_POLICY_NUM } ompp_policy_t;

typedef struct {
    uint64_t size; /* bytes; 0 = there is no such level */
    uint32_t ways, line;
    ompp_policy_t policy;
    bool no_allocate; /* a store that misses leaves it as it is */
    bool inclusive;   /* what leaves it leaves the levels above, too */
    bool shared;      /* all threads of the process use one */
    uint32_t sets;    /* size / ways / line */
} ompp_level_t;

typedef struct {
    uint32_t entries, ways; /* 0 = there is none */
} ompp_tlb_t;

typedef struct {
    char name[64];
    ompp_level_t level[OMPP_LEVELS]; /* those that there are come first */
    ompp_tlb_t tlb[OMPP_TLBS];
    uint32_t page; /* bytes */
} ompp_machine_t;

/**
 * \brief Reads a description: lines "name TEXT", "L1 SIZE WAYS LINE [words]", "tlb1 ENTRIES WAYS", "page SIZE"; words
 *        are lru, fifo, random, plru, no-write-allocate, inclusive, shared; # begins a comment.
 * \param[in] text  modified.
 * \param[out] why  when it is not one: what is wrong, shape [n].
 */
bool ompp_machine_parse(ompp_machine_t *machine, char *text, char *why, size_t n);

/**
 * \brief This machine's, from files of the system below root ("/sys/devices/system/cpu/cpu0/cache"); TLBs, which it
 *        does not tell, as most have them.
 */
bool ompp_machine_here(ompp_machine_t *machine, const char *root, char *why, size_t n);

#endif
