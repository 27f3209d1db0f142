/**
 * \file
 * Threads of the program that OpenMP knows nothing of: the functions with which they wait for one another. Private to src/causal.
 */
#ifndef OMPP_PTHREAD_PRIV_H
#define OMPP_PTHREAD_PRIV_H

#include "base/ompp_intercept.h"

/** The functions of POSIX and C11 that are followed, ascending by name. */
extern const ompp_intercept_t ompp_pthread_functions[];
extern const size_t ompp_npthread_functions;

/** Functions of libgomp, the same. */
extern const ompp_intercept_t ompp_libgomp_functions[];
extern const size_t ompp_nlibgomp_functions;

/** \brief Follows the functions above, in modules that are loaded now. Called when the first thread is created, and at each further one. */
void ompp_pthread_follow(void);

#endif
