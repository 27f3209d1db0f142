/*
 * Loops whose iterations are handed out as they go: how often a thread asked for some, and what asking took, of one
 * time in SAMPLE. Kept by the thread until it goes on with another loop, or there are no iterations left.
 */
#include "runtime/ompp_chunk.h"

#include "runtime/ompp_thread.h"

#define SAMPLE 16u        /* power of two */
#define LONGEST_NS 20000u /* of one time: a thread that took longer had lost its processor */

static __thread struct {
    const ompp_thread_t *thread;
    ompp_off_t node; /* of the loop; 0 = none */
    uint32_t tick;
    uint64_t values[OMPP_METRIC_CHUNK_NUM];
} self __attribute__((tls_model("initial-exec")));

ompp_time_t ompp_event_chunk_begin(void)
{
    return __builtin_expect(++self.tick % SAMPLE == 0, 0) ? ompp_event_now() : 0;
}

void ompp_chunk_forget(void)
{
    for (unsigned i = 0; i < OMPP_METRIC_CHUNK_NUM; i++) self.values[i] = 0;
    self.node = 0;
}

static __attribute__((noinline)) void hand_over(ompp_thread_t *thread)
{
    if (self.node && self.thread == thread && self.values[OMPP_METRIC_CHUNK_ASKS] && ompp_guard_enter(thread)) {
        ompp_chunk_book_slow(thread, self.node, self.values);
        ompp_guard_leave(thread);
    }
    ompp_chunk_forget();
}

void ompp_event_chunk(ompp_time_t begin, bool more, unsigned chunks)
{
    ompp_thread_t *thread = ompp_thread_self;

    if (!thread || !thread->record || thread->skipped) return;
    const ompp_time_t end = begin ? ompp_event_now() : 0;
    const ompp_off_t node = ompp_top(thread)->node;
    if (__builtin_expect(self.node != node || self.thread != thread, 0)) {
        hand_over(thread);
        self.thread = thread;
        self.node = node;
    }
    if (chunks == OMPP_CHUNK_DONE) chunks = more || ompp_node(thread, node)->construct != OMPP_CONSTRUCT_PARLOOP;
    self.values[OMPP_METRIC_CHUNKS] += chunks;
    self.values[OMPP_METRIC_CHUNK_ASKS]++;
    self.values[OMPP_METRIC_CHUNK_TIMED] += begin != 0;
    self.values[OMPP_METRIC_CHUNK_TIME] += end - begin < LONGEST_NS ? end - begin : LONGEST_NS;
    if (!more) hand_over(thread);
}
