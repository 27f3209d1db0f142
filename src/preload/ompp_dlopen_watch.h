/**
 * \file
 * Libraries that the program opens by itself; MPI among them, as Python does, when OMPP_MPI_FAMILY says which one that
 * will be.
 */
#ifndef OMPP_DLOPEN_WATCH_H
#define OMPP_DLOPEN_WATCH_H

#include <stdbool.h>

/**
 * \brief From now on a library that brings this MPI is opened behind our wrappers of it. One that brings another MPI is
 *        opened as it is: wrappers of another MPI, and the MPI that they bring along, would stand in front of the
 *        program's own.
 * \note At load. Does nothing when the variable is not set, or the wrappers are there already.
 */
void ompp_dlopen_watch_start(void);

/**
 * \return whether a library that brings this MPI was opened with RTLD_DEEPBIND: it finds MPI's functions without ours
 *         in front.
 */
bool ompp_dlopen_watch_is_deep(void);

/**
 * \brief Has a function called whenever the program looks for something in a library: who opens one does it next. It
 *        must be cheap when no library has come. Up to four functions in the process.
 */
void ompp_dlopen_watch_tell(void (*callback)(void));

#endif
