/**
 * \file
 * The part of libompp-null.a that needs an OpenMP runtime: taken from the archive only by programs that call these.
 */
#define OMPP_POMP2_NO_MACROS
#define OMPP_KINST
#include "opari2/pomp2_lib.h"

#define LOCK(name, omp)          \
    extern void omp(void *lock); \
    void POMP2_##name(void *lock) { omp(lock); }
#define TEST(name, omp)         \
    extern int omp(void *lock); \
    int POMP2_##name(void *lock) { return omp(lock); }

LOCK(Init_lock, omp_init_lock)
LOCK(Destroy_lock, omp_destroy_lock)
LOCK(Set_lock, omp_set_lock)
LOCK(Unset_lock, omp_unset_lock)
TEST(Test_lock, omp_test_lock)
LOCK(Init_nest_lock, omp_init_nest_lock)
LOCK(Destroy_nest_lock, omp_destroy_nest_lock)
LOCK(Set_nest_lock, omp_set_nest_lock)
LOCK(Unset_nest_lock, omp_unset_nest_lock)
TEST(Test_nest_lock, omp_test_nest_lock)

extern int omp_get_max_threads(void);

int POMP2_Lib_get_max_threads(void) { return omp_get_max_threads(); }
