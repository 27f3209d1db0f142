/* Files for writing that nobody else can have prepared; whose files are this user's own. */
#define _GNU_SOURCE
#include "base/ompp_new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/vfs.h>
#include <unistd.h>

#define MAX_LINKS 40  /* as many as Linux follows */
#define MAX_TRIES 100 /* names that are taken */
#define PATIENCE 5000 /* ms, for a reader that takes nothing */
#define PROC_MAGIC 0x9fa0

/* The directory of a path, with its slash; "./" when it has none. */
static bool directory_of(char *dir, size_t size, const char *path)
{
    const char *slash = strrchr(path, '/');
    const int n = slash ? snprintf(dir, size, "%.*s", (int)(slash - path) + 1, path) : snprintf(dir, size, "./");

    if (n < (int)size) return true;
    errno = ENAMETOOLONG;
    return false;
}

/* A name that nobody can know before, in a directory that ends with a slash. */
static bool name_randomly(char *path, size_t size, const char *dir)
{
    uint64_t number;

    if (getrandom(&number, sizeof number, 0) != sizeof number) return false;
    if (snprintf(path, size, "%s.ompp-%016llx", dir, (unsigned long long)number) < (int)size) return true;
    errno = ENAMETOOLONG;
    return false;
}

/* A new file of a random name. \return descriptor, -1 with errno. */
static int make(char *path, size_t size, const char *dir, mode_t mode)
{
    int fd = -1;

    for (int i = 0; i < MAX_TRIES && (i == 0 || (fd < 0 && errno == EEXIST)); i++) {
        if (!name_randomly(path, size, dir)) return -1;
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    }
    return fd;
}

/* The process's umask, which umask() cannot tell without changing it for the other threads. */
static mode_t read_umask(void)
{
    FILE *status = fopen("/proc/self/status", "re");
    char line[256];
    unsigned mask = 022;

    if (!status) return mask;
    while (fgets(line, sizeof line, status))
        if (sscanf(line, "Umask: %o", &mask) == 1) break;
    fclose(status);
    return mask;
}

/*
 * A new file without a name, of which nothing is left when the process is killed. \return descriptor; -1: it cannot be
 * had here, or not be given a name.
 */
static int make_nameless(const char *dir, mode_t mode)
{
    const int fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
    struct stat made;
    char path[40];

    if (fd < 0) return -1;
    snprintf(path, sizeof path, "/proc/thread-self/fd/%d", fd);
    if (access(path, F_OK) == 0 && fstat(fd, &made) == 0) {
        /* Linux before 6.8 forgets the umask on some file systems. */
        if ((made.st_mode & mode & 022) == (mode & 022) && mode & 022) fchmod(fd, mode & ~read_umask());
        return fd;
    }
    close(fd);
    return -1;
}

/* ---- Whose files ------------------------------------------------------------------------------------------------- */

/* Who this user is in a directory. */
static uid_t own_number(const char *dir)
{
    char path[OMPP_NEW_FILE_PATH] = "", with_slash[OMPP_NEW_FILE_PATH];
    struct stat made;
    int fd = make_nameless(dir, 0600);

    if (fd < 0 && snprintf(with_slash, sizeof with_slash, "%s/", dir) < (int)sizeof with_slash)
        fd = make(path, sizeof path, with_slash, 0600);
    const bool known = fd >= 0 && fstat(fd, &made) == 0;
    if (fd >= 0 && *path) unlink(path);
    if (fd >= 0) close(fd);
    return known ? made.st_uid : geteuid();
}

bool ompp_new_file_is_own(const struct stat *what, const char *dir)
{
    const int saved = errno;
    const bool own = what->st_uid == geteuid() || what->st_uid == own_number(dir);

    errno = saved;
    return own;
}

/* Root may do anything anyway. */
static bool is_trusted(const struct stat *what, const char *dir)
{
    if (what->st_uid == 0 || ompp_new_file_is_own(what, dir)) return true;
    errno = EPERM;
    return false;
}

/* ---- Where a name leads to --------------------------------------------------------------------------------------- */

/* A link of the system to what has no name (/proc/self/fd/N to a pipe) is not followed by its text. */
static bool is_nameless(const char *text, const char *dir)
{
    struct statfs fs;

    return *text != '/' && statfs(dir, &fs) == 0 && fs.f_type == PROC_MAGIC;
}

/* The text of a symbolic link, and the link itself. \return its length; -1: no link, or nothing there. */
static ssize_t read_link(const char *path, char *text, size_t size, struct stat *link)
{
    const int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    const ssize_t n = fd >= 0 && fstat(fd, link) == 0 && S_ISLNK(link->st_mode) ? readlinkat(fd, "", text, size) : -1;

    if (fd >= 0) close(fd);
    return n;
}

/*
 * The last part of a path without symbolic links; it need not exist. Of the directories before it the system takes
 * care.
 * \return 0; 1: it ends in a link to what has no name; -1 with errno.
 */
static int resolve(const char *path, char *out, size_t size)
{
    char text[OMPP_NEW_FILE_PATH], dir[OMPP_NEW_FILE_PATH], next[OMPP_NEW_FILE_PATH];
    struct stat link;

    if (snprintf(out, size, "%s", path) >= (int)size) {
        errno = ENAMETOOLONG;
        return -1;
    }
    for (int links = 0; links < MAX_LINKS; links++) {
        const ssize_t n = read_link(out, text, sizeof text - 1, &link);
        if (n < 0) return 0;
        text[n] = '\0';
        if (!directory_of(dir, sizeof dir, out)) return -1;
        if (!is_trusted(&link, dir)) return -1;
        if (is_nameless(text, dir)) return 1;
        if (n == sizeof text - 1 ||
            snprintf(next, sizeof next, "%s%s", *text == '/' ? "" : dir, text) >= (int)sizeof next ||
            snprintf(out, size, "%s", next) >= (int)size) {
            errno = ENAMETOOLONG;
            return -1;
        }
    }
    errno = ELOOP;
    return -1;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* What is no regular file. Without O_NONBLOCK a pipe without reader would hold the program for ever. */
static int open_special(const char *path, const char *dir, bool nameless)
{
    const int fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (nameless ? 0 : O_NOFOLLOW));
    struct stat is;

    if (fd < 0) return -1;
    if (fstat(fd, &is) == 0) {
        if (S_ISCHR(is.st_mode) || S_ISBLK(is.st_mode) || nameless) return fd;
        if (S_ISFIFO(is.st_mode) && is_trusted(&is, dir)) return fd;
        errno = EPERM; /* also of a regular file that has come meanwhile */
    }
    const int error = errno;
    close(fd);
    errno = error;
    return -1;
}

int ompp_new_file_open(ompp_new_file_t *file, const char *path, mode_t mode)
{
    char dir[OMPP_NEW_FILE_PATH];
    struct stat is;
    const int where = resolve(path, file->target, sizeof file->target);

    file->temporary[0] = '\0';
    file->named = file->nameless = false;
    if (where < 0 || !directory_of(dir, sizeof dir, file->target)) return -1;
    file->special = where == 1 || (lstat(file->target, &is) == 0 && !S_ISREG(is.st_mode));
    if (file->special) return open_special(file->target, dir, where == 1);
    int fd = make_nameless(dir, mode);
    file->fd = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;
    file->nameless = file->fd >= 0;
    if (file->nameless) return fd;
    if (fd >= 0) close(fd);
    fd = make(file->temporary, sizeof file->temporary, dir, mode);
    if (fd < 0) file->temporary[0] = '\0';
    return fd;
}

int ompp_new_file_write(int fd, const char *data, size_t bytes)
{
    while (bytes > 0) {
        struct pollfd room = {.fd = fd, .events = POLLOUT};
        const ssize_t n = write(fd, data, bytes < (1u << 30) ? bytes : (1u << 30));
        if (n > 0) {
            data += n;
            bytes -= (size_t)n;
            continue;
        }
        if (n == 0) errno = ENOSPC;
        if (n < 0 && errno == EINTR) continue;
        if (errno != EAGAIN) return -1;
        const int ready = poll(&room, 1, PATIENCE);
        if (ready == 0) errno = ETIMEDOUT;
        if (ready == 0 || (ready < 0 && errno != EINTR)) return -1;
    }
    return 0;
}

/* File systems that have neither renameat2(2)'s flag nor hard links: the name is taken, and replaced at once. */
static int take_and_rename(const ompp_new_file_t *file)
{
    const int fd = open(file->target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0) return -1;
    close(fd);
    return rename(file->temporary, file->target);
}

static int name_new(const ompp_new_file_t *file)
{
    if (renameat2(AT_FDCWD, file->temporary, AT_FDCWD, file->target, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return -1;
    if (link(file->temporary, file->target) != 0) return errno == EEXIST ? -1 : take_and_rename(file);
    unlink(file->temporary);
    return 0;
}

/* The file without a name gets this one, if it is free. */
static int give_name(ompp_new_file_t *file, const char *name)
{
    char path[40];

    snprintf(path, sizeof path, "/proc/thread-self/fd/%d", file->fd);
    if (linkat(AT_FDCWD, path, AT_FDCWD, name, AT_SYMLINK_FOLLOW) != 0) return -1;
    close(file->fd);
    file->nameless = false;
    return 0;
}

static bool choose_temporary(ompp_new_file_t *file)
{
    char dir[OMPP_NEW_FILE_PATH];

    return directory_of(dir, sizeof dir, file->target) && name_randomly(file->temporary, sizeof file->temporary, dir);
}

int ompp_new_file_commit(ompp_new_file_t *file, bool replace)
{
    int rc = -1;

    if (!file->nameless && !file->temporary[0]) return 0;
    if (file->nameless && !replace) {
        rc = give_name(file, file->target);
    } else {
        if (file->nameless && (!choose_temporary(file) || give_name(file, file->temporary) != 0)) return -1;
        rc = replace ? rename(file->temporary, file->target) : name_new(file);
    }
    file->named = rc == 0;
    return rc;
}

void ompp_new_file_retract(ompp_new_file_t *file)
{
    if (!file->named || !choose_temporary(file) || rename(file->target, file->temporary) != 0) return;
    file->named = false;
}

void ompp_new_file_abandon(ompp_new_file_t *file)
{
    const int saved = errno;

    if (file->nameless) close(file->fd);
    if (file->temporary[0] && !file->named) unlink(file->temporary);
    file->temporary[0] = '\0';
    file->nameless = false;
    errno = saved;
}
