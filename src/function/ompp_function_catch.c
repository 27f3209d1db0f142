/*
 * C++ exceptions: clang does not call the exit hook of functions that an exception leaves (gcc does). Where it is
 * caught, the stack pointer says which ones those were. Only programs that have a C++ library come here.
 */
#define _GNU_SOURCE
#include "function/ompp_function_priv.h"

#include "base/ompp_dl.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef void *begin_catch_t(void *exception);

void *__cxa_begin_catch(void *exception);

static begin_catch_t *next_found; /* NULL = not known yet */

/*
 * The function we stand in front of. It comes next in the order of the process, or, for a C++ plug-in of a C program,
 * among what the plug-in was loaded with. One of them is there: without us the caller would have found it.
 */
static begin_catch_t *next_begin_catch(const void *caller)
{
    begin_catch_t *found = __atomic_load_n(&next_found, __ATOMIC_RELAXED);
    void *symbol, *module;
    Dl_info info;

    if (found) return found;
    symbol = ompp_dl_symbol(RTLD_NEXT, "__cxa_begin_catch");
    if (symbol) {
        memcpy(&found, &symbol, sizeof found);
        __atomic_store_n(&next_found, found, __ATOMIC_RELAXED);
        return found;
    }
    module = dladdr(caller, &info) ? ompp_dl_open(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    symbol = module ? ompp_dl_symbol(module, "__cxa_begin_catch") : NULL;
    if (!symbol) abort();
    memcpy(&found, &symbol, sizeof found);
    dlclose(module);
    return found;
}

/* At load, where the search cannot spoil what dlerror() has for the program. */
__attribute__((constructor, no_instrument_function)) static void find_at_load(void)
{
    void *symbol = ompp_dl_symbol(RTLD_NEXT, "__cxa_begin_catch");

    if (symbol) memcpy(&next_found, &symbol, sizeof next_found);
}

__attribute__((visibility("default"), no_instrument_function)) void *__cxa_begin_catch(void *exception)
{
    void *object = next_begin_catch(__builtin_return_address(0))(exception);

    ompp_event_caught(OMPP_CALLERS_STACK, ompp_event_now());
    return object;
}
