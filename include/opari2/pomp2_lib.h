/**
 * \file
 * What code instrumented by OPARI2 2.0 calls at OpenMP constructs. Part of ompp; the names are the interface of OPARI2.
 *
 * Stands before the user's first line, whose feature-test macros (_GNU_SOURCE) must keep working, so it includes no
 * system header but omp.h, which OPARI2 deletes from the source. kinst-ompp leaves omp.h where the user wrote it (some
 * omp.h include stdlib.h) and defines OMPP_KINST; locks are therefore passed as void *.
 */
#ifndef OMPP_POMP2_LIB_H
#define OMPP_POMP2_LIB_H

#if defined(__GNUC__)
#pragma GCC system_header
#endif

#if defined(_OPENMP) && !defined(OMPP_KINST)
#include <omp.h>
#endif

#include "pomp2_user_lib.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef OPARI2_Region_handle POMP2_Region_handle;

/** Carries a task, or between fork and join the team, through the user's variables. */
#if defined(__INT64_TYPE__)
typedef __INT64_TYPE__ POMP2_Task_handle;
#else
typedef long long POMP2_Task_handle;
#endif

extern void POMP2_Assign_handle(POMP2_Region_handle *handle, const char ctc[]);
extern POMP2_Task_handle POMP2_Get_new_task_handle(void);
extern int POMP2_Lib_get_max_threads(void);

/* Constructs without tasks. */
extern void POMP2_Atomic_enter(POMP2_Region_handle *handle, const char ctc[]);
extern void POMP2_Atomic_exit(POMP2_Region_handle *handle);
extern void POMP2_Critical_enter(POMP2_Region_handle *handle, const char ctc[]);
extern void POMP2_Critical_exit(POMP2_Region_handle *handle);
extern void POMP2_Flush_enter(POMP2_Region_handle *handle, const char ctc[]);
extern void POMP2_Flush_exit(POMP2_Region_handle *handle);
extern void POMP2_For_enter(POMP2_Region_handle *handle, const char ctc[]);
extern void POMP2_For_exit(POMP2_Region_handle *handle);
extern void POMP2_Ordered_enter(POMP2_Region_handle *handle, const char ctc[]);
extern void POMP2_Ordered_exit(POMP2_Region_handle *handle);
extern void POMP2_Sections_enter(POMP2_Region_handle *handle, const char ctc[]);
extern void POMP2_Sections_exit(POMP2_Region_handle *handle);
extern void POMP2_Single_enter(POMP2_Region_handle *handle, const char ctc[]);
extern void POMP2_Single_exit(POMP2_Region_handle *handle);
extern void POMP2_Workshare_enter(POMP2_Region_handle *handle, const char ctc[]);
extern void POMP2_Workshare_exit(POMP2_Region_handle *handle);
extern void POMP2_Critical_begin(POMP2_Region_handle *handle);
extern void POMP2_Critical_end(POMP2_Region_handle *handle);
extern void POMP2_Ordered_begin(POMP2_Region_handle *handle);
extern void POMP2_Ordered_end(POMP2_Region_handle *handle);
extern void POMP2_Single_begin(POMP2_Region_handle *handle);
extern void POMP2_Single_end(POMP2_Region_handle *handle);
extern void POMP2_Master_begin(POMP2_Region_handle *handle, const char ctc[]);
extern void POMP2_Master_end(POMP2_Region_handle *handle);
extern void POMP2_Section_begin(POMP2_Region_handle *handle, const char ctc[]);
extern void POMP2_Section_end(POMP2_Region_handle *handle);

/* Teams. */
extern void POMP2_Parallel_fork(POMP2_Region_handle *handle, int if_clause, int num_threads,
                                POMP2_Task_handle *old_task, const char ctc[]);
extern void POMP2_Parallel_join(POMP2_Region_handle *handle, POMP2_Task_handle old_task);
extern void POMP2_Parallel_begin(POMP2_Region_handle *handle);
extern void POMP2_Parallel_end(POMP2_Region_handle *handle);
extern void POMP2_Barrier_enter(POMP2_Region_handle *handle, POMP2_Task_handle *old_task, const char ctc[]);
extern void POMP2_Barrier_exit(POMP2_Region_handle *handle, POMP2_Task_handle old_task);
extern void POMP2_Implicit_barrier_enter(POMP2_Region_handle *handle, POMP2_Task_handle *old_task);
extern void POMP2_Implicit_barrier_exit(POMP2_Region_handle *handle, POMP2_Task_handle old_task);

/* Tasks. */
extern void POMP2_Task_create_begin(POMP2_Region_handle *handle, POMP2_Task_handle *new_task,
                                    POMP2_Task_handle *old_task, int if_clause, const char ctc[]);
extern void POMP2_Task_create_end(POMP2_Region_handle *handle, POMP2_Task_handle old_task);
extern void POMP2_Task_begin(POMP2_Region_handle *handle, POMP2_Task_handle task);
extern void POMP2_Task_end(POMP2_Region_handle *handle);
extern void POMP2_Untied_task_create_begin(POMP2_Region_handle *handle, POMP2_Task_handle *new_task,
                                           POMP2_Task_handle *old_task, int if_clause, const char ctc[]);
extern void POMP2_Untied_task_create_end(POMP2_Region_handle *handle, POMP2_Task_handle old_task);
extern void POMP2_Untied_task_begin(POMP2_Region_handle *handle, POMP2_Task_handle task);
extern void POMP2_Untied_task_end(POMP2_Region_handle *handle);
extern void POMP2_Taskwait_begin(POMP2_Region_handle *handle, POMP2_Task_handle *old_task, const char ctc[]);
extern void POMP2_Taskwait_end(POMP2_Region_handle *handle, POMP2_Task_handle old_task);

/* Locks. */
extern void POMP2_Init_lock(void *lock);
extern void POMP2_Destroy_lock(void *lock);
extern void POMP2_Set_lock(void *lock);
extern void POMP2_Unset_lock(void *lock);
extern int POMP2_Test_lock(void *lock);
extern void POMP2_Init_nest_lock(void *lock);
extern void POMP2_Destroy_nest_lock(void *lock);
extern void POMP2_Set_nest_lock(void *lock);
extern void POMP2_Unset_nest_lock(void *lock);
extern int POMP2_Test_nest_lock(void *lock);

/*
 * OPARI2's calls at the begin of a team member and of a task do not say which team or task. The variable that knows is
 * in scope wherever OPARI2 puts the call, so these forms pass it on; the functions above, for objects built with
 * another header, search.
 */
extern void ompp_pomp2_fork(POMP2_Region_handle *handle, POMP2_Task_handle *team, const char ctc[]);
extern void ompp_pomp2_member_begin(POMP2_Region_handle *handle, POMP2_Task_handle team);
extern void ompp_pomp2_join(POMP2_Task_handle team);
extern void ompp_pomp2_task_begin(POMP2_Task_handle *task);
extern void ompp_pomp2_task_end(POMP2_Task_handle task);

/* The end of a taskgroup: the thread waits for its tasks from now on. OPARI2 has no call for it. */
extern void ompp_pomp2_await_tasks(POMP2_Region_handle *handle);

#ifndef OMPP_POMP2_NO_MACROS
#define POMP2_Parallel_fork(handle, if_clause, num_threads, old_task, ctc) ompp_pomp2_fork(handle, old_task, ctc)
#define POMP2_Parallel_begin(handle) ompp_pomp2_member_begin(handle, pomp2_old_task)
#define POMP2_Parallel_join(handle, old_task) ompp_pomp2_join(old_task)
#define POMP2_Task_begin(handle, task) ompp_pomp2_task_begin(&(task))
#define POMP2_Task_end(handle) ompp_pomp2_task_end(pomp2_new_task)
#define POMP2_Untied_task_begin(handle, task) ompp_pomp2_task_begin(&(task))
#define POMP2_Untied_task_end(handle) ompp_pomp2_task_end(pomp2_new_task)
#endif

#ifdef __cplusplus
}
#endif

#endif
