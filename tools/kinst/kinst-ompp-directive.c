/** \file The OpenMP directives of C and C++: a row says what is done with each on its way to OPARI2. */
#include "tools/kinst/kinst-ompp-source.h"

#include <string.h>

static const kinst_directive_t rows[] = {
    {"parallel", KINST_DO_BLOCK, "parallel", "parallel", false},
    {"parallel for", KINST_DO_LOOP, "parallel", "for", false},
    {"parallel for simd", KINST_DO_TEAM, "parallel", "for simd", false},
    {"parallel sections", KINST_DO_SECTIONS, "parallel", "sections", false},
    {"parallel loop", KINST_DO_TEAM, "parallel", "loop", false},
    {"parallel master", KINST_DO_TEAM, "parallel", "master", false},
    {"parallel master taskloop", KINST_DO_TEAM, "parallel", "master taskloop", false},
    {"parallel master taskloop simd", KINST_DO_TEAM, "parallel", "master taskloop simd", false},
    {"parallel masked", KINST_DO_TEAM, "parallel", "masked", false},
    {"parallel masked taskloop", KINST_DO_TEAM, "parallel", "masked taskloop", false},
    {"parallel masked taskloop simd", KINST_DO_TEAM, "parallel", "masked taskloop simd", false},
    {"for", KINST_DO_LOOP, "for", "for", false},
    {"for simd", KINST_DO_LOOP, "for", "for", false},
    {"sections", KINST_DO_SECTIONS, "sections", "sections", false},
    {"section", KINST_DO_HIDE, NULL, NULL, false},
    {"single", KINST_DO_BLOCK, "single", NULL, false},
    {"scope", KINST_DO_SCOPE, "scope", NULL, false},
    {"loop", KINST_DO_AROUND, "loop", NULL, false},
    {"simd", KINST_DO_INLINE, NULL, NULL, false},
    {"master", KINST_DO_BLOCK, "master", NULL, false},
    {"master taskloop", KINST_DO_NEST, "master", "taskloop", false},
    {"master taskloop simd", KINST_DO_NEST, "master", "taskloop simd", false},
    {"masked", KINST_DO_INSIDE, "masked", NULL, false},
    {"masked taskloop", KINST_DO_NEST, "masked", "taskloop", false},
    {"masked taskloop simd", KINST_DO_NEST, "masked", "taskloop simd", false},
    {"barrier", KINST_DO_ALONE, "barrier", NULL, true},
    {"critical", KINST_DO_BLOCK, "critical", NULL, false},
    {"ordered", KINST_DO_ORDERED, "ordered", NULL, false},
    {"atomic", KINST_DO_ATOMIC, "atomic", NULL, false},
    {"flush", KINST_DO_ALONE, "flush", NULL, true},
    {"task", KINST_DO_BLOCK, "task", "taskgroup", false},
    {"taskwait", KINST_DO_ALONE, "taskwait", NULL, true},
    {"taskyield", KINST_DO_UNSEEN, NULL, NULL, true},
    {"taskgroup", KINST_DO_GROUP, "taskgroup", NULL, false},
    {"taskloop", KINST_DO_AROUND, "taskloop", "its tasks", false},
    {"taskloop simd", KINST_DO_OPAQUE, "taskloop", "its tasks", false},
    {"cancel", KINST_DO_CANCEL, NULL, NULL, true},
    {"cancellation point", KINST_DO_CANCEL, NULL, NULL, true},
    {"teams", KINST_DO_AROUND, "teams", NULL, false},
    {"teams loop", KINST_DO_AROUND, "teams", NULL, false},
    {"teams distribute", KINST_DO_AROUND, "teams", NULL, false},
    {"teams distribute simd", KINST_DO_OPAQUE, "teams", NULL, false},
    {"teams distribute parallel for", KINST_DO_OPAQUE, "teams", "its threads", false},
    {"teams distribute parallel for simd", KINST_DO_OPAQUE, "teams", "its threads", false},
    {"distribute", KINST_DO_AROUND, "distribute", NULL, false},
    {"distribute simd", KINST_DO_OPAQUE, "distribute", NULL, false},
    {"distribute parallel for", KINST_DO_OPAQUE, "distribute", "its threads", false},
    {"distribute parallel for simd", KINST_DO_OPAQUE, "distribute", "its threads", false},
    {"target", KINST_DO_OPAQUE, "target", NULL, false},
    {"target parallel", KINST_DO_OPAQUE, "target", "its threads", false},
    {"target parallel for", KINST_DO_OPAQUE, "target", "its threads", false},
    {"target parallel for simd", KINST_DO_OPAQUE, "target", "its threads", false},
    {"target parallel loop", KINST_DO_OPAQUE, "target", "its threads", false},
    {"target simd", KINST_DO_OPAQUE, "target", NULL, false},
    {"target teams", KINST_DO_OPAQUE, "target", NULL, false},
    {"target teams loop", KINST_DO_OPAQUE, "target", NULL, false},
    {"target teams distribute", KINST_DO_OPAQUE, "target", NULL, false},
    {"target teams distribute simd", KINST_DO_OPAQUE, "target", NULL, false},
    {"target teams distribute parallel for", KINST_DO_OPAQUE, "target", "its threads", false},
    {"target teams distribute parallel for simd", KINST_DO_OPAQUE, "target", "its threads", false},
    {"target data", KINST_DO_AROUND, "target", NULL, false},
    {"target enter data", KINST_DO_CALL, "target", NULL, true},
    {"target exit data", KINST_DO_CALL, "target", NULL, true},
    {"target update", KINST_DO_CALL, "target", NULL, true},
    {"threadprivate", KINST_DO_HIDE, NULL, NULL, true},
    {"allocate", KINST_DO_HIDE, NULL, NULL, true},
    {"requires", KINST_DO_HIDE, NULL, NULL, true},
    {"declare", KINST_DO_HIDE, NULL, NULL, true},
    {"begin declare", KINST_DO_HIDE, NULL, NULL, true},
    {"end declare", KINST_DO_HIDE, NULL, NULL, true},
    {"scan", KINST_DO_HIDE, NULL, NULL, true},
    {"depobj", KINST_DO_HIDE, NULL, NULL, true},
    {"error", KINST_DO_HIDE, NULL, NULL, true},
    {"nothing", KINST_DO_HIDE, NULL, NULL, true},
    {"assumes", KINST_DO_HIDE, NULL, NULL, true},
    {"begin assumes", KINST_DO_HIDE, NULL, NULL, true},
    {"end assumes", KINST_DO_HIDE, NULL, NULL, true},
    {"assume", KINST_DO_HIDE, NULL, NULL, false},
    {"interop", KINST_DO_UNSEEN, NULL, NULL, true},
    {"dispatch", KINST_DO_UNSEEN, NULL, NULL, false},
    {"tile", KINST_DO_UNSEEN, NULL, NULL, false},
    {"unroll", KINST_DO_UNSEEN, NULL, NULL, false},
    {"metadirective", KINST_DO_UNSEEN, NULL, NULL, false},
};

const kinst_directive_t *kinst_directive_find(const char *p, const char **clauses)
{
    const kinst_directive_t *found = NULL;

    *clauses = p;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *rest = kinst_behind_words(p, rows[i].name);
        if (!rest || (found && rest <= *clauses)) continue;
        found = &rows[i];
        *clauses = rest;
    }
    return found;
}

bool kinst_directive_is_doacross(const char *clauses)
{
    size_t length = strcspn(clauses, "\n");

    return memmem(clauses, length, "depend", 6) || memmem(clauses, length, "doacross", 8);
}

bool kinst_directive_wants_block(const char *p)
{
    const char *clauses;
    const kinst_directive_t *row = kinst_directive_find(p, &clauses);

    if (!row) return true;
    if (row->action == KINST_DO_ORDERED) return !kinst_directive_is_doacross(clauses);
    return !row->alone;
}
