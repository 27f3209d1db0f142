/**
 * \file
 * --memory: hooks that count where they stand, instead of being called. What gcc makes becomes so by a plugin of it
 * (src/hooks/ompp_gcc.cc); without that, and without optimisation, by the GNU assembler, in the place of calls. clang
 * does it itself in a second step, and better with a plugin of its own (src/hooks/ompp_clang.cc). Objects stay
 * ordinary ones, for any linker and archive. Where it cannot be, hooks are called: counts are the same, and the program
 * is slower. See docs/data-hooks.md.
 */
#include "tools/kinst/kinst-ompp.h"

#include "base/ompp_env.h"
#include "base/ompp_path.h"
#include "tools/common/ompp-place.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool begins(const char *word, const char *with) { return strncmp(word, with, strlen(with)) == 0; }

static bool begins_with_one_of(const char *word, const char *const beginnings[])
{
    for (; *beginnings; beginnings++)
        if (begins(word, *beginnings)) return true;
    return false;
}

/* The first word of the command that begins with one of these, NULL = none. */
static const char *one_of(const kinst_command_t *c, const char *const beginnings[])
{
    for (size_t i = c->ncompiler; i < c->words.n; i++)
        if (begins_with_one_of(c->words.v[i], beginnings)) return c->words.v[i];
    return NULL;
}

/* Once for a command, whatever the number of its sources. */
static void say_slower(const char *how, const char *why)
{
    static bool said;

    if (!said) kinst_say("the hooks of --memory are %s: %s", how, why);
    said = true;
}

static void say_called(const char *why) { say_slower("called, not inlined", why); }

/* What the build made, beside the library; NULL = not there. */
static const char *part(const char *name)
{
    const char *path = kinst_text("%s/ompp/%s", ompp_place_find()->lib, name);

    return access(path, R_OK) == 0 ? path : NULL;
}

/* always: with --dry-run, too, for what the other commands depend on. */
static int silent_run(const kinst_list_t *argv, bool always)
{
    return kinst_run(argv->v, &(kinst_run_t){.out = "/dev/null", .err = "/dev/null", .always = always});
}

/* ---- gcc --------------------------------------------------------------------------------------------------------- */

/* The plugin is one compiler's: only that one takes it. */
static bool takes_plugin(const kinst_command_t *c, const char *plugin)
{
    static int takes = -1;
    kinst_list_t argv = {0};

    if (takes >= 0) return takes;
    for (size_t i = 0; i < c->ncompiler; i++) kinst_add(&argv, c->words.v[i]);
    kinst_addf(&argv, "-fplugin=%s", plugin);
    kinst_add(&argv, "-fsyntax-only");
    kinst_add(&argv, "-x");
    kinst_add(&argv, "c");
    kinst_add(&argv, "/dev/null");
    takes = silent_run(&argv, true) == 0;
    return takes;
}

static void add_plugin(kinst_list_t *argv, const kinst_command_t *c)
{
    const char *plugin = part("memory-gcc.so");

    if (plugin && takes_plugin(c, plugin)) kinst_addf(argv, "-fplugin=%s", plugin);
    else
        say_slower("inlined by the assembler, which is slower",
                   plugin ? "the plugin was built for another gcc" : "there is no plugin for gcc (memory-gcc.so)");
}

static void add_assembler(kinst_list_t *argv, const kinst_command_t *c)
{
#if defined(__x86_64__)
    /* other assembly */
    static const char *const others[] = {"-m32", "-mx32", "-m16", "-masm=intel", "-mcmodel=large", NULL};
    const char *hooks = part("memory-hooks.s"), *why = one_of(c, others);

    if (c->step == KINST_STEP_ASSEMBLE) why = "-S";
    if (!hooks) why = "memory-hooks.s is missing";
    if (why) say_called(why);
    else {
        kinst_addf(argv, "-Wa,%s", hooks);
        add_plugin(argv, c);
    }
#else
    (void)argv, (void)c;
    say_called("not for this processor with gcc");
#endif
}

/* ---- clang ------------------------------------------------------------------------------------------------------- */

/* With these the object is not made of one piece of bitcode, or something else is made of it, too. */
static const char *const unfit[] = {
    "-flto",        "-fprofile",       "-fcoverage", "-fcs-profile",    "-fplugin", "-fpass-plugin",
    "-ftime-trace", "-fembed-bitcode", "-gsplit",    "-emit-llvm",      "-Xclang",  "-fopenmp-targets",
    "--offload",    "-fsave-opt",      "-m32",       "-mx32",           "-MJ",      "--coverage",
    "-coverage",    "-ftest-coverage", "-fstack-us", "-fmodule-output", NULL};

static bool is_output(const char *word) { return begins(word, "-o") && !begins(word, "-objc"); /* as clang reads it */ }

/* An object that goes elsewhere than to a file, which can be made once only. */
static bool is_stream(const kinst_command_t *c, size_t i)
{
    const char *word = c->words.v[i];

    if (!is_output(word)) return false;
    const char *to = word[2] || i + 1 == c->words.n ? word + 2 : c->words.v[i + 1];
    return strcmp(to, "-") == 0 || begins(to, "/dev/std") || begins(to, "/dev/fd/");
}

/* What of a command keeps clang from it, NULL = nothing. */
static const char *obstacle(const kinst_command_t *c)
{
    if (c->step == KINST_STEP_ASSEMBLE) return "-S";
    for (size_t i = c->ncompiler; i < c->words.n; i++)
        if (is_stream(c, i)) return "-o -";
    if (ompp_env_foreign("DEPENDENCIES_OUTPUT") || ompp_env_foreign("SUNPRO_DEPENDENCIES"))
        return "DEPENDENCIES_OUTPUT is set";
    return one_of(c, unfit);
}

/* The version of the user's clang as the plugin's name has it: its first two numbers. */
static const char *version_of(const kinst_command_t *c)
{
    char *out = kinst_text("%s/version", kinst_private());
    kinst_list_t argv = {0};
    size_t size;

    for (size_t i = 0; i < c->ncompiler; i++) kinst_add(&argv, c->words.v[i]);
    kinst_add(&argv, "-dumpversion");
    kinst_run(argv.v, &(kinst_run_t){.out = out, .err = "/dev/null", .always = true});
    const char *text = kinst_file_read(out, &size);
    size_t length = text ? strspn(text, "0123456789") : 0;
    if (length && text[length] == '.') length += 1 + strspn(text + length + 1, "0123456789");
    return kinst_text("%.*s", (int)length, text ? text : "");
}

/* What the second step needs to know of the first, and what hooks must agree in; "-target x" beside these. */
static const char *const code[] = {"-O", "-f", "-g", "-m", "--target=", NULL}, *const machine[] = {"-m",
                                                                                                   "--target=", NULL};

static void add_compiler(kinst_list_t *argv, const kinst_command_t *c, const kinst_list_t *command,
                         const char *const kept[])
{
    for (size_t i = 0; i < c->ncompiler; i++) kinst_add(argv, command->v[i]);
    for (size_t i = c->ncompiler; i < command->n; i++) {
        const char *word = command->v[i];
        bool pair = strcmp(word, "-target") == 0 && i + 1 < command->n;
        if (strcmp(word, "-mllvm") == 0) i++; /* it has been done in the first step, as what sanitizers do */
        else if (pair ||
                 (begins_with_one_of(word, kept) && !begins(word, "-fsanitize") && !begins(word, "-fpass-plugin")))
            kinst_add(argv, word);
        if (pair) kinst_add(argv, command->v[++i]);
    }
    kinst_add(argv, "-w");
    kinst_add(argv, "-Wno-unused-command-line-argument");
    kinst_add(argv, "-c");
}

/* The hooks as bitcode of the user's clang. They are optimised where they are used: here that would only take its
 * time. */
static const char *make_hooks(const kinst_command_t *c, const char *plugin)
{
    const char *source = part("memory-hooks.c"), *to = kinst_private();
    kinst_list_t argv = {0};

    if (!source || !to) return NULL;
    add_compiler(&argv, c, &c->words, machine);
    if (plugin) kinst_addf(&argv, "-fpass-plugin=%s", plugin);
    kinst_add(&argv, "-O2");
    kinst_add(&argv, "-Xclang");
    kinst_add(&argv, "-disable-llvm-passes");
    kinst_add(&argv, "-fPIC"); /* they refer to a library */
    kinst_add(&argv, "-emit-llvm");
    kinst_add(&argv, "-x");
    kinst_add(&argv, "c");
    kinst_add(&argv, source);
    kinst_add(&argv, "-o");
    kinst_addf(&argv, "%s/memory-hooks.bc", to);
    return silent_run(&argv, true) == 0 ? kinst_text("%s/memory-hooks.bc", to) : NULL;
}

/* What hooks become code by. */
typedef struct {
    const char *plugin;  /* NULL = there is none for this clang */
    const char *bitcode; /* NULL = it makes none */
} clang_parts_t;

/* The plugin is one version's, and not each clang of that version is made for plugins: what takes it makes the bitcode
 * with it. */
static const clang_parts_t *parts_of(const kinst_command_t *c)
{
    static clang_parts_t parts;
    static bool asked;

    if (asked || !kinst_private()) return &parts;
    asked = true;
    parts.plugin = part(kinst_text("memory-clang-%s.so", version_of(c)));
    if (parts.plugin) parts.bitcode = make_hooks(c, parts.plugin);
    if (parts.bitcode) return &parts;
    parts.plugin = NULL;
    parts.bitcode = make_hooks(c, NULL);
    return &parts;
}

/* Loops whose source wants vectors (omp simd) get none either, but with simdlen: the plugin does it better. */
static void forbid_vectors(kinst_list_t *argv, const kinst_command_t *c)
{
    static const char *const users[] = {"-force-vector-", NULL}; /* which may be said once only */
    static const char *const ours[] = {"-mllvm", "-force-vector-width=1", "-mllvm", "-force-vector-interleave=1",
                                       "-Wno-pass-failed"};

    for (size_t i = 0; i < sizeof ours / sizeof ours[0] && !one_of(c, users); i++) kinst_add(argv, ours[i]);
}

/* In the first step, and where there is only one, the plugin sees to it that each access gets a hook. */
static void add_clang(kinst_list_t *argv, const kinst_command_t *c)
{
    const char *unhooked = part("memory-unhooked.txt"), *plugin = parts_of(c)->plugin;

    if (unhooked) kinst_addf(argv, "-fsanitize-coverage-ignorelist=%s", unhooked);
    if (plugin) kinst_addf(argv, "-fpass-plugin=%s", plugin);
    else forbid_vectors(argv, c);
    if (obstacle(c)) say_called(obstacle(c));
    else if (!plugin) say_slower("inlined without a plugin, which is slower", "there is none for this clang");
}

bool kinst_inline_fits(const kinst_command_t *c) { return c->clang && !obstacle(c); }

void kinst_inline_prepare(kinst_list_t *argv, const kinst_command_t *c)
{
    if (c->clang) add_clang(argv, c);
    else add_assembler(argv, c);
}

/* Dependency files name the object that the user gets. */
static void add_dependencies(kinst_list_t *argv, const kinst_list_t *command, const char *object)
{
    static const char *const target[] = {"-MT", "-MQ", NULL}, *const made[] = {"-MD", "-MMD", "-Wp,-MD", "-Wp,-MMD",
                                                                               NULL};
    bool makes = false, file = false, names = false;

    for (size_t i = 0; i < command->n; i++) {
        makes = makes || begins_with_one_of(command->v[i], made);
        file = file || begins(command->v[i], "-MF") || begins(command->v[i], "-Wp,-M");
        names = names || begins_with_one_of(command->v[i], target);
    }
    const char *dot = strrchr(object, '.'), *slash = strrchr(object, '/');
    int stem = dot && (!slash || dot > slash) ? (int)(dot - object) : (int)strlen(object);
    if (makes && !file) kinst_addf(argv, "-MF%.*s.d", stem, object);
    if (makes && !names) kinst_addf(argv, "-MQ%s", object);
}

/* The object that a command makes: what -o says, else in the working directory. */
static const char *object_of(const kinst_command_t *c, const kinst_list_t *command)
{
    const char *path = c->sources[0].path, *name = ompp_path_last(path), *dot = strrchr(name, '.');

    for (size_t i = command->n; i-- > c->ncompiler;) {
        if (i + 1 < command->n && strcmp(command->v[i], "-o") == 0) return command->v[i + 1];
        if (is_output(command->v[i]) && command->v[i][2]) return command->v[i] + 2;
    }
    return kinst_text("%.*s.o", dot ? (int)(dot - name) : (int)strlen(name), name);
}

static void remove_last(kinst_list_t *words, const char *word)
{
    size_t at = words->n;

    while (at > 0 && strcmp(words->v[at - 1], word) != 0) at--;
    if (at == 0) return;
    for (; at < words->n; at++) words->v[at - 1] = words->v[at];
    words->v[--words->n] = NULL;
}

/* Hooks become code: those that the plugin knows by it, the others by the bitcode. */
static void add_second(kinst_list_t *argv, const kinst_command_t *c, const kinst_list_t *command, const char *hooks,
                       const char *plugin)
{
    /* what has been counted may be vectorised again */
    static const char *const ours[] = {"-fno-vectorize", "-fno-slp-vectorize"};
    kinst_list_t words = {0};

    for (size_t i = 0; i < command->n; i++) kinst_add(&words, command->v[i]);
    for (size_t i = 0; plugin && i < sizeof ours / sizeof ours[0]; i++) remove_last(&words, ours[i]);
    add_compiler(argv, c, &words, code);
    kinst_add(argv, "-Xclang");
    kinst_add(argv, "-mlink-builtin-bitcode");
    kinst_add(argv, "-Xclang");
    kinst_add(argv, hooks);
    if (plugin) kinst_addf(argv, "-fpass-plugin=%s", plugin);
    kinst_add(argv, "-x");
    kinst_add(argv, "ir");
}

/* ---- What does not work so --------------------------------------------------------------------------------------- */

/* Whether a word of a command is there for hooks that stand in the code, or is the plugin that puts some in. */
static bool is_ours(const char *word)
{
    static const char *const ours[][2] = {
        {"-fplugin=", "memory-gcc.so"}, {"-Wa,", "memory-hooks.s"}, {"-fpass-plugin=", "memory-clang-"}};

    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        if (begins(word, kinst_text("%s%s/ompp/%s", ours[i][0], ompp_place_find()->lib, ours[i][1]))) return true;
    return false;
}

/* Once more with hooks that are called when the compiler or assembler fails: these may be why. What somebody has read
 * is not said twice. */
static int run_again(const kinst_list_t *command, const kinst_run_t *how, int status)
{
    kinst_list_t words = {0};

    for (size_t i = 0; i < command->n; i++)
        if (!is_ours(command->v[i])) kinst_add(&words, command->v[i]);
    return how->err ? kinst_run(words.v, how) : status;
}

/* In one step. */
static int run_called(const kinst_list_t *command, const kinst_run_t *how)
{
    int status = kinst_run(command->v, how);
    bool ours = false;

    for (size_t i = 0; i < command->n; i++) ours = ours || is_ours(command->v[i]);
    return status != 0 && ours ? run_again(command, how, status) : status;
}

/* ---- Both -------------------------------------------------------------------------------------------------------- */

int kinst_inline_run(const kinst_list_t *command, const kinst_command_t *c, const kinst_run_t *how)
{
    const char *hooks = c && kinst_inline_fits(c) ? parts_of(c)->bitcode : NULL,
               *object = hooks ? object_of(c, command) : NULL;
    kinst_list_t first = {0};

    if (c && kinst_inline_fits(c) && !hooks) say_called("this clang makes no bitcode of memory-hooks.c");
    if (!hooks) return run_called(command, how);
    const char *bitcode = kinst_text("%s/memory.bc", kinst_private());
    for (size_t i = 0; i < command->n; i++)
        if (i >= c->ncompiler && is_output(command->v[i])) i += !command->v[i][2];
        else kinst_add(&first, command->v[i]);
    kinst_add(&first, "-emit-llvm");
    kinst_add(&first, "-o");
    kinst_add(&first, bitcode);
    add_dependencies(&first, command, object);
    int status = kinst_run(first.v, how);
    if (status != 0) return run_again(command, how, status);

    for (const char *plugin = parts_of(c)->plugin;; plugin = NULL) {
        kinst_list_t second = {0};
        add_second(&second, c, command, hooks, plugin);
        kinst_add(&second, bitcode);
        kinst_add(&second, "-o");
        kinst_add(&second, object);
        if (silent_run(&second, false) == 0) return 0;
        if (!plugin) break;
    }
    say_called("this clang cannot link them into what it has made");
    return run_called(command, how);
}
