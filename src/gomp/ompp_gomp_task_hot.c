/*
 * Tasks of programs on libgomp. A task's own data block gets a header in front, so that the function which libgomp runs
 * in place of the task's knows what to run and to tell. libgomp copies the block as it copies the task's own.
 *
 * libgomp writes the first words of a block itself: bounds of a taskloop's task, the event of detach; and reads the
 * third, the reductions of a taskloop. So the header begins with the block's own first words.
 */
#include "gomp/ompp_gomp_priv.h"

#include <string.h>

enum { WORDS = 3, MAX_BLOCK = 256 * 1024 }; /* bytes: a larger block is not copied, its task not measured */
enum { FLAG_UNTIED = 1 << 0, FLAG_DEPEND = 1 << 3, FLAG_NOGROUP = 1 << 11, FLAG_DETACH = 1 << 13 };

typedef void (*copy_t)(void *to, void *from);

typedef struct {
    ompp_word_t words[WORDS]; /* the block's own, as far as it has them */
    ompp_gomp_body_t body;
    copy_t copy;      /* constructs the block elsewhere; NULL = bytes */
    void *data;       /* the block where the task was met; valid when it is copied */
    ompp_task_t task; /* created */
    uint32_t offset;  /* of the block from here */
    uint32_t written; /* words at its begin that libgomp may have written */
} header_t;

/* What libgomp runs in place of a task's function. */
static void run_task(void *block)
{
    header_t *header = block;
    char *data = (char *)header + header->offset;
    ompp_task_t task = header->task;
    ompp_gomp_body_t outer = ompp_gomp_body;

    for (uint32_t i = 0; i < header->written; i++)
        memcpy(data + i * sizeof(ompp_word_t), &header->words[i], sizeof(ompp_word_t));
    ompp_event_task_begin_brief(&task);
    ompp_gomp_body = header->body;
    header->body(data);
    ompp_gomp_body = outer;
    ompp_event_task_end_brief(task);
}

/* For data with constructors: the task's own function makes the block. */
static void copy_block(void *to, void *from)
{
    header_t *header = from;

    memcpy(to, header, sizeof *header);
    for (uint32_t i = 0; i < header->written; i++)
        memcpy((char *)header->data + i * sizeof(ompp_word_t), &header->words[i], sizeof(ompp_word_t));
    header->copy((char *)to + header->offset, header->data);
}

static inline long header_bytes(long align)
{
    long bytes = sizeof(header_t);

    return align > 0 ? (bytes + align - 1) / align * align : bytes;
}

/* The block with its header; with constructors, the header alone. */
static void fill_block(char *block, const header_t *header, long size)
{
    long words = size / (long)sizeof(ompp_word_t);

    memcpy(block, header, sizeof *header);
    memcpy(block, header->data, (words < WORDS ? words : WORDS) * sizeof(ompp_word_t));
    if (!header->copy) memcpy(block + header->offset, header->data, size);
}

/* Place for a block and its header, aligned, in the caller's frame. */
#define PLACE(bytes, align) \
    ((char *)(((uintptr_t)__builtin_alloca((bytes) + (align)) + (align)-1) & ~((uintptr_t)(align)-1)))

static inline long at_least(long a, long b) { return a > b ? a : b; }

static bool is_measured(ompp_gomp_body_t body, const void *data, long size)
{
    return body && (data || size == 0) && size >= 0 && size <= MAX_BLOCK && ompp_gomp_on();
}

/* GCC has added parameters at the end over time; a libgomp that does not know them does not look at them. */
typedef void task_t(ompp_gomp_body_t, void *, copy_t, long, long, bool, unsigned, void **, int, void *);

OMPP_EXPORT void GOMP_task(ompp_gomp_body_t body, void *data, copy_t copy, long size, long align, bool deferred,
                           unsigned flags, void **depend, int priority, void *detach)
{
    task_t *real = OMPP_REAL(task_t *, "GOMP_task");

    if (!is_measured(body, data, size)) {
        real(body, data, copy, size, align, deferred, flags, depend, priority, detach);
        return;
    }
    ompp_region_ref_t region =
        ompp_gomp_region_of(flags & FLAG_UNTIED ? OMPP_CONSTRUCT_UTASK : OMPP_CONSTRUCT_TASK, body);
    header_t header = {.body = body,
                       .copy = copy,
                       .data = data,
                       .written = (flags & FLAG_DETACH) && data,
                       .task = ompp_event_task_creating(region)};
    align = at_least(align, _Alignof(header_t));
    header.offset = (uint32_t)header_bytes(align);
    char *block = PLACE(header.offset + (copy ? 0 : size), align);
    fill_block(block, &header, size);
    /* on what, is not looked at */
    if (flags & FLAG_DEPEND) ompp_sync_flag(OMPP_WHATIF_F_TASK | OMPP_WHATIF_F_LOST, true);
    real(run_task, block, copy ? copy_block : NULL, header.offset + size, align, deferred, flags, depend, priority,
         detach);
    ompp_event_exit_brief(region);
}

typedef void taskloop_t(ompp_gomp_body_t, void *, copy_t, long, long, unsigned, ompp_word_t, int, ompp_word_t,
                        ompp_word_t, ompp_word_t);

/* The tasks are made in libgomp: they are seen when they run. */
static inline void taskloop(taskloop_t *real, ompp_gomp_body_t body, void *data, copy_t copy, long size, long align,
                            unsigned flags, ompp_word_t ntasks, int priority, ompp_word_t start, ompp_word_t end,
                            ompp_word_t step)
{
    if (!is_measured(body, data, size)) {
        real(body, data, copy, size, align, flags, ntasks, priority, start, end, step);
        return;
    }
    ompp_region_ref_t region = ompp_gomp_region_of(OMPP_CONSTRUCT_TASKLOOP, body);
    ompp_region_ref_t task =
        ompp_gomp_region_of(flags & FLAG_UNTIED ? OMPP_CONSTRUCT_UTASK : OMPP_CONSTRUCT_TASK, body);
    const bool group = !(flags & FLAG_NOGROUP);
    ompp_time_t t = ompp_event_now();
    if (group) ompp_sync_task(OMPP_SYNC_TASK_GROUP, 0, 0, t);
    header_t header = {.body = body,
                       .copy = copy,
                       .data = data,
                       .written = 2,
                       .task = ompp_event_task_create(ompp_region_exec_of(task), t)};
    align = at_least(align, _Alignof(header_t));
    header.offset = (uint32_t)header_bytes(align);
    char *block = PLACE(header.offset + (copy ? 0 : size), align);
    fill_block(block, &header, size);
    ompp_event_enter(region, t);
    if (group && ompp_sync_follower()) ompp_sync_task(OMPP_SYNC_TASK_GROUP_WAIT, 0, 0, ompp_event_now());
    real(run_task, block, copy ? copy_block : NULL, header.offset + size, align, flags, ntasks, priority, start, end,
         step);
    if (group && ompp_sync_follower()) ompp_sync_task(OMPP_SYNC_TASK_GROUP_END, 0, 0, ompp_event_now());
    ompp_event_exit(region, ompp_event_now());
}

OMPP_EXPORT void GOMP_taskloop(ompp_gomp_body_t body, void *data, copy_t copy, long size, long align, unsigned flags,
                               ompp_word_t ntasks, int priority, ompp_word_t start, ompp_word_t end, ompp_word_t step)
{
    taskloop(OMPP_REAL(taskloop_t *, "GOMP_taskloop"), body, data, copy, size, align, flags, ntasks, priority, start,
             end, step);
}

OMPP_EXPORT void GOMP_taskloop_ull(ompp_gomp_body_t body, void *data, copy_t copy, long size, long align,
                                   unsigned flags, ompp_word_t ntasks, int priority, ompp_word_t start, ompp_word_t end,
                                   ompp_word_t step)
{
    taskloop(OMPP_REAL(taskloop_t *, "GOMP_taskloop_ull"), body, data, copy, size, align, flags, ntasks, priority,
             start, end, step);
}

/* ---- Waiting for tasks ------------------------------------------------------------------------------------------- */

static ompp_region_ref_t enter(ompp_construct_t construct, const void *code)
{
    ompp_region_ref_t region = ompp_gomp_on() ? ompp_region_at(construct, code, NULL) : 0;

    ompp_event_enter(region, ompp_event_now());
    return region;
}

static void tell(ompp_region_ref_t region, ompp_sync_task_t what)
{
    if (region && ompp_sync_follower()) ompp_sync_task(what, 0, 0, ompp_event_now());
}

OMPP_EXPORT void GOMP_taskwait(void)
{
    ompp_region_ref_t region = enter(OMPP_CONSTRUCT_TASKWAIT, OMPP_GOMP_HERE);

    tell(region, OMPP_SYNC_TASK_WAIT);
    OMPP_REAL(void (*)(void), "GOMP_taskwait")();
    tell(region, OMPP_SYNC_TASK_WAITED);
    ompp_event_exit(region, ompp_event_now());
}

OMPP_EXPORT void GOMP_taskwait_depend(void **depend)
{
    ompp_region_ref_t region = enter(OMPP_CONSTRUCT_TASKWAIT, OMPP_GOMP_HERE);

    tell(region, OMPP_SYNC_TASK_WAIT);
    OMPP_REAL(void (*)(void **), "GOMP_taskwait_depend")(depend);
    tell(region, OMPP_SYNC_TASK_WAITED);
    ompp_event_exit(region, ompp_event_now());
}

OMPP_EXPORT void GOMP_taskgroup_start(void)
{
    tell(enter(OMPP_CONSTRUCT_TASKGROUP, OMPP_GOMP_HERE), OMPP_SYNC_TASK_GROUP);
    OMPP_REAL(void (*)(void), "GOMP_taskgroup_start")();
}

OMPP_EXPORT void GOMP_taskgroup_end(void)
{
    ompp_region_ref_t region = ompp_gomp_on() ? ompp_event_innermost(OMPP_CONSTRUCT_TASKGROUP) : 0;

    tell(region, OMPP_SYNC_TASK_GROUP_WAIT);
    ompp_event_phase(region, OMPP_PHASE_EXITBAR, ompp_event_now());
    OMPP_REAL(void (*)(void), "GOMP_taskgroup_end")();
    tell(region, OMPP_SYNC_TASK_GROUP_END);
    ompp_region_ends_at(region, OMPP_GOMP_HERE);
    ompp_event_exit(region, ompp_event_now());
}
