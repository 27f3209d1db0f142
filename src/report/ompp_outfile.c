#define _GNU_SOURCE
#include "report/ompp_outfile.h"

#include "base/ompp_error.h"
#include "base/ompp_regular.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_NUMBER 1000000

static const char *const endings[OMPP_OUTFILES] = {".ompp.txt", ".ompp.csv", ".ompp.html", ".ompp.xml", ".ompp.coz"};

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

/* The paths of number n. \return 1: no file of any format is there, 0: there is, -1 with errno. */
static int try_number(ompp_outfile_t *files, int n)
{
    char ending[32];
    struct stat there;

    for (int i = 0; i < OMPP_OUTFILES; i++) {
        if (files->number) snprintf(ending, sizeof ending, "-%d%s", n, endings[i]);
        else snprintf(ending, sizeof ending, "%s", endings[i]);
        if (!join(files->path[i], sizeof files->path[i], "", files->stem, ending)) return -1;
        if (!files->number) continue;
        if (lstat(files->path[i], &there) == 0) return 0;
        if (errno != ENOENT) return -1;
    }
    for (int i = 0; i < OMPP_OUTFILES; i++)
        if (!(files->wanted & 1u << i)) files->path[i][0] = 0;
    return 1;
}

/* The first number from files->next on that is free. */
static bool choose_number(ompp_outfile_t *files)
{
    int found = 0;

    while (found == 0 && files->next < MAX_NUMBER) found = try_number(files, files->next++);
    if (found == 0) errno = EEXIST;
    return found == 1;
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

/* A program or a library: a name that is given by mistake, mostly that of the program that runs. */
static bool is_program(const char *path)
{
    char begin[4] = "";
    const int fd = ompp_regular_open(path);
    const bool read = fd >= 0 && pread(fd, begin, sizeof begin, 0) >= 2;

    if (fd >= 0) close(fd);
    return read && (memcmp(begin, "\177ELF", 4) == 0 || memcmp(begin, "#!", 2) == 0);
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

/*
 * A stream of the program is shared with its place in the file, so that neither overwrites the other. What goes to
 * another pipe or a device is kept until it is whole: its reader may be slow, or gone.
 */
static bool open_one(ompp_outfile_t *files, int i)
{
    struct stat file;
    const int stream = stat(files->path[i], &file) == 0 ? standard_stream(&file) : -1;

    if (!files->chosen && is_special(files->path[i])) {
        errno = EEXIST;
        return false;
    }
    if (stream >= 0) return use(files, i, fcntl(stream, F_DUPFD_CLOEXEC, 3));
    const int fd = ompp_new_file_open(&files->file[i], files->path[i], files->chosen ? 0666 : 0600);
    if (fd >= 0 && !files->file[i].special && is_program(files->file[i].target)) {
        close(fd);
        errno = EEXIST;
        return false;
    }
    if (!files->file[i].special || fd < 0) return use(files, i, fd);
    files->special[i].fd = fd;
    files->special[i].is = true;
    files->out[i] = open_memstream(&files->special[i].text, &files->special[i].size);
    return files->out[i] != NULL;
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

int ompp_outfile_open(ompp_outfile_t *files, const char *dir, const char *stem, bool number, unsigned wanted,
                      bool chosen)
{
    memset(files, 0, sizeof *files);
    files->number = number;
    files->wanted = wanted;
    files->chosen = chosen;
    return join(files->stem, sizeof files->stem, dir, stem, "") && choose_number(files) ? open_all(files)
                                                                                        : -OMPP_E_OPEN;
}

int ompp_outfile_open_exact(ompp_outfile_t *files, const char *dir, const char *name, const char *suffix,
                            unsigned wanted, bool chosen)
{
    const int first = first_of(wanted);

    memset(files, 0, sizeof *files);
    files->chosen = chosen;
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

/* All that goes to a device or a pipe. */
static bool finish_special(ompp_outfile_t *files, int i)
{
    const bool ok = fclose(files->out[i]) == 0 &&
                    ompp_new_file_write(files->special[i].fd, files->special[i].text, files->special[i].size) == 0;

    return close(files->special[i].fd) == 0 && ok;
}

/*
 * Final names. Of one number all are free, or the next number is taken. The number is that of whose XML is there first,
 * for the XML is always wanted.
 */
static bool name_all(ompp_outfile_t *files)
{
    static const int order[OMPP_OUTFILES] = {OMPP_OUT_XML, OMPP_OUT_TEXT, OMPP_OUT_CSV, OMPP_OUT_HTML, OMPP_OUT_COZ};

    for (int k = 0; k < OMPP_OUTFILES;) {
        const int i = order[k++];
        const bool replace = files->chosen && !files->number;
        if (ompp_new_file_commit(&files->file[i], replace) == 0) continue;
        if (replace || errno != EEXIST) return false;
        for (; k > 0; k--) ompp_new_file_retract(&files->file[order[k - 1]]);
        errno = EEXIST;
        if (!files->number || !choose_number(files)) return false;
        for (int n = 0; n < OMPP_OUTFILES; n++)
            snprintf(files->file[n].target, sizeof files->file[n].target, "%s", files->path[n]);
    }
    return true;
}

int ompp_outfile_commit(ompp_outfile_t *files)
{
    bool ok = true;

    for (int i = 0; i < OMPP_OUTFILES && ok; i++) {
        if (!files->out[i]) continue;
        ok = files->special[i].is ? finish_special(files, i) : finish(files->out[i]);
        files->special[i].is = false;
        files->out[i] = NULL;
    }
    ok = ok && name_all(files);
    if (ok) files->number = false; /* they stay */
    ompp_outfile_abandon(files);
    return ok ? 0 : -OMPP_E_IO;
}

void ompp_outfile_abandon(ompp_outfile_t *files)
{
    int error = errno;

    for (int i = 0; i < OMPP_OUTFILES; i++) {
        if (files->out[i]) fclose(files->out[i]);
        files->out[i] = NULL;
        if (files->special[i].is) close(files->special[i].fd);
        free(files->special[i].text);
        memset(&files->special[i], 0, sizeof files->special[i]);
        if (files->number) ompp_new_file_retract(&files->file[i]);
        ompp_new_file_abandon(&files->file[i]);
    }
    errno = error;
}
