/**
 * \file
 * Processes of this machine, as the system describes them. Needs nothing.
 */
#ifndef OMPP_PROC_H
#define OMPP_PROC_H

#include <stdint.h>
#include <sys/types.h>

/**
 * \brief When a process started, in clock ticks since the machine did: with the process id it tells a process from an
 *        earlier one of the same number. exec does not change it.
 * \return 0 when there is no such process, it has ended already (zombie), or nothing is known of it.
 */
uint64_t ompp_proc_start(pid_t pid);

/**
 * \brief The PID namespace of this process, within which a process id means one process: containers have their own.
 * \return 0 when it is not known: no /proc, or that of another namespace.
 */
uint64_t ompp_proc_space(void);

/** The namespace that all others are in: who is there sees every process of the machine. */
#define OMPP_PROC_SPACE_ALL 0xEFFFFFFCu

typedef enum { OMPP_PROC_HIDDEN, OMPP_PROC_GONE, OMPP_PROC_THERE } ompp_proc_state_t;

/**
 * \brief Whether a process of this machine is still there.
 * \param[in] pid    its id in its own namespace.
 * \param[in] start  ompp_proc_start() of it, as seen by itself; 0 = not known.
 * \param[in] space  ompp_proc_space() of it.
 * \return OMPP_PROC_HIDDEN: it is, or was, in a namespace that is not seen from this one.
 */
ompp_proc_state_t ompp_proc_find(pid_t pid, uint64_t start, uint64_t space);

/** What a thread, or several, have had of processors, in ns since they began. */
typedef struct {
    uint64_t ran_ns;
    uint64_t waited_ns; /* ready to run, but the processors were others' */
} ompp_proc_queue_t;

/** \brief Adds the calling thread. Nothing where the system does not say (/proc/thread-self/schedstat). Keeps errno. */
void ompp_proc_queue_thread(ompp_proc_queue_t *sum);

/** \brief Adds all threads of the process that are alive. Keeps errno. */
void ompp_proc_queue_process(ompp_proc_queue_t *sum);

/** A set of processors. */
typedef struct {
    unsigned char bits[512];
} ompp_proc_cpus_t;

/** \brief Adds those that threads of this process may use, of all threads that are alive. Keeps errno. */
void ompp_proc_cpus_add(ompp_proc_cpus_t *cpus);

/** \brief How many they are. */
unsigned ompp_proc_cpus_count(const ompp_proc_cpus_t *cpus);

#endif
