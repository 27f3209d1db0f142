/**
 * \file
 * The arena: one growing mapping per process that holds the whole profile while the program runs, so that a process
 * which dies leaves a readable file. Contents are offsets, never pointers (layout: model/ompp_layout.h).
 *
 * Addresses are reserved once; chunks are allocated on disk (posix_fallocate, so that a full file system is an error
 * here and not a SIGBUS in the program) and then mapped in place. When a file cannot be had, chunks are anonymous
 * memory.
 */
#ifndef OMPP_ARENA_H
#define OMPP_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Byte offset in the arena; 0 = none. Records are aligned to 16 bytes. */
typedef uint32_t ompp_off_t;

typedef struct {
    char *base;             /* start of the reserved addresses */
    uint64_t reserved;      /* bytes of them = cap of the arena */
    uint64_t mapped;        /* bytes backed so far */
    uint64_t used;          /* bytes handed out */
    uint64_t kept;          /* bytes behind them that ompp_arena_take() leaves for ompp_arena_take_kept(); 0 at first */
    uint64_t ready;         /* bytes whose pages were asked for, ahead of used */
    uint64_t device, inode; /* of the file, to know it again */
    bool full;              /* the file cannot grow; further chunks are anonymous memory */
    char path[512];         /* of the file; "" = anonymous */
    /* why there is no file, or why it stopped growing: its path and the reason; "" when all is well */
    char why[700];
    int error; /* errno of that; 0 = none */
} ompp_arena_t;

/**
 * \brief Reserves addresses and backs the first chunk.
 * \param[in] dirs  directories to try for the file, in order, NULL-terminated; may be empty.
 * \param[in] name  name of the file in it.
 * \param[in] cap   largest size, bytes; at least one chunk is given.
 * \return 0; arena->path tells whether a file was had, arena->why why not.
 * \return -OMPP_E_NOMEM  not even anonymous memory.
 */
int ompp_arena_open(ompp_arena_t *arena, const char *const *dirs, const char *name, uint64_t cap);

/**
 * \brief Takes size bytes, zeroed, aligned to 16.
 * \return offset, or 0 when the cap or the file system is full.
 * \note Threads: not safe; the caller serialises (slow paths only).
 */
ompp_off_t ompp_arena_take(ompp_arena_t *arena, size_t size);

/** \brief The same of all there is, for the few records that say what found no room. */
ompp_off_t ompp_arena_take_kept(ompp_arena_t *arena, size_t size);

/**
 * \brief In a forked child: replaces the shared mapping by private memory; contents are lost, the file is left alone.
 */
void ompp_arena_detach(ompp_arena_t *arena);

/** \brief Unmaps; removes the file when keep is false. */
void ompp_arena_close(ompp_arena_t *arena, bool keep);

/** \brief Removes the file's name only; the mapping stays usable. */
void ompp_arena_unlink(ompp_arena_t *arena);

#endif
