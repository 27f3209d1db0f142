/*
 * Event sets of PAPI: made, tried for a moment, given back.
 */
#include "counter/ompp_papi_priv.h"

#include <papi.h>

void ompp_papi_set_drop(int *set)
{
    if (*set == PAPI_NULL) return;
    PAPI_cleanup_eventset(*set);
    PAPI_destroy_eventset(set);
    *set = PAPI_NULL;
}

int ompp_papi_set_new(const ompp_papi_part_t *part, int *set)
{
    int error;

    *set = PAPI_NULL;
    error = PAPI_create_eventset(set);
    if (error == PAPI_OK) error = PAPI_assign_eventset_component(*set, part->component);
    if (error == PAPI_OK && part->turns) error = PAPI_set_multiplex(*set);
    for (unsigned i = 0; i < part->n && error == PAPI_OK; i++) error = PAPI_add_named_event(*set, part->names[i]);
    if (error != PAPI_OK) ompp_papi_set_drop(set);
    return error;
}

int ompp_papi_try(const ompp_papi_part_t *part)
{
    long long values[part->n];
    int set, error = ompp_papi_set_new(part, &set);

    if (error != PAPI_OK) return error;
    error = PAPI_start(set);
    if (error == PAPI_OK) error = PAPI_stop(set, values);
    ompp_papi_set_drop(&set);
    return error;
}

bool ompp_papi_works(const char *name)
{
    ompp_papi_part_t alone = {.n = 1, .names = &name};
    int code;

    if (PAPI_event_name_to_code(name, &code) != PAPI_OK) return false;
    alone.component = PAPI_get_event_component(code);
    return alone.component >= 0 && ompp_papi_try(&alone) == PAPI_OK;
}
