/*
 * Refusals in words: the reason, and names that work here: the nearest ones of a name that is misspelled, else what
 * there is.
 */
#include "counter/ompp_papi_priv.h"

#include "base/ompp_nearest.h"
#include "base/ompp_paranoid.h"

#include <papi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_NAME 128
#define NEAREST 12 /* names that are tried */
#define SHOWN 3

/* What machines without a performance monitoring unit have, the most useful first. */
static const char *const software[] = {"perf::TASK-CLOCK", "perf::PAGE-FAULTS", "perf::CONTEXT-SWITCHES",
                                       "perf::CPU-MIGRATIONS"};

typedef struct {
    size_t distance;
    char name[MAX_NAME];
} candidate_t;

/* ---- Nearest names ----------------------------------------------------------------------------------------------- */

static void offer(candidate_t best[], unsigned *nbest, const char *wanted, const char *name)
{
    size_t d = ompp_nearest_distance(wanted, name);
    unsigned k;

    if (*nbest == NEAREST && d >= best[NEAREST - 1].distance) return;
    if (*nbest < NEAREST) (*nbest)++;
    for (k = *nbest - 1; k > 0 && best[k - 1].distance > d; k--) best[k] = best[k - 1];
    best[k].distance = d;
    snprintf(best[k].name, sizeof best[k].name, "%.*s", MAX_NAME - 1, name);
}

static bool is_known(const char *name)
{
    int code;

    return PAPI_event_name_to_code(name, &code) == PAPI_OK;
}

/* presets: which of them, where component is none. */
static void offer_all(candidate_t best[], unsigned *nbest, const char *wanted, int presets, int component)
{
    PAPI_event_info_t info;
    const int first = (int)(component < 0 ? PAPI_PRESET_MASK : PAPI_NATIVE_MASK);
    int code = first;

    if ((component < 0 ? PAPI_enum_event(&code, PAPI_ENUM_FIRST)
                       : PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, component)) != PAPI_OK)
        return;
    do {
        if (PAPI_get_event_info(code, &info) == PAPI_OK) offer(best, nbest, wanted, info.symbol);
    } while ((component < 0 ? PAPI_enum_event(&code, presets)
                            : PAPI_enum_cmp_event(&code, PAPI_ENUM_EVENTS, component)) == PAPI_OK);
}

typedef struct {
    char *text;
    size_t n, used;
    unsigned shown;
} list_t;

static void add(list_t *list, const char *title, const char *name)
{
    if (list->shown == SHOWN || list->used >= list->n) return;
    list->used +=
        (size_t)snprintf(list->text + list->used, list->n - list->used, "%s%s", list->shown++ ? ", " : title, name);
}

/* A name that is written wrong is said though the event cannot be had here: of another machine's user it may be. */
static void name_known(const char *wanted, list_t *list)
{
    candidate_t best[NEAREST];
    unsigned nbest = 0;

    offer_all(best, &nbest, wanted, PAPI_ENUM_EVENTS, -1);
    for (unsigned k = 0; k < nbest; k++)
        if (best[k].distance <= strlen(wanted) / 3) add(list, "; nearest, but not counted here: ", best[k].name);
}

static void name_nearest(const char *wanted, list_t *list)
{
    candidate_t best[NEAREST];
    unsigned nbest = 0;

    offer_all(best, &nbest, wanted, PAPI_PRESET_ENUM_AVAIL, -1);
    for (int c = 0; c < PAPI_num_components(); c++) {
        const PAPI_component_info_t *component = PAPI_get_component_info(c);
        if (component && !component->disabled) offer_all(best, &nbest, wanted, 0, c);
    }
    for (unsigned k = 0; k < nbest; k++)
        if (best[k].distance <= strlen(wanted) / 3 && ompp_papi_works(best[k].name))
            add(list, "; nearest that work here: ", best[k].name);
}

/* Letters say nothing of what an event counts: names that are near are for those that are misspelled, or of the same
 * unit. */
static void name_others(const char *wanted, char *text, size_t n)
{
    list_t list = {.text = text, .n = n};
    const bool known = is_known(wanted);

    *text = '\0';
    if (!known || ompp_papi_has_pmu()) name_nearest(wanted, &list);
    if (list.shown) return;
    if (!known) name_known(wanted, &list);
    list.shown = 0;
    for (size_t i = 0; i < sizeof software / sizeof software[0]; i++)
        if (ompp_papi_works(software[i])) add(&list, "; what can be counted here: ", software[i]);
}

/* ---- Reasons ----------------------------------------------------------------------------------------------------- */

bool ompp_papi_has_pmu(void)
{
    return access("/sys/bus/event_source/devices/cpu", F_OK) == 0 ||
           access("/sys/bus/event_source/devices/cpu_core", F_OK) == 0 ||
           access("/sys/bus/event_source/devices/armv8_pmuv3_0", F_OK) == 0;
}

/* The events of the kernel are those of one component; it is off where PAPI does not know the processor, with the
 * software events, too. */
static const char *why_no_kernel_events(void)
{
    for (int c = 0; c < PAPI_num_components(); c++) {
        const PAPI_component_info_t *component = PAPI_get_component_info(c);
        if (component && strcmp(component->name, "perf_event") == 0)
            return component->disabled ? component->disabled_reason : NULL;
    }
    return NULL;
}

void ompp_papi_why(const char *name, int error, bool beside, char *reason, size_t n)
{
    const char *off = why_no_kernel_events();
    char others[300], why[320];

    if (!is_known(name) && off)
        snprintf(why, sizeof why, "PAPI knows no event of this name; its component perf_event is off: %.200s", off);
    else if (!is_known(name)) snprintf(why, sizeof why, "PAPI knows no event of this name");
    else if (error == PAPI_EPERM || (error != PAPI_ECNFLCT && ompp_papi_has_pmu() && ompp_perf_paranoid() > 2))
        snprintf(why, sizeof why, "not permitted (perf_event_paranoid is %d; 2 or less is needed)",
                 ompp_perf_paranoid());
    else if (error == PAPI_ECNFLCT || (beside && error == PAPI_ECOUNT))
        snprintf(why, sizeof why, "it cannot be counted together with the counters before it%s",
                 ompp_env.multiplex ? "" : " (OMPP_MULTIPLEX=1 lets them take turns)");
    else if (!ompp_papi_has_pmu())
        snprintf(why, sizeof why,
                 "this machine has no performance monitoring unit (a virtual machine mostly has none)");
    else snprintf(why, sizeof why, "PAPI says: %s", PAPI_strerror(error));
    name_others(name, others, sizeof others);
    snprintf(reason, n, "%s%s", why, others);
}
