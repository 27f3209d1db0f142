/**
 * \file
 * The functions that Fortran code instrumented by OPARI2 calls: references become values, blank-padded texts become
 * strings, and the functions for C do the rest. Locks are in ompp_pomp2_lock_hot.c.
 */
#include "opari-bridge/ompp_fortran_priv.h"
#include "opari-bridge/ompp_pomp2_fortran_priv.h"

/* The text is only read while the handle has no region, so only then it is made a string. */
static inline bool has_region(POMP2_Region_handle *handle)
{
    const ompp_pomp2_region_t *region = __atomic_load_n(handle, __ATOMIC_ACQUIRE);

    return __builtin_expect(ompp_pomp2_is_known(region), 1);
}

#define OMPP_FORTRAN_ENTER(lower, upper, function)                                                          \
    OMPP_FORTRAN_NAMES(lower, upper, void, (POMP2_Region_handle * handle, const char *text, size_t length)) \
    {                                                                                                       \
        if (has_region(handle)) function(handle, "");                                                       \
        else ompp_pomp2_fortran_enter_slow(function, handle, text, length);                                 \
    }
#define OMPP_FORTRAN_PLAIN(lower, upper, function) \
    OMPP_FORTRAN_NAMES(lower, upper, void, (POMP2_Region_handle * handle)) { function(handle); }
#define OMPP_FORTRAN_OLD(lower, upper, function)                                                         \
    OMPP_FORTRAN_NAMES(lower, upper, void, (POMP2_Region_handle * handle, POMP2_Task_handle * old_task)) \
    {                                                                                                    \
        function(handle, old_task);                                                                      \
    }
#define OMPP_FORTRAN_OLD_ENTER(lower, upper, function)                                                                \
    OMPP_FORTRAN_NAMES(lower, upper, void,                                                                            \
                       (POMP2_Region_handle * handle, POMP2_Task_handle * old_task, const char *text, size_t length)) \
    {                                                                                                                 \
        if (has_region(handle)) function(handle, old_task, "");                                                       \
        else ompp_pomp2_fortran_old_enter_slow(function, handle, old_task, text, length);                             \
    }
#define OMPP_FORTRAN_TASK(lower, upper, function)                                                         \
    OMPP_FORTRAN_NAMES(lower, upper, void, (POMP2_Region_handle * handle, const POMP2_Task_handle *task)) \
    {                                                                                                     \
        function(handle, *task);                                                                          \
    }
#define OMPP_FORTRAN_CREATE(lower, upper, function)                                                               \
    OMPP_FORTRAN_NAMES(lower, upper, void,                                                                        \
                       (POMP2_Region_handle * handle, POMP2_Task_handle * new_task, POMP2_Task_handle * old_task, \
                        const int *if_clause, const char *text, size_t length))                                   \
    {                                                                                                             \
        if (!has_region(handle)) ompp_pomp2_fortran_region_slow(handle, text, length);                            \
        function(handle, new_task, old_task, *if_clause, "");                                                     \
    }
#define OMPP_FORTRAN_FORK(lower, upper, function)                                                   \
    OMPP_FORTRAN_NAMES(lower, upper, void,                                                          \
                       (POMP2_Region_handle * handle, const int *if_clause, const int *num_threads, \
                        POMP2_Task_handle *old_task, const char *text, size_t length))              \
    {                                                                                               \
        if (!has_region(handle)) ompp_pomp2_fortran_region_slow(handle, text, length);              \
        function(handle, *if_clause, *num_threads, old_task, "");                                   \
    }
#define OMPP_FORTRAN_NUMBER(lower, upper, function) \
    OMPP_FORTRAN_NAMES(lower, upper, int, (void)) { return function(); }
#include "opari-bridge/ompp_fortran.def"

/* What kinst-ompp makes of OPARI2's calls: with the variable that carries the team, as include/opari2/pomp2_lib.h does
 * for C. */

OMPP_FORTRAN_NAMES(ompp_f_fork, OMPP_F_FORK, void,
                   (POMP2_Region_handle * handle, const int *if_clause, const int *num_threads, POMP2_Task_handle *team,
                    const char *text, size_t length))
{
    (void)if_clause, (void)num_threads;
    if (!has_region(handle)) ompp_pomp2_fortran_region_slow(handle, text, length);
    ompp_pomp2_fork(handle, team, "");
}

OMPP_FORTRAN_NAMES(ompp_f_begin, OMPP_F_BEGIN, void, (POMP2_Region_handle * handle, const POMP2_Task_handle *team))
{
    ompp_pomp2_member_begin(handle, *team);
}

OMPP_FORTRAN_NAMES(ompp_f_join, OMPP_F_JOIN, void, (POMP2_Region_handle * handle, const POMP2_Task_handle *team))
{
    (void)handle;
    ompp_pomp2_join(*team);
}

/* A league is a team of the host; its threads are those of libgomp, which runs one team after the other. */
OMPP_FORTRAN_NAMES(ompp_f_teams, OMPP_F_TEAMS, void,
                   (POMP2_Region_handle * handle, POMP2_Task_handle *league, const char *text, size_t length))
{
    if (!has_region(handle)) ompp_pomp2_fortran_region_slow(handle, text, length);
    ompp_pomp2_fork(handle, league, "");
    ompp_pomp2_member_begin(handle, *league);
}

OMPP_FORTRAN_NAMES(ompp_f_teams_end, OMPP_F_TEAMS_END, void,
                   (POMP2_Region_handle * handle, const POMP2_Task_handle *league))
{
    POMP2_Parallel_end(handle);
    ompp_pomp2_join(*league);
}
