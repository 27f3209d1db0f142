/*
 * How often brief regions come, and which part of them is timed.
 */
#include "runtime/ompp_brief.h"

#include "base/ompp_caller.h"
#include "base/ompp_env.h"
#include "runtime/ompp_metric.h"
#include "runtime/ompp_region_priv.h"

#define LEAST_PER_SECOND 1000u /* of a node, and be there as many of them as may: these are not counted alone */
#define MOST 128u              /* that one stands for: more would go by unseen where they come seldom from now on */
#define SECOND_NS 1000000000u

static _Atomic unsigned thinned_set; /* metric set; 0 = not registered */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void register_set(void)
{
    atomic_store(&thinned_set, ompp_metric_register(ompp_thinned_metrics, OMPP_METRIC_THINNED_NUM));
}

static void register_once(void *unused)
{
    (void)unused;
    pthread_once(&once, register_set);
}

void ompp_brief_begin_slow(ompp_thread_t *thread, ompp_a_node_t *node, ompp_time_t t)
{
    const ompp_cost_t kind = ompp_construct_brief_cost(node->construct, false);
    if (kind == OMPP_COST_NUM || ompp_env.timed_rate <= 0) return;
    const ompp_off_t off = ompp_thread_take(thread, sizeof(ompp_a_brief_t));

    if (!off) return;
    *(ompp_a_brief_t *)ompp_at(thread, off) = (ompp_a_brief_t){
        .mean = 1,
        .seen = thread->timed,
        .random = 1 | off * 0x9e3779b1u,
        .inside_ns = ompp_process.header ? ompp_process.header->inside_ps[kind] / 1000 : 0,
        .looked = t,
    };
    node->brief = off;
}

/* A part of its time is that of others: each of them has to be timed. A task that runs as it is created is timed when
 * its creation is. */
static bool has_others(const ompp_a_node_t *node)
{
    uint64_t others = 0;

    for (unsigned s = 0; s < node->nphases; s++)
        others |= node->slot[s].child | (node->construct == OMPP_CONSTRUCT_TASK ? 0 : node->slot[s].task);
    return others != 0;
}

unsigned ompp_brief_set_slow(void)
{
    if (!atomic_load_explicit(&thinned_set, memory_order_relaxed)) ompp_caller_run(register_once, NULL);
    return atomic_load_explicit(&thinned_set, memory_order_relaxed);
}

static bool has_values(ompp_thread_t *thread, ompp_off_t node, ompp_a_brief_t *brief)
{
    if (brief->values) return true;
    const unsigned set = ompp_brief_set_slow();
    const uint64_t *values = set ? ompp_values_of(thread, node, set, OMPP_METRIC_THINNED_NUM) : NULL;
    brief->values = values ? ompp_off(thread, values) : 0;
    return values != NULL;
}

void ompp_brief_look_slow(ompp_thread_t *thread, ompp_off_t off, ompp_time_t t)
{
    const ompp_a_node_t *node = ompp_node(thread, off);
    ompp_a_brief_t *brief = ompp_at(thread, node->brief);
    const uint64_t passed = t > brief->looked ? t - brief->looked : 1, ns = passed < SECOND_NS ? passed : SECOND_NS;
    const uint64_t all = brief->mean * (uint64_t)(thread->timed - brief->seen) * SECOND_NS,
                   mine = brief->mean * (uint64_t)brief->tick * SECOND_NS, limit = (uint64_t)ompp_env.timed_rate * ns,
                   least = LEAST_PER_SECOND * ns;
    uint64_t mean = all / limit < mine / least ? all / limit : mine / least;

    if (has_others(node)) brief->never = true;
    if (mean > MOST) mean = MOST;
    if (mean < 1 || brief->never || !has_values(thread, off, brief)) mean = 1;
    brief->mean = (uint32_t)mean;
    brief->looked = t;
    brief->tick = 0;
    brief->seen = thread->timed;
    if (mean > 1) thread->thins = true;
}
