#define _GNU_SOURCE
#include "preload/ompp_exec.h"

#include "base/ompp_env.h"
#include "base/ompp_regular.h"
#include "image/ompp_image.h"
#include "image/ompp_intercept.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;

#ifdef AT_EXECVE_CHECK
#define CHECK_ALONE AT_EXECVE_CHECK
#else
#define CHECK_ALONE 0x10000 /* as <linux/fcntl.h> has it: nothing is executed */
#endif

static int (*real_execv)(const char *, char *const[]);
static int (*real_execve)(const char *, char *const[], char *const[]);
static int (*real_execveat)(int, const char *, char *const[], char *const[], int);
static int (*real_execvp)(const char *, char *const[]);
static int (*real_execvpe)(const char *, char *const[], char *const[]);
static int (*real_fexecve)(int, char *const[], char *const[]);

static pid_t launched;
static char *const *settings;
static const char *command;

/* ---- Which calls ------------------------------------------------------------------------------------------------- */

/* A script whose interpreter is there. */
static bool can_interpret(char *line)
{
    line += 2 + strspn(line + 2, " \t");
    line[strcspn(line, " \t\r\n")] = '\0';
    return *line == '/' && access(line, X_OK) == 0;
}

/* A program of this machine, whose loader is there. */
static bool can_load(const char *path)
{
    ompp_image_t image;
    bool can;

    if (!ompp_image_open(path, &image)) return false;
    can = ompp_image_runs_here(&image);
    const ElfW(Phdr) *loader = can ? ompp_image_header(&image, PT_INTERP) : NULL;
    if (loader) {
        can = loader->p_filesz > 0 && loader->p_offset < image.size &&
              loader->p_filesz <= image.size - loader->p_offset &&
              image.data[loader->p_offset + loader->p_filesz - 1] == '\0' &&
              access((const char *)image.data + loader->p_offset, X_OK) == 0;
    }
    ompp_image_close(&image);
    return can;
}

/* Names of what only this process has: its own file, its descriptors. */
static bool is_own(const char *path)
{
    return strncmp(path, "/proc/", strlen("/proc/")) == 0 || strncmp(path, "/dev/", strlen("/dev/")) == 0;
}

static bool is_command(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/*
 * Would the system refuse it now, as somebody writes into it? Systems that cannot say it (Linux before 6.14) say
 * something else. Some that stand in between know nothing of the flag and execute it (valgrind does): the words are at
 * an address that nobody can read.
 */
static bool is_refused(int fd)
{
    const long nowhere = -4096;

    return syscall(SYS_execveat, fd, "", nowhere, nowhere, AT_EMPTY_PATH | CHECK_ALONE) != 0 &&
           (errno == ETXTBSY || errno == EACCES);
}

/* What the system would refuse is left to it: the program is told why, and goes on. */
static bool can_start(const char *path, bool script)
{
    char begin[256] = "";
    int fd;

    if (is_own(path) || !is_command(path)) return false;
    fd = ompp_regular_open(path);
    if (fd < 0) return false;
    ssize_t n = read(fd, begin, sizeof begin - 1);
    const bool refused = is_refused(fd);
    close(fd);
    if (n <= 4 || refused) return false;
    return memcmp(begin, ELFMAG, SELFMAG) == 0 ? can_load(path)
                                               : script && memcmp(begin, "#!", 2) == 0 && can_interpret(begin);
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
static void start_as(const char *path, bool script, char *const argv[], char *const envp[])
{
    char exec[sizeof OMPP_ENV_EXEC + PATH_MAX + 1];
    int saved = errno;

    if (getpid() != launched || !path || !argv || !argv[0] || strlen(path) >= PATH_MAX || !can_start(path, script)) {
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

static void start_again(const char *path, char *const argv[], char *const envp[]) { start_as(path, true, argv, envp); }

/* ---- Files that are open ----------------------------------------------------------------------------------------- */

/* The name of what a descriptor is open for. */
static bool name_of(int fd, char path[PATH_MAX])
{
    char link[40];
    struct stat open, named;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, PATH_MAX - 1);
    if (n <= 0) return false;
    path[n] = '\0';
    return fstat(fd, &open) == 0 && stat(path, &named) == 0 && open.st_dev == named.st_dev &&
           open.st_ino == named.st_ino;
}

/* A script is given the descriptor's name, which only the system gives it. */
static void start_open(int fd, char *const argv[], char *const envp[])
{
    char path[PATH_MAX];
    int saved = errno;

    if (getpid() == launched && name_of(fd, path)) start_as(path, false, argv, envp);
    errno = saved;
}

static void start_in(int dir, const char *name, char *const argv[], char *const envp[])
{
    char path[PATH_MAX];
    int saved = errno;

    if (getpid() == launched && name_of(dir, path)) {
        const size_t used = strlen(path);
        if (snprintf(path + used, sizeof path - used, "/%s", name) < (int)(sizeof path - used))
            start_as(path, false, argv, envp);
    }
    errno = saved;
}

/* ---- The calls --------------------------------------------------------------------------------------------------- */

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

/* As the C library searches, which takes the first command, whatever is in it; without PATH, it is left to it. */
static void start_found(const char *name, char *const argv[], char *const envp[])
{
    const char *list = ompp_env_foreign("PATH");
    char path[PATH_MAX];

    if (name && strchr(name, '/')) start_again(name, argv, envp);
    else if (name && *name && list && getpid() == launched)
        for (bool more = true; more; list++) {
            int length = (int)strcspn(list, ":");
            if (snprintf(path, sizeof path, "%.*s/%s", length ? length : 1, length ? list : ".", name) <
                    (int)sizeof path &&
                is_command(path)) {
                start_again(path, argv, envp);
                return;
            }
            list += length;
            more = *list == ':';
        }
}

static int follow_execvp(const char *name, char *const argv[])
{
    start_found(name, argv, environ);
    return real_execvp(name, argv);
}

static int follow_execvpe(const char *name, char *const argv[], char *const envp[])
{
    start_found(name, argv, envp);
    return real_execvpe(name, argv, envp);
}

static int follow_fexecve(int fd, char *const argv[], char *const envp[])
{
    start_open(fd, argv, envp);
    return real_fexecve(fd, argv, envp);
}

static int follow_execveat(int dir, const char *path, char *const argv[], char *const envp[], int flags)
{
    if (!path || flags & ~(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW)) return real_execveat(dir, path, argv, envp, flags);
    const bool here = *path == '/' || dir == AT_FDCWD;
    if (!*path && flags & AT_EMPTY_PATH) start_open(dir, argv, envp);
    else if (*path && !(flags & AT_SYMLINK_NOFOLLOW))
        here ? start_again(path, argv, envp) : start_in(dir, path, argv, envp);
    return real_execveat(dir, path, argv, envp, flags);
}

/* ---- The calls whose words are arguments ------------------------------------------------------------------------- */

static size_t count_words(const char *first, va_list rest)
{
    size_t n = 0;

    for (const char *word = first; word; word = va_arg(rest, const char *)) n++;
    return n;
}

typedef int call_t(const char *name, char *const argv[], char *const envp[]);

/* rest: of first, as it is before the second word. own_environment: that stands behind the last word. */
static int with_words(call_t *call, const char *name, const char *first, va_list rest, bool own_environment)
{
    va_list again;

    va_copy(again, rest);
    char *words[count_words(first, again) + 1], **next = words;
    va_end(again);
    for (const char *word = first; (*next++ = (char *)word); word = va_arg(rest, const char *)) continue;
    return call(name, words, own_environment ? va_arg(rest, char *const *) : environ);
}

static int follow_execl(const char *path, const char *first, ...)
{
    va_list rest;

    va_start(rest, first);
    const int status = with_words(follow_execve, path, first, rest, false);
    va_end(rest);
    return status;
}

static int follow_execlp(const char *name, const char *first, ...)
{
    va_list rest;

    va_start(rest, first);
    const int status = with_words(follow_execvpe, name, first, rest, false);
    va_end(rest);
    return status;
}

static int follow_execle(const char *path, const char *first, ...)
{
    va_list rest;

    va_start(rest, first);
    const int status = with_words(follow_execve, path, first, rest, true);
    va_end(rest);
    return status;
}

void ompp_exec_follow(void)
{
    static const ompp_intercept_t calls[] = {
        {"execl", (void *)follow_execl, NULL},
        {"execle", (void *)follow_execle, NULL},
        {"execlp", (void *)follow_execlp, NULL},
        {"execv", (void *)follow_execv, (void **)&real_execv},
        {"execve", (void *)follow_execve, (void **)&real_execve},
        {"execveat", (void *)follow_execveat, (void **)&real_execveat},
        {"execvp", (void *)follow_execvp, (void **)&real_execvp},
        {"execvpe", (void *)follow_execvpe, (void **)&real_execvpe},
        {"fexecve", (void *)follow_fexecve, (void **)&real_fexecve},
    };

    settings = ompp_env_again(&command);
    if (!settings) return;
    launched = getpid();
    ompp_intercept_program(calls, sizeof calls / sizeof calls[0]);
}
