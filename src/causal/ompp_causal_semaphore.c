/*
 * Semaphores. Posts are taken in the order in which they came: of a thread that has taken one, the number of those that are still there
 * says which one it was. What the semaphore had at first needs nobody who posts.
 */
#include "causal/ompp_causal_object.h"

#include <sys/mman.h>

#define SEMAPHORES 256u /* whose posts are remembered */

struct ompp_causal_posts {
    uint64_t number; /* so far */
    ompp_stamp_t last[OMPP_CAUSAL_POSTS];
};

static _Atomic unsigned nsemaphores;

static ompp_causal_posts_t *posts_of(ompp_causal_object_t *o)
{
    if (o->posts || atomic_fetch_add(&nsemaphores, 1) >= SEMAPHORES) return o->posts;
    void *posts = mmap(NULL, sizeof *o->posts, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    o->posts = posts == MAP_FAILED ? NULL : posts;
    return o->posts;
}

/* Would this thread, at this, come before one that was here already? */
static void watch(const ompp_causal_thread_t *self, const ompp_stamp_t *before)
{
    if (ompp_causal.rule.delays) ompp_causal_watch_order(self, before, OMPP_WHATIF_BIT_LOCK);
    else
        ompp_causal_watch(OMPP_WHATIF_BIT_LOCK, ompp_clocks_overtaken(&ompp_causal.rule, &self->clocks, before, OMPP_CAUSAL_TOLERANCE));
}

void ompp_causal_post(ompp_causal_thread_t *self, uint64_t semaphore, ompp_time_t t)
{
    ompp_causal_object_t *o = ompp_causal_object(OMPP_SYNC_SEMAPHORE, semaphore, true);
    ompp_causal_posts_t *posts = o ? posts_of(o) : NULL;

    if (posts) {
        if (o->used == 0) posts->number = 0; /* the record was another one's */
        ompp_clocks_stamp(&ompp_causal.rule, &self->clocks, &self->own, t);
        watch(self, &o->stamp[0]);
        ompp_stamp_copy(&o->stamp[0], &self->own);
        ompp_stamp_copy(&posts->last[posts->number++ % OMPP_CAUSAL_POSTS], &self->own);
        o->used = t;
    }
    if (o) ompp_causal_unlock(&o->lock);
}

bool ompp_causal_take(ompp_causal_thread_t *self, uint64_t semaphore, ompp_time_t t)
{
    ompp_causal_object_t *o = ompp_causal_object(OMPP_SYNC_SEMAPHORE, semaphore, true);
    ompp_causal_posts_t *posts = o ? posts_of(o) : NULL;
    const unsigned left = self->left;
    bool found = false;

    self->left = 0;
    if (posts) {
        if (o->used == 0) posts->number = 0;
        watch(self, &o->stamp[1]);
        ompp_clocks_stamp(&ompp_causal.rule, &self->clocks, &self->own, self->clocks.waiting ? self->clocks.waiting : t);
        ompp_clocks_combine(&o->stamp[1], &self->own);
        found = left < posts->number && left < OMPP_CAUSAL_POSTS;
        if (found) ompp_stamp_copy(&self->other, &posts->last[(posts->number - 1 - left) % OMPP_CAUSAL_POSTS]);
        o->used = t;
    }
    if (!posts || (left >= OMPP_CAUSAL_POSTS && left < posts->number)) self->lost++;
    if (o) ompp_causal_unlock(&o->lock);
    return found;
}
