/*
 * What the OpenMP runtime is asked for: events; and what these do not tell: sizes of teams, numbers of threads, the
 * task's frame.
 */
#include "ompt/ompp_ompt_ask.h"

#include <stddef.h>

#define MAX_LIBRARY_STACK 65536u /* bytes between the user's frame and ours */

static ompt_get_parallel_info_t get_parallel_info;
static ompt_get_task_info_t get_task_info;
static ompt_set_callback_t set_callback;

bool ompp_ask_start(ompt_function_lookup_t lookup)
{
    set_callback = (ompt_set_callback_t)lookup("ompt_set_callback");
    get_parallel_info = (ompt_get_parallel_info_t)lookup("ompt_get_parallel_info");
    get_task_info = (ompt_get_task_info_t)lookup("ompt_get_task_info");
    return set_callback != NULL;
}

void ompp_ask_end(void) { set_callback = NULL; }

ompt_set_result_t ompp_ask_for(ompt_callbacks_t event, ompt_callback_t function)
{
    return set_callback ? set_callback(event, function) : ompt_set_error;
}

bool ompp_ask_is_nested(void)
{
    ompt_data_t *data;
    int size;

    for (int level = 1; get_parallel_info && get_parallel_info(level, &data, &size) == 2; level++)
        if (size > 1) return true;
    return false;
}

/* libomp hands them out as a static schedule does, and tells neither which nor how many (the dispatch event comes also
 * where there is none). */
unsigned ompp_ask_sections(uint64_t count)
{
    ompt_data_t *data;
    ompt_frame_t *frame;
    int size = 0, flags, thread = 0;

    if (!get_parallel_info || !get_task_info || get_parallel_info(0, &data, &size) != 2 || size < 1 || count > 10000)
        return 1;
    if (get_task_info(0, &flags, &data, &frame, &data, &thread) != 2 || thread < 0) return 1;
    return (unsigned)(count / (unsigned)size + ((unsigned)thread < count % (unsigned)size));
}

/*
 * libomp 19 says nothing now and then with inner teams. Then it is the return address of the library's own frame, which
 * it has noted as the one the task entered it by.
 */
const void *ompp_ask_fork_code(const ompt_frame_t *frame)
{
    void *const *entered = frame ? frame->enter_frame.ptr : NULL;
    uintptr_t above = (uintptr_t)entered - (uintptr_t)__builtin_frame_address(0);
    unsigned kind = frame ? (unsigned)frame->enter_frame_flags & ~(unsigned)ompt_frame_application : 0;

    if (!entered || above > MAX_LIBRARY_STACK || (uintptr_t)entered % sizeof(void *)) return NULL;
    return kind == 0 || kind == ompt_frame_framepointer ? entered[1] : NULL;
}
