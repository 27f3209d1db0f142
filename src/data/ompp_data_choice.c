/*
 * Which back ends count for data structures: those that the user names, or the best one that works here.
 */
#define _GNU_SOURCE
#define OMPP_LOG_DOMAIN "data"
#include "data/ompp_data_priv.h"

#include "base/ompp_env.h"
#include "base/ompp_log.h"
#include "model/ompp_profile.h"
#include "runtime/ompp_event.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOT_BUILT "the program was not built with kinst-ompp --memory"
#define BUILD_IT "build the program with kinst-ompp --memory: "

/* Best first. */
static const char *const preference[] = {"hooks", "papi", "samples", "breakpoints", "page-faults"};

static char why_no_faults[480]; /* page faults cannot be counted */

/* \return whether word stands in the list, between commas and blanks. */
static bool listed(const char *list, const char *word)
{
    size_t n = strlen(word);

    for (const char *at = list; (at = strstr(at, word)); at += n)
        if ((at == list || strchr(", ", at[-1])) && strchr(", ", at[n])) return true;
    return false;
}

static bool is_auto(void) { return listed(ompp_env.data_backend, "auto"); }

bool ompp_data_wants(const char *backend)
{
    /* reads the environment, knowing which rank this is: one rank alone complains about it */
    return ompp_runtime_start() && (is_auto() || listed(ompp_env.data_backend, backend));
}

bool ompp_data_may_choose(const char *backend)
{
    if (!ompp_runtime_start()) return false;
    if (!is_auto()) return listed(ompp_env.data_backend, backend);
    return (*ompp_env.data || *ompp_env.data_addr) && !ompp_data_has("hooks");
}

static void refuse(const char *name, const char *why)
{
    char subject[80];

    if (!is_auto()) ompp_warn_common("OMPP_DATA_BACKEND=%s: %s", name, why);
    snprintf(subject, sizeof subject, "data structures through %s", name);
    ompp_event_coverage(OMPP_COVERAGE_REFUSED, subject, why);
}

static const char *why_not_offered(const char *name, bool has_papi)
{
    if (strcmp(name, "hooks") == 0) return NOT_BUILT;
    if (strcmp(name, "papi") == 0 && ompp_env.counters.n == 0)
        return "no counters are asked for (OMPP_CTR1=PAPI_LD_INS)";
    if (strcmp(name, "papi") == 0 && has_papi)
        return "no counter of OMPP_CTR is available here that PAPI could restrict to addresses";
    return "this ompp was built without it, or its library is missing";
}

/* \return whether it counts now. */
static bool start(const char *name, bool has_papi)
{
    const ompp_component_t *backend = ompp_data_offered(name);
    char why[480] = "there are too many";

    if (ompp_data_has(name)) return true;
    if (!backend) {
        refuse(name, why_not_offered(name, has_papi));
        return false;
    }
    if (ompp_data_subscribe(backend) && ompp_component_start(backend, why, sizeof why)) return true;
    ompp_data_unsubscribe(backend);
    if (strcmp(name, "page-faults") == 0) snprintf(why_no_faults, sizeof why_no_faults, "%s", why);
    refuse(name, why);
    return false;
}

/* Who names data expects loads and stores, and is to know before the run is over that there are none. */
static void say_what_counts(bool any)
{
    const bool refused = ompp_data_hooks_are_refused();

    if (!any)
        ompp_warn_common("%sOMPP_DATA counts nothing%s%s%s", refused ? "" : BUILD_IT,
                         refused ? ": the program's hooks were refused" : "",
                         *why_no_faults ? ", and page faults cannot be counted: " : "", why_no_faults);
    else if (ompp_data_has("page-faults"))
        ompp_warn_common("%sOMPP_DATA counts page faults (first touches), no loads and stores%s; "
                         "OMPP_DATA_BACKEND=page-faults says that they are meant",
                         refused ? "" : BUILD_IT, refused ? ": the program's hooks were refused" : "");
}

void ompp_data_choose(bool has_papi)
{
    const bool by_itself = is_auto(), named = *ompp_env.data || *ompp_env.data_addr;
    bool any = false;

    if (ompp_data_has_offers()) ompp_data_resolve(); /* what they are to watch is of importance to some */
    /* Where the program's own code names structures, hooks have come by themselves. */
    for (size_t i = 0; (named || !by_itself) && i < sizeof preference / sizeof preference[0]; i++) {
        const bool counts = ompp_data_wants(preference[i]) && start(preference[i], has_papi);
        any = any || counts;
        if (counts && by_itself) break;
    }
    if (named && by_itself) say_what_counts(any);
}

/* ---- The user's variables ---------------------------------------------------------------------------------------- */

static bool number(const char *name, const char *text, uint64_t *value)
{
    char *rest;

    errno = 0;
    *value = strtoull(text, &rest, 0);
    if (isdigit((unsigned char)*text) && !*rest && errno == 0 && *value) return true;
    ompp_warn_common("set %s to a number above 0: '%s' is none, and no data range is set", name, text);
    return false;
}

void ompp_data_from_environment(void)
{
    uint64_t address, size;

    if (!*ompp_env.data_addr && !*ompp_env.data_size) return;
    if (!*ompp_env.data_addr || !*ompp_env.data_size) {
        ompp_warn_common("set both OMPP_DATA_ADDR and OMPP_DATA_SIZE: they belong together, and no data range is set");
        return;
    }
    if (!number("OMPP_DATA_ADDR", ompp_env.data_addr, &address) || !number("OMPP_DATA_SIZE", ompp_env.data_size, &size))
        return;
    if (address + size < address)
        ompp_warn_common(
            "set a smaller OMPP_DATA_SIZE: the range ends beyond the end of memory, and no data range is set");
    else ompp_data_add((const void *)(uintptr_t)address, size, ompp_env.data_name, "OMPP_DATA_ADDR");
}
