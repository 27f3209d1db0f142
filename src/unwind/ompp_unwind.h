/**
 * \file
 * Call paths of optimised code, found from inside of the process: the return addresses on a thread's stack, each with a
 * verdict. Works without frame pointers. docs/unwinding.md describes the method and what it was measured to do.
 *
 * Recipes say how to get from a frame to its caller's. They come from .eh_frame, and from decoding instructions
 * (libompp-unwind.so) where that is missing or wrong. A cache of the process keeps one for each address that was met.
 *
 * What may be called where:
 *   ompp_unwind_context(), ompp_unwind_here()  async-signal-safe: no lock, no allocation, errno stays, never a fault.
 *                                              Any thread, any number at once.
 *   all others                                 never in a signal handler.
 */
#ifndef OMPP_UNWIND_H
#define OMPP_UNWIND_H

#include "image/ompp_known.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OMPP_UNWIND_SEEN __attribute__((visibility("default"))) /* by the other libraries in the process */

typedef enum {
#define OMPP_UNWIND_END(id, name, meaning) OMPP_UNWIND_##id,
#include "unwind/ompp_unwind.def"
#undef OMPP_UNWIND_END
    OMPP_UNWIND_ENDS
} ompp_unwind_end_t;

/**
 * How sure a return address is; as in Tallent, Mellor-Crummey and Fagan, PLDI 2009, section 2.3.2. The address of the
 * innermost frame and one that a signal interrupted are exact, hence valid.
 */
typedef enum {
    OMPP_UNWIND_INVALID, /* a call precedes it that cannot lead to the callee; or none does, then the walk ends here */
    OMPP_UNWIND_LIKELY,  /* an indirect call precedes it, or one to a procedure that jumps to the callee */
    OMPP_UNWIND_VALID,   /* a call of the callee precedes it, direct or by the procedure linkage table */
    OMPP_UNWIND_VERDICTS
} ompp_unwind_verdict_t;

typedef struct {
    uintptr_t address; /* return address; of the innermost frame, or one that a signal interrupted: next instruction */
    uint64_t cfa : 56; /* of the frame of this address's callee: the return address was read at cfa - 8. Innermost: the
                              stack pointer. Equal (cfa, address) of two paths of a thread: their outer parts are equal
                              where no frame between them has been left */
    uint64_t verdict : 7;  /* ompp_unwind_verdict_t */
    uint64_t is_exact : 1; /* address is an instruction that was to run, and no return address */
} ompp_unwind_frame_t;

/** Of one thread, owned by the caller, all 0 at first. Written by that thread alone; others may read the counts. */
typedef struct {
    uintptr_t stack_low, stack_high;       /* [low, high); 0 = not known: walks take some 100 ns per page longer */
    ompp_unwind_end_t end;                 /* of the last walk */
    uint64_t paths[OMPP_UNWIND_ENDS];      /* walks by their end */
    uint64_t frames[OMPP_UNWIND_VERDICTS]; /* frames by their verdict */
    uint64_t recipes;                      /* those that were not in the cache and had to be made */
    uint64_t inferred;                     /* of these, made by decoding instructions */
} ompp_unwind_thread_t;

#define OMPP_UNWIND_WORDS 120u

typedef struct {
    uintptr_t at;
    uint64_t value;
} ompp_unwind_word_t;

/**
 * What a walk of a thread has depended on: registers where ompp_unwind_same() was asked, and words of the stack above.
 * Where all are as they were, so is the path. Owned by the caller, all 0 at first.
 */
typedef struct {
    uintptr_t rsp, rbp;  /* rsp 0 = nothing is kept */
    unsigned generation; /* of loaded files */
    bool needs_rbp;      /* rbp, as it was there, was used */
    uint8_t n;
    /* in the order in which they were read: each says where the next ones are; the last one stands there twice, for who
     * looks at two at once */
    ompp_unwind_word_t words[OMPP_UNWIND_WORDS + 1];
} ompp_unwind_memo_t;

/**
 * \brief Allocates the cache, opens libompp-unwind.so and makes it ready. Once; later calls do nothing.
 * \return 0.
 * \return -OMPP_E_OPEN         without libompp-unwind.so: by .eh_frame only; the caller adds the Coverage line.
 * \return -OMPP_E_NOMEM        no memory for the cache: each walk ends as OMPP_UNWIND_OFF.
 * \return -OMPP_E_UNSUPPORTED  not this processor; the same.
 * \note Not in a signal handler: takes the loader's lock.
 */
OMPP_UNWIND_SEEN int ompp_unwind_start(void);

/**
 * \brief The cheap part of it, some 0.3 ms: walks can be made. Where files have no unwind information, fewer of these
 *        are complete until ompp_unwind_start(). Returns the same. Once.
 */
int ompp_unwind_open(void);

/** \return why ompp_unwind_start() could not open libompp-unwind.so, borrowed; NULL = it did, or was not called. */
const char *ompp_unwind_why_simple(void);

/**
 * \brief Files were loaded or unloaded: recipes of the latter are forgotten, libraries of ompp are found. Cheap when
 *        nothing has changed. To be called after dlopen() and dlclose(), or from time to time.
 * \note Not in a signal handler: takes the loader's lock. Where it is not called, a recipe of an unloaded file is found
 *       to be wrong when the first walk fails by it, and is made again then.
 */
void ompp_unwind_refresh(void);

/**
 * \brief Notes the bounds of the calling thread's stack.
 * \note Not in a signal handler: allocates.
 */
OMPP_UNWIND_SEEN void ompp_unwind_thread_begin(ompp_unwind_thread_t *thread);

/**
 * \brief The call path of what a signal has interrupted.
 * \param[in,out] thread  the calling thread's.
 * \param[in] context     the handler's third argument (ucontext_t).
 * \param[out] frames     shape [room], innermost first; frames[0] is the interrupted instruction.
 * \return frames written, >= 1 when room is; thread->end says whether they are complete.
 * \note Async-signal-safe. Some 10 ns per frame whose recipe is known, some 1 us to make one from .eh_frame, some 10 us
 *       to infer one, at most 4 ms.
 */
size_t ompp_unwind_context(ompp_unwind_thread_t *thread, const void *context, ompp_unwind_frame_t *frames, size_t room);

/**
 * \brief Who called ompp: the path of the calling thread, without the innermost frames that are in libraries of ompp.
 * \param[in,out] memo  ompp_unwind_same() was just asked, by the caller or by who called it; becomes that of this walk.
 *                      NULL = none.
 * \param[out] frames   shape [room], innermost first: frames[0] is the return address into the program.
 * \return frames written; 0 when there are none but ours.
 * \note Async-signal-safe.
 */
OMPP_UNWIND_SEEN size_t ompp_unwind_here(ompp_unwind_thread_t *thread, ompp_unwind_memo_t *memo,
                                         ompp_unwind_frame_t *frames, size_t room);

/**
 * \brief The call path of a place in the program, by what is known of its registers.
 * \param[in] code  the next instruction: frames[0].address.  \param[in] rsp, rbp  as they are there.
 * \return frames written. Async-signal-safe.
 */
OMPP_UNWIND_SEEN size_t ompp_unwind_from(ompp_unwind_thread_t *thread, uintptr_t code, uintptr_t rsp, uintptr_t rbp,
                                         ompp_unwind_frame_t *frames, size_t room);

/** \return whose code an address is in, by the name of its file. Async-signal-safe. */
OMPP_UNWIND_SEEN ompp_owner_t ompp_unwind_owner(uintptr_t address);

/**
 * \brief Bounds of the procedure around an address: from .eh_frame, else from symbols, else inferred.
 * \param[out] low, high  [low, high); a part of a procedure that the compiler has split off counts as one.
 * \return false: not known.
 * \note Not in a signal handler.
 */
bool ompp_unwind_procedure(uintptr_t address, uintptr_t *low, uintptr_t *high);

/**
 * \brief Where the procedure of an address begins, from .eh_frame alone.
 * \return 0: not known. Async-signal-safe.
 */
OMPP_UNWIND_SEEN uintptr_t ompp_unwind_entry(uintptr_t address);

/**
 * \brief Whether code does nothing when a call has given back false, but make another call: no store, no arithmetic, on
 *        no way.
 * \param[in] back    where the call returns to.
 * \param[in] callee  who is called next; not by a stub that is not bound yet.
 * \return false also where the code is not understood. Async-signal-safe; remembers pairs.
 */
OMPP_UNWIND_SEEN bool ompp_unwind_calls_next(uintptr_t back, uintptr_t callee);

/** Counts up when files are unloaded. */
extern OMPP_UNWIND_SEEN _Atomic unsigned ompp_unwind_generation;

/** \return whether the words of the stack are as they were: the last part of ompp_unwind_same(). */
static inline bool ompp_unwind_same_words(const ompp_unwind_memo_t *memo)
{
    for (const ompp_unwind_word_t *w = memo->words, *end = w + memo->n; w < end; w += 2)
        if (*(const uint64_t *)w[0].at != w[0].value || *(const uint64_t *)w[1].at != w[1].value) return false;
    return true;
}

/**
 * \return whether the path of the calling thread is still that of the memo, root included. 2 ns per frame. Where the
 *         stack pointer is the same at the same instruction, the frame is the one it was, and so is each that the kept
 *         return addresses lead to. Hence all calls with one memo are made from one place of ompp.
 * \note Async-signal-safe.
 */
static inline __attribute__((always_inline)) bool ompp_unwind_same(ompp_unwind_memo_t *memo)
{
    uintptr_t rsp = 0;
    bool same_rbp = true;

#if defined(__x86_64__)
    __asm__ volatile("movq %%rsp, %0" : "=r"(rsp));
    __asm__ volatile("cmpq %%rbp, %1" : "=@cce"(same_rbp) : "m"(memo->rbp));
#endif
    if (__builtin_expect(memo->rsp == rsp && (same_rbp || !memo->needs_rbp), 1) &&
        memo->generation == atomic_load_explicit(&ompp_unwind_generation, memory_order_relaxed) &&
        ompp_unwind_same_words(memo))
        return true;
    memo->rsp = rsp;
    return false;
}

/** \return name of a reason in one word, and its meaning; static. */
const char *ompp_unwind_end_name(ompp_unwind_end_t end);
const char *ompp_unwind_end_meaning(ompp_unwind_end_t end);

#endif
