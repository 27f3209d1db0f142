/*
 * Structures that the user has not named get names of the source: variables and their parts; blocks of the heap by the
 * pointer that was seen to hold their address; frames by the variable that lies there. What has the same name then is
 * one structure.
 */
#define _GNU_SOURCE
#include "analysis/ompp_analysis.h"
#include "analysis/ompp_members.h"

#include "base/ompp_clock.h"
#include "base/ompp_error.h"
#include "base/ompp_path.h"
#include "base/ompp_table.h"
#include "image/ompp_known.h"
#include "model/ompp_raw.h"
#include "structure/ompp_local.h"
#include "structure/ompp_name.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT 400
#define PATH 12
#define LINES 2       /* of the call path, that stand beside a name */
#define VARIABLES 3   /* in one place of a frame, that are told */
#define MOST_STEPS 12 /* from pointer to pointer */

typedef struct {
    ompp_structure_t *structure; /* NULL = it cannot be read */
    bool tried;
} module_t;

/* What a pointer that was named points to. */
typedef struct {
    ompp_structure_t *structure;
    uint64_t type; /* 0 = not known */
    bool fortran;
} target_t;

typedef struct {
    char name[TEXT]; /* "" = none */
    char rank;       /* how good: kinds of holders, best last */
    target_t target; /* of the first name */
    bool mixed;      /* the second one's is another: members are not its own */
} answer_t;

enum { NONE, BY_HELPER, BY_FORMER, BY_THIS, BY_STACK, BY_RESULT, BY_BLOCK, BY_VARIABLE };

typedef struct {
    char *text;      /* the name in the report; NULL = the user's */
    char *members;   /* what is told of them; NULL = nothing */
    answer_t answer; /* of the heap */
    enum { NEW, BUSY, DONE } state;
    uint64_t accesses;
} object_t;

typedef struct {
    ompp_profile_t *profile;
    double deadline;
    module_t *modules;
    object_t *objects;
    ompp_table_t by_key; /* heap: index + 1 */
    uint64_t late;
} names_t;

/* ---- Raw names --------------------------------------------------------------------------------------------------- */

static const char *raw_of(const names_t *n, size_t i)
{
    return ompp_profile_text(n->profile, n->profile->objects[i].name);
}

static const char *origin_of(const names_t *n, size_t i)
{
    return ompp_profile_text(n->profile, n->profile->objects[i].origin);
}

static bool is_module(const char *base, const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!base[i] || ompp_raw_letter(base[i]) != name[i]) return false;
    return base[length] == '\0' || length == OMPP_RAW_NAME - 1;
}

static ompp_structure_t *structure_of(names_t *n, const char *name, size_t length)
{
    for (size_t i = 0; i < n->profile->nmodules; i++) {
        const char *path = ompp_profile_text(n->profile, n->profile->modules[i].path), *base = ompp_path_last(path);
        if (!is_module(base, name, length)) continue;
        if (i > 0 && ompp_known_owner(base) != OMPP_OWNER_PROGRAM) return NULL;
        module_t *m = &n->modules[i];
        if (!m->tried && ompp_clock_seconds() < n->deadline) {
            m->tried = true;
            if (ompp_structure_open(path, ompp_profile_text(n->profile, n->profile->modules[i].id), &m->structure) != 0)
                m->structure = NULL;
        }
        return m->structure;
    }
    return NULL;
}

/* "module+1f40", or "+1f40" in the module of before. \return behind it; NULL = the end. */
static const char *read_place(names_t *n, const char *text, ompp_structure_t **structure, uint64_t *at)
{
    const char *plus;
    char *end;

    while (*text == ' ') text++;
    if (!*text || *text == ';') return NULL;
    plus = strpbrk(text, "+; ");
    *at = 0;
    if (!plus || *plus != '+') { /* "?" */
        *structure = NULL;
        return plus ? plus : text + strlen(text);
    }
    if (plus > text) *structure = structure_of(n, text, (size_t)(plus - text));
    *at = strtoull(plus + 1, &end, 16);
    return end;
}

/* ---- What holds a block's address -------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void say(char *text, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(text, TEXT, format, list);
    va_end(list);
}

static void qualify(char *text, const char *function, const char *name, const char *part)
{
    char of[120];

    ompp_name_of_user(function, of, sizeof of);
    say(text, "%s%s%s%s", of, *of ? "::" : "", name, part);
}

static void by_address(names_t *n, ompp_structure_t *structure, uint64_t at, answer_t *a)
{
    char part[TEXT / 2];
    const ompp_variable_t *v = ompp_variable_at(structure, at, n->deadline);
    if (!v) return;
    a->target = (target_t){structure, 0, v->fortran};
    if (v->type &&
        !ompp_local_pointer(structure, v->type, at - v->addr, v->fortran, part, sizeof part, &a->target.type))
        return;
    qualify(a->name, v->function, v->name, v->type ? part : "");
    a->rank = BY_VARIABLE;
}

static void by_variable(names_t *n, const char *text, answer_t *a)
{
    ompp_structure_t *structure = NULL;
    uint64_t at = 0;

    if (read_place(n, text, &structure, &at) && structure) by_address(n, structure, at, a);
}

/* Of two that are as good, both are told. */
static void join(answer_t *into, const answer_t *next)
{
    answer_t a = *into, b = *next;

    if (!*next->name) return;
    if (next->rank > into->rank) {
        *into = *next;
        return;
    }
    if (next->rank < into->rank || strstr(into->name, next->name)) return;
    if (strchr(into->name, '|')) return;
    say(into->name, "%.190s|%.190s", a.name, b.name);
    into->mixed = a.target.structure != b.target.structure || a.target.type != b.target.type;
}

static const answer_t *answer_of(names_t *n, size_t object, int steps);

/* "->x" of what a pointer points to, "[*].x" of one of several. */
static void member(char *text, const answer_t *owner, const char *part, bool several)
{
    const char *index = !several ? "" : owner->target.fortran ? "(*)" : "[*]";
    const int length = owner->mixed ? (int)strcspn(owner->name, "|") : 300;

    if (!several && *part == '.') say(text, "%.*s->%s", length, owner->name, part + 1);
    else say(text, "%.*s%s%s", length, owner->name, index, part);
}

static void by_block(names_t *n, const char *text, answer_t *a, int steps)
{
    char *end, part[TEXT / 2];
    const uint64_t key = strtoull(text, &end, 16), offset = strtoull(end, NULL, 16);
    const uint64_t found = ompp_table_get(&n->by_key, key);
    const answer_t *owner = found && steps < MOST_STEPS ? answer_of(n, found - 1, steps + 1) : NULL;

    if (!owner || !*owner->name || !owner->target.type) return;
    const target_t *t = &owner->target;
    const uint64_t size = ompp_local_size(t->structure, t->type, t->fortran);
    if (!size) return;
    a->target = (target_t){t->structure, 0, t->fortran};
    if (!ompp_local_pointer(t->structure, t->type, offset % size, t->fortran, part, sizeof part, &a->target.type))
        return;
    member(a->name, owner, part, offset >= size || !*part);
    a->rank = BY_BLOCK;
}

static bool is_this(const char *name) { return strcmp(name, "this") == 0; }

/* What implementations of languages and libraries call their own. */
static bool is_own(const char *name) { return strncmp(name, "__", 2) == 0; }

static void by_stack(names_t *n, const char *text, answer_t *a)
{
    ompp_structure_t *structure = NULL;
    ompp_local_t found[VARIABLES];
    char *end, part[TEXT / 2];
    uint64_t code = 0;
    bool listed = false;
    const char *rest = read_place(n, text, &structure, &code);

    if (!rest || !structure) return;
    const int64_t below = strtoll(rest, &end, 16), above = strtoll(end, NULL, 16);
    const ompp_local_place_t place = {
        .code = code - 1, .low = -below, .high = -below + 8, .frame = (uint64_t)(below + above), .now = true};
    const size_t nfound = ompp_local_find(structure, &place, found, VARIABLES);
    for (size_t i = 0; i < nfound; i++) { /* outer ones first */
        answer_t one = {.rank = is_this(found[i].name) ? BY_THIS : BY_STACK,
                        .target = {structure, 0, found[i].fortran}};
        if (is_own(found[i].name) || place.low < found[i].low ||
            !ompp_local_pointer(structure, found[i].type, (uint64_t)(place.low - found[i].low), found[i].fortran, part,
                                sizeof part, &one.target.type))
            continue;
        if (listed && found[i].listed) continue; /* both have this value: the outer one's name is told */
        listed = found[i].listed;
        qualify(one.name, found[i].function, found[i].name, part);
        join(a, &one);
    }
}

/*
 * A function that keeps a register of its callers on the stack: the variable that is in this register where a caller
 * goes on, the innermost one that has such a variable and has not kept the register itself.
 */
static void by_kept_register(names_t *n, const char *text, answer_t *a)
{
    ompp_structure_t *structure = NULL;
    ompp_local_t found;
    char *end;
    uint64_t code = 0, at = 0;
    const char *rest = read_place(n, text, &structure, &code);
    int reg;

    if (!rest || !structure) return;
    const int64_t below = strtoll(rest, &end, 16);
    if ((reg = ompp_local_kept(structure, code - 1, below)) < 0) return;
    strtoll(end, &end, 16);
    while (!*a->name && (rest = read_place(n, end, &structure, &at)) && structure) {
        const ompp_local_place_t place = {.code = at - 1, .now = true, .in_register = true, .reg = (unsigned)reg};
        end = (char *)rest;
        if (ompp_local_find(structure, &place, &found, 1) == 1 && !is_this(found.name) && !is_own(found.name)) {
            char part[TEXT / 2];
            a->target = (target_t){structure, 0, found.fortran};
            if (!ompp_local_pointer(structure, found.type, 0, found.fortran, part, sizeof part, &a->target.type))
                return;
            qualify(a->name, found.function, found.name, part);
            a->rank = BY_STACK;
        }
        if (ompp_local_keeps(structure, at - 1, (unsigned)reg)) return;
    }
}

static void by_call(names_t *n, ompp_structure_t *structure, uint64_t code, answer_t *a)
{
    ompp_local_t found;
    char part[TEXT / 2];
    const uint64_t stored = ompp_local_stored(structure, code);

    if (stored) by_address(n, structure, stored, a);
    if (stored && a->rank) a->rank = BY_RESULT;
    if (stored || !ompp_local_result(structure, code, &found) || is_own(found.name)) return;
    a->target = (target_t){structure, 0, found.fortran};
    if (!ompp_local_pointer(structure, found.type, (uint64_t)-found.low, found.fortran, part, sizeof part,
                            &a->target.type))
        return;
    qualify(a->name, found.function, found.name, part);
    a->rank = is_this(found.name) ? BY_THIS : BY_RESULT;
}

/* The variable that gets the result of the allocating call; of a function that allocates for others, of its call. */
static void by_result(names_t *n, const char *path, answer_t *a)
{
    ompp_structure_t *structure = NULL;
    uint64_t code = 0;
    answer_t inner = {.rank = NONE};

    while ((path = read_place(n, path, &structure, &code)) && structure) {
        *a = (answer_t){.rank = NONE};
        by_call(n, structure, code, a);
        if (!ompp_local_allocates(structure, code - 1)) break;
        if (a->rank) inner = *a;
    }
    if (a->rank || !inner.rank) return;
    *a = inner;
    a->rank = BY_HELPER;
}

/* ---- Blocks of the heap ------------------------------------------------------------------------------------------ */

static uint64_t size_of(const target_t *t)
{
    return t->structure && t->type ? ompp_local_size(t->structure, t->type, t->fortran) : 0;
}

/* A word of a frame that was left behind may lie in a variable now that points to other things. */
static bool points_to_others(const answer_t *a, const answer_t *result)
{
    const uint64_t size = size_of(&a->target), allocated = result->rank ? size_of(&result->target) : 0;

    return size && allocated > 1 && size != allocated; /* of one byte: an allocator's, for what its caller wants */
}

static const answer_t *answer_of(names_t *n, size_t i, int steps)
{
    object_t *o = &n->objects[i];
    const char *says = strchr(origin_of(n, i), ';'), *path = strchr(raw_of(n, i) + 3, ' ');
    answer_t result = {.rank = NONE};
    bool asked = false;

    if (o->state == DONE) return &o->answer;
    if (o->state == BUSY) return NULL;
    o->state = BUSY;
    for (; says; says = strchr(says + 1, ';')) {
        answer_t a = {.rank = NONE};
        if (says[1] == 'g' || says[1] == 'f') by_variable(n, says + 3, &a);
        if (says[1] == 'f' && a.rank) a.rank = BY_FORMER;
        if (says[1] == 'h') by_block(n, says + 3, &a, steps);
        if (says[1] == 's') by_stack(n, says + 3, &a);
        if (says[1] == 's' && a.rank < BY_STACK) {
            answer_t kept = {.rank = NONE};
            by_kept_register(n, says + 3, &kept);
            if (kept.rank) a = kept;
        }
        if (a.rank == BY_STACK && !asked && path) by_result(n, path, &result), asked = true;
        if (a.rank == BY_STACK && points_to_others(&a, &result)) a.rank = BY_HELPER;
        ompp_name_without_indices(a.name);
        join(&o->answer, &a);
    }
    if (path && !asked && o->answer.rank < BY_RESULT) by_result(n, path, &result);
    if (o->answer.rank < BY_RESULT) join(&o->answer, &result);
    o->state = DONE;
    return &o->answer;
}

static bool is_of_system(const char *file) { return strncmp(file, "/usr/", 5) == 0; }

/* "a.c:10 < main.c:31": where the program itself calls for the block. */
static void add_lines(names_t *n, const char *path, char *text)
{
    ompp_structure_t *structure = NULL;
    ompp_line_t lines[16];
    uint64_t code = 0;
    unsigned said = 0;
    size_t used = 0;

    text[0] = '\0';
    while (said < LINES && (path = read_place(n, path, &structure, &code))) {
        const size_t nlines = structure ? ompp_local_lines(structure, code - 1, lines, 16) : 0;
        for (size_t k = 0; k < nlines && said < LINES; k++) {
            char line[TEXT / 4];
            snprintf(line, sizeof line, "%s:%u", ompp_path_last(lines[k].file), lines[k].line);
            if (is_of_system(lines[k].file) || strstr(text, line)) continue;
            used += (size_t)snprintf(text + used, TEXT / 2 - used, "%s%s", said++ ? " < " : "", line);
        }
    }
}

static void name_heap(names_t *n, size_t i, char *text)
{
    const answer_t *a = answer_of(n, i, 0);
    const char *path = strchr(raw_of(n, i) + 3, ' ');
    char lines[TEXT / 2] = "";

    if (path) add_lines(n, path, lines);
    if (a && *a->name) say(text, "%.190s [heap%s%s]", a->name, *lines ? " " : "", lines);
    else say(text, "[heap %s]", *lines ? lines : path ? path + 1 : "");
}

/* ---- The others -------------------------------------------------------------------------------------------------- */

static void name_variable(names_t *n, size_t i, char *text)
{
    ompp_structure_t *structure = NULL;
    uint64_t at = 0;
    const char *rest = read_place(n, raw_of(n, i) + 3, &structure, &at);
    const bool of_thread = raw_of(n, i)[1] == 't';
    const ompp_variable_t *v = structure && !of_thread ? ompp_variable_at(structure, at, n->deadline) : NULL;
    const ompp_object_t *o = &n->profile->objects[i];

    if (v && *v->name == '/' && v->size < o->size)
        say(text, "%.*s", (int)(strchr(v->name + 1, '/') - v->name + 1), v->name);
    else if (v) qualify(text, v->function, v->name, "");
    text[strcspn(text, "@")] = '\0';
    if (v) return;
    char symbol[TEXT / 2];
    snprintf(symbol, sizeof symbol, "%s", rest && *rest ? rest + 1 : raw_of(n, i) + 3);
    symbol[strcspn(symbol, "@")] = '\0';
    char *name = ompp_name_of_symbol(symbol, true);
    if (of_thread && name && strchr(name, '.')) *strchr(name, '.') = '\0';
    say(text, "%s%s", name ? name : symbol, of_thread ? " [of threads]" : "");
    free(name);
}

static void name_frame(names_t *n, size_t i, char *text)
{
    ompp_structure_t *structure = NULL;
    ompp_local_t found[VARIABLES];
    uint64_t code = 0;
    char *end, names[TEXT / 2] = "";
    size_t used = 0;
    const char *rest = read_place(n, raw_of(n, i) + 3, &structure, &code);
    const int64_t below = rest ? strtoll(rest, &end, 16) : 0, size = rest ? strtoll(end, &end, 16) : 0;
    const uint64_t frame = rest ? strtoull(end, NULL, 16) : 0;
    const ompp_local_place_t place = {.code = code, .low = -below, .high = -below + size, .frame = frame};
    const size_t nfound = structure ? ompp_local_find(structure, &place, found, VARIABLES) : 0;
    const char *function = structure ? ompp_local_function(structure, code) : NULL;

    for (size_t k = 0; k < nfound && used < sizeof names; k++) {
        char one[TEXT / 2];
        qualify(one, found[k].function, found[k].name, "");
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", k ? "|" : "", one);
    }
    if (nfound) say(text, "%s [stack]", names);
    else if (function) say(text, "[stack of %s]", function);
    else say(text, "[stack of %s]", raw_of(n, i) + 3);
}

static void name_members(names_t *n, size_t i)
{
    const char *raw = raw_of(n, i), *origin = origin_of(n, i);
    const target_t *t = &n->objects[i].answer.target;
    ompp_whole_t whole = {.structure = t->structure, .type = t->type, .fortran = t->fortran, .deadline = n->deadline};

    if (!strstr(origin, ";m ")) return;
    if (raw[1] == 'g') read_place(n, raw + 3, &whole.structure, &whole.addr);
    if (raw[1] == 'g') whole.size = n->profile->objects[i].size;
    else if (whole.structure && whole.type) whole.size = ompp_local_size(whole.structure, whole.type, whole.fortran);
    n->objects[i].members = ompp_members_of(&whole, origin);
}

static void name_object(names_t *n, size_t i)
{
    const char *raw = raw_of(n, i);
    char text[TEXT] = "";

    if (raw[0] != OMPP_RAW_MARK) return;
    if (ompp_clock_seconds() >= n->deadline) n->late++;
    switch (raw[1]) {
    case 'g':
    case 't': name_variable(n, i, text); break;
    case 'h': name_heap(n, i, text); break;
    case 's': name_frame(n, i, text); break;
    case 'r': say(text, "[read-only data of %s]", raw + 3); break;
    case 'c': say(text, "[code of %s]", raw + 3); break;
    case 'd': say(text, "[data of %s without a symbol]", raw + 3); break;
    default: say(text, "[unknown: %s]", raw + 3); break;
    }
    n->objects[i].text = strdup(text);
    name_members(n, i);
}

/* ---- The new list ------------------------------------------------------------------------------------------------ */

static bool keys(names_t *n)
{
    bool ok = true;

    for (size_t i = 0; i < n->profile->nobjects && ok; i++)
        if (raw_of(n, i)[0] == OMPP_RAW_MARK && raw_of(n, i)[1] == 'h')
            ok = ompp_table_set(&n->by_key, strtoull(raw_of(n, i) + 3, NULL, 16), i + 1);
    return ok;
}

static void count_accesses(names_t *n)
{
    for (size_t k = 0; k < n->profile->nnodes; k++)
        for (uint32_t b = 0; b < n->profile->nodes[k].nblocks; b++) {
            const ompp_block_t *block = &n->profile->nodes[k].blocks[b];
            if (block->object && block->object <= n->profile->nobjects && block->nvalues >= 2)
                n->objects[block->object - 1].accesses += block->values[0] + block->values[1];
        }
}

/* Those of one name count as one. */
static bool join_accesses(names_t *n)
{
    uint64_t *sums = calloc(n->profile->nobjects + 1, sizeof *sums);
    ompp_table_t by_name = {0};
    bool ok = sums != NULL;

    for (int pass = 0; pass < 2 && ok; pass++)
        for (size_t i = 0; i < n->profile->nobjects && ok; i++) {
            if (!n->objects[i].text) continue;
            const ompp_str_t name = ompp_profile_string(n->profile, n->objects[i].text);
            const uint64_t first = ompp_table_get(&by_name, name);
            if (!first) ok = ompp_table_set(&by_name, name, i + 1);
            if (pass == 0) sums[first ? first - 1 : i] += n->objects[i].accesses;
            else n->objects[i].accesses = sums[first - 1];
        }
    ompp_table_fini(&by_name);
    free(sums);
    return ok;
}

static int by_accesses(const void *a, const void *b, void *argument)
{
    const names_t *n = argument;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const object_t *o = &n->objects[x], *p = &n->objects[y];

    if (!o->text != !p->text) return o->text ? 1 : -1;
    if (o->text && o->accesses != p->accesses) return o->accesses > p->accesses ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* The user names what is to be told apart: all else is other data, unless that is asked for. */
static bool wants_all(const names_t *n)
{
    const char *at = ompp_profile_setting(n->profile, "OMPP_DATA");

    for (size_t i = 0; i < n->profile->nobjects; i++)
        if (!ompp_object_is_all(n->profile, &n->profile->objects[i])) {
            for (const char *all = at; (all = strstr(all, "all")); all += 3)
                if ((all == at || strchr(", ", all[-1])) && strchr(", ", all[3])) return true;
            return false;
        }
    return true;
}

/* Numbers of the new list by those of the old; 0 = it is left out. */
static bool renumber(names_t *n, uint32_t *order, uint32_t *number)
{
    ompp_profile_t *p = n->profile;
    ompp_object_t *objects = calloc(p->nobjects + 1, sizeof *objects);
    ompp_table_t by_name = {0};
    const bool all = wants_all(n);
    size_t kept = 0;
    bool ok = objects != NULL;

    for (size_t k = 0; k < p->nobjects && ok; k++) {
        const uint32_t i = order[k];
        ompp_object_t o = p->objects[i];
        if (n->objects[i].text && (!all || !n->objects[i].accesses)) continue;
        if (n->objects[i].text) o.name = ompp_profile_string(p, n->objects[i].text);
        if (n->objects[i].text)
            o.origin = ompp_profile_string(p, n->objects[i].members ? n->objects[i].members : OMPP_OBJECT_ALL);
        const uint64_t same = ompp_table_get(&by_name, o.name);
        number[i + 1] = same ? (uint32_t)same : (uint32_t)kept + 1;
        if (same) objects[same - 1].nranges += o.nranges;
        if (same) objects[same - 1].size += o.size;
        if (same) continue;
        objects[kept++] = o;
        ok = ompp_table_set(&by_name, o.name, kept);
    }
    ompp_table_fini(&by_name);
    if (!ok) {
        free(objects);
        return false;
    }
    free(p->objects);
    p->objects = objects;
    p->nobjects = kept;
    p->aobjects = p->nobjects + 1;
    return true;
}

static int compare_blocks(const void *a, const void *b) { return ompp_block_compare(a, b); }

static void renumber_node(ompp_node_t *node, const uint32_t *number)
{
    uint32_t kept = 0;

    for (uint32_t b = 0; b < node->nblocks; b++) {
        ompp_block_t block = node->blocks[b];
        const bool gone = block.object && !number[block.object];
        block.object = number[block.object];
        if (gone) free(block.values);
        else node->blocks[kept++] = block;
    }
    node->nblocks = kept;
    if (kept > 1) qsort(node->blocks, kept, sizeof *node->blocks, compare_blocks);
    kept = 0;
    for (uint32_t b = 0; b < node->nblocks; b++) {
        ompp_block_t *block = &node->blocks[b], *last = kept ? &node->blocks[kept - 1] : NULL;
        if (!last || ompp_block_compare(last, block) != 0 || last->nvalues != block->nvalues) {
            node->blocks[kept++] = *block;
            continue;
        }
        for (uint32_t v = 0; v < block->nvalues; v++) last->values[v] += block->values[v];
        free(block->values);
    }
    node->nblocks = kept;
}

static bool apply(names_t *n)
{
    ompp_profile_t *p = n->profile;
    const size_t all = p->nobjects;
    uint32_t *order = calloc(all + 1, sizeof *order), *number = calloc(all + 1, sizeof *number);

    for (size_t i = 0; order && i < all; i++) order[i] = (uint32_t)i;
    if (order) qsort_r(order, all, sizeof *order, by_accesses, n);
    const bool ok = order && number && renumber(n, order, number);
    for (size_t k = 0; ok && k < p->nnodes; k++) renumber_node(&p->nodes[k], number);
    free(order);
    free(number);
    return ok;
}

int ompp_analysis_names(ompp_profile_t *profile, double deadline, const char *who)
{
    names_t n = {.profile = profile, .deadline = deadline};
    bool any = false, ok;

    for (size_t i = 0; i < profile->nobjects; i++) any |= raw_of(&n, i)[0] == OMPP_RAW_MARK;
    if (!any) return 0;
    n.modules = calloc(profile->nmodules + 1, sizeof *n.modules);
    n.objects = calloc(profile->nobjects + 1, sizeof *n.objects);
    const size_t nobjects = profile->nobjects;
    ok = n.modules && n.objects && keys(&n);
    if (ok) count_accesses(&n);
    for (size_t i = 0; ok && i < profile->nobjects; i++) name_object(&n, i);
    if (ok) ok = join_accesses(&n) && apply(&n);
    if (n.late)
        ompp_profile_add_coverage(profile, OMPP_COVERAGE_LATE, "structures whose names were not looked up", who,
                                  n.late);
    if (n.late && profile->ncoverage) profile->coverage[profile->ncoverage - 1].nranks = 0;
    for (size_t i = 0; n.modules && i < profile->nmodules; i++) ompp_structure_close(n.modules[i].structure);
    for (size_t i = 0; n.objects && i < nobjects; i++) free(n.objects[i].text), free(n.objects[i].members);
    ompp_table_fini(&n.by_key);
    free(n.modules);
    free(n.objects);
    return ok ? 0 : -OMPP_E_NOMEM;
}
