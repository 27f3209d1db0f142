#define _GNU_SOURCE /* mkostemp */
#include "report/ompp_outfile.h"

#include "base/ompp_error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_NUMBER 1000000
#define MAX_LINKS 40 /* as many as Linux follows */

static const char *const endings[OMPP_OUTFILES] = {".ompp.txt", ".ompp.csv", ".ompp.xml", ".ompp.coz"};

void ompp_outfile_safe_name(const char *text, char *out, size_t size)
{
    size_t n = 0;

    if (size > 200) size = 200; /* room for the rest of the name: file systems take 255 bytes */
    for (; *text && n + 1 < size; text++) {
        char c = *text;
        bool safe = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("._+-", c);
        out[n++] = safe ? c : '_';
    }
    out[n] = 0;
    if (n && (out[0] == '.' || out[0] == '-')) out[0] = '_'; /* neither hidden nor an option */
    if (!n) snprintf(out, size, "unknown");
}

/* dir/name; false with errno when it is too long. */
static bool join(char *out, size_t size, const char *dir, const char *name, const char *ending)
{
    bool absolute = *name == '/' || !*dir;
    int n = snprintf(out, size, "%s%s%s%s", absolute ? "" : dir, absolute ? "" : "/", name, ending);

    if (n > 0 && (size_t)n < size) return true;
    errno = ENAMETOOLONG;
    return false;
}

static bool create(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

    if (fd >= 0) close(fd);
    return fd >= 0;
}

/* Makes the wanted names, empty, if none of any format is there: 1 done, 0 one of them exists, -1 error. */
static int reserve(const ompp_outfile_t *files, unsigned wanted)
{
    int made = 0, error = 0;
    struct stat there;

    for (; made < OMPP_OUTFILES && !error; made++) {
        if (wanted & 1u << made) error = create(files->path[made]) ? 0 : errno;
        else error = lstat(files->path[made], &there) == 0 ? EEXIST : 0;
    }
    if (!error) return 1;
    for (made--; made-- > 0;)
        if (wanted & 1u << made) unlink(files->path[made]);
    errno = error;
    return error == EEXIST ? 0 : -1;
}

/* ---- Where a name leads to --------------------------------------------------------------------------------------- */

/* The last part of a path without symbolic links; it need not exist. Of the directories before it the system takes
 * care. */
static bool resolve(const char *path, char *out, size_t size)
{
    char link[1024], next[1024];

    if (!join(out, size, "", path, "")) return false;
    for (int links = 0; links < MAX_LINKS; links++) {
        ssize_t n = readlink(out, link, sizeof link - 1);
        if (n < 0) return true; /* no link, or nothing there */
        link[n] = 0;
        const char *slash = strrchr(out, '/');
        int directory = slash && *link != '/' ? (int)(slash - out) + 1 : 0;
        if ((size_t)n == sizeof link - 1 || directory + n >= (ssize_t)sizeof next) {
            errno = ENAMETOOLONG;
            return false;
        }
        memcpy(next, out, directory);
        memcpy(next + directory, link, n + 1);
        if (!join(out, size, "", next, "")) return false;
    }
    errno = ELOOP;
    return false;
}

/* The number of the program's stdout or stderr when it writes to this file, else -1. */
static int standard_stream(const struct stat *file)
{
    struct stat stream;

    for (int fd = 1; fd <= 2; fd++) {
        if (fstat(fd, &stream) || stream.st_dev != file->st_dev || stream.st_ino != file->st_ino) continue;
        if ((fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY) return fd;
    }
    return -1;
}

/* Is it there, and not to be replaced? */
static bool is_special(const char *path)
{
    struct stat file;

    return stat(path, &file) == 0 && (!S_ISREG(file.st_mode) || standard_stream(&file) >= 0);
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static bool use(ompp_outfile_t *files, int i, int fd)
{
    int error;

    if (fd < 0) return false;
    files->out[i] = fdopen(fd, "w");
    error = errno;
    if (!files->out[i]) close(fd);
    errno = error;
    return files->out[i] != NULL;
}

/* A stream of the program is shared with its place in the file, so that neither overwrites the other. */
static bool open_special(ompp_outfile_t *files, int i)
{
    const char *path = files->path[i];
    struct stat file;
    int stream = stat(path, &file) == 0 ? standard_stream(&file) : -1, fd;

    if (stream >= 0) return use(files, i, fcntl(stream, F_DUPFD_CLOEXEC, 3));
    /* Without O_NONBLOCK a pipe without reader would hold the program for ever. */
    fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    return use(files, i, fd);
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

/* A file to write to, in the same directory so that it can be renamed. */
static bool open_temporary(ompp_outfile_t *files, int i)
{
    static const char name[] = ".ompp-XXXXXX";
    const char *slash = strrchr(files->target[i], '/');
    size_t directory = slash ? (size_t)(slash - files->target[i]) + 1 : 0;
    int fd;

    if (directory + sizeof name > sizeof files->temporary[i]) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(files->temporary[i], files->target[i], directory);
    memcpy(files->temporary[i] + directory, name, sizeof name);
    fd = mkostemp(files->temporary[i], O_CLOEXEC);
    if (fd < 0) files->temporary[i][0] = 0;
    else fchmod(fd, 0666 & ~read_umask()); /* a file system that knows no modes may refuse */
    return use(files, i, fd);
}

static bool open_one(ompp_outfile_t *files, int i)
{
    if (is_special(files->path[i])) return open_special(files, i);
    return resolve(files->path[i], files->target[i], sizeof files->target[i]) && open_temporary(files, i);
}

static int open_all(ompp_outfile_t *files)
{
    for (int i = 0; i < OMPP_OUTFILES; i++) {
        if (!files->path[i][0] || open_one(files, i)) continue;
        ompp_outfile_abandon(files);
        return -OMPP_E_OPEN;
    }
    return 0;
}

static void forget_unwanted(ompp_outfile_t *files, unsigned wanted)
{
    for (int i = 0; i < OMPP_OUTFILES; i++)
        if (!(wanted & 1u << i)) files->path[i][0] = 0;
}

/* The one that people read first. */
static int first_of(unsigned wanted)
{
    int first = 0;

    while (first + 1 < OMPP_OUTFILES && !(wanted & 1u << first)) first++;
    return first;
}

void ompp_outfile_first_name(char *name, size_t size, const char *stem, bool number, unsigned wanted)
{
    snprintf(name, size, "%s%s%s", stem, number ? "-0" : "", endings[first_of(wanted)]);
}

int ompp_outfile_open(ompp_outfile_t *files, const char *dir, const char *stem, bool number, unsigned wanted)
{
    memset(files, 0, sizeof *files);
    for (int n = 0; n < MAX_NUMBER; n++) {
        char ending[32];
        for (int i = 0; i < OMPP_OUTFILES; i++) {
            if (number) snprintf(ending, sizeof ending, "-%d%s", n, endings[i]);
            else snprintf(ending, sizeof ending, "%s", endings[i]);
            if (!join(files->path[i], sizeof files->path[i], dir, stem, ending)) return -OMPP_E_OPEN;
        }
        int free_name = number ? reserve(files, wanted) : 1;
        if (free_name < 0) return -OMPP_E_OPEN;
        if (free_name == 0) continue;
        files->reserved = number;
        forget_unwanted(files, wanted);
        return open_all(files);
    }
    errno = EEXIST;
    return -OMPP_E_OPEN;
}

int ompp_outfile_open_exact(ompp_outfile_t *files, const char *dir, const char *name, const char *suffix,
                            unsigned wanted)
{
    const int first = first_of(wanted);

    memset(files, 0, sizeof *files);
    char *exact = files->path[first];
    if (!join(exact, sizeof files->path[first], dir, name, "")) return -OMPP_E_OPEN;
    if (is_special(exact)) return open_all(files);
    if (!join(exact, sizeof files->path[first], dir, name, suffix)) return -OMPP_E_OPEN;
    for (int i = first + 1; i < OMPP_OUTFILES && !is_special(exact); i++)
        if (wanted & 1u << i && !join(files->path[i], sizeof files->path[i], "", exact, strrchr(endings[i], '.')))
            return -OMPP_E_OPEN;
    return open_all(files);
}

/* Everything is on the disk, or it is known that it is not. Pipes and the like cannot be synchronised. */
static bool finish(FILE *out)
{
    bool ok = !ferror(out) && fflush(out) == 0 && (fsync(fileno(out)) == 0 || errno == EINVAL || errno == EROFS);
    int error = errno;

    if (fclose(out) == 0 && ok) return true;
    if (!ok) errno = error;
    return false;
}

int ompp_outfile_commit(ompp_outfile_t *files)
{
    bool ok = true;

    for (int i = 0; i < OMPP_OUTFILES && ok; i++) {
        if (!files->out[i]) continue;
        ok = finish(files->out[i]);
        files->out[i] = NULL;
    }
    for (int i = 0; i < OMPP_OUTFILES && ok; i++) {
        if (!files->temporary[i][0]) continue;
        ok = rename(files->temporary[i], files->target[i]) == 0;
        if (ok) files->temporary[i][0] = 0;
    }
    if (ok) return 0;
    ompp_outfile_abandon(files);
    return -OMPP_E_IO;
}

void ompp_outfile_abandon(ompp_outfile_t *files)
{
    int error = errno;

    for (int i = 0; i < OMPP_OUTFILES; i++) {
        if (files->out[i]) fclose(files->out[i]);
        files->out[i] = NULL;
        if (files->temporary[i][0]) unlink(files->temporary[i]);
        if (files->reserved && files->path[i][0]) unlink(files->path[i]);
        files->temporary[i][0] = 0;
    }
    errno = error;
}
