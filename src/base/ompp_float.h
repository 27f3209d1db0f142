/**
 * \file
 * The floating-point environment of the program's thread while our code computes on it: our arithmetic rounds to
 * nearest and traps nowhere, whatever the program has set, and the program finds its flags, traps and rounding as they
 * were.
 *
 * Events without floating-point arithmetic (*_hot.c) need none of this; tests/lint/floating.sh tells who does.
 */
#ifndef OMPP_FLOAT_H
#define OMPP_FLOAT_H

#include <stdint.h>

/** What the program has set. */
typedef struct {
#if defined(__x86_64__)
    uint32_t x87[7], mxcsr;
#elif defined(__aarch64__)
    uint64_t control, status;
#else
    char nothing; /* not saved on other processors */
#endif
} ompp_float_t;

#if defined(__x86_64__)
#define OMPP_FLOAT_MXCSR 0x1f80u /* all traps are masked, to nearest, no flags */
#define OMPP_FLOAT_X87 0x37fu
#define OMPP_FLOAT_INEXACT 0x20u /* the flag that nearly every program has raised */
#endif

/**
 * \brief The environment of a short piece of arithmetic from here on: of the processor's own instructions alone, not of
 *        the x87's, which functions of the C library look at when they read and write numbers.
 * \return what to give to ompp_float_back().
 */
static inline uint64_t ompp_float_take(void)
{
#if defined(__x86_64__)
    uint32_t mxcsr;

    __asm__ volatile("stmxcsr %0" : "=m"(mxcsr) : : "memory");
    if (__builtin_expect((mxcsr & ~OMPP_FLOAT_INEXACT) != OMPP_FLOAT_MXCSR, 0)) {
        const uint32_t ours = OMPP_FLOAT_MXCSR;
        __asm__ volatile("ldmxcsr %0" : : "m"(ours) : "memory");
    }
    return mxcsr;
#elif defined(__aarch64__)
    uint64_t control, status;

    __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr\n\tmsr fpcr, xzr" : "=&r"(control), "=&r"(status) : : "memory");
    return status << 32 | (uint32_t)control;
#else
    return 0;
#endif
}

/** \brief The program's environment again, as it was at ompp_float_take(). */
static inline void ompp_float_back(uint64_t taken)
{
#if defined(__x86_64__)
    const uint32_t mxcsr = (uint32_t)taken;
    uint32_t now;

    __asm__ volatile("stmxcsr %0" : "=m"(now) : : "memory");
    if (__builtin_expect(now != mxcsr, 0)) __asm__ volatile("ldmxcsr %0" : : "m"(mxcsr) : "memory");
#elif defined(__aarch64__)
    const uint64_t control = (uint32_t)taken, status = taken >> 32;

    __asm__ volatile("msr fpcr, %0\n\tmsr fpsr, %1" : : "r"(control), "r"(status) : "memory");
#else
    (void)taken;
#endif
}

/** \brief The environment in which our code computes, and calls the C library. May be nested. */
static inline void ompp_float_begin(ompp_float_t *program)
{
#if defined(__x86_64__)
    const uint16_t control = OMPP_FLOAT_X87;
    const uint32_t mxcsr = OMPP_FLOAT_MXCSR;

    __asm__ volatile("fnstenv %0\n\tfnclex\n\tfldcw %2\n\tstmxcsr %1\n\tldmxcsr %3"
                     : "=m"(program->x87), "=m"(program->mxcsr)
                     : "m"(control), "m"(mxcsr)
                     : "memory");
#elif defined(__aarch64__)
    __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr\n\tmsr fpcr, xzr\n\tmsr fpsr, xzr"
                     : "=&r"(program->control), "=&r"(program->status)
                     :
                     : "memory");
#else
    program->nothing = 0;
#endif
}

/** \brief The program's environment again. */
static inline void ompp_float_end(const ompp_float_t *program)
{
#if defined(__x86_64__)
    __asm__ volatile("fldenv %0\n\tldmxcsr %1" : : "m"(program->x87), "m"(program->mxcsr) : "memory");
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0\n\tmsr fpsr, %1" : : "r"(program->control), "r"(program->status) : "memory");
#else
    (void)program;
#endif
}

#endif
