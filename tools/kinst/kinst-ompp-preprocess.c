/**
 * \file The compiler's own preprocessor, so that directives in headers, in macros and behind conditions are seen as
 *       they are; and digraphs in what it gives.
 */
#include "tools/kinst/kinst-ompp-source.h"

#include "tools/common/ompp-place.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* Declares what instrumented code calls; what stands behind the pragma is the user's. */
static char *write_declarations(void)
{
    static char *path;
    const char *dir = kinst_private();
    kinst_buffer_t b = {0};

    if (path || !dir) return path;
    kinst_putf(&b, "#include \"%s/opari2/pomp2_lib.h\"\n%s\n", kinst_escaped(ompp_place_find()->pkginclude),
               KINST_DECLARATIONS);
    for (size_t i = 0; i < 2; i++) {
        const char *language = i ? "cpp" : "c";
        kinst_putf(&b,
                   "#if defined(__has_%s_attribute)%s\n#if __has_%s_attribute(omp::directive)\n%s\n#endif\n#endif\n",
                   language, i ? " && defined(__cplusplus)" : " && !defined(__cplusplus) && __STDC_VERSION__ > 201710L",
                   language, KINST_HAS_ATTRIBUTES);
    }
    char *name = kinst_text("%s/ompp-declarations.h", dir);
    if (kinst_file_write(name, b.text, b.size)) path = name;
    return path;
}

/* Options that make the compiler keep or write something else. */
static bool is_left_out(const char *word)
{
    static const char *const words[] = {"-c", "-S", "-save-temps", "-pipe", "-v", "-P", "-C", "-CC"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(word, words[i]) == 0) return true;
    return strncmp(word, "-save-temps=", 12) == 0;
}

char *kinst_preprocessed(const kinst_command_t *c, const kinst_list_t *more, const kinst_source_t *source,
                         const char *path, const char *out, const char *err, size_t *size)
{
    kinst_list_t argv = {0};

    for (size_t i = 0; i < c->ncompiler; i++) kinst_add(&argv, c->words.v[i]);
    kinst_add(&argv, "-E");
    for (size_t i = 0; more && i < more->n; i++) kinst_add(&argv, more->v[i]);
    for (size_t i = c->ncompiler; i < c->words.n; i++)
        if (c->kinds[i] == KINST_WORD_OPTION && !is_left_out(c->words.v[i])) kinst_add(&argv, c->words.v[i]);
    if (source->x) kinst_add(&argv, "-x"), kinst_add(&argv, source->x);
    kinst_add(&argv, path);
    kinst_add(&argv, "-o");
    kinst_add(&argv, out);
    int status = kinst_run(argv.v, &(kinst_run_t){.err = err, .always = true});
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? kinst_file_read(out, size) : NULL;
}

/* Of C and C++, with declarations. dir: for headers of a file that is not the user's itself. */
static char *run(const kinst_command_t *c, const kinst_source_t *source, const char *path, const char *dir,
                 const char *err, size_t *size)
{
    kinst_list_t more = {0};
    char *declarations = write_declarations();

    if (!declarations) return NULL;
    kinst_add(&more, "-DOMPP_KINST");
    kinst_add(&more, "-DOMPP_POMP2_NO_MACROS");
    kinst_add(&more, "-D_POMP2=200110");
    kinst_add(&more, "-include");
    kinst_add(&more, declarations);
    kinst_memory_preprocess(&more, c);
    if (dir) kinst_add(&more, "-iquote"), kinst_add(&more, dir);
    return kinst_preprocessed(c, &more, source, path, kinst_text("%s/preprocessed", source->dir), err, size);
}

char *kinst_preprocess(const kinst_command_t *c, kinst_source_t *source, size_t *size, bool *quiet)
{
    char *err = kinst_text("%s/preprocessor-messages", source->dir);
    struct stat st;
    char *text = run(c, source, source->path, NULL, err, size);

    *quiet = stat(err, &st) == 0 && st.st_size == 0;
    return text;
}

/* ---- Digraphs ---------------------------------------------------------------------------------------------------- */

/* The plain character that the digraph at p is, '\0' = there is none. */
static char plain_of(const char *p, bool cxx, bool at_line_start)
{
    bool scope = cxx && strncmp(p, "<::", 3) == 0 && p[3] != ':' && p[3] != '>'; /* A<::B> */

    switch (p[0]) {
    case '<': return p[1] == '%' ? '{' : p[1] == ':' && !scope ? '[' : '\0';
    case '%': return p[1] == '>' ? '}' : p[1] == ':' && at_line_start ? '#' : '\0';
    case ':': return p[1] == '>' ? ']' : '\0';
    default: return '\0';
    }
}

void kinst_digraphs(char *text, size_t size, bool cxx)
{
    char *p = text, *end = text + size;
    bool at_line_start = true;

    while (p < end) {
        char plain = plain_of(p, cxx, at_line_start);
        bool two = plain || strncmp(p, "<<", 2) == 0 || (cxx && strncmp(p, "::", 2) == 0);
        if (plain) memcpy(p, (char[]){plain, ' '}, 2);
        at_line_start = *p == '\n' || (at_line_start && isspace((unsigned char)*p));
        p = two ? p + 2 : strchr("([{", *p) ? p + 1 : (char *)kinst_behind_token(p, end);
    }
}

/* ---- Arguments of inst data -------------------------------------------------------------------------------------- */

#define MARK "ompp_arguments_of_inst_data"

/* "(...)" of the next "#pragma pomp inst data(...)" from p on; \return its begin, NULL = there is none. end: behind
 * it. */
static const char *next_arguments(const char *p, const char **end)
{
    while ((p = strstr(p, "#"))) {
        const char *word = kinst_skip_blanks(++p), *stop = strchr(p, '\n');
        if (!kinst_take(&word, "pragma") || !(kinst_take(&word, "pomp") || kinst_take(&word, "omp"))) continue;
        if (!kinst_take(&word, "inst") || !kinst_take(&word, "data") || *word != '(') continue;
        *end = stop ? stop : p + strlen(p);
        while (*end > word && (*end)[-1] != ')') --*end;
        if (*end > word) return word;
    }
    return NULL;
}

/* The source with the arguments as last lines, where macros are replaced in them. */
static char *with_arguments(const kinst_command_t *c, const kinst_source_t *source, const char *text)
{
    const char *slash = strrchr(source->path, '/'), *end = text;
    char *dir = slash ? kinst_text("%.*s", (int)(slash - source->path + 1), source->path) : kinst_text(".");
    char *path =
        kinst_text("%s/arguments%s", source->dir, strrchr(source->path, '.') ? strrchr(source->path, '.') : "");
    kinst_buffer_t b = {0};
    size_t size;
    char *original = kinst_file_read(source->path, &size);

    if (!original) return NULL;
    kinst_put(&b, original, size);
    for (const char *p = text; (p = next_arguments(p, &end)); p = end)
        kinst_putf(&b, "\n%s %.*s\n", MARK, (int)(end - p), p);
    if (!kinst_file_write(path, b.text, b.size)) return NULL;
    return run(c, source, path, dir, kinst_text("%s/arguments-messages", source->dir), &size);
}

char *kinst_data_arguments(const kinst_command_t *c, const kinst_source_t *source, char *text, size_t *size)
{
    const char *end = text, *from = text;
    char *other = next_arguments(text, &end) ? with_arguments(c, source, text) : NULL, *mark = other;
    kinst_buffer_t b = {0};

    if (!other) return text;
    for (const char *p = text; (p = next_arguments(p, &end)); from = p = end) {
        mark = strstr(mark, MARK);
        if (!mark) return text;
        mark += strlen(MARK);
        kinst_put(&b, from, (size_t)(p - from));
        kinst_put(&b, mark, strcspn(mark, "\n"));
    }
    kinst_puts(&b, from);
    *size = b.size;
    return b.text;
}
