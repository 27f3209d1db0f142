/**
 * \file
 * Going on in a function of the system as if it had been called itself: the C library takes the caller for the one that
 * it returns to. JUMPS stands before the function, JUMP before its last return.
 */
#ifndef OMPP_JUMP_H
#define OMPP_JUMP_H

#if defined __has_attribute && !defined __clang_analyzer__
#if __has_attribute(musttail)
#define JUMP __attribute__((musttail))
#endif
#endif
#ifndef JUMP
#define JUMP
#endif
#if defined __GNUC__ && !defined __clang__
#define JUMPS __attribute__((optimize("O2")))
#else
#define JUMPS
#endif

#endif
