/*
 * What compilers call before each load and store of code that is built with -fsanitize=thread or with
 * -fsanitize-coverage=trace-loads,trace-stores, with this library in the place of theirs. Names and arguments are the
 * compilers'. Nothing here checks for races: only addresses and sizes are looked at.
 */
#include "hooks/ompp_count_priv.h"

/* Objects that count by themselves have hooks of their own: ompp_inline.c. */
#ifdef OMPP_INLINED
#define HOOK __attribute__((always_inline)) void
#else
#define HOOK __attribute__((visibility("default"))) void
#endif

#define AT ((uintptr_t)address)

/* One hook for a load, one for a store, of size bytes. */
#define SCALAR(load, store, size)                                 \
    HOOK load(void *address);                                     \
    HOOK load(void *address) { ompp_count(AT, size, OMPP_LOAD); } \
    HOOK store(void *address);                                    \
    HOOK store(void *address) { ompp_count(AT, size, OMPP_STORE); }

/* One for both. */
#define BOTH(hook, size)                  \
    HOOK hook(void *address);             \
    HOOK hook(void *address)              \
    {                                     \
        ompp_count(AT, size, OMPP_LOAD);  \
        ompp_count(AT, size, OMPP_STORE); \
    }

/* Of -fsanitize-coverage. They come before atomic operations, too, which are handed over as a whole then: see
 * ompp_atomic_hot.c. */
#define COVERAGE(hook, size, kind)  \
    HOOK hook(void *address);       \
    HOOK hook(void *address)        \
    {                               \
        ompp_count_reported(AT);    \
        ompp_count(AT, size, kind); \
    }

/* clang has further names for accesses through volatile, on request. */
#define ALL(n)                                                                       \
    SCALAR(__tsan_read##n, __tsan_write##n, n)                                       \
    SCALAR(__tsan_unaligned_read##n, __tsan_unaligned_write##n, n)                   \
    SCALAR(__tsan_volatile_read##n, __tsan_volatile_write##n, n)                     \
    SCALAR(__tsan_unaligned_volatile_read##n, __tsan_unaligned_volatile_write##n, n) \
    BOTH(__tsan_read_write##n, n)                                                    \
    BOTH(__tsan_unaligned_read_write##n, n)                                          \
    COVERAGE(__sanitizer_cov_load##n, n, OMPP_LOAD)                                  \
    COVERAGE(__sanitizer_cov_store##n, n, OMPP_STORE)

ALL(1)
ALL(2)
ALL(4)
ALL(8)
ALL(16)

/* ---- Of no interest here ----------------------------------------------------------------------------------------- */

#define NOTHING(name, parameters) \
    HOOK name parameters;         \
    HOOK name parameters {}

NOTHING(__tsan_func_entry, (void *code __attribute__((unused))))
NOTHING(__tsan_func_exit, (void))
NOTHING(__sanitizer_cov_trace_pc_guard, (uint32_t * guard __attribute__((unused))))
NOTHING(__sanitizer_cov_trace_pc_indir, (uintptr_t callee __attribute__((unused))))

#ifndef OMPP_INLINED
NOTHING(__tsan_ignore_thread_begin, (void))
NOTHING(__tsan_ignore_thread_end, (void))

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* The compiler may make a call of memcpy of the assignment that this is about: see ompp_copy.c. */
static void block(void *address, size_t size, unsigned kind, ompp_accessor_t by)
{
    ompp_counter_t *counter = ompp_counter_get();

    counter->block[kind][0] = AT;
    counter->block[kind][1] = size;
    counter->block_code[kind] = by.code;
    if (size) ompp_count_block(counter, AT, size, kind, by);
}

HOOK __tsan_read_range(void *address, size_t size);
HOOK __tsan_read_range(void *address, size_t size) { block(address, size, OMPP_LOAD, OMPP_CALLER); }

HOOK __tsan_write_range(void *address, size_t size);
HOOK __tsan_write_range(void *address, size_t size) { block(address, size, OMPP_STORE, OMPP_CALLER); }

/* ---- Tables of virtual functions --------------------------------------------------------------------------------- */

HOOK __tsan_vptr_read(void **address);
HOOK __tsan_vptr_read(void **address) { ompp_count(AT, sizeof *address, OMPP_LOAD); }

HOOK __tsan_vptr_update(void **address, void *value);
HOOK __tsan_vptr_update(void **address, void *value)
{
    (void)value;
    ompp_count(AT, sizeof *address, OMPP_STORE);
}

/* ---- Once per object file, before main --------------------------------------------------------------------------- */

HOOK __tsan_init(void);
HOOK __tsan_init(void) { ompp_counter_file(OMPP_FILES_ALL); }

HOOK __sanitizer_cov_trace_pc_guard_init(uint32_t *begin, uint32_t *end);
HOOK __sanitizer_cov_trace_pc_guard_init(uint32_t *begin, uint32_t *end)
{
    (void)begin, (void)end;
    ompp_counter_file(OMPP_FILES_CLANG);
}
#endif
