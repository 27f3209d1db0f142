/**
 * \file
 * Whether a call of MPI is made inside another one, when the guard of the wrappers says that there is one.
 *
 * A call is left without returning when an error handler jumps out of it (longjmp, a C++ exception): the guard is then
 * held by nobody. A wrapper whose frame does not lie below the holder's shows that at once. One whose frame does may be
 * nested in the call, or stand where the stack has grown again: then the stack is unwound to see whether the holder's
 * caller still waits for it. This is needed for calls out of callbacks alone; those that an MPI library makes itself
 * (MPICH's Fortran calls its C functions) are nested.
 */
#define _GNU_SOURCE
#include "mpi-wrap/mpi_wrap_priv.h"

#include <errno.h>
#include <stdatomic.h>
#include <unwind.h>

/* ---- Code of MPI libraries --------------------------------------------------------------------------------------- */

#define MAX_LIBRARIES 8

/* Code of modules that called from inside MPI before, and are MPI's. Entries are added, by whoever comes first. */
static struct {
    uintptr_t low;
    _Atomic uintptr_t high; /* 0 = free; set last */
} libraries[MAX_LIBRARIES];

typedef struct {
    uintptr_t address, low, high;
} search_t;

/* Not in the program: what is linked into it is not told apart. */
static int find_library(struct dl_phdr_info *info, size_t size, void *data)
{
    search_t *search = data;
    ompp_dso_t module;

    (void)size;
    if (!ompp_dso_read(info, &module) || !*module.path || !ompp_dso_has(&module, (const void *)search->address) ||
        !ompp_mpi_is_library(&module))
        return 0;
    for (unsigned i = 0; i < module.nheaders; i++) {
        const uintptr_t low = module.base + module.headers[i].p_vaddr, high = low + module.headers[i].p_memsz;
        if (module.headers[i].p_type != PT_LOAD || search->address < low || search->address >= high) continue;
        search->low = low;
        search->high = high;
    }
    return 1;
}

static void keep(const search_t *found)
{
    static _Atomic unsigned count;
    const unsigned i = atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);

    if (i >= MAX_LIBRARIES) return;
    libraries[i].low = found->low;
    atomic_store_explicit(&libraries[i].high, found->high, memory_order_release);
}

static bool is_in_mpi(const void *code)
{
    search_t search = {.address = (uintptr_t)code};

    for (int i = 0; i < MAX_LIBRARIES; i++) {
        const uintptr_t high = atomic_load_explicit(&libraries[i].high, memory_order_acquire);
        if (high && search.address < high && search.address >= libraries[i].low) return true;
    }
    dl_iterate_phdr(find_library, &search);
    if (search.high) keep(&search);
    return search.high != 0;
}

/* ---- The stack --------------------------------------------------------------------------------------------------- */

typedef struct {
    ompp_mpi_guard_t holder;
    bool passed, waits; /* the holder's place was reached; its caller is there */
} unwound_t;

/* The first frame whose callee's lies above the holder's is that of the holder's caller, if that waits. */
static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *data)
{
    unwound_t *u = data;

    if ((uintptr_t)_Unwind_GetCFA(context) <= u->holder.frame) return _URC_NO_REASON;
    u->passed = true;
    u->waits = _Unwind_GetIP(context) == (uintptr_t)u->holder.code;
    return _URC_END_OF_STACK;
}

/* Code that cannot be unwound hides what is above it: then the call is taken for nested. */
static bool holder_waits(void)
{
    unwound_t u = {.holder = ompp_mpi_guard};

    _Unwind_Backtrace(visit, &u);
    return u.waits || !u.passed;
}

/* The call in the guard was left by a jump: there is at most one open region of a call. */
static void abandon(void)
{
    ompp_mpi_guard.frame = 0;
    ompp_event_exit(ompp_event_innermost(OMPP_CONSTRUCT_MPI), ompp_event_now());
}

bool ompp_mpi_nested_slow(const void *code, uintptr_t frame)
{
    const int saved = errno;
    const bool nested = frame < ompp_mpi_guard.frame && (is_in_mpi(code) || holder_waits());

    if (!nested) abandon();
    errno = saved;
    return nested;
}
