/**
 * \file
 * Between the register of data structures and the search for names. Private to src/data.
 */
#ifndef OMPP_DATA_PRIV_H
#define OMPP_DATA_PRIV_H

#include "data/ompp_data.h"
#include "runtime/ompp_component.h"

/** \brief Whether anybody counts for structures, or may soon. */
bool ompp_data_has_backend(void);

/** \brief Whether there are back ends that could count. */
bool ompp_data_has_offers(void);

/** \brief Takes it away again: it is told of nothing more. */
void ompp_data_unsubscribe(const ompp_component_t *backend);

/** \brief Whether a back end counts. */
bool ompp_data_has(const char *backend);

/** \return the back end of this name that could count, borrowed; NULL = it was not offered. */
const ompp_component_t *ompp_data_offered(const char *name);

/** \brief Notes for Coverage: structures that lie within others; that nothing counts for those that are named. */
void ompp_data_note_covered(void);
void ompp_data_note_uncounted(void);

/** \brief Whether the program has hooks that cannot count here. */
bool ompp_data_hooks_are_refused(void);

/**
 * \brief Blocks that are allocated by code between begin and end, or by what that calls, are named so from now on.
 * \param[in] name    borrowed for ever.
 * \param[in] module  the bias of the module that the code is in.
 * \param[in] other   of another line of the statement: only for blocks that no other name has.
 */
void ompp_data_site_add(const char *name, uintptr_t module, uintptr_t begin, uintptr_t end, bool other);

/** \brief The module is closed. */
void ompp_data_site_forget(const char *name, uintptr_t module);

/** \brief Whether any block was allocated there so far. */
bool ompp_data_site_was_used(const char *name);

/** \return where code near that of the name has called for a block without a name; 0 = nowhere. */
uintptr_t ompp_data_site_nearest(const char *name);

#endif
