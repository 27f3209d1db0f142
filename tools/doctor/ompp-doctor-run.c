#include "tools/doctor/ompp-doctor.h"

#include "base/ompp_path.h"
#include "base/ompp_vector.h"
#include "tools/common/ompp-option.h"
#include "tools/common/ompp-program.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_S 60
#define FAREWELL_S 5 /* of a launcher that has closed its streams */

/* ---- The launch line --------------------------------------------------------------------------------------------- */

/* Options of launchers whose values are words of their own: how many. Those that are not named have none, or have them
 * behind "=". */
static const struct {
    const char *name;
    size_t values;
} options[] = {
    {"n", 1},
    {"np", 1},
    {"c", 1},
    {"N", 1},
    {"ppn", 1},
    {"npernode", 1},
    {"npersocket", 1},
    {"H", 1},
    {"host", 1},
    {"hosts", 1},
    {"hostfile", 1},
    {"machinefile", 1},
    {"default-hostfile", 1},
    {"f", 1},
    {"map-by", 1},
    {"bind-to", 1},
    {"rank-by", 1},
    {"x", 1},
    {"wdir", 1},
    {"wd", 1},
    {"mca", 2},
    {"gmca", 2},
    {"pmixmca", 2},
    {"prtemca", 2},
    {"env", 2},
    {"genv", 2},
    {"envlist", 1},
    {"genvlist", 1},
    {"launcher", 1},
    {"rf", 1},
    {"rankfile", 1},
    {"path", 1},
    {"prefix", 1},
    {"output-filename", 1},
    {"timeout", 1},
    {"p", 1},
    {"t", 1},
    {"A", 1},
    {"J", 1},
    {"w", 1},
    {"ntasks", 1},
    {"ntasks-per-node", 1},
    {"cpus-per-task", 1},
    {"nodes", 1},
    {"partition", 1},
    {"time", 1},
    {"account", 1},
    {"mpi", 1},
    {"s", 1},
    {"k", 1},
    {"u", 1},
    {"C", 1},
    {"m", 1},
    {"o", 1},
    {"e", 1},
};

static size_t values_of(const char *option)
{
    const char *name = option + strspn(option, "-");

    if (strchr(name, '=')) return 0;
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (strcmp(options[i].name, name) == 0) return options[i].values;
    return 0;
}

static size_t skip_options(char **argv, size_t i)
{
    while (argv[i] && argv[i][0] == '-') {
        if (strcmp(argv[i], "--") == 0) return i + 1;
        for (size_t n = 1 + values_of(argv[i]); n > 0 && argv[i]; n--) i++;
    }
    return i;
}

/* NAME=value of env, a number of seconds, a mask of processors: what stands between a command and the one it starts. */
static bool is_operand(const char *word)
{
    const char *equals = strchr(word, '=');

    return (equals && !memchr(word, '/', (size_t)(equals - word))) ||
           (isdigit((unsigned char)word[0]) && !strchr(word, '/'));
}

static bool is_ompp(const char *word) { return strcmp(ompp_path_last(word), "ompp") == 0; }

size_t ompp_doctor_count(char **words)
{
    size_t n = 0;

    while (words[n]) n++;
    return n;
}

/* \return index behind ompp and its options. Those that ompp would stop at are left out. */
static size_t take_options(ompp_launch_t *part, size_t i)
{
    const char *value = NULL;
    char *variable;

    part->options = calloc(ompp_doctor_count(part->argv) + 1, sizeof *part->options);
    if (!part->options) abort();
    for (; part->argv[i] && part->argv[i][0] == '-' && strcmp(part->argv[i], "--") != 0; i++) {
        const int used = ompp_option_read(part->argv + i, &variable, &value);
        const char *wrong = used > 0 ? ompp_option_wrong(variable, value) : NULL;
        if (used <= 0 && !part->unknown) part->unknown = part->argv[i];
        if (wrong && !part->wrong) part->wrong = strdup(wrong);
        for (int k = 0; k < used && !wrong; k++) part->options[part->noptions++] = part->argv[i + (size_t)k];
        free(variable);
        if (used > 1) i++;
    }
    return part->argv[i] && strcmp(part->argv[i], "--") == 0 ? i + 1 : i;
}

/* The first has the launcher; of others the options of the launcher come at once. */
static bool parse_part(ompp_launch_t *part, bool first)
{
    char **argv = part->argv;
    size_t i = first ? 0 : skip_options(argv, 0);

    while (argv[i] && ompp_program_starts_others(argv[i])) {
        i = skip_options(argv, i + 1);
        while (argv[i] && is_operand(argv[i])) i++;
    }
    part->front = part->program = i;
    if (argv[i] && is_ompp(argv[i])) part->program = take_options(part, i + 1);
    return argv[part->program] != NULL;
}

bool ompp_doctor_parse(char **argv, ompp_line_t *line)
{
    const bool several = argv[0] && ompp_program_starts_ranks(argv[0]);
    bool ok = true;

    *line = (ompp_line_t){0};
    for (bool more = true; more && line->n < OMPP_DOCTOR_PROGRAMS;) {
        ompp_launch_t *part = &line->part[line->n];
        size_t n = 0;
        while (argv[n] && !(several && strcmp(argv[n], ":") == 0)) n++;
        part->argv = calloc(n + 1, sizeof *argv);
        if (!part->argv) abort();
        memcpy(part->argv, argv, n * sizeof *argv);
        ok = parse_part(part, line->n++ == 0) && ok;
        more = argv[n] != NULL;
        argv += n + more;
    }
    return ok;
}

/* ---- Starting it ------------------------------------------------------------------------------------------------- */

typedef struct {
    int fd;
    char *text;
    size_t n, allocated;
} stream_t;

static bool read_some(stream_t *s)
{
    if (!ompp_vector_reserve(&s->text, &s->allocated, s->n + 4096, 1)) return false;
    ssize_t n = read(s->fd, s->text + s->n, 4095);
    if (n > 0) s->n += (size_t)n;
    s->text[s->n] = '\0';
    return n > 0;
}

/* Until both ends are closed, or the time is over. \return whether they were closed. */
static bool read_all(stream_t *out, stream_t *err)
{
    const time_t end = time(NULL) + PATIENCE_S;
    struct pollfd fds[2] = {{out->fd, POLLIN, 0}, {err->fd, POLLIN, 0}};

    while ((fds[0].fd >= 0 || fds[1].fd >= 0) && time(NULL) < end) {
        if (poll(fds, 2, 1000) < 0 && errno != EINTR) break;
        if (fds[0].revents && !read_some(out)) fds[0].fd = -1;
        if (fds[1].revents && !read_some(err)) fds[1].fd = -1;
        fds[0].revents = fds[1].revents = 0;
    }
    return fds[0].fd < 0 && fds[1].fd < 0;
}

/* It and what it has started go when its time is over: a launcher may close its streams and stay. \return exit status;
 * -1: none. */
static int wait_for(pid_t pid, double seconds)
{
    const struct timespec nap = {0, 10000000};
    int status = -1;

    for (; seconds > 0; seconds -= 0.01) {
        const pid_t ended = waitpid(pid, &status, WNOHANG);
        if (ended == pid) return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        nanosleep(&nap, NULL);
    }
    kill(-pid, SIGKILL);
    waitpid(pid, &status, 0);
    return -1;
}

static pid_t start(char **argv, int out, int err)
{
    pid_t pid = fork();

    if (pid != 0) return pid;
    setsid();
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    unsetenv("OMPP_QUIET"); /* its warnings are what we want, and nothing but warnings */
    unsetenv("OMPP_VERBOSE");
    execvp(argv[0], argv);
    dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

static void keep_line(const char *text, const char *word, char *line, size_t n)
{
    for (; text && *text; text = strchr(text, '\n') ? strchr(text, '\n') + 1 : "") {
        size_t length = strcspn(text, "\n");
        if (length < 2 || strspn(text, "-= ") == length) continue; /* rules around the messages of launchers */
        snprintf(line, n, "%.*s", (int)length, text);
        if (!word || strstr(line, word)) return;
    }
    line[0] = '\0';
}

/* Lines of ompp. Launchers may put something in front of them, and of a rank's own trouble the first is enough. */
static void keep_warnings(const char *text, ompp_started_t *started)
{
    for (; text && *text; text = strchr(text, '\n') ? strchr(text, '\n') + 1 : "") {
        size_t length = strcspn(text, "\n"), seen = 0;
        const char *at = memmem(text, length, "ompp: ", 6);
        char *line = started->warnings[started->nwarnings];
        int rank, behind = 0;

        if (!at || started->nwarnings + 1 == sizeof started->warnings / sizeof started->warnings[0]) continue;
        at += 6;
        if (sscanf(at, "rank %d: %n", &rank, &behind) == 1) at += behind;
        snprintf(line, sizeof started->warnings[0], "%.*s", (int)(text + length - at), at);
        while (seen < started->nwarnings && strcmp(started->warnings[seen], line) != 0) seen++;
        started->nwarnings += seen == started->nwarnings;
    }
}

static int by_rank(const void *a, const void *b)
{
    return atoi(((const ompp_probe_t *)a)->rank) - atoi(((const ompp_probe_t *)b)->rank);
}

static void take_ranks(const char *text, ompp_started_t *started)
{
    ompp_probe_t probe;

    for (; text && *text; text = strchr(text, '\n') ? strchr(text, '\n') + 1 : "") {
        char *line = strndup(text, strcspn(text, "\n") + 1);
        if (line && ompp_doctor_read(line, &probe)) {
            ompp_probe_t *bigger = realloc(started->rank, (started->n + 1) * sizeof *bigger);
            if (bigger) started->rank = bigger, started->rank[started->n++] = probe;
        }
        free(line);
    }
    if (started->n) qsort(started->rank, started->n, sizeof *started->rank, by_rank);
}

static char **make_line(const ompp_line_t *line, char *const *const *words)
{
    static char colon[] = ":";
    size_t n = 0;
    char **argv;

    for (size_t p = 0; p < line->n; p++) {
        n += line->part[p].front + 1;
        for (size_t i = 0; words[p][i]; i++) n++;
    }
    argv = calloc(n + 1, sizeof *argv);
    if (!argv) abort();
    n = 0;
    for (size_t p = 0; p < line->n; p++) {
        if (p > 0) argv[n++] = colon;
        for (size_t i = 0; i < line->part[p].front; i++) argv[n++] = line->part[p].argv[i];
        for (size_t i = 0; words[p][i]; i++) argv[n++] = words[p][i];
    }
    return argv;
}

void ompp_doctor_start(const ompp_line_t *line, char *const *const *words, ompp_started_t *started)
{
    char **argv = make_line(line, words);
    int out[2], err[2];
    pid_t pid = -1;

    *started = (ompp_started_t){.status = -1};
    if (pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0) pid = start(argv, out[1], err[1]);
    if (pid > 0) {
        stream_t from = {.fd = out[0]}, errors = {.fd = err[0]};
        close(out[1]);
        close(err[1]);
        started->late = !read_all(&from, &errors);
        started->status = wait_for(pid, started->late ? 0 : FAREWELL_S);
        take_ranks(from.text, started);
        keep_line(errors.text, NULL, started->said, sizeof started->said);
        keep_line(errors.text, "cannot be preloaded", started->unloaded, sizeof started->unloaded);
        keep_warnings(errors.text, started);
        free(from.text);
        free(errors.text);
        close(out[0]);
        close(err[0]);
    }
    free(argv);
}
