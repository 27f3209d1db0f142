/*
 * Structures that the user has not named get names of the source: variables and their parts; blocks of the heap by the
 * pointer that was seen to hold their address; frames by the variable that lies there. What has the same name then is
 * one structure.
 */
#define _GNU_SOURCE
#include "analysis/ompp_analysis.h"
#include "analysis/ompp_members.h"
#include "analysis/ompp_names_priv.h"

#include "base/ompp_clock.h"
#include "base/ompp_error.h"
#include "base/ompp_path.h"
#include "model/ompp_raw.h"
#include "structure/ompp_local_call.h"
#include "structure/ompp_name.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH 12
#define LINES 2       /* of the call path, that stand beside a name */
#define VARIABLES 3   /* in one place of a frame, that are told */
#define MOST_STEPS 12 /* from pointer to pointer */

/* Parameters are other names of what a caller has, if that is known. WEAK: members of blocks whose own names begin with
 * a parameter. OWNER: members of what lies on a stack. CONTAINER: one of the C++ library, which has the block; others
 * were given its address. */
enum {
    NONE,
    BY_HELPER,
    BY_FORMER,
    BY_THIS,
    BY_PARAMETER,
    BY_STACK,
    BY_WEAK,
    BY_OWNER,
    BY_CONTAINER,
    BY_RESULT,
    BY_BLOCK,
    BY_VARIABLE
};

/* ---- Raw names --------------------------------------------------------------------------------------------------- */

static const char *raw_of(const ompp_names_t *n, size_t i)
{
    return ompp_profile_text(n->profile, n->profile->objects[i].name);
}

static const char *origin_of(const ompp_names_t *n, size_t i)
{
    return ompp_profile_text(n->profile, n->profile->objects[i].origin);
}

/* ---- What holds a block's address -------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void say(char *text, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(text, OMPP_NAMES_TEXT, format, list);
    va_end(list);
}

static void qualify(char *text, const char *function, const char *name, const char *part)
{
    char of[120];

    ompp_name_of_user(function, of, sizeof of);
    say(text, "%s%s%s%s", of, *of ? "::" : "", name, part);
}

static void by_address(ompp_names_t *n, ompp_structure_t *structure, uint64_t at, ompp_names_answer_t *a)
{
    char part[OMPP_NAMES_TEXT / 2];
    const ompp_variable_t *v = ompp_variable_at(structure, at, n->deadline);
    if (!v) return;
    a->target = (ompp_names_target_t){structure, 0, v->fortran};
    if (v->type && !ompp_local_pointer(structure, v->type, at - v->addr, v->fortran, part, sizeof part, &a->target.type,
                                       n->deadline))
        return;
    qualify(a->name, v->function, v->name, v->type ? part : "");
    a->rank = BY_VARIABLE;
}

static void by_variable(ompp_names_t *n, const char *text, ompp_names_answer_t *a)
{
    ompp_structure_t *structure = NULL;
    uint64_t at = 0;

    if (ompp_names_place(n, text, &structure, &at) && structure) by_address(n, structure, at, a);
}

static bool is_this(const char *name) { return strcmp(name, "this") == 0; }

static int rank_of(const ompp_local_t *found)
{
    return is_this(found->name) ? BY_THIS : found->parameter ? BY_PARAMETER : BY_STACK;
}

static bool is_on_stack(const ompp_names_answer_t *a)
{
    return a->rank == BY_STACK || a->rank == BY_PARAMETER || a->rank == BY_OWNER || a->rank == BY_CONTAINER;
}

/* From pointer to pointer. */
static unsigned steps_of(const char *name)
{
    unsigned n = 0;

    for (; (name = strstr(name, "->")); name += 2) n++;
    return n;
}

/* Of two that are as good, both are told, the shorter way first: what lies behind it has its name. */
static void join(ompp_names_answer_t *into, const ompp_names_answer_t *next)
{
    ompp_names_answer_t a = *into, b = *next;

    if (!*next->name) return;
    if (next->rank > into->rank) {
        *into = *next;
        return;
    }
    if (next->rank < into->rank || strstr(into->name, next->name)) return;
    if (strchr(into->name, '|')) return;
    const unsigned steps = steps_of(a.name), more = steps_of(b.name);
    if (more < steps) *into = b;
    say(into->name, "%.190s|%.190s", more < steps ? b.name : a.name, more < steps ? a.name : b.name);
    into->mixed = steps != more || a.target.structure != b.target.structure || a.target.type != b.target.type;
}

static const ompp_names_answer_t *answer_of(ompp_names_t *n, size_t object, int steps);

/* "->x" of what a pointer points to, "[*].x" of one of several. */
static void member(char *text, const ompp_names_answer_t *owner, const char *part, bool several)
{
    const char *index = !several ? "" : owner->target.fortran ? "(*)" : "[*]";
    const int length = owner->mixed ? (int)strcspn(owner->name, "|") : 300;

    if (!several && *part == '.') say(text, "%.*s->%s", length, owner->name, part + 1);
    else say(text, "%.*s%s%s", length, owner->name, index, part);
}

static void by_block(ompp_names_t *n, const char *text, ompp_names_answer_t *a, int steps)
{
    char *end, part[OMPP_NAMES_TEXT / 2];
    const uint64_t key = strtoull(text, &end, 16), offset = strtoull(end, NULL, 16);
    const uint64_t found = ompp_table_get(&n->by_key, key);
    const ompp_names_answer_t *owner = found && steps < MOST_STEPS ? answer_of(n, found - 1, steps + 1) : NULL;

    if (!owner || !*owner->name || !owner->target.type) return;
    const ompp_names_target_t *t = &owner->target;
    const uint64_t size = ompp_local_size(t->structure, t->type, t->fortran);
    if (!size) return;
    a->target = (ompp_names_target_t){t->structure, 0, t->fortran};
    if (!ompp_local_pointer(t->structure, t->type, offset % size, t->fortran, part, sizeof part, &a->target.type,
                            n->deadline))
        return;
    member(a->name, owner, part, offset >= size || !*part);
    a->rank = owner->rank < BY_STACK || owner->rank == BY_WEAK ? BY_WEAK : BY_BLOCK;
}

/* What implementations of languages and libraries call their own. */
static bool is_own(const char *name) { return strncmp(name, "__", 2) == 0; }

/*
 * A container that clang has in memory all the time, and says so of the time before its members were set alone. One
 * that has the place to itself in the procedure is it.
 */
static bool is_alone_there(ompp_structure_t *structure, ompp_local_place_t place, ompp_local_t found[VARIABLES],
                           double deadline)
{
    char part[OMPP_NAMES_TEXT / 2];
    uint64_t target;

    place.ever = true;
    if (ompp_local_find(structure, &place, found, VARIABLES) != 1 || place.low < found->low) return false;
    return ompp_local_points(structure, found, (uint64_t)(place.low - found->low), part, sizeof part, &target,
                             deadline) == OMPP_LOCAL_CONTAINER;
}

static void by_stack(ompp_names_t *n, const char *text, ompp_names_answer_t *a)
{
    ompp_structure_t *structure = NULL;
    ompp_local_t found[VARIABLES];
    char *end, part[OMPP_NAMES_TEXT / 2];
    uint64_t code = 0;
    bool listed = false;
    const char *rest = ompp_names_place(n, text, &structure, &code);

    if (!rest || !structure) return;
    const int64_t below = strtoll(rest, &end, 16), above = strtoll(end, NULL, 16);
    const ompp_local_place_t place = {
        .code = code - 1, .low = -below, .high = -below + 8, .frame = (uint64_t)(below + above), .now = true};
    size_t nfound = ompp_local_find(structure, &place, found, VARIABLES);
    if (!nfound) nfound = is_alone_there(structure, place, found, n->deadline);
    for (size_t i = 0; i < nfound; i++) { /* outer ones first */
        ompp_names_answer_t one = {.rank = (char)rank_of(&found[i]),
                                   .target = {structure, 0, found[i].fortran},
                                   .function = found[i].function};
        if (is_own(found[i].name) || place.low < found[i].low) continue;
        const ompp_local_kind_t kind = ompp_local_points(structure, &found[i], (uint64_t)(place.low - found[i].low),
                                                         part, sizeof part, &one.target.type, n->deadline);
        if (!kind) continue;
        if (one.rank == BY_STACK && *part) one.rank = BY_OWNER;
        if (one.rank >= BY_STACK && kind == OMPP_LOCAL_CONTAINER) one.rank = BY_CONTAINER;
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
static void by_kept_register(ompp_names_t *n, const char *text, ompp_names_answer_t *a)
{
    ompp_structure_t *structure = NULL;
    ompp_local_t found;
    char *end;
    uint64_t code = 0, at = 0;
    const char *rest = ompp_names_place(n, text, &structure, &code);
    int reg;

    if (!rest || !structure) return;
    const int64_t below = strtoll(rest, &end, 16);
    if ((reg = ompp_local_kept(structure, code - 1, below)) < 0) return;
    strtoll(end, &end, 16);
    while (!*a->name && (rest = ompp_names_place(n, end, &structure, &at)) && structure) {
        const ompp_local_place_t place = {.code = at - 1, .now = true, .in_register = true, .reg = (unsigned)reg};
        end = (char *)rest;
        if (ompp_local_find(structure, &place, &found, 1) == 1 && !is_this(found.name) && !is_own(found.name)) {
            char part[OMPP_NAMES_TEXT / 2];
            a->target = (ompp_names_target_t){structure, 0, found.fortran};
            if (!ompp_local_points(structure, &found, (uint64_t)-found.low, part, sizeof part, &a->target.type,
                                   n->deadline))
                return;
            qualify(a->name, found.function, found.name, part);
            a->rank = (char)rank_of(&found);
            a->function = found.function;
        }
        if (ompp_local_keeps(structure, at - 1, (unsigned)reg)) return;
    }
}

/* place: of the frame, where the call has stored its result; 0 = it returns it. */
static void by_call(ompp_names_t *n, ompp_structure_t *structure, uint64_t code, int64_t place, ompp_names_answer_t *a)
{
    ompp_local_t found;
    char part[OMPP_NAMES_TEXT / 2];
    const uint64_t stored = ompp_local_stored(structure, code, place, n->deadline);

    if (stored) by_address(n, structure, stored, a);
    if (stored && a->rank) a->rank = BY_RESULT;
    if (stored || !ompp_local_result(structure, code, place, n->deadline, &found) || is_own(found.name)) return;
    a->target = (ompp_names_target_t){structure, 0, found.fortran};
    if (!ompp_local_points(structure, &found, (uint64_t)-found.low, part, sizeof part, &a->target.type, n->deadline))
        return;
    qualify(a->name, found.function, found.name, part);
    a->rank = is_this(found.name) ? BY_THIS : found.given_on ? BY_HELPER : BY_RESULT;
    a->function = found.function;
}

/*
 * Whether a function allocates for others: it returns a pointer to it is not said what, or to what a variable of its
 * own points to that gets the block, the only one that does; or its code returns the block.
 */
static bool allocates(ompp_names_t *n, ompp_structure_t *structure, uint64_t code, int64_t place,
                      const ompp_names_answer_t *a)
{
    uint64_t target = 0;

    if (!ompp_local_returns_pointer(structure, code - 1, &target)) return false;
    if (!target || ompp_local_returned(structure, code, place, n->deadline)) return true;
    return a->function && a->rank == BY_RESULT && a->target.type == target &&
           ompp_local_pointers_to(structure, code - 1, target) == 1;
}

/* The variable that gets the result of the allocating call; of a function that allocates for others, of its call.
 * says: may tell where the call has stored it: in a frame on the path, or at an address. */
static void by_result(ompp_names_t *n, const char *path, const char *says, ompp_names_answer_t *a)
{
    ompp_structure_t *structure = NULL, *of_word = NULL;
    uint64_t code = 0, at = 0;
    ompp_names_answer_t inner = {.rank = NONE};
    const char *word = says ? strstr(says, ";r ") : NULL;
    int64_t below = word && (word = ompp_names_place(n, word + 3, &of_word, &at)) ? strtoll(word, NULL, 16) : 0;

    while ((path = ompp_names_place(n, path, &structure, &code)) && structure) {
        if (below && (structure != of_word || code != at)) continue;
        *a = (ompp_names_answer_t){.rank = NONE};
        if (of_word && !below) by_address(n, of_word, at, a);
        else by_call(n, structure, code, -below, a);
        if (a->rank == BY_VARIABLE) a->rank = BY_RESULT;
        if (!allocates(n, structure, code, -below, a)) break;
        if (a->rank) inner = *a;
        of_word = NULL;
        below = 0;
    }
    if (a->rank || !inner.rank) return;
    *a = inner;
    a->rank = BY_HELPER;
}

/* ---- Blocks of the heap ------------------------------------------------------------------------------------------ */

static uint64_t size_of(const ompp_names_target_t *t)
{
    return t->structure && t->type ? ompp_local_size(t->structure, t->type, t->fortran) : 0;
}

/* A word of a frame that was left behind may lie in a variable now that points to other things. */
static bool points_to_others(const ompp_names_answer_t *a, const ompp_names_answer_t *result)
{
    const uint64_t size = size_of(&a->target), allocated = result->rank ? size_of(&result->target) : 0;

    return size && allocated > 1 && size != allocated; /* of one byte: an allocator's, for what its caller wants */
}

/*
 * A variable of a function that was over when others held the block: it got the block from the allocator and gave it
 * on. A variable that holds the address and points to the same type names it better.
 */
static bool is_given_on(const ompp_names_answer_t *held, const ompp_names_answer_t *result)
{
    if (!result->function || result->rank != BY_RESULT) return false;
    if (held->rank == BY_WEAK) return true;
    return is_on_stack(held) && held->function && size_of(&held->target) == size_of(&result->target) &&
           strcmp(held->function, result->function) != 0;
}

/* Bytes of "function::", "" for a global variable. */
static size_t function_in(const char *name, size_t length)
{
    size_t last = 0;

    for (size_t i = 0; i + 1 < length; i++)
        if (name[i] == ':' && name[i + 1] == ':') last = i + 2;
    return last;
}

/* The variable is one of those that are told, and the others are other functions': one of its own function may still
 * point to a block of before. */
static bool is_said(const ompp_names_answer_t *held, const ompp_names_answer_t *result)
{
    const size_t length = strlen(result->name), in = function_in(result->name, length);
    bool is = false;

    for (const char *one = held->name; length && one; one = strchr(one, '|')) {
        one += *one == '|';
        const size_t n = strcspn(one, "|");
        const bool same = n == length && strncmp(one, result->name, n) == 0;
        if (!same && function_in(one, n) == in && strncmp(one, result->name, in) == 0) return false;
        is |= same;
    }
    return is;
}

static const ompp_names_answer_t *answer_of(ompp_names_t *n, size_t i, int steps)
{
    ompp_names_object_t *o = &n->objects[i];
    const char *says = strchr(origin_of(n, i), ';'), *path = strchr(raw_of(n, i) + 3, ' ');
    ompp_names_answer_t result = {.rank = NONE};
    bool asked = false;

    if (o->state == OMPP_NAMES_DONE) return &o->answer;
    if (o->state == OMPP_NAMES_BUSY) return NULL;
    o->state = OMPP_NAMES_BUSY;
    for (; says; says = strchr(says + 1, ';')) {
        ompp_names_answer_t a = {.rank = NONE};
        if (says[1] == 'g' || says[1] == 'f') by_variable(n, says + 3, &a);
        if (says[1] == 'f' && a.rank) a.rank = BY_FORMER;
        if (says[1] == 'h') by_block(n, says + 3, &a, steps);
        if (says[1] == 's') by_stack(n, says + 3, &a);
        if (says[1] == 's' && a.rank < BY_PARAMETER) {
            ompp_names_answer_t kept = {.rank = NONE};
            by_kept_register(n, says + 3, &kept);
            if (kept.rank) a = kept;
        }
        if (is_on_stack(&a) && !asked && path) by_result(n, path, origin_of(n, i), &result), asked = true;
        if (is_on_stack(&a) && points_to_others(&a, &result)) a.rank = BY_HELPER;
        ompp_name_without_indices(a.name);
        join(&o->answer, &a);
    }
    if (path && !asked && o->answer.rank < BY_RESULT) by_result(n, path, origin_of(n, i), &result);
    if (o->answer.rank < BY_RESULT && !is_given_on(&o->answer, &result) && !is_said(&o->answer, &result))
        join(&o->answer, &result);
    ompp_names_target_t *t = &o->answer.target;
    if (t->structure && t->type) t->type = ompp_local_defined(t->structure, t->type, n->deadline);
    o->state = OMPP_NAMES_DONE;
    return &o->answer;
}

static bool is_of_system(const char *file) { return strncmp(file, "/usr/", 5) == 0; }

/* "a.c:10 < main.c:31": where the program itself calls for the block. */
static void add_lines(ompp_names_t *n, const char *path, char *text)
{
    ompp_structure_t *structure = NULL;
    ompp_line_t lines[16];
    uint64_t code = 0;
    unsigned said = 0;
    size_t used = 0;

    text[0] = '\0';
    while (said < LINES && (path = ompp_names_place(n, path, &structure, &code))) {
        const size_t nlines = structure ? ompp_local_lines(structure, code - 1, lines, 16) : 0;
        for (size_t k = 0; k < nlines && said < LINES; k++) {
            char line[OMPP_NAMES_TEXT / 4];
            snprintf(line, sizeof line, "%s:%u", ompp_path_last(lines[k].file), lines[k].line);
            if (is_of_system(lines[k].file) || strstr(text, line)) continue;
            used += (size_t)snprintf(text + used, OMPP_NAMES_TEXT / 2 - used, "%s%s", said++ ? " < " : "", line);
        }
    }
}

static void name_heap(ompp_names_t *n, size_t i, char *text)
{
    const ompp_names_answer_t *a = answer_of(n, i, 0);
    const char *path = strchr(raw_of(n, i) + 3, ' ');
    char lines[OMPP_NAMES_TEXT / 2] = "";

    if (path) add_lines(n, path, lines);
    if (a && *a->name) say(text, "%.190s [heap%s%s]", a->name, *lines ? " " : "", lines);
    else say(text, "[heap %s]", *lines ? lines : path ? path + 1 : "");
}

/* ---- The others -------------------------------------------------------------------------------------------------- */

static void name_variable(ompp_names_t *n, size_t i, char *text)
{
    ompp_structure_t *structure = NULL;
    uint64_t at = 0;
    const char *rest = ompp_names_place(n, raw_of(n, i) + 3, &structure, &at);
    const bool of_thread = raw_of(n, i)[1] == 't';
    const ompp_variable_t *v = structure && !of_thread ? ompp_variable_at(structure, at, n->deadline) : NULL;
    const ompp_object_t *o = &n->profile->objects[i];

    if (v && *v->name == '/' && v->size < o->size)
        say(text, "%.*s", (int)(strchr(v->name + 1, '/') - v->name + 1), v->name);
    else if (v) qualify(text, v->function, v->name, "");
    text[strcspn(text, "@")] = '\0';
    if (v) return;
    char symbol[OMPP_NAMES_TEXT / 2];
    snprintf(symbol, sizeof symbol, "%s", rest && *rest ? rest + 1 : raw_of(n, i) + 3);
    symbol[strcspn(symbol, "@")] = '\0';
    char *name = ompp_name_of_symbol(symbol, true);
    if (of_thread && name && strchr(name, '.')) *strchr(name, '.') = '\0';
    say(text, "%s%s", name ? name : symbol, of_thread ? " [of threads]" : "");
    free(name);
}

static void name_frame(ompp_names_t *n, size_t i, char *text)
{
    ompp_structure_t *structure = NULL;
    ompp_local_t found[VARIABLES];
    uint64_t code = 0;
    char *end, names[OMPP_NAMES_TEXT / 2] = "";
    size_t used = 0;
    const char *rest = ompp_names_place(n, raw_of(n, i) + 3, &structure, &code);
    const int64_t below = rest ? strtoll(rest, &end, 16) : 0, size = rest ? strtoll(end, &end, 16) : 0;
    const uint64_t frame = rest ? strtoull(end, NULL, 16) : 0;
    const ompp_local_place_t place = {.code = code, .low = -below, .high = -below + size, .frame = frame};
    const size_t nfound = structure ? ompp_local_find(structure, &place, found, VARIABLES) : 0;
    const char *function = structure ? ompp_local_function(structure, code) : NULL;

    for (size_t k = 0; k < nfound && used < sizeof names; k++) {
        char one[OMPP_NAMES_TEXT / 2];
        qualify(one, found[k].function, found[k].name, "");
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", k ? "|" : "", one);
    }
    if (nfound) say(text, "%s [stack]", names);
    else if (function) {
        char of[120];
        ompp_name_of_user(function, of, sizeof of);
        say(text, "[stack of %s]", *of ? of : function);
    } else say(text, "[stack of %s]", raw_of(n, i) + 3);
}

static void name_members(ompp_names_t *n, size_t i)
{
    const char *raw = raw_of(n, i), *origin = origin_of(n, i);
    const ompp_names_target_t *t = &n->objects[i].answer.target;
    ompp_whole_t whole = {.structure = t->structure, .type = t->type, .fortran = t->fortran, .deadline = n->deadline};

    if (!strstr(origin, ";m ")) return;
    if (raw[1] == 'g') ompp_names_place(n, raw + 3, &whole.structure, &whole.addr);
    if (raw[1] == 'g') whole.size = n->profile->objects[i].size;
    else if (whole.structure && whole.type) whole.size = ompp_local_size(whole.structure, whole.type, whole.fortran);
    n->objects[i].members = ompp_members_of(&whole, origin);
}

static void name_object(ompp_names_t *n, size_t i)
{
    const char *raw = raw_of(n, i);
    char text[OMPP_NAMES_TEXT] = "";

    if (raw[0] != OMPP_RAW_MARK) return;
    if (ompp_clock_seconds() >= n->deadline) n->late++;
    switch (raw[1]) {
    case 'g':
    case 't': name_variable(n, i, text); break;
    case 'h': name_heap(n, i, text); break;
    case 's': name_frame(n, i, text); break;
    case 'r': say(text, "[read-only data of %s]", ompp_names_module(n, raw + 3)); break;
    case 'c': say(text, "[code of %s]", ompp_names_module(n, raw + 3)); break;
    case 'd': say(text, "[data of %s without a symbol]", ompp_names_module(n, raw + 3)); break;
    default: say(text, "[unknown: %s]", raw + 3); break;
    }
    n->objects[i].text = strdup(text);
    name_members(n, i);
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

static bool keys(ompp_names_t *n)
{
    bool ok = true;

    for (size_t i = 0; i < n->profile->nobjects && ok; i++)
        if (raw_of(n, i)[0] == OMPP_RAW_MARK && raw_of(n, i)[1] == 'h')
            ok = ompp_table_set(&n->by_key, strtoull(raw_of(n, i) + 3, NULL, 16), i + 1);
    return ok;
}

int ompp_analysis_names(ompp_profile_t *profile, double deadline, const char *who)
{
    ompp_names_t n = {.profile = profile, .deadline = deadline};
    bool any = false, ok;

    for (size_t i = 0; i < profile->nobjects; i++) any |= raw_of(&n, i)[0] == OMPP_RAW_MARK;
    if (!any) return 0;
    n.modules = calloc(profile->nmodules + 1, sizeof *n.modules);
    n.objects = calloc(profile->nobjects + 1, sizeof *n.objects);
    const size_t nobjects = profile->nobjects;
    ok = n.modules && n.objects && keys(&n);
    if (ok) ompp_names_count_accesses(&n);
    for (size_t i = 0; ok && i < profile->nobjects; i++) name_object(&n, i);
    if (ok) ok = ompp_names_join_accesses(&n) && ompp_names_apply(&n);
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
