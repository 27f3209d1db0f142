#define _GNU_SOURCE
#include "tools/report/ompp-report-left.h"
#include "tools/report/ompp-report.h"

#include "base/ompp_env.h"
#include "base/ompp_error.h"
#include "base/ompp_new_file.h"
#include "base/ompp_path.h"
#include "base/ompp_vector.h"
#include "image/ompp_proc.h"
#include "model/ompp_collect.h"
#include "model/ompp_merge.h"
#include "model/ompp_pack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS 50u /* between two looks at a process that still runs */

/* ---- Finding ----------------------------------------------------------------------------------------------------- */

/* Copies may lie anywhere and are nobody's memory, but those that a run makes (OMPP_CHECKPOINT) are in use while it is
 * there. */
static ompp_life_t life_of_copy(const char *path, const ompp_profile_t *profile)
{
    const char *slash = strrchr(path, '/');
    char host[256] = "";

    gethostname(host, sizeof host - 1);
    if (!strstr(slash ? slash : path, ".checkpoint-") || profile->nranks_kept != 1) return OMPP_LIFE_OVER;
    if (strcmp(host, ompp_profile_text(profile, profile->ranks[0].host)) != 0) return OMPP_LIFE_OVER;
    const ompp_rank_t *rank = &profile->ranks[0];
    const ompp_proc_state_t state = ompp_proc_find((pid_t)rank->pid, rank->start_ticks, rank->pid_space);
    return state == OMPP_PROC_THERE ? OMPP_LIFE_ENDS : state == OMPP_PROC_GONE ? OMPP_LIFE_OVER : OMPP_LIFE_HIDDEN;
}

/* "ompp-USER-PROCESS-START[-SPACE]": of other places nobody knows whose process that was. */
static ompp_life_t life_by_name(const char *path)
{
    unsigned long user;
    unsigned long long start, space = 0;
    int pid, read;

    read = sscanf(ompp_path_last(path), "ompp-%lu-%d-%llx-%llx", &user, &pid, &start, &space);
    if (read < 3) return OMPP_LIFE_OVER;
    const ompp_proc_state_t state = ompp_proc_find(pid, start, read > 3 ? space : OMPP_PROC_SPACE_ALL);
    return state == OMPP_PROC_THERE ? OMPP_LIFE_RUNS : state == OMPP_PROC_GONE ? OMPP_LIFE_OVER : OMPP_LIFE_HIDDEN;
}

bool ompp_left_is_gone(const char *name)
{
    unsigned long user;
    unsigned long long start;
    int pid;

    return sscanf(name, "ompp-%lu-%d-%llx", &user, &pid, &start) == 3 &&
           !name[5 + strspn(name + 5, "-0123456789abcdef")] && life_by_name(name) == OMPP_LIFE_OVER;
}

static bool is_same(const ompp_left_file_t *file, const struct stat *st)
{
    return file->device == st->st_dev && file->inode == st->st_ino;
}

static void note_foreign(ompp_left_list_t *list, const char *path, bool own, const struct stat *st)
{
    bool seen = false;

    for (size_t i = 0; i < list->nforeign && !seen; i++) seen = is_same(&list->foreign[i], st);
    char *file = seen ? NULL : realpath(path, NULL);
    ompp_left_file_t *bigger = file ? realloc(list->foreign, (list->nforeign + 1) * sizeof *bigger) : NULL;
    if (!bigger) {
        free(file);
        return;
    }
    list->foreign = bigger;
    list->foreign[list->nforeign++] = (ompp_left_file_t){file, st->st_dev, st->st_ino, own, life_by_name(file)};
}

bool ompp_left_remove(const ompp_left_file_t *file)
{
    const char *name = ompp_path_last(file->path);
    char above[PATH_MAX];
    struct stat st;

    snprintf(above, sizeof above, "%.*s", (int)(name - file->path), file->path);
    const int dir = open(*above ? above : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool ok = dir >= 0 && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (ok && !is_same(file, &st)) {
        errno = ESTALE;
        ok = false;
    }
    ok = ok && unlinkat(dir, name, 0) == 0;
    const int error = errno;
    if (dir >= 0) close(dir);
    errno = error;
    return ok;
}

/* Own files are those of the directory's user here. */
static bool is_own(const struct stat *st, const char *path)
{
    char dir[PATH_MAX];

    snprintf(dir, sizeof dir, "%.*s", (int)(ompp_path_last(path) - path), path);
    return ompp_new_file_is_own(st, *dir ? dir : ".");
}

/* \return 0 when the file holds the profile of one process, else an error code. */
static int add_open_file(ompp_left_list_t *list, const char *path, int fd, const struct stat *st, bool own)
{
    ompp_left_t piece = {.file = {strdup(path), st->st_dev, st->st_ino, own, OMPP_LIFE_OVER}};
    int rc = ompp_collect_fd(fd, &piece.profile, &piece.file.life);

    for (; rc == 0 && piece.file.life >= OMPP_LIFE_ENDS && list->patience_ms >= LOOK_MS; list->patience_ms -= LOOK_MS) {
        const struct timespec pause = {0, LOOK_MS * 1000000L};
        ompp_profile_free(piece.profile);
        nanosleep(&pause, NULL);
        rc = ompp_collect_fd(fd, &piece.profile, &piece.file.life);
    }
    if (rc == -OMPP_E_FORMAT) {
        rc = ompp_pack_read_fd(fd, &piece.profile);
        piece.copy = true;
        if (rc == 0) piece.file.life = life_of_copy(path, piece.profile);
    }
    if (rc == -OMPP_E_VERSION) note_foreign(list, path, own, st);
    if (rc == 0 && (piece.profile->nranks_kept != 1 || piece.profile->nrest)) rc = -OMPP_E_FORMAT;
    ompp_left_t *to = rc == 0 ? ompp_vector_push(&list->piece, &list->n, &list->allocated, sizeof piece) : NULL;
    if (to) {
        *to = piece;
        return 0;
    }
    if (rc == 0) rc = -OMPP_E_NOMEM;
    ompp_profile_free(piece.profile);
    free(piece.file.path);
    return rc;
}

int ompp_left_open(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat st;

    if (fd >= 0 && fstat(fd, &st) == 0 && !is_own(&st, path)) ompp_report_note_maker(&st);
    return fd;
}

/* A file that is named. It may be of anybody, and hold anything. */
static int add_file(ompp_left_list_t *list, const char *path)
{
    const int fd = ompp_left_open(path);
    struct stat st;

    if (fd < 0) return -OMPP_E_OPEN;
    const int rc = fstat(fd, &st) == 0 ? add_open_file(list, path, fd, &st, is_own(&st, path)) : -OMPP_E_IO,
              error = errno;
    close(fd);
    errno = error;
    return rc;
}

/* A file that was found: nothing of it is read that another user may have written. */
static int add_found(ompp_left_list_t *list, const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
    struct stat st;
    int rc = -OMPP_E_FORMAT;

    if (fd < 0) {
        if (lstat(path, &st) == 0 && S_ISREG(st.st_mode) && !is_own(&st, path)) list->nskipped++;
        return -OMPP_E_OPEN;
    }
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        if (is_own(&st, path)) rc = add_open_file(list, path, fd, &st, true);
        else list->nskipped++;
    }
    close(fd);
    return rc;
}

/* Files by their names; what is in them is looked at only then. */
static long add_directory(ompp_left_list_t *list, const char *dir, const char *pattern)
{
    struct dirent **names;
    int n = scandir(dir, &names, NULL, alphasort);
    long added = 0;
    char path[PATH_MAX];

    if (n < 0) return -1;
    for (int i = 0; i < n; i++) {
        const char *name = names[i]->d_name;
        bool wanted = fnmatch(pattern, name, 0) == 0 || fnmatch("*.ompp.bin", name, 0) == 0;
        if (wanted && snprintf(path, sizeof path, "%s/%s", dir, name) < (int)sizeof path && add_found(list, path) == 0)
            added++;
        free(names[i]);
    }
    free(names);
    return added;
}

/* As a run chooses them (ompp_runtime_node_dirs): who has named one means that one, whatever is elsewhere. \return
 * their number. */
size_t ompp_left_places(const char *dirs[3])
{
    const char *tmpdir = ompp_env_foreign("TMPDIR"), *set = ompp_env_foreign("OMPP_JOB_DIR");
    size_t n = 0;

    if (set && *set) {
        dirs[n++] = set;
        return n;
    }
    dirs[n++] = "/dev/shm";
    if (tmpdir && *tmpdir && strcmp(tmpdir, "/tmp") != 0) dirs[n++] = tmpdir;
    dirs[n++] = "/tmp";
    return n;
}

void ompp_left_usual_places(char *text, size_t size)
{
    const char *dirs[3], *set = ompp_env_foreign("OMPP_JOB_DIR");
    const size_t n = ompp_left_places(dirs);
    size_t used = 0;

    *text = '\0';
    for (size_t i = 0; i < n && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 i             ? ", "
                                 : set && *set ? "OMPP_JOB_DIR="
                                               : "",
                                 dirs[i]);
}

/* Files of this user, whatever names others give theirs. */
static long add_usual_places(ompp_left_list_t *list, char *why, size_t size)
{
    const char *dirs[3];
    const size_t n = ompp_left_places(dirs);
    char pattern[64];
    long added = 0, here = 0;

    snprintf(pattern, sizeof pattern, "ompp-%u-*-*", (unsigned)getuid());
    for (size_t i = 0; i < n; i++) {
        here = add_directory(list, dirs[i], pattern);
        if (here > 0) added += here;
    }
    if (n > 1 || here >= 0) return added;
    snprintf(why, size, "OMPP_JOB_DIR=%s: %s", dirs[0], strerror(errno));
    return -1;
}

void ompp_left_why(const char *path, int rc, char *why, size_t n)
{
    const char *before = "", *what = rc == -OMPP_E_OPEN || rc == -OMPP_E_IO ? strerror(errno) : ompp_error_message(rc);

    if (rc == -OMPP_E_VERSION)
        before = "convert it with the ompp-report of its version: ", what = "written by another version of ompp";
    if (rc == -OMPP_E_FORMAT)
        before = "use show, csv or check for a report: ",
        what = "not what a run leaves (FILE.ompp.bin, /dev/shm/ompp-*)";
    snprintf(why, n, "%s%.1000s: %s", before, path, what);
}

long ompp_left_find(ompp_left_list_t *list, const char *path, char *why, size_t n)
{
    struct stat st;
    int rc;

    if (n) why[0] = '\0';
    if (!path) return add_usual_places(list, why, n);
    if (stat(path, &st) != 0) {
        snprintf(why, n, "%s: %s", path, strerror(errno));
        return -1;
    }
    if (S_ISDIR(st.st_mode)) {
        long added = add_directory(list, path, "ompp-*-*-*");
        if (added < 0) snprintf(why, n, "%s: %s", path, strerror(errno));
        return added;
    }
    rc = add_file(list, path);
    if (rc == 0) return 1;
    if (rc == -OMPP_E_VERSION) return 0;
    ompp_left_why(path, rc, why, n);
    return -1;
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

static const ompp_rank_t *rank_of(const ompp_left_t *piece) { return &piece->profile->ranks[0]; }

static const char *job_of(const ompp_left_t *piece) { return ompp_profile_text(piece->profile, rank_of(piece)->job); }

static const char *launch_of(const ompp_left_t *piece)
{
    return ompp_profile_text(piece->profile, rank_of(piece)->launch);
}

/* How much a piece knows of its run: its name; its rank, from MPI; that it has called MPI, at least. */
static int knowledge(const ompp_left_t *piece)
{
    const ompp_profile_t *profile = piece->profile;

    if (*job_of(piece)) return 3;
    if (profile->mpi) return 2;
    for (size_t r = 0; rank_of(piece)->launcher_rank != OMPP_NONE && r < profile->nregions; r++)
        if (profile->regions[r].construct == OMPP_CONSTRUCT_MPI) return 1;
    return 0;
}

/* The order in which pieces find their runs. */
static int by_knowledge(const void *a, const void *b)
{
    const ompp_left_t *x = a, *y = b;

    if (knowledge(x) != knowledge(y)) return knowledge(y) - knowledge(x);
    return rank_of(x)->begin_epoch_ns < rank_of(y)->begin_epoch_ns
               ? -1
               : rank_of(x)->begin_epoch_ns > rank_of(y)->begin_epoch_ns;
}

static int by_run(const void *a, const void *b)
{
    const ompp_left_t *x = a, *y = b;

    if (x->run != y->run) return x->run < y->run ? -1 : 1;
    if (rank_of(x)->rank != rank_of(y)->rank) return rank_of(x)->rank < rank_of(y)->rank ? -1 : 1;
    if (rank_of(x)->duration_ns != rank_of(y)->duration_ns)
        return rank_of(x)->duration_ns > rank_of(y)->duration_ns ? -1 : 1;
    return (int)x->copy - (int)y->copy;
}

static bool run_has_rank(const ompp_left_list_t *list, size_t n, size_t run, uint32_t rank)
{
    for (size_t i = 0; i < n; i++)
        if (list->piece[i].run == run && rank_of(&list->piece[i])->rank == rank) return true;
    return false;
}

/* The run, among those of the first n pieces, that the piece belongs to; nruns = none of them. */
static size_t find_run(const ompp_left_list_t *list, size_t n, const ompp_left_t *piece)
{
    const char *job = job_of(piece), *launch = launch_of(piece);
    uint32_t rank = piece->profile->mpi ? rank_of(piece)->rank : rank_of(piece)->launcher_rank;

    for (size_t i = 0; i < n; i++) {
        const ompp_left_t *other = &list->piece[i];
        if (*job && strcmp(job, job_of(other)) == 0) return other->run;
        if (!*job && *launch && other->profile->mpi && strcmp(launch, launch_of(other)) == 0 &&
            !run_has_rank(list, n, other->run, rank))
            return other->run;
    }
    return list->nruns;
}

/* A process that died in or before MPI_Init, of a run whose other ranks came further: its rank is what the launcher
 * said. */
static void take_launchers_rank(ompp_profile_t *profile, uint32_t size)
{
    uint32_t rank = profile->ranks[0].launcher_rank;

    for (size_t i = 0; i < profile->nlocations; i++) profile->locations[i].rank = rank;
    for (size_t i = 0; i < profile->nnodes; i++) profile->nodes[i].first_rank = rank;
    for (size_t i = 0; i < profile->nobjects; i++) profile->objects[i].rank = rank;
    for (size_t i = 0; i < profile->ncoverage; i++) {
        char text[16];
        snprintf(text, sizeof text, "%u", rank);
        if (profile->coverage[i].kind == OMPP_COVERAGE_INCOMPLETE)
            profile->coverage[i].subject = ompp_profile_string(profile, text);
    }
    profile->ranks[0].rank = rank;
    profile->nranks = size > rank ? size : rank + 1;
    profile->mpi = true;
}

static uint32_t size_of_run(const ompp_left_list_t *list, size_t n, size_t run)
{
    for (size_t i = 0; i < n; i++)
        if (list->piece[i].run == run) return list->piece[i].profile->nranks;
    return 1;
}

void ompp_left_group(ompp_left_list_t *list)
{
    if (list->n) qsort(list->piece, list->n, sizeof *list->piece, by_knowledge);
    list->nruns = 0;
    for (size_t i = 0; i < list->n; i++) {
        ompp_left_t *piece = &list->piece[i];
        piece->run = find_run(list, i, piece);
        if (piece->run == list->nruns) list->nruns++;
        else if (!piece->profile->mpi) take_launchers_rank(piece->profile, size_of_run(list, i, piece->run));
        if (knowledge(piece) == 1) take_launchers_rank(piece->profile, 1);
    }
    if (list->n) qsort(list->piece, list->n, sizeof *list->piece, by_run);
    for (size_t i = 0; i < list->n; i++)
        list->piece[i].chosen = i == 0 || list->piece[i].run != list->piece[i - 1].run ||
                                rank_of(&list->piece[i])->rank != rank_of(&list->piece[i - 1])->rank;
}

/* "MPI_Abort" of "MPI_Abort; its last event was ..." */
static void note_end(const ompp_left_t *piece, ompp_left_run_t *known)
{
    const ompp_profile_t *profile = piece->profile;

    for (size_t i = 0; i < profile->ncoverage && !known->end; i++) {
        if (profile->coverage[i].kind != OMPP_COVERAGE_INCOMPLETE) continue;
        known->end = ompp_profile_text(profile, profile->coverage[i].reason);
        known->length = strcspn(known->end, ";");
    }
}

ompp_left_run_t ompp_left_run(const ompp_left_list_t *list, size_t run)
{
    ompp_left_run_t known = {.begin_epoch_ns = UINT64_MAX};

    for (size_t i = 0; i < list->n; i++) {
        const ompp_left_t *piece = &list->piece[i];
        if (piece->run != run || !piece->chosen) continue;
        if (!known.found++) {
            known.app = ompp_profile_text(piece->profile, piece->profile->app);
            known.path = piece->file.path;
        }
        known.living += piece->file.life == OMPP_LIFE_RUNS;
        if (piece->profile->nranks > known.nranks) known.nranks = piece->profile->nranks;
        if (rank_of(piece)->begin_epoch_ns < known.begin_epoch_ns)
            known.begin_epoch_ns = rank_of(piece)->begin_epoch_ns;
        if (piece->file.life != OMPP_LIFE_RUNS) note_end(piece, &known);
    }
    return known;
}

/* ---- Joining ----------------------------------------------------------------------------------------------------- */

static void note_missing(ompp_profile_t *profile, uint32_t first, uint32_t end)
{
    char subject[40];

    if (first >= end) return;
    if (first + 1 == end) snprintf(subject, sizeof subject, "%u", first);
    else snprintf(subject, sizeof subject, "%u-%u", first, end - 1);
    ompp_profile_add_coverage(profile, OMPP_COVERAGE_INCOMPLETE, subject, "nothing of it was found", 1);
}

static void note_all_missing(ompp_profile_t *profile)
{
    uint32_t next = 0;

    for (size_t i = 0; i < profile->nranks_kept; i++) {
        note_missing(profile, next, profile->ranks[i].rank);
        next = profile->ranks[i].rank + 1;
    }
    note_missing(profile, next, profile->nranks);
}

#define SHOWN 4 /* ranks whose last events are told in order */

typedef struct {
    uint32_t rank;
    uint64_t epoch_ns;
} last_t;

static int by_time(const void *a, const void *b)
{
    const last_t *x = a, *y = b;

    if (x->epoch_ns != y->epoch_ns) return x->epoch_ns < y->epoch_ns ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static void note_last(ompp_profile_t *profile, last_t *last, size_t n)
{
    char text[300];
    size_t used;

    qsort(last, n, sizeof *last, by_time);
    used = (size_t)snprintf(text, sizeof text, "rank %u was the first whose events ended", last[0].rank);
    for (size_t i = 1; i < n && i < SHOWN; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, ", rank %u %.3f s later", last[i].rank,
                                 1e-9 * (double)(last[i].epoch_ns - last[0].epoch_ns));
    if (n > SHOWN) snprintf(text + used, sizeof text - used, ", then %zu more", n - SHOWN);
    ompp_profile_add_coverage(profile, OMPP_COVERAGE_NOTE, text,
                              "a rank that waits in a call has no events; each node has its own clock", 1);
}

/* Ranks that are gone and have not said why: by what is not known, and which was the first can only be told from their
 * last events. */
static void note_deaths(const ompp_left_list_t *list, size_t run, ompp_profile_t *profile)
{
    last_t *last = calloc(list->n + 1, sizeof *last);
    ompp_left_run_t known = {0};
    size_t n = 0;
    bool silent = false;

    for (size_t i = 0; last && i < list->n; i++) {
        const ompp_left_t *piece = &list->piece[i];
        if (piece->run != run || !piece->chosen || piece->file.life != OMPP_LIFE_OVER) continue;
        known.end = NULL;
        note_end(piece, &known);
        silent = silent || (known.end && strncmp(known.end, "the process died", 16) == 0);
        last[n++] = (last_t){rank_of(piece)->rank, rank_of(piece)->begin_epoch_ns + rank_of(piece)->duration_ns};
    }
    if (silent)
        ompp_profile_add_coverage(
            profile, OMPP_COVERAGE_NOTE, "what ended the processes is not known",
            "a signal (kill, crash, out of memory) or _exit: the launcher's message or the shell's status says "
            "which",
            1);
    if (n > 1) note_last(profile, last, n);
    free(last);
}

ompp_profile_t *ompp_left_join(const ompp_left_list_t *list, size_t run, bool running)
{
    ompp_profile_t *profile = ompp_profile_new();
    size_t joined = 0;

    for (size_t i = 0; profile && i < list->n; i++) {
        const ompp_left_t *piece = &list->piece[i];
        if (piece->run != run || !piece->chosen || (piece->file.life == OMPP_LIFE_RUNS && !running)) continue;
        ompp_profile_merge(profile, piece->profile);
        joined++;
    }
    if (profile && joined && !profile->failed && profile->mpi) note_all_missing(profile);
    if (profile && joined && !profile->failed) note_deaths(list, run, profile);
    if (profile && joined && !profile->failed) return profile;
    ompp_profile_free(profile);
    return NULL;
}

void ompp_left_free(ompp_left_list_t *list)
{
    for (size_t i = 0; i < list->n; i++) {
        ompp_profile_free(list->piece[i].profile);
        free(list->piece[i].file.path);
    }
    for (size_t i = 0; i < list->nforeign; i++) free(list->foreign[i].path);
    free(list->foreign);
    free(list->piece);
    *list = (ompp_left_list_t){0};
}
