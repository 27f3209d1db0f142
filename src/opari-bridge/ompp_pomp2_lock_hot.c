/**
 * \file
 * OpenMP locks of instrumented code: the calls for C, and those for Fortran, where a variable may hold the address of
 * the lock.
 */
#include "opari-bridge/ompp_fortran_priv.h"
#include "opari-bridge/ompp_pomp2_priv.h"

#include "model/ompp_whatif_profile.h"

static inline void init_lock(const ompp_pomp2_locks_t *omp, void *lock)
{
    ompp_pomp2_omp_find();
    ompp_pomp2_omp_need_locks();
    omp->init_lock(lock);
}

static inline void destroy_lock(const ompp_pomp2_locks_t *omp, void *lock)
{
    ompp_pomp2_omp_find();
    omp->destroy_lock(lock);
}

static inline uint64_t number_of(const void *lock) { return (uint64_t)(uintptr_t)lock; }

/* Nobody wants to know of locks. */
static inline bool is_unwanted(ompp_region_ref_t ref) { return !ref && !ompp_sync_follower(); }

static inline void set_lock(const ompp_pomp2_locks_t *omp, void *lock)
{
    ompp_region_ref_t ref = ompp_region_lock(lock);

    ompp_pomp2_omp_find();
    if (is_unwanted(ref)) {
        omp->set_lock(lock);
        return;
    }
    ompp_event_enter_brief(ref);
    ompp_pomp2_wait(OMPP_SYNC_MUTEX, number_of(lock));
    omp->set_lock(lock);
    ompp_pomp2_resume(OMPP_SYNC_MUTEX, number_of(lock));
    ompp_event_phase_brief(ref, OMPP_PHASE_BODY);
}

/* The region is left after the lock: its place in memory may be gone, but it is not touched. */
static inline void unset_lock(const ompp_pomp2_locks_t *omp, void *lock)
{
    ompp_region_ref_t ref = ompp_region_lock(lock);

    ompp_pomp2_omp_find();
    if (is_unwanted(ref)) {
        omp->unset_lock(lock);
        return;
    }
    ompp_pomp2_publish(OMPP_SYNC_MUTEX, number_of(lock));
    ompp_event_phase_brief(ref, OMPP_PHASE_EXIT);
    omp->unset_lock(lock);
    ompp_event_release_brief(ref);
}

static inline int test_lock(const ompp_pomp2_locks_t *omp, void *lock)
{
    ompp_region_ref_t ref = ompp_region_lock(lock);
    int taken;

    ompp_pomp2_omp_find();
    if (is_unwanted(ref)) return omp->test_lock(lock);
    ompp_event_enter_brief(ref);
    taken = omp->test_lock(lock);
    if (taken) ompp_pomp2_resume(OMPP_SYNC_MUTEX, number_of(lock));
    ompp_sync_flag(OMPP_WHATIF_F_POLLING, !taken);
    if (taken) ompp_event_phase_brief(ref, OMPP_PHASE_BODY);
    else ompp_event_exit_brief(ref);
    return taken;
}

static inline void init_nest_lock(const ompp_pomp2_locks_t *omp, void *lock)
{
    ompp_pomp2_omp_find();
    ompp_pomp2_omp_need_locks();
    omp->init_nest_lock(lock);
}

static inline void destroy_nest_lock(const ompp_pomp2_locks_t *omp, void *lock)
{
    ompp_pomp2_omp_find();
    omp->destroy_nest_lock(lock);
}

/* Of a nest of sets only the outermost is a wait. Testing tells which it is: 0 = another has it, 1 = outermost, more =
 * inner. */
static inline void set_nest_lock(const ompp_pomp2_locks_t *omp, void *lock)
{
    ompp_region_ref_t ref;
    int depth;

    ompp_pomp2_omp_find();
    depth = omp->test_nest_lock(lock);
    if (depth > 1) return;
    ref = ompp_region_lock(lock);
    ompp_event_enter_brief(ref);
    if (depth == 0) {
        ompp_pomp2_wait(OMPP_SYNC_MUTEX, number_of(lock));
        omp->set_nest_lock(lock);
    }
    ompp_pomp2_resume(OMPP_SYNC_MUTEX, number_of(lock));
    ompp_event_phase_brief(ref, OMPP_PHASE_BODY);
}

static inline void unset_nest_lock(const ompp_pomp2_locks_t *omp, void *lock)
{
    ompp_region_ref_t ref;
    int depth;

    ompp_pomp2_omp_find();
    depth = omp->test_nest_lock(lock) - 1;
    if (depth >= 0) omp->unset_nest_lock(lock);
    if (depth != 1) {
        omp->unset_nest_lock(lock);
        return;
    }
    ref = ompp_region_lock(lock);
    ompp_pomp2_publish(OMPP_SYNC_MUTEX, number_of(lock));
    ompp_event_phase_brief(ref, OMPP_PHASE_EXIT);
    omp->unset_nest_lock(lock);
    ompp_event_release_brief(ref);
}

static inline int test_nest_lock(const ompp_pomp2_locks_t *omp, void *lock)
{
    ompp_region_ref_t ref;
    int depth;

    ompp_pomp2_omp_find();
    depth = omp->test_nest_lock(lock);
    if (depth > 1) return depth;
    ref = ompp_region_lock(lock);
    ompp_event_enter_brief(ref);
    if (depth == 1) ompp_pomp2_resume(OMPP_SYNC_MUTEX, number_of(lock));
    ompp_sync_flag(OMPP_WHATIF_F_POLLING, depth == 0);
    if (depth == 1) ompp_event_phase_brief(ref, OMPP_PHASE_BODY);
    else ompp_event_exit_brief(ref);
    return depth;
}

/* ---- To find out what they cost ---------------------------------------------------------------------------------- */

static const ompp_pomp2_locks_t calibrated = {.set_lock = ompp_calibrated_set, .unset_lock = ompp_calibrated_unset};

/* Functions of their own, as programs call them. */
static __attribute__((noinline)) void calibrated_set(void *lock) { set_lock(&calibrated, lock); }
static __attribute__((noinline)) void calibrated_unset(void *lock) { unset_lock(&calibrated, lock); }

void ompp_pomp2_calibrated_lock(void *lock)
{
    calibrated_set(lock);
    calibrated_unset(lock);
}

/* ---- The functions that programs call ---------------------------------------------------------------------------- */

#define LOCK(Name, operation) \
    OMPP_EXPORT void POMP2_##Name(void *lock) { operation(&ompp_pomp2_omp.c, lock); }
#define TEST(Name, operation) \
    OMPP_EXPORT int POMP2_##Name(void *lock) { return operation(&ompp_pomp2_omp.c, lock); }

LOCK(Init_lock, init_lock)
LOCK(Destroy_lock, destroy_lock)
LOCK(Set_lock, set_lock)
LOCK(Unset_lock, unset_lock)
TEST(Test_lock, test_lock)
LOCK(Init_nest_lock, init_nest_lock)
LOCK(Destroy_nest_lock, destroy_nest_lock)
LOCK(Set_nest_lock, set_nest_lock)
LOCK(Unset_nest_lock, unset_nest_lock)
TEST(Test_nest_lock, test_nest_lock)

#define OMPP_FORTRAN_LOCK(lower, upper, operation) \
    OMPP_FORTRAN_NAMES(lower, upper, void, (void *lock)) { operation(&ompp_pomp2_omp.fortran, lock); }
#define OMPP_FORTRAN_TEST(lower, upper, operation) \
    OMPP_FORTRAN_NAMES(lower, upper, int, (void *lock)) { return operation(&ompp_pomp2_omp.fortran, lock); }
#include "opari-bridge/ompp_fortran.def"
