/**
 * \file
 * State of the measurement of this process, its lock, and memory of the arena. For the runtime and for the rooms that
 * start, read and end measurement. Nobody else includes this.
 */
#ifndef OMPP_STATE_H
#define OMPP_STATE_H

#include "base/ompp_arena.h"
#include "base/ompp_caller.h"
#include "model/ompp_layout.h"
#include "model/ompp_tables.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct ompp_thread ompp_thread_t;

typedef enum { OMPP_STATE_NEW, OMPP_STATE_RUNNING, OMPP_STATE_DEAD } ompp_state_t;

#define OMPP_ON_ENTER 1u
#define OMPP_ON_COPY 2u

/** \brief A library is gone. Its regions stay; what is loaded at its addresses [low, high) next is another module. */
void ompp_region_unloaded(uintptr_t low, uintptr_t high);

typedef struct {
    _Atomic int state;    /* ompp_state_t */
    _Atomic unsigned on;  /* OMPP_ON_ENTER: regions are entered; OMPP_ON_COPY: a thread is asked to copy itself */
    pthread_mutex_t lock; /* arena, regions, modules, threads, coverage: slow paths only */
    ompp_arena_t arena;
    ompp_a_header_t *header;
    _Atomic(ompp_thread_t *) threads; /* all states, newest first, by next_all; never removed */
    bool disabled[OMPP_CONSTRUCT_NUM];
} ompp_process_t;

extern ompp_process_t ompp_process __attribute__((visibility("hidden")));
extern __thread ompp_thread_t *ompp_thread_self __attribute__((tls_model("initial-exec")));

/** The state of a thread that must not be measured (ended, or measurement is over): every event returns at once. */
extern ompp_thread_t ompp_thread_none;

/** What ompp_unlock() gives back. */
typedef struct {
    ompp_thread_t *guarded; /* the thread was not inside before; NULL = it was, or is not measured */
    ompp_stay_t stay;
} ompp_locked_t;

/**
 * \brief Takes the process's lock. Until ompp_unlock() the thread cannot be cancelled, its signals wait, and events of
 *        handlers of faults are ignored: all these would leave the lock with nobody, or take it twice.
 */
ompp_locked_t ompp_lock(void);
void ompp_unlock(ompp_locked_t locked);

/** \brief size bytes of the arena for this thread, zeroed; 0 when full. Takes the lock when its piece is used up. */
ompp_off_t ompp_thread_take(ompp_thread_t *thread, uint32_t size);

/** Bytes of the arena that are left for notes, strings and metrics when all other memory is taken. */
#define OMPP_ARENA_KEPT (16u << 10)

/** \brief Copies text into the arena. Caller holds the lock. \return 0 for NULL, "" or when full. */
ompp_off_t ompp_string_take(const char *text);

/** A record and its texts. */
typedef struct {
    size_t size;          /* bytes of the record */
    const char *texts[3]; /* copied; NULL and "" = none */
    ompp_off_t copies[3]; /* of these; 0 = none */
} ompp_described_t;

/**
 * \brief Room for a record and its texts, or for neither: no record stands there without its name. Caller holds the
 *        lock.
 * \param[in] take  ompp_arena_take or ompp_arena_take_kept.
 * \return the record, zeroed; 0 when full.
 */
ompp_off_t ompp_described_take(ompp_described_t *described, ompp_off_t (*take)(ompp_arena_t *, size_t));

/** What the hot core has done by the rooms above it. All functions are there; src/lib joins them. */
typedef struct {
    /** The library was loaded, and nothing is measured yet. */
    void (*loaded)(void);
    /** The first event of the process: starts measurement, and sets ompp_process.state. On any thread, several at
     * once. */
    void (*start)(void);
    /** A thread is about to be measured, the first of them or a later one; events of this thread are ignored. */
    void (*thread_begins)(void);
    /** The calling thread is over. */
    void (*thread_ends)(void);
    /** Measurement is about to end. */
    void (*ends)(void);
    /** The calling thread was asked to copy itself (OMPP_ON_COPY), and is between two events. */
    void (*copy)(ompp_thread_t *thread);
    /** Data is told apart from now on: ompp_signals_are_handled says what is so from here on. */
    void (*data_begins)(void);
    /** A library is gone: what is known of its addresses [low, high) is true no longer. Without the process's lock. */
    void (*unloaded)(uintptr_t low, uintptr_t high);
} ompp_runtime_hooks_t;

extern const ompp_runtime_hooks_t ompp_runtime_hooks __attribute__((visibility("hidden")));

#endif
