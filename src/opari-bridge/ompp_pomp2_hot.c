/**
 * \file
 * The functions that code instrumented by OPARI2 calls: translates them into runtime/ompp_event.h and does nothing
 * else.
 *
 * A combined construct (parallel for) has one handle for all its calls, so what a call means depends on the region's
 * construct. Budget: the event's own, plus one load of the handle.
 */
#include "opari-bridge/ompp_pomp2_priv.h"

static __thread struct {
    ompp_pomp2_tasks_t *tasks; /* block of the innermost running task */
    unsigned ntasks;           /* used in that block */
    bool left;                 /* the barrier at a team's end, and with it the team */
} self __attribute__((tls_model("initial-exec")));

static ompp_pomp2_region_t nothing = {.construct = OMPP_CONSTRUCT_NUM};

/* The region of a handle at a call that describes it. */
static inline ompp_pomp2_region_t *first(POMP2_Region_handle *handle, const char *ctc)
{
    ompp_pomp2_region_t *region = __atomic_load_n(handle, __ATOMIC_ACQUIRE);

    if (__builtin_expect(ompp_pomp2_is_known(region), 1)) return region;
    return ompp_pomp2_region_slow(handle, ctc);
}

/* The region of a handle at a later call. */
static inline ompp_pomp2_region_t *known(POMP2_Region_handle *handle)
{
    ompp_pomp2_region_t *region = __atomic_load_n(handle, __ATOMIC_ACQUIRE);

    return __builtin_expect(region != 0, 1) ? region : &nothing;
}

static inline void enter(POMP2_Region_handle *handle, const char *ctc)
{
    ompp_pomp2_region_t *region = first(handle, ctc);

    if (!region->forks && region->ref) ompp_event_enter(region->ref, ompp_event_now());
}

static inline void leave(POMP2_Region_handle *handle)
{
    ompp_pomp2_region_t *region = known(handle);

    if (!region->forks && region->ref) ompp_event_exit(region->ref, ompp_event_now());
}

/* The same of what is brief and may come often. */
static inline void enter_brief(POMP2_Region_handle *handle, const char *ctc)
{
    const ompp_region_ref_t ref = first(handle, ctc)->ref;

    if (ref) ompp_event_enter_brief(ref);
}

static inline void phase_brief(POMP2_Region_handle *handle, ompp_phase_t next)
{
    const ompp_region_ref_t ref = known(handle)->ref;

    if (ref) ompp_event_phase_brief(ref, next);
}

static inline void leave_brief(POMP2_Region_handle *handle)
{
    const ompp_region_ref_t ref = known(handle)->ref;

    if (ref) ompp_event_exit_brief(ref);
}

/* All threads of the team wait for one another. */
static inline void arrive(void)
{
    if (ompp_sync_follower()) ompp_sync_arrive((uint64_t)(uintptr_t)ompp_event_team(), ompp_event_now());
}

static inline void go_on(void)
{
    if (ompp_sync_follower())
        ompp_sync_resume(OMPP_SYNC_BARRIER, (uint64_t)(uintptr_t)ompp_event_team(), ompp_event_now());
}

static inline void phase(POMP2_Region_handle *handle, ompp_phase_t next)
{
    const ompp_region_ref_t ref = known(handle)->ref;

    if (ref) ompp_event_phase(ref, next, ompp_event_now());
}

OMPP_EXPORT void POMP2_Assign_handle(POMP2_Region_handle *handle, const char ctc[])
{
    (void)handle, (void)ctc; /* the first event does it */
}

OMPP_EXPORT void POMP2_USER_Assign_handle(POMP2_USER_Region_handle *handle, const char ctc[])
{
    (void)handle, (void)ctc;
}

OMPP_EXPORT POMP2_Task_handle POMP2_Get_new_task_handle(void) { return 0; }

/* ---- Worksharing ------------------------------------------------------------------------------------------------- */

/* Which iterations are handed out to whom, and when, cannot be seen here; that it is done, and until when, can. */
static inline void chunks(POMP2_Region_handle *handle, bool begin)
{
    if (__builtin_expect(ompp_sync_follower() != NULL, 0) && known(handle)->dynamic)
        (begin ? ompp_sync_wait : ompp_sync_resume)(OMPP_SYNC_CHUNK, (uint64_t)(uintptr_t)ompp_event_team(),
                                                    ompp_event_now());
}

/* One thread executes it, or gets the next one: who comes first. */
static inline void come_for_one(void)
{
    if (__builtin_expect(ompp_sync_follower() != NULL, 0))
        ompp_sync_publish(OMPP_SYNC_FIRST, (uint64_t)(uintptr_t)ompp_event_team(), ompp_event_now());
}

OMPP_EXPORT void POMP2_For_enter(POMP2_Region_handle *handle, const char ctc[])
{
    enter(handle, ctc);
    chunks(handle, true);
}

OMPP_EXPORT void POMP2_For_exit(POMP2_Region_handle *handle) { leave(handle); }

OMPP_EXPORT void POMP2_Workshare_enter(POMP2_Region_handle *handle, const char ctc[]) { enter(handle, ctc); }

OMPP_EXPORT void POMP2_Workshare_exit(POMP2_Region_handle *handle) { leave(handle); }

OMPP_EXPORT void POMP2_Sections_enter(POMP2_Region_handle *handle, const char ctc[])
{
    enter(handle, ctc);
    come_for_one();
}

OMPP_EXPORT void POMP2_Sections_exit(POMP2_Region_handle *handle) { leave(handle); }

OMPP_EXPORT void POMP2_Section_begin(POMP2_Region_handle *handle, const char ctc[])
{
    (void)ctc;
    phase(handle, OMPP_PHASE_SECTION);
}

OMPP_EXPORT void POMP2_Section_end(POMP2_Region_handle *handle)
{
    phase(handle, OMPP_PHASE_MGMT);
    come_for_one();
}

OMPP_EXPORT void POMP2_Single_enter(POMP2_Region_handle *handle, const char ctc[])
{
    if (ompp_pomp2_is_off(OMPP_CONSTRUCT_SINGLE)) return;
    enter(handle, ctc);
    come_for_one();
}

OMPP_EXPORT void POMP2_Single_begin(POMP2_Region_handle *handle)
{
    if (ompp_pomp2_is_off(OMPP_CONSTRUCT_SINGLE)) return;
    phase(handle, OMPP_PHASE_SINGLE);
}

OMPP_EXPORT void POMP2_Single_end(POMP2_Region_handle *handle)
{
    if (ompp_pomp2_is_off(OMPP_CONSTRUCT_SINGLE)) return;
    phase(handle, OMPP_PHASE_MGMT);
}

OMPP_EXPORT void POMP2_Single_exit(POMP2_Region_handle *handle)
{
    if (ompp_pomp2_is_off(OMPP_CONSTRUCT_SINGLE)) return;
    leave(handle);
}

OMPP_EXPORT void POMP2_Master_begin(POMP2_Region_handle *handle, const char ctc[])
{
    if (ompp_pomp2_is_off(OMPP_CONSTRUCT_MASTER)) return;
    enter(handle, ctc);
}

OMPP_EXPORT void POMP2_Master_end(POMP2_Region_handle *handle)
{
    if (ompp_pomp2_is_off(OMPP_CONSTRUCT_MASTER)) return;
    leave(handle);
}

/* ---- Synchronisation --------------------------------------------------------------------------------------------- */

OMPP_EXPORT void POMP2_Atomic_enter(POMP2_Region_handle *handle, const char ctc[])
{
    if (ompp_pomp2_is_off(OMPP_CONSTRUCT_ATOMIC)) return;
    enter_brief(handle, ctc);
}

OMPP_EXPORT void POMP2_Atomic_exit(POMP2_Region_handle *handle)
{
    if (ompp_pomp2_is_off(OMPP_CONSTRUCT_ATOMIC)) return;
    leave_brief(handle);
}

OMPP_EXPORT void POMP2_Flush_enter(POMP2_Region_handle *handle, const char ctc[])
{
    if (ompp_pomp2_is_off(OMPP_CONSTRUCT_FLUSH)) return;
    enter(handle, ctc);
}

OMPP_EXPORT void POMP2_Flush_exit(POMP2_Region_handle *handle)
{
    if (ompp_pomp2_is_off(OMPP_CONSTRUCT_FLUSH)) return;
    leave(handle);
}

OMPP_EXPORT void POMP2_Critical_enter(POMP2_Region_handle *handle, const char ctc[])
{
    if (ompp_pomp2_is_off(OMPP_CONSTRUCT_CRITICAL)) return;
    enter_brief(handle, ctc);
    ompp_pomp2_wait(OMPP_SYNC_MUTEX, known(handle)->mutex);
}

OMPP_EXPORT void POMP2_Critical_begin(POMP2_Region_handle *handle)
{
    if (ompp_pomp2_is_off(OMPP_CONSTRUCT_CRITICAL)) return;
    ompp_pomp2_resume(OMPP_SYNC_MUTEX, known(handle)->mutex);
    phase_brief(handle, OMPP_PHASE_BODY);
}

OMPP_EXPORT void POMP2_Critical_end(POMP2_Region_handle *handle)
{
    if (ompp_pomp2_is_off(OMPP_CONSTRUCT_CRITICAL)) return;
    ompp_pomp2_publish(OMPP_SYNC_MUTEX, known(handle)->mutex);
    phase_brief(handle, OMPP_PHASE_EXIT);
}

OMPP_EXPORT void POMP2_Critical_exit(POMP2_Region_handle *handle)
{
    if (ompp_pomp2_is_off(OMPP_CONSTRUCT_CRITICAL)) return;
    leave_brief(handle);
}

void ompp_pomp2_calibrated_critical(ompp_region_ref_t ref, void *lock)
{
    static ompp_pomp2_region_t region;
    POMP2_Region_handle handle = &region;

    region.ref = ref;
    POMP2_Critical_enter(&handle, "");
    ompp_calibrated_set(lock);
    POMP2_Critical_begin(&handle);
    POMP2_Critical_end(&handle);
    ompp_calibrated_unset(lock);
    POMP2_Critical_exit(&handle);
}

OMPP_EXPORT void POMP2_Ordered_enter(POMP2_Region_handle *handle, const char ctc[])
{
    enter_brief(handle, ctc);
    ompp_pomp2_wait(OMPP_SYNC_ORDERED, known(handle)->mutex);
}

OMPP_EXPORT void POMP2_Ordered_begin(POMP2_Region_handle *handle)
{
    ompp_pomp2_resume(OMPP_SYNC_ORDERED, known(handle)->mutex);
    phase_brief(handle, OMPP_PHASE_BODY);
}

OMPP_EXPORT void POMP2_Ordered_end(POMP2_Region_handle *handle)
{
    ompp_pomp2_publish(OMPP_SYNC_ORDERED, known(handle)->mutex);
    phase_brief(handle, OMPP_PHASE_EXIT);
}

OMPP_EXPORT void POMP2_Ordered_exit(POMP2_Region_handle *handle) { leave_brief(handle); }

OMPP_EXPORT void POMP2_Barrier_enter(POMP2_Region_handle *handle, POMP2_Task_handle *old_task, const char ctc[])
{
    *old_task = 0;
    if (ompp_pomp2_is_off(OMPP_CONSTRUCT_BARRIER)) return;
    enter(handle, ctc);
    arrive();
}

OMPP_EXPORT void POMP2_Barrier_exit(POMP2_Region_handle *handle, POMP2_Task_handle old_task)
{
    if (ompp_pomp2_is_off(OMPP_CONSTRUCT_BARRIER)) return;
    (void)old_task;
    go_on();
    leave(handle);
}

OMPP_EXPORT void POMP2_Taskwait_begin(POMP2_Region_handle *handle, POMP2_Task_handle *old_task, const char ctc[])
{
    *old_task = 0;
    enter(handle, ctc);
    ompp_pomp2_task(OMPP_SYNC_TASK_WAIT);
}

OMPP_EXPORT void POMP2_Taskwait_end(POMP2_Region_handle *handle, POMP2_Task_handle old_task)
{
    (void)old_task;
    ompp_pomp2_task(OMPP_SYNC_TASK_WAITED);
    leave(handle);
}

/* The barrier that ends a team belongs to the member; the one that ends a worksharing construct to that construct's
 * region. */
static __attribute__((noinline)) void enter_implicit_barrier(POMP2_Region_handle *handle)
{
    chunks(handle, false);
    if (known(handle)->forks) {
        ompp_event_member_barrier(true, ompp_event_now());
        return;
    }
    ompp_event_phase(known(handle)->ref, OMPP_PHASE_EXITBAR, ompp_event_now());
    arrive();
}

OMPP_EXPORT void POMP2_Implicit_barrier_enter(POMP2_Region_handle *handle, POMP2_Task_handle *old_task)
{
    *old_task = 0;
    if (known(handle)->forks && !ompp_sync_follower()) ompp_event_member_barrier(true, ompp_event_now());
    else enter_implicit_barrier(handle);
}

OMPP_EXPORT void ompp_pomp2_await_tasks(POMP2_Region_handle *handle) { phase(handle, OMPP_PHASE_EXITBAR); }

OMPP_EXPORT void POMP2_Implicit_barrier_exit(POMP2_Region_handle *handle, POMP2_Task_handle old_task)
{
    (void)old_task;
    self.left = known(handle)->forks;
    if (self.left) ompp_event_member_barrier(false, ompp_event_now());
    else go_on();
}

/* ---- Teams ------------------------------------------------------------------------------------------------------- */

/* A team as the user's code carries it: its address, and in the lowest bit whether it lies in another active team. */
OMPP_EXPORT void ompp_pomp2_fork(POMP2_Region_handle *handle, POMP2_Task_handle *team, const char ctc[])
{
    ompp_pomp2_region_t *region = first(handle, ctc);
    bool nested = ompp_pomp2_omp.get_active_level() > 0;

    *team = (POMP2_Task_handle)(intptr_t)ompp_event_fork(region->ref, ompp_event_now());
    if (*team && nested) *team |= 1;
}

static inline ompp_team_t *team_of(POMP2_Task_handle team)
{
    return (ompp_team_t *)(intptr_t)(team & ~(POMP2_Task_handle)1);
}

static inline void member_begin(POMP2_Task_handle team)
{
    ompp_event_member_begin(team_of(team), (unsigned)ompp_pomp2_omp.get_thread_num(), team & 1, ompp_event_now());
}

OMPP_EXPORT void ompp_pomp2_member_begin(POMP2_Region_handle *handle, POMP2_Task_handle team)
{
    (void)handle;
    member_begin(team);
}

OMPP_EXPORT void POMP2_Parallel_end(POMP2_Region_handle *handle)
{
    (void)handle;
    if (!self.left) ompp_event_member_end(ompp_event_now());
    self.left = false;
}

OMPP_EXPORT void ompp_pomp2_join(POMP2_Task_handle team) { ompp_event_join(team_of(team), ompp_event_now()); }

/* Where a thread stands: the numbers of its ancestors in the nest of teams, down to the given level. */
static uint64_t path_to(int level)
{
    uint64_t hash = (unsigned)level;

    for (int i = 1; i <= level; i++) hash = ompp_hash_join(hash, (unsigned)ompp_pomp2_omp.get_ancestor_thread_num(i));
    return hash;
}

/* A free slot of the region, now busy; a new one when all are busy. */
static ompp_pomp2_slot_t *take_slot(ompp_pomp2_region_t *region)
{
    ompp_pomp2_slot_t *slot = __atomic_load_n(&region->slots, __ATOMIC_ACQUIRE);

    for (; slot; slot = slot->next) {
        int free_slot = 0;
        if (__atomic_compare_exchange_n(&slot->busy, &free_slot, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return slot;
    }
    slot = ompp_pomp2_slot_new();
    if (!slot) return NULL;
    slot->busy = 1;
    slot->next = __atomic_load_n(&region->slots, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&region->slots, &slot->next, slot, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        continue;
    return slot;
}

OMPP_EXPORT void POMP2_Parallel_fork(POMP2_Region_handle *handle, int if_clause, int num_threads,
                                     POMP2_Task_handle *old_task, const char ctc[])
{
    ompp_pomp2_slot_t *slot;
    POMP2_Task_handle team;

    (void)if_clause, (void)num_threads;
    ompp_pomp2_fork(handle, &team, ctc);
    slot = take_slot(known(handle));
    *old_task = (POMP2_Task_handle)(intptr_t)slot;
    if (!slot) return;
    slot->team = team;
    slot->path = path_to(ompp_pomp2_omp.get_level());
    /* Relaxed would do: the OpenMP runtime orders the fork before what its members do. */
    __atomic_store_n(&slot->busy, 2, __ATOMIC_RELEASE);
}

/*
 * The team of a member that knows the region alone. Its own slot stays busy all the time, so when only one is busy it
 * is that one; otherwise it is the one whose forking thread stands where this thread's parent stands.
 */
static POMP2_Task_handle find_team(ompp_pomp2_region_t *region)
{
    ompp_pomp2_slot_t *only = NULL;
    unsigned nbusy = 0;
    uint64_t path;

    for (ompp_pomp2_slot_t *s = __atomic_load_n(&region->slots, __ATOMIC_ACQUIRE); s; s = s->next)
        if (__atomic_load_n(&s->busy, __ATOMIC_ACQUIRE) == 2) only = s, nbusy++;
    if (nbusy <= 1) return only ? only->team : 0;
    path = path_to(ompp_pomp2_omp.get_level() - 1);
    for (ompp_pomp2_slot_t *s = __atomic_load_n(&region->slots, __ATOMIC_ACQUIRE); s; s = s->next)
        if (__atomic_load_n(&s->busy, __ATOMIC_ACQUIRE) == 2 && s->path == path) return s->team;
    return 0;
}

OMPP_EXPORT void POMP2_Parallel_begin(POMP2_Region_handle *handle) { member_begin(find_team(known(handle))); }

OMPP_EXPORT void POMP2_Parallel_join(POMP2_Region_handle *handle, POMP2_Task_handle old_task)
{
    ompp_pomp2_slot_t *slot = (ompp_pomp2_slot_t *)(intptr_t)old_task;

    (void)handle;
    if (!slot) return;
    ompp_pomp2_join(slot->team);
    __atomic_store_n(&slot->busy, 0, __ATOMIC_RELEASE);
}

OMPP_EXPORT int POMP2_Lib_get_max_threads(void)
{
    ompp_pomp2_omp_find();
    return ompp_pomp2_omp.get_max_threads();
}

/* ---- Tasks ------------------------------------------------------------------------------------------------------- */

OMPP_EXPORT void POMP2_Task_create_begin(POMP2_Region_handle *handle, POMP2_Task_handle *new_task,
                                         POMP2_Task_handle *old_task, int if_clause, const char ctc[])
{
    (void)if_clause;
    *old_task = 0;
    *new_task = (POMP2_Task_handle)ompp_event_task_creating(first(handle, ctc)->ref);
}

OMPP_EXPORT void POMP2_Task_create_end(POMP2_Region_handle *handle, POMP2_Task_handle old_task)
{
    (void)old_task;
    leave_brief(handle);
}

OMPP_EXPORT void POMP2_Untied_task_create_begin(POMP2_Region_handle *handle, POMP2_Task_handle *new_task,
                                                POMP2_Task_handle *old_task, int if_clause, const char ctc[])
{
    POMP2_Task_create_begin(handle, new_task, old_task, if_clause, ctc);
}

OMPP_EXPORT void POMP2_Untied_task_create_end(POMP2_Region_handle *handle, POMP2_Task_handle old_task)
{
    POMP2_Task_create_end(handle, old_task);
}

OMPP_EXPORT void ompp_pomp2_task_begin(POMP2_Task_handle *task)
{
    ompp_task_t running = (ompp_task_t)*task;

    ompp_event_task_begin_brief(&running);
    *task = (POMP2_Task_handle)running;
}

OMPP_EXPORT void ompp_pomp2_task_end(POMP2_Task_handle task) { ompp_event_task_end_brief((ompp_task_t)task); }

/* Tasks run nested on the thread's stack here (libgomp never moves one), so the innermost one is the one that ends. */
OMPP_EXPORT void POMP2_Task_begin(POMP2_Region_handle *handle, POMP2_Task_handle task)
{
    (void)handle;
    if (!self.tasks || self.ntasks == OMPP_POMP2_TASKS) {
        ompp_pomp2_tasks_t *inner =
            self.tasks && self.tasks->inner ? self.tasks->inner : ompp_pomp2_tasks_new(self.tasks);
        if (!inner) return;
        self.tasks = inner;
        self.ntasks = 0;
    }
    ompp_pomp2_task_begin(&task);
    self.tasks->task[self.ntasks++] = (ompp_task_t)task;
}

OMPP_EXPORT void POMP2_Task_end(POMP2_Region_handle *handle)
{
    (void)handle;
    if (!self.tasks) return;
    if (self.ntasks == 0 && self.tasks->outer) {
        self.tasks = self.tasks->outer;
        self.ntasks = OMPP_POMP2_TASKS;
    }
    if (self.ntasks > 0) ompp_pomp2_task_end((POMP2_Task_handle)self.tasks->task[--self.ntasks]);
}

OMPP_EXPORT void POMP2_Untied_task_begin(POMP2_Region_handle *handle, POMP2_Task_handle task)
{
    POMP2_Task_begin(handle, task);
}

OMPP_EXPORT void POMP2_Untied_task_end(POMP2_Region_handle *handle) { POMP2_Task_end(handle); }

/* ---- User regions ------------------------------------------------------------------------------------------------ */

OMPP_EXPORT void POMP2_Begin(POMP2_USER_Region_handle *handle, const char ctc[]) { enter(handle, ctc); }

OMPP_EXPORT void POMP2_End(POMP2_USER_Region_handle *handle) { leave(handle); }
