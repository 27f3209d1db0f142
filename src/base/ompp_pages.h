/**
 * \file
 * The system calls for mappings, and nothing else. In many programs with MPI the C library's functions of that name do
 * more: UCX, libfabric and Open MPI patch them in the running process, and take locks there. A signal handler of ours
 * that called them waits for ever where it has interrupted the thread that holds such a lock.
 */
#ifndef OMPP_PAGES_H
#define OMPP_PAGES_H

#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As the functions without the prefix; errno is set, too. Async-signal-safe. */

static inline void *ompp_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
#if defined(SYS_mmap2) || defined(__s390__) /* counts in pages; takes a structure */
    return mmap(at, size, protection, flags, fd, offset);
#else
    return (void *)syscall(SYS_mmap, at, size, (long)protection, (long)flags, (long)fd, offset);
#endif
}

static inline int ompp_munmap(void *at, size_t size) { return (int)syscall(SYS_munmap, at, size); }

static inline void *ompp_mremap(void *at, size_t former, size_t size, int flags, void *where)
{
    return (void *)syscall(SYS_mremap, at, former, size, (long)flags, where);
}

static inline int ompp_madvise(void *at, size_t size, int advice)
{
    return (int)syscall(SYS_madvise, at, size, (long)advice);
}

/** \return the end of the heap that brk() moves. */
static inline uintptr_t ompp_heap_end(void) { return (uintptr_t)syscall(SYS_brk, 0l); }

#endif
