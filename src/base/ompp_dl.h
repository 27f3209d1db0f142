/**
 * \file
 * Libraries and symbols that may not be there: what was not found is no error of the program, which would find it by
 * dlerror(). An error that the program has not asked for yet is lost, as the C library has it.
 */
#ifndef OMPP_DL_H
#define OMPP_DL_H

#include <dlfcn.h>

/** \brief dlsym(). \return NULL when it is not there. */
static inline void *ompp_dl_symbol(void *where, const char *name)
{
    void *found = dlsym(where, name);

    if (!found) dlerror();
    return found;
}

/** \brief dlopen(). \return NULL when it is not there. */
static inline void *ompp_dl_open(const char *name, int flags)
{
    void *library = dlopen(name, flags);

    if (!library) dlerror();
    return library;
}

#endif
