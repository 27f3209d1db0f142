/**
 * \file
 * The switches and the guard of the wrappers (mpi_wrap_priv.h), this process in MPI_COMM_WORLD, and what happens when
 * the first MPI call is not MPI_Init.
 */
#include "mpi-wrap/mpi_wrap_priv.h"

#include "base/ompp_caller.h"
#include "base/ompp_env.h"
#include "base/ompp_log.h"
#include "model/ompp_profile.h"
#include "process/ompp_lifecycle.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

unsigned ompp_mpi_unusual = OMPP_MPI_ASK;
unsigned ompp_mpi_mode;
ompp_mpi_world_t ompp_mpi_world;
__thread ompp_mpi_guard_t ompp_mpi_guard __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* ---- This process in MPI_COMM_WORLD ------------------------------------------------------------------------------ */

bool ompp_mpi_is_alive(void)
{
    int begun = 0, ended = 0;

    PMPI_Initialized(&begun);
    PMPI_Finalized(&ended);
    return begun && !ended;
}

/*
 * A launcher of another MPI starts processes of which each takes itself for the only one. Of launchers in one another,
 * the inner one may rightly have started one.
 */
static void note_alien_launcher(void)
{
    static const struct {
        const char *size, *rank;
    } launchers[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, {"PMI_SIZE", "PMI_RANK"}};
    const char *variable = NULL, *rank = NULL;
    int started = 1;
    char reason[80];

    for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++) {
        const char *text = ompp_env_foreign(launchers[i].size);
        if (text && atoi(text) <= 1) return;
        if (!text) continue;
        started = atoi(text);
        variable = launchers[i].size;
        rank = ompp_env_foreign(launchers[i].rank);
    }
    if (!variable) return;
    snprintf(reason, sizeof reason, "its launcher started %d processes (%s)", started, variable);
    ompp_event_coverage(OMPP_COVERAGE_NOTE, "MPI_COMM_WORLD has one rank", reason);
    if (rank && atoi(rank) > 0) return; /* each is rank 0: the first of them says it */
    ompp_warn_common("use mpirun of the program's MPI ('ompp doctor' in front of the line says which): the launcher is "
                     "of another MPI, and each of its %d processes (%s) is rank 0 of 1 and writes its own report",
                     started, variable);
}

void ompp_mpi_learn_rank(void)
{
    const bool again = ompp_mpi_world.known;

    if (PMPI_Comm_rank(MPI_COMM_WORLD, &ompp_mpi_world.rank) != MPI_SUCCESS) return;
    if (PMPI_Comm_size(MPI_COMM_WORLD, &ompp_mpi_world.size) != MPI_SUCCESS) return;
    ompp_mpi_world.known = true;
    ompp_runtime_mpi(ompp_mpi_world.rank, ompp_mpi_world.size);
    if (ompp_mpi_world.size == 1 && !again) note_alien_launcher();
}

/* ---- The first call ---------------------------------------------------------------------------------------------- */

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
        if (ompp_mpi_is_alive()) ompp_mpi_learn_rank(); /* loaded late */
    }
    __atomic_store_n(&ompp_mpi_unusual, measures ? 0 : OMPP_MPI_OFF, __ATOMIC_RELEASE);
}

static void ask_once(void *once) { pthread_once(once, ask); }

bool ompp_mpi_ask_slow(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    if (__atomic_load_n(&ompp_mpi_unusual, __ATOMIC_ACQUIRE) & OMPP_MPI_ASK) {
        ompp_runtime_start(); /* who waits for another thread's start does so here, where its signals come */
        ompp_caller_run(ask_once, &once);
    }
    return !(ompp_mpi_unusual & OMPP_MPI_OFF);
}
