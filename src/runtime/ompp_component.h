/**
 * \file
 * The contract of components: parts that follow what the program does, and put what they find into the profile.
 * Counters, load/store hooks, samples of accesses and virtual clocks are components. Each is one struct; what is NULL
 * in it is not wanted. tests/fakes/null_component.c is a complete one to copy.
 *
 * A component that is in libompp stands in ompp_builtin_components (src/lib). One that needs another library is a
 * plug-in: a library that exports ompp_components (process/ompp_plugin.h). Those that count for data structures wait
 * until they are chosen (data/ompp_data.h), the others are started when the first thread is measured.
 *
 * None of these functions may end the program, print more than one line, change errno or the floating-point
 * environment, or call MPI: ranks have not agreed on anything here, and values are reduced with the profile.
 */
#ifndef OMPP_COMPONENT_H
#define OMPP_COMPONENT_H

#include "runtime/ompp_meter.h"
#include "runtime/ompp_sync.h"

typedef struct ompp_component {
    const char *name; /* for messages; of one that counts for data structures: a word of OMPP_DATA_BACKEND */
    /**
     * Once, on the first thread that is measured, with events of that thread ignored: registers metrics
     * (ompp_metric.h). It may allocate, open files and take its time.
     * \param[out] why  when it cannot work: the reason in words, shape [n]; "" = nobody has asked for it.
     */
    bool (*start)(char *why, size_t n);

    /* Threads. What they count goes to ompp_meter_values(). */

    /**
     * A thread comes; called on it.
     * \return the state passed to the functions below; NULL = this thread is not followed by it.
     */
    void *(*thread_begin)(void);
    /**
     * The thread's place changes; from and to are equal when only the counts so far are wanted.
     * No lock, no allocation (ompp_meter_values takes what it needs from the arena).
     */
    void (*move)(void *state, ompp_place_now_t from, ompp_place_now_t to);
    /** The thread is over; called on it, after a last move to the place {0}. */
    void (*thread_end)(void *state);
    /**
     * What it counts can be read on another thread: threads that live when measurement ends are moved, from and to
     * equal, on the thread that ends it. ompp_meter_values() is about the moved thread meanwhile.
     */
    bool readable;

    /* What else it follows. Any thread, also inside events of the runtime. */

    /**
     * The bytes begin <= address < end belong to this data structure from now on; 0 = to none. This starts and stops
     * counting for a structure, while the program's threads run; one call at a time. It is told of the ranges there are
     * before it is started.
     */
    void (*put)(uint32_t object, uintptr_t begin, uintptr_t end);
    /** The program has got a block from another library than the C library, at `code`, which has stored its address to
     * `word` (or NULL); gives it back. */
    void (*got)(const void *block, size_t size, const void *code, void *const *word);
    void (*gone)(const void *block, size_t size);
    /** A progress point has been visited on this thread. */
    void (*visited)(ompp_time_t t);
    /** \return who follows waits; NULL = it does not in this run. At most one component does. It has thread_begin, too:
     *          events look there whether somebody wants to be told. */
    const ompp_sync_subscriber_t *(*waits)(void);

    /** Measurement is about to end, threads still run: what is left to say for Coverage; perhaps called again. */
    void (*quiesce)(void);
} ompp_component_t;

/* Seen by the other libraries in the process. */
#pragma GCC visibility push(default)

/**
 * \brief Starts a component, borrowed for ever; it follows all threads that are measured from now on. Before the
 *        runtime has started (main of a program, one thread), it is kept, and started with those of libompp.
 * \param[out] why  when not: the reason in words, shape [n]; "" = nobody has asked for it.
 */
bool ompp_component_start(const ompp_component_t *component, char *why, size_t n);

#pragma GCC visibility pop

/** \brief Tells components that a progress point was visited; of memory that the program gets and gives back. */
void ompp_component_visited(ompp_time_t t);
void ompp_component_got(const void *block, size_t size, const void *code, void *const *word);
void ompp_component_gone(const void *block, size_t size);

/** \return those that are kept; ends with NULL. */
const ompp_component_t *const *ompp_components_early(void);

/** \brief They have a last look. */
void ompp_components_quiesce(void);

#endif
