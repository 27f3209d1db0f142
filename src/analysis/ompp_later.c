/* What a run had no time for: addresses whose lines were not looked up, and lines whose loops were not. */
#include "analysis/ompp_analysis.h"

#include "base/ompp_error.h"

#include <string.h>
#include <unistd.h>

static const char *const late[] = {OMPP_LATE_LOOPS, OMPP_LATE_LOCKS};

/* Whether a line of Coverage says that time was over for what can be looked up again. */
static bool is_late(const ompp_profile_t *p, const ompp_coverage_t *line)
{
    const char *subject = ompp_profile_text(p, line->subject), *reason = ompp_profile_text(p, line->reason);

    if (line->kind == OMPP_COVERAGE_UNRESOLVED)
        return strncmp(reason, OMPP_LATE_LIMIT, strlen(OMPP_LATE_LIMIT)) == 0 && access(subject, R_OK) == 0;
    for (size_t i = 0; line->kind == OMPP_COVERAGE_LATE && i < sizeof late / sizeof late[0]; i++)
        if (strcmp(subject, late[i]) == 0) return true;
    return false;
}

/* Files that are not here, or not those that ran, tell no more than the run could. */
static bool has_files(const ompp_profile_t *p)
{
    for (size_t i = 0; i < p->nregions; i++)
        if (p->regions[i].flags & OMPP_REGION_F_ADDRESS && p->regions[i].module < p->nmodules &&
            access(ompp_profile_text(p, p->modules[p->regions[i].module].path), R_OK) == 0)
            return true;
    return false;
}

bool ompp_analysis_is_late(const ompp_profile_t *p)
{
    for (size_t i = 0; i < p->ncoverage; i++)
        if (is_late(p, &p->coverage[i])) return has_files(p);
    return false;
}

int ompp_analysis_resolve_late(ompp_profile_t *p, double deadline, const char *who)
{
    size_t kept = 0;

    for (size_t i = 0; i < p->ncoverage; i++)
        if (!is_late(p, &p->coverage[i])) p->coverage[kept++] = p->coverage[i];
    p->ncoverage = kept;
    int rc = ompp_analysis_resolve(p, deadline, who), next = ompp_analysis_unify(p);
    if (rc == 0) rc = next;
    next = ompp_analysis_number(p);
    return rc ? rc : next;
}
