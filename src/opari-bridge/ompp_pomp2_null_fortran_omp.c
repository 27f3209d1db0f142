/**
 * \file
 * The part of libompp-null.a that Fortran code calls and that needs an OpenMP runtime.
 */
#include "opari-bridge/ompp_fortran_priv.h"

#define OMPP_FORTRAN_LOCK(lower, upper, operation) \
    extern void omp_##operation##_(void *lock);    \
    OMPP_FORTRAN_NAMES(lower, upper, void, (void *lock)) { omp_##operation##_(lock); }
#define OMPP_FORTRAN_TEST(lower, upper, operation) \
    extern int omp_##operation##_(void *lock);     \
    OMPP_FORTRAN_NAMES(lower, upper, int, (void *lock)) { return omp_##operation##_(lock); }
#define OMPP_FORTRAN_NUMBER(lower, upper, function) \
    extern int omp_get_max_threads_(void);          \
    OMPP_FORTRAN_NAMES(lower, upper, int, (void)) { return omp_get_max_threads_(); }
#include "opari-bridge/ompp_fortran.def"
