/**
 * \file
 * Memory that all ranks of a run on one node share, for who follows (runtime/ompp_sync.h). The first rank makes it without a name, the
 * others open it through /proc; nothing is left of it when the last one ends. When one cannot, nobody has it.
 */
#define _GNU_SOURCE
#include "mpi-wrap/mpi_stamp_priv.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static int make(size_t bytes)
{
    const int fd = memfd_create("ompp-causal", MFD_CLOEXEC);

    if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

static int open_of(int pid, int fd)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
    return fd < 0 ? -1 : open(path, O_RDWR | O_CLOEXEC);
}

void ompp_mpi_share_start(MPI_Comm own, MPI_Comm node)
{
    const size_t bytes = ompp_sync_shared_size();
    int rank = 0, ranks = 0, here = 0, place[2] = {(int)getpid(), -1}, good, all = 0, fd;
    void *memory = MAP_FAILED;

    PMPI_Comm_rank(node, &rank);
    PMPI_Comm_size(node, &here);
    PMPI_Comm_size(own, &ranks);
    if (bytes == 0 || here != ranks || ranks < 2) return; /* the same on all ranks */
    if (rank == 0) place[1] = make(bytes);
    PMPI_Bcast(place, 2, MPI_INT, 0, node);
    fd = rank == 0 ? place[1] : open_of(place[0], place[1]);
    if (fd >= 0) memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    good = memory != MAP_FAILED;
    if (PMPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, node) != MPI_SUCCESS) all = 0;
    if (fd >= 0) close(fd);
    if (all) ompp_sync_share(memory);
    else if (good) munmap(memory, bytes);
}
