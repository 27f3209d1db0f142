#define _GNU_SOURCE
#include "image/ompp_proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIELD_STATE 3
#define FIELD_START 22

/* A small file as text; empty when it cannot be read. */
static void read_text(const char *path, char *text, size_t size)
{
    const int saved_errno = errno, fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = -1;

    if (fd >= 0) {
        n = read(fd, text, size - 1);
        close(fd);
    }
    errno = saved_errno;
    text[n > 0 ? n : 0] = '\0';
}

uint64_t ompp_proc_start(pid_t pid)
{
    char path[40], text[1024];

    /* also where /proc is that of another namespace */
    if (pid == getpid()) snprintf(path, sizeof path, "/proc/self/stat");
    else snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    read_text(path, text, sizeof text);
    const char *field = strrchr(text, ')'); /* the name before it may hold anything */
    if (field && field[1] && (field[2] == 'Z' || field[2] == 'X')) field = NULL;
    for (int i = FIELD_STATE - 1; field && i < FIELD_START; i++) {
        field = strchr(field, ' ');
        if (field) field++;
    }
    return field ? strtoull(field, NULL, 10) : 0;
}

uint64_t ompp_proc_space(void)
{
    const int saved_errno = errno;
    char self[24] = "";
    struct stat pids = {0};
    const bool own = readlink("/proc/self", self, sizeof self - 1) > 0 && atoi(self) == (int)getpid();
    const bool is_known = own && stat("/proc/self/ns/pid", &pids) == 0;

    errno = saved_errno;
    return is_known ? (uint64_t)pids.st_ino : 0;
}

/* Its id in its own namespace, which is the last one of "NSpid: 4711 12"; 0 = not known. */
static pid_t pid_within(pid_t pid)
{
    char path[40], text[4096];

    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    read_text(path, text, sizeof text);
    char *ids = strstr(text, "\nNSpid:"), *end = ids ? strchr(ids + 1, '\n') : NULL;
    if (!end) return 0;
    *end = '\0';
    return (pid_t)atoi(strrchr(ids, '\t') + 1);
}

/* A process of a time namespace that is not ours, or may not be: its start is told by another clock. */
static bool has_other_clock(pid_t pid)
{
    const int saved_errno = errno;
    struct stat own, its;
    char path[40];

    snprintf(path, sizeof path, "/proc/%d/ns/time", (int)pid);
    const bool other =
        stat("/proc/self/ns/time", &own) == 0 && (stat(path, &its) != 0 ? errno != ENOENT : its.st_ino != own.st_ino);
    errno = saved_errno;
    return other;
}

/* Whether this process, which is there, is the one that started then. */
static ompp_proc_state_t compare(pid_t pid, uint64_t start)
{
    const uint64_t its = ompp_proc_start(pid);

    if (its == start) return OMPP_PROC_THERE;
    return its && has_other_clock(pid) ? OMPP_PROC_HIDDEN : OMPP_PROC_GONE;
}

/* In any of the namespaces that are seen from here. */
static ompp_proc_state_t find_within(pid_t pid, uint64_t start)
{
    const int saved_errno = errno;
    DIR *all = opendir("/proc");
    ompp_proc_state_t found = OMPP_PROC_GONE;

    for (const struct dirent *e; all && found != OMPP_PROC_THERE && (e = readdir(all));) {
        const pid_t here = (pid_t)atoi(e->d_name);
        const ompp_proc_state_t state = here > 0 && pid_within(here) == pid ? compare(here, start) : OMPP_PROC_GONE;
        if (state != OMPP_PROC_GONE) found = state;
    }
    if (all) closedir(all);
    errno = saved_errno;
    return found;
}

ompp_proc_state_t ompp_proc_find(pid_t pid, uint64_t start, uint64_t space)
{
    const uint64_t own = ompp_proc_space();

    if (start == 0 || space == 0 || own == 0) return OMPP_PROC_HIDDEN;
    if (space == own) return compare(pid, start);
    const ompp_proc_state_t found = find_within(pid, start);
    return found == OMPP_PROC_GONE && own != OMPP_PROC_SPACE_ALL ? OMPP_PROC_HIDDEN : found;
}

static void add_queue(ompp_proc_queue_t *sum, const char *path)
{
    char text[100], *end;

    read_text(path, text, sizeof text);
    sum->ran_ns += strtoull(text, &end, 10);
    sum->waited_ns += strtoull(end, NULL, 10);
}

void ompp_proc_queue_thread(ompp_proc_queue_t *sum) { add_queue(sum, "/proc/thread-self/schedstat"); }

void ompp_proc_queue_process(ompp_proc_queue_t *sum)
{
    const int saved_errno = errno;
    DIR *threads = opendir("/proc/self/task");
    char path[300];

    for (const struct dirent *e; threads && (e = readdir(threads));) {
        if (*e->d_name == '.') continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", e->d_name);
        add_queue(sum, path);
    }
    if (threads) closedir(threads);
    errno = saved_errno;
}

void ompp_proc_cpus_add(ompp_proc_cpus_t *cpus)
{
    const int saved_errno = errno;
    DIR *threads = opendir("/proc/self/task");
    ompp_proc_cpus_t one;

    for (const struct dirent *e; threads && (e = readdir(threads));) {
        one = (ompp_proc_cpus_t){{0}};
        if (*e->d_name == '.' || sched_getaffinity((pid_t)atoi(e->d_name), sizeof one, (cpu_set_t *)&one) != 0)
            continue;
        for (size_t i = 0; i < sizeof one.bits; i++) cpus->bits[i] |= one.bits[i];
    }
    if (threads) closedir(threads);
    errno = saved_errno;
}

unsigned ompp_proc_cpus_count(const ompp_proc_cpus_t *cpus)
{
    unsigned n = 0;

    for (size_t i = 0; i < sizeof cpus->bits; i++) n += (unsigned)__builtin_popcount(cpus->bits[i]);
    return n;
}
