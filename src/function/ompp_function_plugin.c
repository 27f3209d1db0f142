/*
 * Functions of plug-ins, in a program that was built without us: their calls go to functions of the C library, which is
 * in front of us there and does nothing. They are taken over when a plug-in brings us, and when the program asks for
 * something in one that it has opened later.
 */
#define _GNU_SOURCE
#include "function/ompp_function_priv.h"

#include "base/ompp_path.h"
#include "image/ompp_intercept.h"
#include "preload/ompp_dlopen_watch.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

static const ompp_intercept_t calls[] = {{"__cyg_profile_func_enter", (void *)ompp_function_enter, NULL},
                                         {"__cyg_profile_func_exit", (void *)ompp_function_exit, NULL}};
enum { NCALLS = sizeof calls / sizeof calls[0] };

static void take_over(void) { ompp_intercept(calls, NCALLS); }

/* Not where the program has functions of its own under these names. */
static bool is_of_c_library(const void *function)
{
    Dl_info info;

    return function && dladdr(function, &info) && info.dli_fname &&
           strncmp(ompp_path_last(info.dli_fname), "libc.so", 7) == 0;
}

__attribute__((constructor, no_instrument_function)) static void at_load(void)
{
    const bool is_behind = is_of_c_library(dlsym(RTLD_DEFAULT, calls[0].name));

    dlerror(); /* what was not found is no error of the program */
    if (!is_behind) return;
    take_over();
    ompp_dlopen_watch_tell(take_over);
}
