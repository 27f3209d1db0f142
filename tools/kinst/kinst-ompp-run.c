#include "tools/kinst/kinst-ompp.h"

#include "base/ompp_clock.h"
#include "base/ompp_env.h"
#include "base/ompp_vector.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char private_dir[PATH_MAX];
static volatile sig_atomic_t caught, child;

/* ---- Words ------------------------------------------------------------------------------------------------------- */

static void *must(void *memory)
{
    if (memory) return memory;
    fprintf(stderr, "kinst-ompp: no memory\n");
    exit(1);
}

char *kinst_text(const char *format, ...)
{
    va_list args;
    char *text = NULL;

    va_start(args, format);
    if (vasprintf(&text, format, args) < 0) text = NULL;
    va_end(args);
    return must(text);
}

void *kinst_push(void *array, size_t *n, size_t size)
{
    size_t allocated = *n & (*n - 1) ? *n + 1 : *n; /* room is a power of two */

    return must(ompp_vector_push(array, n, &allocated, size));
}

void kinst_add(kinst_list_t *list, const char *word)
{
    list->v = must(realloc(list->v, (list->n + 2) * sizeof *list->v));
    list->v[list->n++] = (char *)word;
    list->v[list->n] = NULL;
}

void kinst_addf(kinst_list_t *list, const char *format, ...)
{
    va_list args;
    char *text = NULL;

    va_start(args, format);
    if (vasprintf(&text, format, args) < 0) text = NULL;
    va_end(args);
    kinst_add(list, must(text));
}

void kinst_say(const char *format, ...)
{
    va_list args;

    if (!kinst_own.verbose) return;
    va_start(args, format);
    fputs("kinst-ompp: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

void kinst_echo(char *const argv[])
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%^";

    if (!kinst_own.verbose && !kinst_own.dry_run) return;
    fputs("+++", stderr);
    for (; *argv; argv++) {
        const char *word = *argv;
        fputc(' ', stderr);
        if (*word && word[strspn(word, plain)] == '\0') {
            fputs(word, stderr);
            continue;
        }
        fputc('\'', stderr);
        for (; *word; word++) fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, stderr);
        fputc('\'', stderr);
    }
    fputc('\n', stderr);
}

/* ---- Signals ----------------------------------------------------------------------------------------------------- */

static void on_signal(int sig)
{
    caught = sig;
    if (child && sig != SIGPIPE) kill(child, sig);
}

/* From the moment there are files to remove. SIGPIPE is one: the reader of --verbose may go away (grep -q). */
static void catch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    struct sigaction action = {.sa_handler = on_signal}, old;

    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL) sigaction(signals[i], &action, NULL);
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    remove(path);
    return 0;
}

static void clean_up(void)
{
    if (*private_dir) nftw(private_dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    private_dir[0] = '\0';
}

const char *kinst_private(void)
{
    const char *tmp = ompp_env_foreign("TMPDIR");
    char *made;

    if (*private_dir) return private_dir;
    catch_signals();
    made = kinst_text("%s/kinst-ompp.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(made) && !mkdtemp(made = kinst_text("/tmp/kinst-ompp.XXXXXX"))) return NULL;
    if (!realpath(made, private_dir)) snprintf(private_dir, sizeof private_dir, "%s", made);
    return private_dir;
}

char *kinst_file_read(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    struct stat st;
    char *text;

    if (!file) return NULL;
    if (fstat(fileno(file), &st) != 0 || !S_ISREG(st.st_mode)) {
        fclose(file);
        return NULL;
    }
    text = must(malloc(st.st_size + 1));
    *size = fread(text, 1, st.st_size, file);
    text[*size] = '\0';
    fclose(file);
    return text;
}

bool kinst_file_write(const char *path, const char *text, size_t size)
{
    FILE *file = fopen(path, "wb");
    bool ok = file && fwrite(text, 1, size, file) == size;

    if (file && fclose(file) != 0) ok = false;
    return ok;
}

/* ---- Processes --------------------------------------------------------------------------------------------------- */

static void redirect(const char *path, int fd)
{
    int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;

    if (file < 0) return;
    dup2(file, fd);
    close(file);
}

static void start_failed(const char *name) __attribute__((noreturn));
static void start_failed(const char *name)
{
    int code = errno == ENOENT ? 127 : 126;

    /* a file that is here, or several words in one */
    const bool mistaken = errno == ENOENT && !strchr(name, '/') && (strchr(name, ' ') || access(name, F_OK) == 0);

    if (mistaken)
        fprintf(stderr, "kinst-ompp: begin with the compiler, as kinst-ompp gcc -c a.c: no command %s\n", name);
    else fprintf(stderr, "kinst-ompp: %s: %s\n", name, strerror(errno));
    fflush(stderr);
    _exit(code);
}

static void run_child(char *const argv[], const kinst_run_t *how) __attribute__((noreturn));
static void run_child(char *const argv[], const kinst_run_t *how)
{
    if (how->seconds > 0) {
        const struct rlimit bytes = {256 << 20, 256 << 20};
        setpgid(0, 0);
        setrlimit(RLIMIT_FSIZE, &bytes);
        int null = open("/dev/null", O_RDONLY);
        if (null >= 0) dup2(null, 0);
    }
    if (!how->dependencies) {
        unsetenv("DEPENDENCIES_OUTPUT");
        unsetenv("SUNPRO_DEPENDENCIES");
    }
    redirect(how->out, 1);
    redirect(how->err, 2);
    signal(SIGINT, SIG_DFL);
    if (how->cwd && chdir(how->cwd) != 0) start_failed(how->cwd);
    execvp(argv[0], argv);
    start_failed(argv[0]);
}

/* Waits with a limit; the process has its own group, so that what it started goes with it. */
static int wait_limited(pid_t pid, double seconds)
{
    double end = ompp_clock_seconds() + seconds;
    int status;

    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (ompp_clock_seconds() < end && !caught) {
            usleep(1000);
            continue;
        }
        kill(-pid, SIGKILL);
        kill(pid, SIGKILL);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
        return KINST_TIMED_OUT;
    }
    return status;
}

int kinst_run(char *const argv[], const kinst_run_t *how)
{
    int status = 0;
    pid_t pid;

    kinst_echo(argv);
    if (kinst_own.dry_run && how->seconds == 0 && !how->always) return 0;
    catch_signals();
    fflush(NULL);
    pid = fork();
    if (pid == 0) run_child(argv, how);
    if (pid < 0) return 126 << 8;
    child = pid;
    if (how->seconds > 0) status = wait_limited(pid, how->seconds);
    else
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    child = 0;
    if (caught) kinst_finish(caught);
    return status;
}

static const char *first_line_of(const char *path)
{
    size_t size;
    char *text = kinst_file_read(path, &size);

    if (!text || !*text) return "no message";
    text += strspn(text, " \r\n");
    text[strcspn(text, "\n")] = '\0';
    return text;
}

const char *kinst_run_opari(const char *const options[], const char *dir, const char *from, const char *to)
{
    kinst_list_t argv = {0};
    char *log = kinst_text("%s/log", dir);
    int status;

    kinst_add(&argv, kinst_own.opari);
    for (; *options; options++) kinst_add(&argv, *options);
    kinst_add(&argv, "--omp-task-untied=keep");
    kinst_add(&argv, "--disable=omp:locks"); /* the wrapper does them, where they are not declared only */
    for (size_t i = 0; i < kinst_own.opari_options.n; i++) kinst_add(&argv, kinst_own.opari_options.v[i]);
    kinst_add(&argv, from);
    kinst_add(&argv, to);
    status = kinst_run(argv.v, &(kinst_run_t){.cwd = dir, .out = log, .err = log, .seconds = kinst_own.opari_seconds});
    if (status == KINST_TIMED_OUT) return kinst_text("OPARI2 took longer than %g s", kinst_own.opari_seconds);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127) return "OPARI2 is not installed";
    if (WIFSIGNALED(status)) return kinst_text("OPARI2 died of signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status) != 0) return kinst_text("OPARI2 failed: %s", first_line_of(log));
    return NULL;
}

void kinst_exec(char *const argv[])
{
    kinst_echo(argv);
    clean_up();
    if (kinst_own.dry_run) exit(0);
    fflush(NULL);
    execvp(argv[0], argv);
    start_failed(argv[0]);
}

void kinst_finish(int status)
{
    clean_up();
    fflush(NULL);
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}
