/*
 * Variables by the names that a user writes: which of all variables of the process's modules a name means, and what to
 * say when it means several or none. The function that libompp-names.so exports.
 */
#define _GNU_SOURCE
#include "model/ompp_located.h"

#include "base/ompp_clock.h"
#include "base/ompp_nearest.h"
#include "base/ompp_path.h"
#include "image/ompp_known.h"
#include "structure/ompp_code.h"
#include "structure/ompp_variable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_CANDIDATES 64

/* How well a variable fits; only the best count. */
enum { NO, BY_LAST_PART, BY_FUNCTION, BY_NAME };

/* One that fits: a variable, or the common block that begins with it. */
typedef struct {
    const ompp_variable_t *variable;
    size_t module;
    const char *block; /* NULL = the variable itself */
    size_t block_length;
    uint64_t addr, size;
} candidate_t;

typedef struct {
    const ompp_locate_module_t *modules;
    size_t nmodules;
    ompp_structure_t **structures; /* NULL = not opened yet, or cannot be */
    bool *tried;
    ompp_structure_t **symbols; /* the same, of symbols alone */
    bool *tried_symbols;
    double deadline;
    size_t n;
    int rank;
    candidate_t found[MAX_CANDIDATES];
} search_t;

/* A name taken apart: "libx.so:solve.c:" before it, "#2" behind it. Which part of the variable is found by trying. */
typedef struct {
    char *text;            /* owned */
    const char *places[4]; /* library or file that it must be in */
    size_t nplaces;
    const char *name;
    size_t number; /* which of those that fit, from 1; 0 = there must be one */
} wanted_t;

/* ---- Names of places --------------------------------------------------------------------------------------------- */

/* "libx.so" for libx.so.1.2. */
static bool is_module(const char *path, const char *name)
{
    const char *base = ompp_path_last(path);
    size_t n = strlen(name);

    return strncmp(base, name, n) == 0 && (base[n] == '\0' || base[n] == '.');
}

static bool is_in(const search_t *s, const candidate_t *c, const wanted_t *w)
{
    for (size_t i = 0; i < w->nplaces; i++) {
        bool file = c->variable->file && ompp_code_ends_path(c->variable->file, w->places[i]);
        if (!file && !is_module(s->modules[c->module].path, w->places[i])) return false;
    }
    return true;
}

/* The first single colon; "::" is none. */
static char *place_end(char *text)
{
    for (char *p = text; *p; p++) {
        if (p[0] != ':') continue;
        if (p[1] != ':') return p;
        p++;
    }
    return NULL;
}

/* Indices may have colons, too: places stand before any bracket. */
static bool take_apart(wanted_t *w, const char *text)
{
    *w = (wanted_t){.text = strdup(text)};
    if (!w->text) return false;
    char *rest = w->text, *number = strrchr(rest, '#'), *end;
    if (number && number[1] && number[1 + strspn(number + 1, "0123456789")] == '\0') {
        w->number = strtoull(number + 1, NULL, 10);
        *number = '\0';
    }
    while (w->nplaces < 4 && (end = place_end(rest)) && end < rest + strcspn(rest, "[(")) {
        *end = '\0';
        w->places[w->nplaces++] = rest;
        rest = end + 1;
    }
    w->name = strncmp(rest, "::", 2) == 0 ? rest + 2 : rest; /* C++'s global scope */
    return true;
}

/* ---- Does a variable fit? ---------------------------------------------------------------------------------------- */

static bool same(const char *a, const char *b, size_t n, bool fortran)
{
    return strlen(a) == n && (fortran ? strncasecmp : strncmp)(a, b, n) == 0;
}

/* "solve::count", and "heat::solve::count" for a variable of heat::solve. */
static bool is_of_function(const ompp_variable_t *v, const char *name, size_t n)
{
    const char *ways[2] = {v->function, v->function ? ompp_variable_last_part(v->function) : NULL};

    for (size_t i = 0; i < 2 && ways[i]; i++) {
        size_t m = strlen(ways[i]);
        if (n > m + 2 && (v->fortran ? strncasecmp : strncmp)(name, ways[i], m) == 0 &&
            strncmp(name + m, "::", 2) == 0 && same(v->name, name + m + 2, n - m - 2, v->fortran))
            return true;
    }
    return false;
}

/* Members of common blocks are everybody's, whichever function the debug information has them in. */
static const char *function_of(const ompp_variable_t *v) { return v->name[0] == '/' ? NULL : v->function; }

/* "K::hits" for geo::K::hits. */
static bool ends_scope(const ompp_variable_t *v, const char *name, size_t n)
{
    size_t m = strlen(v->name);

    return m > n + 2 && n > 0 && strncmp(v->name + m - n - 2, "::", 2) == 0 &&
           same(v->name + m - n, name, n, v->fortran);
}

static int fits(ompp_structure_t *structure, const ompp_variable_t *v, const char *name, size_t n)
{
    uint64_t size;
    const char *symbol;

    if (!function_of(v) && same(v->name, name, n, v->fortran)) return BY_NAME;
    if (is_of_function(v, name, n)) return BY_FUNCTION;
    symbol = ompp_variable_symbol(structure, v->addr, &size);
    if (symbol && same(symbol, name, n, false)) return BY_NAME;
    return same(ompp_variable_last_part(v->name), name, n, v->fortran) || ends_scope(v, name, n) ? BY_LAST_PART : NO;
}

/* "/work/x" is a member of the common block that is called "work" or "/work/"; of a blank one "//". */
static bool fits_block(const ompp_variable_t *v, const char *name, size_t n)
{
    const char *end = v->name[0] == '/' ? strchr(v->name + 1, '/') : NULL;
    size_t length = end ? (size_t)(end - v->name) + 1 : 0;

    if (!end) return false;
    if (n == length && strncasecmp(v->name, name, n) == 0) return true;
    return n + 2 == length && n > 0 && strncasecmp(v->name + 1, name, n) == 0;
}

/* Without debug information: gfortran's "work_". */
static bool fits_symbol_of_block(const ompp_variable_t *v, const char *name, size_t n)
{
    return !v->type && strlen(v->name) == n + 1 && v->name[n] == '_' && strncasecmp(v->name, name, n) == 0;
}

static void take(search_t *s, candidate_t c, int rank, const wanted_t *w)
{
    if (rank == NO || rank < s->rank || !is_in(s, &c, w)) return;
    if (rank > s->rank) s->n = 0;
    s->rank = rank;
    for (size_t i = 0; i < s->n && i < MAX_CANDIDATES; i++)
        if (s->found[i].module == c.module && s->found[i].addr == c.addr && !s->found[i].block == !c.block) return;
    if (s->n < MAX_CANDIDATES) s->found[s->n] = c;
    s->n++;
}

/* A block's size is that of its symbol; each unit may see another one. */
static candidate_t block_of(ompp_structure_t *structure, candidate_t c)
{
    c.block = c.variable->name;
    c.block_length = (size_t)(strchr(c.block + 1, '/') - c.block) + 1;
    ompp_variable_symbol(structure, c.addr, &c.size);
    return c;
}

static ompp_structure_t *structure_of(search_t *s, size_t module)
{
    if (!s->tried[module] && ompp_structure_open(s->modules[module].path, NULL, &s->structures[module]) != 0)
        s->structures[module] = NULL;
    s->tried[module] = true;
    return s->structures[module];
}

static ompp_structure_t *symbols_of(search_t *s, size_t module)
{
    ompp_structure_t **symbols = &s->symbols[module];

    if (!s->tried_symbols[module] && ompp_structure_open_symbols(s->modules[module].path, NULL, symbols) != 0)
        *symbols = NULL;
    s->tried_symbols[module] = true;
    return s->symbols[module];
}

/* Most modules have nothing of the name, and to read all that libraries have takes seconds. The program's own is not
 * left to symbols. */
static bool may_have(search_t *s, size_t module, const char *name, size_t length)
{
    ompp_structure_t *symbols = symbols_of(s, module);
    char *text = strndup(name, length);
    const bool may = symbols && text && ompp_variable_may_be(symbols, ompp_variable_last_part(text), module == 0);

    free(text);
    return may;
}

static void search_module(search_t *s, size_t module, const wanted_t *w, size_t length)
{
    ompp_structure_t *structure = may_have(s, module, w->name, length) ? structure_of(s, module) : NULL;
    size_t n = 0;

    const ompp_variable_t *all = structure ? ompp_variable_all(structure, s->deadline, &n) : NULL;
    for (size_t i = 0; i < n; i++) {
        candidate_t c = {.variable = &all[i], .module = module, .addr = all[i].addr, .size = all[i].size};
        int rank = fits(structure, &all[i], w->name, length);
        if (rank == NO && fits_symbol_of_block(&all[i], w->name, length)) rank = BY_NAME;
        bool first = i == 0 || all[i - 1].addr != all[i].addr || all[i - 1].name[0] != '/';
        if (first && fits_block(&all[i], w->name, length) && ompp_variable_symbol(structure, c.addr, &c.size))
            take(s, block_of(structure, c), BY_NAME, w);
        take(s, c, rank, w);
    }
}

/* As in the source, which is the order of the list and of "#2". */
static int compare(const void *a, const void *b)
{
    const candidate_t *x = a, *y = b;
    const char *p = x->variable->file ? x->variable->file : "", *q = y->variable->file ? y->variable->file : "";
    int files = strcmp(p, q);

    if (x->module != y->module) return x->module < y->module ? -1 : 1;
    if (files != 0) return files;
    if (x->variable->line != y->variable->line) return x->variable->line < y->variable->line ? -1 : 1;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static bool is_of_system(const char *path)
{
    static const char *const folders[] = {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"};
    bool is = ompp_known_owner(path) != OMPP_OWNER_PROGRAM;

    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        is |= strncmp(path, folders[i], strlen(folders[i])) == 0;
    return is;
}

/* The user's libraries, or those of the system. */
static void search_libraries(search_t *s, const wanted_t *w, size_t length, bool of_system)
{
    for (size_t m = 1; m < s->nmodules; m++)
        if (is_of_system(s->modules[m].path) == of_system) search_module(s, m, w, length);
}

static void search(search_t *s, const wanted_t *w, size_t length)
{
    s->n = 0;
    s->rank = NO;
    search_module(s, 0, w, length);
    if (s->n == 0) search_libraries(s, w, length, false);
    /* the system's own variables are hardly meant, unless their library is named */
    if (s->n == 0 && w->nplaces > 0) search_libraries(s, w, length, true);
    if (s->n > 1) qsort(s->found, s->n < MAX_CANDIDATES ? s->n : MAX_CANDIDATES, sizeof s->found[0], compare);
}

/* ---- Several ----------------------------------------------------------------------------------------------------- */

enum { PLAIN, WITH_FILE, WITH_MODULE, WITH_NUMBER };

static void label(const search_t *s, size_t i, int how, char *text, size_t size)
{
    const candidate_t *c = &s->found[i];
    const ompp_variable_t *v = c->variable;
    const char *module = ompp_path_last(s->modules[c->module].path), *file = v->file ? ompp_path_last(v->file) : NULL;
    char number[24] = "";

    if (how == WITH_NUMBER) snprintf(number, sizeof number, "#%zu", i + 1);
    snprintf(text, size, "%s%s%s%s%s%s%.*s%s", how == WITH_MODULE ? module : "", how == WITH_MODULE ? ":" : "",
             (how == WITH_FILE || how == WITH_MODULE) && file ? file : "",
             (how == WITH_FILE || how == WITH_MODULE) && file ? ":" : "", function_of(v) ? v->function : "",
             function_of(v) ? "::" : "", c->block ? (int)c->block_length : (int)strlen(v->name), v->name, number);
}

/* The shortest way to name it that no other one shares. "#2" counts in the order of the list that this name gave. */
static void label_apart(const search_t *s, size_t i, const char *name, char *text, size_t size)
{
    char other[300];

    for (int how = PLAIN; how < WITH_NUMBER; how++) {
        bool alone = true;
        label(s, i, how, text, size);
        for (size_t k = 0; k < s->n && k < MAX_CANDIDATES && alone; k++) {
            label(s, k, how, other, sizeof other);
            alone = k == i || strcmp(text, other) != 0;
        }
        /* The plain name would mean all of them again. */
        if (alone && strcmp(text, name) != 0) return;
    }
    snprintf(text, size, "%s#%zu", name, i + 1);
}

static void list_candidates(const search_t *s, const char *name, ompp_locate_t *answer)
{
    size_t used = 0, room = sizeof answer->text;
    char text[300];

    for (size_t i = 0; i < s->n && i < MAX_CANDIDATES && used < room; i++) {
        label_apart(s, i, name, text, sizeof text);
        used += (size_t)snprintf(answer->text + used, room - used, "%s%s (%llu bytes)", i ? ", " : "", text,
                                 (unsigned long long)s->found[i].size);
    }
    if (used >= room) memcpy(answer->text + room - 4, "...", 4);
}

/* ---- None -------------------------------------------------------------------------------------------------------- */

/* Of the program: what libraries have is rarely what was meant. Names with leading underscores are the compiler's. */
static void list_nearest(search_t *s, const char *name, ompp_locate_t *answer)
{
    ompp_structure_t *program = s->structures[0] ? s->structures[0] : symbols_of(s, 0);
    size_t n = 0, used = 0;
    const ompp_variable_t *all = program ? ompp_variable_all(program, s->deadline, &n) : NULL;
    ompp_nearest_t nearest;

    ompp_nearest_begin(&nearest, ompp_variable_last_part(name));
    for (size_t i = 0; i < n; i++) {
        const char *other = ompp_variable_last_part(all[i].name);
        bool again = i > 0 && all[i - 1].addr == all[i].addr;
        if (!again && (other[0] != '_' || other[1] != '_')) ompp_nearest_offer(&nearest, other, &all[i]);
    }
    for (size_t i = 0; i < nearest.n && used < sizeof answer->text; i++) {
        const ompp_variable_t *v = nearest.best[i].item;
        /* the name is right, not the place */
        const char *file = nearest.best[i].distance == 0 && v->file ? ompp_path_last(v->file) : NULL;
        used += (size_t)snprintf(answer->text + used, sizeof answer->text - used, "%s%s%s%s%s%s", i ? ", " : "",
                                 file ? file : "", file ? ":" : "", function_of(v) ? v->function : "",
                                 function_of(v) ? "::" : "", v->name);
    }
}

static bool is_function(search_t *s, const char *name)
{
    bool is = false;

    for (size_t m = 0; m < s->nmodules && !is; m++)
        is = symbols_of(s, m) && ompp_variable_is_function(symbols_of(s, m), name);
    return is;
}

/* ---- One --------------------------------------------------------------------------------------------------------- */

static void remark(ompp_structure_t *structure, const ompp_variable_t *v, const char *library, ompp_locate_t *answer)
{
    static const char *const texts[] = {
        [OMPP_VARIABLE_DATA] = "",
        [OMPP_VARIABLE_POINTER] = "a pointer: it is counted itself, not what it points to",
        [OMPP_VARIABLE_CONTAINER] = "a container: it is counted itself, not its elements, which lie elsewhere",
        [OMPP_VARIABLE_DESCRIPTOR] = "an allocatable array or pointer: its description is counted, not its elements",
    };

    const char *text = v ? texts[ompp_variable_kind(structure, v)] : "";
    answer->lies_elsewhere = *text;
    if (library)
        snprintf(answer->text, sizeof answer->text,
                 "it is one of %s, for the program's own has no fixed address (on the "
                 "stack, of threads, or of the heap)%s%s",
                 library, *text ? "; " : "", text);
    else snprintf(answer->text, sizeof answer->text, "%s", text);
}

/* A library's variable, where the program has something of this name, too, which is not the library's. */
static bool is_surprise(search_t *s, const candidate_t *c, const wanted_t *w)
{
    const char *name = ompp_variable_last_part(c->variable->name);
    uint64_t size;
    const char *symbol = ompp_variable_symbol(s->structures[c->module], c->addr, &size);

    ompp_structure_t *program = symbols_of(s, 0);

    if (c->module == 0 || w->nplaces > 0 || !program || !ompp_variable_may_be(program, name, false)) return false;
    return !ompp_variable_is_imported(program, symbol ? symbol : name);
}

/* The place of the one that was found, or of its part. */
static void answer_one(search_t *s, const candidate_t *c, const wanted_t *w, const char *part, ompp_locate_t *answer)
{
    ompp_structure_t *structure = s->structures[c->module];
    uint64_t offset = 0;
    const char *why = NULL;

    answer->size = c->size;
    if (*part)
        why = c->block ? "a common block has no parts; name its members"
                       : ompp_variable_select(structure, c->variable, part, &offset, &answer->size);
    answer->found = !why;
    answer->no_part = why != NULL;
    answer->module = c->module;
    answer->address = s->modules[c->module].bias + c->addr + offset;
    if (why) snprintf(answer->text, sizeof answer->text, "%s", why);
    else
        remark(structure, *part || c->block ? NULL : c->variable,
               is_surprise(s, c, w) ? ompp_path_last(s->modules[c->module].path) : NULL, answer);
}

/* Where a part could begin, from behind: the whole text is tried as a name first, for symbols have dots, too. */
static size_t shorter(const char *name, size_t length)
{
    while (length > 0 && !strchr(".%[(", name[--length])) continue;
    return length;
}

/* ---- A line ------------------------------------------------------------------------------------------------------ */

static bool is_line(const wanted_t *w)
{
    return w->nplaces > 0 && *w->name && w->name[strspn(w->name, "0123456789")] == '\0';
}

static void locate_line(search_t *s, const wanted_t *w, ompp_locate_t *answer)
{
    const char *file = w->places[w->nplaces - 1];
    ompp_code_t code[OMPP_LOCATE_CODES];
    uint32_t line = (uint32_t)strtoul(w->name, NULL, 10), nearest = 0;

    answer->is_line = true;
    for (size_t m = 0; m < s->nmodules; m++) {
        if (w->nplaces > 1 && !is_module(s->modules[m].path, w->places[0])) continue;
        if (!symbols_of(s, m) || !ompp_code_may_be(symbols_of(s, m), file, m == 0 || w->nplaces > 1)) continue;
        ompp_structure_t *structure = structure_of(s, m);
        size_t n =
            structure ? ompp_code_of_line(structure, file, line, s->deadline, code, OMPP_LOCATE_CODES, &nearest) : 0;
        for (size_t i = 0; i < n && i < OMPP_LOCATE_CODES; i++) {
            if (answer->found >= OMPP_LOCATE_CODES) break;
            answer->code[answer->found].begin = s->modules[m].bias + code[i].begin;
            answer->code[answer->found].end = s->modules[m].bias + code[i].end;
            answer->code[answer->found].other = code[i].other;
            answer->code[answer->found++].module = m;
        }
    }
    if (answer->found == 0 && nearest) snprintf(answer->text, sizeof answer->text, "%s:%u", file, (unsigned)nearest);
}

/* The line of an address of code: of the module that begins last before it. */
static void locate_code(search_t *s, ompp_locate_t *answer)
{
    size_t best = s->nmodules;

    for (size_t m = 0; m < s->nmodules; m++)
        if (s->modules[m].bias <= answer->line_of &&
            (best == s->nmodules || s->modules[m].bias > s->modules[best].bias))
            best = m;
    ompp_structure_t *structure = best < s->nmodules ? structure_of(s, best) : NULL;
    ompp_query_t query = {.addr = answer->line_of - (structure ? s->modules[best].bias : 0)};
    if (!structure || ompp_structure_lookup(structure, &query, 1, s->deadline) != 0 || !query.file) return;
    snprintf(answer->text, sizeof answer->text, "%s:%u", ompp_path_last(query.file), (unsigned)query.line);
}

static void locate(search_t *s, ompp_locate_t *answer)
{
    wanted_t w;
    size_t length;

    answer->found = 0;
    answer->no_part = 0;
    answer->lies_elsewhere = false;
    answer->text[0] = '\0';
    if (answer->line_of) return locate_code(s, answer);
    if (!take_apart(&w, answer->name)) return;
    if (is_line(&w)) {
        locate_line(s, &w, answer);
        free(w.text);
        return;
    }
    for (length = strlen(w.name); length > 0; length = shorter(w.name, length)) {
        search(s, &w, length);
        if (s->n > 0) break;
    }
    if (w.number > 0 && w.number <= s->n && w.number <= MAX_CANDIDATES)
        answer_one(s, &s->found[w.number - 1], &w, w.name + length, answer);
    else if (s->n == 1 && w.number == 0) answer_one(s, &s->found[0], &w, w.name + length, answer);
    else if (s->n > 0 && w.number == 0) {
        answer->found = s->n;
        list_candidates(s, answer->name, answer);
    } else if (is_function(s, w.name)) {
        answer->no_part = 1;
        snprintf(answer->text, sizeof answer->text, "it is a function, not a variable");
    } else list_nearest(s, w.name, answer);
    free(w.text);
}

#pragma GCC visibility push(default)
extern ompp_locate_run_t ompp_locate_4;
#pragma GCC visibility pop

void ompp_locate_4(const ompp_locate_module_t *modules, size_t nmodules, ompp_locate_t *names, size_t n, double seconds)
{
    search_t *s = calloc(1, sizeof *s);
    ompp_structure_t **structures = calloc(2 * nmodules + 1, sizeof *structures);
    bool *tried = calloc(2 * nmodules + 1, sizeof *tried);

    if (s && structures && tried && nmodules > 0) {
        *s = (search_t){.modules = modules,
                        .nmodules = nmodules,
                        .structures = structures,
                        .tried = tried,
                        .symbols = structures + nmodules,
                        .tried_symbols = tried + nmodules,
                        .deadline = ompp_clock_seconds() + seconds};
        for (size_t i = 0; i < n; i++) locate(s, &names[i]);
        for (size_t i = 0; i < 2 * nmodules; i++)
            if (structures[i]) ompp_structure_close(structures[i]);
    }
    free(tried);
    free(structures);
    free(s);
}
