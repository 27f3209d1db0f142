/*
 * Atomic operations, which compilers hand over as a whole. Each is done with at least the memory order asked for:
 * loads, stores and fences with exactly that one, what reads and writes in one step with sequential consistency, which
 * on x86-64 is the same instruction.
 */
#include "hooks/ompp_count_priv.h"

#define OMPP_EXPORT __attribute__((visibility("default")))

typedef unsigned __int128 uint128_t;

/* The compilers' numbers are those of the language. */
#define LOAD(type, at, order)                                                                             \
    ((order) == __ATOMIC_RELAXED                                  ? __atomic_load_n(at, __ATOMIC_RELAXED) \
     : (order) == __ATOMIC_ACQUIRE || (order) == __ATOMIC_CONSUME ? __atomic_load_n(at, __ATOMIC_ACQUIRE) \
                                                                  : __atomic_load_n(at, __ATOMIC_SEQ_CST))

#define COUNT_BOTH(at)                                    \
    ompp_count((uintptr_t)(at), sizeof *(at), OMPP_LOAD); \
    ompp_count((uintptr_t)(at), sizeof *(at), OMPP_STORE)

#define CHANGE(bits, name, builtin)                                                                            \
    OMPP_EXPORT uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *at, uint##bits##_t value, \
                                                            int order);                                        \
    OMPP_EXPORT uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *at, uint##bits##_t value, \
                                                            int order)                                         \
    {                                                                                                          \
        (void)order;                                                                                           \
        COUNT_BOTH(at);                                                                                        \
        return builtin(at, value, __ATOMIC_SEQ_CST);                                                           \
    }

/* A comparison that fails writes nothing. */
#define COMPARE(bits, name, weak)                                                                               \
    OMPP_EXPORT int __tsan_atomic##bits##_##name(volatile uint##bits##_t *at, uint##bits##_t *expected,         \
                                                 uint##bits##_t value, int order, int failed_order);            \
    OMPP_EXPORT int __tsan_atomic##bits##_##name(volatile uint##bits##_t *at, uint##bits##_t *expected,         \
                                                 uint##bits##_t value, int order, int failed_order)             \
    {                                                                                                           \
        (void)order, (void)failed_order;                                                                        \
        ompp_count((uintptr_t)at, sizeof *at, OMPP_LOAD);                                                       \
        bool done = __atomic_compare_exchange_n(at, expected, value, weak, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
        if (done) ompp_count((uintptr_t)at, sizeof *at, OMPP_STORE);                                            \
        return done;                                                                                            \
    }

#define ATOMICS(bits)                                                                                           \
    OMPP_EXPORT uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *at, int order);        \
    OMPP_EXPORT uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *at, int order)         \
    {                                                                                                           \
        ompp_count_atomic((uintptr_t)at, sizeof *at, OMPP_LOAD);                                                \
        return LOAD(uint##bits##_t, at, order);                                                                 \
    }                                                                                                           \
    OMPP_EXPORT void __tsan_atomic##bits##_store(volatile uint##bits##_t *at, uint##bits##_t value, int order); \
    OMPP_EXPORT void __tsan_atomic##bits##_store(volatile uint##bits##_t *at, uint##bits##_t value, int order)  \
    {                                                                                                           \
        ompp_count_atomic((uintptr_t)at, sizeof *at, OMPP_STORE);                                               \
        if (order == __ATOMIC_RELAXED) __atomic_store_n(at, value, __ATOMIC_RELAXED);                           \
        else if (order == __ATOMIC_RELEASE) __atomic_store_n(at, value, __ATOMIC_RELEASE);                      \
        else __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                     \
    }                                                                                                           \
    CHANGE(bits, exchange, __atomic_exchange_n)                                                                 \
    CHANGE(bits, fetch_add, __atomic_fetch_add)                                                                 \
    CHANGE(bits, fetch_sub, __atomic_fetch_sub)                                                                 \
    CHANGE(bits, fetch_and, __atomic_fetch_and)                                                                 \
    CHANGE(bits, fetch_or, __atomic_fetch_or)                                                                   \
    CHANGE(bits, fetch_xor, __atomic_fetch_xor)                                                                 \
    CHANGE(bits, fetch_nand, __atomic_fetch_nand)                                                               \
    COMPARE(bits, compare_exchange_strong, false)                                                               \
    COMPARE(bits, compare_exchange_weak, true)                                                                  \
    OMPP_EXPORT uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                      \
        volatile uint##bits##_t *at, uint##bits##_t expected, uint##bits##_t value, int order, int failed);     \
    OMPP_EXPORT uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                      \
        volatile uint##bits##_t *at, uint##bits##_t expected, uint##bits##_t value, int order, int failed)      \
    {                                                                                                           \
        __tsan_atomic##bits##_compare_exchange_strong(at, &expected, value, order, failed);                     \
        return expected;                                                                                        \
    }

ATOMICS(8)
ATOMICS(16)
ATOMICS(32)
ATOMICS(64)

/* ---- 16 bytes: everything is a comparison that is repeated until it holds ---------------------------------------- */

#if defined(__x86_64__)
static uint128_t swap128(volatile uint128_t *at, uint128_t expected, uint128_t value)
{
    uint64_t low = (uint64_t)expected, high = (uint64_t)(expected >> 64);

    __asm__ volatile("lock cmpxchg16b %0"
                     : "+m"(*at), "+a"(low), "+d"(high)
                     : "b"((uint64_t)value), "c"((uint64_t)(value >> 64))
                     : "memory", "cc");
    return (uint128_t)high << 64 | low;
}

#define CHANGE128(name, result)                                                                        \
    OMPP_EXPORT uint128_t __tsan_atomic128_##name(volatile uint128_t *at, uint128_t value, int order); \
    OMPP_EXPORT uint128_t __tsan_atomic128_##name(volatile uint128_t *at, uint128_t value, int order)  \
    {                                                                                                  \
        uint128_t old = 0, seen;                                                                       \
        (void)order;                                                                                   \
        COUNT_BOTH(at);                                                                                \
        while ((seen = swap128(at, old, result)) != old) old = seen;                                   \
        return old;                                                                                    \
    }

CHANGE128(exchange, value)
CHANGE128(fetch_add, old + value)
CHANGE128(fetch_sub, old - value)
CHANGE128(fetch_and, old &value)
CHANGE128(fetch_or, old | value)
CHANGE128(fetch_xor, old ^ value)
CHANGE128(fetch_nand, ~(old &value))

OMPP_EXPORT uint128_t __tsan_atomic128_load(volatile uint128_t *at, int order);
OMPP_EXPORT uint128_t __tsan_atomic128_load(volatile uint128_t *at, int order)
{
    (void)order;
    ompp_count_atomic((uintptr_t)at, sizeof *at, OMPP_LOAD);
    return swap128(at, 0, 0);
}

OMPP_EXPORT void __tsan_atomic128_store(volatile uint128_t *at, uint128_t value, int order);
OMPP_EXPORT void __tsan_atomic128_store(volatile uint128_t *at, uint128_t value, int order)
{
    uint128_t old = 0, seen;

    (void)order;
    ompp_count_atomic((uintptr_t)at, sizeof *at, OMPP_STORE);
    while ((seen = swap128(at, old, value)) != old) old = seen;
}

OMPP_EXPORT uint128_t __tsan_atomic128_compare_exchange_val(volatile uint128_t *at, uint128_t expected, uint128_t value,
                                                            int order, int failed);
OMPP_EXPORT uint128_t __tsan_atomic128_compare_exchange_val(volatile uint128_t *at, uint128_t expected, uint128_t value,
                                                            int order, int failed)
{
    (void)order, (void)failed;
    ompp_count((uintptr_t)at, sizeof *at, OMPP_LOAD);
    uint128_t seen = swap128(at, expected, value);
    if (seen == expected) ompp_count((uintptr_t)at, sizeof *at, OMPP_STORE);
    return seen;
}

#define COMPARE128(name)                                                                                             \
    OMPP_EXPORT int __tsan_atomic128_##name(volatile uint128_t *at, uint128_t *expected, uint128_t value, int order, \
                                            int failed);                                                             \
    OMPP_EXPORT int __tsan_atomic128_##name(volatile uint128_t *at, uint128_t *expected, uint128_t value, int order, \
                                            int failed)                                                              \
    {                                                                                                                \
        uint128_t seen = __tsan_atomic128_compare_exchange_val(at, *expected, value, order, failed);                 \
        bool done = seen == *expected;                                                                               \
        *expected = seen;                                                                                            \
        return done;                                                                                                 \
    }

COMPARE128(compare_exchange_strong)
COMPARE128(compare_exchange_weak)
#endif

/* ---- Fences ------------------------------------------------------------------------------------------------------ */

OMPP_EXPORT void __tsan_atomic_thread_fence(int order);
OMPP_EXPORT void __tsan_atomic_thread_fence(int order)
{
    if (order == __ATOMIC_RELAXED) return;
    if (order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME) __atomic_thread_fence(__ATOMIC_ACQUIRE);
    else if (order == __ATOMIC_RELEASE) __atomic_thread_fence(__ATOMIC_RELEASE);
    else if (order == __ATOMIC_ACQ_REL) __atomic_thread_fence(__ATOMIC_ACQ_REL);
    else __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

OMPP_EXPORT void __tsan_atomic_signal_fence(int order);
OMPP_EXPORT void __tsan_atomic_signal_fence(int order)
{
    (void)order;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
