/*
 * Which line a call in Fortran stands on. Where the line that the compiler gives has no such call, it is looked for
 * between the lines of the code before and after it, and then in the program unit. Several calls are told apart by
 * their order, when there are as many in the code as in the text; otherwise nothing is said.
 */
#include "analysis/ompp_calls.h"

#include "base/ompp_table.h"
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

/* The lines of the code before and after a call, of the program unit that it is in. */
static window_t between(const ompp_call_t *call, window_t w)
{
    if (call->before >= w.first && call->before <= w.last) w.first = call->before;
    if (call->after >= w.first && call->after <= w.last) w.last = call->after;
    return w;
}

/* Calls of one procedure whose lines are not known, and where each is looked for. */
typedef struct {
    const ompp_fortran_t *source;
    ompp_table_t known;   /* lines that other calls of it stand on */
    window_t *window;     /* [n], of those that are lost */
    ompp_table_t windows; /* calls that are lost in each, by its lines */
    uint32_t *index;      /* [n], among those of the same window */
} lost_t;

static uint64_t key_of(window_t w) { return ompp_hash_pair(w.first, w.last); }

/*
 * The line for a call that is lost: the only use in its window, or the one with its number. 0 = not to be told. Uses
 * that known calls stand on are left out when there are others.
 */
static uint32_t place(const lost_t *l, const ompp_call_t *call, size_t i)
{
    const window_t w = l->window[i];
    uint32_t lines[MAX_LINES];
    size_t uses = ompp_fortran_uses(l->source, w.first, w.last, call->name, lines, MAX_LINES), kept = 0;

    if (uses == 0 || uses > MAX_LINES) return 0;
    if (uses == 1) return lines[0];
    for (size_t u = 0; u < uses; u++)
        if (!ompp_table_get(&l->known, lines[u])) lines[kept++] = lines[u];
    return kept == 1 ? lines[0] : kept == ompp_table_get(&l->windows, key_of(w)) ? lines[l->index[i]] : 0;
}

/* Counts the calls in each window. \return false when out of memory. */
static bool count(lost_t *l, const bool lost[], size_t n)
{
    bool ok = true;

    ompp_table_fini(&l->windows);
    for (size_t i = 0; ok && i < n; i++) {
        if (!lost[i]) continue;
        l->index[i] = (uint32_t)ompp_table_get(&l->windows, key_of(l->window[i]));
        ok = ompp_table_set(&l->windows, key_of(l->window[i]), l->index[i] + 1);
    }
    return ok;
}

/* First between the lines of the code around each, then, for what is left, in its unit. */
static void find_lost(lost_t *l, ompp_call_t *const calls[], const bool lost[], uint32_t lines[], size_t n)
{
    window_t *units = calloc(n, sizeof *units);

    for (size_t i = 0; units && i < n; i++) {
        if (!lost[i]) continue;
        ompp_fortran_unit(l->source, calls[i]->line, &units[i].first, &units[i].last);
        l->window[i] = between(calls[i], units[i]);
    }
    const bool narrow = units && count(l, lost, n);
    for (size_t i = 0; narrow && i < n; i++)
        if (lost[i]) lines[i] = place(l, calls[i], i);
    if (narrow) memcpy(l->window, units, n * sizeof *units);
    const bool wide = narrow && count(l, lost, n);
    for (size_t i = 0; wide && i < n; i++)
        if (lost[i] && !lines[i]) lines[i] = place(l, calls[i], i);
    free(units);
}

/* Calls of one procedure. */
static void mend(const ompp_fortran_t *source, ompp_call_t *const calls[], size_t n)
{
    lost_t l = {.source = source, .window = calloc(n, sizeof *l.window), .index = calloc(n, sizeof *l.index)};
    bool *lost = calloc(n, sizeof *lost), any = false, ok = l.window && l.index && lost;
    uint32_t *lines = calloc(n, sizeof *lines);

    for (size_t i = 0; ok && i < n; i++) {
        const uint32_t line = ompp_fortran_statement(source, calls[i]->line, calls[i]->name);
        lost[i] = line == 0;
        any = any || lost[i];
        if (line) calls[i]->line = line;
        if (line) ok = ompp_table_set(&l.known, line, 1);
    }
    if (ok && any && lines) find_lost(&l, calls, lost, lines, n);
    for (size_t i = 0; ok && lines && i < n; i++)
        if (lines[i]) calls[i]->line = lines[i];
    ompp_table_fini(&l.known);
    ompp_table_fini(&l.windows);
    free(l.window);
    free(l.index);
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
