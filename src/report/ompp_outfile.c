#include "report/ompp_outfile.h"

#include "base/ompp_error.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_NUMBER 1000000

static const char *const endings[OMPP_OUTFILES] = {".ompp.txt", ".ompp.xml"};

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

/* Makes both names, empty: 1 done, 0 one of them exists, -1 error. */
static int reserve(ompp_outfile_t *files)
{
    if (!create(files->path[0])) return errno == EEXIST ? 0 : -1;
    if (create(files->path[1])) return 1;
    int error = errno;
    unlink(files->path[0]);
    errno = error;
    return error == EEXIST ? 0 : -1;
}

/* A file to write to, in the same directory so that it can be renamed. */
static bool open_temporary(ompp_outfile_t *files, int i)
{
    const char *path = files->path[i], *slash = strrchr(path, '/');
    int directory = slash ? (int)(slash - path) + 1 : 0, n, fd;

    n = snprintf(files->temporary[i], sizeof files->temporary[i], "%.*s.ompp-%ld-%d.tmp", directory, path, (long)getpid(), i);
    if (n < 0 || (size_t)n >= sizeof files->temporary[i]) {
        files->temporary[i][0] = 0;
        errno = ENAMETOOLONG;
        return false;
    }
    unlink(files->temporary[i]); /* of a process with the same number that died */
    fd = open(files->temporary[i], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        files->temporary[i][0] = 0;
        return false;
    }
    files->out[i] = fdopen(fd, "w");
    if (!files->out[i]) close(fd);
    return files->out[i] != NULL;
}

static int open_both(ompp_outfile_t *files)
{
    for (int i = 0; i < OMPP_OUTFILES; i++) {
        if (open_temporary(files, i)) continue;
        ompp_outfile_abandon(files);
        return -OMPP_E_OPEN;
    }
    return 0;
}

int ompp_outfile_open(ompp_outfile_t *files, const char *dir, const char *stem, bool number)
{
    memset(files, 0, sizeof *files);
    for (int n = 0; n < MAX_NUMBER; n++) {
        char ending[32];
        for (int i = 0; i < OMPP_OUTFILES; i++) {
            if (number)
                snprintf(ending, sizeof ending, "-%d%s", n, endings[i]);
            else
                snprintf(ending, sizeof ending, "%s", endings[i]);
            if (!join(files->path[i], sizeof files->path[i], dir, stem, ending)) return -OMPP_E_OPEN;
        }
        int free_name = number ? reserve(files) : 1;
        if (free_name < 0) return -OMPP_E_OPEN;
        if (free_name == 0) continue;
        files->reserved = number;
        return open_both(files);
    }
    errno = EEXIST;
    return -OMPP_E_OPEN;
}

int ompp_outfile_open_exact(ompp_outfile_t *files, const char *dir, const char *name)
{
    memset(files, 0, sizeof *files);
    if (!join(files->path[0], sizeof files->path[0], dir, name, "")) return -OMPP_E_OPEN;
    if (!join(files->path[1], sizeof files->path[1], dir, name, ".xml")) return -OMPP_E_OPEN;
    return open_both(files);
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
        ok = finish(files->out[i]);
        files->out[i] = NULL;
    }
    for (int i = 0; i < OMPP_OUTFILES && ok; i++) {
        ok = rename(files->temporary[i], files->path[i]) == 0;
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
        if (files->reserved) unlink(files->path[i]);
        files->temporary[i][0] = 0;
    }
    errno = error;
}
