/*
 * Data address ranges of the processor through PAPI_set_opt(PAPI_DATA_ADDRESS): counters that count for one data
 * structure alone.
 *
 * Only the CPU's component is asked, and only with an event set that is assigned to it: others say PAPI_OK and do
 * nothing, or crash (PAPI 7.0). PAPI_OK is believed only after loads inside and outside of a range have given the right
 * counts.
 */
#include "counter/ompp_papi_priv.h"

#include "base/ompp_pages.h"
#include "data/ompp_data.h"
#include "model/ompp_profile.h"
#include "runtime/ompp_component.h"
#include "runtime/ompp_event.h"

#include <papi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CPU 0 /* PAPI's component of the processor; always the first */
#define LOADS "PAPI_LD_INS"
#define PAGES 500u        /* of the trial; one load each */
#define APART (8 * PAGES) /* pages between the part inside of the range and the one outside: ranges may be coarse */
#define CLEAR 100         /* counts below tell nothing */

enum { INSIDE = 1, OUTSIDE = 2 };

static pthread_mutex_t range_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    uint32_t object;
    uintptr_t begin, end;
} range;
static _Atomic unsigned generation;
static bool works, reported;
static char refusal[400] = "no counters are asked for (OMPP_CTR1=PAPI_LD_INS)";

/* ---- The one structure ------------------------------------------------------------------------------------------- */

/* One range per event set, and one running set per thread: the first structure has it, until it is released. */
static void put(uint32_t object, uintptr_t begin, uintptr_t end)
{
    bool second;

    pthread_mutex_lock(&range_lock);
    second = object && range.object && !(range.begin < end && range.end > begin);
    if (!second) {
        range.object = object;
        range.begin = object ? begin : 0;
        range.end = object ? end : 0;
        generation++;
    }
    second = second && !reported;
    if (second) reported = true;
    pthread_mutex_unlock(&range_lock);
    if (second)
        ompp_event_coverage(OMPP_COVERAGE_NOTE, "counters are restricted to the first data structure",
                            "the processor has one range at a time; name the others in runs of their own (OMPP_DATA)");
}

static bool start(char *why, size_t n)
{
    if (!works) snprintf(why, n, "%s", refusal);
    return works;
}

static const ompp_component_t backend = {.name = "papi", .start = start, .put = put};

bool ompp_papi_range_of(int component) { return works && component == CPU; }

unsigned ompp_papi_range_generation(void) { return generation; }

static int restrict_to(int set, uintptr_t begin, uintptr_t end, PAPI_option_t *option)
{
    memset(option, 0, sizeof *option);
    option->addr.eventset = set;
    option->addr.start = (vptr_t)begin;
    option->addr.end = (vptr_t)end;
    return PAPI_set_opt(PAPI_DATA_ADDRESS, option);
}

uint32_t ompp_papi_range_apply(int set)
{
    PAPI_option_t option;
    uint32_t object;

    pthread_mutex_lock(&range_lock);
    object = range.object;
    int error = object ? restrict_to(set, range.begin, range.end, &option) : PAPI_OK;
    pthread_mutex_unlock(&range_lock);
    if (object && error == PAPI_OK)
        ompp_data_offsets(object, (uint64_t)option.addr.start_off, (uint64_t)option.addr.end_off);
    if (error == PAPI_OK) return object;
    ompp_event_coverage(OMPP_COVERAGE_REFUSED, "data address range of a structure", PAPI_strerror(error));
    return 0;
}

/* ---- The trial --------------------------------------------------------------------------------------------------- */

typedef struct {
    char *inside, *outside;
    size_t page;
} memory_t;

static void load_pages(const char *begin, size_t page)
{
    for (unsigned i = 0; i < PAGES; i++) (void)*(const volatile char *)(begin + i * page);
}

/* What an event counts while pages are read that nobody has read before. \return negative: error of PAPI. */
static long long counted(const char *name, const memory_t *m, bool ranged, unsigned where)
{
    const ompp_papi_part_t alone = {.component = CPU, .n = 1, .names = &name};
    PAPI_option_t option;
    long long count = 0;
    int set, error = ompp_papi_set_new(&alone, &set);

    if (error != PAPI_OK) return error;
    ompp_madvise(m->outside, (2 * PAGES + APART) * m->page, MADV_DONTNEED);
    if (ranged) error = restrict_to(set, (uintptr_t)m->inside, (uintptr_t)m->inside + PAGES * m->page, &option);
    if (error == PAPI_OK) error = PAPI_start(set);
    if (error == PAPI_OK) {
        if (where & INSIDE) load_pages(m->inside, m->page);
        if (where & OUTSIDE) load_pages(m->outside, m->page);
        error = PAPI_stop(set, &count);
    }
    ompp_papi_set_drop(&set);
    return error == PAPI_OK ? count : error;
}

static bool about(long long count, long long wanted)
{
    const long long slack = wanted / 50 + 8;

    return count >= wanted - slack && count <= wanted + slack;
}

/* A counter of loads, without a range: each page once, and little else. */
static bool counts_loads(const char *name, const memory_t *m)
{
    const long long count = counted(name, m, false, INSIDE | OUTSIDE);

    return count >= 2 * PAGES && count <= 3 * PAGES;
}

static const char *find_loads(const ompp_papi_part_t *part, const memory_t *m)
{
    if (counts_loads(LOADS, m)) return LOADS;
    for (unsigned i = 0; i < part->n; i++)
        if (counts_loads(part->names[i], m)) return part->names[i];
    return NULL;
}

static bool calibrate(const ompp_papi_part_t *part, const memory_t *m)
{
    const char *loads = find_loads(part, m);
    /* Whatever PAPI says of the range, that comes first: it is the usual refusal. */
    const long long first = counted(loads ? loads : part->names[0], m, true, INSIDE);

    if (first < 0) {
        snprintf(refusal, sizeof refusal, "PAPI restricts no counters to addresses on this processor: %s",
                 PAPI_strerror((int)first));
        return false;
    }
    if (!loads) {
        snprintf(refusal, sizeof refusal,
                 "PAPI accepts a range of addresses, but no counter of loads works to try it with");
        return false;
    }
    const long long both = counted(loads, m, true, INSIDE | OUTSIDE);
    if (about(first, PAGES) && about(both, PAGES)) return true;
    snprintf(
        refusal, sizeof refusal,
        "PAPI accepts a range of addresses, but counts wrongly: of %u loads inside %lld, with %u more outside %lld",
        PAGES, first, PAGES, both);
    return false;
}

/* Counters of other things than accesses go on as before. */
static bool is_restricted(const char *name, const memory_t *m)
{
    const long long all = counted(name, m, false, OUTSIDE), ranged = counted(name, m, true, OUTSIDE);

    return all >= 0 && ranged >= 0 && (all < CLEAR || ranged <= all / 50 + 8);
}

static bool make_memory(memory_t *m)
{
    m->page = (size_t)sysconf(_SC_PAGESIZE);
    m->outside = ompp_mmap(NULL, (2 * PAGES + APART) * m->page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (m->outside == MAP_FAILED) return false;
    ompp_madvise(m->outside, (2 * PAGES + APART) * m->page, MADV_NOHUGEPAGE);
    m->inside = m->outside + (PAGES + APART) * m->page;
    return true;
}

static bool try_ranges(const ompp_papi_part_t *part, bool restricted[])
{
    memory_t m;
    bool any = false;

    if (!make_memory(&m)) {
        snprintf(refusal, sizeof refusal, "no memory to try it with");
        return false;
    }
    if (calibrate(part, &m))
        for (unsigned i = 0; i < part->n; i++) any |= restricted[part->column[i]] = is_restricted(part->names[i], &m);
    else part = NULL;
    ompp_munmap(m.outside, (2 * PAGES + APART) * m.page);
    if (part && !any) snprintf(refusal, sizeof refusal, "none of the counters counts accesses to memory");
    return any;
}

bool ompp_papi_range_start(const ompp_papi_part_t *parts, unsigned nparts, bool restricted[])
{
    const PAPI_component_info_t *cpu = PAPI_get_component_info(CPU);

    if (!ompp_data_may_choose("papi")) return false;
    ompp_data_offer(&backend);
    for (unsigned p = 0; p < nparts; p++) {
        if (parts[p].component != CPU || parts[p].n == 0) continue;
        if (cpu && !cpu->disabled) works = try_ranges(&parts[p], restricted);
        else snprintf(refusal, sizeof refusal, "PAPI's component of the processor is off");
        return works;
    }
    snprintf(refusal, sizeof refusal, "none of the counters is one of the processor");
    return false;
}
