#define _GNU_SOURCE
#include "base/ompp_arena.h"

#include "base/ompp_error.h"
#include "base/ompp_pages.h"
#include "base/ompp_prefault.h"
#include "base/ompp_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define CHUNK ((uint64_t)256 << 10)
#define READY ((uint64_t)16 << 10) /* so much of the file is made ready ahead: the caller has a lock */
#define ALIGN 16u
#define SPARED ((uint64_t)64 << 20) /* of a file system, for others */

/*
 * MPI libraries keep their messages in /dev/shm, too, in sparse files: one that finds it full is killed by SIGBUS. So
 * they keep SPARED bytes, and half of a small file system: containers have a /dev/shm of 64 MB.
 */
static bool spares_room(int fd)
{
    struct statvfs fs;

    if (fstatvfs(fd, &fs) != 0 || fs.f_blocks == 0) return true;
    const uint64_t half = (uint64_t)fs.f_blocks * fs.f_frsize / 2, spared = half < SPARED ? half : SPARED;
    return (uint64_t)fs.f_bavail * fs.f_frsize >= spared + CHUNK;
}

/*
 * One chunk of the file at offset: 0 or an errno. Growing past RLIMIT_FSIZE would raise SIGXFSZ in the user's program,
 * so the limit is asked first.
 */
static int allocate(int fd, uint64_t offset)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && offset + CHUNK > limit.rlim_cur)
        return EFBIG;
    if (!spares_room(fd)) return ENOSPC;
    return posix_fallocate(fd, (off_t)offset, CHUNK);
}

static void note_why(ompp_arena_t *arena, int error)
{
    arena->error = error;
    snprintf(arena->why, sizeof arena->why, "%s: %s", arena->path, ompp_write_why(error));
}

static void open_file(ompp_arena_t *arena, const char *const *dirs, const char *name)
{
    snprintf(arena->why, sizeof arena->why, "no directory for it");
    for (; *dirs; dirs++) {
        struct stat made;
        int n = snprintf(arena->path, sizeof arena->path, "%s/%s", *dirs, name);
        if (n >= (int)sizeof arena->path) {
            note_why(arena, ENAMETOOLONG);
            continue;
        }
        int fd = open(arena->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        int error = fd < 0 ? errno : allocate(fd, 0);
        if (!error && fstat(fd, &made) != 0) error = errno;
        if (fd >= 0) close(fd);
        if (!error) {
            arena->device = made.st_dev;
            arena->inode = made.st_ino;
            arena->why[0] = '\0';
            arena->error = 0;
            return;
        }
        note_why(arena, error);
        if (fd >= 0) unlink(arena->path);
    }
    arena->path[0] = '\0';
}

/*
 * No descriptor is kept: a program may close all that it did not open, and get our number for a file of its own. It is
 * opened anew, rarely, and must be the same file. \return descriptor, or -1 with errno.
 */
static int reopen(const ompp_arena_t *arena)
{
    struct stat found;
    int fd = open(arena->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0) return -1;
    if (fstat(fd, &found) == 0 && found.st_dev == arena->device && found.st_ino == arena->inode) return fd;
    close(fd);
    errno = ESTALE;
    return -1;
}

static void *map_file(ompp_arena_t *arena, char *where)
{
    int fd = reopen(arena), error = fd < 0 ? errno : allocate(fd, arena->mapped);
    void *got = MAP_FAILED;

    if (!error) got = ompp_mmap(where, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)arena->mapped);
    if (!error && got == MAP_FAILED) error = errno;
    if (fd >= 0) close(fd);
    if (error) {
        arena->full = true;
        note_why(arena, error);
    }
    return got;
}

/* Backs the next chunk in place, by the file while it has room, else by memory; false when the cap is reached. */
static bool grow(ompp_arena_t *arena)
{
    char *where = arena->base + arena->mapped;
    void *got = MAP_FAILED;

    if (arena->mapped + CHUNK > arena->reserved) return false;
    if (arena->path[0] && !arena->full) got = map_file(arena, where);
    if (got == MAP_FAILED)
        got = ompp_mmap(where, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (got == MAP_FAILED) return false;
    arena->mapped += CHUNK;
    return true;
}

int ompp_arena_open(ompp_arena_t *arena, const char *const *dirs, const char *name, uint64_t cap)
{
    memset(arena, 0, sizeof *arena);
    arena->used = ALIGN; /* offset 0 means none */
    arena->reserved = (cap + CHUNK - 1) / CHUNK * CHUNK;
    if (arena->reserved < CHUNK) arena->reserved = CHUNK;
    if (arena->reserved > UINT32_MAX - CHUNK) arena->reserved = (UINT32_MAX - CHUNK) / CHUNK * CHUNK;
    arena->base = ompp_mmap(NULL, arena->reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena->base == MAP_FAILED) return -OMPP_E_NOMEM;
    open_file(arena, dirs, name);
    if (!grow(arena)) {
        ompp_munmap(arena->base, arena->reserved);
        return -OMPP_E_NOMEM;
    }
    return 0;
}

/* Of a file; pages of anonymous memory belong near the thread that touches them. */
static void prefault_own(ompp_arena_t *arena)
{
    const uint64_t begin = arena->ready,
                   end = arena->used + READY < arena->mapped ? arena->used + READY : arena->mapped;

    if (arena->path[0] && !arena->full) ompp_prefault(arena->base + begin, end - begin);
    arena->ready = end;
}

static ompp_off_t take(ompp_arena_t *arena, size_t size, uint64_t kept)
{
    uint64_t start = arena->used, end = start + (size + ALIGN - 1) / ALIGN * ALIGN;

    while (end + kept > arena->mapped)
        if (!grow(arena)) return 0;
    arena->used = end;
    if (end > arena->ready) prefault_own(arena);
    return (ompp_off_t)start;
}

ompp_off_t ompp_arena_take(ompp_arena_t *arena, size_t size) { return take(arena, size, arena->kept); }

ompp_off_t ompp_arena_take_kept(ompp_arena_t *arena, size_t size) { return take(arena, size, 0); }

void ompp_arena_detach(ompp_arena_t *arena)
{
    ompp_mmap(arena->base, arena->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    arena->ready = arena->mapped; /* which is no file any more */
    arena->path[0] = '\0';
}

void ompp_arena_unlink(ompp_arena_t *arena)
{
    if (arena->path[0]) unlink(arena->path);
    arena->path[0] = '\0';
}

void ompp_arena_close(ompp_arena_t *arena, bool keep)
{
    if (!keep) ompp_arena_unlink(arena);
    ompp_munmap(arena->base, arena->reserved);
    arena->base = NULL;
}
