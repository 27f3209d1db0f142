/*
 * Files of the place: "coming.PID.HOST" of a process that has announced itself, "here.RANK.N" of one that has come with N ranks, "met"
 * with all of them. They are symbolic links whose text is the ranks, as in 0-3,7: made as a whole or not at all, by one process alone,
 * and without a descriptor; limits of file size, at which a write would end the program, are nothing to them.
 */
#define _GNU_SOURCE
#include "runtime/ompp_meeting.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef char path_t[4700];
typedef char ranks_text_t[4000];

/* ---- The place --------------------------------------------------------------------------------------------------------- */

static uint64_t hash_of(const char *text)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (; *text; text++) h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return h;
}

static bool is_ours(const char *dir)
{
    struct stat st;

    return lstat(dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && access(dir, R_OK | W_OK | X_OK) == 0;
}

bool ompp_meeting_open(ompp_meeting_t *meeting, const char *const *dirs, const char *name)
{
    const int saved = errno;

    *meeting = (ompp_meeting_t){0};
    for (; *dirs && !*meeting->place; dirs++) {
        int n = snprintf(meeting->place, sizeof meeting->place, "%s/.ompp-meet-%u-%016llx", **dirs ? *dirs : ".", (unsigned)geteuid(),
                         (unsigned long long)hash_of(name));
        if (n < (int)sizeof meeting->place && (mkdir(meeting->place, 0700) == 0 || errno == EEXIST) && is_ours(meeting->place)) break;
        meeting->place[0] = '\0';
    }
    errno = saved;
    return *meeting->place != '\0';
}

static void path_in(path_t path, const ompp_meeting_t *meeting, const char *name)
{
    snprintf(path, sizeof(path_t), "%s/%s", meeting->place, name);
}

/* \return whether it is there now, by us. */
static bool put(const ompp_meeting_t *meeting, const char *name, const char *text)
{
    path_t path;

    path_in(path, meeting, name);
    return symlink(text, path) == 0;
}

static void take_away(const ompp_meeting_t *meeting, const char *name)
{
    path_t path;

    path_in(path, meeting, name);
    unlink(path);
}

static void name_mark(char name[120])
{
    char host[64] = "";

    gethostname(host, sizeof host - 1);
    snprintf(name, 120, "coming.%d.%s", (int)getpid(), host);
}

void ompp_meeting_announce(ompp_meeting_t *meeting)
{
    const int saved = errno;
    char name[120];

    name_mark(name);
    if (*meeting->place) put(meeting, name, "-");
    errno = saved;
}

void ompp_meeting_leave(ompp_meeting_t *meeting)
{
    const int saved = errno;
    char name[120];

    name_mark(name);
    if (*meeting->place) {
        take_away(meeting, name);
        rmdir(meeting->place); /* when it is empty */
    }
    meeting->place[0] = '\0';
    errno = saved;
}

/* ---- Ranks as text ------------------------------------------------------------------------------------------------------ */

/* \return false when they are too many for it. */
static bool write_ranks(ranks_text_t text, const int *ranks, size_t n)
{
    size_t used = 0;

    for (size_t i = 0, last; i < n; i = last + 1) {
        for (last = i; last + 1 < n && ranks[last + 1] == ranks[last] + 1;) last++;
        if (used + 24 > sizeof(ranks_text_t)) return false;
        used += (size_t)snprintf(text + used, sizeof(ranks_text_t) - used, last > i ? "%s%d-%d" : "%s%d", i ? "," : "", ranks[i],
                                 ranks[last]);
    }
    return n > 0;
}

typedef struct {
    int *rank;
    size_t n, allocated;
    unsigned coming, here; /* processes */
} people_t;

static bool add_rank(people_t *people, int rank)
{
    if (people->n == people->allocated) {
        int *bigger = realloc(people->rank, (people->allocated = 2 * people->allocated + 64) * sizeof(int));
        if (!bigger) return false;
        people->rank = bigger;
    }
    people->rank[people->n++] = rank;
    return true;
}

static bool add_ranks(people_t *people, const ompp_meeting_t *meeting, const char *name)
{
    ranks_text_t text;
    path_t path;
    bool good = true;
    int first, last, used;

    path_in(path, meeting, name);
    ssize_t n = readlink(path, text, sizeof text - 1);
    if (n <= 0) return false;
    text[n] = '\0';
    for (const char *at = text; *at && good; at += used + (at[used] == ',')) {
        if (sscanf(at, "%d%n", &first, &used) != 1) return false;
        last = first;
        if (at[used] == '-' && sscanf(at, "%d-%d%n", &first, &last, &used) != 2) return false;
        for (; first <= last && good; first++) good = add_rank(people, first);
    }
    return good;
}

/* ---- Who is there ------------------------------------------------------------------------------------------------------ */

/* How many they are stands in the names. with_ranks: who they are, from the text. */
static void look(const ompp_meeting_t *meeting, people_t *people, bool with_ranks)
{
    DIR *dir = opendir(meeting->place);
    const struct dirent *entry;
    int rank, n;

    *people = (people_t){0};
    while (dir && (entry = readdir(dir))) {
        people->coming += strncmp(entry->d_name, "coming.", 7) == 0;
        if (sscanf(entry->d_name, "here.%d.%d", &rank, &n) != 2) continue;
        people->here++;
        if (with_ranks) add_ranks(people, meeting, entry->d_name);
        else people->n += (size_t)n;
    }
    if (dir) closedir(dir);
}

/* Clients of network file systems keep what a directory has: they look again when they have changed it themselves. */
static void look_again(const ompp_meeting_t *meeting)
{
    if (put(meeting, "look", "-")) take_away(meeting, "look");
}

/* ---- The meeting ------------------------------------------------------------------------------------------------------- */

static double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    return *(const int *)a < *(const int *)b ? -1 : *(const int *)a > *(const int *)b;
}

/* Whoever is first settles it: others find it settled. */
static void settle(const ompp_meeting_t *meeting)
{
    ranks_text_t text;
    people_t people;

    look(meeting, &people, true);
    if (people.n) {
        qsort(people.rank, people.n, sizeof *people.rank, ascending);
        if (write_ranks(text, people.rank, people.n)) put(meeting, "met", text);
    }
    free(people.rank);
}

static bool is_over(const people_t *people, const ompp_meeting_limits_t *limits, double waited_s)
{
    if (people->n >= (size_t)limits->all) return true;
    return waited_s > limits->limit_s || (waited_s > limits->patience_s && people->here >= people->coming);
}

static void nap(double waited_s)
{
    const struct timespec t = {0, waited_s < 0.01 ? 200000 : waited_s < 1 ? 2000000 : 20000000};

    nanosleep(&t, NULL);
}

/* \return false when nothing was settled in time. */
static bool wait_for_others(const ompp_meeting_t *meeting, const ompp_meeting_limits_t *limits, people_t *met)
{
    const double start = seconds_now();
    people_t people;
    double waited = 0;

    while (!add_ranks(met, meeting, "met")) {
        if (waited > limits->limit_s + 1) return false;
        look(meeting, &people, false);
        waited = seconds_now() - start;
        if (is_over(&people, limits, waited)) settle(meeting);
        if (waited > limits->patience_s / 10) look_again(meeting);
        nap(waited);
    }
    return true;
}

static bool has_all(const people_t *met, const int *ranks, int n)
{
    bool all = true;

    for (int i = 0; i < n && all; i++) all = met->n && bsearch(&ranks[i], met->rank, met->n, sizeof(int), ascending);
    return all;
}

/* It goes away, and looks a last time whether somebody has counted on it. */
static bool withdraw(const ompp_meeting_t *meeting, const char *name, people_t *met)
{
    take_away(meeting, name);
    nap(1);
    return add_ranks(met, meeting, "met");
}

int ompp_meeting_hold(ompp_meeting_t *meeting, const int *ranks, int n, const ompp_meeting_limits_t *limits, int **met)
{
    const int saved = errno;
    people_t people = {0};
    ranks_text_t text;
    char name[60];

    snprintf(name, sizeof name, "here.%d.%d", ranks[0], n);
    const bool came = *meeting->place && write_ranks(text, ranks, (size_t)n) && put(meeting, name, text);
    const bool settled = came && (wait_for_others(meeting, limits, &people) || withdraw(meeting, name, &people));
    if (!settled || !has_all(&people, ranks, n)) {
        people.n = 0;
        for (int i = 0; i < n; i++) add_rank(&people, ranks[i]);
    }
    *met = people.rank;
    errno = saved;
    return (int)people.n;
}

void ompp_meeting_clear(ompp_meeting_t *meeting)
{
    const int saved = errno;
    DIR *dir = *meeting->place ? opendir(meeting->place) : NULL;
    const struct dirent *entry;
    path_t path;

    while (dir && (entry = readdir(dir))) {
        path_in(path, meeting, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) unlink(path);
    }
    if (dir) {
        closedir(dir);
        rmdir(meeting->place);
    }
    meeting->place[0] = '\0';
    errno = saved;
}
