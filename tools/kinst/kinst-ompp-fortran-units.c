/**
 * \file
 * Program units of a Fortran source: where the declarations of a unit may stand, and which of our names it uses.
 *
 * Declarations come behind the unit's first statement and its USE, IMPORT and IMPLICIT statements, at the
 * preprocessor's level of the unit's first statement: not inside an #if that begins in between.
 */
#include "tools/kinst/kinst-ompp-fortran.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 64 };

typedef struct {
    kinst_unit_t unit;
    unsigned level; /* of the preprocessor, the lowest since its first statement */
    bool pending;   /* the place is the next line at this level */
    bool is_interface;
} open_unit_t;

typedef struct {
    kinst_units_t *units;
    bool (*is_ours)(const char *name);
    open_unit_t open[MAX_DEPTH];
    unsigned nopen, level;
    unsigned at_if[MAX_DEPTH]; /* nopen where each #if began */
    const char *why;
} walk_t;

static bool starts(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

static bool is_name_begin(char c) { return isalpha((unsigned char)c); }

/* An assignment has a '=' outside parentheses; no statement that begins or ends a unit has. */
static bool is_assignment(const char *p)
{
    int depth = 0;

    for (; *p; p++) {
        if (*p == '(') depth++;
        if (*p == ')') depth--;
        if (*p == '=' && p[1] != '>' && depth == 0) return true;
    }
    return false;
}

/* Behind what may stand before SUBROUTINE and FUNCTION: attributes and a type with its parameters. */
static const char *behind_prefix(const char *p)
{
    static const char *const words[] = {"recursive", "nonrecursive",    "pure",          "impure",  "elemental",
                                        "module",    "integer",         "real",          "complex", "logical",
                                        "character", "doubleprecision", "doublecomplex", "type(",   "class("};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!starts(p, words[i])) continue;
        p += strlen(words[i]);
        if (p[-1] == '(') p--;
        if (*p == '*' && isdigit((unsigned char)p[1])) p += 1 + strspn(p + 1, "0123456789");
        if (*p == '*' && p[1] == '(') p++;
        if (*p == '(') {
            int depth = 0;
            do {
                if (*p == '(') depth++;
                if (*p == ')') depth--;
                p++;
            } while (*p && depth > 0);
        }
        i = (size_t)-1;
    }
    return p;
}

static bool is_header(const char *p, bool in_interface)
{
    const char *behind = behind_prefix(p);

    if (starts(behind, "subroutine")) return is_name_begin(behind[10]);
    if (starts(behind, "function")) return is_name_begin(behind[8]) && strchr(behind, '(');
    if (starts(p, "moduleprocedure"))
        return !in_interface && is_name_begin(p[15]) && !strchr(p, ':') && !strchr(p, ',');
    if (starts(p, "program")) return is_name_begin(p[7]) && !strchr(p, '(');
    if (starts(p, "module")) return is_name_begin(p[6]) && !strchr(p, '(') && !starts(p, "moduleprocedure");
    return starts(p, "submodule(") || starts(p, "blockdata");
}

static bool is_end(const char *p)
{
    static const char *const words[] = {"subroutine", "function",  "program",  "module",
                                        "submodule",  "procedure", "blockdata"};

    if (!starts(p, "end")) return false;
    p += 3;
    if (!*p) return true;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i]);
        if (!starts(p, words[i])) continue;
        p += length;
        return !*p || is_name_begin(*p);
    }
    return false;
}

static open_unit_t *top(walk_t *w) { return w->nopen ? &w->open[w->nopen - 1] : NULL; }

static void push(walk_t *w, size_t first, bool is_interface)
{
    if (w->nopen == MAX_DEPTH) {
        w->why = "program units are nested too deep";
        return;
    }
    w->open[w->nopen++] =
        (open_unit_t){.unit = {.place = first, .header = first}, .level = w->level, .is_interface = is_interface};
}

/* A unit that ends in each branch of an #if is one unit. */
static void keep(kinst_units_t *units, const kinst_unit_t *unit)
{
    for (size_t i = 0; i < units->n; i++)
        if (units->v[i].header == unit->header) {
            units->v[i] = *unit;
            return;
        }
    kinst_unit_t *to = kinst_push(&units->v, &units->n, sizeof *to);
    *to = *unit;
}

static void pop(walk_t *w)
{
    open_unit_t *unit = top(w);

    if (!unit) {
        w->why = "a program unit ends that did not begin";
        return;
    }
    w->nopen--;
    if (unit->unit.uses.n > 0) keep(w->units, &unit->unit);
}

/* Adds the names of ours in a statement or directive to those the unit uses. */
static void add_uses(walk_t *w, const char *text)
{
    open_unit_t *unit = top(w);
    char name[64];

    for (const char *p = text; *p;) {
        size_t length = strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
        if (length > 0 && length < sizeof name) {
            bool known = false;
            for (size_t i = 0; i < length; i++) name[i] = (char)tolower((unsigned char)p[i]);
            name[length] = '\0';
            if (unit && w->is_ours(name)) {
                for (size_t i = 0; i < unit->unit.uses.n && !known; i++)
                    known = strcmp(unit->unit.uses.v[i], name) == 0;
                if (!known) kinst_addf(&unit->unit.uses, "%s", name);
            }
        }
        p += length ? length : 1;
    }
}

static void read_statement(void *context, const kinst_statement_t *s)
{
    walk_t *w = context;
    const char *p = s->text;
    bool assignment = is_assignment(p),
         before = !assignment && (starts(p, "use") || starts(p, "import") || starts(p, "implicit"));
    open_unit_t *unit = top(w);

    if (w->why) return;
    if (!assignment && is_end(p)) {
        pop(w);
        return;
    }
    if (starts(p, "interface") || starts(p, "abstractinterface")) {
        if (!assignment && !strchr(p, '%')) push(w, s->first, true);
        return;
    }
    if (starts(p, "endinterface")) {
        if (unit && unit->is_interface) w->nopen--;
        return;
    }
    if (!assignment && is_header(p, unit && unit->is_interface)) {
        push(w, s->first, false);
        before = true;
    } else if (!unit) {
        push(w, s->first, false); /* a main program without PROGRAM */
    }
    if (w->why) return;
    if (before) top(w)->pending = true;
    add_uses(w, p);
}

/* p stands behind '#'. All branches of an #if are read; each goes on from where the #if began. */
static void read_cpp(walk_t *w, const char *p)
{
    p = kinst_skip_blanks(p);
    if (starts(p, "if")) {
        if (w->level == MAX_DEPTH) {
            w->why = "#if is nested too deep";
            return;
        }
        w->at_if[w->level++] = w->nopen;
    } else if (starts(p, "el") && w->level > 0) {
        w->nopen = w->at_if[w->level - 1];
    } else if (starts(p, "endif") && w->level > 0) {
        w->level--;
    }
    for (unsigned i = 0; i < w->nopen; i++)
        if (w->open[i].level > w->level) w->open[i].level = w->level;
}

static void note_place(walk_t *w, size_t line)
{
    open_unit_t *unit = top(w);

    if (!unit || !unit->pending || w->level > unit->level) return;
    unit->unit.place = line;
    unit->pending = false;
}

const char *kinst_fortran_units(kinst_units_t *units, const kinst_fortran_t *f, const kinst_lines_t *lines,
                                bool (*is_ours)(const char *))
{
    walk_t *w = calloc(1, sizeof *w);
    kinst_reader_t reader = {.form = f->form};
    const char *rest;

    if (!w) abort();
    w->units = units;
    w->is_ours = is_ours;
    for (size_t i = 0; i < lines->n && !w->why; i++) {
        const char *line = lines->v[i].text;
        kinst_line_kind_t kind = kinst_line_kind(f->form, line, &rest);
        if (kind == KINST_LINE_COMMENT) continue;
        if (kind != KINST_LINE_CODE && !reader.more) kinst_read_end(&reader, read_statement, w);
        if (kind == KINST_LINE_CPP) read_cpp(w, rest);
        if ((kind == KINST_LINE_CPP || kind == KINST_LINE_CODE) && kinst_fortran_includes_head(f, line)) {
            kinst_read_end(&reader, read_statement, w);
            if (top(w)) top(w)->pending = true;
            continue;
        }
        if (kind == KINST_LINE_DIRECTIVE) {
            add_uses(w, rest);
            note_place(w, i);
        }
        if (kind != KINST_LINE_CODE) continue;
        /* Free form: the statement before is complete. Fixed form: it is when this line begins another. */
        if (!reader.open && !reader.more) note_place(w, i);
        kinst_read_code(&reader, line, i, read_statement, w);
        if (reader.open && reader.first == i) note_place(w, i);
    }
    kinst_read_end(&reader, read_statement, w);
    while (w->nopen && !w->why) pop(w);
    const char *why = w->why;
    free(w);
    return why;
}
