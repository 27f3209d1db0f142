/**
 * \file
 * The part of libompp-null.a that Fortran code calls.
 */
#define OMPP_POMP2_NO_MACROS
#define OMPP_KINST
#include "opari-bridge/ompp_fortran_priv.h"
#include "opari2/pomp2_lib.h"

#define OMPP_FORTRAN_ENTER(lower, upper, function)                                                          \
    OMPP_FORTRAN_NAMES(lower, upper, void, (POMP2_Region_handle * handle, const char *text, size_t length)) \
    {                                                                                                       \
        (void)handle, (void)text, (void)length;                                                             \
    }
#define OMPP_FORTRAN_PLAIN(lower, upper, function) \
    OMPP_FORTRAN_NAMES(lower, upper, void, (POMP2_Region_handle * handle)) { (void)handle; }
#define OMPP_FORTRAN_OLD(lower, upper, function)                                                         \
    OMPP_FORTRAN_NAMES(lower, upper, void, (POMP2_Region_handle * handle, POMP2_Task_handle * old_task)) \
    {                                                                                                    \
        (void)handle;                                                                                    \
        *old_task = 0;                                                                                   \
    }
#define OMPP_FORTRAN_OLD_ENTER(lower, upper, function)                                                                \
    OMPP_FORTRAN_NAMES(lower, upper, void,                                                                            \
                       (POMP2_Region_handle * handle, POMP2_Task_handle * old_task, const char *text, size_t length)) \
    {                                                                                                                 \
        (void)handle, (void)text, (void)length;                                                                       \
        *old_task = 0;                                                                                                \
    }
#define OMPP_FORTRAN_TASK(lower, upper, function)                                                         \
    OMPP_FORTRAN_NAMES(lower, upper, void, (POMP2_Region_handle * handle, const POMP2_Task_handle *task)) \
    {                                                                                                     \
        (void)handle, (void)task;                                                                         \
    }
#define OMPP_FORTRAN_CREATE(lower, upper, function)                                                               \
    OMPP_FORTRAN_NAMES(lower, upper, void,                                                                        \
                       (POMP2_Region_handle * handle, POMP2_Task_handle * new_task, POMP2_Task_handle * old_task, \
                        const int *if_clause, const char *text, size_t length))                                   \
    {                                                                                                             \
        (void)handle, (void)if_clause, (void)text, (void)length;                                                  \
        *new_task = *old_task = 0;                                                                                \
    }
#define OMPP_FORTRAN_FORK(lower, upper, function)                                                   \
    OMPP_FORTRAN_NAMES(lower, upper, void,                                                          \
                       (POMP2_Region_handle * handle, const int *if_clause, const int *num_threads, \
                        POMP2_Task_handle *old_task, const char *text, size_t length))              \
    {                                                                                               \
        (void)handle, (void)if_clause, (void)num_threads, (void)text, (void)length;                 \
        *old_task = 0;                                                                              \
    }
#define OMPP_FORTRAN_SWITCH(lower, upper, function) \
    OMPP_FORTRAN_NAMES(lower, upper, void, (void)) {}
#define OMPP_FORTRAN_REGION(lower, upper, f_lower, f_upper, function)                       \
    OMPP_FORTRAN_ALIASES(lower, upper, f_lower##_, void, (const char *name, size_t length)) \
    OMPP_FORTRAN_NAMES(f_lower, f_upper, void, (const char *name, size_t length)) { (void)name, (void)length; }
#define OMPP_FORTRAN_POINT OMPP_FORTRAN_REGION

OMPP_FORTRAN_FORK(ompp_f_fork, OMPP_F_FORK, )
OMPP_FORTRAN_TASK(ompp_f_begin, OMPP_F_BEGIN, )
OMPP_FORTRAN_TASK(ompp_f_join, OMPP_F_JOIN, )
OMPP_FORTRAN_OLD_ENTER(ompp_f_teams, OMPP_F_TEAMS, )
OMPP_FORTRAN_TASK(ompp_f_teams_end, OMPP_F_TEAMS_END, )
#include "opari-bridge/ompp_fortran.def"

OMPP_FORTRAN_NAMES(pomp_begin, POMP_BEGIN, void, (const int *id)) { (void)id; }

OMPP_FORTRAN_NAMES(pomp_end, POMP_END, void, (const int *id)) { (void)id; }

OMPP_FORTRAN_ALIASES(ompp_papi_set_drange, OMPP_PAPI_SET_DRANGE, ompp_f_papi_set_drange_, void,
                     (const void *data, const int *nbytes, const char *name, size_t length))
OMPP_FORTRAN_NAMES(ompp_f_papi_set_drange, OMPP_F_PAPI_SET_DRANGE, void,
                   (const void *data, const int *nbytes, const char *name, size_t length))
{
    (void)data, (void)nbytes, (void)name, (void)length;
}

OMPP_FORTRAN_NAMES(ompp_papi_set_drange8, OMPP_PAPI_SET_DRANGE8, void,
                   (const void *data, const long long *nbytes, const char *name, size_t length))
{
    (void)data, (void)nbytes, (void)name, (void)length;
}

OMPP_FORTRAN_ALIASES(ompp_release_drange, OMPP_RELEASE_DRANGE, ompp_f_release_drange_, void, (const void *data))
OMPP_FORTRAN_NAMES(ompp_f_release_drange, OMPP_F_RELEASE_DRANGE, void, (const void *data)) { (void)data; }

OMPP_FORTRAN_NAMES(ompp_f_inst_data, OMPP_F_INST_DATA, void,
                   (const char *name, const long long *nbytes, const void *const *data, size_t length))
{
    (void)name, (void)nbytes, (void)data, (void)length;
}
