/**
 * \file
 * Which structure an address belongs to, when all data is told apart unasked: variables, blocks of the heap by the call
 * path that allocates them, frames of the stack, variables of threads, read-only data, code; and why not. Structures
 * are made when they are first touched, under raw names (model/ompp_raw.h), which the report turns into the source's.
 *
 * ompp_whose() is the one answer for all who ask: what the map says, and the frame that an address of a stack is in.
 */
#ifndef OMPP_WHOSE_H
#define OMPP_WHOSE_H

#include "base/ompp_caller.h"
#include "base/ompp_hash.h"
#include "hooks/ompp_count_priv.h"
#include "unwind/ompp_unwind.h"

#include <stdatomic.h>

/* The map's object for stacks: which structure is there changes with each call. */
#define OMPP_WHOSE_STACK OMPP_DATA_MAX

#define OMPP_WHOSE_FRAMES 64
#define OMPP_WHOSE_MEMOS 256

#define OMPP_WHOSE_PARTS 128u /* a frame is told apart in so many at most */
#define OMPP_WHOSE_WORD 2u    /* log2 of the bytes of the smallest part */
#define OMPP_WHOSE_WORDS 128u /* of a frame, that pointers which are kept have led to */

/** What is known of the frames of a procedure. */
typedef struct {
    _Atomic uintptr_t entry; /* 0 = free */
    unsigned shift;          /* log2 of the bytes of a part */
    uint32_t bytes;          /* of one frame, from the stack pointer to the CFA */
    _Atomic uint32_t object[OMPP_WHOSE_PARTS];
    /* words of the frame, which stand for the variable there alone: how far below the CFA they begin, in words, with
     * FOREIGN or not, and the object; 0 = free */
    _Atomic uint64_t word[OMPP_WHOSE_WORDS];
} ompp_whose_frame_t;

/** Where an access of the stack has ended, from which code. */
typedef struct {
    uintptr_t code, sp, high, bytes; /* of the frame, below high */
    const ompp_whose_frame_t *frame;
    uintptr_t returns_at, returns; /* the frame's return address, by which it is known to be the same call */
    uintptr_t unused;              /* so that none lies across two lines of a cache */
} ompp_whose_seen_t;

#define OMPP_WHOSE_SEEN_BITS 14
#define OMPP_WHOSE_SEEN (1u << OMPP_WHOSE_SEEN_BITS)

/** What a thread needs for it; zeroed at first. Written by the thread. */
typedef struct ompp_whose_thread {
    ompp_unwind_thread_t unwind;
    bool walking;     /* unwind and frames are in use */
    ompp_stay_t stay; /* meanwhile */
    struct {
        uintptr_t code, sp;
        uint32_t object;
        ompp_unwind_memo_t walk;
    } memos[OMPP_WHOSE_MEMOS];
    ompp_unwind_frame_t frames[OMPP_WHOSE_FRAMES];
    ompp_whose_seen_t seen[OMPP_WHOSE_SEEN];
} ompp_whose_thread_t;

/** All data is told apart. Set before the first thread is counted for. */
extern bool ompp_whose_all;

/** \brief Begins to tell all data apart, when the user wants it. Before main. */
void ompp_whose_start(void);

/** \brief Modules have come or gone. */
void ompp_whose_refresh(void);

/** \brief A thread comes; on it. */
void ompp_whose_thread(ompp_whose_thread_t *thread);

/** \brief Gives the page of an address its structures. Any thread, in any hook. */
void ompp_whose_paint(uintptr_t address);

/** \brief The structure in a stack; 0 = not known. */
uint32_t ompp_whose_frame(ompp_counter_t *counter, uintptr_t address, ompp_accessor_t by);

/**
 * \brief An access to a local variable of a function, by code that has a cell for it: the cell gets where the variable
 *        is counted, when that can be told.
 */
void ompp_whose_local(ompp_counter_t *counter, uintptr_t address, ompp_accessor_t by, _Atomic uint32_t *cell);

static inline ompp_whose_seen_t *ompp_whose_seen(ompp_whose_thread_t *thread, ompp_accessor_t by)
{
    return &thread->seen[ompp_hash_place(by.code ^ by.sp << 20, OMPP_WHOSE_SEEN_BITS)];
}

/** \brief The part of a frame that ends so many bytes below the CFA. */
static inline unsigned ompp_whose_part(const ompp_whose_frame_t *frame, uintptr_t below)
{
    const uintptr_t part = (below - 1) >> frame->shift;

    return part < OMPP_WHOSE_PARTS ? (unsigned)part : OMPP_WHOSE_PARTS - 1;
}

/** \brief The frame of an address, when this code has been there in the same call, else NULL. */
static inline const ompp_whose_seen_t *ompp_whose_seen_again(const ompp_counter_t *counter, uintptr_t address,
                                                             ompp_accessor_t by)
{
    const ompp_whose_seen_t *seen = ompp_whose_seen(counter->whose, by);

    if (seen->code != by.code || seen->sp != by.sp || seen->high - address - 1 >= seen->bytes) return NULL;
    return *(const uintptr_t *)seen->returns_at == seen->returns ? seen : NULL;
}

/** \brief The structure in a stack, when this code has been there in the same call; 0 = ask ompp_whose_frame(). */
static inline uint32_t ompp_whose_again(const ompp_counter_t *counter, uintptr_t address, ompp_accessor_t by)
{
    const ompp_whose_seen_t *seen = ompp_whose_seen_again(counter, address, by);

    if (!seen) return 0;
    return atomic_load_explicit(&seen->frame->object[ompp_whose_part(seen->frame, seen->high - address)],
                                memory_order_relaxed);
}

/**
 * \brief What is kept of a variable on a page that another thread touched first has an object of its own, whose
 *        accesses are all foreign; but where accesses are told of, each is counted by itself.
 */
static inline bool ompp_whose_keeps_foreign(const ompp_counter_t *counter, uint32_t owner)
{
    return !counter->feed && owner != counter->own;
}

#define OMPP_WHOSE_FOREIGN (1u << 31) /* of a word: of such an object */

/** \brief Where the word of an address has or gets its row; NULL = there is no more. */
static inline const _Atomic uint64_t *ompp_whose_word(const ompp_whose_seen_t *seen, uintptr_t address, bool foreign,
                                                      uint32_t *below)
{
    *below = (uint32_t)((seen->high - (address & ~(uintptr_t)((1u << OMPP_WHOSE_WORD) - 1))) >> OMPP_WHOSE_WORD);
    if (foreign) *below |= OMPP_WHOSE_FOREIGN;
    for (uint32_t i = 0; i < OMPP_WHOSE_WORDS; i++) {
        const _Atomic uint64_t *word = &seen->frame->word[(*below + i) % OMPP_WHOSE_WORDS];
        const uint64_t value = atomic_load_explicit(word, memory_order_relaxed);
        if (!value || value >> 32 == *below) return word;
    }
    return NULL;
}

/**
 * \brief Code that keeps what it finds is about to: the variable at an address of a stack gets an object of its own,
 *        when that can be told.
 */
void ompp_whose_keep(ompp_counter_t *counter, uintptr_t address, ompp_accessor_t by);

/** \brief Whether an address is in the thread's own stack. */
static inline bool ompp_whose_is_own(const ompp_whose_thread_t *thread, uintptr_t address)
{
    return address - thread->unwind.stack_low < thread->unwind.stack_high - thread->unwind.stack_low;
}

/** \brief The structure that the map's object stands for at an address, 0 = none. */
static inline uint32_t ompp_whose(ompp_counter_t *counter, uint32_t object, uintptr_t address, ompp_accessor_t by)
{
    return __builtin_expect(object == OMPP_WHOSE_STACK, 0) ? ompp_whose_frame(counter, address, by) : object;
}

/* ---- For the parts of it ----------------------------------------------------------------------------------------- */

/** \brief "module+1f40" into text, or "?" \return bytes written, without the terminating zero. */
size_t ompp_whose_place(uintptr_t address, char *text, size_t size);

/** \brief Objects of raw names, made when missing, 0 = no room; between ompp_data_try() and ompp_data_done(). */
uint32_t ompp_whose_object(const char *name, uint64_t address, uint64_t size);
uint32_t ompp_whose_unknown(const char *why);

/** \brief Gives a page its structures, when it has none. */
void ompp_whose_paint_page(uintptr_t address);

/** \brief Writable data of the program's own modules, for who looks for pointers there. */
typedef void ompp_whose_visit_t(uintptr_t begin, uintptr_t end, void *data);
void ompp_whose_each_variable(ompp_whose_visit_t *visit, void *data);

/**
 * \brief The thread walks its stack, and uses the frames that it finds, until ompp_whose_walk_end().
 * \return false: this is a signal handler, and the thread does so already.
 */
static inline bool ompp_whose_walk_begin(ompp_whose_thread_t *thread)
{
    if (thread->walking) return false;
    const ompp_stay_t stay = ompp_stay_if_handled();
    thread->walking = true;
    thread->stay = stay;
    atomic_signal_fence(memory_order_seq_cst);
    return true;
}

static inline void ompp_whose_walk_end(ompp_whose_thread_t *thread)
{
    const ompp_stay_t stay = thread->stay;

    atomic_signal_fence(memory_order_seq_cst);
    thread->walking = false;
    ompp_stay_end(stay);
}

/** \brief The frame that an address is in; between ompp_whose_walk_begin() and ompp_whose_walk_end(). */
bool ompp_whose_find_frame(ompp_whose_thread_t *thread, uintptr_t address, ompp_accessor_t by, size_t *n, size_t *at);

/* ---- The heap ---------------------------------------------------------------------------------------------------- */

/**
 * \brief The program has got a block, or gives it back. Keeps errno.
 * \param[in] word  that the allocator has stored the address to; NULL = it returns the address.
 */
void ompp_heap_got(const void *block, size_t size, const void *code, void *const *word);
void ompp_heap_gone(const void *block, size_t size);

/** \brief Memory is about to be unmapped: what comes next there is nobody's yet. Keeps errno. */
void ompp_heap_unmapped(uintptr_t begin, uintptr_t end);

/** \brief The block that had this object has moved. */
void ompp_heap_again(const void *block, size_t size, uint32_t object);

/** \return where the block of such an object begins, as far as it is one of those that are known; 0 = it is not. */
uintptr_t ompp_heap_begin(uint32_t object, uintptr_t address);

/** \brief At the end: what points to blocks is looked for once more, and told. */
void ompp_heap_finish(void);

#endif
