/**
 * \file
 * Functions that stand for one of the C library and end in a jump to it: the C library takes the caller for the one
 * that it returns to, and ours is not to be one.
 *
 *     OMPP_JUMPS static void *follow_dlsym(void *library, const char *name)
 *     {
 *         OMPP_JUMP return dlsym(library, name);
 *     }
 */
#ifndef OMPP_JUMP_H
#define OMPP_JUMP_H

#if defined __has_attribute && !defined __clang_analyzer__
#if __has_attribute(musttail)
#define OMPP_JUMP __attribute__((musttail))
#endif
#endif
#ifndef OMPP_JUMP
#define OMPP_JUMP
#endif
#if defined __GNUC__ && !defined __clang__
#define OMPP_JUMPS __attribute__((optimize("O2")))
#else
#define OMPP_JUMPS
#endif

#endif
