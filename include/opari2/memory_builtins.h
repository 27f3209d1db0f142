/**
 * \file
 * Part of ompp, for kinst-ompp --memory with gcc: it expands its built-in block functions after the hooks were put in,
 * where the C++ library or the C library's checking headers (_FORTIFY_SOURCE) name them directly. So they become calls,
 * as -fno-builtin-memcpy makes of the others, which the link leads to the hooks.
 */
#ifndef OMPP_MEMORY_BUILTINS_H
#define OMPP_MEMORY_BUILTINS_H

#pragma GCC system_header

#ifdef __cplusplus
extern "C" {
#endif

#define OMPP_CALLED(name, parameters) \
    extern void *ompp_called_##name parameters __asm__(#name) __attribute__((__nothrow__));

OMPP_CALLED(memcpy, (void *, const void *, __SIZE_TYPE__))
OMPP_CALLED(memmove, (void *, const void *, __SIZE_TYPE__))
OMPP_CALLED(mempcpy, (void *, const void *, __SIZE_TYPE__))
OMPP_CALLED(memset, (void *, int, __SIZE_TYPE__))
OMPP_CALLED(__memcpy_chk, (void *, const void *, __SIZE_TYPE__, __SIZE_TYPE__))
OMPP_CALLED(__memmove_chk, (void *, const void *, __SIZE_TYPE__, __SIZE_TYPE__))
OMPP_CALLED(__mempcpy_chk, (void *, const void *, __SIZE_TYPE__, __SIZE_TYPE__))
OMPP_CALLED(__memset_chk, (void *, int, __SIZE_TYPE__, __SIZE_TYPE__))

#undef OMPP_CALLED

#ifdef __cplusplus
}
#endif

/* The rest of the arguments may hold commas that macros leave bare. */
#define __builtin_memcpy(...) ompp_called_memcpy(__VA_ARGS__)
#define __builtin_memmove(...) ompp_called_memmove(__VA_ARGS__)
#define __builtin_mempcpy(...) ompp_called_mempcpy(__VA_ARGS__)
#define __builtin_memset(...) ompp_called_memset(__VA_ARGS__)
#define __builtin___memcpy_chk(...) ompp_called___memcpy_chk(__VA_ARGS__)
#define __builtin___memmove_chk(...) ompp_called___memmove_chk(__VA_ARGS__)
#define __builtin___mempcpy_chk(...) ompp_called___mempcpy_chk(__VA_ARGS__)
#define __builtin___memset_chk(...) ompp_called___memset_chk(__VA_ARGS__)

#endif
