#include "runtime/ompp_chunk.h"

#include "base/ompp_caller.h"
#include "runtime/ompp_metric.h"
#include "runtime/ompp_region_priv.h"

#include <errno.h>

static _Atomic unsigned chunk_set; /* metric set; 0 = not registered */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void register_set(void)
{
    atomic_store(&chunk_set, ompp_metric_register(ompp_chunk_metrics, OMPP_METRIC_CHUNK_NUM));
}

static void register_once(void *unused)
{
    (void)unused;
    pthread_once(&once, register_set);
}

void ompp_chunk_book_slow(ompp_thread_t *thread, ompp_off_t node, const uint64_t *values)
{
    if (!atomic_load_explicit(&chunk_set, memory_order_relaxed)) ompp_caller_run(register_once, NULL);
    const unsigned set = atomic_load_explicit(&chunk_set, memory_order_relaxed);
    uint64_t *sums = set ? ompp_values_of(thread, node, set, OMPP_METRIC_CHUNK_NUM) : NULL;

    for (unsigned i = 0; sums && i < OMPP_METRIC_CHUNK_NUM; i++) sums[i] += values[i];
}
