/**
 * \file
 * Directives for constructs whose code the compiler gives another line. Called by ompp_resolve.c.
 */
#ifndef OMPP_DIRECTIVES_H
#define OMPP_DIRECTIVES_H

#include "model/ompp_profile.h"
#include "structure/ompp_source.h"

typedef struct ompp_directives ompp_directives_t;

/**
 * \brief Finds what all files need, in one pass over the call paths.
 * \param[in] profile  borrowed; nodes and addresses must stay as they are.
 * \return owned, ompp_directives_free(), which takes NULL; NULL when out of memory.
 */
ompp_directives_t *ompp_directives_new(ompp_profile_t *profile);
void ompp_directives_free(ompp_directives_t *directives);

/**
 * \brief Finds the lines of worksharing constructs and barriers in the text of their file. For profiles from GOMP
 *        interposition: GCC gives the call that begins a loop, single or sections often the line of the code in front
 *        of it, and calls may be tail calls.
 *
 * A construct on the line of a fitting directive is right. A loop or sections met only in the team of a directive that
 * makes both ("parallel for") is that one's. Of the others, one that ends in the block of a directive is that one's,
 * then one that begins in it; what is left belongs to the next fitting directive, in the same block, that nothing else
 * belongs to. One with nowait fits regions that nobody has waited at the end of, and the others fit the others. A
 * barrier in a loop's block is the loop's, and gets the line of its directive. One that is called last in a region's
 * function, from an unknown line, is the last directive in the block, when that can have a barrier, or the only one
 * that can; else its lines are the block's. A single with nowait whose barrier construct comes directly behind it has
 * lines up to that, and OMPP_REGION_F_NOWAIT. A region for which there is no fitting directive stays as it is.
 *
 * \param[in] regions   numbers of regions of this file, shape [n].
 * \param[in] source    its text; borrowed.
 * \param[in] deadline  ompp_clock_seconds(): regions left over then stay as they are.
 * \return false when some are left over, or when out of memory.
 */
bool ompp_directives_mend(const ompp_directives_t *directives, const uint32_t *regions, size_t n,
                          const ompp_source_t *source, double deadline);

/** \brief Whether these are calls that gcc makes for a directive, and often gives no line of their own. */
bool ompp_directives_are_calls(uint32_t construct);

/** \brief Whether a directive that makes a construct stands on one of these lines. */
bool ompp_directives_between(const ompp_source_t *source, uint32_t first, uint32_t last, uint32_t construct);

/** \brief Whether a word is among words with single blanks between. */
bool ompp_directive_has(const char *words, const char *word);

#endif
