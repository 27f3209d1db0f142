/**
 * \file
 * The libraries that a program or library needs, as its file says, found as the dynamic linker finds them; nothing of
 * them is run.
 */
#ifndef OMPP_NEEDED_H
#define OMPP_NEEDED_H

#include <stdbool.h>

/**
 * \brief One shared library that a file needs, directly or through others.
 * \param[in] soname  borrowed for the call.
 */
typedef void (*ompp_needed_visit_t)(const char *soname, void *data);

/**
 * \brief Visits the names of all libraries in the closure of DT_NEEDED, each once, in the order in which the dynamic
 *        linker loads and searches them (breadth first). Libraries are searched as the dynamic linker does: run path
 *        with $ORIGIN, LD_LIBRARY_PATH, the directories of /etc/ld.so.conf, the standard ones. One that is not found is
 *        visited and not followed.
 */
void ompp_needed_names(const char *path, ompp_needed_visit_t visit, void *data);

/** \brief The same, but visits the files of those that are found. */
void ompp_needed_files(const char *path, ompp_needed_visit_t visit, void *data);

/**
 * \brief Finds a library by its name.
 * \param[in] asker  file of the program or library that opens it: its run path counts; NULL: one without.
 * \param[out] path  [PATH_MAX].
 */
bool ompp_needed_find(const char *soname, const char *asker, char *path);

#endif
