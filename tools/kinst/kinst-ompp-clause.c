/** \file Clauses of OpenMP directives: reading them, and giving those of a combined construct to its parts. */
#include "tools/kinst/kinst-ompp-source.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

kinst_clauses_t kinst_clauses_read(const char *p)
{
    kinst_clauses_t c = {.n = 0};
    const char *end = p + strlen(p);

    while (*(p = kinst_skip_blanks(p))) {
        const char *name = p;
        if (*p == ',') {
            p++;
            continue;
        }
        while (isalnum((unsigned char)*p) || *p == '_') p++;
        if (p == name || c.n == sizeof c.v / sizeof c.v[0]) {
            c.bad = true;
            return c;
        }
        kinst_clause_t *clause = &c.v[c.n++];
        *clause = (kinst_clause_t){kinst_text("%.*s", (int)(p - name), name), NULL};
        const char *open = kinst_skip_blanks(p);
        if (*open != '(') continue;
        p = kinst_behind_token(open, end);
        clause->args = kinst_text("%.*s", (int)(p - open - 2), open + 1);
    }
    return c;
}

const kinst_clause_t *kinst_clause_named(const kinst_clauses_t *c, const char *name)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->v[i].name, name) == 0) return &c->v[i];
    return NULL;
}

void kinst_clause_put(kinst_buffer_t *b, const kinst_clause_t *clause)
{
    kinst_putf(b, clause->args ? " %s(%s)" : " %s", clause->name, clause->args);
}

/* "parallel: x" of an if clause. \return behind the colon when it is this modifier. */
static const char *behind_modifier(const char *args, const char *modifier)
{
    const char *p = args ? kinst_behind_words(kinst_skip_blanks(args), modifier) : NULL;

    return p && *p == ':' && p[1] != ':' ? kinst_skip_blanks(p + 1) : NULL;
}

static bool has_modifier(const char *args)
{
    static const char *const names[] = {"parallel", "simd", "task", "taskloop", "target", "cancel", "teams"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (behind_modifier(args, names[i])) return true;
    return false;
}

/* OPARI2 keeps a condition in an int, which 0.5 and 1L << 32 do not fit into, and C++ objects that are conditions not
 * at all. */
static void put_condition(kinst_buffer_t *b, const char *condition) { kinst_putf(b, " if((%s) ? 1 : 0)", condition); }

/* The variables of "inscan, + : a, b[0:n]", as shared(a) shared(b). */
static void put_shared(kinst_buffer_t *b, const kinst_clause_t *clause)
{
    const char *p = clause->args, *end = p + strlen(p), *colon = NULL;

    for (const char *q = p; q < end; q = kinst_behind_token(q, end))
        if (*q == ':' && q[1] != ':' && (q == p || q[-1] != ':')) colon = q;
    for (p = kinst_skip_blanks(colon ? colon + 1 : p); p < end; p = kinst_skip_blanks(*p ? p + 1 : p)) {
        const char *name = p;
        while (isalnum((unsigned char)*p) || *p == '_') p++;
        char *shared = kinst_text(" shared(%.*s)", (int)(p - name), name);
        if (p > name && !strstr(b->text, shared)) kinst_puts(b, shared);
        while (p < end && *p != ',') p = kinst_behind_token(p, end);
    }
}

bool kinst_one_of(const char *name, const char *const names[])
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0) return true;
    return false;
}

/* Shares the clauses of "parallel ..." out; variables that only the inner construct names are shared in the team. */
void kinst_clauses_share_out(const kinst_clauses_t *c, const char *inner_name, kinst_buffer_t *outer,
                             kinst_buffer_t *inner)
{
    static const char *const team[] = {"num_threads", "default", "shared", "copyin", "proc_bind", "allocate", NULL};
    static const char *const inner_data[] = {"firstprivate", "lastprivate", "linear", "reduction", NULL};
    bool strict = kinst_clause_named(c, "default") != NULL;
    bool own_reduction = strstr(inner_name, "taskloop") || strcmp(inner_name, "loop") == 0;
    bool nothing_private = strcmp(inner_name, "master") == 0 || strcmp(inner_name, "masked") == 0;

    for (size_t i = 0; i < c->n; i++) {
        const kinst_clause_t *clause = &c->v[i];
        bool reduction = strcmp(clause->name, "reduction") == 0;
        bool outer_reduction = reduction && !own_reduction && !strstr(clause->args ? clause->args : "", "inscan");
        if (strcmp(clause->name, "if") == 0) {
            const char *condition = behind_modifier(clause->args, "parallel");
            if (condition || (clause->args && !has_modifier(clause->args)))
                put_condition(outer, condition ? condition : clause->args);
            else kinst_clause_put(inner, clause);
        } else if (kinst_one_of(clause->name, team) || outer_reduction) {
            kinst_clause_put(outer, clause);
        } else if (nothing_private && strcmp(clause->name, "filter") != 0) {
            kinst_clause_put(outer, clause);
        } else {
            kinst_clause_put(inner, clause);
            if (strict && kinst_one_of(clause->name, inner_data)) put_shared(outer, clause);
        }
    }
}

/* OPARI2 takes the modifier of an if clause for a part of the condition. */
char *kinst_clauses_plain(const char *name, const kinst_clauses_t *clauses, const char *modifier)
{
    kinst_buffer_t b = {0};

    kinst_puts(&b, name);
    for (size_t i = 0; i < clauses->n; i++) {
        const kinst_clause_t *clause = &clauses->v[i];
        bool condition = strcmp(clause->name, "if") == 0 && clause->args;
        const char *bare = condition ? behind_modifier(clause->args, modifier) : NULL;
        if (condition && !bare && !has_modifier(clause->args)) bare = clause->args;
        if (bare) put_condition(&b, bare);
        else kinst_clause_put(&b, clause);
    }
    return b.text;
}
