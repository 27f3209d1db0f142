/**
 * \file
 * The switches and the guard of the wrappers (mpi_wrap_priv.h), and what happens when the first MPI call is not
 * MPI_Init.
 */
#include "mpi-wrap/mpi_wrap_priv.h"

#include "base/ompp_env.h"
#include "model/ompp_profile.h"
#include "process/ompp_lifecycle.h"

#include <pthread.h>

unsigned ompp_mpi_unusual = OMPP_MPI_ASK;
unsigned ompp_mpi_mode;
__thread ompp_mpi_guard_t ompp_mpi_guard __attribute__((tls_model("initial-exec"), visibility("hidden")));

static bool runs;

bool ompp_mpi_runs(void) { return runs; }

static void ask(void)
{
    bool measures = false;

    runs = ompp_runtime_start();
    if (runs) {
        measures = !ompp_env.disable_mpi;
        ompp_mpi_mode = (ompp_env.mpi_bytes ? OMPP_MPI_BYTES : 0) | (ompp_env.mpi_inquiry ? OMPP_MPI_INQUIRY : 0);
        if (ompp_env.disable_mpi) ompp_event_coverage(OMPP_COVERAGE_MPI_OFF, NULL, "OMPP_DISABLE_MPI is set");
        ompp_mpi_found();
    }
    __atomic_store_n(&ompp_mpi_unusual, measures ? 0 : OMPP_MPI_OFF, __ATOMIC_RELEASE);
}

bool ompp_mpi_ask_slow(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    if (__atomic_load_n(&ompp_mpi_unusual, __ATOMIC_ACQUIRE) & OMPP_MPI_ASK) pthread_once(&once, ask);
    return !(ompp_mpi_unusual & OMPP_MPI_OFF);
}
