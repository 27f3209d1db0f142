#include "opari-bridge/ompp_pomp2_ctc.h"

#include <string.h>

static const struct {
    const char *type;
    uint8_t construct, untied;
} types[] = {
    {"atomic", OMPP_CONSTRUCT_ATOMIC, OMPP_CONSTRUCT_ATOMIC},
    {"barrier", OMPP_CONSTRUCT_BARRIER, OMPP_CONSTRUCT_BARRIER},
    {"critical", OMPP_CONSTRUCT_CRITICAL, OMPP_CONSTRUCT_CRITICAL},
    {"distribute", OMPP_CONSTRUCT_DISTRIBUTE, OMPP_CONSTRUCT_DISTRIBUTE},
    {"do", OMPP_CONSTRUCT_LOOP, OMPP_CONSTRUCT_LOOP},
    {"flush", OMPP_CONSTRUCT_FLUSH, OMPP_CONSTRUCT_FLUSH},
    {"for", OMPP_CONSTRUCT_LOOP, OMPP_CONSTRUCT_LOOP},
    {"loop", OMPP_CONSTRUCT_LOOP, OMPP_CONSTRUCT_LOOP},
    {"masked", OMPP_CONSTRUCT_MASTER, OMPP_CONSTRUCT_MASTER},
    {"master", OMPP_CONSTRUCT_MASTER, OMPP_CONSTRUCT_MASTER},
    {"ordered", OMPP_CONSTRUCT_ORDERED, OMPP_CONSTRUCT_ORDERED},
    {"parallel", OMPP_CONSTRUCT_PARALLEL, OMPP_CONSTRUCT_PARALLEL},
    {"paralleldo", OMPP_CONSTRUCT_PARLOOP, OMPP_CONSTRUCT_PARLOOP},
    {"parallelfor", OMPP_CONSTRUCT_PARLOOP, OMPP_CONSTRUCT_PARLOOP},
    {"parallelsections", OMPP_CONSTRUCT_PARSECTS, OMPP_CONSTRUCT_PARSECTS},
    {"parallelworkshare", OMPP_CONSTRUCT_PARWRKSH, OMPP_CONSTRUCT_PARWRKSH},
    {"scope", OMPP_CONSTRUCT_SCOPE, OMPP_CONSTRUCT_SCOPE},
    {"sections", OMPP_CONSTRUCT_SECTIONS, OMPP_CONSTRUCT_SECTIONS},
    {"single", OMPP_CONSTRUCT_SINGLE, OMPP_CONSTRUCT_SINGLE},
    {"target", OMPP_CONSTRUCT_TARGET, OMPP_CONSTRUCT_TARGET},
    {"task", OMPP_CONSTRUCT_TASK, OMPP_CONSTRUCT_UTASK},
    {"taskgroup", OMPP_CONSTRUCT_TASKGROUP, OMPP_CONSTRUCT_TASKGROUP},
    {"taskloop", OMPP_CONSTRUCT_TASKLOOP, OMPP_CONSTRUCT_TASKLOOP},
    {"taskwait", OMPP_CONSTRUCT_TASKWAIT, OMPP_CONSTRUCT_TASKWAIT},
    {"teams", OMPP_CONSTRUCT_TEAMS, OMPP_CONSTRUCT_TEAMS},
    {"userRegion", OMPP_CONSTRUCT_USER_REGION, OMPP_CONSTRUCT_USER_REGION},
    {"workshare", OMPP_CONSTRUCT_WORKSHARE, OMPP_CONSTRUCT_WORKSHARE},
};

static bool span_is(ompp_span_t span, const char *text)
{
    return strlen(text) == span.length && memcmp(span.text, text, span.length) == 0;
}

/* Reads digits that end at *end, going backwards; moves *end before them and before the colon in front of them. */
static bool number_from_end(const char *begin, const char **end, uint32_t *value)
{
    const char *p = *end;
    uint64_t sum = 0, unit = 1;

    for (; p > begin && p[-1] >= '0' && p[-1] <= '9' && unit < 10000000000u; p--, unit *= 10)
        sum += unit * (p[-1] - '0');
    if (p == *end || p == begin || p[-1] != ':' || sum > UINT32_MAX) return false;
    *value = (uint32_t)sum;
    *end = p - 1;
    return true;
}

/* "path:first:last"; the path may hold anything, also '*' and ':', so it is read from its end. */
static bool read_place(ompp_span_t value, ompp_span_t *file, uint32_t *first, uint32_t *last)
{
    const char *end = value.text + value.length;

    if (!number_from_end(value.text, &end, last) || !number_from_end(value.text, &end, first)) return false;
    *file = (ompp_span_t){value.text, end - value.text};
    return true;
}

/* The value of "*key=" up to the next "*"; for places up to the '*' behind two line numbers. */
static ompp_span_t find(const char *text, const char *key, bool place)
{
    size_t length = strlen(key);
    ompp_span_t value = {NULL, 0}, file;
    uint32_t first, last;

    for (const char *star = strchr(text, '*'); star; star = strchr(star + 1, '*')) {
        if (strncmp(star + 1, key, length) != 0 || star[1 + length] != '=') continue;
        value.text = star + length + 2;
        for (const char *end = strchr(value.text, '*'); end; end = strchr(end + 1, '*')) {
            value.length = end - value.text;
            if (!place || read_place(value, &file, &first, &last)) return value;
        }
        return (ompp_span_t){NULL, 0};
    }
    return value;
}

static ompp_construct_t construct_of(ompp_span_t type, bool untied)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (type.text && span_is(type, types[i].type)) return untied ? types[i].untied : types[i].construct;
    return OMPP_CONSTRUCT_NUM;
}

/* dynamic, guided, runtime and auto, perhaps with a modifier and a chunk size. */
static bool is_dynamic(ompp_span_t schedule)
{
    static const char statically[] = "static";

    for (size_t i = 0; i + sizeof statically - 1 <= schedule.length; i++)
        if (strncmp(schedule.text + i, statically, sizeof statically - 1) == 0) return false;
    return schedule.length > 0;
}

bool ompp_ctc_read(const char *text, ompp_ctc_t *ctc)
{
    ompp_span_t start, end, unused;
    uint32_t line;

    memset(ctc, 0, sizeof *ctc);
    ctc->construct = OMPP_CONSTRUCT_NUM;
    if (!text) return false;
    ctc->construct = construct_of(find(text, "regionType", false), find(text, "hasUntied", false).length > 0);
    start = find(text, "sscl", true);
    end = find(text, "escl", true);
    if (start.text) read_place(start, &ctc->file, &ctc->begin, &line);
    if (end.text) read_place(end, &unused, &line, &ctc->end);
    if (ctc->construct == OMPP_CONSTRUCT_CRITICAL) ctc->name = find(text, "criticalName", false);
    if (ctc->construct == OMPP_CONSTRUCT_USER_REGION) ctc->name = find(text, "userRegionName", false);
    ctc->dynamic = is_dynamic(find(text, "hasSchedule", false));
    return ctc->construct != OMPP_CONSTRUCT_NUM;
}
