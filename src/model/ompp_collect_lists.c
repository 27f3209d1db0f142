/*
 * Lists of an arena to the profile: definitions, notes, the causal profile.
 */
#include "model/ompp_collect_priv.h"
#include "model/ompp_combine_priv.h"

#include <stdlib.h>
#include <string.h>

/* ---- Definitions ------------------------------------------------------------------------------------------------- */

static bool copy_modules(ompp_collecting_t *c, ompp_off_t first)
{
    const ompp_a_module_t *m = ompp_collect_record(c, first, sizeof *m);

    c->modules = first;
    c->nmodules = m ? m->index + 1 : 0;
    if (c->nmodules > OMPP_COLLECT_MAX) return false;
    c->module_of = malloc((c->nmodules + 1) * sizeof *c->module_of);
    if (!c->module_of) return false;
    for (uint32_t i = 0; i < c->nmodules; i++) c->module_of[i] = OMPP_NONE;
    for (uint32_t n = 0; m && n < c->nmodules; n++, m = ompp_collect_record(c, m->next, sizeof *m)) {
        ompp_module_t module = {ompp_collect_string(c, m->path), ompp_collect_string(c, m->id), m->base};
        if (m->index < c->nmodules) c->module_of[m->index] = ompp_profile_add_module(c->profile, &module);
    }
    return true;
}

/* Number of a critical section's lock: one more than that of the newest region which has it. 0 = none. */
static uint32_t lock_of(ompp_collecting_t *c, const ompp_a_region_t *r)
{
    const uint64_t lock = r->construct == OMPP_CONSTRUCT_CRITICAL ? ompp_collect_load(&r->lock) : 0;
    const uint64_t key = ompp_collect_key(c, lock);

    if (!lock) return 0;
    if (!ompp_table_get(&c->locks, key) && !ompp_table_set(&c->locks, key, (uint64_t)r->index + 1))
        c->profile->failed = true;
    return (uint32_t)ompp_table_get(&c->locks, key);
}

static void copy_region(ompp_collecting_t *c, const ompp_a_region_t *r)
{
    const ompp_a_module_t *m = ompp_collect_record(c, r->module, sizeof *m);
    ompp_region_t region = {.construct = r->construct,
                            .flags = r->flags,
                            .file = ompp_collect_string(c, r->file),
                            .name = ompp_collect_string(c, r->name),
                            .begin = r->begin,
                            .end = r->end,
                            .module = m && m->index < c->nmodules ? c->module_of[m->index] : OMPP_NONE,
                            .addr = r->addr,
                            .addr_end = ompp_collect_load(&r->addr_end),
                            .lock = lock_of(c, r),
                            .key = r->key,
                            .iterations = ompp_collect_load(&r->iterations),
                            .number = OMPP_NONE};

    if (r->index < c->nregions && r->construct < OMPP_CONSTRUCT_NUM)
        c->region_of[r->index] = ompp_profile_add_region(c->profile, &region);
}

static bool copy_regions(ompp_collecting_t *c, ompp_off_t first)
{
    const ompp_a_region_t *r = ompp_collect_record(c, first, sizeof *r);

    c->nregions = r ? r->index + 1 : 0;
    if (c->nregions > OMPP_COLLECT_MAX) return false;
    c->region_of = malloc((c->nregions + 1) * sizeof *c->region_of);
    if (!c->region_of) return false;
    for (uint32_t i = 0; i < c->nregions; i++) c->region_of[i] = OMPP_NONE;
    for (uint32_t n = 0; r && n < c->nregions; n++, r = ompp_collect_record(c, r->next, sizeof *r)) copy_region(c, r);
    return true;
}

const char *ompp_collect_name(const ompp_collecting_t *c, ompp_off_t region)
{
    const ompp_a_region_t *r = ompp_collect_record(c, region, sizeof *r);

    if (!r || r->construct >= OMPP_CONSTRUCT_NUM) return NULL;
    return *ompp_collect_text(c, r->name) ? ompp_collect_text(c, r->name) : ompp_constructs[r->construct].full;
}

/* Lists are newest first, and their records begin with the link. \return [n], oldest first, free(); NULL when there are
 * none. */
static const void **oldest_first(const ompp_collecting_t *c, ompp_off_t first, size_t size, uint32_t *n)
{
    const ompp_off_t *r;
    const void **sorted;
    uint32_t k;

    for (*n = 0, r = ompp_collect_record(c, first, size); r && *n < ompp_collect_most(c);
         r = ompp_collect_record(c, *r, size))
        ++*n;
    sorted = *n ? malloc(*n * sizeof *sorted) : NULL;
    if (!sorted) *n = 0;
    for (k = *n, r = ompp_collect_record(c, first, size); k > 0 && r; r = ompp_collect_record(c, *r, size))
        sorted[--k] = r;
    if (k > 0) *n = 0; /* all work is done */
    return sorted;
}

/* The profile has the metrics of a set in the order of their indices. */
static void copy_metrics(ompp_collecting_t *c, ompp_off_t first)
{
    uint32_t n;
    const void **sorted = oldest_first(c, first, sizeof(ompp_a_metric_t), &n);

    for (uint32_t i = 0; i < n; i++) {
        const ompp_a_metric_t *m = sorted[i];
        ompp_metric_t metric = {ompp_collect_string(c, m->name),
                                ompp_collect_string(c, m->source),
                                ompp_collect_string(c, m->meaning),
                                m->set,
                                m->index,
                                m->unit,
                                m->quality,
                                m->reduce_threads,
                                m->reduce_ranks,
                                m->use};
        ompp_profile_add_metric(c->profile, &metric);
    }
    free(sorted);
}

static void copy_object(ompp_collecting_t *c, const ompp_a_object_t *o, uint32_t rank)
{
    ompp_object_t object = {.name = ompp_collect_string(c, o->name),
                            .origin = ompp_collect_string(c, o->origin),
                            .address = o->address,
                            .size = o->size,
                            .start_offset = ompp_collect_load(&o->start_offset),
                            .end_offset = ompp_collect_load(&o->end_offset),
                            .nranges = atomic_load_explicit(&o->nranges, memory_order_relaxed),
                            .rank = rank};

    ompp_profile_add_object(c->profile, &object);
}

/* The list is newest first, ids count from 1 in order of registration; one that is missing (a damaged file) ends the
 * table. */
static void copy_objects(ompp_collecting_t *c, ompp_off_t first, uint32_t rank)
{
    const ompp_a_object_t *newest = ompp_collect_record(c, first, sizeof *newest), *o = newest;
    uint32_t n = newest && newest->id < ompp_collect_most(c) ? newest->id : 0, steps = n;
    const ompp_a_object_t **by_id = n ? calloc(n, sizeof *by_id) : NULL;

    for (; by_id && o && steps-- > 0; o = ompp_collect_record(c, o->next, sizeof *o))
        if (o->id - 1 < n) by_id[o->id - 1] = o;
    for (uint32_t i = 0; by_id && i < n && by_id[i]; i++) copy_object(c, by_id[i], rank);
    free(by_id);
}

static void copy_coverage(ompp_collecting_t *c, ompp_off_t first)
{
    const ompp_a_coverage_t *v = ompp_collect_record(c, first, sizeof *v);

    for (uint32_t n = 0; v && n < ompp_collect_most(c); n++, v = ompp_collect_record(c, v->next, sizeof *v))
        if (v->kind < OMPP_COVERAGE_NUM && ompp_collect_spend(c, c->profile->ncoverage * sizeof(ompp_coverage_t)))
            ompp_profile_add_coverage(c->profile, v->kind, ompp_collect_text(c, v->subject),
                                      ompp_collect_text(c, v->reason), v->count);
}

static void note_unnoted(ompp_collecting_t *c, const ompp_a_header_t *header)
{
    if (header->unnoted)
        ompp_profile_add_coverage(c->profile, OMPP_COVERAGE_DROPPED, "lines of this section",
                                  "memory for the profile is full: OMPP_MEMORY", header->unnoted);
}

/* The list is newest first. */
static void copy_messages(ompp_collecting_t *c, ompp_off_t first, uint32_t rank)
{
    const ompp_a_message_t *m = ompp_collect_record(c, first, sizeof *m);

    for (uint32_t n = 0; m && n < ompp_collect_most(c); n++, m = ompp_collect_record(c, m->next, sizeof *m)) {
        const ompp_message_t message = {rank, m->to == OMPP_MESSAGE_OTHERS ? OMPP_NONE : m->to,
                                        ompp_collect_load(&m->messages), ompp_collect_load(&m->bytes)};
        if (message.messages) ompp_profile_add_message(c->profile, &message);
    }
    ompp_messages_sort(c->profile);
}

static void copy_settings(ompp_collecting_t *c, ompp_off_t first)
{
    uint32_t n;
    const void **sorted = oldest_first(c, first, sizeof(ompp_a_setting_t), &n);

    for (uint32_t i = 0; i < n; i++) {
        const ompp_a_setting_t *s = sorted[i];
        ompp_profile_add_setting(c->profile, ompp_collect_text(c, s->name), ompp_collect_text(c, s->value));
    }
    free(sorted);
}

/* ---- Causal profile ---------------------------------------------------------------------------------------------- */

/* As it was at one moment, if the thread that writes it lets us. */
static void copy_at_once(void *to, const void *from, size_t size, const _Atomic uint32_t *sequence)
{
    for (unsigned tries = 0; tries < 1000; tries++) {
        const uint32_t before = atomic_load_explicit(sequence, memory_order_acquire);
        memcpy(to, from, size);
        atomic_thread_fence(memory_order_acquire);
        if (!(before & 1) && before == atomic_load_explicit(sequence, memory_order_relaxed)) break;
    }
}

/* Index of a progress point; OMPP_NONE = it is none. */
static uint32_t point_index(const ompp_collecting_t *c, ompp_off_t first, ompp_off_t wanted)
{
    const ompp_a_whatif_point_t *p = ompp_collect_record(c, first, sizeof *p);

    for (uint32_t n = 0; p && n < c->profile->whatif.npoints;
         n++, first = p->next, p = ompp_collect_record(c, first, sizeof *p))
        if (first == wanted) return n;
    return OMPP_NONE;
}

/* Of a program that has not come to its end, the last ones may be later than what its clocks say of all of it. */
static void fit_blocks(ompp_whatif_clock_t *clock)
{
    uint64_t sum = 0;
    uint32_t n = 0;

    for (; n < clock->nblocks && n < OMPP_WHATIF_BLOCKS && sum + clock->blocks[n].time_ns <= clock->time_ns; n++)
        sum += clock->blocks[n].time_ns;
    clock->nblocks = n;
}

/* What is not known of the end is taken to be as what came before. \return what that multiplies sums with. */
static double stretched(const ompp_whatif_t *w, uint64_t missing)
{
    const double known = (double)(w->time_ns - missing);

    return known > 0 ? (double)w->time_ns / known : 1;
}

/* missing: ns at the end of which clocks say nothing. */
/* Clocks may have been written some hundred nanoseconds behind the end of the run: their time is part of its. */
static void fit_time(ompp_whatif_region_t *result, uint64_t run_ns)
{
    if (result->followed_ns > run_ns) result->followed_ns = run_ns;
    for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++) {
        ompp_whatif_clock_t *clock = &result->clocks[k];
        if (clock->time_ns > run_ns) clock->time_ns = run_ns;
        if (clock->saved_ns > clock->time_ns) clock->saved_ns = clock->time_ns;
    }
}

static void copy_whatif_region(ompp_collecting_t *c, const ompp_a_whatif_region_t *w, ompp_off_t points,
                               uint64_t missing)
{
    const bool experiments = c->profile->whatif.mode == OMPP_WHATIF_DELAY;
    const bool ideal = w->region == OMPP_WHATIF_IDEAL;
    const ompp_a_region_t *r = ideal ? NULL : ompp_collect_record(c, w->region, sizeof *r);
    ompp_whatif_region_t result;

    copy_at_once(&result, &w->result, sizeof result, &w->sequence);
    result.point = w->point ? point_index(c, points, w->point) : OMPP_NONE;
    if (w->point && result.point == OMPP_NONE) return;
    result.region = r && r->index < c->nregions ? c->region_of[r->index] : OMPP_NONE;
    for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++) fit_blocks(&result.clocks[k]);
    if (!experiments && !w->point) fit_time(&result, c->profile->whatif.time_ns);
    const double all = (double)c->profile->whatif.time_ns,
                 known = experiments ? all - (double)missing : (double)result.followed_ns;
    result.total_ns = (uint64_t)((double)result.total_ns * stretched(&c->profile->whatif, missing));
    if (!w->point && known < OMPP_WHATIF_NEARLY_ALL * (known + (double)missing)) result.flags |= OMPP_WHATIF_F_PARTLY;
    if (ideal) c->profile->whatif.ideal = result;
    else if (result.region != OMPP_NONE || !w->region) ompp_profile_add_whatif_region(c->profile, &result);
}

static void copy_whatif_point(ompp_collecting_t *c, const ompp_a_whatif_point_t *w)
{
    const ompp_a_region_t *r = ompp_collect_record(c, w->region, sizeof *r);
    ompp_whatif_point_t point = {.name = ompp_collect_string(c, w->name),
                                 .kind = w->kind,
                                 .automatic = w->automatic,
                                 .region = r && r->index < c->nregions ? c->region_of[r->index] : OMPP_NONE,
                                 .visits = ompp_collect_load(&w->visits),
                                 .begins = ompp_collect_load(&w->begins),
                                 .in_flight_ns = ompp_collect_load(&w->in_flight_ns)};

    if (point.kind > OMPP_WHATIF_LATENCY) point.kind = OMPP_WHATIF_THROUGHPUT;
    ompp_profile_add_whatif_point(c->profile, &point);
}

static void stretch(ompp_whatif_t *to, uint64_t missing, bool is_suspended)
{
    const double longer = stretched(to, missing);

    to->worked_ns = (uint64_t)((double)to->worked_ns * longer);
    to->outside_ns = (uint64_t)((double)to->outside_ns * longer);
    if (is_suspended) to->suspended_ns += missing;
}

/* Time at the end that clocks were not written for. */
static uint64_t time_missing(const ompp_collecting_t *c, const ompp_a_whatif_t *w)
{
    const uint64_t until = ompp_collect_load(&w->until_ns);
    const uint64_t missing = until && c->t > until ? c->t - until : 0;

    return missing < c->profile->whatif.time_ns ? missing : 0;
}

static void copy_whatif(ompp_collecting_t *c, ompp_off_t off, uint64_t duration_ns)
{
    const ompp_a_whatif_t *w = ompp_collect_record(c, off, sizeof *w);
    ompp_whatif_t *to = &c->profile->whatif;

    if (!w || w->mode >= OMPP_WHATIF_MODE_NUM) return;
    to->mode = w->mode;
    to->why = ompp_collect_string(c, atomic_load_explicit(&w->why, memory_order_acquire));
    to->time_ns = duration_ns;
    to->paid_ns = ompp_collect_load(&w->paid_ns);
    to->events = ompp_collect_load(&w->events);
    to->cost_ns = ompp_collect_load(&w->cost_ns);
    to->lost = ompp_collect_load(&w->lost);
    to->lost_ns = ompp_collect_load(&w->lost_ns);
    to->worked_ns = ompp_collect_load(&w->worked_ns);
    to->outside_ns = ompp_collect_load(&w->outside_ns);
    to->suspended_ns = ompp_collect_load(&w->suspended_ns);
    to->replayed = ompp_collect_load(&w->replayed);
    to->kept = ompp_collect_load(&w->kept);
    to->passed_ns = ompp_collect_load(&w->passed_ns);
    const uint64_t missing = time_missing(c, w);
    stretch(to, missing, atomic_load(&w->is_suspended) != 0);
    copy_at_once(&to->control, &w->control, sizeof to->control, &w->sequence);
    if (to->control.nblocks > OMPP_WHATIF_BLOCKS) to->control.nblocks = OMPP_WHATIF_BLOCKS;
    const ompp_off_t points = ompp_collect_follow(&w->points);
    const ompp_a_whatif_point_t *p = ompp_collect_record(c, points, sizeof *p);
    for (uint32_t n = 0; p && n < ompp_collect_most(c); n++, p = ompp_collect_record(c, p->next, sizeof *p))
        copy_whatif_point(c, p);
    const ompp_a_whatif_region_t *r = ompp_collect_record(c, ompp_collect_follow(&w->regions), sizeof *r);
    for (uint32_t n = 0; r && n < ompp_collect_most(c); n++, r = ompp_collect_record(c, r->next, sizeof *r))
        copy_whatif_region(c, r, points, missing);
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

bool ompp_collect_definitions(ompp_collecting_t *c, const ompp_a_header_t *header, uint32_t rank)
{
    if (!copy_modules(c, ompp_collect_follow(&header->modules)) ||
        !copy_regions(c, ompp_collect_follow(&header->regions)))
        return false;
    copy_settings(c, ompp_collect_follow(&header->settings));
    copy_metrics(c, ompp_collect_follow(&header->metrics));
    if (ompp_metric_list_init(&c->metrics, c->profile) != 0) return false;
    copy_objects(c, ompp_collect_follow(&header->objects), rank);
    copy_messages(c, ompp_collect_follow(&header->messages), rank);
    return true;
}

void ompp_collect_notes(ompp_collecting_t *c, const ompp_a_header_t *header, uint64_t duration_ns)
{
    copy_coverage(c, ompp_collect_follow(&header->coverage));
    note_unnoted(c, header);
    copy_whatif(c, ompp_collect_follow(&header->whatif), duration_ns);
}
