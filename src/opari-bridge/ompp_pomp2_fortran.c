/**
 * \file
 * The parts of the OPARI2 bridge for Fortran that run rarely, and the user API's functions for Fortran.
 */
#include "opari-bridge/ompp_fortran_priv.h"
#include "opari-bridge/ompp_pomp2_fortran_priv.h"
#include "opari-bridge/ompp_user_api_priv.h"

#define OMPP_IMPLEMENTATION
#include "ompp.h"

#include "base/ompp_caller.h"
#include "data/ompp_data.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_SIZE = PATH_MAX + 1024 };

/* A string of a Fortran text: without the blanks at its end. */
static void copy(char *to, size_t size, const char *text, size_t length)
{
    while (length > 0 && text[length - 1] == ' ') length--;
    if (length > size - 1) length = size - 1;
    memcpy(to, text, length);
    to[length] = '\0';
}

typedef struct {
    POMP2_Region_handle *handle;
    const char *text;
    size_t length;
} described_t;

static void define_described(void *described)
{
    const described_t *d = described;
    char string[TEXT_SIZE] = "";

    copy(string, sizeof string, d->text, d->length);
    ompp_pomp2_region_slow(d->handle, string);
}

void ompp_pomp2_fortran_region_slow(POMP2_Region_handle *handle, const char *text, size_t length)
{
    const ompp_pomp2_region_t *region = __atomic_load_n(handle, __ATOMIC_ACQUIRE);
    described_t described = {handle, text, length};

    if (region && (region->forks || ompp_event_now() < __atomic_load_n(&region->retry_at, __ATOMIC_RELAXED))) return;
    ompp_caller_run(define_described, &described);
}

void ompp_pomp2_fortran_enter_slow(void (*event)(POMP2_Region_handle *, const char *), POMP2_Region_handle *handle,
                                   const char *text, size_t length)
{
    ompp_pomp2_fortran_region_slow(handle, text, length);
    event(handle, "");
}

void ompp_pomp2_fortran_old_enter_slow(void (*event)(POMP2_Region_handle *, POMP2_Task_handle *, const char *),
                                       POMP2_Region_handle *handle, POMP2_Task_handle *old_task, const char *text,
                                       size_t length)
{
    ompp_pomp2_fortran_region_slow(handle, text, length);
    event(handle, old_task, "");
}

/* ---- Switches, names --------------------------------------------------------------------------------------------- */

#define OMPP_FORTRAN_SWITCH(lower, upper, function) \
    OMPP_FORTRAN_NAMES(lower, upper, void, (void)) { function(); }
#define NAMED(lower, upper, f_lower, f_upper, call)                                         \
    OMPP_FORTRAN_ALIASES(lower, upper, f_lower##_, void, (const char *name, size_t length)) \
    OMPP_FORTRAN_NAMES(f_lower, f_upper, void, (const char *name, size_t length))           \
    {                                                                                       \
        char string[1024];                                                                  \
        copy(string, sizeof string, name, length);                                          \
        call;                                                                               \
    }
#define OMPP_FORTRAN_REGION(lower, upper, f_lower, f_upper, function) \
    NAMED(lower, upper, f_lower, f_upper, function(string, __builtin_return_address(0)))
#define OMPP_FORTRAN_POINT(lower, upper, f_lower, f_upper, function) \
    NAMED(lower, upper, f_lower, f_upper, function(string))
#include "opari-bridge/ompp_fortran.def"

/* ompP's: a number of a table that OPARI 1 wrote. Without that table the number is the name. */
OMPP_FORTRAN_NAMES(pomp_begin, POMP_BEGIN, void, (const int *id))
{
    char name[16];

    snprintf(name, sizeof name, "%d", *id);
    ompp_named_begin(name, __builtin_return_address(0));
}

OMPP_FORTRAN_NAMES(pomp_end, POMP_END, void, (const int *id))
{
    char name[16];

    snprintf(name, sizeof name, "%d", *id);
    ompp_named_end(name, __builtin_return_address(0));
}

/* A number of bytes between 2 and 4 GiB has become negative on its way. Larger ones need ompp_papi_set_drange8. */
OMPP_FORTRAN_ALIASES(ompp_papi_set_drange, OMPP_PAPI_SET_DRANGE, ompp_f_papi_set_drange_, void,
                     (const void *data, const int *nbytes, const char *name, size_t length))
OMPP_FORTRAN_NAMES(ompp_f_papi_set_drange, OMPP_F_PAPI_SET_DRANGE, void,
                   (const void *data, const int *nbytes, const char *name, size_t length))
{
    char string[1024];

    copy(string, sizeof string, name, length);
    ompp_data_add(data, (unsigned)*nbytes, string, "ompp_papi_set_drange");
}

OMPP_FORTRAN_NAMES(ompp_papi_set_drange8, OMPP_PAPI_SET_DRANGE8, void,
                   (const void *data, const int64_t *nbytes, const char *name, size_t length))
{
    char string[1024];

    copy(string, sizeof string, name, length);
    if (*nbytes > 0) ompp_data_add(data, (size_t)*nbytes, string, "ompp_papi_set_drange");
}

OMPP_FORTRAN_ALIASES(ompp_release_drange, OMPP_RELEASE_DRANGE, ompp_f_release_drange_, void, (const void *data))
OMPP_FORTRAN_NAMES(ompp_f_release_drange, OMPP_F_RELEASE_DRANGE, void, (const void *data)) { ompp_data_release(data); }

/*
 * What kinst-ompp makes of !$POMP INST DATA. The variable comes as a descriptor (type(*), dimension(..)), which begins
 * with its address: so it may have any type, the compiler makes no copy of a section, and one that is not allocated is
 * NULL. It comes last, for a text has its length behind all arguments.
 */
OMPP_FORTRAN_NAMES(ompp_f_inst_data, OMPP_F_INST_DATA, void,
                   (const char *name, const int64_t *nbytes, const void *const *data, size_t length))
{
    char string[1024];

    copy(string, sizeof string, name, length);
    if (*nbytes > 0) ompp_data_add(*data, (size_t)*nbytes, string, "pragma inst data");
}
