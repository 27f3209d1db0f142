/*
 * The call tree of a thread and its stacks of open frames: the rare side, when something is met for the first time.
 */
#define _GNU_SOURCE
#include "runtime/ompp_tree_priv.h"

#include "base/ompp_pages.h"
#include "runtime/ompp_thread.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define FIRST_CHILDREN 256u /* slots of the (parent, region) table at first */
#define TASK_FRAMES 32u     /* of an explicit task; fixed, because its address is the task's handle */

static bool grow(ompp_thread_t *thread)
{
    uint32_t size = thread->children ? 2 * (thread->children_mask + 1) : FIRST_CHILDREN;
    ompp_child_t *bigger =
        ompp_mmap(NULL, size * sizeof *bigger, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (bigger == MAP_FAILED) return false;
    for (uint32_t k = 0; thread->children && k <= thread->children_mask; k++) {
        const ompp_child_t *c = &thread->children[k];
        if (!c->node) continue;
        uint32_t i = ompp_hash2(c->parent, c->region);
        while (bigger[i & (size - 1)].node) i++;
        bigger[i & (size - 1)] = *c;
    }
    if (thread->children) ompp_munmap(thread->children, (thread->children_mask + 1) * sizeof *bigger);
    thread->children = bigger;
    thread->children_mask = size - 1;
    return true;
}

bool ompp_tree_open(ompp_thread_t *thread) { return grow(thread); }

void ompp_tree_close(ompp_thread_t *thread)
{
    ompp_munmap(thread->children, (thread->children_mask + 1) * sizeof *thread->children);
}

ompp_off_t ompp_node_new(ompp_thread_t *thread, ompp_off_t parent, ompp_off_t region, ompp_time_t t)
{
    const ompp_a_region_t *r = region ? ompp_at(thread, region) : NULL;
    uint32_t nphases = r ? r->nphases : 1;
    ompp_off_t off = ompp_thread_take(thread, (uint32_t)(sizeof(ompp_a_node_t) + nphases * sizeof(ompp_a_slot_t)));

    if (!off) return 0;
    ompp_a_node_t *node = ompp_node(thread, off);
    node->region = region;
    node->parent = parent;
    node->construct = r ? r->construct : OMPP_CONSTRUCT_NUM;
    node->nphases = (uint16_t)nphases;
    node->first_ns = t ? t : ompp_clock_now(); /* counted calls come without a time */
    node->next = atomic_load_explicit(&thread->record->nodes, memory_order_relaxed);
    atomic_store_explicit(&thread->record->nodes, off, memory_order_release);
    return off;
}

ompp_off_t ompp_child_slow(ompp_thread_t *thread, ompp_off_t parent, ompp_off_t region, ompp_time_t t)
{
    int saved_errno = errno;
    ompp_off_t node = 0;

    if (!ompp_region_is_kept(region)) return 0;
    if (thread->children_mask + 1 >= 2 * (thread->children_used + 1) || grow(thread))
        node = ompp_node_new(thread, parent, region, t);
    if (node) {
        uint32_t i = ompp_hash2(parent, region);
        while (thread->children[i & thread->children_mask].node) i++;
        thread->children[i & thread->children_mask] = (ompp_child_t){parent, region, node};
        thread->children_used++;
        ompp_node(thread, parent)->last = node;
    }
    errno = saved_errno;
    return node;
}

/* ---- Stacks ------------------------------------------------------------------------------------------------------ */

ompp_off_t ompp_stack_new(ompp_thread_t *thread, uint32_t capacity)
{
    ompp_off_t off = ompp_thread_take(thread, (uint32_t)(sizeof(ompp_a_stack_t) + capacity * sizeof(ompp_a_frame_t)));

    if (off) ((ompp_a_stack_t *)ompp_at(thread, off))->capacity = capacity;
    return off;
}

bool ompp_stack_grow_slow(ompp_thread_t *thread)
{
    ompp_a_stack_t *old = thread->stack;

    if (old->explicit_task || old->capacity >= OMPP_MAX_DEPTH) return false;
    ompp_off_t off = ompp_stack_new(thread, 2 * old->capacity);
    if (!off) return false;
    ompp_a_stack_t *bigger = ompp_at(thread, off);
    uint32_t capacity = bigger->capacity;
    memcpy(bigger, old, sizeof *old + (old->top + 1) * sizeof old->frames[0]);
    bigger->capacity = capacity;
    ompp_use_stack(thread, bigger);
    return true;
}

ompp_off_t ompp_stack_new_slow(ompp_thread_t *thread) { return ompp_stack_new(thread, TASK_FRAMES); }
