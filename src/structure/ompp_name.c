#define _GNU_SOURCE
#include "structure/ompp_name.h"

#include "base/ompp_dl.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef char *demangle_t(const char *mangled, char *buffer, size_t *length, int *status); /* of the Itanium C++ ABI */

static demangle_t *demangler(bool load)
{
    static demangle_t *found;
    static bool tried;
    void *symbol = found ? NULL : ompp_dl_symbol(RTLD_DEFAULT, "__cxa_demangle");

    if (!found && !symbol && load && !tried) {
        void *library = ompp_dl_open("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
        symbol = library ? ompp_dl_symbol(library, "__cxa_demangle") : NULL;
        tried = true;
    }
    if (symbol) memcpy(&found, &symbol, sizeof found);
    return found;
}

/* ---- C++ --------------------------------------------------------------------------------------------------------- */

static bool ends_with(const char *text, size_t length, const char *end)
{
    size_t n = strlen(end);

    return length > n && memcmp(text + length - n, end, n) == 0;
}

/* Length without "const" and the like behind the parameters, and without " [clone .x]". */
static size_t without_qualifiers(const char *name)
{
    static const char *const qualifiers[] = {" const", " volatile", " &&", " &", " noexcept"};
    const char *clone = strstr(name, " [clone");
    size_t length = clone ? (size_t)(clone - name) : strlen(name), before;

    do {
        before = length;
        for (size_t i = 0; i < sizeof qualifiers / sizeof qualifiers[0]; i++)
            if (ends_with(name, length, qualifiers[i])) length -= strlen(qualifiers[i]);
    } while (length < before);
    return length;
}

/* Length without the parameters at the end; "operator()" keeps its own parentheses. */
static size_t without_parameters(const char *name, size_t length)
{
    size_t depth = 0, i = length;

    if (length == 0 || name[length - 1] != ')') return length;
    while (i > 0) {
        char c = name[--i];
        depth += c == ')';
        depth -= c == '(';
        if (depth == 0) break;
    }
    return i == 0 || ends_with(name, i, "operator") ? length : i;
}

static bool is_operator(const char *name, size_t i)
{
    static const char word[] = "operator";
    bool begins = i == 0 || !(isalnum((unsigned char)name[i - 1]) || name[i - 1] == '_');

    return begins && strncmp(name + i, word, sizeof word - 1) == 0 &&
           !isalnum((unsigned char)name[i + sizeof word - 1]) && name[i + sizeof word - 1] != '_';
}

/* Where the name begins, behind the return type: after the last blank outside brackets and before an operator's
 * symbol. */
static size_t name_begin(const char *name, size_t length)
{
    size_t begin = 0;
    int depth = 0;

    for (size_t i = 0; i < length; i++) {
        if (strchr("<({[", name[i])) depth++;
        else if (strchr(">)}]", name[i]) && depth > 0) depth--;
        else if (name[i] == ' ' && depth == 0) begin = i + 1;
        else if (depth == 0 && is_operator(name, i)) break;
    }
    return begin;
}

/* Cuts a demangled C++ name down to the name: without return type, parameters and qualifiers behind them. Any text is
 * accepted. */
static void cut(char *name)
{
    size_t length = without_parameters(name, without_qualifiers(name)), begin = name_begin(name, length);

    memmove(name, name + begin, length - begin);
    name[length - begin] = '\0';
}

/* ---- Symbols ----------------------------------------------------------------------------------------------------- */

static bool is_cxx(const char *symbol) { return strncmp(symbol, "_Z", 2) == 0; }

/* "__module_MOD_procedure": where "_MOD_" is; NULL when it is none. */
static const char *in_module(const char *symbol)
{
    const char *mark = strncmp(symbol, "__", 2) == 0 ? strstr(symbol + 2, "_MOD_") : NULL;

    return mark && mark > symbol + 2 && mark[5] ? mark : NULL;
}

bool ompp_name_is_qualified(const char *symbol) { return is_cxx(symbol) || in_module(symbol); }

bool ompp_name_is_outlined(const char *symbol) { return strstr(symbol, ".omp") || strstr(symbol, "._omp_fn."); }

static char *demangled(const char *symbol, bool load)
{
    demangle_t *demangle = demangler(load);
    int status = 0;
    char *name = demangle ? demangle(symbol, NULL, NULL, &status) : NULL;

    if (!name) return strdup(symbol);
    cut(name);
    return name;
}

char *ompp_name_of_symbol(const char *symbol, bool load)
{
    const char *mark = in_module(symbol);
    char *name = NULL;

    if (is_cxx(symbol)) return demangled(symbol, load);
    if (mark) {
        if (asprintf(&name, "%.*s::%s", (int)(mark - symbol - 2), symbol + 2, mark + 5) < 0) return NULL;
    } else {
        name = strdup(symbol);
    }
    char *dot = name && name[0] ? strchr(name + 1, '.') : NULL;
    if (dot) *dot = '\0';
    return name;
}

/* ---- Shorter ----------------------------------------------------------------------------------------------------- */

/* Length of "operator<" and others whose symbol has such a bracket; 0 = not here. */
static size_t bracket_operator(const char *name, size_t i)
{
    static const char *const symbols[] = {"<=>", "<<=", "<<", "<=", "<", ">>=", ">>", ">=", ">", "->*", "->"};
    const size_t word = sizeof "operator" - 1;

    if (!is_operator(name, i)) return 0;
    for (size_t k = 0; k < sizeof symbols / sizeof symbols[0]; k++)
        if (strncmp(name + i + word, symbols[k], strlen(symbols[k])) == 0) return word + strlen(symbols[k]);
    return 0;
}

/* Length of the template arguments that begin here; 0 when they do not end. */
static size_t arguments(const char *name)
{
    size_t angles = 0, others = 0;

    for (size_t i = 0; name[i]; i++) {
        others += name[i] == '(' || name[i] == '{' || name[i] == '[';
        others -= others && (name[i] == ')' || name[i] == '}' || name[i] == ']');
        angles += !others && name[i] == '<';
        angles -= !others && name[i] == '>';
        if (!angles) return i + 1;
    }
    return 0;
}

void ompp_name_shorten(char *name)
{
    static const char instead[] = "<...>";
    size_t to = 0;

    for (size_t i = 0, n; name[i]; i += n) {
        const bool is_template = name[i] == '<';
        n = is_template ? arguments(name + i) : bracket_operator(name, i);
        if (n == 0) n = 1;
        const bool replaced = is_template && n >= sizeof instead;
        memmove(name + to, replaced ? instead : name + i, replaced ? sizeof instead - 1 : n);
        to += replaced ? sizeof instead - 1 : n;
    }
    name[to] = '\0';
}

void ompp_name_without_arguments(char *text)
{
    char *to = text;
    int depth = 0;

    for (const char *from = text; *from; from++) {
        const bool is_operator = from - text >= 8 && strncmp(from - 8, "operator", 8) == 0;
        if (*from == '<' && !is_operator) depth++;
        if (!depth) *to++ = *from;
        if (*from == '>' && depth) depth--;
    }
    *to = '\0';
}

void ompp_name_without_indices(char *text)
{
    char *to = text;

    for (const char *from = text; *from; from++) {
        *to++ = *from;
        const char close = *from == '[' ? ']' : *from == '(' ? ')' : 0;
        if (!close || (from[1] < '0' || from[1] > '9')) continue;
        *to++ = '*';
        while (from[1] && from[1] != close) from++;
    }
    *to = '\0';
}

void ompp_name_of_user(const char *function, char *text, size_t size)
{
    static const char *const made[] = {"._omp_fn", ".omp_outlined"};
    char *symbol = function ? strdup(function) : NULL, *at;

    for (size_t i = 0; symbol && i < sizeof made / sizeof made[0]; i++)
        if ((at = strstr(symbol, made[i]))) *at = '\0';
    char *name = symbol && strncmp(symbol, "_Z", 2) == 0 ? ompp_name_of_symbol(symbol, true) : NULL;
    snprintf(text, size, "%.*s", name ? (int)strcspn(name, "(") : (int)size, name ? name : symbol ? symbol : "");
    free(name);
    free(symbol);
    ompp_name_without_arguments(text);
}
