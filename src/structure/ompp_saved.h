/**
 * \file
 * What was found of all procedures of a file, kept on disk by its build id: a second look needs no analysis. Called by
 * ompp-struct alone: a run looks at few procedures.
 *
 * The directory belongs to this user, and no other user may write to it; so do the files in it. What another user has
 * put there, what is damaged, and what belongs to another file or version, is as if it were not there. Nothing is read
 * or written where the environment is not the user's own (setuid programs).
 */
#ifndef OMPP_SAVED_H
#define OMPP_SAVED_H

#include "structure/ompp_scope.h"

#define OMPP_SAVED_PATH 4096
#define OMPP_SAVED_FILE_BYTES ((uint64_t)256 << 20) /* of one file, at most */
#define OMPP_SAVED_ALL_BYTES ((uint64_t)512 << 20)  /* of all of them: the oldest ones are removed */

/** All procedures of a file. */
typedef struct {
    size_t n;
    uint64_t *addresses;                 /* [n] as of ompp_scope_addresses() */
    const ompp_procedure_t **procedures; /* [n] of each address; NULL = there is none */
    void *kept; /* what was read, which the procedures are in; NULL = they are the structure's */
} ompp_saved_t;

/**
 * \brief The user's directory: ompp in XDG_CACHE_HOME, else in ~/.cache. Need not exist.
 * \return false: there is none.
 */
bool ompp_saved_directory(char path[OMPP_SAVED_PATH]);

/**
 * \param[in]  structure  an opened file.
 * \param[out] all        the caller's; ompp_saved_fini() also after a failure.
 * \return false: nothing is kept of this file, as it is now.
 */
bool ompp_saved_load(const char *directory, ompp_structure_t *structure, ompp_saved_t *all);

/** \brief Keeps it; makes the directory where it is not there. \return false: it could not be kept. */
bool ompp_saved_store(const char *directory, ompp_structure_t *structure, const ompp_saved_t *all);

void ompp_saved_fini(ompp_saved_t *all);

#endif
