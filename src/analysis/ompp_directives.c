#define _GNU_SOURCE
#include "analysis/ompp_directives.h"

#include "base/ompp_clock.h"
#include "base/ompp_interval.h"
#include "base/ompp_table.h"
#include "base/ompp_vector.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    ompp_directive_t d;
    uint32_t inside; /* the innermost outlined directive that holds its first line; OMPP_NO_INTERVAL = none */
    bool outlined;   /* its block is made a function: parallel, task */
    bool nowait;
    uint32_t barrier; /* single with nowait: line of a barrier behind it, which looks like its own where it is next */
    bool taken;       /* a region belongs to it */
} entry_t;

typedef struct {
    entry_t *entries; /* of the file, by line */
    size_t nentries;
    ompp_interval_t *lines; /* [nentries] of each entry, in the same order */
    const ompp_source_t *source;
} text_t;

/* What is known of a region beside its place, the same for all files and steps. */
typedef struct {
    /* the call is the last thing in the function of a parallel region or task, whose address it has */
    bool called_last;
    bool waits;      /* threads have waited at its end */
    bool always;     /* all threads come to it as often as to the one around it */
    uint32_t around; /* the region that it was always met in, on the call path; NOWHERE, SEVERAL */
} fact_t;

#define NOWHERE OMPP_NONE
#define SEVERAL (OMPP_NONE - 1)

struct ompp_directives {
    ompp_profile_t *profile;
    fact_t *facts; /* [nregions] */
};

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

bool ompp_directives_are_calls(uint32_t construct) { return is_sought(construct) && !is_outlined(construct); }

bool ompp_directives_between(const ompp_source_t *source, uint32_t first, uint32_t last, uint32_t construct)
{
    entry_t entry;

    for (uint32_t line = first; line <= last; line++)
        if (ompp_source_directive(source, line, &entry.d) == 0 && fits(&entry, construct)) return true;
    return false;
}

static bool holds(const entry_t *entry, uint32_t line) { return line >= entry->d.first && line <= entry->d.last; }

static void take(ompp_region_t *region, entry_t *entry, bool waits)
{
    entry->taken = true;
    region->begin = region->end = entry->d.first;
    if (region->construct == OMPP_CONSTRUCT_BARRIER && !ompp_directive_has(entry->d.words, "barrier"))
        region->flags |= OMPP_REGION_F_LOOP;
    if (!is_standalone(region->construct) && entry->d.last > region->end) region->end = entry->d.last;
    if (region->construct == OMPP_CONSTRUCT_SINGLE && entry->barrier && waits) {
        region->end = entry->barrier;
        region->flags |= OMPP_REGION_F_NOWAIT;
    }
}

/* Entries that hold a line, the last one first: for (i = last_at(); i != OMPP_NO_INTERVAL; i = before()). */
static uint32_t last_at(const text_t *text, uint32_t line)
{
    return ompp_intervals_last(text->lines, text->nentries, line);
}

static uint32_t before(const text_t *text, uint32_t i, uint32_t line)
{
    return ompp_intervals_before(text->lines, i, line);
}

/* Index of the first directive behind a line. */
static size_t behind(const text_t *text, uint32_t line)
{
    size_t low = 0, high = text->nentries;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (text->entries[middle].d.first <= line) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* The directive on a line. */
static entry_t *on_line(const text_t *text, uint32_t line)
{
    const size_t i = behind(text, line);

    return i > 0 && text->entries[i - 1].d.first == line ? &text->entries[i - 1] : NULL;
}

/* What is known of a region while its directive is sought. */
typedef struct {
    const ompp_region_t *region;
    bool called_last, waits, always; /* as in fact_t */
    const ompp_region_t *around;     /* NULL = several, or none */
    /* waiting tells it: one that nobody has waited for has nowait. Else, it may also be the last thing in its block */
    bool exact;
} sought_t;

static bool may_be(const entry_t *entry, const sought_t *sought)
{
    uint32_t construct = sought->region->construct;

    if (!fits(entry, construct) || (construct == OMPP_CONSTRUCT_BARRIER && entry->nowait)) return false;
    return ompp_phase_slot(construct, OMPP_PHASE_EXITBAR) == OMPP_NO_SLOT || is_outlined(construct) || entry->barrier ||
           entry->nowait != sought->waits || (!sought->exact && !sought->waits);
}

/* The innermost fitting directive whose block holds a line. */
static entry_t *around(const text_t *text, const sought_t *sought, uint32_t line)
{
    for (uint32_t i = last_at(text, line); i != OMPP_NO_INTERVAL; i = before(text, i, line))
        if (fits(&text->entries[i], sought->region->construct))
            return may_be(&text->entries[i], sought) ? &text->entries[i] : NULL;
    return NULL;
}

/* The innermost block of a function that the compiler has made (parallel, task) that holds a line. */
static const entry_t *outlined_around(const text_t *text, uint32_t line)
{
    for (uint32_t i = last_at(text, line); i != OMPP_NO_INTERVAL; i = before(text, i, line))
        if (text->entries[i].outlined) return &text->entries[i];
    return NULL;
}

/* The same of a directive's own line. */
static const entry_t *outside_of(const text_t *text, const entry_t *entry)
{
    return entry->inside == OMPP_NO_INTERVAL ? NULL : &text->entries[entry->inside];
}

/* The next fitting directive behind a line that is nobody's, in the same block; or in front of it, when there is none
 * behind. */
static entry_t *next_free(const text_t *text, const sought_t *sought, uint32_t line)
{
    const entry_t *block = outlined_around(text, line);
    const size_t begin = behind(text, line);

    for (entry_t *e = text->entries + begin; e < text->entries + text->nentries; e++) {
        if (block && !holds(block, e->d.first)) break;
        if (!e->taken && may_be(e, sought)) return e;
    }
    for (size_t i = begin; block && i-- > 0 && holds(block, text->entries[i].d.first);)
        if (!text->entries[i].taken && may_be(&text->entries[i], sought)) return &text->entries[i];
    return NULL;
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
    if (entry == block || outside_of(text, entry) != block || !may_be(entry, sought)) return false;
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

    for (entry_t *e = text->entries + (block - text->entries);
         e < text->entries + text->nentries && holds(block, e->d.first); e++) {
        if (e == block) continue;
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

    if (!block) return NULL;
    for (entry_t *e = text->entries + (block - text->entries);
         e < text->entries + text->nentries && holds(block, e->d.first); e++) {
        if (e == block || !fits(e, sought->region->construct) || outside_of(text, e) != block) continue;
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

/* Line of the barrier that is the next directive in the block; 0 = another one is. */
static uint32_t barrier_behind(const text_t *text, const entry_t *entry)
{
    const size_t i = behind(text, entry->d.last > entry->d.first ? entry->d.last : entry->d.first);
    const entry_t *next = i < text->nentries ? &text->entries[i] : NULL;

    return next && next->inside == entry->inside && ompp_directive_has(next->d.words, "barrier") ? next->d.first : 0;
}

static void link_lines(text_t *text)
{
    for (size_t i = 0; i < text->nentries; i++) {
        const ompp_directive_t *d = &text->entries[i].d;
        text->lines[i] = (ompp_interval_t){d->first, d->last < d->first ? d->first : d->last + (uint64_t)1, i, 0};
    }
    ompp_intervals_link(text->lines, text->nentries);
    for (size_t i = 0; i < text->nentries; i++) {
        const entry_t *outside = outlined_around(text, text->entries[i].d.first);
        text->entries[i].inside = outside ? (uint32_t)(outside - text->entries) : OMPP_NO_INTERVAL;
    }
    for (entry_t *e = text->entries; e < text->entries + text->nentries; e++)
        if (e->nowait && ompp_directive_has(e->d.words, "single")) e->barrier = barrier_behind(text, e);
}

static bool read_directives(text_t *text, const ompp_source_t *source, double deadline)
{
    size_t length, allocated = 0;
    ompp_directive_t d;

    *text = (text_t){.source = source};
    for (uint32_t line = 1; ompp_source_line(source, line, &length); line++) {
        if (ompp_source_directive(source, line, &d) != 0 || strncmp(d.words, "cancel", 6) == 0) continue;
        entry_t *entry = ompp_vector_push(&text->entries, &text->nentries, &allocated, sizeof *entry);
        if (!entry || ompp_clock_seconds() >= deadline) return false;
        if (has_no_block(&d)) d.last = d.first;
        *entry = (entry_t){.d = d,
                           .outlined = ompp_directive_has(d.words, "parallel") || ompp_directive_has(d.words, "task"),
                           .nowait = has_clause(source, line, "nowait")};
    }
    text->lines = calloc(text->nentries + 1, sizeof *text->lines);
    if (text->lines) link_lines(text);
    return text->lines != NULL;
}

/* ---- What is known of regions ------------------------------------------------------------------------------------ */

static bool same_code(const void *regions, uint64_t value, const void *wanted)
{
    const ompp_region_t *a = (const ompp_region_t *)regions + value - 1, *b = wanted;

    return a->addr == b->addr && a->module == b->module;
}

static uint64_t hash_of_code(const ompp_region_t *region) { return ompp_hash_join(region->addr, region->module); }

/* Calls that have the address of a parallel region or task. */
static bool find_called_last(const ompp_profile_t *profile, fact_t *facts)
{
    ompp_table_t table = {0};
    bool ok = true;

    for (size_t i = 0; ok && i < profile->nregions; i++) {
        const ompp_region_t *r = &profile->regions[i];
        uint64_t key = hash_of_code(r);
        if (is_outlined(r->construct) && !ompp_table_search(&table, &key, same_code, profile->regions, r))
            ok = ompp_table_set(&table, key, i + 1);
    }
    for (size_t i = 0; i < profile->nregions; i++) {
        const ompp_region_t *r = &profile->regions[i];
        uint64_t key = hash_of_code(r);
        facts[i].called_last =
            is_standalone(r->construct) && ompp_table_search(&table, &key, same_code, profile->regions, r);
    }
    ompp_table_fini(&table);
    return ok;
}

/* On all call paths: the region around; how often all threads were there; whether they have waited. */
static bool find_around(const ompp_profile_t *profile, fact_t *facts)
{
    uint64_t *visits = calloc(profile->nregions + 1, sizeof *visits);

    for (size_t r = 0; r < profile->nregions; r++) facts[r].around = NOWHERE;
    for (size_t i = 1; visits && i < profile->nnodes; i++) {
        const ompp_node_t *node = &profile->nodes[i];
        if (node->region >= profile->nregions) continue;
        fact_t *fact = &facts[node->region];
        const uint32_t parent = profile->nodes[node->parent].region;
        const unsigned slot = ompp_phase_slot(profile->regions[node->region].construct, OMPP_PHASE_EXITBAR);
        if (parent >= profile->nregions || (fact->around != NOWHERE && fact->around != parent)) fact->around = SEVERAL;
        else fact->around = parent;
        for (uint32_t k = 0; k < node->nblocks; k++) {
            const ompp_block_t *block = &node->blocks[k];
            if (block->set != OMPP_SET_PHASES || block->object != 0) continue;
            visits[node->region] += block->values[0];
            fact->waits |= slot != OMPP_NO_SLOT && block->values[ompp_value_index(slot, OMPP_SLOT_COUNT)] != 0;
        }
    }
    for (size_t r = 0; visits && r < profile->nregions; r++)
        facts[r].always = facts[r].around < profile->nregions && visits[r] == visits[facts[r].around];
    free(visits);
    return visits != NULL;
}

ompp_directives_t *ompp_directives_new(ompp_profile_t *profile)
{
    ompp_directives_t *directives = calloc(1, sizeof *directives);

    if (!directives) return NULL;
    directives->profile = profile;
    directives->facts = calloc(profile->nregions + 1, sizeof *directives->facts);
    if (directives->facts && find_called_last(profile, directives->facts) && find_around(profile, directives->facts))
        return directives;
    ompp_directives_free(directives);
    return NULL;
}

void ompp_directives_free(ompp_directives_t *directives)
{
    if (directives) free(directives->facts);
    free(directives);
}

static sought_t what_is_known(const ompp_directives_t *directives, uint32_t region, int step)
{
    const fact_t *fact = &directives->facts[region];
    const ompp_profile_t *profile = directives->profile;

    return (sought_t){.region = &profile->regions[region],
                      .called_last = fact->called_last,
                      .waits = fact->waits,
                      .around = fact->around < profile->nregions ? &profile->regions[fact->around] : NULL,
                      .always = fact->always,
                      .exact = step <= NEXT};
}

/* Somewhere in this block is all that is known. */
static void leave_in_block(const ompp_directives_t *directives, const text_t *text, uint32_t number)
{
    ompp_region_t *region = &directives->profile->regions[number];
    const sought_t sought = what_is_known(directives, number, NSTEPS);
    const entry_t *block = sought.called_last ? block_of(text, &sought) : NULL;

    if (!block) return;
    region->begin = block->d.first;
    region->end = block->d.last;
}

bool ompp_directives_mend(const ompp_directives_t *directives, const uint32_t *regions, size_t n,
                          const ompp_source_t *source, double deadline)
{
    text_t text;
    bool *done = calloc(n + 1, sizeof *done), ok = read_directives(&text, source, deadline) && done;

    for (int step = EXACT; ok && step < NSTEPS; step++) {
        for (size_t i = 0; ok && i < n; i++) {
            ompp_region_t *region = &directives->profile->regions[regions[i]];
            if (done[i] || !region->begin || !is_sought(region->construct)) continue;
            const sought_t sought = what_is_known(directives, regions[i], step);
            entry_t *entry = find(&text, &sought, step);
            ok = i % 64 || ompp_clock_seconds() < deadline;
            if (!entry) continue;
            take(region, entry, sought.waits);
            done[i] = true;
        }
    }
    for (size_t i = 0; ok && i < n; i++)
        if (!done[i]) leave_in_block(directives, &text, regions[i]);
    free(done);
    free(text.entries);
    free(text.lines);
    return ok;
}
