/**
 * \file
 * GOMP interposition: functions with the names of libgomp's, in front of libgomp's in the search order of the dynamic
 * linker, that tell an event and call the real ones. libompp-gomp.so is preloaded by ompp into programs on libgomp;
 * never linked.
 *
 * What the translation rests on (measured with GCC 12):
 *  - The code of a parallel region or task is a function of its own, which is passed: it identifies the region. A
 *    return address would not: calls are often tail calls, and debuggers' lines of adjacent calls may be joined.
 *  - A worker tells the end of its part when that function returns, and nothing more until its next team: the join
 *    closes it.
 *  - Of single only the begin is told, unless it is copyprivate. It ends at the thread's next barrier or worksharing
 *    construct, or with its part of the team.
 *  - The barrier at the end of single, and of loops with a static schedule, is a plain GOMP_barrier. Of single it is
 *    called directly by the threads that do not execute it: else, single has nowait, and the barrier is another one.
 *  - Loops with a static schedule, master, atomic and flush are no calls at all.
 *  - LLVM's library has the same functions. In front of libgomp it serves the program, and is the one behind these.
 *  - Calls may be tail calls; then the address is that of the caller's caller, or of the region's function
 *    (ompp_gomp_caller).
 */
#ifndef OMPP_GOMP_PRIV_H
#define OMPP_GOMP_PRIV_H

#include "model/ompp_whatif_profile.h"
#include "runtime/ompp_event.h"

#include <stdbool.h>

#define OMPP_EXPORT __attribute__((visibility("default")))
/** The place in the program that the function is called from. */
#define OMPP_GOMP_HERE ompp_gomp_caller(__builtin_return_address(0))

/** What libgomp's functions take and give back, as registers and places on the stack hold it. */
typedef unsigned long ompp_word_t;
_Static_assert(sizeof(ompp_word_t) == sizeof(void *) && sizeof(void *) == sizeof(long long), "arguments are words");

/** A function that the compiler has made of a region. */
typedef void (*ompp_gomp_body_t)(void *data);

/** Parameters and arguments by their number. */
#define OMPP_P1 ompp_word_t a1
#define OMPP_P2 OMPP_P1, ompp_word_t a2
#define OMPP_P3 OMPP_P2, ompp_word_t a3
#define OMPP_P4 OMPP_P3, ompp_word_t a4
#define OMPP_P5 OMPP_P4, ompp_word_t a5
#define OMPP_P6 OMPP_P5, ompp_word_t a6
#define OMPP_P7 OMPP_P6, ompp_word_t a7
#define OMPP_P8 OMPP_P7, ompp_word_t a8
#define OMPP_P9 OMPP_P8, ompp_word_t a9
#define OMPP_P10 OMPP_P9, ompp_word_t a10
#define OMPP_A1 a1
#define OMPP_A2 OMPP_A1, a2
#define OMPP_A3 OMPP_A2, a3
#define OMPP_A4 OMPP_A3, a4
#define OMPP_A5 OMPP_A4, a5
#define OMPP_A6 OMPP_A5, a6
#define OMPP_A7 OMPP_A6, a7
#define OMPP_A8 OMPP_A7, a8
#define OMPP_A9 OMPP_A8, a9
#define OMPP_A10 OMPP_A9, a10

/**
 * \brief The real function of a name, of the library behind this one.
 * \param[in] version  NULL = the default one.
 * \return never NULL: without it the program could not have been started; the process ends as the dynamic linker would
 *         end it.
 */
void *ompp_gomp_find_slow(const char *name, const char *version);

/** \brief One execution each, for ompp_event_calibrate_by(). */
void ompp_gomp_calibrated_critical(ompp_region_ref_t region, void *lock);
void ompp_gomp_calibrated_lock(void *lock);

/** \brief The real GOMP_name, as a function of this type; looked up once. */
#define OMPP_REAL(type, name)                                                                   \
    ({                                                                                          \
        static void *found;                                                                     \
        void *real = __atomic_load_n(&found, __ATOMIC_RELAXED);                                 \
        if (__builtin_expect(!real, 0))                                                         \
            __atomic_store_n(&found, real = ompp_gomp_find_slow(name, NULL), __ATOMIC_RELAXED); \
        (type) real;                                                                            \
    })

extern unsigned ompp_gomp_mode; /* 0: not asked yet; else OMPP_GOMP_ON or OMPP_GOMP_OFF */
#define OMPP_GOMP_ON 1u
#define OMPP_GOMP_OFF 2u

extern bool ompp_gomp_by_llvm; /* LLVM's library serves the program; known when ompp_gomp_mode is */

/** \brief Whether this source delivers the process's OpenMP events; asked once. */
bool ompp_gomp_ask_slow(void);

static inline bool ompp_gomp_on(void)
{
    unsigned mode = __atomic_load_n(&ompp_gomp_mode, __ATOMIC_RELAXED);

    return __builtin_expect(mode == OMPP_GOMP_ON, 1) || (mode == 0 && ompp_gomp_ask_slow());
}

/** \brief The region of code that the compiler has made a function of. */
static inline ompp_region_ref_t ompp_gomp_region_of(ompp_construct_t construct, ompp_gomp_body_t body)
{
    /* Behind its first byte: regions are known by return addresses, which belong to the instruction before. */
    return ompp_region_at(construct, (const char *)(uintptr_t)body + 1, NULL);
}

/** Function of the region or task that this thread is in, of those that libgomp calls through us; NULL = none. */
extern __thread ompp_gomp_body_t ompp_gomp_body __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* From the linker: where this library's code begins and ends. */
extern const char __ehdr_start[] __attribute__((visibility("hidden"))), etext[] __attribute__((visibility("hidden")));

/**
 * \brief A call that is the last thing a region's function does may be made as a jump: it returns into ours. Then, the
 *        function.
 */
static inline const void *ompp_gomp_caller(const void *code)
{
    bool ours = (const char *)code >= __ehdr_start && (const char *)code < etext;

    return __builtin_expect(ours && ompp_gomp_body, 0) ? (const char *)(uintptr_t)ompp_gomp_body + 1 : code;
}

/** Whether the loop that this thread is in hands its iterations to who is free, and somebody follows waiting. */
extern __thread bool ompp_gomp_dynamic __attribute__((tls_model("initial-exec"), visibility("hidden")));

/** libgomp's numbers of schedules; NO_LOOP is ours. */
typedef enum { RUNTIME, STATIC, DYNAMIC, GUIDED, AUTO, NO_LOOP } ompp_gomp_schedule_t;

/** \brief The thread begins with a loop: those that follow waiting are told when its iterations go to who is free. */
void ompp_gomp_loop_begins(int schedule);

/** \brief The sections that this thread is in; those of a combined construct are the team's. 0 = none. */
ompp_region_ref_t ompp_gomp_sections_here(void);

/* Who waits for whom, for those that follow it (runtime/ompp_sync.h); nobody follows: one load. */

static inline uint64_t ompp_gomp_team(void) { return (uint64_t)(uintptr_t)ompp_event_team(); }

/**
 * \brief The thread is about to wait for all others of its team, and goes on. Not for the barrier at the team's end.
 */
static inline void ompp_gomp_arrive(void)
{
    if (ompp_sync_follower() && ompp_gomp_on()) ompp_sync_arrive(ompp_gomp_team(), ompp_event_now());
}

/** \brief The thread comes to a construct that goes to the first one, or asks for one more section. */
static inline void ompp_gomp_come_for_one(void)
{
    if (ompp_sync_follower()) ompp_sync_publish(OMPP_SYNC_FIRST, ompp_gomp_team(), ompp_event_now());
}

static inline void ompp_gomp_go_on(void)
{
    if (ompp_sync_follower() && ompp_gomp_on()) ompp_sync_resume(OMPP_SYNC_BARRIER, ompp_gomp_team(), ompp_event_now());
}

/** \brief What is waited for before real(), which is inside of region (0 = not measured), and had after it. */
static inline void ompp_gomp_wait(ompp_region_ref_t region, ompp_sync_object_t kind, const void *object)
{
    if (region && ompp_sync_follower()) ompp_sync_wait(kind, (uint64_t)(uintptr_t)object, ompp_event_now());
}

static inline void ompp_gomp_have(ompp_region_ref_t region, ompp_sync_object_t kind, const void *object)
{
    if (region && ompp_sync_follower()) ompp_sync_resume(kind, (uint64_t)(uintptr_t)object, ompp_event_now());
}

static inline void ompp_gomp_give(ompp_region_ref_t region, ompp_sync_object_t kind, const void *object)
{
    if (region && ompp_sync_follower()) ompp_sync_publish(kind, (uint64_t)(uintptr_t)object, ompp_event_now());
}

/** Single constructs that this thread executes, inside one another; never fewer than there are. */
extern __thread unsigned ompp_gomp_singles __attribute__((tls_model("initial-exec"), visibility("hidden")));

/** Where this thread's last single began: GOMP_single_start returned to it. */
extern __thread const void *ompp_gomp_single_code __attribute__((tls_model("initial-exec"), visibility("hidden")));

bool ompp_gomp_end_single_slow(ompp_time_t t);

/**
 * \brief A single construct that is still open on this thread has ended: at a barrier, a worksharing construct or the
 *        end of a team.
 * \return whether there was one.
 */
static inline bool ompp_gomp_end_single(ompp_time_t t)
{
    return __builtin_expect(ompp_gomp_singles != 0, 0) && ompp_gomp_end_single_slow(t);
}

#endif
