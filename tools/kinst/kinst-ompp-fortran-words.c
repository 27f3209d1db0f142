/** \file Words of OpenMP directives of Fortran, and names of their clauses. */
#include "tools/kinst/kinst-ompp-fortran.h"

#include <string.h>
#include <strings.h>

static const char *const directives[] = {
    "assume",   "atomic",        "barrier",    "cancel",   "cancellation", "capture",       "critical", "data",
    "declare",  "dispatch",      "distribute", "do",       "end",          "enter",         "error",    "exit",
    "flush",    "interop",       "loop",       "masked",   "master",       "metadirective", "nothing",  "ordered",
    "parallel", "point",         "read",       "requires", "scan",         "scope",         "section",  "sections",
    "simd",     "single",        "target",     "task",     "taskgroup",    "taskloop",      "taskwait", "taskyield",
    "teams",    "threadprivate", "tile",       "unroll",   "update",       "workshare",     "write",    NULL};

static const char *const clauses[] = {
    "acq_rel",  "acquire",   "affinity",     "aligned",       "allocate",        "bind",
    "collapse", "compare",   "copyin",       "copyprivate",   "default",         "defaultmap",
    "depend",   "detach",    "device",       "dist_schedule", "doacross",        "fail",
    "filter",   "final",     "firstprivate", "from",          "grainsize",       "has_device_addr",
    "hint",     "if",        "in_reduction", "inbranch",      "is_device_ptr",   "lastprivate",
    "linear",   "map",       "mergeable",    "nogroup",       "nontemporal",     "notinbranch",
    "nowait",   "num_tasks", "num_teams",    "num_threads",   "order",           "priority",
    "private",  "proc_bind", "reduction",    "relaxed",       "release",         "safelen",
    "schedule", "seq_cst",   "shared",       "simdlen",       "task_reduction",  "thread_limit",
    "threads",  "to",        "uniform",      "untied",        "use_device_addr", "use_device_ptr",
    "weak",     NULL};

/* Length of the longest of the words that stands at p. */
static size_t longest(const char *const words[], const char *p, size_t length)
{
    size_t longest = 0;

    for (; *words; words++) {
        size_t n = strlen(*words);
        if (n > longest && n <= length && strncasecmp(p, *words, n) == 0) longest = n;
    }
    return longest;
}

size_t kinst_fortran_word(const char *p, size_t length, bool *clause)
{
    size_t directive = longest(directives, p, length), other = longest(clauses, p, length);

    *clause = other > directive;
    return *clause ? other : directive;
}
