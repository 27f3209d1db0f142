/**
 * \file
 * Taking over calls that the program and its libraries make to functions of the system, in the running process and only
 * when wanted: the addresses through which a module calls others (its relocated slots) are replaced. What is not
 * replaced costs nothing, and the modules that are left alone (runtimes of OpenMP and MPI, the C library) go on as
 * before.
 */
#ifndef OMPP_INTERCEPT_H
#define OMPP_INTERCEPT_H

#include <stddef.h>

typedef struct {
    const char *name;
    void *replacement;
    /* gets the function itself; one that is not to be found is not replaced. NULL = the replacement knows it by its
     * name */
    void **real;
} ompp_intercept_t;

/**
 * \brief Replaces the functions in all modules that are loaded now and not left alone. Calling it again takes in
 *        modules that have been loaded since; costs one look when there are none.
 * \param[in] rows  ascending by name; shape [n]; borrowed.
 * \return number of slots replaced by this call.
 * \note Threads: any; two at once: one does nothing. Not from signal handlers.
 */
unsigned ompp_intercept(const ompp_intercept_t *rows, size_t n);

/** \brief The same, also in runtimes of OpenMP and MPI, and all else but the C library. */
unsigned ompp_intercept_everywhere(const ompp_intercept_t *rows, size_t n);

/**
 * \brief Replaces the functions in the program's own file alone, none of its libraries.
 * \note Threads: at load, before there are others.
 */
void ompp_intercept_program(const ompp_intercept_t *rows, size_t n);

#endif
