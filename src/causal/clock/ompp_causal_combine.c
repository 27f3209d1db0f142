/*
 * What MPI makes of the clock vectors of two ranks that wait for each other: on each clock, the later of both.
 */
#include "causal/clock/ompp_causal_remote_priv.h"

#include <string.h>

#define SPEEDUPS OMPP_WHATIF_SPEEDUPS

static int position(const ompp_causal_remote_t *vector, uint64_t key)
{
    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++)
        if (vector->keys[s] == key) return (int)s;
    return -1;
}

static void combine_flags(ompp_causal_remote_t *into, const ompp_causal_remote_t *other)
{
    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++) {
        const int to = other->keys[s] && other->flags[s] ? position(into, other->keys[s]) : -1;
        if (to >= 0) into->flags[to] |= other->flags[s];
    }
}

static ompp_fine_t clock_of(const ompp_causal_remote_t *vector, unsigned clock)
{
    return clock < vector->used ? vector->v[clock] : vector->t;
}

static void widen(ompp_causal_remote_t *vector, uint64_t used)
{
    for (uint64_t i = vector->used; i < used; i++) vector->v[i] = vector->t;
    if (used > vector->used) vector->used = used;
}

/* into has the keys of other, too, as far as there is room. */
static void join_keys(ompp_causal_remote_t *into, const ompp_causal_remote_t *other)
{
    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++) {
        int to = other->keys[s] && position(into, other->keys[s]) < 0 ? position(into, 0) : -1;
        if (to < 0) continue;
        into->keys[to] = other->keys[s];
        for (unsigned k = 0; k < SPEEDUPS; k++) into->v[(unsigned)to * SPEEDUPS + k] = into->t;
    }
}

static void combine_by_key(ompp_causal_remote_t *into, const ompp_causal_remote_t *other)
{
    widen(into, OMPP_CLOCKS);
    join_keys(into, other);
    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++) {
        const int from = into->keys[s] ? position(other, into->keys[s]) : -1;
        for (unsigned k = 0; k < SPEEDUPS; k++) {
            ompp_fine_t *v = &into->v[s * SPEEDUPS + k];
            *v = ompp_clocks_later(*v, from < 0 ? other->t : clock_of(other, (unsigned)from * SPEEDUPS + k));
        }
    }
}

static void combine_in_place(ompp_causal_remote_t *into, const ompp_causal_remote_t *other)
{
    widen(into, other->used);
    for (unsigned i = 0; i < into->used; i++) into->v[i] = ompp_clocks_later(into->v[i], clock_of(other, i));
}

static void combine_work(ompp_causal_remote_t *into, const ompp_causal_remote_t *other)
{
    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++) {
        int to = other->keys[s] ? position(into, other->keys[s]) : -1;
        if (to < 0 && other->keys[s]) to = position(into, 0);
        if (to < 0) continue;
        into->keys[to] = other->keys[s];
        if (other->delays.work[s] > into->delays.work[to]) into->delays.work[to] = other->delays.work[s];
    }
}

/* Of earlier offsets only the time is of use. */
static void combine_delays(ompp_causal_remote_t *into, const ompp_causal_remote_t *other)
{
    ompp_causal_remote_t before;

    if (other->set > into->set || (other->set == into->set && other->experiment > into->experiment)) {
        before = *into;
        *into = *other;
        other = &before;
    }
    const bool same = other->set == into->set;
    for (unsigned i = 0; i < 2; i++)
        into->delays.v[i] = ompp_clocks_later(into->delays.v[i], same ? other->delays.v[i] : other->t);
    if (same) into->debt = ompp_clocks_later(into->debt, other->debt);
    into->t = ompp_clocks_later(into->t, other->t);
    if (other->delays.visits > into->delays.visits) into->delays.visits = other->delays.visits;
    if (other->delays.next.number > into->delays.next.number) into->delays.next = other->delays.next;
    combine_work(into, other);
    combine_flags(into, other);
}

static void combine_clocks(ompp_causal_remote_t *into, const ompp_causal_remote_t *other)
{
    if (into->serves != other->serves) { /* one of them says nothing but why a gain may be off */
        const ompp_causal_remote_t before = *into;
        if (into->serves) *into = *other;
        combine_flags(into, before.serves ? &before : other);
        return;
    }
    if (into->set < other->set) {
        const ompp_fine_t t = into->t;
        *into = *other;
        for (unsigned i = 0; i < into->used; i++) into->v[i] = ompp_clocks_later(into->v[i], t);
        into->t = ompp_clocks_later(into->t, t);
        return;
    }
    if (other->set < into->set) {
        for (unsigned i = 0; i < into->used; i++) into->v[i] = ompp_clocks_later(into->v[i], other->t);
    } else {
        if (memcmp(into->keys, other->keys, sizeof into->keys) == 0) combine_in_place(into, other);
        else combine_by_key(into, other);
        combine_flags(into, other);
        into->debt = ompp_clocks_later(into->debt, other->debt);
    }
    into->t = ompp_clocks_later(into->t, other->t);
}

/* The largest of both, each once. */
static void combine_farms(const uint64_t *a, const uint64_t *b, uint64_t *into)
{
    for (unsigned i = 0, k = 0, n = 0; n < OMPP_CAUSAL_FARMS; n++) {
        const uint64_t x = a[i] > b[k] ? a[i] : b[k];
        into[n] = x;
        if (i < OMPP_CAUSAL_FARMS - 1 && a[i] == x) i++;
        if (k < OMPP_CAUSAL_FARMS - 1 && b[k] == x) k++;
    }
}

static void combine_all(ompp_causal_remote_t *into, const ompp_causal_remote_t *other)
{
    const ompp_causal_next_set_t turn = other->turn.number > into->turn.number ? other->turn : into->turn;
    const uint64_t from = into->from == other->from ? into->from : OMPP_CAUSAL_MANY;
    uint64_t farms[OMPP_CAUSAL_FARMS];
    const uint64_t astray = into->astray | other->astray, role = into->role | other->role;
    const ompp_fine_t reported = ompp_clocks_later(into->reported, other->reported),
                      served = ompp_clocks_later(into->served, other->served);

    combine_farms(into->farms, other->farms, farms);
    combine_clocks(into, other);
    into->turn = turn;
    into->from = from;
    memcpy(into->farms, farms, sizeof farms);
    into->astray = astray;
    into->role = role;
    into->reported = reported;
    into->served = served;
}

static void combine(ompp_causal_remote_t *into, const ompp_causal_remote_t *other,
                    void (*both)(ompp_causal_remote_t *into, const ompp_causal_remote_t *other))
{
    const uint64_t floats = ompp_float_take();

    if (other->t != 0 && into->t == 0) *into = *other;
    else if (other->t != 0) both(into, other);
    ompp_float_back(floats);
}

void ompp_causal_combine(void *into, const void *other) { combine(into, other, combine_all); }
void ompp_causal_delay_combine(void *into, const void *other) { combine(into, other, combine_delays); }
