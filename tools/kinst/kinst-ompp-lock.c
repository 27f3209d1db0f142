/**
 * \file Calls of OpenMP's lock functions in preprocessed text, and functions of the user's that only have their names.
 */
#include "tools/kinst/kinst-ompp-source.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[][2] = {{"omp_init_lock", "POMP2_Init_lock"},
                                       {"omp_destroy_lock", "POMP2_Destroy_lock"},
                                       {"omp_set_lock", "POMP2_Set_lock"},
                                       {"omp_unset_lock", "POMP2_Unset_lock"},
                                       {"omp_test_lock", "POMP2_Test_lock"},
                                       {"omp_init_nest_lock", "POMP2_Init_nest_lock"},
                                       {"omp_destroy_nest_lock", "POMP2_Destroy_nest_lock"},
                                       {"omp_set_nest_lock", "POMP2_Set_nest_lock"},
                                       {"omp_unset_nest_lock", "POMP2_Unset_nest_lock"},
                                       {"omp_test_nest_lock", "POMP2_Test_nest_lock"}};

/* The measured function for the word from p to end; NULL = it is no lock function. */
static const char *measured(const char *p, const char *end)
{
    if (strncmp(p, "omp_", 4) != 0) return NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i][0]) == (size_t)(end - p) && memcmp(names[i][0], p, end - p) == 0) return names[i][1];
    return NULL;
}

/* Words that stand in front of an expression: any other in front of a name declares it. */
static bool before_expression(const char *word)
{
    static const char *const words[] = {"return",    "else",     "do",       "case",  "throw",        "sizeof",
                                        "co_return", "co_yield", "co_await", "and",   "or",           "not",
                                        "xor",       "bitand",   "bitor",    "compl", "__extension__"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const char *p = word;
        if (kinst_take(&p, words[i])) return true;
    }
    return false;
}

const char *kinst_lock_function(const kinst_scan_t *s, const char *word, const char *end)
{
    const char *name = measured(word, end), *before = word;

    if (!name || *kinst_skip_space(end, s->end) != '(') return NULL;
    if (s->word && !before_expression(s->word)) return NULL; /* a declaration, as those of omp.h */
    while (before > s->text && isspace((unsigned char)before[-1])) before--;
    if (before > s->text && before[-1] == '.') return NULL;
    return before > s->text + 1 && before[-2] == '-' && before[-1] == '>' ? NULL : name;
}

/* What of a statement stands in front of a word. */
typedef struct {
    const char *first, *last, *previous; /* tokens; NULL = none */
    unsigned words;
    bool plain; /* nothing but words and what declarators have in front of a name */
} front_t;

/* Does what stands in front of the name that ends at `behind` declare it? */
static bool declares(const front_t *f, const char *behind, const char *end)
{
    const char *p = f->first;

    if (!f->last) return false;
    if (isalpha((unsigned char)*f->last) || *f->last == '_') return !before_expression(f->last);
    /* (*name)(...) */
    if (*f->last == '*' && f->previous && *f->previous == '(') return *kinst_skip_space(behind, end) == ')';
    if (*f->last == ':') return kinst_take(&p, "using");
    return strchr("*&>", *f->last) && f->plain && f->words > 0 && !before_expression(f->first);
}

static void step(front_t *f, const char *p, const char *next)
{
    bool word = isalpha((unsigned char)*p) || *p == '_',
         label = *p == ':' && next - p == 1 && f->plain && f->words == 1;

    if (strchr(";{}", *p) || label) {
        *f = (front_t){.plain = true};
        return;
    }
    if (!f->first) f->first = p;
    f->words += word;
    f->plain = f->plain && (word || strchr("*&<>,\"", *p) || next - p == 2);
    f->previous = f->last;
    f->last = p;
}

/* Does the text go on in omp.h behind the linemarker at p? before: the answer where it is none. */
static bool in_omp_h(const char *p, const char *eol, bool before)
{
    const char *open = memchr(p, '"', eol - p);

    if (!open || !isdigit((unsigned char)*kinst_skip_blanks(p + 1))) return before;
    const char *close = kinst_behind_quotes(open, eol) - 1;
    return close - open > 6 && (strncmp(close - 6, "/omp.h", 6) == 0);
}

bool kinst_lock_names_taken(const char *text, size_t size)
{
    const char *end = text + size, *p = text, *next;
    front_t front = {.plain = true};
    bool line_start = true, omp_h = false;

    for (; p < end; p = next) {
        next = p + 1;
        if (isspace((unsigned char)*p)) {
            line_start = line_start || *p == '\n';
            continue;
        }
        if (*p == '#' && line_start) {
            next = kinst_end_of_line(p, end);
            omp_h = in_omp_h(p, next, omp_h);
            if (kinst_omp_at(p)) front = (front_t){.plain = true};
            continue;
        }
        line_start = false;
        if (p[0] == ':' && p[1] == ':') next = p + 2;
        else if (!strchr("([{", *p)) next = kinst_behind_token(p, end);
        if (!omp_h && measured(p, next) && declares(&front, next, end)) return true;
        step(&front, p, next);
    }
    return false;
}
