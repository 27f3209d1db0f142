/** \file The compiler's own preprocessor, so that directives in headers, in macros and behind conditions are seen as they are. */
#include "tools/kinst-ompp-source.h"

#include "tools/ompp-place.h"

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
    kinst_putf(&b, "#include \"%s/opari2/pomp2_lib.h\"\n%s\n", kinst_escaped(ompp_place_find()->pkginclude), KINST_DECLARATIONS);
    for (size_t i = 0; i < 2; i++) {
        const char *language = i ? "cpp" : "c";
        kinst_putf(&b, "#if defined(__has_%s_attribute)%s\n#if __has_%s_attribute(omp::directive)\n%s\n#endif\n#endif\n", language,
                   i ? " && defined(__cplusplus)" : " && !defined(__cplusplus) && __STDC_VERSION__ > 201710L", language,
                   KINST_HAS_ATTRIBUTES);
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

char *kinst_preprocess(const kinst_command_t *c, kinst_source_t *source, size_t *size, bool *quiet)
{
    kinst_list_t argv = {0};
    char *declarations = write_declarations(), *out = kinst_text("%s/preprocessed", source->dir);
    char *err = kinst_text("%s/preprocessor-messages", source->dir);
    struct stat st;

    if (!declarations) return NULL;
    for (size_t i = 0; i < c->ncompiler; i++) kinst_add(&argv, c->words.v[i]);
    kinst_add(&argv, "-E");
    kinst_add(&argv, "-DOMPP_KINST");
    kinst_add(&argv, "-DOMPP_POMP2_NO_MACROS");
    kinst_add(&argv, "-D_POMP2=200110");
    kinst_add(&argv, "-include");
    kinst_add(&argv, declarations);
    for (size_t i = c->ncompiler; i < c->words.n; i++)
        if (c->kinds[i] == KINST_WORD_OPTION && !is_left_out(c->words.v[i])) kinst_add(&argv, c->words.v[i]);
    if (source->x) kinst_add(&argv, "-x"), kinst_add(&argv, source->x);
    kinst_add(&argv, source->path);
    kinst_add(&argv, "-o");
    kinst_add(&argv, out);
    int status = kinst_run(argv.v, &(kinst_run_t){.err = err, .always = true});
    *quiet = stat(err, &st) == 0 && st.st_size == 0;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? kinst_file_read(out, size) : NULL;
}
