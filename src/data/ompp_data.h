/**
 * \file
 * Data structures the user has named: who they are, and telling the back ends that count for them (load/store hooks,
 * hardware ranges, samples) where they lie. A structure is known by its name; ranges of addresses registered under one
 * name belong to one structure. Where ranges overlap, the bytes belong to the one that was registered last, and go back
 * to the others when it is released.
 */
#ifndef OMPP_DATA_H
#define OMPP_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Not its header: hooks that are compiled into programs include this one. */
typedef struct ompp_component ompp_component_t;

/* Seen by the other libraries in the process. */
#pragma GCC visibility push(default)

#define OMPP_DATA_MAX 0xfffff /* structures; "object" of value blocks is 1..OMPP_DATA_MAX */

/**
 * \brief Adds a back end: a component with put(), borrowed for ever, which is told of the ranges there are at once.
 * \return false when there is no room.
 */
bool ompp_data_subscribe(const ompp_component_t *backend);

/** \brief Whether the user wants this back end: it is named in OMPP_DATA_BACKEND, or that says auto. */
bool ompp_data_wants(const char *backend);

/**
 * \brief Whether it may be started now: it is named, or nothing counts yet for structures that are named from outside.
 */
bool ompp_data_may_choose(const char *backend);

/**
 * \brief A back end that could count, borrowed for ever; the order of offers is of no importance.
 * \return false: no room.
 */
bool ompp_data_offer(const ompp_component_t *backend);

/**
 * \brief Registers a range under a name. The same range and name again changes nothing.
 * \param[in] name    copied; blanks around it are cut off; NULL or "" becomes the address.
 * \param[in] origin  who named it, for the report; copied.
 * \return the object, or 0: measurement does not run, the range is empty, wraps around or begins below 64 KiB (NULL;
 *         one line says it), or there is no room.
 * \note Threads: any. Slow: takes a lock.
 */
uint32_t ompp_data_add(const void *address, size_t size, const char *name, const char *origin);

/** \brief The ranges that begin at this address belong to no structure any more. \return false when there are none. */
bool ompp_data_release(const void *address);

/** \brief Whether any of the bytes belongs to a structure; size > 0. */
bool ompp_data_overlaps(const void *address, size_t size);

/** \brief Whether the user has named anything that still has bytes. */
bool ompp_data_has_ranges(void);

/** Part of a block of memory that belonged to a structure. */
typedef struct {
    uint32_t object;
    size_t offset, size; /* in the block, bytes */
} ompp_data_piece_t;

/**
 * \brief Memory is given back: its bytes belong to no structure any more; ranges that reach beyond it keep the rest.
 * \param[out] pieces  what belonged to whom, in order of registration, for ompp_data_restore(); shape [max]. NULL with
 *                     max 0.
 * \return number of pieces, at most max.
 * \note Call before the memory is given back, so that nobody else's is forgotten.
 */
size_t ompp_data_forget(const void *address, size_t size, ompp_data_piece_t *pieces, size_t max);

/**
 * \brief A block has got a new place (realloc): its pieces belong to their structures there, as far as size reaches.
 */
void ompp_data_restore(const void *address, size_t size, const ompp_data_piece_t *pieces, size_t n);

/** A range of a structure; ranges may overlap: later ones in the list cover earlier ones. */
typedef struct {
    uint32_t object;
    uintptr_t begin, end;
} ompp_data_range_t;

/**
 * \brief The ranges there are now, in order of registration. For back ends that choose ranges when they start; put()
 *        tells of changes.
 * \param[out] ranges  shape [max].  \return how many there are, which may be more than max.
 */
size_t ompp_data_ranges(ompp_data_range_t *ranges, size_t max);

/** \brief The name of a structure, borrowed; "" = there is none of this number. */
const char *ompp_data_name(uint32_t object);

/** \brief The object that holds an address, 0 = none. Slow: for samples that are taken apart after the run. */
uint32_t ompp_data_find(uintptr_t address);

/**
 * \brief Bytes before and behind an object that its counts include, because hardware ranges are coarse; the largest one
 *        stays.
 */
void ompp_data_offsets(uint32_t object, uint64_t start, uint64_t end);

/**
 * \brief Registers what OMPP_DATA_ADDR, OMPP_DATA_SIZE and OMPP_DATA_NAME say. Called once, at the start of
 *        measurement.
 */
void ompp_data_from_environment(void);

/**
 * \brief Registers the variables that OMPP_DATA names, found in the program, else in its libraries; those still missing
 *        are looked for in libraries that were loaded since the last call, and those of closed libraries are given
 *        back. What a name means: docs/data.md. Does nothing while there is no back end.
 * \note Back ends call it when they have started; the load/store hooks also when a library with hooks comes, before its
 *       code runs. Threads: any. The first call reads debug information and may take seconds; the others are short
 *       where nothing has changed.
 */
void ompp_data_resolve(void);

/** \brief Whether blocks are named by the line that allocates them ("solve.c:42" in OMPP_DATA). One load. */
bool ompp_data_has_sites(void);

/**
 * \brief A block is there. It belongs to the structure of the innermost call that stands in a line which OMPP_DATA
 *        names; when there is none, to nobody, for what was named there before has been given back without a word.
 * \param[in] code  where the allocating call returns to.
 * \param[in] kept  names have come along with the block's bytes (realloc): they stay when no line gives another one.
 * \note Threads: any. Keeps errno. Walks the stack when the line of the call itself has no name.
 */
void ompp_data_allocated(const void *block, size_t size, const void *code, bool kept);

/**
 * \brief The program has got a block from another library than the C library, at `code`; gives it back. Lines that
 *        OMPP_DATA names count, and back ends that tell all data apart hear of it.
 * \param[in] word  that the library has stored the block's address to, or NULL.
 */
void ompp_data_got(const void *block, size_t size, const void *code, void *const *word);
void ompp_data_gone(const void *block, size_t size);

/** \brief All data is told apart: the user names nothing from outside, or OMPP_DATA has the word "all". */
bool ompp_data_wants_all(void);

/**
 * \brief Takes the register's lock if that is soon free: in a signal handler its owner may be the thread itself.
 * \return false: nothing may be done. After true comes ompp_data_done().
 */
bool ompp_data_try(void);
void ompp_data_done(void);

/**
 * \brief A structure that nobody has named: made when missing. Between ompp_data_try() and ompp_data_done().
 * \param[in] name  what it is known by until the report names it: analysis/ompp_names.h.
 * \return 0: no room.
 */
uint32_t ompp_data_object(const char *name, uint64_t address, uint64_t size);

/** \brief Says what else is known of such a structure. At the end of measurement. */
void ompp_data_object_says(uint32_t object, const char *text);

/**
 * \brief Notes for Coverage at the end of measurement: names that were never found, structures that nothing counted
 *        for.
 */
void ompp_data_finish(void);

#pragma GCC visibility pop

/**
 * \brief Starts the back ends that the user names, or, with auto, the first one that works, in the order in which
 *        OMPP_DATA_BACKEND lists them. Those that were tried and refused stand in the Coverage section, with the
 *        reason.
 * \param[in] has_papi  this ompp was built with PAPI, and its library is there.
 */
void ompp_data_choose(bool has_papi);

#endif
