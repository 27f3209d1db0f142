/*
 * Refusals in words: the reason, and the nearest names that work here.
 */
#include "counter/ompp_papi_priv.h"

#include <ctype.h>
#include <papi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_NAME 128 /* compared */
#define NEAREST 12   /* names that are tried */
#define SHOWN 3

typedef struct {
    unsigned distance;
    char name[MAX_NAME];
} candidate_t;

/* ---- Nearest names --------------------------------------------------------------------------------------------------- */

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Levenshtein's distance, letters of both cases equal; of the first MAX_NAME - 1 characters. */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[MAX_NAME], n = (unsigned)strnlen(b, MAX_NAME - 1);

    for (unsigned j = 0; j <= n; j++) row[j] = j;
    for (unsigned i = 1; a[i - 1] && i < MAX_NAME; i++) {
        unsigned diagonal = row[0];
        row[0] = i;
        for (unsigned j = 1; j <= n; j++) {
            unsigned same = toupper((unsigned char)a[i - 1]) == toupper((unsigned char)b[j - 1]) ? 0 : 1;
            unsigned next = least(least(row[j] + 1, row[j - 1] + 1), diagonal + same);
            diagonal = row[j];
            row[j] = next;
        }
    }
    return row[n];
}

static void offer(candidate_t best[], unsigned *nbest, const char *wanted, const char *name)
{
    unsigned d = distance(wanted, name), k;

    if (*nbest == NEAREST && d >= best[NEAREST - 1].distance) return;
    if (*nbest < NEAREST) (*nbest)++;
    for (k = *nbest - 1; k > 0 && best[k - 1].distance > d; k--) best[k] = best[k - 1];
    best[k].distance = d;
    snprintf(best[k].name, sizeof best[k].name, "%s", name);
}

static void offer_all(candidate_t best[], unsigned *nbest, const char *wanted, int first, int component)
{
    PAPI_event_info_t info;
    int code = first;

    if ((component < 0 ? PAPI_enum_event(&code, PAPI_ENUM_FIRST) : PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, component)) != PAPI_OK)
        return;
    do {
        if (PAPI_get_event_info(code, &info) == PAPI_OK) offer(best, nbest, wanted, info.symbol);
    } while ((component < 0 ? PAPI_enum_event(&code, PAPI_PRESET_ENUM_AVAIL)
                            : PAPI_enum_cmp_event(&code, PAPI_ENUM_EVENTS, component)) == PAPI_OK);
}

/* ", nearest that work here: A, B"; nothing when none does. */
static void name_nearest(const char *wanted, char *text, size_t n)
{
    candidate_t best[NEAREST];
    unsigned nbest = 0, shown = 0;
    size_t used = 0;

    *text = '\0';
    offer_all(best, &nbest, wanted, (int)PAPI_PRESET_MASK, -1);
    for (int c = 0; c < PAPI_num_components(); c++) {
        const PAPI_component_info_t *component = PAPI_get_component_info(c);
        if (component && !component->disabled) offer_all(best, &nbest, wanted, (int)PAPI_NATIVE_MASK, c);
    }
    for (unsigned k = 0; k < nbest && shown < SHOWN && used < n; k++) {
        if (!ompp_papi_works(best[k].name)) continue;
        used += (size_t)snprintf(text + used, n - used, "%s%s", shown++ ? ", " : "; nearest that work here: ", best[k].name);
    }
}

/* ---- Reasons --------------------------------------------------------------------------------------------------------- */

static int paranoid(void)
{
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
    int level = 0;

    if (!file) return 0;
    if (fscanf(file, "%d", &level) != 1) level = 0;
    fclose(file);
    return level;
}

bool ompp_papi_has_pmu(void)
{
    return access("/sys/bus/event_source/devices/cpu", F_OK) == 0 || access("/sys/bus/event_source/devices/cpu_core", F_OK) == 0 ||
           access("/sys/bus/event_source/devices/armv8_pmuv3_0", F_OK) == 0;
}

static bool is_known(const char *name)
{
    int code;

    return PAPI_event_name_to_code(name, &code) == PAPI_OK;
}

void ompp_papi_why(const char *name, int error, bool beside, char *reason, size_t n)
{
    char nearest[300], why[160];

    if (!is_known(name))
        snprintf(why, sizeof why, "PAPI knows no event of this name");
    else if (error == PAPI_EPERM || (error != PAPI_ECNFLCT && ompp_papi_has_pmu() && paranoid() > 2))
        snprintf(why, sizeof why, "not permitted (perf_event_paranoid is %d; 2 or less is needed)", paranoid());
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
