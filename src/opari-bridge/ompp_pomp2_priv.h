/**
 * \file
 * Shared by the hot path of the bridge (ompp_pomp2_hot.c) and what it calls rarely (ompp_pomp2.c).
 */
#ifndef OMPP_POMP2_PRIV_H
#define OMPP_POMP2_PRIV_H

#define OMPP_POMP2_NO_MACROS
#define OMPP_KINST
#include "opari2/pomp2_lib.h"

#include "base/ompp_hash.h"
#include "runtime/ompp_event.h"

#define OMPP_EXPORT __attribute__((visibility("default")))

/** A team between fork and join, for workers that know nothing but the region. Never freed, used again for the same
 * region. */
typedef struct ompp_pomp2_slot {
    struct ompp_pomp2_slot *next; /* set before the slot is published */
    uint64_t path;                /* hash of the forking thread's position in the nest of teams */
    POMP2_Task_handle team;       /* as in ompp_pomp2_fork() */
    int busy;
} ompp_pomp2_slot_t;

/** What a handle points to. Made at the first event, never freed: the user's handle keeps pointing to it. */
typedef struct {
    ompp_region_ref_t ref; /* 0 while the runtime gives none */
    ompp_construct_t construct;
    bool forks;
    bool off;                                              /* the user has switched its construct off: ref stays 0 */
    bool dynamic;                                          /* iterations are handed out as it goes */
    uint64_t mutex;                                        /* critical: equal for those of one name. ordered: its own */
    ompp_time_t retry_at;                                  /* next attempt to define it, when ref is 0 */
    ompp_pomp2_slot_t *slots __attribute__((aligned(64))); /* written by other threads */
} ompp_pomp2_region_t;

/** \return whether what a handle points to needs no second look. */
static inline bool ompp_pomp2_is_known(const ompp_pomp2_region_t *region)
{
    return region && (__atomic_load_n(&region->ref, __ATOMIC_RELAXED) || region->off);
}

/** [construct] the user has switched it off, and OPARI2's functions return at once; known from its first event on. */
extern bool ompp_pomp2_off[OMPP_CONSTRUCT_NUM];

/** \return whether nobody wants to know of this construct. */
static inline bool ompp_pomp2_is_off(ompp_construct_t construct)
{
    return __builtin_expect(__atomic_load_n(&ompp_pomp2_off[construct], __ATOMIC_RELAXED), 0);
}

/* As ompp_sync_wait() and its like, now: the clock is read only for somebody who follows. */
static inline void ompp_pomp2_wait(ompp_sync_object_t kind, uint64_t object)
{
    if (__builtin_expect(ompp_sync_follower() != NULL, 0)) ompp_sync_wait(kind, object, ompp_event_now());
}

static inline void ompp_pomp2_resume(ompp_sync_object_t kind, uint64_t object)
{
    if (__builtin_expect(ompp_sync_follower() != NULL, 0)) ompp_sync_resume(kind, object, ompp_event_now());
}

static inline void ompp_pomp2_publish(ompp_sync_object_t kind, uint64_t object)
{
    if (__builtin_expect(ompp_sync_follower() != NULL, 0)) ompp_sync_publish(kind, object, ompp_event_now());
}

static inline void ompp_pomp2_task(ompp_sync_task_t what)
{
    if (__builtin_expect(ompp_sync_follower() != NULL, 0)) ompp_sync_task(what, 0, 0, ompp_event_now());
}

/** OpenMP's lock functions. Those for C and for Fortran differ in what a lock variable holds. Never NULL. */
typedef struct {
    void (*init_lock)(void *), (*destroy_lock)(void *), (*set_lock)(void *), (*unset_lock)(void *);
    int (*test_lock)(void *);
    void (*init_nest_lock)(void *), (*destroy_nest_lock)(void *), (*set_nest_lock)(void *), (*unset_nest_lock)(void *);
    int (*test_nest_lock)(void *);
} ompp_pomp2_locks_t;

/** OpenMP's own functions, of whichever runtime the program has; libompp is not linked with any. Never NULL. */
typedef struct {
    int (*get_thread_num)(void);
    int (*get_level)(void);
    int (*get_active_level)(void);
    int (*get_ancestor_thread_num)(int level);
    int (*get_max_threads)(void);
    ompp_pomp2_locks_t c, fortran;
} ompp_pomp2_omp_t;

extern ompp_pomp2_omp_t ompp_pomp2_omp;

/** Tasks that run on a thread, innermost last; blocks are linked and belong to the thread. */
enum { OMPP_POMP2_TASKS = 62 };
typedef struct ompp_pomp2_tasks {
    struct ompp_pomp2_tasks *outer, *inner;
    ompp_task_t task[OMPP_POMP2_TASKS];
} ompp_pomp2_tasks_t;

/** \brief One execution each, for ompp_event_calibrate_by(). */
void ompp_pomp2_calibrated_critical(ompp_region_ref_t ref, void *lock);
void ompp_pomp2_calibrated_lock(void *lock);

/**
 * \brief The region of a handle, made if need be; asks the runtime again now and then while it gives none.
 * \return never NULL.
 */
ompp_pomp2_region_t *ompp_pomp2_region_slow(POMP2_Region_handle *handle, const char *ctc);

/** \brief Looks up OpenMP's functions, once. Done by ompp_pomp2_region_slow(); lock functions may come before that. */
void ompp_pomp2_omp_find(void);

/** \brief Before a lock is made: opens the OpenMP library when the program came without. */
void ompp_pomp2_omp_need_locks(void);

/** \brief Memory for a slot. \return NULL when there is none. */
ompp_pomp2_slot_t *ompp_pomp2_slot_new(void);

/** \brief A further block of running tasks, to be freed when the thread ends. \return NULL when there is no memory. */
ompp_pomp2_tasks_t *ompp_pomp2_tasks_new(ompp_pomp2_tasks_t *outer);

#endif
