/**
 * \file
 * Arena to profile: what the parts of the one reader of the arena share. Private to src/model.
 */
#ifndef OMPP_COLLECT_PRIV_H
#define OMPP_COLLECT_PRIV_H

#include "base/ompp_table.h"
#include "model/ompp_combine_priv.h"
#include "model/ompp_layout.h"
#include "model/ompp_merge.h"
#include "model/ompp_profile.h"

#define OMPP_COLLECT_MAX 10000000u /* of one list */

/** What one call works on. */
typedef struct {
    const char *base;
    uint64_t size, t;
    ompp_end_t end;
    ompp_profile_t *profile;
    uint32_t nregions, nmodules;
    uint32_t *region_of; /* [nregions]: index in the arena -> in the profile */
    uint32_t *module_of; /* [nmodules] */
    ompp_off_t modules;  /* first of the list */
    ompp_table_t locks;  /* of critical sections -> number of the newest region that has it, + 1 */
    ompp_table_t codes;  /* (construct, code) of call paths -> region of the profile + 1 */
    ompp_table_t tree;   /* union of the threads' trees: (parent, region) of the profile -> node + 1 */
    ompp_table_t map;    /* of the thread being copied: arena node -> profile node + 1 */
    ompp_metric_list_t metrics;
    ompp_off_t pending;              /* counts that are not handed over: first of the list */
    const ompp_a_pending_t **redone; /* [nredone], those of which a change of place was under way */
    uint32_t nredone;
    const ompp_a_page_t *page; /* where an item was found last */
    uint64_t seed;             /* of keys in tables: a file cannot be made so that they collide */
    bool back;                 /* the clock went back while it was measured */
    uint64_t *work;            /* bytes that may still be looked at; a damaged file must not keep us for ever */
} ompp_collecting_t;

/** \return how much work a file is worth: bytes of it that are looked at, each several times. */
static inline uint64_t ompp_collect_work(uint64_t bytes) { return 64 * bytes + ((uint64_t)1 << 30); }

/** \return false when there is no more work to be done: lists run in circles, or share their records. */
static inline bool ompp_collect_spend(const ompp_collecting_t *c, uint64_t bytes)
{
    *c->work -= bytes < *c->work ? bytes : *c->work;
    return *c->work > 0;
}

/** \return the key of a number in a table; another one for each number. */
static inline uint64_t ompp_collect_key(const ompp_collecting_t *c, uint64_t number)
{
    return ompp_hash_mix(number ^ c->seed);
}

/** \return whether size bytes at off lie in the arena. */
static inline bool ompp_collect_lies(const ompp_collecting_t *c, ompp_off_t off, uint64_t size)
{
    return off && off % 8 == 0 && off <= c->size && size <= c->size - off;
}

/** \return a record of at least size bytes at off; NULL when it does not lie in the arena, or all work is done. */
static inline const void *ompp_collect_record(const ompp_collecting_t *c, ompp_off_t off, uint64_t size)
{
    return ompp_collect_lies(c, off, size) && ompp_collect_spend(c, 16 + size) ? c->base + off : NULL;
}

/** \return more a list cannot have: one that runs in a circle ends. */
static inline uint32_t ompp_collect_most(const ompp_collecting_t *c)
{
    uint64_t most = c->size / (2 * sizeof(uint64_t));

    return most < OMPP_COLLECT_MAX ? (uint32_t)most : OMPP_COLLECT_MAX;
}

/** \return whether n frames of the stack at off lie in the arena. */
static inline bool ompp_collect_has_frames(const ompp_collecting_t *c, ompp_off_t off, uint64_t n)
{
    return ompp_collect_record(c, off, sizeof(ompp_a_stack_t) + n * sizeof(ompp_a_frame_t)) != NULL;
}

static inline const char *ompp_collect_text(const ompp_collecting_t *c, ompp_off_t off)
{
    const ompp_a_string_t *s = ompp_collect_record(c, off, sizeof *s);

    if (!s || !ompp_collect_record(c, off, sizeof *s + (uint64_t)s->length + 1) || s->text[s->length] != '\0')
        return "";
    return s->text;
}

static inline ompp_str_t ompp_collect_string(ompp_collecting_t *c, ompp_off_t off)
{
    return ompp_profile_string(c->profile, ompp_collect_text(c, off));
}

static inline uint64_t ompp_collect_load(const _Atomic uint64_t *value)
{
    return atomic_load_explicit(value, memory_order_acquire);
}

static inline ompp_off_t ompp_collect_follow(const ompp_link_t *link)
{
    return atomic_load_explicit(link, memory_order_acquire);
}

/**
 * \return the first of the counts that are not handed over; 0 when measurement is over: what is counted then belongs to
 *         nobody.
 */
static inline ompp_off_t ompp_collect_first_pending(const ompp_a_header_t *header)
{
    return header->end_ns ? 0 : ompp_collect_follow(&header->pending);
}

/** \brief Modules, regions, settings, metrics and data structures. \return false when out of memory, or damaged. */
bool ompp_collect_definitions(ompp_collecting_t *c, const ompp_a_header_t *header, uint32_t rank);

/** \brief Notes for Coverage, and the causal profile. */
void ompp_collect_notes(ompp_collecting_t *c, const ompp_a_header_t *header, uint64_t duration_ns);

/** \return the profile's region of an address on a call path: a FUNCTION or a LINE. */
uint32_t ompp_collect_code(ompp_collecting_t *c, ompp_construct_t construct, uint64_t code);

/** \brief The nodes of a thread, with their values. \return false when out of memory. */
bool ompp_collect_tree(ompp_collecting_t *c, const ompp_a_thread_t *thread, uint32_t location, uint32_t rank);

/** \return the profile's node of one of the thread that was copied last; OMPP_NONE = none. */
uint32_t ompp_collect_mapped(const ompp_collecting_t *c, ompp_off_t off);

/** \return name of a region, or of its type; NULL = there is none. */
const char *ompp_collect_name(const ompp_collecting_t *c, ompp_off_t region);

/**
 * \brief Adds values to the profile. Records of one place become one, each metric by its reduction: the shortest task
 *        of both is no sum.
 */
void ompp_collect_put(ompp_collecting_t *c, uint32_t node, uint32_t location, uint32_t set, uint32_t object,
                      const uint64_t *from, uint32_t n);

/**
 * \brief ompp_collect() with a limit.
 * \param[in,out] work  bytes that may be looked at (ompp_collect_work()).
 * \return as ompp_collect(); NULL when the limit was reached.
 */
ompp_profile_t *ompp_collect_within(const char *base, uint64_t size, uint64_t *work, uint64_t t, ompp_end_t end);

/** \brief Finds the changes of place that were under way. \return false when out of memory. */
bool ompp_collect_find_redone(ompp_collecting_t *c);

/** \brief Adds what the thread that was copied last has counted since its place changed last (ompp_a_pending_t). */
void ompp_collect_pending(ompp_collecting_t *c, uint32_t location);

/** \return the values that a block is to have: those of a change of place that was under way, or its own. */
const uint64_t *ompp_collect_redone(const ompp_collecting_t *c, const ompp_a_block_t *block);

/** \brief Of a process that died: notes counts since a thread's place changed last that are not in its file. */
void ompp_collect_note_pending(const ompp_collecting_t *c, const ompp_a_header_t *header, ompp_profile_t *profile);

#endif
