/* Addresses to lines. How the last line of a construct is found stands in the table `ways`. */
#include "analysis/ompp_analysis.h"

#include "analysis/ompp_calls.h"
#include "analysis/ompp_directives.h"
#include "analysis/ompp_owner.h"
#include "analysis/ompp_parts.h"
#include "base/ompp_clock.h"
#include "base/ompp_debug_advice.h"
#include "base/ompp_error.h"
#include "base/ompp_path.h"
#include "base/ompp_table.h"
#include "image/ompp_known.h"
#include "structure/ompp_fortran.h"
#include "structure/ompp_name.h"
#include "structure/ompp_source.h"
#include "structure/ompp_structure.h"
#include "structure/ompp_variable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How the end of a construct is found in the code, and the words of its directive, to find it in the source text. */
typedef struct {
    ompp_extent_t extent;
    const char *words[2];
} way_t;

static const way_t ways[OMPP_CONSTRUCT_NUM] = {
    [OMPP_CONSTRUCT_PARALLEL] = {OMPP_EXTENT_OUTLINED, {"parallel"}},
    [OMPP_CONSTRUCT_PARLOOP] = {OMPP_EXTENT_OUTLINED, {"parallel"}},
    [OMPP_CONSTRUCT_PARSECTS] = {OMPP_EXTENT_OUTLINED, {"parallel"}},
    [OMPP_CONSTRUCT_PARWRKSH] = {OMPP_EXTENT_OUTLINED, {"parallel"}},
    [OMPP_CONSTRUCT_TEAMS] = {OMPP_EXTENT_OUTLINED, {"teams"}},
    [OMPP_CONSTRUCT_TASK] = {OMPP_EXTENT_OUTLINED, {"task"}},
    [OMPP_CONSTRUCT_TASKEXEC] = {OMPP_EXTENT_OUTLINED, {"task"}},
    [OMPP_CONSTRUCT_UTASK] = {OMPP_EXTENT_OUTLINED, {"task"}},
    [OMPP_CONSTRUCT_UTASKEXEC] = {OMPP_EXTENT_OUTLINED, {"task"}},
    [OMPP_CONSTRUCT_TASKLOOP] = {OMPP_EXTENT_CALLS, {"taskloop"}},
    [OMPP_CONSTRUCT_TASKGROUP] = {OMPP_EXTENT_CALLS, {"taskgroup"}},
    [OMPP_CONSTRUCT_LOOP] = {OMPP_EXTENT_LOOP, {"for"}},
    [OMPP_CONSTRUCT_DISTRIBUTE] = {OMPP_EXTENT_CALLS, {"distribute"}},
    [OMPP_CONSTRUCT_SECTIONS] = {OMPP_EXTENT_CALLS, {"sections"}},
    [OMPP_CONSTRUCT_SINGLE] = {OMPP_EXTENT_CALLS, {"single"}},
    [OMPP_CONSTRUCT_SCOPE] = {OMPP_EXTENT_CALLS, {"scope"}},
    [OMPP_CONSTRUCT_WORKSHARE] = {OMPP_EXTENT_CALLS, {NULL}},
    [OMPP_CONSTRUCT_MASTER] = {OMPP_EXTENT_CALLS, {"master", "masked"}},
    [OMPP_CONSTRUCT_CRITICAL] = {OMPP_EXTENT_CALLS, {"critical"}},
    [OMPP_CONSTRUCT_ORDERED] = {OMPP_EXTENT_CALLS, {"ordered"}},
    [OMPP_CONSTRUCT_USER_REGION] = {OMPP_EXTENT_CALLS, {NULL}},
};

/* Until when names are looked up, and what set that. */
typedef struct {
    double deadline; /* ompp_clock_seconds() */
    const char *who;
} limit_t;

static bool is_over(const limit_t *limit) { return ompp_clock_seconds() >= limit->deadline; }

/* A region to be resolved. */
typedef struct {
    uint32_t region, module;
    bool lock;
    ompp_str_t file;
    int64_t newest;         /* modification time of the module's file */
    uint32_t before, after; /* lines of the code around it */
} item_t;

static int compare_module(const void *a, const void *b)
{
    const item_t *x = a, *y = b;

    if (x->module != y->module) return x->module < y->module ? -1 : 1;
    if (x->lock != y->lock) return x->lock - y->lock;
    return x->region < y->region ? -1 : x->region > y->region;
}

static int compare_file(const void *a, const void *b)
{
    const item_t *x = a, *y = b;

    if (x->file != y->file) return x->file < y->file ? -1 : 1;
    return x->region < y->region ? -1 : x->region > y->region;
}

/* A lock in a variable: it gets that one's name. */
static bool is_lock(const ompp_region_t *region)
{
    return ompp_constructs[region->construct].place == OMPP_PLACE_ADDRESS;
}

static bool is_wanted(const ompp_profile_t *profile, const ompp_region_t *region)
{
    if (region->module >= profile->nmodules) return false;
    return is_lock(region) ? region->name == 0 : (region->flags & OMPP_REGION_F_ADDRESS) != 0;
}

static const char *open_problem(int rc)
{
    switch (-rc) {
    case OMPP_E_OPEN: return "file not found";
    case OMPP_E_VERSION: return "build id differs";
    case OMPP_E_FORMAT: return "not an ELF file that can be read";
    default: return ompp_error_message(rc);
    }
}

/* Said of the run, not by ranks. */
static void say_late(ompp_profile_t *profile, const char *what, const limit_t *limit, uint64_t n)
{
    if (n == 0) return;
    ompp_profile_add_coverage(profile, OMPP_COVERAGE_LATE, what, limit->who, n);
    if (profile->ncoverage) profile->coverage[profile->ncoverage - 1].nranks = 0;
}

static void not_found(ompp_profile_t *profile, uint32_t module, const char *reason, uint64_t n)
{
    if (n == 0) return;
    ompp_profile_add_coverage(profile, OMPP_COVERAGE_UNRESOLVED,
                              ompp_profile_text(profile, profile->modules[module].path), reason, n);
    if (profile->ncoverage) profile->coverage[profile->ncoverage - 1].nranks = 0; /* said of the run, not by ranks */
}

/* What -gsplit-dwarf puts into files of its own. */
static void say_missing(ompp_profile_t *profile, uint32_t module, const ompp_structure_t *structure)
{
    const char *first;
    const size_t n = ompp_structure_missing(structure, &first);
    char why[500];

    if (n == 0) return;
    snprintf(why, sizeof why, "%s; keep these files, or pack them with dwp", first);
    ompp_profile_add_coverage(profile, OMPP_COVERAGE_SPLIT, ompp_profile_text(profile, profile->modules[module].path),
                              why, n);
    if (profile->ncoverage) profile->coverage[profile->ncoverage - 1].nranks = 0;
}

static bool is_function(const ompp_region_t *region) { return region->flags & OMPP_REGION_F_FUNCTION; }

/* The file that kinst-ompp names for what it, or the compiler for it, has put into the program. */
static bool is_generated(const char *file) { return strcmp(ompp_path_last(file), "<ompp>") == 0; }

/* A function's name: of its symbol when that says more (class, module) or nothing else is known. */
static void name_function(ompp_profile_t *profile, ompp_region_t *region, const ompp_query_t *query)
{
    bool by_symbol = query->symbol && (!query->file || !query->function || ompp_name_is_qualified(query->symbol));
    char *name = by_symbol ? ompp_name_of_symbol(query->symbol, true) : NULL;

    if (name) region->name = ompp_profile_string(profile, name);
    else if (query->function && query->offset == 0) region->name = ompp_profile_string(profile, query->function);
    free(name);
    if (query->symbol && ompp_fortran_copies(query->symbol)) {
        char text[160];
        snprintf(text, sizeof text, "%.60s %s", query->symbol, OMPP_PARTS_COPY);
        region->name = ompp_profile_string(profile, text);
    }
    if (region->name) region->function = region->name;
    bool outlined = ompp_name_is_outlined(query->symbol ? query->symbol : ompp_profile_text(profile, region->name));
    /* On call paths they are where the code is. */
    if (region->construct != OMPP_CONSTRUCT_FUNCTION && (outlined || (query->file && is_generated(query->file))))
        region->flags |= OMPP_REGION_F_OUTLINED;
}

/* Takes over what is known; true when that is a line. */
static bool apply(ompp_profile_t *profile, item_t *item, const ompp_query_t *query)
{
    ompp_region_t *region = &profile->regions[item->region];
    char symbol[512];

    if (query->file) {
        item->file = ompp_profile_string(profile, query->file);
        region->file = item->file;
        region->function = ompp_profile_string(profile, query->function);
        item->before = query->line_before;
        item->after = query->line_after;
        region->begin = query->line;
        region->end = query->line_end;
        region->flags &= ~(uint32_t)OMPP_REGION_F_ADDRESS;
    } else if (query->function) {
        char *name = ompp_name_of_symbol(query->function, true);
        snprintf(symbol, sizeof symbol, "%s+0x%llx", name ? name : query->function, (unsigned long long)query->offset);
        free(name);
        region->function = ompp_profile_string(profile, symbol);
    }
    if (is_function(region)) name_function(profile, region, query);
    /* One function of all its addresses, also where it has no lines. */
    if (region->construct == OMPP_CONSTRUCT_FUNCTION && !query->file) region->addr -= query->offset;
    return query->file;
}

/* "cells[3].lock", declared in a line. A lock without variable keeps its address, which is all that its place has to
 * say. */
static void name_lock(ompp_profile_t *profile, ompp_region_t *region, ompp_structure_t *structure, double deadline)
{
    static const char *const lock_types[] = {"omp_lock_t", "omp_nest_lock_t", NULL};
    const ompp_variable_t *variable = ompp_variable_at(structure, region->addr, deadline);
    char part[256], name[1024];

    if (!variable) return;
    ompp_variable_part(structure, variable, region->addr - variable->addr, lock_types, part, sizeof part);
    snprintf(name, sizeof name, "%s%s%s%s", variable->function ? variable->function : "",
             variable->function ? "::" : "", variable->name, part);
    region->name = ompp_profile_string(profile, name);
    if (!variable->file || !variable->line) return;
    region->file = ompp_profile_string(profile, variable->file);
    region->begin = region->end = variable->line;
}

/* Loops with a static schedule are not seen there, also where they are combined with the region. */
static bool is_gomp(const ompp_profile_t *profile)
{
    return strncmp(ompp_profile_text(profile, profile->source), "GOMP", 4) == 0;
}

/* Who is called where a region begins, of calls that are events themselves: the compiler may have made a jump of such a
 * call. */
static const char *callee_of(const ompp_profile_t *profile, const ompp_region_t *region)
{
    if (ompp_constructs[region->construct].place == OMPP_PLACE_CALL) return ompp_profile_text(profile, region->name);
    if (!is_gomp(profile)) return NULL;
    if (region->construct == OMPP_CONSTRUCT_BARRIER) return "GOMP_barrier";
    return region->construct == OMPP_CONSTRUCT_TASKWAIT ? "GOMP_taskwait" : NULL;
}

/* Of the functions that a directive may stand in, the innermost one whose text has such a directive. */
static void choose_site(ompp_query_t *query, uint32_t construct, int64_t newest)
{
    for (size_t i = 0; i + 1 < query->nsites; i++) {
        const ompp_source_site_t *site = &query->sites[i];
        ompp_source_t *source = ompp_source_open(site->file, newest);
        const bool has = source && ompp_directives_between(source, site->first, site->last, construct);
        ompp_source_close(source);
        if (!has) continue;
        ompp_structure_take(query, site);
        return;
    }
}

static ompp_query_t question(const ompp_profile_t *profile, const ompp_region_t *region)
{
    const ompp_extent_t extent = is_function(region) ? OMPP_EXTENT_FUNCTION : ways[region->construct].extent;
    const bool calls = extent == OMPP_EXTENT_CALLS || extent == OMPP_EXTENT_LOOP;

    return (ompp_query_t){.addr = region->addr,
                          .addr_end = region->addr_end,
                          .extent = extent,
                          .directive = is_gomp(profile) && ompp_directives_are_calls(region->construct),
                          .callee = callee_of(profile, region),
                          .callee_end = calls && is_gomp(profile) ? "GOMP" : NULL};
}

static const char *why_no_line(const ompp_profile_t *profile, uint32_t module, const ompp_structure_t *structure,
                               char *why, size_t n)
{
    const char *path = ompp_profile_text(profile, profile->modules[module].path);

    if (ompp_structure_has_lines(structure)) return "no line for the address";
    if (ompp_structure_has_foreign_debug_file(structure)) return "its debug file is another user's, and was not read";
    snprintf(why, n, "no debug information; %s", ompp_debug_advice(path, ompp_structure_names_debug_file(structure)));
    return why;
}

static const char *time_limit(const limit_t *limit, char *text, size_t size)
{
    snprintf(text, size, OMPP_LATE_LIMIT "%s", limit->who);
    return text;
}

/* The C library's own loops around what it calls back are of no interest. */
static bool has_parts(const ompp_profile_t *profile, const ompp_region_t *region)
{
    return region->construct == OMPP_CONSTRUCT_SOURCE_LINE ||
           (region->construct == OMPP_CONSTRUCT_FUNCTION && !ompp_code_is_start(profile, region));
}

/* Code: all questions at once. */
static int resolve_code(ompp_profile_t *profile, item_t *items, size_t n, ompp_structure_t *structure,
                        ompp_parts_t *parts, const limit_t *limit)
{
    uint64_t late = 0, missing = 0, late_parts = 0;
    char why[300], over[80];
    ompp_query_t *queries = calloc(n + 1, sizeof *queries);

    if (!queries) return -OMPP_E_NOMEM;
    for (size_t i = 0; i < n; i++) queries[i] = question(profile, &profile->regions[items[i].region]);
    int rc = ompp_structure_lookup(structure, queries, n, limit->deadline);
    for (size_t i = 0; i < n; i++) {
        items[i].newest = ompp_structure_mtime(structure);
        const uint32_t construct = profile->regions[items[i].region].construct;
        const bool is_path = ompp_construct_is_path(construct);
        if (is_over(limit)) queries[i].nsites = 0;
        choose_site(&queries[i], construct, items[i].newest);
        if (!queries[i].done) late += !is_path;
        else if (!apply(profile, &items[i], &queries[i])) missing += !is_path;
    }
    for (size_t i = 0; i < n && rc != -OMPP_E_NOMEM; i++) {
        if (!has_parts(profile, &profile->regions[items[i].region])) continue;
        rc = ompp_parts_find(parts, profile, items[i].region, queries[i].addr, structure, limit->deadline);
        if (rc != -OMPP_E_TIMEOUT) continue;
        profile->regions[items[i].region].flags |= OMPP_REGION_F_ADDRESS; /* to be looked up again */
        late_parts++;
    }
    say_late(profile, OMPP_LATE_LOOPS, limit, late_parts);
    if (n)
        not_found(profile, items[0].module,
                  rc == -OMPP_E_NOMEM ? ompp_error_message(rc) : time_limit(limit, over, sizeof over), late);
    if (n)
        not_found(profile, items[0].module, why_no_line(profile, items[0].module, structure, why, sizeof why), missing);
    free(queries);
    return rc == -OMPP_E_NOMEM ? rc : 0;
}

/*
 * A file that cannot be read tells no functions apart: its addresses are one.
 * \return how many regions other than parts of call paths are without a line.
 */
static uint64_t leave_code(ompp_profile_t *profile, const item_t *items, size_t n, bool late)
{
    uint64_t places = 0;

    for (size_t i = 0; i < n; i++) {
        ompp_region_t *region = &profile->regions[items[i].region];
        places += !ompp_construct_is_path(region->construct);
        if (region->construct != OMPP_CONSTRUCT_FUNCTION || late) continue;
        region->addr = region->addr_end = 0;
        region->name = ompp_profile_string(profile, "(unknown function)");
    }
    return places;
}

/* Nobody asks for lines of libc or libgomp, and where a -dbg package has them, reading them takes 50 ms. */
static int open_structure(const ompp_profile_t *profile, const ompp_module_t *module, ompp_structure_t **structure)
{
    const char *path = ompp_profile_text(profile, module->path);

    return (ompp_known_owner(path) == OMPP_OWNER_PROGRAM ? ompp_structure_open : ompp_structure_open_symbols)(
        path, ompp_profile_text(profile, module->id), structure);
}

/* The regions of one module: code first, then locks. */
static int resolve_module(ompp_profile_t *profile, item_t *items, size_t n, ompp_parts_t *parts, const limit_t *limit)
{
    const ompp_module_t *module = &profile->modules[items[0].module];
    ompp_structure_t *structure = NULL;
    size_t ncode = 0;
    char over[80];

    while (ncode < n && !is_lock(&profile->regions[items[ncode].region])) ncode++;
    int rc = is_over(limit) ? -OMPP_E_TIMEOUT : open_structure(profile, module, &structure);
    if (rc != 0) {
        const bool late = rc == -OMPP_E_TIMEOUT;
        not_found(profile, items[0].module, late ? time_limit(limit, over, sizeof over) : open_problem(rc),
                  leave_code(profile, items, ncode, late));
        if (late) say_late(profile, OMPP_LATE_LOCKS, limit, n - ncode);
        return rc == -OMPP_E_NOMEM ? rc : 0;
    }
    rc = resolve_code(profile, items, ncode, structure, parts, limit);
    size_t i = ncode;
    for (; i < n && !is_over(limit); i++)
        name_lock(profile, &profile->regions[items[i].region], structure, limit->deadline);
    say_late(profile, OMPP_LATE_LOCKS, limit, n - i);
    say_missing(profile, items[0].module, structure);
    ompp_structure_close(structure);
    return rc;
}

static bool is_loop(const ompp_directive_t *directive)
{
    return ompp_directive_has(directive->words, "for") || ompp_directive_has(directive->words, "loop");
}

/* The lines of a file on which loops begin that are seen, so that each is joined later on with the parallel region
 * there. \return false when out of memory. */
static bool find_loops(const ompp_profile_t *profile, const item_t *items, size_t n, ompp_table_t *loops)
{
    bool ok = true;

    for (size_t i = 0; ok && i < n; i++) {
        const ompp_region_t *region = &profile->regions[items[i].region];
        if (region->construct == OMPP_CONSTRUCT_LOOP) ok = ompp_table_set(loops, region->begin, 1);
    }
    return ok;
}

/* The source text knows the last line of what the compiler leaves no trace of, and the name of a critical section. */
static void refine(ompp_profile_t *profile, ompp_region_t *region, const ompp_source_t *source,
                   const ompp_table_t *loops)
{
    const char *const *words = ways[region->construct].words;
    ompp_directive_t directive;

    if (!words[0] || ompp_source_directive(source, region->begin, &directive) != 0) return;
    if (!ompp_directive_has(directive.words, words[0]) && !(words[1] && ompp_directive_has(directive.words, words[1])))
        return;
    const bool past = region->flags & OMPP_REGION_F_NOWAIT; /* its lines are more than the directive's */
    if (directive.last >= region->begin && !past) region->end = directive.last;
    if (ompp_constructs[region->construct].place == OMPP_PLACE_NAMED && region->name == 0 && directive.name[0])
        region->name = ompp_profile_string(profile, directive.name);
    if (is_gomp(profile) && is_loop(&directive) && region->construct == OMPP_CONSTRUCT_PARALLEL &&
        !ompp_table_get(loops, region->begin))
        region->construct = OMPP_CONSTRUCT_PARLOOP;
}

/* Calls (of MPI) in one file of Fortran: items[0 .. n). */
static void refine_calls(ompp_profile_t *profile, const item_t *items, size_t n, const ompp_source_t *source)
{
    ompp_call_t *calls = calloc(n, sizeof *calls), **order = calloc(n, sizeof *order);
    size_t found = 0;

    for (size_t i = 0; calls && order && i < n; i++) {
        const ompp_region_t *region = &profile->regions[items[i].region];
        if (ompp_constructs[region->construct].place != OMPP_PLACE_CALL) continue;
        calls[i] = (ompp_call_t){ompp_profile_text(profile, region->name), region->addr, items[i].before,
                                 items[i].after, region->begin};
        order[found++] = &calls[i];
    }
    if (found) ompp_calls_mend(source, ompp_profile_text(profile, items[0].file), order, found);
    for (size_t i = 0; found && i < n; i++)
        if (calls[i].name)
            profile->regions[items[i].region].begin = profile->regions[items[i].region].end = calls[i].line;
    free(order);
    free(calls);
}

typedef struct {
    uint64_t addr;
    uint32_t region;
} code_t;

static int compare_code(const void *a, const void *b)
{
    const code_t *x = a, *y = b;

    if (x->addr != y->addr) return x->addr < y->addr ? -1 : 1;
    return x->region < y->region ? -1 : x->region > y->region;
}

/* Constructs in one file: items[0 .. n), in the order of their code. */
static bool refine_lines(ompp_profile_t *profile, const item_t *items, size_t n, const ompp_directives_t *directives,
                         const ompp_source_t *source, double deadline)
{
    uint32_t *regions = calloc(n, sizeof *regions);
    code_t *code = calloc(n, sizeof *code);

    for (size_t i = 0; code && i < n; i++) code[i] = (code_t){profile->regions[items[i].region].addr, items[i].region};
    if (code) qsort(code, n, sizeof *code, compare_code);
    for (size_t i = 0; code && regions && i < n; i++) regions[i] = code[i].region;
    const bool ok = code && regions && ompp_directives_mend(directives, regions, n, source, deadline);
    free(regions);
    free(code);
    return ok;
}

/*
 * A worksharing construct whose call has the line of the code in front of it (GCC), and whose directive is not found:
 * it gets the line of the code behind the call, so that it is not taken for one that is combined with the parallel
 * region on that line.
 */
static void refine_unfound(ompp_region_t *region, const item_t *item, const ompp_source_t *source)
{
    const char *word = ways[region->construct].words[0];
    bool workshare = region->construct == OMPP_CONSTRUCT_LOOP || region->construct == OMPP_CONSTRUCT_SECTIONS ||
                     region->construct == OMPP_CONSTRUCT_SINGLE;
    ompp_directive_t directive;

    if (!workshare || item->after <= region->begin) return;
    if (source && ompp_source_directive(source, region->begin, &directive) == 0 &&
        ompp_directive_has(directive.words, word))
        return;
    region->begin = item->after;
    if (region->end < region->begin) region->end = region->begin;
}

/* One file: items[0 .. n). \return false when time is over before all is done. */
static bool refine_file(ompp_profile_t *profile, const item_t *items, size_t n, const ompp_directives_t *directives,
                        double deadline)
{
    ompp_source_t *source = ompp_source_open(ompp_profile_text(profile, items[0].file), items[0].newest);
    ompp_table_t loops = {0};
    bool ok = true;

    if (source && directives) ok = refine_lines(profile, items, n, directives, source, deadline);
    for (size_t k = 0; directives && k < n; k++) refine_unfound(&profile->regions[items[k].region], &items[k], source);
    ok = find_loops(profile, items, n, &loops) && ok;
    for (size_t k = 0; source && ok && k < n; k++) {
        refine(profile, &profile->regions[items[k].region], source, &loops);
        ok = ompp_clock_seconds() < deadline;
    }
    if (source && ok) refine_calls(profile, items, n, source);
    ompp_table_fini(&loops);
    ompp_source_close(source);
    return ok;
}

/* \return regions whose lines are those of the code alone, as time was over. */
static uint64_t refine_all(ompp_profile_t *profile, item_t *items, size_t n, double deadline)
{
    ompp_directives_t *directives = is_gomp(profile) ? ompp_directives_new(profile) : NULL;
    uint64_t late = 0;

    qsort(items, n, sizeof *items, compare_file);
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && items[next].file == items[i].file;) next++;
        if (items[i].file == 0) continue;
        const bool in_time = ompp_clock_seconds() < deadline;
        if (!in_time || !refine_file(profile, items + i, next - i, directives, deadline)) late += next - i;
    }
    ompp_directives_free(directives);
    return late;
}

static item_t item_of(const ompp_profile_t *profile, uint32_t region)
{
    return (item_t){
        .region = region, .module = profile->regions[region].module, .lock = is_lock(&profile->regions[region])};
}

int ompp_analysis_resolve(ompp_profile_t *profile, double deadline, const char *who)
{
    const limit_t limit = {deadline, who};
    size_t n = 0;
    int rc = 0;
    ompp_parts_t parts = {0};
    item_t *items = calloc(profile->nregions + 1, sizeof *items);

    if (!items) return -OMPP_E_NOMEM;
    for (uint32_t i = 0; i < profile->nregions; i++)
        if (is_wanted(profile, &profile->regions[i])) items[n++] = item_of(profile, i);
    qsort(items, n, sizeof *items, compare_module);
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && items[next].module == items[i].module;) next++;
        int failed = resolve_module(profile, items + i, next - i, &parts, &limit);
        if (rc == 0) rc = failed;
    }
    say_late(profile, "regions whose lines were not compared with the source text", &limit,
             refine_all(profile, items, n, deadline));
    free(items);
    if (!ompp_parts_insert(&parts, profile)) rc = -OMPP_E_NOMEM;
    ompp_parts_fini(&parts);
    return rc == 0 && profile->failed ? -OMPP_E_NOMEM : rc;
}
