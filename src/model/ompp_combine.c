#include "model/ompp_combine_priv.h"

#include "base/ompp_error.h"

#include <stdlib.h>
#include <string.h>

static int compare_metrics(const void *a, const void *b)
{
    const ompp_metric_t *x = a, *y = b;

    if (x->set != y->set) return x->set < y->set ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

int ompp_metric_list_init(ompp_metric_list_t *list, const ompp_profile_t *profile)
{
    list->n = profile->nmetrics;
    list->metrics = calloc(list->n ? list->n : 1, sizeof *list->metrics);
    if (!list->metrics) return -OMPP_E_NOMEM;
    if (!list->n) return 0;
    memcpy(list->metrics, profile->metrics, list->n * sizeof *list->metrics);
    qsort(list->metrics, list->n, sizeof *list->metrics, compare_metrics);
    return 0;
}

void ompp_metric_list_fini(ompp_metric_list_t *list)
{
    free(list->metrics);
    list->metrics = NULL;
}

const ompp_metric_t *ompp_metric_list_set(const ompp_metric_list_t *list, uint32_t set, size_t *n)
{
    size_t low = 0, high = list->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->metrics[middle].set < set) low = middle + 1;
        else high = middle;
    }
    for (*n = 0; low + *n < list->n && list->metrics[low + *n].set == set;) ++*n;
    return &list->metrics[low];
}

static uint64_t reduce(uint32_t reduction, uint64_t a, uint64_t b)
{
    if (reduction == OMPP_REDUCE_MIN) return a < b ? a : b;
    if (reduction == OMPP_REDUCE_MAX) return a > b ? a : b;
    return a + b;
}

void ompp_combine(const ompp_metric_list_t *list, uint32_t set, ompp_over_t over, uint64_t *into, const uint64_t *from,
                  size_t n)
{
    size_t defined = 0;
    const ompp_metric_t *metrics = set >= OMPP_SET_FIRST_FREE ? ompp_metric_list_set(list, set, &defined) : NULL;

    for (size_t i = 0; i < n; i++) {
        uint32_t reduction = OMPP_REDUCE_SUM; /* of phases, always */
        if (set == OMPP_SET_MPI && i < OMPP_METRIC_MPI_NUM)
            reduction = over == OMPP_OVER_THREADS ? ompp_mpi_metrics[i].threads : ompp_mpi_metrics[i].ranks;
        else if (i < defined)
            reduction = over == OMPP_OVER_THREADS ? metrics[i].reduce_threads : metrics[i].reduce_ranks;
        into[i] = reduce(reduction, into[i], from[i]);
    }
}
