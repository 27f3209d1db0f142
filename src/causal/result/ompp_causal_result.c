/*
 * Results, in the arena: what clocks of the thread that stands for the process say, at progress points and the end.
 */
#include "causal/clock/ompp_causal_clock_priv.h"
#include "causal/experiment/ompp_causal_experiment_priv.h"
#include "causal/experiment/ompp_progress_priv.h"
#include "causal/replay/ompp_causal_replay_priv.h"
#include "causal/result/ompp_causal_result_shared_priv.h"

#include "preload/ompp_launch.h"
#include "runtime/ompp_whatif_record.h"

#include <unistd.h>

#define SPEEDUPS OMPP_WHATIF_SPEEDUPS
#define MUCH 4u          /* a thread that does less than one part in so many of what another one does hardly counts */
#define LITTLE 20u       /* nor does a region with less work than one part in so many of that in another one */
#define SIGNIFICANT 100u /* an order that changes once in so many times is another order */
#define OFTEN 3u         /* so many times, before others are told */

/* What clocks say is written while the program runs, too, for one that does not come to its end. */
#define WRITE_NS 50000000u /* after so long, ... */
#define WRITE_PART 100u    /* one part in so many of the run, ... */
#define WRITE_TIMES 500u   /* and so many times of what writing takes: whichever is longest */

/* Where the present block of the present set of regions has begun. */
typedef struct {
    uint32_t number; /* of the next block */
    uint64_t visits;
    ompp_time_t begin; /* 0 = it was no progress point, so that what follows is no whole block */
    uint64_t set;
    ompp_fine_t o[OMPP_CLOCKS];
} blocks_t;

/* What clocks have seen of a region. */
typedef struct {
    uint64_t time_ns, work_ns, visits, saved_ns[SPEEDUPS];
} followed_t;

/* What a region has had in turns that are over. */
typedef struct {
    followed_t all, start; /* start: until clocks were suspended first */
    uint64_t spans;
    uint32_t flags;
} past_t;

static struct {
    blocks_t blocks;
    past_t past[OMPP_CAUSAL_KNOWN];
    uint64_t overtaken[OMPP_CAUSAL_KNOWN][OMPP_WHATIF_FLAG_NUM]; /* with delays: before the region lost its slot */
    uint32_t heard_before[OMPP_CAUSAL_KNOWN];
    _Atomic uint32_t heard[OMPP_CLOCKS_SLOTS]; /* flags that other ranks have seen in the present set */
    _Atomic ompp_time_t next;                  /* not before, it is written again */
    struct {
        ompp_time_t time, worked[OMPP_CLOCKS_WHERE_NUM];
        bool goes_on; /* no piece has begun yet */
    } start; /* until clocks were suspended first, unlike the pieces after it: programs start there. 0 = not yet */
    int nprocessors;
    bool much_lost;       /* of the waits, too many to trust the rest */
    ompp_time_t quickest; /* that what there is was written in */
} result;

struct ompp_causal_results ompp_causal_results;

bool ompp_causal_result_open(ompp_whatif_mode_t mode)
{
    ompp_causal_results.whatif = ompp_whatif_record(mode);
    ompp_causal.begin = ompp_event_now();
    result.nprocessors = (int)sysconf(_SC_NPROCESSORS_ONLN);
    return ompp_causal_results.whatif != NULL;
}

void ompp_causal_result_begin(void)
{
    ompp_causal.begin = ompp_meter_since();
    atomic_store(&result.next, ompp_causal.begin + WRITE_NS);
    atomic_store(&ompp_causal.set_begin, ompp_causal.begin);
}

void ompp_causal_result_leave(unsigned slot)
{
    const int known = ompp_causal_known(slot);
    const uint32_t heard = atomic_exchange(&result.heard[slot], 0);

    if (known >= 0) result.heard_before[known] |= heard;
    for (unsigned f = 0; f < OMPP_WHATIF_FLAG_NUM; f++) {
        const uint64_t times = atomic_exchange(&ompp_causal.overtaken[f][slot], 0);
        if (known >= 0) result.overtaken[known][f] += times;
    }
}

ompp_time_t ompp_causal_result_followed(unsigned known) { return result.past[known].all.time_ns; }

static uint64_t counted_work(ompp_clocks_where_t where)
{
    uint64_t sum = 0;

    for (const ompp_causal_thread_t *t = atomic_load(&ompp_causal.threads); t; t = t->next)
        sum += t->clocks.worked[where];
    return sum;
}

uint64_t ompp_causal_result_work(ompp_clocks_where_t where, ompp_time_t t)
{
    const uint64_t counted = counted_work(where), start = result.start.worked[where],
                   pieces = counted > start ? counted - start : 0;
    const double observed = (double)ompp_causal_result_observed(t), run = (double)ompp_causal_result_passed(t);
    const double then = (double)result.start.time;

    if (observed <= 0 || observed >= run) return counted;
    if (observed <= then) return (uint64_t)((double)counted * run / observed);
    return start + (uint64_t)((double)pieces * (run - then) / (observed - then));
}

/* Work of a thread in a region until then that it has not counted yet. */
static ompp_time_t running(const ompp_clocks_t *c, unsigned slot, ompp_time_t until)
{
    return until > c->since && !c->waiting && !c->idle && c->mask >> slot & 1 ? until - c->since : 0;
}

/* Sums over all threads; those that are at work now are read as they are. until: 0 = as far as they have counted. */
uint64_t ompp_causal_sum_threads(unsigned slot, ompp_causal_seen_t *to, ompp_time_t until)
{
    uint64_t spans = 0;

    *to = (ompp_causal_seen_t){0, 0};
    for (const ompp_causal_thread_t *t = atomic_load(&ompp_causal.threads); t; t = t->next) {
        if (t->clocks.set != atomic_load(&ompp_causal.set)) continue;
        to->work += t->clocks.total[slot] + t->clocks.work[slot] +
                    (atomic_load(&t->used) ? running(&t->clocks, slot, until) : 0);
        to->visits += t->clocks.visits[slot];
        spans += t->clocks.spans[slot] + (t->clocks.work[slot] > 0);
    }
    return spans;
}

/* Work of all threads in a region, and how many share it; one that waits for them, or does little there, is none. */
static ompp_time_t shared_work(unsigned slot, int *threads)
{
    ompp_time_t most = 0, sum = 0;

    *threads = 0;
    for (const ompp_causal_thread_t *t = atomic_load(&ompp_causal.threads); t; t = t->next)
        if (ompp_causal.mode->work_of(t, slot) > most) most = ompp_causal.mode->work_of(t, slot);
    for (const ompp_causal_thread_t *t = atomic_load(&ompp_causal.threads); t; t = t->next) {
        sum += ompp_causal.mode->work_of(t, slot);
        *threads += most > 0 && ompp_causal.mode->work_of(t, slot) >= most / MUCH;
    }
    return sum;
}

/* Where much is done, of what has its turn. Ranks of a node are taken as alike. */
static bool is_oversubscribed(void)
{
    const int known = ompp_launch_ranks_here(), ranks = known > 1 ? known : 1;
    int threads[OMPP_CLOCKS_SLOTS];
    ompp_time_t work[OMPP_CLOCKS_SLOTS], most = 0;

    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++) {
        work[s] = shared_work(s, &threads[s]);
        if (work[s] > most) most = work[s];
    }
    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS && result.nprocessors > 0; s++)
        if (work[s] >= most / LITTLE && threads[s] * ranks > result.nprocessors) return true;
    return false;
}

/* Of the slot: seen here so many times at least, and heard of. open: with what a manager has put by; a thread group's
 * always counts. */
static uint32_t order_flags(unsigned slot, uint64_t least, bool open)
{
    const uint32_t thread_group = ompp_causal_thread_group_overtaken();
    const int known = ompp_causal_known(slot);
    uint32_t flags =
        atomic_load_explicit(&result.heard[slot], memory_order_relaxed) | (known >= 0 ? result.heard_before[known] : 0);

    if (ompp_causal_stalled_much()) flags |= OMPP_WHATIF_F_LOST;
    for (unsigned f = 0; f < OMPP_WHATIF_FLAG_NUM; f++) {
        const bool put_by = open && f == OMPP_WHATIF_BIT_WILDCARD;
        const bool more = f == OMPP_WHATIF_BIT_LOCK && thread_group >> slot & 1;
        const uint64_t before = known >= 0 ? result.overtaken[known][f] : 0;
        const uint64_t times = atomic_load_explicit(&ompp_causal.overtaken[f][slot], memory_order_relaxed) + before +
                               more + (put_by ? ompp_causal_farm_open(slot) : 0);
        const uint64_t watched = atomic_load_explicit(&ompp_causal.watched[f], memory_order_relaxed) + more +
                                 (put_by ? ompp_causal_farm_open(OMPP_CLOCKS_SLOTS) : 0);
        const uint64_t is_flagged = atomic_load_explicit(&ompp_causal.is_flagged[f], memory_order_relaxed);
        const uint64_t asked = atomic_load_explicit(&ompp_causal.asked[f], memory_order_relaxed);
        if (times >= least && times * SIGNIFICANT >= watched) flags |= 1u << f;
        if (is_flagged >= least && is_flagged * SIGNIFICANT >= asked) flags |= 1u << f;
    }
    return flags;
}

uint32_t ompp_causal_result_flags(unsigned slot, bool open) { return order_flags(slot, OFTEN, open); }

void ompp_causal_result_heard(unsigned slot, uint32_t flags)
{
    atomic_store_explicit(&ompp_causal.flagged, true, memory_order_relaxed);
    if (flags & ~atomic_load_explicit(&result.heard[slot], memory_order_relaxed))
        atomic_fetch_or(&result.heard[slot], flags);
}

uint32_t ompp_causal_flags_of(unsigned slot)
{
    uint32_t flags = atomic_load(&ompp_causal.flags) | order_flags(slot, 1, true);

    if (result.much_lost) flags |= OMPP_WHATIF_F_LOST;
    if (ompp_causal_results.oversubscribed) flags |= OMPP_WHATIF_F_OVERSUBSCRIBED;
    return flags;
}

/* What a clock has gone on by since the measurement ended is not part of it. */
static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* A piece that is shorter says too little to stand for what came after the start. */
#define WORTH_NS 5000000u

/* \return what clocks saw in all, so much of it at the start, in the proportions of the run. then, run: ns to the first
 * suspension, to now. */
static uint64_t in_proportion(uint64_t all, uint64_t start, const followed_t *followed, const followed_t *started,
                              double then, double run)
{
    const double pieces = (double)(followed->time_ns - started->time_ns),
                 later = (double)(all > start ? all - start : 0);
    const double at_start = (double)start * then / (double)started->time_ns;

    return (uint64_t)((at_start + later * (run - then) / pieces) * (double)followed->time_ns / run + 0.5);
}

/* Clocks are kept for all of the start, and for pieces of what comes after it. */
static void weigh(followed_t *followed, const followed_t *start, ompp_time_t t)
{
    const double then = (double)result.start.time, run = (double)ompp_causal_result_passed(t);
    const followed_t all = *followed;

    if (!start->time_ns || all.time_ns < start->time_ns + WORTH_NS || run <= then) return;
    followed->work_ns = in_proportion(all.work_ns, start->work_ns, &all, start, then, run);
    followed->visits = in_proportion(all.visits, start->visits, &all, start, then, run);
    for (unsigned k = 0; k < SPEEDUPS; k++)
        followed->saved_ns[k] = in_proportion(all.saved_ns[k], start->saved_ns[k], &all, start, then, run);
}

/* spans: of all threads. */
static followed_t follow(const ompp_causal_thread_t *self, unsigned slot, const past_t *past, bool goes_on,
                         ompp_time_t t, uint64_t *spans)
{
    followed_t f = past->all;
    ompp_causal_seen_t seen;

    *spans = past->spans + ompp_causal_sum_threads(slot, &seen, goes_on ? t : 0);
    /* the set of slots may have changed since measurement ended */
    if (t > ompp_causal_set_begin()) f.time_ns += t - ompp_causal_set_begin();
    f.work_ns += seen.work;
    f.visits += seen.visits;
    for (unsigned k = 0; k < SPEEDUPS; k++) {
        const ompp_fine_t all = (ompp_fine_t)f.saved_ns[k] * OMPP_FINE + ompp_causal_carry_saved(self, slot, k, t);
        f.saved_ns[k] = smaller(ompp_clocks_ns(all), f.time_ns);
    }
    return f;
}

static void put_region(unsigned known, followed_t f, uint32_t flags, uint64_t spans, ompp_time_t t)
{
    ompp_a_whatif_region_t *record = ompp_causal_known_record(known);
    const bool ideal = record->region == OMPP_WHATIF_IDEAL;

    weigh(&f, &result.past[known].start, t);
    atomic_fetch_add_explicit(&record->sequence, 1, memory_order_acq_rel);
    record->result.work_ns = f.work_ns;
    record->result.visits = f.visits;
    record->result.followed_ns = f.time_ns;
    record->result.flags = flags;
    if ((double)f.time_ns < OMPP_WHATIF_NEARLY_ALL * (double)(t - ompp_causal.begin))
        record->result.flags |= OMPP_WHATIF_F_PARTLY;
    for (unsigned k = 0; k < SPEEDUPS; k++) {
        ompp_whatif_clock_t *clock = &record->result.clocks[k];
        const uint32_t permille = ideal ? 1000 : (uint32_t)(ompp_causal.rule.percent[k] * 10);
        if (permille == 0) continue;
        clock->permille = permille;
        clock->time_ns = f.time_ns;
        clock->saved_ns = smaller(f.saved_ns[k], f.time_ns);
        clock->observations = spans;
    }
    atomic_fetch_add_explicit(&record->sequence, 1, memory_order_release);
}

/* Of regions without a slot, for whom the run has gone on. */
static void put_others(ompp_time_t t)
{
    bool has_slot[OMPP_CAUSAL_KNOWN] = {false};

    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++)
        if (ompp_causal_known(s) >= 0) has_slot[ompp_causal_known(s)] = true;
    for (unsigned i = 0; i < ompp_causal_nknown() && result.start.time; i++) {
        const past_t *past = &result.past[i];
        if (past->all.time_ns && !has_slot[i]) put_region(i, past->all, past->flags, past->spans, t);
    }
}

/* ends: the turn does. */
static void write_region(const ompp_causal_thread_t *self, unsigned slot, bool goes_on, bool ends, ompp_time_t t)
{
    const int known = ompp_causal_known(slot);
    uint64_t spans;

    if (known < 0 || !ompp_causal_known_record((unsigned)known)) return;
    past_t *past = &result.past[known];
    const uint32_t flags = ompp_causal_flags_of(slot) | past->flags;
    const followed_t f = follow(self, slot, past, goes_on, t, &spans);
    put_region((unsigned)known, f, flags, spans, t);
    if (!ends) return;
    past->all = f;
    past->spans = spans;
    past->flags = flags & ~(uint32_t)OMPP_WHATIF_F_LOST; /* which is of all the run: the end knows */
}

/* Blocks of the start weigh too much beside those of pieces. */
static void forget_blocks(ompp_a_whatif_region_t *record)
{
    if (!record) return;
    atomic_fetch_add_explicit(&record->sequence, 1, memory_order_acq_rel);
    for (unsigned k = 0; k < SPEEDUPS; k++) record->result.clocks[k].nblocks = 0;
    atomic_fetch_add_explicit(&record->sequence, 1, memory_order_release);
}

/* Clocks are suspended for the first time. */
static void end_start(ompp_time_t t)
{
    result.start.time = ompp_causal_result_passed(t);
    for (unsigned w = 0; w < OMPP_CLOCKS_WHERE_NUM; w++) result.start.worked[w] = counted_work((ompp_clocks_where_t)w);
    for (unsigned i = 0; i < ompp_causal_nknown(); i++) result.past[i].start = result.past[i].all;
    result.start.goes_on = true;
}

/* The first suspension is over. */
static void begin_pieces(void)
{
    for (unsigned i = 0; i < ompp_causal_nknown(); i++) forget_blocks(ompp_causal_known_record(i));
    result.start.goes_on = false;
}

/* Also of those that have no slot any more, or whose clocks are suspended: what was all of the run when they lost it is
 * a part of it now. */
static void flag_regions(bool final, ompp_time_t t)
{
    for (unsigned i = 0; i < ompp_causal_nknown(); i++) {
        ompp_a_whatif_region_t *record = ompp_causal_known_record(i);
        if (!record) continue;
        const bool partly =
            (double)record->result.followed_ns < OMPP_WHATIF_NEARLY_ALL * (double)(t - ompp_causal.begin);
        const uint32_t flags =
            (partly ? OMPP_WHATIF_F_PARTLY : 0) | (final && result.much_lost ? OMPP_WHATIF_F_LOST : 0);
        if (!(flags & ~record->result.flags)) continue;
        atomic_fetch_add_explicit(&record->sequence, 1, memory_order_acq_rel);
        record->result.flags |= flags;
        atomic_fetch_add_explicit(&record->sequence, 1, memory_order_release);
    }
}

/* What is known of all regions together. suspended: clocks are, from t on. Under the lock. \return whether too many
 * waits are lost. */
bool ompp_causal_write_totals(bool suspended, ompp_time_t t)
{
    uint64_t moves = 0, syncs = 0, lost = 0, stalled, stalled_ns, replayed, kept, passed;
    const bool stalled_much = ompp_causal_stalled(t, &stalled, &stalled_ns);

    for (const ompp_causal_thread_t *p = atomic_load(&ompp_causal.threads); p; p = p->next) {
        moves += p->moves;
        syncs += p->syncs;
        lost += p->lost;
    }
    const uint64_t outside = ompp_causal_result_work(OMPP_CLOCKS_OUTSIDE, t),
                   inside = ompp_causal_result_work(OMPP_CLOCKS_INSIDE, t) +
                            ompp_causal_result_work(OMPP_CLOCKS_MAKES_TASKS, t);
    atomic_store(&ompp_causal_results.whatif->until_ns, t);
    atomic_store(&ompp_causal_results.whatif->is_suspended, suspended);
    atomic_store(&ompp_causal_results.whatif->events, moves + syncs);
    atomic_store(&ompp_causal_results.whatif->lost, lost + stalled);
    atomic_store(&ompp_causal_results.whatif->lost_ns, stalled_ns);
    atomic_store(&ompp_causal_results.whatif->worked_ns, outside + inside);
    atomic_store(&ompp_causal_results.whatif->outside_ns, outside);
    atomic_store(&ompp_causal_results.whatif->suspended_ns,
                 ompp_causal_result_passed(t) - ompp_causal_result_observed(t));
    ompp_causal_orders(&replayed, &kept, &passed);
    atomic_store(&ompp_causal_results.whatif->replayed, replayed);
    atomic_store(&ompp_causal_results.whatif->kept, kept);
    atomic_store(&ompp_causal_results.whatif->passed_ns, passed);
    atomic_store(&ompp_causal_results.whatif->cost_ns, ompp_causal_charged());
    return stalled_much || lost * SIGNIFICANT > syncs;
}

/* Under the lock. Slots belong to other regions from now on. */
static void end_turn(ompp_causal_thread_t *self, bool suspension, ompp_time_t t)
{
    ompp_causal_farm_watch();
    ompp_causal_results.oversubscribed = ompp_causal_results.oversubscribed || is_oversubscribed();
    ompp_causal_write_totals(suspension, t);
    if (ompp_causal_set_is_empty() && t > ompp_causal_set_begin()) ompp_causal.suspended += t - ompp_causal_set_begin();
    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++) {
        write_region(self, s, true, true, t);
        atomic_store(&result.heard[s], 0);
        for (unsigned f = 0; f < OMPP_WHATIF_FLAG_NUM; f++) atomic_store(&ompp_causal.overtaken[f][s], 0);
    }
    for (unsigned f = 0; f < OMPP_WHATIF_FLAG_NUM; f++) {
        atomic_store(&ompp_causal.watched[f], 0);
        atomic_store(&ompp_causal.asked[f], 0);
        atomic_store(&ompp_causal.is_flagged[f], 0);
    }
    ompp_causal_thread_group_turn();
    flag_regions(false, t);
    if (suspension && !result.start.time) end_start(t);
    else if (result.start.goes_on) begin_pieces();
}

void ompp_causal_result_turn(ompp_causal_thread_t *self, uint64_t next, bool suspension, bool anywhere, ompp_time_t t)
{
    ompp_clocks_count(&self->clocks, t);
    ompp_causal_latency_turn(true, next, 0);
    ompp_causal_lock(&ompp_causal_results.lock);
    ompp_causal_carry_begin(anywhere);
    if (!ompp_causal_results.closed) end_turn(self, suspension, t);
    ompp_causal_carry_end();
    ompp_causal_unlock(&ompp_causal_results.lock);
}

/* Together they have no known number of visits when one of them has none. */
static void join_blocks(ompp_whatif_block_t *into, const ompp_whatif_block_t *from)
{
    into->visits = into->visits && from->visits ? into->visits + from->visits : 0;
    into->time_ns += from->time_ns;
    into->saved_ns += from->saved_ns;
    into->paid_ns += from->paid_ns;
    into->work_ns += from->work_ns;
}

static void halve(ompp_whatif_block_t *blocks)
{
    for (unsigned i = 0; i < OMPP_WHATIF_BLOCKS / 2; i++) {
        blocks[i] = blocks[2 * i];
        join_blocks(&blocks[i], &blocks[2 * i + 1]);
    }
}

/* Neighbours become one when there is no room. */
ompp_whatif_block_t *ompp_causal_next_block(ompp_whatif_clock_t *clock)
{
    if (clock->nblocks == OMPP_WHATIF_BLOCKS) {
        halve(clock->blocks);
        clock->nblocks /= 2;
    }
    return &clock->blocks[clock->nblocks++];
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

static void add_block(const ompp_causal_thread_t *self, uint64_t visits, ompp_time_t t)
{
    blocks_t *b = &result.blocks;
    ompp_whatif_block_t block = {
        .number = b->number++, .visits = (uint32_t)(visits - b->visits), .time_ns = t - b->begin};

    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++) {
        const int known = ompp_causal_known(s);
        ompp_a_whatif_region_t *record = known < 0 ? NULL : ompp_causal_known_record((unsigned)known);
        if (!record) continue;
        atomic_fetch_add_explicit(&record->sequence, 1, memory_order_acq_rel);
        for (unsigned k = 0; k < SPEEDUPS; k++) {
            const unsigned i = s * SPEEDUPS + k;
            block.saved_ns = (int64_t)((ompp_clocks_offset(&ompp_causal.rule, &self->clocks, i) - b->o[i]) / OMPP_FINE);
            *ompp_causal_next_block(&record->result.clocks[k]) = block;
        }
        atomic_fetch_add_explicit(&record->sequence, 1, memory_order_release);
    }
}

/* So long at least that the number of blocks grows slowly once there are enough. */
static bool is_long_enough(const blocks_t *b, ompp_time_t t)
{
    return t > b->begin && (t - b->begin) * 2 * OMPP_WHATIF_BLOCKS >= ompp_causal_result_observed(t);
}

void ompp_causal_result_block(ompp_causal_thread_t *self, uint64_t visits, ompp_time_t t)
{
    blocks_t *b = &result.blocks;
    const bool same_set = b->set == self->clocks.set, first = !b->set && self->clocks.set == 1;

    if (same_set && (visits <= b->visits || !is_long_enough(b, t))) return;
    ompp_causal_lock(&ompp_causal_results.lock);
    if (ompp_causal_results.closed) {
        ompp_causal_unlock(&ompp_causal_results.lock);
        return;
    }
    if (first) b->begin = ompp_causal.begin; /* the first block begins with the run, if the regions do */
    if (same_set || first) add_block(self, visits, t);
    b->set = self->clocks.set;
    b->visits = visits;
    b->begin = t;
    for (unsigned i = 0; i < OMPP_CLOCKS; i++) b->o[i] = ompp_clocks_offset(&ompp_causal.rule, &self->clocks, i);
    ompp_causal_unlock(&ompp_causal_results.lock);
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

/* Under the lock. */
void ompp_causal_result_clocks(ompp_causal_thread_t *self, bool goes_on, ompp_time_t t)
{
    ompp_causal_latency_write();
    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++)
        if (ompp_causal_known(s) >= 0) write_region(self, s, goes_on, false, t);
    put_others(t);
    flag_regions(!goes_on, t);
}

static void write_all(ompp_causal_thread_t *self, bool goes_on, ompp_time_t t)
{
    result.much_lost = ompp_causal_write_totals(ompp_causal_set_is_empty(), t);
    ompp_causal_results.oversubscribed = ompp_causal_results.oversubscribed || is_oversubscribed();
    ompp_causal.mode->write(self, goes_on, t);
}

void ompp_causal_result(ompp_causal_thread_t *self, ompp_time_t t)
{
    ompp_clocks_count(&self->clocks, t);
    ompp_causal_lock(&ompp_causal_results.lock);
    write_all(self, false, t);
    ompp_causal_unlock(&ompp_causal_results.lock);
}

void ompp_causal_result_close(void)
{
    ompp_causal_lock(&ompp_causal_results.lock);
    ompp_causal_results.closed = true;
    ompp_causal_unlock(&ompp_causal_results.lock);
}

bool ompp_causal_result_due(ompp_time_t t) { return t >= atomic_load_explicit(&result.next, memory_order_relaxed); }

/* Not by how long it took when the thread lost its processor meanwhile. */
static ompp_time_t usual(ompp_time_t taken)
{
    if (!result.quickest || taken < result.quickest) result.quickest = taken;
    return taken < 2 * result.quickest ? taken : 2 * result.quickest;
}

/* What is seen of few threads by now does not say yet that they are too many, or that too much is lost. Under the
 * lock. */
static void write_so_far(ompp_causal_thread_t *self, ompp_time_t t)
{
    const bool oversubscribed = ompp_causal_results.oversubscribed, much_lost = result.much_lost;
    const ompp_time_t begin = ompp_event_now(), part = ompp_causal_result_passed(t) / WRITE_PART;

    write_all(self, true, t);
    ompp_causal_results.oversubscribed = oversubscribed;
    result.much_lost = much_lost;
    const ompp_time_t taken = usual(ompp_event_now() - begin), seldom = WRITE_TIMES * taken,
                      pause = part > WRITE_NS ? part : WRITE_NS;
    atomic_store_explicit(&result.next, t + (seldom > pause ? seldom : pause), memory_order_relaxed);
    self->charged += taken;
}

void ompp_causal_result_so_far(ompp_causal_thread_t *self, ompp_time_t t)
{
    ompp_clocks_count(&self->clocks, t);
    ompp_causal_lock(&ompp_causal_results.lock);
    if (!ompp_causal_results.closed && ompp_causal_result_due(t)) write_so_far(self, t);
    ompp_causal_unlock(&ompp_causal_results.lock);
}
