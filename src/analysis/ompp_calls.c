/*
 * Which line a call in Fortran stands on. Where the line that the compiler gives has no such call, it is looked for
 * between the lines of the code before and after it, and then in the program unit. Several calls are told apart by
 * their order, when there are as many in the code as in the text; otherwise nothing is said.
 */
#include "analysis/ompp_calls.h"

#include "structure/ompp_fortran.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINES 64u /* uses of a name in a window; more are not told apart */

/* Lines in which a call is looked for. */
typedef struct {
    uint32_t first, last;
} window_t;

static int compare_calls(const void *a, const void *b)
{
    const ompp_call_t *x = *(ompp_call_t *const *)a, *y = *(ompp_call_t *const *)b;
    const int names = strcmp(x->name, y->name);

    if (names) return names;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static window_t between(const ompp_fortran_t *source, const ompp_call_t *call)
{
    window_t w;

    ompp_fortran_unit(source, call->line, &w.first, &w.last);
    if (call->before >= w.first && call->before <= w.last) w.first = call->before;
    if (call->after >= w.first && call->after <= w.last) w.last = call->after;
    return w;
}

static window_t unit(const ompp_fortran_t *source, const ompp_call_t *call)
{
    window_t w;

    ompp_fortran_unit(source, call->line, &w.first, &w.last);
    return w;
}

/*
 * The line for calls[i] among calls[0 .. n) of one procedure, of which lost[k] tells that its line is not known: the
 * only use in the window, or the one with its number. 0 = not to be told. Uses that known calls stand on are left out
 * when there are others.
 */
static uint32_t place(const ompp_fortran_t *source, ompp_call_t *const calls[], const bool lost[], size_t n, size_t i,
                      window_t (*window_of)(const ompp_fortran_t *, const ompp_call_t *))
{
    const window_t w = window_of(source, calls[i]);
    uint32_t lines[MAX_LINES];
    size_t uses = ompp_fortran_uses(source, w.first, w.last, calls[i]->name, lines, MAX_LINES), kept = 0, same = 0,
           index = 0;

    if (uses == 0 || uses > MAX_LINES) return 0;
    for (size_t k = 0; k < n; k++) {
        const window_t other = window_of(source, calls[k]);
        if (!lost[k] || other.first != w.first || other.last != w.last) continue;
        index += k < i;
        same++;
    }
    if (uses == 1) return lines[0];
    for (size_t u = 0; u < uses; u++) {
        bool taken = false;
        for (size_t k = 0; k < n; k++) taken |= !lost[k] && calls[k]->line == lines[u];
        if (!taken) lines[kept++] = lines[u];
    }
    return kept == 1 ? lines[0] : kept == same ? lines[index] : 0;
}

/* Calls of one procedure. */
static void mend(const ompp_fortran_t *source, ompp_call_t *const calls[], size_t n)
{
    bool *lost = calloc(n, sizeof *lost);
    uint32_t *lines = calloc(n, sizeof *lines);

    for (size_t i = 0; lost && lines && i < n; i++) {
        const uint32_t line = ompp_fortran_statement(source, calls[i]->line, calls[i]->name);
        lost[i] = line == 0;
        if (line) calls[i]->line = line;
    }
    for (size_t i = 0; lost && lines && i < n; i++) {
        if (!lost[i]) continue;
        lines[i] = place(source, calls, lost, n, i, between);
        if (!lines[i]) lines[i] = place(source, calls, lost, n, i, unit);
    }
    for (size_t i = 0; lost && lines && i < n; i++)
        if (lines[i]) calls[i]->line = lines[i];
    free(lines);
    free(lost);
}

void ompp_calls_mend(const ompp_source_t *source, const char *path, ompp_call_t *calls[], size_t n)
{
    const ompp_fortran_t fortran = {source, ompp_fortran_is_fixed(path)};

    if (!ompp_fortran_is(path)) return;
    qsort(calls, n, sizeof *calls, compare_calls);
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && !strcmp(calls[next]->name, calls[i]->name);) next++;
        mend(&fortran, calls + i, next - i);
    }
}
