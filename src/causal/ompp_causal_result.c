/*
 * Results: what the clocks of the thread that stands for the process say, at progress points and at the end, into the arena.
 */
#include "causal/ompp_causal_priv.h"
#include "causal/ompp_progress_priv.h"

#include "runtime/ompp_whatif_record.h"

#include <unistd.h>

#define SPEEDUPS OMPP_WHATIF_SPEEDUPS
#define SIGNIFICANT 100u /* an order that changes once in so many times is another order */

/* Blocks until now, of all regions alike. */
typedef struct {
    uint32_t n, number; /* number: of the next */
    uint64_t visits;    /* at the end of the last one */
    ompp_time_t end;    /* of the last one; 0 = none yet */
    ompp_fine_t o[OMPP_CLOCKS];
    ompp_whatif_block_t blocks[OMPP_WHATIF_BLOCKS]; /* nothing saved */
} blocks_t;

static struct {
    _Atomic uint32_t lock;
    ompp_a_whatif_t *whatif;
    blocks_t blocks;
    _Atomic(ompp_a_whatif_region_t *) records[OMPP_CLOCKS_SLOTS]; /* of the present set; NULL = none yet */
    ompp_time_t begin;
    int nprocessors;
} result;

bool ompp_causal_result_open(void)
{
    result.whatif = ompp_whatif_record(ompp_causal.mode);
    result.begin = ompp_event_now();
    result.nprocessors = (int)sysconf(_SC_NPROCESSORS_ONLN);
    return result.whatif != NULL;
}

void ompp_causal_result_new(unsigned slot)
{
    atomic_store(&result.records[slot], ompp_whatif_region_new(ompp_causal_region(slot)));
}

/* Sums over all threads; those that are at work now are read as they are. */
static uint64_t sum_threads(unsigned slot, ompp_whatif_region_t *to)
{
    uint64_t spans = 0;

    to->work_ns = to->visits = 0;
    for (const ompp_causal_thread_t *t = atomic_load(&ompp_causal.threads); t; t = t->next) {
        if (t->clocks.set != atomic_load(&ompp_causal.set)) continue;
        to->work_ns += t->clocks.total[slot] + t->clocks.work[slot];
        to->visits += t->clocks.visits[slot];
        spans += t->clocks.spans[slot] + (t->clocks.work[slot] > 0);
    }
    return spans;
}

static uint32_t flags_of(unsigned slot)
{
    uint32_t flags = atomic_load(&ompp_causal.flags);
    int nthreads = 0;

    for (unsigned f = 0; f < OMPP_WHATIF_FLAG_NUM; f++) {
        const uint64_t times = atomic_load(&ompp_causal.overtaken[f][slot]);
        if (times && times * SIGNIFICANT >= atomic_load(&ompp_causal.watched[f])) flags |= 1u << f;
    }
    for (const ompp_causal_thread_t *t = atomic_load(&ompp_causal.threads); t; t = t->next) nthreads++;
    if (result.nprocessors > 0 && nthreads > result.nprocessors) flags |= OMPP_WHATIF_F_OVERSUBSCRIBED;
    return flags;
}

static uint64_t whole_ns(ompp_fine_t o)
{
    return o > 0 ? (uint64_t)(o / OMPP_FINE + 0.5) : 0;
}

static void write_region(const ompp_causal_thread_t *self, unsigned slot, ompp_time_t t)
{
    ompp_a_whatif_region_t *record = atomic_load(&result.records[slot]);
    const ompp_clocks_rule_t *rule = &ompp_causal.rule;
    uint64_t spans;

    if (!record) return;
    atomic_fetch_add_explicit(&record->sequence, 1, memory_order_acq_rel);
    spans = sum_threads(slot, &record->result);
    record->result.flags = flags_of(slot);
    record->result.followed_ns = t - result.begin;
    for (unsigned k = 0; k < SPEEDUPS; k++) {
        ompp_whatif_clock_t *clock = &record->result.clocks[k];
        if (rule->percent[k] == 0) continue;
        clock->permille = (uint32_t)(rule->percent[k] * 10);
        clock->time_ns = t - result.begin;
        clock->saved_ns = whole_ns(ompp_clocks_offset(rule, &self->clocks, slot * SPEEDUPS + k));
        clock->observations = spans;
    }
    atomic_fetch_add_explicit(&record->sequence, 1, memory_order_release);
}

/* A clock's own place for a speed-up; the first free one otherwise. */
static ompp_whatif_clock_t *clock_of(ompp_a_whatif_region_t *record, unsigned percent)
{
    for (unsigned k = 0; k < SPEEDUPS; k++) {
        ompp_whatif_clock_t *clock = &record->result.clocks[k];
        const unsigned usual = (unsigned)(25 * (k + 1));
        if (clock->permille == percent * 10) return clock;
        if (!clock->permille && (percent == usual || percent % 25)) {
            clock->permille = percent * 10;
            return clock;
        }
    }
    return NULL;
}

static void join_blocks(ompp_whatif_block_t *into, const ompp_whatif_block_t *from)
{
    into->visits += from->visits;
    into->time_ns += from->time_ns;
    into->saved_ns += from->saved_ns;
    into->paid_ns += from->paid_ns;
}

static void halve(ompp_whatif_block_t *blocks)
{
    for (unsigned i = 0; i < OMPP_WHATIF_BLOCKS / 2; i++) {
        blocks[i] = blocks[2 * i];
        join_blocks(&blocks[i], &blocks[2 * i + 1]);
    }
}

/* Neighbours become one when there is no room. */
static ompp_whatif_block_t *next_block(ompp_whatif_clock_t *clock)
{
    if (clock->nblocks == OMPP_WHATIF_BLOCKS) {
        halve(clock->blocks);
        clock->nblocks /= 2;
    }
    return &clock->blocks[clock->nblocks++];
}

void ompp_causal_result_add(const ompp_causal_experiment_t *experiment, const ompp_whatif_block_t *block)
{
    ompp_a_whatif_region_t *record = atomic_load(&result.records[experiment->slot]);
    ompp_whatif_clock_t *clock = record ? clock_of(record, experiment->percent) : NULL;
    ompp_whatif_region_t seen;

    if (!clock) return;
    ompp_causal_lock(&result.lock);
    atomic_fetch_add_explicit(&record->sequence, 1, memory_order_acq_rel);
    clock->time_ns += block->time_ns;
    clock->saved_ns += (uint64_t)block->saved_ns;
    clock->paid_ns += block->paid_ns;
    clock->observations++;
    *next_block(clock) = *block;
    sum_threads(0, &seen);
    record->result.work_ns += seen.work_ns;
    record->result.visits += seen.visits;
    record->result.followed_ns += block->time_ns;
    record->result.flags = flags_of((unsigned)experiment->slot);
    atomic_fetch_add_explicit(&record->sequence, 1, memory_order_release);
    atomic_fetch_add(&result.whatif->paid_ns, block->paid_ns);
    ompp_causal_unlock(&result.lock);
}

/* ---- Blocks ----------------------------------------------------------------------------------------------------------- */

/* The newest block of a clock. A region that came later has the earlier blocks, too: nothing was saved there. */
static void write_block(ompp_whatif_clock_t *clock, const blocks_t *b, ompp_fine_t saved)
{
    while (clock->nblocks < b->n - 1) {
        clock->blocks[clock->nblocks] = b->blocks[clock->nblocks];
        clock->nblocks++;
    }
    clock->blocks[b->n - 1] = b->blocks[b->n - 1];
    clock->blocks[b->n - 1].saved_ns = (int64_t)(saved / OMPP_FINE);
    clock->nblocks = b->n;
}

static void halve_all(blocks_t *b)
{
    halve(b->blocks);
    b->n /= 2;
    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++) {
        ompp_a_whatif_region_t *record = atomic_load(&result.records[s]);
        for (unsigned k = 0; record && k < SPEEDUPS; k++) {
            if (record->result.clocks[k].nblocks < OMPP_WHATIF_BLOCKS) continue;
            halve(record->result.clocks[k].blocks);
            record->result.clocks[k].nblocks = b->n;
        }
    }
}

static void add_block(const ompp_causal_thread_t *self, uint64_t visits, ompp_time_t t)
{
    blocks_t *b = &result.blocks;

    if (b->n == OMPP_WHATIF_BLOCKS) halve_all(b);
    b->blocks[b->n++] = (ompp_whatif_block_t){.number = b->number++, .visits = (uint32_t)(visits - b->visits), .time_ns = t - b->end};
    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++) {
        ompp_a_whatif_region_t *record = atomic_load(&result.records[s]);
        if (!record) continue;
        atomic_fetch_add_explicit(&record->sequence, 1, memory_order_acq_rel);
        for (unsigned k = 0; k < SPEEDUPS; k++) {
            const unsigned i = s * SPEEDUPS + k;
            const ompp_fine_t o = ompp_clocks_offset(&ompp_causal.rule, &self->clocks, i);
            write_block(&record->result.clocks[k], b, o - b->o[i]);
            b->o[i] = o;
        }
        atomic_fetch_add_explicit(&record->sequence, 1, memory_order_release);
    }
}

/* So long at least that the number of blocks grows slowly once there are enough. */
static bool is_long_enough(const blocks_t *b, ompp_time_t t)
{
    return t > b->end && (t - b->end) * 2 * OMPP_WHATIF_BLOCKS >= t - result.begin;
}

void ompp_causal_result_block(ompp_causal_thread_t *self, uint64_t visits, ompp_time_t t)
{
    blocks_t *b = &result.blocks;

    if (visits <= b->visits || !is_long_enough(b, t)) return;
    ompp_causal_lock(&result.lock);
    if (visits > b->visits && is_long_enough(b, t)) {
        if (!b->end) b->end = result.begin;
        add_block(self, visits, t);
        b->visits = visits;
        b->end = t;
    }
    ompp_causal_unlock(&result.lock);
}

/* ---- All -------------------------------------------------------------------------------------------------------------- */

void ompp_causal_result(ompp_causal_thread_t *self, ompp_time_t t)
{
    uint64_t moves = 0, syncs = 0, lost = 0;

    ompp_progress_finish(t);
    ompp_clocks_count(&self->clocks, t);
    ompp_causal_lock(&result.lock);
    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++)
        if (ompp_causal_region(s) && !ompp_causal.rule.delays) write_region(self, s, t);
    for (const ompp_causal_thread_t *p = atomic_load(&ompp_causal.threads); p; p = p->next) {
        moves += p->moves;
        syncs += p->syncs;
        lost += p->lost;
    }
    atomic_store(&result.whatif->events, moves + syncs);
    atomic_store(&result.whatif->lost, lost);
    ompp_causal_unlock(&result.lock);
}
