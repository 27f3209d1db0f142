/*
 * Sets of metrics, and the values of a node in them.
 */
#define OMPP_LOG_DOMAIN "metric"
#include "runtime/ompp_metric.h"

#include "model/ompp_profile.h"
#include "runtime/ompp_region_priv.h"
#include "runtime/ompp_thread.h"

#define MAX_SETS 64u

static _Atomic uint32_t set_sizes[MAX_SETS] = {[OMPP_SET_MPI] = OMPP_METRIC_MPI_NUM};
static uint32_t nsets = OMPP_SET_FIRST_FREE;

uint64_t *ompp_values_slow(ompp_thread_t *thread, ompp_off_t node, unsigned set, unsigned object, unsigned n)
{
    ompp_off_t off = ompp_thread_take(thread, (uint32_t)(sizeof(ompp_a_block_t) + n * sizeof(uint64_t)));

    if (!off) {
        thread->record->lost[OMPP_LOSS_VALUES]++;
        return NULL;
    }
    ompp_a_block_t *block = ompp_at(thread, off);
    block->set = set;
    block->object = object;
    block->nvalues = n;
    block->next = atomic_load_explicit(&ompp_node(thread, node)->sets, memory_order_relaxed);
    atomic_store_explicit(&ompp_node(thread, node)->sets, off, memory_order_release);
    return block->values;
}

unsigned ompp_set_size(unsigned set)
{
    return set < MAX_SETS ? atomic_load_explicit(&set_sizes[set], memory_order_relaxed) : 0;
}

static bool add_metric(unsigned set, unsigned index, const ompp_metric_row_t *row)
{
    ompp_described_t described = {sizeof(ompp_a_metric_t), {row->name, row->source, row->meaning}, {0}};
    ompp_off_t off = ompp_described_take(&described, ompp_arena_take_kept);

    if (!off) return false;
    ompp_a_metric_t *m = (ompp_a_metric_t *)(ompp_process.arena.base + off);
    *m = (ompp_a_metric_t){atomic_load(&ompp_process.header->metrics),
                           set,
                           index,
                           row->unit,
                           row->quality,
                           row->threads,
                           row->ranks,
                           row->use,
                           described.copies[0],
                           described.copies[1],
                           described.copies[2]};
    atomic_store_explicit(&ompp_process.header->metrics, off, memory_order_release);
    return true;
}

/* A set that is not complete has none: nobody could read its values. */
static bool add_metrics(unsigned set, const ompp_metric_row_t *rows, unsigned n)
{
    const ompp_off_t before = atomic_load(&ompp_process.header->metrics);

    for (unsigned i = 0; i < n; i++)
        if (!add_metric(set, i, &rows[i])) {
            atomic_store(&ompp_process.header->metrics, before);
            return false;
        }
    return true;
}

unsigned ompp_metric_register(const ompp_metric_row_t *rows, unsigned n)
{
    unsigned set = 0;

    if (!ompp_runtime_start() || !ompp_process.header || n == 0) return 0;
    const ompp_locked_t locked = ompp_lock();
    if (nsets < MAX_SETS && add_metrics(nsets, rows, n)) {
        set = nsets++;
        atomic_store_explicit(&set_sizes[set], n, memory_order_release);
    }
    ompp_unlock(locked);
    if (!set) ompp_event_coverage(OMPP_COVERAGE_DROPPED, "metrics", "memory for the profile is full: OMPP_MEMORY");
    return set;
}
