/**
 * \file
 * Modules: the program and its libraries. Private to src/runtime.
 */
#ifndef OMPP_MODULE_PRIV_H
#define OMPP_MODULE_PRIV_H

#include "model/ompp_layout.h"

#include <stdbool.h>
#include <stdint.h>

/** What the dynamic linker knows of the module of an address. */
typedef struct {
    uintptr_t address;
    uintptr_t base, low, high;
    char path[1024], id[2 * 32 + 1];
    bool found;
} ompp_module_search_t;

/**
 * \brief Asks the dynamic linker for the module of search->address.
 * \note Without our lock: the dynamic linker has one of its own, and holds it while constructors of a library that is
 *       being loaded run, which may come here.
 */
void ompp_module_find(ompp_module_search_t *search);

/** \return the registered module of the address; NULL = there is none. The caller holds the lock. */
ompp_a_module_t *ompp_module_known(uintptr_t address);

/** \return the module that was found, registered; NULL when there is none, or no room. The caller holds the lock. */
ompp_a_module_t *ompp_module_add(const ompp_module_search_t *search);

/** \brief Registers all modules that are loaded. Without the lock; as ompp_module_find(). */
void ompp_modules_add(void);

/** \brief Registered modules at these addresses are there no longer. The caller holds the lock. */
void ompp_module_unloaded(uintptr_t low, uintptr_t high);

/**
 * \brief Libraries that were unloaded without a call of dlclose() that we have seen.
 * \param[out] low, high  addresses of one of them.
 * \return whether there is one. Quick when nothing was unloaded since the last call.
 */
bool ompp_module_is_gone(uintptr_t *low, uintptr_t *high);

#endif
