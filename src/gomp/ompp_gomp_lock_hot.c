/*
 * OpenMP's locks in programs on libgomp: for C, and for Fortran with an underscore, in the two versions that libgomp
 * has of each (locks made by compilers before GCC 4.4 are of another size).
 */
#include "gomp/ompp_gomp_priv.h"

typedef struct {
    void (*set)(void *), (*unset)(void *);
    int (*test)(void *);
} functions_t;

static inline void set_lock(const functions_t *real, void *lock)
{
    ompp_region_ref_t region = ompp_gomp_on() ? ompp_region_lock(lock) : 0;

    ompp_event_enter_brief(region);
    ompp_gomp_wait(region, OMPP_SYNC_MUTEX, lock);
    real->set(lock);
    ompp_gomp_have(region, OMPP_SYNC_MUTEX, lock);
    ompp_event_phase_brief(region, OMPP_PHASE_BODY);
}

static inline void unset_lock(const functions_t *real, void *lock)
{
    ompp_region_ref_t region = ompp_gomp_on() ? ompp_region_lock(lock) : 0;

    ompp_gomp_give(region, OMPP_SYNC_MUTEX, lock);
    ompp_event_phase_brief(region, OMPP_PHASE_EXIT);
    real->unset(lock);
    ompp_event_release_brief(region);
}

static inline int test_lock(const functions_t *real, void *lock)
{
    ompp_region_ref_t region = ompp_gomp_on() ? ompp_region_lock(lock) : 0;
    int taken;

    ompp_event_enter_brief(region);
    taken = real->test(lock);
    if (taken) ompp_gomp_have(region, OMPP_SYNC_MUTEX, lock);
    ompp_sync_flag(OMPP_WHATIF_F_POLLING, !taken);
    if (taken) ompp_event_phase_brief(region, OMPP_PHASE_BODY);
    else ompp_event_exit_brief(region);
    return taken;
}

/* Of a nest of sets only the outermost is a wait. Testing tells which it is: 0 = another has it, 1 = outermost, more =
 * inner. */
static inline void set_nest_lock(const functions_t *real, void *lock)
{
    ompp_region_ref_t region;
    int depth;

    if (!ompp_gomp_on()) {
        real->set(lock);
        return;
    }
    depth = real->test(lock);
    if (depth > 1) return;
    region = ompp_region_lock(lock);
    ompp_event_enter_brief(region);
    if (depth == 0) ompp_gomp_wait(region, OMPP_SYNC_MUTEX, lock);
    if (depth == 0) real->set(lock);
    ompp_gomp_have(region, OMPP_SYNC_MUTEX, lock);
    ompp_event_phase_brief(region, OMPP_PHASE_BODY);
}

static inline void unset_nest_lock(const functions_t *real, void *lock)
{
    const int depth = ompp_gomp_on() ? real->test(lock) - 1 : -1;

    if (depth >= 0) real->unset(lock);
    if (depth != 1) {
        real->unset(lock);
        return;
    }
    const ompp_region_ref_t region = ompp_region_lock(lock);
    ompp_gomp_give(region, OMPP_SYNC_MUTEX, lock);
    ompp_event_phase_brief(region, OMPP_PHASE_EXIT);
    real->unset(lock);
    ompp_event_release_brief(region);
}

static inline int test_nest_lock(const functions_t *real, void *lock)
{
    const int depth = real->test(lock);

    if (depth > 1 || !ompp_gomp_on()) return depth;
    ompp_region_ref_t region = ompp_region_lock(lock);
    ompp_event_enter_brief(region);
    if (depth == 1) ompp_gomp_have(region, OMPP_SYNC_MUTEX, lock);
    ompp_sync_flag(OMPP_WHATIF_F_POLLING, depth == 0);
    if (depth == 1) ompp_event_phase_brief(region, OMPP_PHASE_BODY);
    else ompp_event_exit_brief(region);
    return depth;
}

static const functions_t calibrated = {ompp_calibrated_set, ompp_calibrated_unset, NULL};

/* Functions of their own, as programs call them. */
static __attribute__((noinline)) void calibrated_set(void *lock) { set_lock(&calibrated, lock); }
static __attribute__((noinline)) void calibrated_unset(void *lock) { unset_lock(&calibrated, lock); }

void ompp_gomp_calibrated_lock(void *lock)
{
    calibrated_set(lock);
    calibrated_unset(lock);
}

/* ---- The functions, by kind of lock, language and version -------------------------------------------------------- */

/* The real functions of one kind, looked up at the first call. */
#define REAL(kind, tail, id, version)                                                                              \
    static const functions_t *real_##kind##_##id(void)                                                             \
    {                                                                                                              \
        static functions_t real;                                                                                   \
        if (__builtin_expect(!__atomic_load_n(&real.unset, __ATOMIC_ACQUIRE), 0)) {                                \
            real.set = (void (*)(void *))ompp_gomp_find_slow("omp_set_" #kind tail, version);                      \
            real.test = (int (*)(void *))ompp_gomp_find_slow("omp_test_" #kind tail, version);                     \
            __atomic_store_n(&real.unset, (void (*)(void *))ompp_gomp_find_slow("omp_unset_" #kind tail, version), \
                             __ATOMIC_RELEASE);                                                                    \
        }                                                                                                          \
        return &real;                                                                                              \
    }

#define VERSIONED(operation, kind, tail, id, at) \
    __asm__(".symver ompp_gomp_" #operation "_" #kind "_" #id ", omp_" #operation "_" #kind tail at);

#define FUNCTIONS(kind, tail, id, at, version)                                                                   \
    REAL(kind, tail, id, version)                                                                                \
    OMPP_EXPORT void ompp_gomp_set_##kind##_##id(void *lock) { set_##kind(real_##kind##_##id(), lock); }         \
    OMPP_EXPORT void ompp_gomp_unset_##kind##_##id(void *lock) { unset_##kind(real_##kind##_##id(), lock); }     \
    OMPP_EXPORT int ompp_gomp_test_##kind##_##id(void *lock) { return test_##kind(real_##kind##_##id(), lock); } \
    VERSIONED(set, kind, tail, id, at version)                                                                   \
    VERSIONED(unset, kind, tail, id, at version)                                                                 \
    VERSIONED(test, kind, tail, id, at version)

FUNCTIONS(lock, "", c3, "@@", "OMP_3.0")
FUNCTIONS(lock, "", c1, "@", "OMP_1.0")
FUNCTIONS(lock, "_", f3, "@@", "OMP_3.0")
FUNCTIONS(lock, "_", f1, "@", "OMP_1.0")
FUNCTIONS(nest_lock, "", c3, "@@", "OMP_3.0")
FUNCTIONS(nest_lock, "", c1, "@", "OMP_1.0")
FUNCTIONS(nest_lock, "_", f3, "@@", "OMP_3.0")
FUNCTIONS(nest_lock, "_", f1, "@", "OMP_1.0")
