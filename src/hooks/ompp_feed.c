/*
 * What is made of accesses that are told of one by one: misses of simulated caches, by place in the call tree and
 * structure. Each thread has caches of its own, and simulates them itself when its buffer is full.
 */
#define OMPP_LOG_DOMAIN "cache"
#include "hooks/ompp_feed_priv.h"

#include "base/ompp_caller.h"
#include "base/ompp_env.h"
#include "base/ompp_log.h"
#include "base/ompp_reserve.h"
#include "cache/ompp_coherence.h"
#include "cache/ompp_levels.h"
#include "cache/ompp_reuse.h"
#include "hooks/ompp_feed_rows_priv.h"
#include "hooks/ompp_offsets.h"
#include "model/ompp_profile.h"
#include "runtime/ompp_event.h"
#include "runtime/ompp_meter.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CACHES "/sys/devices/system/cpu/cpu0/cache"

enum { LINE_BITS = 6, TRACKED = 1 << 14, STRUCTURES = 256, MOST_DESCRIPTION = 4096, RANGES = 1024, PAIRS = 8 };
/*
 * Of curves: accesses of a burst, in which all lines are followed. The first one counts from its begin. The others
 * count in their second half, when lines are known, and stand for all since the last one; from burst to burst twice as
 * many accesses, up to MOST_STEPS times.
 */
enum { FIRST_BURST = 1 << 20, BURST = 1 << 18, MOST_STEPS = 8 };
enum { MEMBERS_ONE_IN = 16 }; /* buffers */

uint32_t ompp_feed_rate = UINT32_MAX, ompp_feed_structures;

static enum { OFF, CURVES, MODEL } mode;
static ompp_machine_t machine;
static unsigned with;
static unsigned set, nvalues;
static _Atomic uint64_t dropped;
static ompp_feed_block_t *block_begin; /* NULL: members are not told apart */

/* What one structure has come to since it was handed over. */
typedef struct {
    uint32_t object;                           /* + 1; 0 = free */
    uint64_t values[OMPP_CACHED_CURVE_VALUES]; /* the model has fewer */
} found_t;

typedef struct state {
    ompp_feed_t feed; /* first: hooks know no more */
    struct state *next;
    _Atomic bool taken; /* serves one thread after another, and stays */
    bool busy;          /* in the middle of it, when a signal handler comes */
    bool first;         /* it is the first burst, which begins with nothing before it */
    unsigned number;
    uint32_t rate;  /* as this thread has it */
    int64_t left;   /* accesses, of a burst or until the next one */
    unsigned steps; /* a burst stands for 1 << steps, in length */
    ompp_reuse_t sampled, burst;
    ompp_levels_t *levels;
    bool plain;     /* they are */
    bool always[2]; /* of the feed, but for members */
    bool members;   /* what is in the buffer is told of access by access, for members of structures */
    unsigned drains;
    uint8_t missed[OMPP_FEED_ROOM]; /* levels, of what is in the buffer */
    ompp_off_t node;                /* that is left now; 0 = where the thread is */
    unsigned nfound;
    found_t found[STRUCTURES];
} state_t;

static ompp_levels_t *_Atomic first_levels; /* whose shared level all use */
static ompp_coherence_t *coherence;
static state_t *_Atomic states; /* all, the newest first */
static _Atomic unsigned nstates;

static state_t *state_of(const ompp_counter_t *counter) { return (state_t *)counter->feed; }

/* ---- Results ----------------------------------------------------------------------------------------------------- */

static void hand_over(state_t *s, ompp_off_t node)
{
    uint64_t *all = s->nfound ? ompp_meter_values(node, set, 0, nvalues) : NULL;

    for (unsigned i = 0; s->nfound && i < STRUCTURES; i++) {
        found_t *f = &s->found[i];
        if (!f->object) continue;
        uint64_t *values = f->object > 1 ? ompp_meter_values(node, set, f->object - 1, nvalues) : NULL;
        for (unsigned n = 0; n < nvalues; n++) {
            if (values) values[n] += f->values[n];
            if (all) all[n] += f->values[n];
        }
        *f = (found_t){0, {0}};
        s->nfound--;
    }
    if (all && mode == CURVES) all[OMPP_CACHED_ONE_IN] = ((uint64_t)s->rate + 1) << OMPP_FEED_BLOCK_BITS;
}

static found_t *found_slow(state_t *s, uint32_t object)
{
    uint32_t i = object % STRUCTURES;

    while (s->found[i].object && s->found[i].object != object + 1) i = (i + 1) % STRUCTURES;
    if (s->found[i].object) return &s->found[i];
    if (s->nfound >= STRUCTURES / 4 * 3) {
        hand_over(s, s->node ? s->node : ompp_counter_place(ompp_meter_last()));
        i = object % STRUCTURES;
    }
    s->nfound++;
    s->found[i].object = object + 1;
    return &s->found[i];
}

static inline found_t *found_of(state_t *s, uint32_t object)
{
    found_t *f = &s->found[object % STRUCTURES];

    return f->object == object + 1 ? f : found_slow(s, object);
}

/* ---- Curves ------------------------------------------------------------------------------------------------------ */

static bool keeps(const void *unused, uint64_t line) { return (void)unused, ompp_feed_is_sampled(line << LINE_BITS); }

/* The row of a distance of 16 lines or more: those miss in some cache that is looked at. */
static unsigned row_of(uint32_t distance)
{
    if (distance == OMPP_REUSE_NEW) return OMPP_CACHED_DISTANCES - 1;
    const unsigned log2 = 31 - (unsigned)__builtin_clz(distance) - OMPP_CACHED_LEAST_BITS;
    return log2 < OMPP_CACHED_DISTANCES - 2 ? log2 : OMPP_CACHED_DISTANCES - 2;
}

/* Distances of a part are of fewer lines. */
static void follow_sampled(state_t *s, uint64_t line, uint64_t times, found_t *f)
{
    const uint64_t one_in = ((uint64_t)s->rate + 1) << OMPP_FEED_BLOCK_BITS;
    const uint32_t distance = ompp_reuse_touch(&s->sampled, line);
    uint64_t lines = distance == OMPP_REUSE_NEW ? OMPP_REUSE_NEW : distance * one_in;

    f->values[OMPP_CACHED_FOLLOWED] += times * one_in;
    if (lines < 1u << OMPP_CACHED_LEAST_BITS) return;
    if (distance != OMPP_REUSE_NEW && lines >= OMPP_REUSE_NEW) lines = OMPP_REUSE_NEW - 1;
    f->values[OMPP_CACHED_SAMPLED + row_of((uint32_t)lines)] += one_in;
    if (s->sampled.live < TRACKED) return;
    /* too many: one in twice as many from now on, for all threads */
    uint32_t rate = s->rate;
    __atomic_compare_exchange_n(&ompp_feed_rate, &rate, 2 * rate + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static void take_rate(state_t *s)
{
    const uint32_t rate = __atomic_load_n(&ompp_feed_rate, __ATOMIC_RELAXED);

    if (rate == s->rate) return;
    s->rate = rate;
    ompp_reuse_thin(&s->sampled, keeps, NULL);
}

static void follow_burst(state_t *s, uint64_t line, uint64_t times, found_t *f)
{
    const uint32_t known = s->burst.live;
    const uint32_t distance = ompp_reuse_touch(&s->burst, line);
    const uint64_t weight = s->first ? 1 : 2ull << s->steps;

    if (!s->first && s->left > BURST / 2) return;
    f->values[OMPP_CACHED_REFERENCES] += times * weight;
    f->values[OMPP_CACHED_SEEN] += times;
    if (distance == OMPP_REUSE_NEW && known < TRACKED)
        f->values[OMPP_CACHED_UNSURE + (known >> OMPP_CACHED_LEAST_BITS ? row_of(known) : 0)] += weight;
    if (distance >= 1u << OMPP_CACHED_LEAST_BITS) f->values[OMPP_CACHED_BURST + row_of(distance)] += weight;
}

/* Until the next burst: by chance a quarter more or less, so that bursts do not keep step with the program. */
static int64_t gap_of(const state_t *s)
{
    const int64_t gap = ((int64_t)BURST << s->steps) - BURST;
    const uint64_t chance = (s->sampled.last + s->steps) * 0x9e3779b97f4a7c15u >> 32;

    return gap - gap / 4 + (int64_t)((chance * (uint64_t)(gap / 2)) >> 32);
}

static void take_turns(ompp_counter_t *counter, state_t *s)
{
    if (s->left > 0) return;
    s->feed.all = !s->feed.all;
    if (s->feed.all) {
        ompp_reuse_clear(&s->burst);
        s->left = BURST;
    } else {
        s->first = false;
        s->steps += s->steps < MOST_STEPS;
        s->left = gap_of(s);
    }
    counter->tag = s->feed.all ? OMPP_MAP_NOBODY : counter->own;
    counter->most = s->feed.all ? OMPP_FEED_TURNS : UINT32_MAX;
}

static void curve(state_t *s, uint64_t address, uint64_t times, found_t *f)
{
    const uint64_t line = address >> LINE_BITS;
    const bool sampled = ompp_feed_is_sampled(address);

    if (s->feed.all) {
        follow_burst(s, line, times, f);
        s->left -= (int64_t)times;
    } else if (sampled) s->left -= (int64_t)(times * (((uint64_t)s->rate + 1) << OMPP_FEED_BLOCK_BITS));
    if (!sampled) return;
    follow_sampled(s, line, times, f);
    take_rate(s);
}

/* ---- Model ------------------------------------------------------------------------------------------------------- */

static void add(found_t *f, const ompp_access_result_t *r, bool store)
{
    for (unsigned i = 0; i < OMPP_LEVELS; i++) {
        f->values[OMPP_CACHED_MISSES + 2 * i + store] += r->misses[i];
        f->values[OMPP_CACHED_COMPULSORY + i] += r->compulsory[i];
        f->values[OMPP_CACHED_CONFLICT + i] += r->conflict[i];
    }
    f->values[OMPP_CACHED_TLB] += r->tlb_misses[0];
    f->values[OMPP_CACHED_TLB + 1] += r->tlb_misses[1];
    f->values[OMPP_CACHED_BROUGHT] += r->prefetched;
}

static unsigned levels_of(const ompp_access_result_t *r)
{
    unsigned n = 0;

    while (n < OMPP_LEVELS && r->misses[n]) n++;
    return n;
}

/* \return how many levels it misses. */
static unsigned simulate(state_t *s, uint64_t address, bool store, uint32_t object, found_t *f)
{
    ompp_access_result_t r;

    if (coherence) {
        const ompp_sharing_t lost = ompp_coherence_access(coherence, s->number, address, store, object);
        if (lost != OMPP_SHARING_NONE) {
            ompp_levels_invalidate(s->levels, address);
            f->values[lost == OMPP_SHARING_TRUE ? OMPP_CACHED_TRUE : OMPP_CACHED_FALSE]++;
        }
    }
    ompp_levels_access(s->levels, address, store, &r);
    add(f, &r, store);
    return levels_of(&r);
}

/* ---- The buffer -------------------------------------------------------------------------------------------------- */

static void each_line(state_t *s, const ompp_fed_t *entry, uint8_t *missed)
{
    const unsigned shift = s->feed.shift;
    const uint64_t end = entry->address + entry->size - 1;
    found_t *f = found_of(s, entry->object >> 1);

    for (uint64_t line = entry->address >> shift; line <= end >> shift; line++) {
        const uint64_t begin = line << shift, at = begin < entry->address ? entry->address : begin;
        if (mode == MODEL) *missed = (uint8_t)simulate(s, at, entry->object & 1, entry->object >> 1, f);
        else curve(s, at, line == end >> shift ? 1 + entry->again : 0, f);
    }
}

/* Misses of a level are added up as long as they are of one structure and kind. */
static void count_misses(state_t *s, unsigned level, const ompp_fed_t *entry, const uint16_t *which, unsigned n)
{
    unsigned begin = 0;

    for (unsigned i = 1; i <= n; i++) {
        const uint32_t object = entry[which[begin]].object;
        if (i < n && entry[which[i]].object == object) continue;
        found_of(s, object >> 1)->values[OMPP_CACHED_MISSES + 2 * level + (object & 1)] += i - begin;
        begin = i;
    }
}

/* Accesses of one line each from here on, as many as there are. \return their number. */
static uint32_t plain_lines(state_t *s, const ompp_fed_t *entry, uint8_t *levels, uint32_t most)
{
    uint16_t which[OMPP_LEVELS][OMPP_LEVELS_MOST];
    unsigned nmissed[OMPP_LEVELS], n = 0;

    while (n < most && entry[n].size == 1) n++;
    const ompp_accesses_t accesses = {&entry->address, &entry->object, sizeof *entry, n};
    ompp_levels_all(s->levels, &accesses, which, nmissed);
    for (unsigned level = 0; level < OMPP_LEVELS; level++) {
        count_misses(s, level, entry, which[level], nmissed[level]);
        for (unsigned i = 0; s->members && i < nmissed[level]; i++) levels[which[level][i]]++;
    }
    return n;
}

_Static_assert(OMPP_FEED_ROOM <= OMPP_LEVELS_MOST, "of a buffer");

/* One buffer of some: each access is told of then, as if it were none of the line of before. */
static void follow_members(state_t *s, uint32_t n)
{
    if (s->members) ompp_offsets_add(s->feed.entry, s->missed, n, block_begin);
    s->members = block_begin && s->feed.all && ompp_hash_mix(s->drains++) % MEMBERS_ONE_IN == 0;
    s->feed.always[OMPP_LOAD] = s->members || s->always[OMPP_LOAD];
    s->feed.always[OMPP_STORE] = s->members || s->always[OMPP_STORE];
}

static void drain(ompp_counter_t *counter, state_t *s)
{
    const ompp_stay_t stay = ompp_stay_if_handled(); /* what is shared is locked */
    const uint32_t n = s->feed.n < OMPP_FEED_ROOM ? s->feed.n : OMPP_FEED_ROOM;

    s->busy = true;
    s->feed.n = OMPP_FEED_ROOM; /* what signal handlers do meanwhile is not told of */
    if (s->members) memset(s->missed, 0, sizeof s->missed);
    for (uint32_t i = 0; i < n;) {
        if (s->plain) i += plain_lines(s, &s->feed.entry[i], &s->missed[i], n - i);
        if (i < n) each_line(s, &s->feed.entry[i], &s->missed[i]), i++;
    }
    if (n) follow_members(s, n);
    if (mode == CURVES) {
        take_rate(s);
        take_turns(counter, s);
        s->feed.latest[0].line = 0;
    }
    s->feed.n = 0;
    s->busy = false;
    ompp_stay_end(stay);
}

void ompp_feed_drain(ompp_counter_t *counter)
{
    state_t *s = state_of(counter);
    const int saved = errno;

    if (s->busy) atomic_fetch_add(&dropped, 1);
    else drain(counter, s);
    errno = saved;
}

void ompp_feed_move(ompp_counter_t *counter, ompp_off_t node)
{
    state_t *s = state_of(counter);

    if (!s) return;
    s->node = node;
    if (!s->busy) drain(counter, s);
    hand_over(s, node);
    s->node = 0;
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

static bool make_tracker(ompp_reuse_t *tracker)
{
    void *memory = ompp_reserve(ompp_reuse_bytes(TRACKED));

    if (memory) ompp_reuse_init(tracker, TRACKED, memory);
    return memory != NULL;
}

static bool make_model(state_t *s)
{
    const ompp_level_t *l1 = &machine.level[0];
    const unsigned plain = with & OMPP_WITH_RANDOM_PAGES, others = with & ~plain;

    s->levels = ompp_levels_new(&machine, with, ompp_reserve, atomic_load(&first_levels));
    if (!s->levels) return false;
    s->plain = ompp_levels_are_plain(s->levels);
    ompp_levels_t *none = NULL;
    if (with & OMPP_WITH_SHARED) atomic_compare_exchange_strong(&first_levels, &none, s->levels);
    s->feed.all = true;
    s->feed.shift = (unsigned)__builtin_ctz(l1->line);
    /* one line of a set is not looked up again, where nothing but its set knows of it */
    if (!others && !(l1->sets & (l1->sets - 1)) && !machine.level[1].inclusive && !machine.level[2].inclusive)
        s->feed.mask = (l1->sets < OMPP_FEED_FILTER ? l1->sets : OMPP_FEED_FILTER) - 1;
    s->always[OMPP_STORE] = l1->no_allocate || coherence;
    s->always[OMPP_LOAD] = coherence != NULL;
    return true;
}

static bool make_state(state_t *s)
{
    s->number = atomic_fetch_add(&nstates, 1);
    s->feed.shift = LINE_BITS;
    return mode == MODEL ? make_model(s) : make_tracker(&s->sampled) && make_tracker(&s->burst);
}

static void clear_state(state_t *s)
{
    if (mode == MODEL) return ompp_levels_clear(s->levels);
    ompp_reuse_clear(&s->sampled);
    ompp_reuse_clear(&s->burst);
}

/* That of a thread that is over, or a new one; those that have no memory for what they need stay taken. */
static state_t *take_state(void)
{
    state_t *s = atomic_load(&states);

    while (s && atomic_exchange(&s->taken, true)) s = s->next;
    if (s) return clear_state(s), s;
    if (!(s = ompp_reserve(sizeof *s)) || !make_state(s)) return NULL;
    atomic_store(&s->taken, true);
    s->next = atomic_load(&states);
    while (!atomic_compare_exchange_weak(&states, &s->next, s)) continue;
    return s;
}

static void refuse(const char *why)
{
    ompp_warn_common("caches are not simulated: %s", why);
    ompp_event_coverage(OMPP_COVERAGE_NOTE, "caches are not simulated", why);
}

static void register_metrics(void) { set = mode == CURVES ? ompp_feed_rows_curves() : ompp_feed_rows_model(); }

static void refuse_memory(void) { refuse("no memory for those of a thread"); }

void ompp_feed_begin(ompp_counter_t *counter)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT, short_of_memory = PTHREAD_ONCE_INIT;
    state_t *s;

    if (mode == OFF) return;
    pthread_once(&once, register_metrics);
    if (!(s = take_state())) {
        pthread_once(&short_of_memory, refuse_memory);
        return;
    }
    s->feed.n = 0;
    s->feed.last = &s->feed.entry[0];
    memset(s->feed.latest, 0, sizeof s->feed.latest);
    s->busy = false;
    s->members = block_begin != NULL;
    s->feed.always[OMPP_LOAD] = s->members || s->always[OMPP_LOAD];
    s->feed.always[OMPP_STORE] = s->members || s->always[OMPP_STORE];
    if (mode == CURVES) {
        s->feed.all = s->first = true;
        s->rate = ompp_feed_rate;
        s->steps = 0;
        s->left = FIRST_BURST;
    }
    counter->feed = &s->feed;
    counter->tag = OMPP_MAP_NOBODY;
    counter->most = coherence ? 1 : OMPP_FEED_TURNS;
    s->feed.by_line = mode == MODEL && !coherence;
    if (s->feed.by_line) counter->widths[OMPP_INLINE_FOR_PAGE] = -(uint64_t)ompp_feed_line(&s->feed);
}

void ompp_feed_end(ompp_counter_t *counter)
{
    state_t *s = state_of(counter);

    counter->feed = NULL;
    if (s) atomic_store(&s->taken, false);
}

/* ---- Coverage ---------------------------------------------------------------------------------------------------- */

/* Bytes of a structure, from its range's begin on. */
static void name_bytes(uint64_t address, char *text, size_t n)
{
    static ompp_data_range_t ranges[RANGES];
    const size_t all = ompp_data_ranges(ranges, RANGES);
    const uint32_t object = ompp_data_find(address);

    snprintf(text, n, "0x%" PRIx64, address);
    for (size_t i = 0; object && i < (all < RANGES ? all : RANGES); i++)
        if (ranges[i].object == object && address >= ranges[i].begin && address < ranges[i].end)
            snprintf(text, n, "byte %" PRIu64 " of %s", address - ranges[i].begin, ompp_data_name(object));
}

static void note_sharing(void)
{
    ompp_sharing_pair_t pairs[PAIRS];
    const unsigned n = ompp_coherence_pairs(coherence, pairs, PAIRS);
    char text[512], mine[128], others[128];

    for (unsigned i = 0; i < n; i++) {
        name_bytes(pairs[i].address, mine, sizeof mine);
        name_bytes(pairs[i].other_address, others, sizeof others);
        snprintf(text, sizeof text, "thread %" PRIu32 " uses %s, thread %" PRIu32 " writes %s: lost %" PRIu64 " times",
                 pairs[i].thread, mine, pairs[i].other, others, pairs[i].times);
        ompp_event_coverage(OMPP_COVERAGE_NOTE, "false sharing, threads in the order in which they came", text);
    }
}

void ompp_feed_finish(void)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    uint64_t lost = atomic_load(&dropped);
    char text[64];

    if (mode == OFF || atomic_flag_test_and_set(&said)) return;
    if (coherence) note_sharing();
    for (state_t *s = atomic_load(&states); mode == MODEL && s; s = s->next) lost += ompp_levels_lost(s->levels);
    if (!lost) return;
    snprintf(text, sizeof text, "%" PRIu64, lost);
    ompp_event_coverage(OMPP_COVERAGE_NOTE, "accesses that caches were not simulated for", text);
}

/* ---- Start ------------------------------------------------------------------------------------------------------- */

static bool read_machine(char *why, size_t n)
{
    static char text[MOST_DESCRIPTION];
    char reason[128];

    if (!*ompp_env.cache_machine) return ompp_machine_here(&machine, CACHES, why, n);
    const int file = open(ompp_env.cache_machine, O_RDONLY | O_CLOEXEC);
    const ssize_t got = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    if (got <= 0) return snprintf(why, n, "%s cannot be read", ompp_env.cache_machine), false;
    if (ompp_machine_parse(&machine, text, reason, sizeof reason)) return true;
    snprintf(why, n, "OMPP_CACHE_MACHINE=%s: %s", ompp_env.cache_machine, reason);
    return false;
}

static unsigned words(const char *text)
{
    static const char *const names[] = {"classes", "tlb", "next-line", "stride", "random-pages", "coherence", "shared"};
    unsigned found = 0;

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (ompp_env_has_word(text, names[i])) found |= 1u << i;
    return found;
}

void ompp_feed_start(ompp_feed_block_t *block)
{
    char why[256];

    if (strcmp(ompp_env.cache, "model") != 0 && *ompp_env.cache_machine)
        ompp_warn_common("OMPP_CACHE_MACHINE has no effect: OMPP_CACHE=model simulates the machine");
    if (strcmp(ompp_env.cache, "model") != 0 && !ompp_env_has_word(ompp_env.cache_with, "none"))
        ompp_warn_common("OMPP_CACHE_WITH has no effect: it belongs to OMPP_CACHE=model");
    if (strcmp(ompp_env.cache, "off") == 0) return;
    block_begin = block;
    if (block) ompp_offsets_start();
    if (strcmp(ompp_env.cache, "curves") == 0) {
        uint32_t one_in = 8;
        while (one_in * 2 <= (uint64_t)ompp_env.cache_rate) one_in *= 2;
        ompp_feed_rate = one_in / 8 - 1;
        mode = CURVES;
        nvalues = OMPP_CACHED_CURVE_VALUES;
        return;
    }
    if (!read_machine(why, sizeof why)) return refuse(why);
    with = words(ompp_env.cache_with);
    if (with & OMPP_WITH_COHERENCE && !(coherence = ompp_coherence_new(&machine, ompp_reserve)))
        return refuse("no memory for what threads share");
    mode = MODEL;
    nvalues = OMPP_CACHED_MODEL_VALUES;
}
