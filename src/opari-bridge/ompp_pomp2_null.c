/**
 * \file
 * libompp-null.a: the functions that instrumented code calls, doing nothing but the program's own work (locks).
 * kinst-ompp links it where libompp.so cannot be linked (-static), so that a build that works without the wrapper works
 * with it.
 */
#define OMPP_POMP2_NO_MACROS
#define OMPP_KINST
#define OMPP_IMPLEMENTATION
#include "ompp.h"
#include "opari2/pomp2_lib.h"

#define ENTER(name) \
    void POMP2_##name(POMP2_Region_handle *handle, const char ctc[]) { (void)handle, (void)ctc; }
#define PLAIN(name) \
    void POMP2_##name(POMP2_Region_handle *handle) { (void)handle; }
#define SWITCH(name) \
    void name(void) {}
#define NAME(name) \
    void name(const char *text) { (void)text; }
#define OLD_ENTER(name)                                                                           \
    void POMP2_##name(POMP2_Region_handle *handle, POMP2_Task_handle *old_task, const char ctc[]) \
    {                                                                                             \
        (void)handle, (void)ctc;                                                                  \
        *old_task = 0;                                                                            \
    }
#define OLD_EXIT(name) \
    void POMP2_##name(POMP2_Region_handle *handle, POMP2_Task_handle task) { (void)handle, (void)task; }
#define CREATE(name)                                                                                         \
    void POMP2_##name(POMP2_Region_handle *handle, POMP2_Task_handle *new_task, POMP2_Task_handle *old_task, \
                      int if_clause, const char ctc[])                                                       \
    {                                                                                                        \
        (void)handle, (void)if_clause, (void)ctc;                                                            \
        *new_task = *old_task = 0;                                                                           \
    }

ENTER(Assign_handle)
ENTER(USER_Assign_handle)
ENTER(Begin)
PLAIN(End)
ENTER(Atomic_enter)
PLAIN(Atomic_exit)
ENTER(Critical_enter)
PLAIN(Critical_begin)
PLAIN(Critical_end)
PLAIN(Critical_exit)
ENTER(Flush_enter)
PLAIN(Flush_exit)
ENTER(For_enter)
PLAIN(For_exit)
ENTER(Ordered_enter)
PLAIN(Ordered_begin)
PLAIN(Ordered_end)
PLAIN(Ordered_exit)
ENTER(Sections_enter)
ENTER(Section_begin)
PLAIN(Section_end)
PLAIN(Sections_exit)
ENTER(Single_enter)
PLAIN(Single_begin)
PLAIN(Single_end)
PLAIN(Single_exit)
ENTER(Workshare_enter)
PLAIN(Workshare_exit)
ENTER(Master_begin)
PLAIN(Master_end)
PLAIN(Parallel_begin)
PLAIN(Parallel_end)
OLD_EXIT(Parallel_join)
OLD_ENTER(Barrier_enter)
OLD_EXIT(Barrier_exit)
OLD_EXIT(Implicit_barrier_exit)
OLD_ENTER(Taskwait_begin)
OLD_EXIT(Taskwait_end)
CREATE(Task_create_begin)
OLD_EXIT(Task_create_end)
OLD_EXIT(Task_begin)
PLAIN(Task_end)
CREATE(Untied_task_create_begin)
OLD_EXIT(Untied_task_create_end)
OLD_EXIT(Untied_task_begin)
PLAIN(Untied_task_end)
SWITCH(POMP2_Init)
SWITCH(POMP2_Finalize)
SWITCH(POMP2_On)
SWITCH(POMP2_Off)
SWITCH(POMP_Init)
SWITCH(POMP_Finalize)
SWITCH(POMP_On)
SWITCH(POMP_Off)
SWITCH(OMPP_Dump)
NAME(ompp_region_begin)
NAME(ompp_region_end)
NAME(ompp_progress)
NAME(ompp_progress_begin)
NAME(ompp_progress_end)

void ompp_region_begin_at(const char *name, const char *file, unsigned line) { (void)name, (void)file, (void)line; }

void POMP_Begin(struct ompregdescr *region) { (void)region; }

void POMP_End(struct ompregdescr *region) { (void)region; }

void ompp_papi_set_drange(void *address, size_t size, const char *name) { (void)address, (void)size, (void)name; }

void OMPP_papi_set_drange(void *address, size_t size, const char *name) { (void)address, (void)size, (void)name; }

void ompp_release_drange(void *address) { (void)address; }

void ompp_pragma_data(void *address, size_t size, const char *name) { (void)address, (void)size, (void)name; }

void POMP2_Implicit_barrier_enter(POMP2_Region_handle *handle, POMP2_Task_handle *old_task)
{
    (void)handle;
    *old_task = 0;
}

void POMP2_Parallel_fork(POMP2_Region_handle *handle, int if_clause, int num_threads, POMP2_Task_handle *old_task,
                         const char ctc[])
{
    (void)handle, (void)if_clause, (void)num_threads, (void)ctc;
    *old_task = 0;
}

void ompp_pomp2_fork(POMP2_Region_handle *handle, POMP2_Task_handle *team, const char ctc[])
{
    (void)handle, (void)ctc;
    *team = 0;
}

void ompp_pomp2_member_begin(POMP2_Region_handle *handle, POMP2_Task_handle team) { (void)handle, (void)team; }

void ompp_pomp2_join(POMP2_Task_handle team) { (void)team; }

void ompp_pomp2_task_begin(POMP2_Task_handle *task) { (void)task; }

void ompp_pomp2_task_end(POMP2_Task_handle task) { (void)task; }

void ompp_pomp2_await_tasks(POMP2_Region_handle *handle) { (void)handle; }

POMP2_Task_handle POMP2_Get_new_task_handle(void) { return 0; }
