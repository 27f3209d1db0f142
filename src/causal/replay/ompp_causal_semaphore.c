/*
 * Semaphores. Posts are taken in the order in which they came: of a thread that has taken one, the number of those that
 * are still there says which one it was, but for threads that take one at the same moment, each of which gets another
 * one here. What the semaphore had at first needs nobody who posts.
 *
 * Posts that would come in another order matter when others take them, or when the one that takes them works in
 * between.
 */
#include "base/ompp_pages.h"
#include "causal/experiment/ompp_causal_experiment_priv.h"
#include "causal/replay/ompp_causal_object.h"
#include "causal/result/ompp_causal_result_priv.h"

#include <sys/mman.h>

#define SEMAPHORES 256u /* whose posts are remembered */

/* Between two posts that a thread takes: it has not worked; or it has been slow to wake, when that is little of what it
 * has waited, too. */
#define AT_ONCE_NS 20000u
#define SLOWLY_NS 100000u
#define LITTLE 16u

typedef struct {
    ompp_clock_vector_t vector;
    uint32_t overtaken; /* slots for which it would come before the one before it */
    bool taken;
} post_t;

struct ompp_causal_posts {
    uint64_t number;                   /* so far */
    const ompp_causal_thread_t *taker; /* of the latest one that was taken, */
    /* then; when it began to wait for the first of those that it has taken at once */
    ompp_time_t taken, since;
    post_t last[OMPP_CAUSAL_POSTS];
};

static _Atomic unsigned nsemaphores;

static ompp_causal_posts_t *posts_of(ompp_causal_object_t *o)
{
    if (!o->posts && atomic_load(&nsemaphores) < SEMAPHORES) {
        atomic_fetch_add(&nsemaphores, 1);
        void *posts = ompp_mmap(NULL, sizeof *o->posts, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        o->posts = posts == MAP_FAILED ? NULL : posts;
    }
    if (o->posts && o->used == 0) o->posts->number = 0, o->posts->taker = NULL; /* the record was another one's */
    return o->posts;
}

void ompp_causal_post(ompp_causal_thread_t *self, uint64_t semaphore, ompp_time_t t)
{
    ompp_causal_object_t *o = ompp_causal_object(OMPP_SYNC_SEMAPHORE, semaphore, true);
    ompp_causal_posts_t *posts = o ? posts_of(o) : NULL;

    if (!o) return;
    ompp_clocks_publish(&ompp_causal.rule, &self->clocks, &self->own, t);
    if (posts) {
        post_t *post = &posts->last[posts->number++ % OMPP_CAUSAL_POSTS];
        post->overtaken = ompp_causal.mode->overtakes(self, &o->vector[0]);
        post->taken = false;
        ompp_clock_vector_copy(&post->vector, &self->own);
    }
    ompp_clock_vector_copy(&o->vector[0], &self->own);
    o->used = t;
    ompp_causal_unlock(&o->lock);
}

/* The post that was taken while so many were left behind it; NULL = one of those that were there at first, or it is too
 * long ago. */
static post_t *take(ompp_causal_posts_t *posts, unsigned left)
{
    for (unsigned i = left; i < OMPP_CAUSAL_POSTS && i < posts->number; i++) {
        post_t *post = &posts->last[(posts->number - 1 - i) % OMPP_CAUSAL_POSTS];
        if (post->taken) continue;
        post->taken = true;
        return post;
    }
    return NULL;
}

/* The thread comes to take one at begin. \return whether it has done nothing since it took another one. */
static bool is_at_once(ompp_causal_posts_t *posts, const ompp_causal_thread_t *self, ompp_time_t begin)
{
    const ompp_time_t gap = begin > posts->taken ? begin - posts->taken : 0;
    const bool at_once =
        posts->taker == self && (gap < AT_ONCE_NS || (gap < SLOWLY_NS && LITTLE * gap < begin - posts->since));

    if (!at_once) posts->since = begin;
    return at_once;
}

bool ompp_causal_take(ompp_causal_thread_t *self, uint64_t semaphore, ompp_time_t t)
{
    ompp_causal_object_t *o = ompp_causal_object(OMPP_SYNC_SEMAPHORE, semaphore, true);
    ompp_causal_posts_t *posts = o ? posts_of(o) : NULL;
    const ompp_time_t begin = self->clocks.waiting ? self->clocks.waiting : t;
    const unsigned left = self->left;
    bool found = false;

    self->left = 0;
    if (!o) {
        self->lost++;
        return false;
    }
    uint32_t slots = ompp_causal.mode->overtakes(self, &o->vector[1]);
    ompp_clocks_publish(&ompp_causal.rule, &self->clocks, &self->own, begin);
    ompp_clocks_combine(&o->vector[1], &self->own);
    if (posts) {
        const post_t *post = take(posts, left);
        const bool at_once = is_at_once(posts, self, begin);
        found = post != NULL;
        if (found) ompp_clock_vector_copy(&self->other, &post->vector);
        if (found && !at_once) slots |= post->overtaken;
        posts->taker = self;
        posts->taken = t;
    } else if (o->vector[0].t > 0) {
        ompp_clock_vector_copy(&self->other, &o->vector[0]); /* the latest post; which one it was is not known */
        self->lost++;
        found = true;
    }
    ompp_causal_watch(OMPP_WHATIF_BIT_LOCK, slots);
    o->used = t;
    ompp_causal_unlock(&o->lock);
    return found;
}
