/** \file As much of the grammar of C and C++ as it takes to find the end of a statement. */
#include "tools/kinst/kinst-ompp-source.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char *kinst_omp_at(const char *p)
{
    if (*p != '#') return NULL;
    p = kinst_skip_blanks(p + 1);
    return kinst_take(&p, "pragma") && kinst_take(&p, "omp") ? p : NULL;
}

const char *kinst_skip_space(const char *p, const char *end)
{
    while (p < end) {
        if (isspace((unsigned char)*p)) p++;
        else if (p[0] == '/' && p[1] == '*') p = kinst_behind_comment(p, end);
        else if ((p[0] == '/' && p[1] == '/') || (*p == '#' && !kinst_omp_at(p))) p = kinst_end_of_line(p, end);
        else break;
    }
    return p;
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c > 127; }

/* A number with all that may belong to it: 1'000, 1e-3, 0x1p+2. */
static const char *behind_number(const char *p, const char *end)
{
    for (; p < end; p++) {
        bool sign = (*p == '+' || *p == '-') && strchr("eEpP", p[-1]);
        if (!is_word(*p) && *p != '.' && !sign && !(*p == '\'' && is_word(p[1]))) break;
    }
    return p;
}

static const char *behind_brackets(const char *p, const char *end)
{
    char close = *p == '(' ? ')' : *p == '[' ? ']' : '}';

    for (p = kinst_skip_space(p + 1, end); p < end && *p != close; p = kinst_skip_space(p, end))
        p = kinst_omp_at(p) ? kinst_end_of_directive(p, end) : kinst_behind_token(p, end);
    return p < end ? p + 1 : end;
}

const char *kinst_behind_token(const char *p, const char *end)
{
    const char *word = p;

    if (p >= end) return end;
    if (strchr("([{", *p) && *p) return behind_brackets(p, end);
    if (*p == '"' || *p == '\'') return kinst_behind_quotes(p, end);
    if (isdigit((unsigned char)*p)) return behind_number(p + 1, end);
    if (!is_word(*p)) return p + 1;
    while (p < end && is_word(*p)) p++;
    if (*p == '"' && p[-1] == 'R' && p - word <= 3) return kinst_behind_raw(p, end);
    if ((*p == '"' || *p == '\'') && p - word <= 2) return kinst_behind_quotes(p, end);
    return p;
}

static bool take(const char **p, const char *end, const char *word)
{
    const char *q = *p;

    if (!kinst_take(&q, word)) return false;
    *p = kinst_skip_space(*p + strlen(word), end);
    return true;
}

static const char *behind_parentheses(const char *p, const char *end)
{
    p = kinst_skip_space(p, end);
    return p < end && *p == '(' ? kinst_behind_token(p, end) : NULL;
}

static const char *behind_expression(const char *p, const char *end)
{
    while (p < end && *p != ';') {
        if (*p == '}' || kinst_omp_at(p)) return NULL;
        p = kinst_skip_space(kinst_behind_token(p, end), end);
    }
    return p < end ? p + 1 : NULL;
}

/* if, for, while, switch: p stands behind the word. */
static const char *behind_head_and_statement(const char *p, const char *end)
{
    p = behind_parentheses(p, end);
    return p ? kinst_behind_statement(p, end) : NULL;
}

static const char *behind_if(const char *p, const char *end)
{
    const char *rest;

    if (*p == '!') p = kinst_skip_space(p + 1, end);
    if (take(&p, end, "consteval")) p = kinst_behind_statement(p, end);
    else take(&p, end, "constexpr"), p = behind_head_and_statement(p, end);
    rest = p ? kinst_skip_space(p, end) : NULL;
    return rest && take(&rest, end, "else") ? kinst_behind_statement(rest, end) : p;
}

static const char *behind_do(const char *p, const char *end)
{
    p = kinst_behind_statement(p, end);
    if (!p) return NULL;
    p = kinst_skip_space(p, end);
    if (!take(&p, end, "while")) return NULL;
    p = behind_parentheses(p, end);
    return p ? behind_expression(kinst_skip_space(p, end), end) : NULL;
}

static const char *behind_try(const char *p, const char *end)
{
    const char *rest;

    if (*p != '{') return NULL;
    for (p = kinst_behind_token(p, end);; p = kinst_behind_statement(p, end)) {
        rest = p ? kinst_skip_space(p, end) : NULL;
        if (!rest || !take(&rest, end, "catch")) return p;
        p = behind_parentheses(rest, end);
        if (!p) return NULL;
    }
}

/* "case 1:", "default:" and "label:" in front of a statement; p where there is none. */
static const char *behind_label(const char *p, const char *end)
{
    const char *q = p;
    bool choice = take(&q, end, "case");

    if (choice) {
        unsigned questions = 0;
        for (; q < end && !(*q == ':' && q[1] != ':' && questions == 0);
             q = kinst_skip_space(kinst_behind_token(q, end), end)) {
            if (*q == '?') questions++;
            if (*q == ':' && q[1] == ':') q++;
            else if (*q == ':') questions--;
            if (*q == ';' || *q == '}') return p;
        }
        return q < end ? q + 1 : p;
    }
    if (!isalpha((unsigned char)*q) && *q != '_') return p;
    q = kinst_skip_space(kinst_behind_token(q, end), end);
    return *q == ':' && q[1] != ':' ? q + 1 : p;
}

const char *kinst_behind_statement(const char *p, const char *end)
{
    const char *omp;

    for (;;) {
        const char *from = p = kinst_skip_space(p, end);
        if (p[0] == '[' && p[1] == '[') p = kinst_behind_token(p, end);
        if (p == from) p = behind_label(p, end);
        if (p == from) break;
    }
    if (p >= end) return NULL;
    if ((omp = kinst_omp_at(p))) {
        p = kinst_end_of_directive(p, end);
        return kinst_directive_wants_block(omp) ? kinst_behind_statement(p, end) : p;
    }
    if (*p == '{') {
        p = kinst_behind_token(p, end);
        return p[-1] == '}' ? p : NULL;
    }
    if (take(&p, end, "if")) return behind_if(p, end);
    if (take(&p, end, "do")) return behind_do(p, end);
    if (take(&p, end, "try")) return behind_try(p, end);
    if (take(&p, end, "for") || take(&p, end, "while") || take(&p, end, "switch"))
        return behind_head_and_statement(p, end);
    return behind_expression(p, end);
}
