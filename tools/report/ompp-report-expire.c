/*
 * Leftovers that nobody wants any more, for the end of a job (epilogue): by their names and owners, nothing is opened.
 */
#define _GNU_SOURCE
#include "tools/report/ompp-report.h"

#include "base/ompp_new_file.h"
#include "tools/report/ompp-report-left.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Whether it is in use cannot be seen of these: a report takes no hour to be written, nor MPI_Init to be left. */
#define LEAST_SECONDS 3600

long ompp_report_duration(const char *text)
{
    static const struct {
        const char *unit;
        long seconds;
    } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    int used = 0;
    long n;

    if (sscanf(text, "%9ld%n", &n, &used) != 1 || n < 0 || text[0] < '0' || text[0] > '9') return -1;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(text + used, units[i].unit) == 0) return n * units[i].seconds;
    return -1;
}

/* The whole name is of this form. */
static bool is_meeting(const char *name, unsigned *user)
{
    unsigned long long hash;
    int used = 0;

    return sscanf(name, ".ompp-meet-%u-%16llx%n", user, &hash, &used) == 2 && !name[used] &&
           !name[11 + strspn(name + 11, "-0123456789abcdef")];
}

static bool is_temporary(const char *name)
{
    return strncmp(name, ".ompp-", 6) == 0 && strlen(name) == 22 && strspn(name + 6, "0123456789abcdef") == 16;
}

/*
 * A process's file whose process is gone, a file that was not written to its end, or a place where ranks have met.
 * age: seconds since it was last written.
 */
static bool is_left(const char *name, const struct stat *st, time_t age)
{
    unsigned user;

    if (S_ISDIR(st->st_mode)) return age >= LEAST_SECONDS && is_meeting(name, &user) && user == st->st_uid;
    if (!S_ISREG(st->st_mode)) return false;
    if (is_temporary(name)) return age >= LEAST_SECONDS;
    return sscanf(name, "ompp-%u-", &user) == 1 && user == st->st_uid && ompp_left_is_gone(name);
}

/* Removes a directory that holds nothing but names: of what another user leads there by a link nothing goes. */
static int remove_place(int dir, const char *name)
{
    const int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *place = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;

    while (place && (entry = readdir(place)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) unlinkat(fd, entry->d_name, 0);
    if (place) closedir(place);
    return unlinkat(dir, name, AT_REMOVEDIR);
}

static bool expire(const char *path, time_t least)
{
    const time_t now = time(NULL);
    char message[PATH_MAX + 300];
    DIR *dir = opendir(path);
    const struct dirent *entry;
    struct stat st;
    bool ok = dir != NULL;

    if (!dir) {
        snprintf(message, sizeof message, "%s: %s", path, strerror(errno));
        ompp_report_complain(message);
    }
    while (dir && (entry = readdir(dir))) {
        if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || now - st.st_mtime < least ||
            !is_left(entry->d_name, &st, now - st.st_mtime) || (geteuid() != 0 && !ompp_new_file_is_own(&st, path)))
            continue;
        if ((S_ISDIR(st.st_mode) ? remove_place(dirfd(dir), entry->d_name) : unlinkat(dirfd(dir), entry->d_name, 0)) ==
            0) {
            printf("%s/%s\n", path, entry->d_name);
        } else if (errno != ENOENT) {
            snprintf(message, sizeof message, "%s/%s: not removed: %s", path, entry->d_name, strerror(errno));
            ompp_report_complain(message);
            ok = false;
        }
    }
    if (dir) closedir(dir);
    return ok;
}

int ompp_report_expire(const request_t *request, char **files, int n)
{
    const char *usual[3];
    const size_t places = n ? (size_t)n : ompp_left_places(usual);
    bool ok = true;

    for (size_t i = 0; i < places; i++) ok = expire(n ? files[i] : usual[i], request->expire) && ok;
    return ok ? ompp_report_finish() : EXIT_BAD;
}
