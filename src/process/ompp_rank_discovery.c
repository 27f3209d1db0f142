/*
 * Files of the place, of a process ID.START.MACHINE: "coming.PROCESS" has announced itself, "here.RANK.N.PROCESS" has
 * come with N ranks, "met.K", of which the text begins with the process that wrote it, says who has met. They are
 * symbolic links whose text is the ranks, as in 0-3,7: made as a whole or not at all, by one process alone; limits of
 * file size, at which a write would end the program, are nothing to them.
 *
 * What a killed job has left is nobody's: K counts what was settled by processes that are gone, and the first other one
 * holds. Names of the living must not be left out alike by all, since only what is settled binds; so it is enough that
 * the dead are.
 *
 * Places of other meetings, all of whose processes are gone, are swept by who makes a new one beside them.
 */
#define _GNU_SOURCE
#include "process/ompp_rank_discovery.h"

#include "base/ompp_new_file.h"
#include "base/ompp_vector.h"
#include "image/ompp_proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef char ranks_text_t[3900];
typedef char process_t[100];

#define PLACES ".ompp-meet-%u-" /* of a user */
/* MPI_Init, which a place is there for, takes no day */
enum { MAX_LOOKED = 4096, MAX_SWEPT = 64, QUIET_S = 60, OLD_S = 86400 };

/* ---- The place --------------------------------------------------------------------------------------------------- */

static uint64_t hash_of(const char *text)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (; *text; text++) h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return h;
}

/*
 * The directory itself, which others may have moved away and put a link or one of their own in its place, where the
 * directory above is not this user's alone. \return descriptor, -1 with errno.
 */
static int enter(const ompp_rank_discovery_t *discovery)
{
    struct stat st;

    if (discovery->held) {
        if (fstat(discovery->fd, &st) == 0 && st.st_nlink > 0) return fcntl(discovery->fd, F_DUPFD_CLOEXEC, 3);
        errno = ENOENT;
        return -1;
    }
    const int fd = open(discovery->place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOTDIR) errno = ESTALE; /* a link */
    if (fd < 0) return -1;
    if (fstat(fd, &st) == 0 && st.st_dev == discovery->device && st.st_ino == discovery->inode) return fd;
    close(fd);
    errno = ESTALE;
    return -1;
}

/* Is there a place of this user? From now on it is this one. */
static bool find_place(ompp_rank_discovery_t *discovery)
{
    const int fd = open(discovery->place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st = {0};

    if (fd < 0) return false;
    const bool ours = fstat(fd, &st) == 0 && ompp_new_file_is_own(&st, discovery->place) &&
                      faccessat(fd, ".", R_OK | W_OK | X_OK, 0) == 0;
    close(fd);
    discovery->device = st.st_dev;
    discovery->inode = st.st_ino;
    return ours;
}

static DIR *list(const ompp_rank_discovery_t *discovery)
{
    const int fd = enter(discovery);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    if (fd >= 0 && !dir) close(fd);
    if (dir) rewinddir(dir); /* where it is held, others of this process have read it */
    return dir;
}

static ssize_t text_of(const ompp_rank_discovery_t *discovery, const char *name, char *text, size_t size)
{
    const int fd = enter(discovery);
    const ssize_t n = fd < 0 ? -1 : readlinkat(fd, name, text, size - 1);

    text[n > 0 ? n : 0] = '\0';
    if (fd >= 0) close(fd);
    return n;
}

/* \return whether it is there now, by us; network file systems may have made it and say that it was there. */
static bool put(const ompp_rank_discovery_t *discovery, const char *name, const char *text)
{
    char found[4096];
    const int fd = enter(discovery);
    const bool made = fd >= 0 && symlinkat(text, fd, name) == 0;
    const int error = errno;

    if (fd >= 0) close(fd);
    if (made || (text_of(discovery, name, found, sizeof found) > 0 && strcmp(found, text) == 0)) return true;
    errno = error;
    return false;
}

/* The same; the place may have been swept between its opening and now. */
static bool put_first(ompp_rank_discovery_t *discovery, const char *name, const char *text)
{
    if (put(discovery, name, text)) return true;
    return (errno == ENOENT || errno == ESTALE) && (mkdir(discovery->place, 0700) == 0 || errno == EEXIST) &&
           find_place(discovery) && put(discovery, name, text);
}

static void take_away(const ompp_rank_discovery_t *discovery, const char *name)
{
    const int fd = enter(discovery);

    if (fd < 0) return;
    unlinkat(fd, name, 0);
    close(fd);
}

/* When a name came, by the clock of the file system; 0 = it is not there. */
static double time_of(const ompp_rank_discovery_t *discovery, const char *name)
{
    struct stat st;
    const int fd = enter(discovery);
    const bool known = fd >= 0 && fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;

    if (fd >= 0) close(fd);
    return known ? (double)st.st_mtime : 0;
}

/* ---- Processes --------------------------------------------------------------------------------------------------- */

/* Within it a process id means one process: a start of a system, and a name space. */
static uint64_t machine_here(void)
{
    char text[400] = "";

    gethostname(text, 200);
    FILE *boot = fopen("/proc/sys/kernel/random/boot_id", "re");
    const size_t n = strlen(text);
    if (boot) {
        if (!fgets(text + n, 60, boot)) text[n] = '\0';
        fclose(boot);
    }
    snprintf(text + strlen(text), 60, "/%llu", (unsigned long long)ompp_proc_space());
    return hash_of(text);
}

static void name_self(process_t self)
{
    snprintf(self, sizeof(process_t), "%d.%llu.%016llx", (int)getpid(),
             (unsigned long long)(ompp_proc_space() ? ompp_proc_start(getpid()) : 0),
             (unsigned long long)machine_here());
}

typedef enum { LIVES, GONE, ELSEWHERE } life_t;

/* Where nothing is known of processes, not even of this one, they are as those elsewhere. */
static life_t life_of(const char *process, const process_t self)
{
    unsigned long long start = 0, machine = 0, own_start = 0, own_machine = 0;
    int pid = 0, own;

    if (sscanf(process, "%d.%llu.%llx", &pid, &start, &machine) != 3 ||
        sscanf(self, "%d.%llu.%llx", &own, &own_start, &own_machine) != 3)
        return ELSEWHERE;
    if (machine != own_machine || start == 0 || own_start == 0) return ELSEWHERE;
    const unsigned long long now = ompp_proc_start(pid);
    if (now != 0) return now == start ? LIVES : GONE;
    /* that it cannot be read may be for want of descriptors */
    return kill(pid, 0) != 0 && errno == ESRCH ? GONE : LIVES;
}

/* Who has come so long ago has found something settled, or has settled it. */
static bool is_old(const ompp_rank_discovery_t *discovery, const char *name)
{
    const double came = discovery->arrival_s > 0 ? time_of(discovery, name) : 0;

    return came > 0 && came + discovery->old_s < discovery->arrival_s;
}

static const char *process_in(const char *name)
{
    int rank, n, used = 0;

    if (strncmp(name, "coming.", 7) == 0) return name + 7;
    if (sscanf(name, "here.%d.%d.%n", &rank, &n, &used) >= 2 && used > 0) return name + used;
    return NULL;
}

static bool is_of_meeting(const char *name)
{
    return process_in(name) || strncmp(name, "met.", 4) == 0 || strcmp(name, "look") == 0;
}

/* A name of a process that will not come; it is removed. Announced may be long before: MPI_Init has no limit. */
static bool is_stale(const ompp_rank_discovery_t *discovery, const char *name, const process_t self)
{
    const life_t life = life_of(process_in(name), self);
    const bool stale = life == GONE || (life == ELSEWHERE && *name == 'h' && is_old(discovery, name));

    if (stale) take_away(discovery, name);
    return stale;
}

void ompp_rank_discovery_announce(ompp_rank_discovery_t *discovery)
{
    const int saved = errno;
    process_t self;
    char name[120];

    name_self(self);
    snprintf(name, sizeof name, "coming.%s", self);
    if (*discovery->place) put_first(discovery, name, "-");
    errno = saved;
}

/* Ours go. \return whether there are none of others. */
static bool take_away_own(const ompp_rank_discovery_t *discovery, const process_t self)
{
    DIR *dir = list(discovery);
    const struct dirent *entry;
    bool alone = true;

    while (dir && (entry = readdir(dir))) {
        const char *process = process_in(entry->d_name);
        if (process && strcmp(process, self) == 0) take_away(discovery, entry->d_name);
        else if (process && !is_stale(discovery, entry->d_name, self)) alone = false;
    }
    if (dir) closedir(dir);
    return dir && alone;
}

static void remove_place(const ompp_rank_discovery_t *discovery)
{
    DIR *dir = list(discovery);
    const struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        if (!process_in(entry->d_name) && is_of_meeting(entry->d_name)) take_away(discovery, entry->d_name);
    if (dir) closedir(dir);
    rmdir(discovery->place); /* unless somebody has come meanwhile */
}

/* Everybody's names are there until he knows what is settled, so the last one may remove that. He is who sees it behind
 * his own going. */
void ompp_rank_discovery_leave(ompp_rank_discovery_t *discovery)
{
    const int saved = errno;
    process_t self;

    name_self(self);
    if (*discovery->place) {
        take_away_own(discovery, self);
        if (take_away_own(discovery, self)) remove_place(discovery);
    }
    discovery->place[0] = '\0';
    errno = saved;
}

/* ---- Sweeping ---------------------------------------------------------------------------------------------------- */

/* What has come there since counts, too: a process whose place is taken from under it makes it anew (put_first). */
static bool is_deserted(ompp_rank_discovery_t *place, const ompp_rank_discovery_t *new, const process_t self)
{
    struct stat was, now;
    char text[4096];

    if (!find_place(place) || lstat(place->place, &was) != 0 || lstat(new->place, &now) != 0) return false;
    if (was.st_mtime + QUIET_S > now.st_mtime) return false;
    DIR *dir = list(place);
    const struct dirent *entry;
    bool gone = dir != NULL;
    while (gone && (entry = readdir(dir))) {
        const char *process = process_in(entry->d_name);
        if (*entry->d_name == '.' || strcmp(entry->d_name, "look") == 0) continue;
        if (!process && strncmp(entry->d_name, "met.", 4) == 0 && text_of(place, entry->d_name, text, sizeof text) > 0)
            process = text;
        const life_t life = process ? life_of(process, self) : LIVES; /* what is not of a meeting is somebody's */
        gone = life == GONE || (life == ELSEWHERE && was.st_mtime + OLD_S < now.st_mtime);
    }
    if (dir) closedir(dir);
    return gone;
}

static void remove_deserted(const ompp_rank_discovery_t *place)
{
    DIR *dir = list(place);
    const struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        if (is_of_meeting(entry->d_name)) take_away(place, entry->d_name);
    if (dir) closedir(dir);
    rmdir(place->place);
}

/* Of all who meet one does it, for he has made the place; bounded, should there be very many files beside it. */
static void sweep(const char *dir_name, const ompp_rank_discovery_t *new)
{
    DIR *dir = opendir(dir_name);
    const struct dirent *entry;
    char begin[40];
    process_t self;

    name_self(self);
    snprintf(begin, sizeof begin, PLACES, (unsigned)geteuid());
    for (unsigned looked = 0, swept = 0; dir && (entry = readdir(dir)) && looked < MAX_LOOKED && swept < MAX_SWEPT;
         looked++) {
        ompp_rank_discovery_t other = {0};
        if (strncmp(entry->d_name, begin, strlen(begin)) != 0) continue;
        if (snprintf(other.place, sizeof other.place, "%s/%s", dir_name, entry->d_name) >= (int)sizeof other.place)
            continue;
        if (strcmp(other.place, new->place) == 0 || !is_deserted(&other, new, self)) continue;
        remove_deserted(&other);
        swept++;
    }
    if (dir) closedir(dir);
}

bool ompp_rank_discovery_open(ompp_rank_discovery_t *discovery, const char *const *dirs, const char *name)
{
    const int saved = errno;

    *discovery = (ompp_rank_discovery_t){0};
    for (; *dirs && !*discovery->place; dirs++) {
        const char *dir = **dirs ? *dirs : ".";
        int n = snprintf(discovery->place, sizeof discovery->place, "%s/" PLACES "%016llx", dir, (unsigned)geteuid(),
                         (unsigned long long)hash_of(name));
        const bool fits = n < (int)sizeof discovery->place, made = fits && mkdir(discovery->place, 0700) == 0;
        if (fits && (made || errno == EEXIST) && find_place(discovery)) {
            if (made) sweep(dir, discovery);
            break;
        }
        discovery->place[0] = '\0';
    }
    errno = saved;
    return *discovery->place != '\0';
}

/* ---- Ranks as text ----------------------------------------------------------------------------------------------- */

/* \return false when they are too many for it. */
static bool write_ranks(ranks_text_t text, const int *ranks, size_t n)
{
    size_t used = 0;

    for (size_t i = 0, last; i < n; i = last + 1) {
        for (last = i; last + 1 < n && ranks[last + 1] == ranks[last] + 1;) last++;
        if (used + 24 > sizeof(ranks_text_t)) return false;
        used += (size_t)snprintf(text + used, sizeof(ranks_text_t) - used, last > i ? "%s%d-%d" : "%s%d", i ? "," : "",
                                 ranks[i], ranks[last]);
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
    int *added = ompp_vector_push(&people->rank, &people->n, &people->allocated, sizeof *added);

    if (added) *added = rank;
    return added;
}

static bool add_ranks(people_t *people, const char *text)
{
    bool ok = true;
    int first, last, used;

    for (const char *at = text; *at && ok; at += used + (at[used] == ',')) {
        if (sscanf(at, "%d%n", &first, &used) != 1) return false;
        last = first;
        if (at[used] == '-' && sscanf(at, "%d-%d%n", &first, &last, &used) != 2) return false;
        for (; first <= last && ok; first++) ok = add_rank(people, first);
    }
    return ok;
}

/* ---- Who is there ------------------------------------------------------------------------------------------------ */

/*
 * How many they are stands in the names. with_ranks: who they are, from the text. self: NULL = count the dead, too.
 * \return false when it cannot be known: the place is gone, or there is no memory.
 */
static bool look(const ompp_rank_discovery_t *discovery, const char *self, people_t *people, bool with_ranks)
{
    DIR *dir = list(discovery);
    const struct dirent *entry;
    ranks_text_t text;
    bool ok = dir != NULL;
    int rank, n;

    *people = (people_t){0};
    while (dir && (entry = readdir(dir))) {
        if (!process_in(entry->d_name) || (self && is_stale(discovery, entry->d_name, self))) continue;
        people->coming += *entry->d_name == 'c';
        if (sscanf(entry->d_name, "here.%d.%d", &rank, &n) != 2) continue;
        people->here++;
        if (!with_ranks) people->n += (size_t)n;
        else if (text_of(discovery, entry->d_name, text, sizeof text) > 0) ok = add_ranks(people, text) && ok;
    }
    if (dir) closedir(dir);
    return ok;
}

/* Clients of network file systems keep what a directory has: they look again when they have changed it themselves. */
static void look_again(const ompp_rank_discovery_t *discovery)
{
    if (put(discovery, "look", "-")) take_away(discovery, "look");
}

/* ---- The meeting ------------------------------------------------------------------------------------------------- */

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

/*
 * What is settled: by a process that lives, or one elsewhere and not long ago; what is older is another job's.
 * \param[out] name  of it, or free for it.
 */
static bool find_settled(const ompp_rank_discovery_t *discovery, const process_t self, char name[20], char text[4096])
{
    for (int k = 0;; k++) {
        snprintf(name, 20, "met.%d", k);
        if (text_of(discovery, name, text, 4096) <= 0) return false;
        const life_t life = life_of(text, self);
        if (life == LIVES || (life == ELSEWHERE && !is_old(discovery, name))) return true;
    }
}

/* A rank that is there twice is somebody's who is dead, and nobody can tell whose. */
static bool differ(const people_t *people)
{
    bool all = true;

    for (size_t i = 1; i < people->n; i++) all = all && people->rank[i] != people->rank[i - 1];
    return all;
}

static bool is_over(const people_t *people, const ompp_rank_discovery_limits_t *limits, double waited_s)
{
    if (people->n >= (size_t)limits->all) return true;
    return waited_s > limits->limit_s || (waited_s > limits->patience_s && people->here >= people->coming);
}

/* Whoever is first settles it: others find it settled. Nobody has met anybody when it cannot be said who has, or when
 * that failed. */
static void settle(const ompp_rank_discovery_t *discovery, const process_t self,
                   const ompp_rank_discovery_limits_t *limits, double waited_s)
{
    char name[20], text[4096];
    ranks_text_t ranks;
    people_t people = {0};

    if (find_settled(discovery, self, name, text)) return;
    bool known = waited_s <= limits->limit_s + 1 && look(discovery, self, &people, true);
    if (known && !is_over(&people, limits, waited_s)) {
        free(people.rank);
        return;
    }
    if (people.n) qsort(people.rank, people.n, sizeof *people.rank, ascending);
    known = known && differ(&people) && write_ranks(ranks, people.rank, people.n);
    free(people.rank);
    snprintf(text, sizeof text, "%s %s", self, known ? ranks : "");
    if (put(discovery, name, text) || !known) return;
    /* too long for this file system; or it is settled, and this comes too late */
    snprintf(text, sizeof text, "%s ", self);
    put(discovery, name, text);
}

static void nap(double waited_s)
{
    const struct timespec t = {0, waited_s < 0.01 ? 200000 : waited_s < 1 ? 2000000 : 20000000};

    nanosleep(&t, NULL);
}

/* \return false when the place is gone with what was settled, by the last of those, or when nothing can be written
 * there. */
static bool wait_for_others(const ompp_rank_discovery_t *discovery, const process_t self,
                            const ompp_rank_discovery_limits_t *limits, people_t *met)
{
    const double start = seconds_now();
    char name[20], text[4096];
    people_t people;
    double waited = 0;

    while (!find_settled(discovery, self, name, text)) {
        if (waited > 2 * limits->limit_s + 2) return false;
        if (!look(discovery, waited > limits->patience_s ? self : NULL, &people, false) &&
            (errno == ENOENT || errno == ESTALE))
            return false;
        waited = seconds_now() - start;
        if (is_over(&people, limits, waited)) settle(discovery, self, limits, waited);
        if (waited > limits->patience_s / 10) look_again(discovery);
        nap(waited);
    }
    const char *ranks = strchr(text, ' ');
    return ranks && add_ranks(met, ranks + 1);
}

static bool has_all(const people_t *met, const int *ranks, int n)
{
    bool all = true;

    for (int i = 0; i < n && all; i++) all = met->n && bsearch(&ranks[i], met->rank, met->n, sizeof(int), ascending);
    return all;
}

int ompp_rank_discovery_hold(ompp_rank_discovery_t *discovery, const int *ranks, int n,
                             const ompp_rank_discovery_limits_t *limits, int **met)
{
    const int saved = errno;
    people_t people = {0};
    ranks_text_t text;
    process_t self;
    char name[160];

    name_self(self);
    snprintf(name, sizeof name, "here.%d.%d.%s", ranks[0], n, self);
    const bool arrival = *discovery->place && write_ranks(text, ranks, (size_t)n) && put_first(discovery, name, text);
    discovery->fd = arrival ? enter(discovery) : -1; /* what comes to the place's name is nothing to a meeting */
    discovery->held = discovery->fd >= 0;
    discovery->arrival_s = arrival ? time_of(discovery, name) : 0;
    discovery->old_s = 2 * limits->limit_s + 4;
    if (!arrival || !wait_for_others(discovery, self, limits, &people) || !has_all(&people, ranks, n)) {
        people.n = 0;
        for (int i = 0; i < n; i++) add_rank(&people, ranks[i]);
    }
    if (discovery->held) close(discovery->fd);
    discovery->held = false;
    *met = people.rank;
    errno = saved;
    return (int)people.n;
}
