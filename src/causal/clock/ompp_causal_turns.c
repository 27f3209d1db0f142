/*
 * Regions take turns when there are more than slots, without delays: now and then, where a unit of work ends, the slots
 * go to those that have had the least of them for the time that is spent in them. Rank 0 decides, and a turn begins on
 * all ranks where they meet, so that all have saved as much at its begin and at its end. Ranks that do not meet for
 * long learn of it from clock vectors, one after the other. Threads that do not meet for long change wherever they are,
 * each at its next event; what was saved until then is what the one that works and has saved least says, as if they
 * met.
 *
 * What clocks cost is measured. When it exceeds a part of the run, they are suspended: a turn of no regions, in which
 * events do next to nothing, until there is time for another turn. A region is then followed for a part of the run, as
 * when it had to wait for its turn. Fewer regions at a time would not help: most of what an event takes does not depend
 * on their number, so that all of them can be followed for a quarter of the run for what one costs in half of it.
 */
#include "base/ompp_env.h"
#include "causal/clock/ompp_causal_clock_priv.h"
#include "causal/replay/ompp_causal_replay_priv.h"
#include "causal/result/ompp_causal_result_priv.h"

#include "runtime/ompp_whatif_record.h"

#include <string.h>

#define SHORTEST_NS 50000000u /* of a turn */
#define PART 10u              /* a turn lasts for one part in so many of the run so far, at least */
#define LOOK_NS 1000000u      /* after so long it is looked again what clocks cost */
/* of a thread's time, for each percent of the budget: what clocks take. Other threads wait meanwhile. */
#define MEASURED_PART 0.002
#define NOTHING 0.0001         /* percent */
#define FREE_NS 1000000u       /* that they may take anyway, per thread */
#define PIECE_NS 10000000u     /* between two suspensions clocks are kept for so long, ... */
#define PIECE_PART 32u         /* or for one part in so many of what they were kept, at least */
#define LONGEST_SUSPENSION 64u /* in such pieces: whatever they cost, something is observed */
#define LOOKS 8u               /* in a suspension: whether much is done meanwhile in a region that never had a clock */
#define APART_NS 50000000u     /* ranks do not meet any more after so long, ... */
#define APART_TIMES 4u         /* and so many times as long as it took them before */
#define LATE_TIMES 2u          /* the longest of the latest times between meetings: the next one is late */
#define LATEST 16u             /* they may come in groups */
#define BEFORE 16u             /* what is done lately counts so many times as much as what was done before */
#define IDLE 1000u             /* a region with less time lately than one part in so many of the most needs no slot */
#define WORTH 10u              /* a region with less work lately than one part in so many of the most is no news */

#define NEVER UINT64_MAX

static _Atomic uint32_t lock;

/* What decides when clocks are suspended, and when they go on. Neither happens before ompp_causal.look. Under the lock,
 * but for the atomic fields. */
static struct {
    _Atomic int holds;                  /* ranks pass each other without clock vectors */
    _Atomic ompp_time_t met;            /* when all ranks met last */
    _Atomic ompp_time_t between;        /* since the meeting before */
    _Atomic ompp_time_t latest[LATEST]; /* of that */
    _Atomic unsigned meetings;
    _Atomic ompp_time_t end; /* of the present suspension, if nothing is seen before */
    ompp_time_t charged;     /* until the present set */
    bool unreported;         /* moves are not reported */
} suspending;

/* What comes next. */
typedef struct {
    uint64_t number;                  /* of the set of regions */
    uint64_t keys[OMPP_CLOCKS_SLOTS]; /* none: clocks are suspended */
    ompp_time_t length;               /* it is looked again after so long; 0 = as before */
} turn_t;

/* Decided by rank 0, and begun where all ranks meet next. Under the lock. */
static turn_t proposal;

/* Regions by the time spent in them, for one choice. */
typedef struct {
    uint64_t ns[OMPP_CAUSAL_KNOWN];
} times_t;

#define CHOSEN UINT64_MAX

/* While clocks are suspended, regions that are met are not reported: their time makes them known. */
static void add_time(ompp_region_ref_t region, uint64_t ns, void *argument)
{
    times_t *times = argument;
    int index = ompp_causal_find(region);

    if (index < 0 && ns) index = ompp_causal_add(region);
    if (index >= 0) times->ns[index] += ns;
}

/* Regions that threads are in now: those that have not ended lately have been there since the last choice. */
static void add_open(times_t *open, ompp_time_t passed)
{
    for (const ompp_causal_thread_t *p = atomic_load(&ompp_causal.threads); p; p = p->next) {
        ompp_off_t node = ompp_causal_works(p) ? p->node : 0;
        for (unsigned depth = 0; ompp_meter_region(node) && depth <= OMPP_CAUSAL_DEEPEST; depth++) {
            add_time(ompp_meter_region(node), passed, open);
            node = ompp_meter_parent(node);
        }
    }
}

/* What was spent in a region since the last turn, and of what came before a part: it may come again. turns: one begins
 * now. \return the most. */
static uint64_t look_at_times(times_t *times, bool turns, ompp_time_t t)
{
    static times_t before, open; /* under the lock */
    static ompp_time_t last;
    uint64_t most = 0;

    memset(times, 0, sizeof *times);
    memset(&open, 0, sizeof open);
    ompp_whatif_region_times(add_time, times);
    add_time(0, ompp_causal_result_work(OMPP_CLOCKS_OUTSIDE, t), times);
    add_open(&open, t > last ? t - last : 0);
    if (turns) last = t;
    for (unsigned i = 0; i < ompp_causal_nknown(); i++) {
        const uint64_t all = times->ns[i], lately = all > before.ns[i] ? all - before.ns[i] : open.ns[i];
        times->ns[i] = lately + all / BEFORE;
        if (turns) before.ns[i] = all;
        if (times->ns[i] > most) most = times->ns[i];
    }
    return most;
}

/* \return whether a region that had no clock has much time. Of equal keys the first region has the clock. */
static bool is_news(unsigned known, const times_t *times, uint64_t longest)
{
    if (times->ns[known] <= longest / WORTH) return false;
    const uint64_t key = ompp_causal_known_key(known);
    const int first = ompp_causal_known_with(key);
    return first >= 0 && ompp_causal_known_record((unsigned)first) && !ompp_causal_result_followed((unsigned)first) &&
           ompp_causal_find_slot(key) < 0;
}

/* While clocks are suspended. */
static bool any_news(ompp_time_t t)
{
    static times_t times; /* under the lock */
    const uint64_t longest = look_at_times(&times, false, t);
    bool news = false;

    if (ompp_causal_ideal_key() && ompp_causal_nslots() == 1) return false; /* no region has a clock */
    for (unsigned i = 0; i < ompp_causal_nknown() && !news; i++) news = is_news(i, &times, longest);
    return news;
}

/* Those with the largest time per time that they have been followed; a region that was not followed yet comes
 * before. A slot that nobody needs stays free for the next region that is met. \return whether there is work in one of
 * these. */
static bool choose(uint64_t keys[OMPP_CLOCKS_SLOTS], ompp_time_t t)
{
    static times_t times; /* under the lock */
    const uint64_t longest = look_at_times(&times, true, t), ideal = ompp_causal_ideal_key();
    const unsigned n = ompp_causal_nknown();
    bool news = false;

    memset(keys, 0, OMPP_CLOCKS_SLOTS * sizeof *keys);
    if (ideal) keys[OMPP_CLOCKS_IDEAL] = ideal;
    for (unsigned i = 0; i < n; i++)
        if (ideal && ompp_causal_known_key(i) == ideal) times.ns[i] = CHOSEN;
    for (unsigned s = ideal ? 1 : 0; s < ompp_causal_nslots(); s++) {
        double most = -1;
        unsigned best = n;
        for (unsigned i = 0; i < n; i++) {
            const double need = (double)times.ns[i] / ((double)ompp_causal_result_followed(i) + (double)t / 1000);
            if (!ompp_causal_known_key(i) || times.ns[i] == CHOSEN || need <= most) continue;
            if (times.ns[i] < longest / IDLE) continue;
            most = need;
            best = i;
        }
        if (best == n) break;
        keys[s] = ompp_causal_known_key(best);
        news = news || is_news(best, &times, longest);
        for (unsigned i = 0; i < n; i++)
            if (ompp_causal_known_key(i) == keys[s]) times.ns[i] = CHOSEN;
    }
    return news;
}

/* ---- Suspensions ------------------------------------------------------------------------------------------------- */

static ompp_time_t longer(ompp_time_t a, ompp_time_t b) { return a > b ? a : b; }

static ompp_time_t piece(ompp_time_t t) { return longer(PIECE_NS, ompp_causal_result_observed(t) / PIECE_PART); }

static unsigned nthreads(void)
{
    unsigned n = 0;

    for (const ompp_causal_thread_t *p = atomic_load(&ompp_causal.threads); p; p = p->next) n += atomic_load(&p->used);
    return n ? n : 1;
}

/* Part of the time of all threads. */
static double budget(void)
{
    return MEASURED_PART * (ompp_env.causal_budget > 0 ? (double)ompp_env.causal_budget : NOTHING);
}

/* ns until clocks have cost no more than they may, if they cost nothing meanwhile. */
static double debt(ompp_time_t t)
{
    const double n = nthreads(), run = (double)ompp_causal_result_passed(t);
    const double allowed = ompp_env.causal_budget > 0 ? n * (FREE_NS + budget() * run) : 0;

    return ((double)ompp_causal_charged() - allowed) / (n * budget());
}

/* At the end of the piece after it clocks are to have cost what they may. */
static ompp_time_t length_of_suspension(ompp_time_t t, ompp_time_t kept)
{
    const double cost = (double)(ompp_causal_charged() - suspending.charged) / (double)(kept ? kept : 1),
                 next = (double)piece(t);
    const double length = debt(t) + next * (cost / (nthreads() * budget()) - 1), most = LONGEST_SUSPENSION * next;

    return (ompp_time_t)(length < next ? next : length > most ? most : length);
}

static bool is_due(ompp_time_t t)
{
    const ompp_time_t begin = atomic_load_explicit(&ompp_causal.set_begin, memory_order_relaxed);

    if (ompp_causal_ideal_key() && ompp_causal_nslots() == 1) return false; /* they are followed all the time */
    return ompp_causal_nknown() > ompp_causal_nslots() && t >= begin + SHORTEST_NS && (t - begin) * PART >= t;
}

/* Some waits are without clock vectors. When the ranks do not come to the end of those for long, clocks go on
 * without. */
static bool is_held(ompp_time_t t)
{
    const ompp_time_t begin = atomic_load_explicit(&ompp_causal.set_begin, memory_order_relaxed);
    const ompp_time_t end = atomic_load_explicit(&suspending.end, memory_order_relaxed);

    return atomic_load_explicit(&suspending.holds, memory_order_relaxed) > 0 && t < end + (end - begin);
}

void ompp_causal_hold(bool on) { atomic_fetch_add_explicit(&suspending.holds, on ? 1 : -1, memory_order_relaxed); }

ompp_time_t ompp_causal_suspended_until(void)
{
    const bool here = ompp_causal_set_is_empty() && ompp_whatif_rank() <= 0;

    return here ? atomic_load_explicit(&ompp_causal.look, memory_order_relaxed) : 0;
}

/* ---- Turns ------------------------------------------------------------------------------------------------------- */

/* Whether it is worth the lock. */
static bool may_be_due(ompp_time_t t)
{
    const bool look = t >= atomic_load_explicit(&ompp_causal.look, memory_order_relaxed);

    return ompp_causal_set_is_empty() ? look && !is_held(t) : look || is_due(t);
}

/* \return whether clocks are to be suspended now; if not, it is looked again later. */
static bool must_suspend(ompp_time_t t)
{
    const ompp_time_t kept = t - atomic_load(&ompp_causal.set_begin), least = piece(t);
    const bool is_long = kept >= least;

    if (is_long && ompp_env.causal_budget < 100 && debt(t) > 0) return true;
    atomic_store_explicit(&ompp_causal.look, t + (is_long ? LOOK_NS : least - kept), memory_order_relaxed);
    return false;
}

/* A suspension goes on to its end, if nothing is news: that gets its piece at once, since the run may be over then. */
static bool goes_on_suspended(ompp_time_t t)
{
    const ompp_time_t begin = atomic_load(&ompp_causal.set_begin), end = atomic_load(&suspending.end);

    if (t >= end || end <= begin || any_news(t)) return false;
    const ompp_time_t next = t + longer((end - begin) / LOOKS, LOOK_NS);
    atomic_store_explicit(&ompp_causal.look, next < end ? next : end, memory_order_relaxed);
    return true;
}

/* \return false = the present one goes on. Under the lock. */
static bool decide(turn_t *turn, ompp_time_t t)
{
    const bool is_suspended = ompp_causal_set_is_empty(),
               look = t >= atomic_load_explicit(&ompp_causal.look, memory_order_relaxed);

    const uint64_t set = atomic_load(&ompp_causal.set);

    /* a proposal may still be on its way */
    *turn = (turn_t){.number = (proposal.number > set ? proposal.number : set) + 1};
    turn->length = piece(t);
    if (look && !is_suspended && must_suspend(t)) {
        if (choose(turn->keys, t)) return true; /* for a piece, before clocks are suspended */
        memset(turn->keys, 0, sizeof turn->keys);
        turn->length = length_of_suspension(t, t - atomic_load(&ompp_causal.set_begin));
        return true;
    }
    if (is_suspended ? goes_on_suspended(t) : !is_due(t)) return false;
    if (!is_suspended) turn->length = 0;
    choose(turn->keys, t);
    return turn->keys[0] != 0;
}

static void report_moves(bool on)
{
    if (on == suspending.unreported) ompp_meters_suspend(!on);
    suspending.unreported = !on;
}

void ompp_causal_stop_moves(void)
{
    uint32_t free_lock = 0;

    if (!atomic_compare_exchange_strong(&lock, &free_lock, 1)) return;
    if (atomic_exchange(&ompp_causal.moves_reported, false)) report_moves(false);
    ompp_causal_unlock(&lock);
}

/* Another set of regions; clocks are suspended when the first key is 0. anywhere: as ompp_causal_may_turn_anywhere().
 * Then moves are reported during the suspension, too: otherwise no thread might see its end. Under the lock. */
static void begin_turn(ompp_causal_thread_t *self, const turn_t *turn, bool anywhere, ompp_time_t t)
{
    const bool unreported = !turn->keys[0] && !anywhere;

    t = longer(t, atomic_load(&ompp_causal.set_begin));
    ompp_causal_result_turn(self, turn->number, !turn->keys[0], anywhere, t);
    ompp_causal_choose(turn->keys);
    atomic_store_explicit(&suspending.end, t + turn->length, memory_order_relaxed);
    if (turn->length)
        atomic_store_explicit(&ompp_causal.look, t + turn->length / (turn->keys[0] ? 1 : LOOKS), memory_order_relaxed);
    /* rank 0 decides */
    else if (ompp_whatif_rank() > 0) atomic_store_explicit(&ompp_causal.look, NEVER, memory_order_relaxed);
    atomic_store(&ompp_causal.set_begin, t);
    if (!turn->keys[0]) {
        atomic_store(&ompp_causal.suspension_begin, t);
        atomic_store(&ompp_causal.suspension, turn->number);
    }
    report_moves(!unreported);
    atomic_store(&ompp_causal.moves_reported, !turn->keys[0] && anywhere);
    atomic_store(&ompp_causal.set, turn->number);
    if (ompp_sync_follower())
        __atomic_store_n(&ompp_sync_suspension_number, ompp_causal_set_is_empty() ? turn->number : 0, __ATOMIC_RELAXED);
    suspending.charged = ompp_causal_charged();
}

/* Ranks that meet change at their meetings. Those that have not for long change one after the other, but clocks
 * are not suspended so. */
static bool may_change_unsynchronised(ompp_time_t t)
{
    if (ompp_whatif_ranks() <= 1) return true;
    const ompp_time_t met = atomic_load_explicit(&suspending.met, memory_order_relaxed);
    const ompp_time_t usual = APART_TIMES * atomic_load_explicit(&suspending.between, memory_order_relaxed);
    return ompp_whatif_rank() <= 0 && t >= met + longer(APART_NS, usual) && (ompp_causal_set_is_empty() || is_due(t));
}

/* Teams that the calling thread is in, by its place. */
static unsigned count_teams(const ompp_causal_thread_t *self)
{
    unsigned n = 0;

    for (ompp_off_t node = ompp_causal_place(self); ompp_meter_region(node); node = ompp_meter_parent(node))
        n += ompp_causal_forks(node);
    return n;
}

/* The next turn begins, unless another thread is deciding that. */
static void try_turn(ompp_causal_thread_t *self, bool anywhere, ompp_time_t t)
{
    uint32_t free_lock = 0;
    turn_t turn;

    if (!atomic_compare_exchange_strong(&lock, &free_lock, 1)) return;
    const ompp_time_t begin = ompp_event_now();
    const bool due = may_be_due(t) && decide(&turn, t);
    if (due && (turn.keys[0] || ompp_whatif_ranks() <= 1)) begin_turn(self, &turn, anywhere, t);
    self->charged += ompp_event_now() - begin; /* the profile of all threads is gone through */
    ompp_causal_unlock(&lock);
    ompp_causal_settle(self);
}

void ompp_causal_may_turn(ompp_causal_thread_t *self, unsigned teams, ompp_time_t t)
{
    if (self->main && teams != OMPP_CAUSAL_ANYWHERE) ompp_causal_opportunity(t);
    if (!may_be_due(t) || !may_change_unsynchronised(t) || count_teams(self) > teams) return;
    try_turn(self, false, t);
}

/* Nor can it be expected that they come there soon. */
static bool is_far(ompp_time_t t)
{
    const ompp_time_t usual = APART_TIMES * atomic_load_explicit(&ompp_causal.opportunity_gap, memory_order_relaxed);

    return t >= atomic_load_explicit(&ompp_causal.opportunity, memory_order_relaxed) + longer(APART_NS, usual);
}

void ompp_causal_may_turn_anywhere(ompp_causal_thread_t *self, ompp_time_t t)
{
    if (self->main) ompp_causal_may_write(self, t);
    if (!may_be_due(t) || !is_far(t) || ompp_whatif_ranks() > 1) return;
    try_turn(self, true, t);
}

void ompp_causal_propose_turn(ompp_causal_thread_t *self, uint64_t *number, uint64_t keys[OMPP_CLOCKS_SLOTS],
                              ompp_time_t t)
{
    uint32_t free_lock = 0;

    if (ompp_whatif_rank() != 0 || ompp_whatif_ranks() <= 1 || !may_be_due(t)) return;
    if (!atomic_compare_exchange_strong(&lock, &free_lock, 1)) return;
    const ompp_time_t begin = ompp_event_now();
    if (proposal.number <= atomic_load(&ompp_causal.set) && !decide(&proposal, t)) proposal.number = 0;
    *number = proposal.number;
    memcpy(keys, proposal.keys, sizeof proposal.keys);
    self->charged += ompp_event_now() - begin;
    ompp_causal_unlock(&lock);
}

void ompp_causal_follow_turn(ompp_causal_thread_t *self, uint64_t number, const uint64_t keys[OMPP_CLOCKS_SLOTS],
                             ompp_time_t t)
{
    turn_t turn = {.number = number};

    ompp_causal_lock(&lock);
    if (number == proposal.number) turn.length = proposal.length;
    memcpy(turn.keys, keys, sizeof turn.keys);
    if (number > atomic_load(&ompp_causal.set)) begin_turn(self, &turn, false, t);
    ompp_causal_unlock(&lock);
    ompp_causal_settle(self);
}

/* Its clocks are of the regions that have their turn, and go on. */
static bool has_turn(const ompp_causal_thread_t *self)
{
    return self->clocks.set == atomic_load(&ompp_causal.set) && !ompp_causal_is_suspended(self);
}

void ompp_causal_may_write(ompp_causal_thread_t *self, ompp_time_t t)
{
    uint32_t free_lock = 0;

    if (!ompp_causal_result_due(t) || !has_turn(self) || !atomic_compare_exchange_strong(&lock, &free_lock, 1)) return;
    if (has_turn(self)) ompp_causal_result_so_far(self, longer(t, atomic_load(&ompp_causal.set_begin)));
    ompp_causal_unlock(&lock);
}

bool ompp_causal_meets_by(ompp_time_t t, ompp_time_t soon)
{
    const ompp_time_t met = atomic_load_explicit(&suspending.met, memory_order_relaxed);
    ompp_time_t longest = 0;

    for (unsigned i = 0; i < LATEST; i++)
        longest = longer(longest, atomic_load_explicit(&suspending.latest[i], memory_order_relaxed));
    const ompp_time_t usual = LATE_TIMES * longest;
    return usual > 0 && usual <= soon && t < met + usual;
}

void ompp_causal_note_meeting(ompp_time_t t)
{
    const ompp_time_t before = atomic_exchange_explicit(&suspending.met, t, memory_order_relaxed);

    if (!before || t <= before) return;
    const unsigned number = atomic_fetch_add_explicit(&suspending.meetings, 1, memory_order_relaxed);
    atomic_store_explicit(&suspending.between, t - before, memory_order_relaxed);
    atomic_store_explicit(&suspending.latest[number % LATEST], t - before, memory_order_relaxed);
}
