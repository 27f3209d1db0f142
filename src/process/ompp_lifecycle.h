/**
 * \file
 * Start and end of measurement in a process.
 *
 * Start: the first event, or ompp_runtime_start(). End: ompp_runtime_finalize() in MPI_Finalize, else at exit of the
 * process.
 */
#ifndef OMPP_LIFECYCLE_H
#define OMPP_LIFECYCLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Seen by the other libraries in the process. */
#pragma GCC visibility push(default)

/**
 * How the runtime reaches MPI without seeing mpi.h: functions over the communicator that src/mpi-wrap duplicated at
 * MPI_Init. They return 0 or -OMPP_E_MPI / -OMPP_E_TIMEOUT. Messages are plain bytes, delivered in order per pair of
 * ranks.
 */
typedef struct {
    int rank, size;
    const int *world;                     /* [size] their ranks in MPI_COMM_WORLD; NULL = the same */
    int (*agree)(double timeout_seconds); /* collective: all ranks are here */
    int (*send)(int to, const void *data, uint64_t bytes);
    int (*receive_size)(int from, uint64_t *bytes);
    int (*receive)(int from, void *data, uint64_t bytes);
    void (*compare)(void); /* all ranks are here: what they settle together before profiles are made; NULL = nothing */
} ompp_reduce_t;

/** What ompp_runtime_own_begin() has seen. */
typedef struct {
    uint64_t t_ns, user_ns, system_ns;
    /* of the rank, then: what has been left out meanwhile is not left out twice */
    uint64_t begin_ns, user0_ns, system0_ns;
} ompp_own_t;

/**
 * \brief Our own start goes on from here on (files are searched, counters opened): it is nobody's time. May start
 *        measurement.
 */
ompp_own_t ompp_runtime_own_begin(void);

/** \brief It is over. As long as no thread is measured, the rank's time begins that much later, which leaves it out. */
void ompp_runtime_own_end(const ompp_own_t *own);

/**
 * \brief Has a function called when measurement has started, on the thread that started it; at once when it runs
 *        already.
 * \note One function in the process: the last one given.
 */
void ompp_runtime_at_start(void (*callback)(void));

/** \brief The report's header gets one more setting of the run. */
void ompp_runtime_keep_setting(const char *name, const char *value);

/** \brief MPI_Init is done: tells rank and size; from now on the report is made by ompp_runtime_finalize(). */
void ompp_runtime_mpi(int rank, int size);

/**
 * \brief Directories of this node where files of a run may be, best first; NULL behind the last. The strings are not
 *        the caller's.
 */
void ompp_runtime_node_dirs(const char *dirs[4]);

/** \brief The directory for reports: as the user wrote it, seen from where the program started. */
void ompp_runtime_report_dir(char *dir, size_t n);

/**
 * \brief Name of this run that all its ranks have agreed upon: joins what they leave behind when it does not end well.
 */
void ompp_runtime_job(const char *name);

/**
 * \brief Ends measurement, reduces over all ranks, writes the report on rank 0. Call on entering MPI_Finalize, before
 *        PMPI_Finalize.
 * \note Collective over reduce. Never fails: what cannot be done is said once, and the local profile is left.
 */
void ompp_runtime_finalize(const ompp_reduce_t *reduce);

/** \brief MPI is finalized, so rank 0 has written the report: removes the file that holds this rank's profile. */
void ompp_runtime_leave(void);

/** \brief The part of ompp_runtime_finalize() of a rank that is not measured although the others are. */
void ompp_runtime_absent(const ompp_reduce_t *reduce);

/** \brief Writes a local report of this process now; not collective. \param[in] final  nothing follows (MPI_Abort). */
void ompp_runtime_dump(bool final, const char *why);

#pragma GCC visibility pop

/** \brief Starts measurement, if nobody has; for ompp_runtime_hooks. \note Threads: any. */
void ompp_runtime_start_once(void);

/** \brief Before the first thread is measured: opens the parts that were asked for; for ompp_runtime_hooks. */
void ompp_runtime_thread_begins(void);

#endif
