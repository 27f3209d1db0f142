#define _GNU_SOURCE
#include "runtime/ompp_exec_priv.h"

#include "base/ompp_env.h"
#include "base/ompp_intercept.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static int (*real_execv)(const char *, char *const[]);
static int (*real_execve)(const char *, char *const[], char *const[]);
static int (*real_execvp)(const char *, char *const[]);

static pid_t launched;
static char *const *settings;
static const char *command;

/* ---- Which calls -------------------------------------------------------------------------------------------------------- */

/* A script whose interpreter is there. */
static bool can_interpret(char *line)
{
    line += 2 + strspn(line + 2, " \t");
    line[strcspn(line, " \t\r\n")] = '\0';
    return *line == '/' && access(line, X_OK) == 0;
}

/* Names of what only this process has: its own file, its descriptors. */
static bool is_own(const char *path)
{
    return strncmp(path, "/proc/", strlen("/proc/")) == 0 || strncmp(path, "/dev/", strlen("/dev/")) == 0;
}

/* What the system would refuse is left to it: the program is told why, and goes on. */
static bool can_start(const char *path)
{
    char begin[256] = "";
    struct stat st;
    int fd;

    if (is_own(path)) return false;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || access(path, X_OK) != 0) return false;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t n = read(fd, begin, sizeof begin - 1);
    close(fd);
    return n > 4 && (memcmp(begin, "\177ELF", 4) == 0 || (memcmp(begin, "#!", 2) == 0 && can_interpret(begin)));
}

static bool is_set_again(const char *entry)
{
    size_t length = strcspn(entry, "=") + 1;

    for (char *const *s = settings; *s; s++)
        if (strncmp(*s, entry, length) == 0) return true;
    return false;
}

static size_t count(char *const *words)
{
    size_t n = 0;

    while (words && words[n]) n++;
    return n;
}

/* Returns when it is none of ours, or cannot be done: the program's own call follows. */
static void start_again(const char *path, char *const argv[], char *const envp[])
{
    char exec[sizeof OMPP_ENV_EXEC + PATH_MAX + 1];
    int saved = errno;

    if (getpid() != launched || !path || !argv || !argv[0] || strlen(path) >= PATH_MAX || !can_start(path)) {
        errno = saved;
        return;
    }
    char *environment[count(envp) + count(settings) + 2];
    size_t n = 0;
    for (char *const *e = envp; e && *e; e++)
        if (!is_set_again(*e)) environment[n++] = *e;
    for (char *const *s = settings; *s; s++) environment[n++] = *s;
    snprintf(exec, sizeof exec, "%s=%s", OMPP_ENV_EXEC, path);
    environment[n++] = exec;
    environment[n] = NULL;
    real_execve(command, argv, environment);
    errno = saved;
}

/* ---- The calls ---------------------------------------------------------------------------------------------------------- */

static int follow_execve(const char *path, char *const argv[], char *const envp[])
{
    start_again(path, argv, envp);
    return real_execve(path, argv, envp);
}

static int follow_execv(const char *path, char *const argv[])
{
    start_again(path, argv, environ);
    return real_execv(path, argv);
}

/* As the C library searches; without PATH, it is left to it. */
static int follow_execvp(const char *name, char *const argv[])
{
    const char *list = ompp_env_foreign("PATH");
    char path[PATH_MAX];

    if (name && strchr(name, '/')) start_again(name, argv, environ);
    else if (name && *name && list && getpid() == launched)
        for (bool more = true; more; list++) {
            int length = (int)strcspn(list, ":");
            if (snprintf(path, sizeof path, "%.*s/%s", length ? length : 1, length ? list : ".", name) < (int)sizeof path)
                start_again(path, argv, environ);
            list += length;
            more = *list == ':';
        }
    return real_execvp(name, argv);
}

void ompp_exec_follow(void)
{
    static const ompp_intercept_t calls[] = {
        {"execv", (void *)follow_execv, (void **)&real_execv},
        {"execve", (void *)follow_execve, (void **)&real_execve},
        {"execvp", (void *)follow_execvp, (void **)&real_execvp},
    };

    settings = ompp_env_again(&command);
    if (!settings) return;
    launched = getpid();
    ompp_intercept_program(calls, sizeof calls / sizeof calls[0]);
}
