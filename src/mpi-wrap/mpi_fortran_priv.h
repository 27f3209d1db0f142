/**
 * \file
 * What the wrappers of MPI's Fortran bindings have beside those of C. Private to mpi-wrap.
 */
#ifndef OMPP_MPI_FORTRAN_PRIV_H
#define OMPP_MPI_FORTRAN_PRIV_H

#include "mpi-wrap/mpi_bytes_priv.h"
#include "mpi-wrap/mpi_wrap_priv.h"

/* ---- The functions behind ---------------------------------------------------------------------------------------- */

extern const char *const ompp_mpi_libraries_f[]; /* sonames of MPI's Fortran libraries, NULL-terminated */

/**
 * \brief The profiling name of a binding (pmpi_x_), or, where MPI has none, the binding itself behind us.
 * \param[in]  symbol     mpi_x_ or mpi_x_f08_..., static text.
 * \param[in]  code       return address in the program.
 * \param[in]  libraries  ompp_mpi_libraries_f.
 * \param[out] known      gets the function for the next call.
 * \return never NULL. Takes the loader's lock; keeps errno.
 */
void *ompp_mpi_real_slow(void **known, const char *symbol, const void *code, const char *const libraries[]);

static inline void *ompp_mpi_real(void **known, const char *symbol, const void *code)
{
    void *function = __atomic_load_n(known, __ATOMIC_ACQUIRE);

    if (__builtin_expect(function != NULL, 1)) return function;
    return ompp_mpi_real_slow(known, symbol, code, ompp_mpi_libraries_f);
}

/** Declares ompp_real, the function that the wrapper stands for. First line of a wrapper. */
#define OMPP_MPI_REAL(symbol) \
    static void *ompp_known;  \
    __typeof__(symbol) *const ompp_real = ompp_mpi_real(&ompp_known, #symbol, __builtin_return_address(0))

/** The same wrapper under the name that another compiler gives it. */
#define OMPP_MPI_SPELLING(other, symbol) OMPP_MPI_API __typeof__(symbol) other __attribute__((alias(#symbol)))

/* ---- The guard --------------------------------------------------------------------------------------------------- */

/** \brief Takes the guard. \return false when a call of MPI has it already. */
static inline bool ompp_mpi_hold(const void *code, uintptr_t frame)
{
    if (!ompp_mpi_outermost(code, frame)) return false;
    ompp_mpi_guard = (ompp_mpi_guard_t){frame, code};
    return true;
}

static inline void ompp_mpi_release(bool guarded)
{
    if (guarded) ompp_mpi_guard.frame = 0;
}

/** \brief ompp_mpi_begin_inquiry(), with the guard held, if need be, also while the call is only counted. */
static inline __attribute__((always_inline)) bool ompp_mpi_begin_inquiry_f(ompp_mpi_call_t *call, const void *code,
                                                                           uintptr_t frame, const char *name)
{
    if (!OMPP_MPI_FORTRAN_CALLS_C) return ompp_mpi_begin_inquiry(call, code, frame, name);
    if (ompp_mpi_mode & OMPP_MPI_INQUIRY) return ompp_mpi_begin(call, code, frame, name);
    call->region = 0;
    return ompp_mpi_count(code, frame, name) && ompp_mpi_hold(code, frame);
}

static inline void ompp_mpi_end_inquiry_f(ompp_mpi_call_t *call)
{
    if (call->region) ompp_mpi_end(call, ompp_event_now());
    else ompp_mpi_release(true);
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

enum { OMPP_MPI_IN_PLACES = 2 };

/** Addresses that mean MPI_IN_PLACE in this process's Fortran; NULL = none. Known after the first
 * ompp_mpi_real_slow(). */
extern const void *ompp_mpi_in_place_f[OMPP_MPI_IN_PLACES];

/** \brief The C value of a choice buffer as far as byte rules are concerned: MPI_IN_PLACE is told by its address. */
static inline const void *ompp_mpi_buffer_f(const void *buffer)
{
    for (int i = 0; i < OMPP_MPI_IN_PLACES; i++)
        if (buffer && buffer == ompp_mpi_in_place_f[i]) return MPI_IN_PLACE;
    return buffer;
}

/** \brief The same for a buffer that comes as descriptor (CFI_cdesc_t), whose first member is the address. */
static inline const void *ompp_mpi_described_f(const void *descriptor)
{
    return ompp_mpi_buffer_f(*(const void *const *)descriptor);
}

/** \brief ompp_mpi_request_add() for Fortran's handles. */
void ompp_mpi_request_add_f(int number, const MPI_Fint requests[], ompp_mpi_values_t values);

#endif
