#define _GNU_SOURCE
#include "analysis/ompp_directives.h"

#include "base/ompp_vector.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    ompp_directive_t d;
    bool nowait;
    bool taken; /* a region belongs to it */
} entry_t;

typedef struct {
    ompp_profile_t *profile;
    entry_t *entries; /* of the file, by line */
    size_t nentries;
    const ompp_source_t *source;
} text_t;

/* Words of the directives that make these constructs. */
static const struct {
    uint32_t construct;
    const char *word;
} wanted[] = {
    {OMPP_CONSTRUCT_LOOP, "for"},
    {OMPP_CONSTRUCT_LOOP, "loop"},
    {OMPP_CONSTRUCT_SECTIONS, "sections"},
    {OMPP_CONSTRUCT_SINGLE, "single"},
    {OMPP_CONSTRUCT_ORDERED, "ordered"},
    {OMPP_CONSTRUCT_TASKWAIT, "taskwait"},
    {OMPP_CONSTRUCT_TASKGROUP, "taskgroup"},
    {OMPP_CONSTRUCT_BARRIER, "barrier"},
    {OMPP_CONSTRUCT_BARRIER, "for"}, /* with a static schedule */
    {OMPP_CONSTRUCT_BARRIER, "loop"},
    {OMPP_CONSTRUCT_PARALLEL, "parallel"},
    {OMPP_CONSTRUCT_PARLOOP, "parallel"},
    {OMPP_CONSTRUCT_PARSECTS, "parallel"},
    {OMPP_CONSTRUCT_TASK, "task"},
    {OMPP_CONSTRUCT_TASKEXEC, "task"},
    {OMPP_CONSTRUCT_UTASK, "task"},
    {OMPP_CONSTRUCT_UTASKEXEC, "task"},
    {OMPP_CONSTRUCT_TASK, "taskloop"},
    {OMPP_CONSTRUCT_TASKEXEC, "taskloop"},
    {OMPP_CONSTRUCT_UTASK, "taskloop"},
    {OMPP_CONSTRUCT_UTASKEXEC, "taskloop"},
};

bool ompp_directive_has(const char *words, const char *word)
{
    size_t n = strlen(word);

    for (const char *at = words; (at = strstr(at, word)); at += n)
        if ((at == words || at[-1] == ' ') && (at[n] == '\0' || at[n] == ' ')) return true;
    return false;
}

static bool is_standalone(uint32_t construct)
{
    return construct == OMPP_CONSTRUCT_BARRIER || construct == OMPP_CONSTRUCT_TASKWAIT;
}

/* Directives whose block the compiler makes a function of; the region is known by that. */
static bool is_outlined(uint32_t construct)
{
    return ompp_constructs[construct].flags & (OMPP_CONSTRUCT_F_FORK | OMPP_CONSTRUCT_F_TASK) ||
           construct == OMPP_CONSTRUCT_TASK || construct == OMPP_CONSTRUCT_UTASK;
}

static bool names(const entry_t *entry, uint32_t construct)
{
    /* elsewhere it is a clause */
    if (construct == OMPP_CONSTRUCT_ORDERED) return strncmp(entry->d.words, "ordered", 7) == 0;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (wanted[i].construct == construct && ompp_directive_has(entry->d.words, wanted[i].word)) return true;
    return false;
}

/* A worksharing construct that is combined with a parallel one has its line already. */
static bool fits(const entry_t *entry, uint32_t construct)
{
    if (!names(entry, construct)) return false;
    return is_outlined(construct) || construct == OMPP_CONSTRUCT_BARRIER ||
           !ompp_directive_has(entry->d.words, "parallel");
}

static bool is_sought(uint32_t construct)
{
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (wanted[i].construct == construct) return true;
    return false;
}

static bool holds(const entry_t *entry, uint32_t line) { return line >= entry->d.first && line <= entry->d.last; }

static void take(ompp_region_t *region, entry_t *entry)
{
    entry->taken = true;
    region->begin = region->end = entry->d.first;
    if (!is_standalone(region->construct) && entry->d.last > region->end) region->end = entry->d.last;
}

/* The directive on a line. */
static entry_t *on_line(const text_t *text, uint32_t line)
{
    for (size_t i = 0; i < text->nentries; i++)
        if (text->entries[i].d.first == line) return &text->entries[i];
    return NULL;
}

/* What is known of a region beside its place: whether it waits at its end. */
typedef struct {
    const ompp_region_t *region;
    /* the call is the last thing in the function of a parallel region or task, whose address it has */
    bool called_last;
    bool waits;
    const ompp_region_t *around; /* the one that it was always met in, on the call path; NULL = several, or none */
    bool always;                 /* all threads come to it as often as to that one */
    /* waiting tells it: one that nobody has waited for has nowait. Else, it may also be the last thing in its block */
    bool exact;
} sought_t;

static bool may_be(const entry_t *entry, const sought_t *sought)
{
    uint32_t construct = sought->region->construct;

    if (!fits(entry, construct) || (construct == OMPP_CONSTRUCT_BARRIER && entry->nowait)) return false;
    return ompp_phase_slot(construct, OMPP_PHASE_EXITBAR) == OMPP_NO_SLOT || is_outlined(construct) ||
           entry->nowait != sought->waits || (!sought->exact && !sought->waits);
}

/* The innermost fitting directive whose block holds a line. */
static entry_t *around(const text_t *text, const sought_t *sought, uint32_t line)
{
    entry_t *found = NULL;

    for (size_t i = 0; i < text->nentries; i++)
        if (holds(&text->entries[i], line) && fits(&text->entries[i], sought->region->construct))
            found = &text->entries[i];
    return found && may_be(found, sought) ? found : NULL;
}

/* The innermost block of a function that the compiler has made (parallel, task) that holds a line. */
static const entry_t *outlined_around(const text_t *text, uint32_t line)
{
    const entry_t *found = NULL;

    for (size_t i = 0; i < text->nentries; i++) {
        const entry_t *e = &text->entries[i];
        if (holds(e, line) && (ompp_directive_has(e->d.words, "parallel") || ompp_directive_has(e->d.words, "task")))
            found = e;
    }
    return found;
}

/* The next fitting directive behind a line that is nobody's, in the same block; or in front of it, when there is none
 * behind. */
static entry_t *next_free(const text_t *text, const sought_t *sought, uint32_t line)
{
    const entry_t *block = outlined_around(text, line);
    entry_t *before = NULL;

    for (size_t i = 0; i < text->nentries; i++) {
        entry_t *e = &text->entries[i];
        if (e->taken || !may_be(e, sought) || (block && !holds(block, e->d.first))) continue;
        if (e->d.first > line) return e;
        if (block) before = e;
    }
    return before;
}

/* Nothing stands between the end of a directive's statement and that of the block around. */
static bool closes(const text_t *text, const entry_t *block, const entry_t *entry)
{
    size_t length;

    for (uint32_t line = entry->d.last + 1; line <= block->d.last; line++) {
        const char *at = ompp_source_line(text->source, line, &length);
        for (size_t i = 0; at && i < length; i++)
            if (!strchr(" \t\r}", at[i])) return false;
    }
    return true;
}

/*
 * A directive that may call: with nowait there is no barrier, and gcc mostly leaves out that of a loop at the end of a
 * parallel region. It does not where all threads have come to the call whenever they were in the region.
 */
static bool may_call(const text_t *text, const sought_t *sought, const entry_t *block, const entry_t *entry)
{
    if (entry == block || outlined_around(text, entry->d.first) != block || !may_be(entry, sought)) return false;
    return sought->always || ompp_directive_has(entry->d.words, "barrier") ||
           ompp_directive_has(entry->d.words, "taskwait") || !closes(text, block, entry);
}

/*
 * A barrier, or the like, that is called last in a region's function, from nobody knows where: the last directive in
 * that, when it may call; or the only one that may, as compilers make paths of their own past loops that have nothing
 * to do.
 */
static entry_t *last_in(const text_t *text, const sought_t *sought, const entry_t *block)
{
    entry_t *last = NULL, *found = NULL;
    size_t n = 0;

    for (size_t i = 0; i < text->nentries; i++) {
        entry_t *e = &text->entries[i];
        if (e == block || !holds(block, e->d.first)) continue;
        if (!last || !holds(last, e->d.first)) last = e;
        if (!may_call(text, sought, block, e)) continue;
        found = e;
        n++;
    }
    return n == 1 || found == last ? found : NULL;
}

/* The directive of the parallel region or task around, in the same file. */
static entry_t *block_around(const text_t *text, const sought_t *sought)
{
    const ompp_region_t *around = sought->around;

    return around && is_outlined(around->construct) && around->file == sought->region->file
               ? on_line(text, around->begin)
               : NULL;
}

/* The outlined block that a call which is made last in a region's function stands in. */
static const entry_t *block_of(const text_t *text, const sought_t *sought)
{
    const entry_t *inside = outlined_around(text, sought->region->begin);

    return inside ? inside : block_around(text, sought);
}

static entry_t *of_standalone(const text_t *text, const sought_t *sought)
{
    const entry_t *block = sought->called_last ? block_of(text, sought) : NULL;
    const bool no_line = block && block->d.first == sought->region->begin;
    entry_t *found = no_line ? NULL : around(text, sought, sought->region->begin);

    return found || !block ? found : last_in(text, sought, block);
}

/* The compiler may make a call twice, for two ways that lead to it: the block's one directive of this kind is another
 * region's already. */
static entry_t *only_one(const text_t *text, const sought_t *sought, uint32_t line)
{
    const entry_t *inside = outlined_around(text, line), *block = inside ? inside : block_around(text, sought);
    entry_t *found = NULL;

    for (size_t i = 0; block && i < text->nentries; i++) {
        entry_t *e = &text->entries[i];
        if (e == block || !fits(e, sought->region->construct) || outlined_around(text, e->d.first) != block) continue;
        if (found) return NULL;
        found = e;
    }
    return found;
}

/*
 * What the directive around makes as well: "parallel for" is, for some schedules and reductions, a team and a loop in
 * it. Its first line may be that of a function inlined in the loop.
 */
static entry_t *combined(const text_t *text, const sought_t *sought)
{
    entry_t *entry = block_around(text, sought);

    return entry && ompp_directive_has(entry->d.words, "parallel") && names(entry, sought->region->construct) ? entry
                                                                                                              : NULL;
}

enum { EXACT, COMBINED, ENDS_IN, BEGINS_IN, NEXT, BEGINS_IN_LAST, COMBINED_LAST, NEXT_LAST, COPY, NSTEPS };

static entry_t *find(const text_t *text, const sought_t *sought, int step)
{
    const ompp_region_t *region = sought->region;
    uint32_t construct = region->construct;
    entry_t *entry;

    switch (step) {
    case EXACT: entry = on_line(text, region->begin); return entry && names(entry, construct) ? entry : NULL;
    case COMBINED:
    case COMBINED_LAST: /* the team may have got its line only now */
        return construct == OMPP_CONSTRUCT_LOOP || construct == OMPP_CONSTRUCT_SECTIONS ? combined(text, sought) : NULL;
    case ENDS_IN:
        if (is_standalone(construct)) return of_standalone(text, sought);
        return region->end > region->begin && !is_outlined(construct) ? around(text, sought, region->end) : NULL;
    case BEGINS_IN_LAST:
        /* its first lines may be of inlined code */
        if (is_outlined(construct)) return around(text, sought, region->end);
        /* fall through */
    case BEGINS_IN: return is_standalone(construct) ? NULL : around(text, sought, region->begin);
    case NEXT_LAST: /* the barrier of a static loop, too, which nothing else is known of */
        if (is_standalone(construct)) return sought->called_last ? NULL : next_free(text, sought, region->begin);
        /* fall through */
    case NEXT:
        return is_standalone(construct) || is_outlined(construct) ? NULL : next_free(text, sought, region->begin);
    default: return is_standalone(construct) || is_outlined(construct) ? NULL : only_one(text, sought, region->begin);
    }
}

/* What stands behind these is not theirs. */
static bool has_no_block(const ompp_directive_t *d)
{
    static const char *const words[] = {"barrier", "taskwait", "taskyield", "flush", "threadprivate", "declare"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (ompp_directive_has(d->words, words[i])) return true;
    return false;
}

/* Whether a word stands in the directive on a line, or in the lines that continue it. */
static bool has_clause(const ompp_source_t *source, uint32_t line, const char *word)
{
    const char *text;
    size_t length;

    while ((text = ompp_source_line(source, line++, &length))) {
        if (memmem(text, length, word, strlen(word))) return true;
        if (length == 0 || text[length - 1] != '\\') return false;
    }
    return false;
}

static text_t read_directives(const ompp_source_t *source)
{
    text_t text = {.source = source};
    size_t length, allocated = 0;
    ompp_directive_t d;

    for (uint32_t line = 1; ompp_source_line(source, line, &length); line++) {
        if (ompp_source_directive(source, line, &d) != 0 || strncmp(d.words, "cancel", 6) == 0) continue;
        entry_t *entry = ompp_vector_push(&text.entries, &text.nentries, &allocated, sizeof *entry);
        if (!entry) break;
        if (has_no_block(&d)) d.last = d.first;
        *entry = (entry_t){d, has_clause(source, line, "nowait"), false};
    }
    return text;
}

static bool is_called_last(const ompp_profile_t *profile, const ompp_region_t *region)
{
    for (size_t i = 0; is_standalone(region->construct) && i < profile->nregions; i++) {
        const ompp_region_t *r = &profile->regions[i];
        if (is_outlined(r->construct) && r->addr == region->addr && r->module == region->module) return true;
    }
    return false;
}

/* Whether threads have waited at the end of each region: waits[region]. */
static bool *read_waits(const ompp_profile_t *profile)
{
    bool *waits = calloc(profile->nregions + 1, sizeof *waits);

    for (size_t i = 0; waits && i < profile->nnodes; i++) {
        const ompp_node_t *node = &profile->nodes[i];
        unsigned slot = node->region < profile->nregions
                            ? ompp_phase_slot(profile->regions[node->region].construct, OMPP_PHASE_EXITBAR)
                            : OMPP_NO_SLOT;
        for (uint32_t k = 0; slot != OMPP_NO_SLOT && k < node->nblocks; k++) {
            const ompp_block_t *block = &node->blocks[k];
            if (block->set != OMPP_SET_PHASES || block->object != 0) continue;
            waits[node->region] |= block->values[ompp_value_index(slot, OMPP_SLOT_COUNT)] != 0;
        }
    }
    return waits;
}

/* The region around this one on all call paths that it is on; NULL = several, or none. */
static const ompp_region_t *find_around(const ompp_profile_t *profile, uint32_t region)
{
    uint32_t around = OMPP_NONE;

    for (size_t i = 1; i < profile->nnodes; i++) {
        if (profile->nodes[i].region != region) continue;
        uint32_t parent = profile->nodes[profile->nodes[i].parent].region;
        if (parent >= profile->nregions || (around != OMPP_NONE && parent != around)) return NULL;
        around = parent;
    }
    return around == OMPP_NONE ? NULL : &profile->regions[around];
}

/* Somewhere in this block is all that is known. */
static void leave_in_block(ompp_profile_t *profile, const text_t *text, uint32_t number)
{
    ompp_region_t *region = &profile->regions[number];
    const sought_t sought = {.region = region, .around = find_around(profile, number)};
    const entry_t *block = is_called_last(profile, region) ? block_of(text, &sought) : NULL;

    if (!block) return;
    region->begin = block->d.first;
    region->end = block->d.last;
}

/* How often all threads were in a region. */
static uint64_t executions(const ompp_profile_t *profile, uint32_t region)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < profile->nnodes; i++) {
        const ompp_node_t *node = &profile->nodes[i];
        for (uint32_t k = 0; node->region == region && k < node->nblocks; k++)
            if (node->blocks[k].set == OMPP_SET_PHASES && node->blocks[k].object == 0) sum += node->blocks[k].values[0];
    }
    return sum;
}

static sought_t what_is_known(const ompp_profile_t *profile, uint32_t region, const bool *waits, int step)
{
    const ompp_region_t *r = &profile->regions[region], *around = find_around(profile, region);

    return (sought_t){.region = r,
                      .called_last = is_called_last(profile, r),
                      .waits = waits[region],
                      .around = around,
                      .always = around && executions(profile, region) ==
                                              executions(profile, (uint32_t)(around - profile->regions)),
                      .exact = step <= NEXT};
}

void ompp_directives_mend(ompp_profile_t *profile, const uint32_t *regions, size_t n, const ompp_source_t *source)
{
    text_t text = read_directives(source);
    bool *done = calloc(n + 1, sizeof *done), *waits = read_waits(profile);

    for (int step = EXACT; done && waits && step < NSTEPS; step++) {
        for (size_t i = 0; i < n; i++) {
            ompp_region_t *region = &profile->regions[regions[i]];
            const sought_t sought = what_is_known(profile, regions[i], waits, step);
            entry_t *entry =
                !done[i] && region->begin && is_sought(region->construct) ? find(&text, &sought, step) : NULL;
            if (!entry) continue;
            take(region, entry);
            done[i] = true;
        }
    }
    for (size_t i = 0; done && waits && i < n; i++)
        if (!done[i]) leave_in_block(profile, &text, regions[i]);
    free(done);
    free(waits);
    free(text.entries);
}
