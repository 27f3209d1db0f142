/* The table of objects that threads wait for. */
#include "base/ompp_hash.h"
#include "base/ompp_pages.h"
#include "causal/replay/ompp_causal_object.h"
#include "causal/replay/ompp_causal_replay_priv.h"

#include <sys/mman.h>

#define WAYS 4u

static struct {
    _Atomic uint32_t lock; /* of giving records to objects */
    _Atomic(ompp_causal_object_t *) objects;
} table;

static ompp_causal_object_t *table_of_objects(void)
{
    ompp_causal_object_t *objects = atomic_load_explicit(&table.objects, memory_order_acquire);

    if (objects) return objects;
    ompp_causal_lock(&table.lock);
    objects = atomic_load_explicit(&table.objects, memory_order_acquire);
    if (!objects) {
        objects = ompp_mmap(NULL, OMPP_CAUSAL_OBJECTS * sizeof *objects, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (objects == MAP_FAILED) objects = NULL;
        atomic_store_explicit(&table.objects, objects, memory_order_release);
    }
    ompp_causal_unlock(&table.lock);
    return objects;
}

static ompp_causal_object_t *row_of(ompp_sync_object_t kind, uint64_t object)
{
    ompp_causal_object_t *objects = table_of_objects();
    const uint64_t hash = ompp_hash_place(object + kind, 32);

    return objects ? &objects[hash % (OMPP_CAUSAL_OBJECTS / WAYS) * WAYS] : NULL;
}

static bool is_it(const ompp_causal_object_t *o, ompp_sync_object_t kind, uint64_t object)
{
    return __atomic_load_n(&o->object, __ATOMIC_ACQUIRE) == object && o->kind == kind;
}

/* Gives the record to the object, with its lock held. */
static void renew(ompp_causal_object_t *o, ompp_sync_object_t kind, uint64_t object)
{
    o->vector[0].t = o->vector[1].t = 0;
    o->generation[0] = o->generation[1] = 0;
    o->used = 0;
    o->holder = NULL;
    o->team = 0;
    o->others[0].t = o->others[1].t = o->had.t = 0;
    o->settled = o->replayed = o->spoiled = o->kept = 0;
    o->kind = kind;
    __atomic_store_n(&o->object, object, __ATOMIC_RELEASE);
}

ompp_causal_object_t *ompp_causal_object(ompp_sync_object_t kind, uint64_t object, bool make)
{
    ompp_causal_object_t *row = row_of(kind, object), *oldest = row;

    for (unsigned i = 0; row && i < WAYS; i++) {
        ompp_causal_object_t *o = &row[i];
        if (is_it(o, kind, object)) {
            ompp_causal_lock(&o->lock);
            if (is_it(o, kind, object)) return o;
            ompp_causal_unlock(&o->lock);
        }
        if (o->used < oldest->used) oldest = o;
    }
    if (!row || !make) return NULL;
    ompp_causal_lock(&table.lock);
    for (unsigned i = 0; i < WAYS; i++)
        if (is_it(&row[i], kind, object)) oldest = &row[i];
    ompp_causal_lock(&oldest->lock);
    if (!is_it(oldest, kind, object)) renew(oldest, kind, object);
    ompp_causal_unlock(&table.lock);
    return oldest;
}
