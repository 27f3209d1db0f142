/** \file The little that the wrapper knows of how Fortran is written: fixed and free form, lines, statements. */
#include "tools/kinst/kinst-ompp-fortran.h"

#include "base/ompp_vector.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- Form -------------------------------------------------------------------------------------------------------- */

static const char *suffix_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');

    return dot ? dot + 1 : "";
}

static bool is_one_of(const char *word, const char *const list[])
{
    for (; *list; list++)
        if (strcmp(word, *list) == 0) return true;
    return false;
}

kinst_form_t kinst_form_of(const kinst_command_t *c, const kinst_source_t *source)
{
    static const char *const fixed[] = {"f", "F", "for", "FOR", "ftn", "FTN", "fpp", "FPP", NULL};
    static const char *const cpp[] = {"F", "FOR", "FTN", "fpp", "FPP", "F90", "F95", "F03", "F08", NULL};
    const char *suffix = suffix_of(source->path);
    kinst_form_t form = {is_one_of(suffix, fixed), is_one_of(suffix, cpp), 72};

    for (size_t i = c->ncompiler; i < c->words.n; i++) {
        const char *word = c->words.v[i], *language = strcmp(word, "-x") == 0 ? c->words.v[i + 1] : NULL;
        if (strncmp(word, "-xf", 3) == 0) language = word + 2;
        if (language && *language == 'f') {
            form.fixed = strncmp(language, "f77", 3) == 0;
            form.cpp = strstr(language, "cpp") != NULL;
        }
        if (strcmp(word, "-ffree-form") == 0) form.fixed = false;
        if (strcmp(word, "-ffixed-form") == 0) form.fixed = true;
        if (strcmp(word, "-cpp") == 0) form.cpp = true;
        if (strcmp(word, "-nocpp") == 0) form.cpp = false;
        if (strncmp(word, "-ffixed-line-length-", 20) == 0) form.width = (unsigned)atoi(word + 20); /* "none" is 0 */
    }
    return form;
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

void kinst_lines_add(kinst_lines_t *lines, char *text, unsigned line)
{
    kinst_line_t *to = kinst_push(&lines->v, &lines->n, sizeof *to);

    *to = (kinst_line_t){.text = text, .line = line, .last = line};
}

kinst_lines_t kinst_lines_of(const char *text)
{
    kinst_lines_t lines = {0};

    for (unsigned number = 1; *text; number++) {
        size_t length = strcspn(text, "\n"), kept = length;
        if (kept > 0 && text[kept - 1] == '\r') kept--;
        kinst_lines_add(&lines, kinst_text("%.*s", (int)kept, text), number);
        text += length + (text[length] == '\n');
    }
    return lines;
}

/* Behind "$omp" at p, or NULL. In fixed form anything may stand in the next column: it marks a continuation. */
static const char *sentinel(kinst_form_t form, const char *p)
{
    if (*p != '$' || strncasecmp(p + 1, "omp", 3) != 0) return NULL;
    return !form.fixed && (isalnum((unsigned char)p[4]) || p[4] == '_') ? NULL : p + 4;
}

/* Conditional compilation: a line that is code with -fopenmp. p stands behind "!$". */
static bool is_conditional(kinst_form_t form, const char *p)
{
    if (!form.fixed) return *p == ' ' || *p == '\t' || *p == '&';
    for (int i = 0; i < 3 && *p && *p != '\t'; i++, p++)
        if (*p != ' ' && !isdigit((unsigned char)*p)) return false;
    return true;
}

kinst_line_kind_t kinst_line_kind(kinst_form_t form, const char *line, const char **rest)
{
    const char *p = kinst_skip_blanks(line);
    bool fixed_comment = form.fixed && *line && strchr("cC*dD!", *line);

    *rest = line;
    if (*line == '#') {
        *rest = line + 1;
        return KINST_LINE_CPP;
    }
    if (*p == '\0') return KINST_LINE_COMMENT;
    if (!fixed_comment && *p != '!') return KINST_LINE_CODE;
    if (form.fixed && p - line == 5) return KINST_LINE_CODE; /* column 6: a continuation line */
    if (fixed_comment) p = line;
    const char *behind = sentinel(form, p + 1);
    if (behind && (fixed_comment || !form.fixed)) {
        *rest = behind;
        return KINST_LINE_DIRECTIVE;
    }
    if (p[1] == '$' && is_conditional(form, p + 2)) {
        *rest = p + 2;
        return KINST_LINE_CODE;
    }
    return KINST_LINE_COMMENT;
}

bool kinst_directive_continues(kinst_form_t form, const char *rest, const char *before)
{
    if (!before) return false;
    if (form.fixed) return *rest && *rest != ' ' && *rest != '0' && *rest != '\t';
    char quote = 0, last = 0;
    for (; *before && (quote || *before != '!'); before++) {
        if (quote) quote = *before == quote ? 0 : quote;
        else if (*before == '\'' || *before == '"') quote = *before;
        if (!isspace((unsigned char)*before)) last = *before;
    }
    return last == '&';
}

bool kinst_words(const char **p, const char *words)
{
    const char *at = kinst_skip_blanks(*p);

    for (; *words; words++) {
        if (*words == ' ') {
            at = kinst_skip_blanks(at);
            continue;
        }
        if (tolower((unsigned char)*at) != *words) return false;
        at++;
    }
    if (isalnum((unsigned char)*at) || *at == '_') return false;
    *p = kinst_skip_blanks(at);
    return true;
}

/* ---- Statements -------------------------------------------------------------------------------------------------- */

static void put(kinst_reader_t *r, char c)
{
    if (!ompp_vector_reserve(&r->text, &r->room, r->size + 2, 1)) abort();
    r->text[r->size++] = c;
    r->text[r->size] = '\0';
}

void kinst_read_end(kinst_reader_t *r, kinst_statement_fn *fn, void *context)
{
    if (r->open && r->size > 0) {
        size_t digits = strspn(r->text, "0123456789");
        kinst_statement_t statement = {r->text + digits, digits ? atol(r->text) : r->label, r->first, r->last};
        if (*statement.text) fn(context, &statement);
    }
    r->open = r->more = false;
    r->size = 0;
    r->label = 0;
    r->quote = 0;
}

/* Fixed form: where the code of the line begins, and whether it goes on with the statement before. */
static const char *fixed_code(const char *line, bool *continues)
{
    const char *tab = memchr(line, '\t', strnlen(line, 6));

    *continues = false;
    if (tab) {
        *continues = tab[1] >= '1' && tab[1] <= '9';
        return *continues ? tab + 2 : tab + 1;
    }
    if (strlen(line) < 6) return line;
    *continues = line[5] != ' ' && line[5] != '0' && strspn(line, " ") >= 5;
    if (!*continues && strspn(line, " 0123456789") < 5) return line;
    return line + 6;
}

bool kinst_fixed_continues(const char *line)
{
    bool continues;

    fixed_code(line, &continues);
    return continues;
}

/* The code of one line: p to end. */
static void read_part(kinst_reader_t *r, const char *p, const char *end, size_t number, kinst_statement_fn *fn,
                      void *context)
{
    for (; p < end; p++) {
        if (r->quote) {
            if (*p == r->quote) r->quote = 0;
            else if (!r->form.fixed && *p == '&' && kinst_skip_blanks(p + 1) >= end) r->more = true;
            if (!r->quote) put(r, '"');
        } else if (*p == '\'' || *p == '"') {
            r->quote = *p;
        } else if (*p == '!') {
            return;
        } else if (!r->form.fixed && *p == '&') {
            r->more = true;
        } else if (*p == ';') {
            kinst_read_end(r, fn, context);
            r->open = true;
            r->first = r->last = number;
        } else if (!isspace((unsigned char)*p)) {
            r->more = false;
            put(r, (char)tolower((unsigned char)*p));
        }
    }
}

void kinst_read_code(kinst_reader_t *r, const char *line, size_t number, kinst_statement_fn *fn, void *context)
{
    char first = *line;
    const char *p = line, *end = line + strlen(line);
    bool continues = r->more;
    char *blank = NULL;

    if (r->form.fixed) {
        if (r->form.width && strlen(line) > r->form.width) end = line + r->form.width;
        if (strchr("cC*!", first) && line[1] == '$') { /* conditional compilation */
            blank = kinst_text("  %s", line + 2);
            end = blank + (end - line);
            p = blank;
        }
        p = fixed_code(p, &continues);
    } else {
        p = kinst_skip_blanks(p);
        if (p[0] == '!' && p[1] == '$') p = kinst_skip_blanks(p + 2);
        if (continues && *p == '&') p++;
    }
    if (!continues) {
        kinst_read_end(r, fn, context);
        r->first = number;
        r->label = r->form.fixed ? atol(line) : 0;
    }
    r->open = true;
    r->more = false;
    r->last = number;
    if (!r->form.fixed && !continues) r->quote = 0;
    if (p < end) read_part(r, p, end, number, fn, context);
    if (!r->form.fixed && !r->more) kinst_read_end(r, fn, context);
    free(blank);
}

/* Is there a comma outside brackets? It tells the bounds of a DO from an assignment to a name that begins with "do". */
static bool has_bounds(const char *p)
{
    int depth = 0;

    for (; *p && (*p != ',' || depth > 0); p++) {
        if (strchr("([", *p)) depth++;
        if (strchr(")]", *p)) depth--;
    }
    return *p;
}

bool kinst_fortran_is_do(const char *p, long *label)
{
    const char *colon = strchr(p, ':');
    char *rest;

    if (colon && strspn(p, "abcdefghijklmnopqrstuvwxyz0123456789_") == (size_t)(colon - p)) p = colon + 1;
    if (strncmp(p, "do", 2) != 0) return false;
    *label = strtol(p + 2, &rest, 10);
    if (*rest == ',') rest++;
    if (!*rest || strncmp(rest, "while(", 6) == 0 || strncmp(rest, "concurrent(", 11) == 0) return true;
    rest += strspn(rest, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return *rest == '=' && has_bounds(rest);
}
