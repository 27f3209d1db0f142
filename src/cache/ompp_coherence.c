#include "cache/ompp_coherence.h"

enum { LINES = 1 << 17, THREADS = 16, WORDS = 8, PAIRS = 256, TRIES = 1000 };

/* Written by all threads, while held. A line that comes to the place of another one begins anew. */
typedef struct {
    uint32_t held;
    uint16_t sharers, losers; /* threads that have it; that had it */
    uint64_t line;
    uint32_t turn;          /* how often it was taken from somebody */
    uint32_t lost[THREADS]; /* the turn in which each has lost it */
    uint32_t wrote[WORDS];  /* the turn in which each word was written last */
    uint8_t writer[WORDS];  /* who did */
} line_t;

struct ompp_coherence {
    unsigned shift, word_shift;
    line_t *lines;
    uint32_t held;
    ompp_sharing_pair_t pairs[PAIRS];
};

ompp_coherence_t *ompp_coherence_new(const ompp_machine_t *machine, ompp_memory_new_t memory_new)
{
    ompp_coherence_t *c = memory_new(sizeof *c);

    if (!c || !(c->lines = memory_new(LINES * sizeof *c->lines))) return NULL;
    for (unsigned i = 0; i < OMPP_LEVELS && machine->level[i].size; i++)
        c->shift = (unsigned)__builtin_ctz(machine->level[i].line);
    c->word_shift = c->shift - 3;
    return c;
}

static bool take(uint32_t *held)
{
    for (unsigned n = 0; n < TRIES; n++)
        if (!__atomic_exchange_n(held, 1, __ATOMIC_ACQUIRE)) return true;
    return false;
}

static void give(uint32_t *held) { __atomic_store_n(held, 0, __ATOMIC_RELEASE); }

/* The least frequent pair makes room for a new one, which goes on from its number. */
static void note(ompp_coherence_t *c, const ompp_sharing_pair_t *found)
{
    ompp_sharing_pair_t *least = &c->pairs[0], *p;

    if (!take(&c->held)) return;
    for (p = c->pairs; p < c->pairs + PAIRS; p++) {
        if (p->times && p->address == found->address && p->other_address == found->other_address &&
            p->thread == found->thread && p->other == found->other)
            break;
        if (p->times < least->times) least = p;
    }
    if (p == c->pairs + PAIRS) {
        const uint64_t times = least->times;
        *(p = least) = *found;
        p->times = times;
    }
    p->times++;
    give(&c->held);
}

/* A word of the line that another thread has written since. */
static unsigned written(const line_t *l, unsigned me)
{
    unsigned latest = 0;

    for (unsigned word = 0; word < WORDS; word++)
        if (l->writer[word] != me && l->wrote[word] > l->wrote[latest]) latest = word;
    return latest;
}

static ompp_sharing_t use(ompp_coherence_t *c, line_t *l, unsigned me, uint64_t address, bool store, uint32_t object)
{
    const unsigned word = (unsigned)(address >> c->word_shift) % WORDS;
    const uint16_t bit = (uint16_t)(1u << me);
    ompp_sharing_t why = OMPP_SHARING_NONE;

    if (l->losers & bit) {
        const bool same = l->wrote[word] >= l->lost[me] && l->writer[word] != me;
        why = same ? OMPP_SHARING_TRUE : OMPP_SHARING_FALSE;
        const unsigned other = written(l, me);
        if (!same)
            note(c, &(ompp_sharing_pair_t){0, address >> c->word_shift << c->word_shift,
                                           (l->line << c->shift) + ((uint64_t)other << c->word_shift), object, me,
                                           l->writer[other]});
    }
    l->losers &= (uint16_t)~bit;
    if (store && l->sharers & ~bit) {
        l->turn++;
        for (unsigned i = 0; i < THREADS; i++)
            if (l->sharers & ~bit & 1u << i) l->lost[i] = l->turn;
        l->losers |= l->sharers & (uint16_t)~bit;
        l->sharers = 0;
    }
    l->sharers |= bit;
    if (!store) return why;
    l->wrote[word] = l->turn;
    l->writer[word] = (uint8_t)me;
    return why;
}

ompp_sharing_t ompp_coherence_access(ompp_coherence_t *c, unsigned thread, uint64_t address, bool store,
                                     uint32_t object)
{
    const uint64_t line = address >> c->shift;
    line_t *l = &c->lines[(line ^ line >> 17) % LINES];

    if (!take(&l->held)) return OMPP_SHARING_NONE;
    if (l->line != line) {
        *l = (line_t){.held = 1, .line = line};
    }
    const ompp_sharing_t why = use(c, l, thread % THREADS, address, store, object);
    give(&l->held);
    return why;
}

unsigned ompp_coherence_pairs(const ompp_coherence_t *c, ompp_sharing_pair_t *pairs, unsigned n)
{
    unsigned found = 0;

    for (unsigned i = 0; i < PAIRS; i++) {
        unsigned at = found;
        if (!c->pairs[i].times) continue;
        while (at > 0 && pairs[at - 1].times < c->pairs[i].times) at--;
        if (at >= n) continue;
        found += found < n;
        for (unsigned k = found - 1; k > at; k--) pairs[k] = pairs[k - 1];
        pairs[at] = c->pairs[i];
    }
    return found;
}
