/*
 * Refusals in words: the reason, and the nearest names that work here.
 */
#include "counter/ompp_papi_priv.h"

#include "base/ompp_nearest.h"
#include "base/ompp_paranoid.h"

#include <papi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_NAME 128
#define NEAREST 12   /* names that are tried */
#define SHOWN 3

typedef struct {
    size_t distance;
    char name[MAX_NAME];
} candidate_t;

/* ---- Nearest names --------------------------------------------------------------------------------------------------- */

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

    if ((component < 0 ? PAPI_enum_event(&code, PAPI_ENUM_FIRST) : PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, component)) != PAPI_OK)
        return;
    do {
        if (PAPI_get_event_info(code, &info) == PAPI_OK) offer(best, nbest, wanted, info.symbol);
    } while ((component < 0 ? PAPI_enum_event(&code, presets)
                            : PAPI_enum_cmp_event(&code, PAPI_ENUM_EVENTS, component)) == PAPI_OK);
}

/* A name that is written wrong is said though the event cannot be had here: of another machine's user it may be. */
static void name_known(const char *wanted, char *text, size_t n)
{
    candidate_t best[NEAREST];
    unsigned nbest = 0;
    size_t used = 0;

    offer_all(best, &nbest, wanted, PAPI_ENUM_EVENTS, -1);
    for (unsigned k = 0; k < nbest && k < SHOWN && used < n && best[k].distance <= strlen(wanted) / 3; k++)
        used += (size_t)snprintf(text + used, n - used, "%s%s", k ? ", " : "; nearest, but not counted here: ", best[k].name);
}

/* "; nearest that work here: A, B" */
static void name_nearest(const char *wanted, char *text, size_t n)
{
    candidate_t best[NEAREST];
    unsigned nbest = 0, shown = 0;
    size_t used = 0;

    *text = '\0';
    offer_all(best, &nbest, wanted, PAPI_PRESET_ENUM_AVAIL, -1);
    for (int c = 0; c < PAPI_num_components(); c++) {
        const PAPI_component_info_t *component = PAPI_get_component_info(c);
        if (component && !component->disabled) offer_all(best, &nbest, wanted, 0, c);
    }
    for (unsigned k = 0; k < nbest && shown < SHOWN && used < n; k++) {
        if (!ompp_papi_works(best[k].name)) continue;
        used += (size_t)snprintf(text + used, n - used, "%s%s", shown++ ? ", " : "; nearest that work here: ", best[k].name);
    }
    if (!shown && !is_known(wanted)) name_known(wanted, text, n);
}

/* ---- Reasons --------------------------------------------------------------------------------------------------------- */

bool ompp_papi_has_pmu(void)
{
    return access("/sys/bus/event_source/devices/cpu", F_OK) == 0 || access("/sys/bus/event_source/devices/cpu_core", F_OK) == 0 ||
           access("/sys/bus/event_source/devices/armv8_pmuv3_0", F_OK) == 0;
}

void ompp_papi_why(const char *name, int error, bool beside, char *reason, size_t n)
{
    char nearest[300], why[160];

    if (!is_known(name))
        snprintf(why, sizeof why, "PAPI knows no event of this name");
    else if (error == PAPI_EPERM || (error != PAPI_ECNFLCT && ompp_papi_has_pmu() && ompp_perf_paranoid() > 2))
        snprintf(why, sizeof why, "not permitted (perf_event_paranoid is %d; 2 or less is needed)", ompp_perf_paranoid());
    else if (error == PAPI_ECNFLCT || (beside && error == PAPI_ECOUNT))
        snprintf(why, sizeof why, "it cannot be counted together with the counters before it%s",
                 ompp_env.multiplex ? "" : " (OMPP_MULTIPLEX=1 lets them take turns)");
    else if (!ompp_papi_has_pmu())
        snprintf(why, sizeof why, "this machine has no performance monitoring unit (a virtual machine mostly has none)");
    else
        snprintf(why, sizeof why, "PAPI says: %s", PAPI_strerror(error));
    name_nearest(name, nearest, sizeof nearest);
    snprintf(reason, n, "%s%s", why, nearest);
}
