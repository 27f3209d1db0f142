/*
 * Counters that take turns: for how long each was counted, and how far that makes its value uncertain.
 *
 * PAPI multiplies what it has counted by the time it should have counted, divided by the time it has, and tells
 * neither. The kernel does: reading the file of a perf event that PAPI has opened gives count, time enabled and time
 * running. The time that a thread runs is taken in pieces of SLICE_NS or more; of each piece with a turn in it there is
 * a count and the time it was counted in. The counts per time of the pieces are a sample of the whole, and the standard
 * error of a ratio estimator says how far the whole may be off:
 *
 *     R = sum(count) / sum(time), e = count - R time, error = value sqrt(1 - f) sqrt(n / (n - 1) sum(e^2)) / sum(count)
 *
 * with f the share of the time that was counted (the finite population correction: with f = 1 nothing is estimated), n
 * pieces. With fewer than two pieces nothing is known of the spread, and all that was not counted is the error: value
 * (1 - f).
 */
#define _GNU_SOURCE
#include "counter/ompp_papi_priv.h"

#include "base/ompp_clock.h"
#include "base/ompp_float.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLICE_NS 20000000 /* several of the kernel's turns, which are 4 ms mostly */
#define MOST_FILES 1024   /* perf events of a process that are looked at */

/* As read(2) gives it for events that are multiplexed. */
typedef struct {
    uint64_t count, enabled, running;
} times_t;

/* The file of one event. */
typedef struct {
    int fd;
    times_t begin, last;              /* at the start, and when it was seen last */
    unsigned n;                       /* pieces with a turn in them */
    double count, time;               /* sums over them */
    double count2, time2, count_time; /* of squares and products */
} turn_t;

struct ompp_papi_turns {
    unsigned n;     /* files */
    bool of_events; /* the file of event i is turn[i] */
    ompp_time_t seen;
    turn_t turn[];
};

/* ---- Files of perf events ---------------------------------------------------------------------------------------- */

typedef struct {
    unsigned n;
    int fd[MOST_FILES];
} files_t;

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static files_t before;

/* The file may have been closed by the program, and its number be another's by now: nobody else's file is read. */
static bool is_perf_event(int fd)
{
    static const char wanted[] = "anon_inode:[perf_event]";
    char name[40], link[sizeof wanted + 1];

    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    return readlink(name, link, sizeof link) == (ssize_t)(sizeof wanted - 1) &&
           memcmp(link, wanted, sizeof wanted - 1) == 0;
}

static int ascending(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;

    return x < y ? -1 : x > y;
}

static void find_files(files_t *files)
{
    DIR *dir = opendir("/proc/self/fd");

    files->n = 0;
    for (struct dirent *entry; dir && files->n < MOST_FILES && (entry = readdir(dir));)
        if (entry->d_name[0] != '.' && is_perf_event(atoi(entry->d_name))) files->fd[files->n++] = atoi(entry->d_name);
    if (dir) closedir(dir);
    qsort(files->fd, files->n, sizeof files->fd[0], ascending);
}

/* Events with another format are not those of PAPI that take turns. */
static bool read_times(int fd, times_t *times)
{
    const int saved = errno;
    const bool ok = is_perf_event(fd) && read(fd, times, sizeof *times) == (ssize_t)sizeof *times &&
                    times->running <= times->enabled;

    errno = saved;
    return ok;
}

void ompp_papi_turns_before(void)
{
    pthread_mutex_lock(&opening);
    find_files(&before);
}

static ompp_papi_turns_t *new_files(void)
{
    static files_t after;
    ompp_papi_turns_t *turns;
    times_t times;

    find_files(&after);
    turns = calloc(1, sizeof *turns + after.n * sizeof turns->turn[0]);
    for (unsigned i = 0; turns && i < after.n; i++) {
        if (bsearch(&after.fd[i], before.fd, before.n, sizeof before.fd[0], ascending) ||
            !read_times(after.fd[i], &times))
            continue;
        turns->turn[turns->n++] = (turn_t){.fd = after.fd[i], .begin = times, .last = times};
    }
    return turns;
}

ompp_papi_turns_t *ompp_papi_turns_after(unsigned n)
{
    ompp_papi_turns_t *turns = new_files();

    pthread_mutex_unlock(&opening);
    if (turns && turns->n > 0) {
        /* PAPI opens them in the order of the events, and the system gives the lowest free number. */
        turns->of_events = turns->n == n;
        turns->seen = ompp_clock_now();
        return turns;
    }
    free(turns);
    return NULL;
}

void ompp_papi_turns_free(ompp_papi_turns_t *turns) { free(turns); }

/* ---- Pieces of time ---------------------------------------------------------------------------------------------- */

static void add_piece(turn_t *t, const times_t *now)
{
    const double count = (double)(now->count - t->last.count), time = (double)(now->running - t->last.running);

    t->last = *now;
    if (time <= 0) return;
    t->n++;
    t->count += count;
    t->time += time;
    t->count2 += count * count;
    t->time2 += time * time;
    t->count_time += count * time;
}

static void see_all(ompp_papi_turns_t *turns)
{
    times_t now;

    for (unsigned i = 0; i < turns->n; i++)
        if (read_times(turns->turn[i].fd, &now) && now.count >= turns->turn[i].last.count)
            add_piece(&turns->turn[i], &now);
}

void ompp_papi_turns_see(ompp_papi_turns_t *turns)
{
    const ompp_time_t now = ompp_clock_now();

    if (now - turns->seen < SLICE_NS) return;
    turns->seen = now;
    const uint64_t floats = ompp_float_take();
    see_all(turns);
    ompp_float_back(floats);
}

/* ---- What they come to ------------------------------------------------------------------------------------------- */

static double share_of(const times_t *begin, const times_t *end)
{
    const uint64_t enabled = end->enabled - begin->enabled, running = end->running - begin->running;

    return enabled ? fmin(1, (double)running / (double)enabled) : 1;
}

/* Relative to the value. now: the pieces until now, the one that has just begun left out. */
static double relative_error(const turn_t *t, double share)
{
    const double ratio = t->time > 0 ? t->count / t->time : 0;
    const double squares = fmax(0, t->count2 - 2 * ratio * t->count_time + ratio * ratio * t->time2);

    if (share >= 1) return 0;
    if (t->n < 2 || t->count <= 0) return 1 - share;
    return fmin(1, sqrt((1 - share) * t->n / (t->n - 1.0) * squares) / t->count);
}

ompp_papi_share_t ompp_papi_turns_share(const ompp_papi_turns_t *turns, unsigned event, uint64_t value)
{
    ompp_papi_share_t least = {0, 0, 0};
    double least_share = 2;
    const uint64_t floats = ompp_float_take();

    for (unsigned i = 0; i < turns->n; i++) {
        const turn_t *t = &turns->turn[i];
        times_t now;
        if ((turns->of_events && i != event) || !read_times(t->fd, &now)) continue;
        const double share = share_of(&t->begin, &now);
        if (share >= least_share) continue;
        least_share = share;
        least = (ompp_papi_share_t){now.enabled - t->begin.enabled, now.running - t->begin.running,
                                    (uint64_t)(relative_error(t, share) * (double)value)};
    }
    ompp_float_back(floats);
    return least;
}
