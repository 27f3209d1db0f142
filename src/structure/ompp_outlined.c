#include "structure/ompp_outlined.h"

#include <string.h>

static const char *const marks[OMPP_MARK_NONE] = {
    [OMPP_MARK_CLANG] = "omp_outlined", [OMPP_MARK_CLANG_TASK] = ".omp_task_entry.", [OMPP_MARK_GCC] = "._omp_fn."};

static const char body_mark[] = "_debug__";

ompp_mark_t ompp_outlined_mark(const char *name)
{
    ompp_mark_t i = 0;

    while (i < OMPP_MARK_NONE && !(name && strstr(name, marks[i]))) i++;
    return i;
}

/* The mark counts behind the last "omp_outlined": a nested construct carries the names of those around it in front. */
bool ompp_outlined_is_body(const char *name)
{
    const char *last = NULL;

    for (const char *at = name; at && (at = strstr(at, marks[OMPP_MARK_CLANG])); at++) last = at;
    return last && strstr(last, body_mark);
}

/* Names without a mark are as they are. */
size_t ompp_outlined_source_name(const char *name)
{
    const ompp_mark_t mark = ompp_outlined_mark(name);
    size_t length = mark < OMPP_MARK_NONE ? (size_t)(strstr(name, marks[mark]) - name) : strlen(name);

    while (mark < OMPP_MARK_NONE && length > 0 && name[length - 1] == '.') length--;
    return length;
}
