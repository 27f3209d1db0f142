/*
 * Reduction of the profiles of all ranks to rank 0.
 */
#define OMPP_LOG_DOMAIN "finish"
#include "process/ompp_finish_priv.h"

#include "base/ompp_env.h"
#include "base/ompp_error.h"
#include "model/ompp_merge.h"
#include "model/ompp_pack.h"

#include <stdio.h>
#include <stdlib.h>

static int send_profile(const ompp_reduce_t *reduce, int to, const ompp_profile_t *profile)
{
    void *data = NULL;
    uint64_t bytes = 0;
    /* An empty message says that there is nothing: the receiver must not wait for what cannot come. */
    int packed = profile ? ompp_pack(profile, &data, &bytes) : 0;
    int error = reduce->send(to, data, packed == 0 ? bytes : 0);

    free(data);
    return error;
}

static int receive_into(const ompp_reduce_t *reduce, int from, ompp_profile_t *into)
{
    uint64_t bytes = 0;
    ompp_profile_t *profile = NULL;
    int error = reduce->receive_size(from, &bytes);
    void *data = error ? NULL : malloc(bytes ? bytes : 1);

    if (error || !data) return error ? error : -OMPP_E_NOMEM;
    error = reduce->receive(from, data, bytes);
    if (!error) error = bytes ? ompp_unpack(data, bytes, &profile) : -OMPP_E_NOTFOUND;
    if (!error) error = ompp_profile_merge(into, profile);
    ompp_profile_free(profile);
    free(data);
    return error;
}

static void merge_from(const ompp_reduce_t *reduce, int from, ompp_profile_t *into)
{
    char rank[16];
    int error = receive_into(reduce, from, into);

    if (!error) return;
    snprintf(rank, sizeof rank, "%d", reduce->world ? reduce->world[from] : from);
    ompp_profile_add_coverage(into, OMPP_COVERAGE_INCOMPLETE, rank, ompp_error_message(error), 1);
}

/*
 * Ranks from first on are kept only as sums: a binomial tree over them, its root is first. \return true on the rank
 * that holds the result (first).
 */
static bool reduce_rest(const ompp_reduce_t *reduce, int first, ompp_profile_t *profile)
{
    int me = reduce->rank - first, n = reduce->size - first;

    ompp_profile_fold_rest(profile);
    for (int step = 1; step < n; step *= 2) {
        if (me & step) {
            send_profile(reduce, first + me - step, profile);
            return false;
        }
        if (me + step < n) merge_from(reduce, first + me + step, profile);
    }
    return true;
}

/*
 * Brings everything to rank 0: ranks below OMPP_RANK_DETAIL send their whole profile, one after the other, so that rank
 * 0 holds at most one of them beside the union; the others come as one sum.
 */
static int first_rest(const ompp_reduce_t *reduce)
{
    int64_t detail = ompp_env.rank_detail < 1 ? 1 : ompp_env.rank_detail;

    return detail < reduce->size ? (int)detail : reduce->size;
}

/* The rank that waits for this one's profile. */
static int taker_of(const ompp_reduce_t *reduce)
{
    int me = reduce->rank - first_rest(reduce);

    return me <= 0 ? 0 : first_rest(reduce) + (me & (me - 1));
}

void ompp_finish_reduce(const ompp_reduce_t *reduce, ompp_profile_t *profile)
{
    int first = first_rest(reduce);

    if (reduce->rank >= first) {
        if (reduce_rest(reduce, first, profile)) send_profile(reduce, 0, profile);
    } else if (reduce->rank > 0) {
        send_profile(reduce, 0, profile);
    } else {
        for (int r = 1; r < first; r++) merge_from(reduce, r, profile);
        if (first < reduce->size) merge_from(reduce, first, profile);
        if (profile->nranks < (uint32_t)reduce->size) profile->nranks = (uint32_t)reduce->size;
    }
}

void ompp_finish_reduce_nothing(const ompp_reduce_t *reduce) { send_profile(reduce, taker_of(reduce), NULL); }

/* A word of rank 0's to all others. */
static int hear(const ompp_reduce_t *reduce, char *word)
{
    uint64_t bytes = 0;
    int error = 0;

    if (reduce->rank == 0) {
        for (int r = 1; r < reduce->size; r++) reduce->send(r, word, sizeof *word);
    } else {
        error = reduce->receive_size(0, &bytes);
        if (!error) error = bytes == sizeof *word ? reduce->receive(0, word, bytes) : -OMPP_E_FORMAT;
    }
    return error;
}

int ompp_finish_tell(const ompp_reduce_t *reduce, bool *done)
{
    char word = *done;
    const int error = hear(reduce, &word);

    if (!error) *done = word;
    return error;
}

/*
 * Rank 0 decides and says so. A rank that waited in vain says to the rank that would wait
 * for it that nothing comes; one that comes late hears that rank 0 has given up.
 */
int ompp_finish_meet(const ompp_reduce_t *reduce)
{
    int error = reduce->agree(ompp_env.finalize_timeout);
    char go = !error;

    if (error && reduce->rank > 0) {
        ompp_finish_reduce_nothing(reduce);
        return error;
    }
    const int heard = hear(reduce, &go);
    return error ? error : heard ? heard : go ? 0 : -OMPP_E_TIMEOUT;
}
