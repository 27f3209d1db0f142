/*
 * State of the measurement of this process, its lock, and memory of the arena. Calls nothing of the runtime.
 */
#include "runtime/ompp_state.h"

#include "runtime/ompp_event.h"
#include "runtime/ompp_thread.h"

#include <string.h>

#define PIECE 8192u /* of the arena, taken at a time */

ompp_process_t ompp_process = {.lock = PTHREAD_MUTEX_INITIALIZER, .on = OMPP_ON_ENTER};
__thread ompp_thread_t *ompp_thread_self __attribute__((tls_model("initial-exec")));
ompp_thread_t ompp_thread_none = {.guard = 1, .skipped = 1};

bool ompp_runtime_start(void)
{
    if (atomic_load_explicit(&ompp_process.state, memory_order_acquire) == OMPP_STATE_NEW) ompp_runtime_hooks.start();
    return atomic_load_explicit(&ompp_process.state, memory_order_acquire) == OMPP_STATE_RUNNING;
}

ompp_locked_t ompp_lock(void)
{
    ompp_locked_t locked = {.guarded = ompp_thread_self, .stay = ompp_stay()};

    if (locked.guarded && !ompp_guard_enter(locked.guarded)) locked.guarded = NULL;
    pthread_mutex_lock(&ompp_process.lock);
    return locked;
}

void ompp_unlock(ompp_locked_t locked)
{
    pthread_mutex_unlock(&ompp_process.lock);
    if (locked.guarded) ompp_guard_leave(locked.guarded);
    ompp_stay_end(locked.stay);
}

ompp_off_t ompp_thread_take(ompp_thread_t *thread, uint32_t size)
{
    size = (size + 15u) & ~15u;
    if (thread->block + size > thread->block_end) {
        uint32_t piece = size > PIECE ? size : PIECE;
        const ompp_locked_t locked = ompp_lock();
        ompp_off_t off = ompp_arena_take(&ompp_process.arena, piece);
        /* Near the cap a whole piece may not fit although the record would. */
        if (!off && piece > size) off = ompp_arena_take(&ompp_process.arena, piece = size);
        ompp_unlock(locked);
        if (!off) return 0;
        thread->block = off;
        thread->block_end = off + piece;
    }
    ompp_off_t off = thread->block;
    thread->block += size;
    return off;
}

#define MOST_TEXT 4096u

static size_t aligned(size_t size) { return (size + 15u) & ~(size_t)15u; }

static size_t string_size(const char *text)
{
    const size_t length = text ? strnlen(text, MOST_TEXT) : 0;

    return length ? aligned(sizeof(ompp_a_string_t) + length + 1) : 0;
}

ompp_off_t ompp_described_take(ompp_described_t *described, ompp_off_t (*take)(ompp_arena_t *, size_t))
{
    enum { NTEXTS = sizeof described->texts / sizeof described->texts[0] };
    size_t sizes[NTEXTS], all = aligned(described->size);

    for (unsigned i = 0; i < NTEXTS; i++) all += sizes[i] = string_size(described->texts[i]);
    const ompp_off_t off = take(&ompp_process.arena, all);
    ompp_off_t at = off + (ompp_off_t)aligned(described->size);
    for (unsigned i = 0; i < NTEXTS; i++) {
        described->copies[i] = off && sizes[i] ? at : 0;
        if (!described->copies[i]) continue;
        ompp_a_string_t *s = (ompp_a_string_t *)(ompp_process.arena.base + at);
        s->length = (uint32_t)strnlen(described->texts[i], MOST_TEXT);
        memcpy(s->text, described->texts[i], s->length);
        at += (ompp_off_t)sizes[i];
    }
    return off;
}

ompp_off_t ompp_string_take(const char *text)
{
    ompp_described_t described = {.texts = {text}};

    if (text && *text) ompp_described_take(&described, ompp_arena_take_kept);
    return described.copies[0];
}
