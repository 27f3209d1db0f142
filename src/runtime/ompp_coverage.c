/*
 * Notes for the Coverage section of the report: what was not measured, and why. Those from before the first event are
 * kept until measurement starts.
 */
#include "runtime/ompp_coverage.h"

#include "base/ompp_env.h"
#include "model/ompp_profile.h"
#include "runtime/ompp_event.h"
#include "runtime/ompp_state.h"

#include <stdio.h>
#include <string.h>

#define MAX_EARLY 64u

/* Coverage notes from before the first event, equal ones joined. The last place is where a new one is put together.
 * Under the process's lock. */
static struct {
    unsigned kind;
    uint64_t count;
    char subject[1024], reason[200];
} early[MAX_EARLY + 1];
static unsigned nearly;
static uint64_t early_lost;
static char openmp_source[64], openmp_left_to[100];

static bool same(ompp_off_t off, const char *text)
{
    const char *have = off ? ((ompp_a_string_t *)(ompp_process.arena.base + off))->text : "";

    return strcmp(have, text ? text : "") == 0;
}

static void note(unsigned kind, const char *subject, const char *reason, uint64_t count)
{
    ompp_a_header_t *header = ompp_process.header;
    ompp_off_t first = atomic_load_explicit(&header->coverage, memory_order_relaxed);

    for (ompp_off_t off = first; off;) {
        ompp_a_coverage_t *c = (ompp_a_coverage_t *)(ompp_process.arena.base + off);
        if (c->kind == kind && same(c->subject, subject) && same(c->reason, reason)) {
            c->count += count;
            return;
        }
        off = c->next;
    }
    ompp_described_t line = {sizeof(ompp_a_coverage_t), {subject, reason}, {0}};
    ompp_off_t off = ompp_described_take(&line, ompp_arena_take_kept);
    if (!off) {
        header->unnoted++;
        return;
    }
    *(ompp_a_coverage_t *)(ompp_process.arena.base + off) =
        (ompp_a_coverage_t){first, kind, line.copies[0], line.copies[1], count};
    atomic_store_explicit(&header->coverage, off, memory_order_release);
}

static void note_early(unsigned kind, const char *subject, const char *reason)
{
    unsigned i = 0;

    snprintf(early[nearly].subject, sizeof early[nearly].subject, "%s", subject ? subject : "");
    snprintf(early[nearly].reason, sizeof early[nearly].reason, "%s", reason ? reason : "");
    early[nearly].kind = kind;
    early[nearly].count = 0;
    while (early[i].kind != kind || strcmp(early[i].subject, early[nearly].subject) != 0 ||
           strcmp(early[i].reason, early[nearly].reason) != 0)
        i++;
    if (i == MAX_EARLY) early_lost++;
    else early[i].count++;
    if (i == nearly && i < MAX_EARLY) nearly++;
}

void ompp_coverage_start(void)
{
    const ompp_locked_t locked = ompp_lock();
    ompp_process.header->source = ompp_string_take(openmp_source);
    for (unsigned i = 0; i < nearly; i++) note(early[i].kind, early[i].subject, early[i].reason, early[i].count);
    if (early_lost)
        note(OMPP_COVERAGE_DROPPED, "lines of this section", "too many before measurement started", early_lost);
    ompp_unlock(locked);
}

void ompp_event_coverage(unsigned kind, const char *subject, const char *reason)
{
    if (atomic_load_explicit(&ompp_process.state, memory_order_acquire) == OMPP_STATE_DEAD) return;
    const ompp_locked_t locked = ompp_lock();
    /* Another thread may have started or ended measurement meanwhile. */
    const int state = atomic_load_explicit(&ompp_process.state, memory_order_acquire);
    if (state == OMPP_STATE_NEW) note_early(kind, subject, reason);
    if (state == OMPP_STATE_RUNNING) note(kind, subject, reason, 1);
    ompp_unlock(locked);
}

void ompp_event_coverage_count(unsigned kind, const char *subject, const char *reason, uint64_t count)
{
    if (!count || atomic_load_explicit(&ompp_process.state, memory_order_acquire) == OMPP_STATE_DEAD) return;
    const ompp_locked_t locked = ompp_lock();
    if (atomic_load_explicit(&ompp_process.state, memory_order_acquire) == OMPP_STATE_RUNNING)
        note(kind, subject, reason, count);
    ompp_unlock(locked);
}

const char *ompp_coverage_source(void) { return openmp_source; }

const char *ompp_coverage_left_to(void) { return openmp_left_to; }

void ompp_event_openmp_left_to(const char *tool) { snprintf(openmp_left_to, sizeof openmp_left_to, "%s", tool); }

bool ompp_event_claim_openmp(const char *source)
{
    if (!ompp_env_is_trusted()) return false;
    const ompp_locked_t locked = ompp_lock();
    const bool first = !*openmp_source;
    if (first) {
        snprintf(openmp_source, sizeof openmp_source, "%s", source);
        if (atomic_load(&ompp_process.state) == OMPP_STATE_RUNNING)
            ompp_process.header->source = ompp_string_take(source);
    }
    ompp_unlock(locked);
    return first || strcmp(openmp_source, source) == 0;
}
