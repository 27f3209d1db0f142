/**
 * \file
 * Memory that all ranks of a run on one node share, for who follows (runtime/ompp_sync.h). The first rank makes it
 * without a name, the others open it through /proc; nothing is left of it when the last one ends. When one cannot,
 * nobody has it. Process ids of another name space are other processes there, with files of the program: what is opened
 * must be the memory that the first rank made.
 */
#define _GNU_SOURCE
#include "mpi-wrap/piggyback/mpi_piggyback_priv.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "ompp-causal"

/* Of rank 0. */
typedef struct {
    int pid, fd; /* fd -1 = none */
    uint64_t device, inode;
} place_t;

/* Beyond the limit of file sizes it would be a signal that ends the program. */
static bool may_be(size_t bytes)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes);
}

static void make(place_t *place, size_t bytes)
{
    const int fd = may_be(bytes) ? memfd_create(NAME, MFD_CLOEXEC) : -1;
    struct stat st;

    if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0 && fstat(fd, &st) == 0)
        *place = (place_t){(int)getpid(), fd, st.st_dev, st.st_ino};
    else if (fd >= 0) close(fd);
}

static int open_of(const place_t *place, size_t bytes)
{
    char path[64], target[sizeof "/memfd:" NAME] = "";
    struct stat st;

    snprintf(path, sizeof path, "/proc/%d/fd/%d", place->pid, place->fd);
    if (place->fd < 0 || readlink(path, target, sizeof target - 1) < 0 || strcmp(target, "/memfd:" NAME) != 0)
        return -1;
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_dev == place->device &&
        st.st_ino == place->inode && st.st_size == (off_t)bytes)
        return fd;
    if (fd >= 0) close(fd);
    return -1;
}

void ompp_mpi_share_start(MPI_Comm own, MPI_Comm node)
{
    const size_t bytes = ompp_sync_shared_size();
    int rank = 0, ranks = 0, here = 0, ok, all = 0, fd;
    place_t place = {.fd = -1};
    void *memory = MAP_FAILED;

    PMPI_Comm_rank(node, &rank);
    PMPI_Comm_size(node, &here);
    PMPI_Comm_size(own, &ranks);
    if (bytes == 0 || here != ranks || ranks < 2) return; /* the same on all ranks */
    if (rank == 0) make(&place, bytes);
    PMPI_Bcast(&place, (int)sizeof place, MPI_BYTE, 0, node);
    fd = rank == 0 ? place.fd : open_of(&place, bytes);
    if (fd >= 0) memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ok = memory != MAP_FAILED;
    if (PMPI_Allreduce(&ok, &all, 1, MPI_INT, MPI_MIN, node) != MPI_SUCCESS) all = 0;
    if (fd >= 0) close(fd);
    if (all) ompp_sync_share(memory);
    else if (ok) munmap(memory, bytes);
}
