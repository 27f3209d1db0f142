#include "runtime/ompp_component.h"

#include "runtime/ompp_meters.h"
#include "runtime/ompp_region_priv.h"

#include <stdio.h>

static const ompp_component_t *components[OMPP_MAX_COMPONENTS];
static _Atomic unsigned ncomponents;
static const ompp_component_t *early[OMPP_MAX_COMPONENTS + 1]; /* that came before the runtime started */

bool ompp_component_start(const ompp_component_t *component, char *why, size_t n)
{
    snprintf(why, n, "%s", "");
    if (!ompp_process.header) {
        unsigned waiting = 0;
        while (early[waiting]) waiting++;
        if (waiting < OMPP_MAX_COMPONENTS) early[waiting] = component;
        return waiting < OMPP_MAX_COMPONENTS;
    }
    if (component->start && !component->start(why, n)) return false;
    const ompp_locked_t locked = ompp_lock();
    const unsigned i = atomic_load(&ncomponents);
    if (i < OMPP_MAX_COMPONENTS) {
        components[i] = component;
        if (component->thread_begin) ompp_meter_add(component);
        atomic_store(&ncomponents, i + 1);
    }
    ompp_unlock(locked);
    if (i == OMPP_MAX_COMPONENTS) snprintf(why, n, "there are %u components already", i);
    else if (component->waits && component->thread_begin)
        __atomic_store_n(&ompp_sync_subscriber, component->waits(), __ATOMIC_RELEASE);
    return i < OMPP_MAX_COMPONENTS;
}

const ompp_component_t *const *ompp_components_early(void) { return early; }

void ompp_component_visited(ompp_time_t t)
{
    const unsigned n = atomic_load_explicit(&ncomponents, memory_order_acquire);

    for (unsigned i = 0; i < n; i++)
        if (components[i]->visited) components[i]->visited(t);
}

void ompp_component_got(const void *block, size_t size, const void *code, void *const *word)
{
    const unsigned n = atomic_load_explicit(&ncomponents, memory_order_acquire);

    for (unsigned i = 0; i < n; i++)
        if (components[i]->got) components[i]->got(block, size, code, word);
}

void ompp_component_gone(const void *block, size_t size)
{
    const unsigned n = atomic_load_explicit(&ncomponents, memory_order_acquire);

    for (unsigned i = 0; i < n; i++)
        if (components[i]->gone) components[i]->gone(block, size);
}

void ompp_components_quiesce(void)
{
    const unsigned n = atomic_load(&ncomponents);

    for (unsigned i = 0; i < n; i++)
        if (components[i]->quiesce) components[i]->quiesce();
}
