/*
 * Opening, reading and closing perf events. No signals: the thread reads its ring itself, at changes of its place.
 */
#define _GNU_SOURCE
#include "perf/ompp_perf_priv.h"

#include "base/ompp_pages.h"
#include "base/ompp_paranoid.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOW_RING 8192u /* bytes; with less there is no point */
#define HIGH_FD 200    /* out of the way of programs that count on the lowest number */

int ompp_perf_move_up(int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);

    if (high < 0) return fd;
    close(fd);
    return high;
}

static bool map_ring(ompp_perf_t *event, size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    for (; size >= LOW_RING && size >= page; size /= 2) {
        void *pages = ompp_mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, event->fd, 0);
        if (pages == MAP_FAILED) continue;
        event->pages = pages;
        event->bytes = page + size;
        event->ring.data = (unsigned char *)pages + page;
        event->ring.size = size;
        return true;
    }
    return false;
}

int ompp_perf_open(ompp_perf_t *event, struct perf_event_attr *attr, int leader, size_t ring)
{
    *event = (ompp_perf_t){.fd = -1};
    attr->size = sizeof *attr;
    event->fd = (int)syscall(SYS_perf_event_open, attr, 0, -1, leader, (unsigned long)PERF_FLAG_FD_CLOEXEC);
    if (event->fd < 0) return errno;
    event->fd = ompp_perf_move_up(event->fd);
    event->ring.sample_type = attr->sample_type;
    if (!ring || map_ring(event, ring)) return 0;
    ompp_perf_close(event);
    return ENOMEM;
}

void ompp_perf_close(ompp_perf_t *event)
{
    if (event->pages) ompp_munmap(event->pages, event->bytes);
    if (event->fd >= 0) close(event->fd);
    *event = (ompp_perf_t){.fd = -1};
}

uint64_t ompp_perf_count(const ompp_perf_t *event)
{
    uint64_t count = 0;

    if (event->fd < 0 || read(event->fd, &count, sizeof count) != (ssize_t)sizeof count) return 0;
    return count;
}

static struct perf_event_mmap_page *control(const ompp_perf_t *event) { return event->pages; }

bool ompp_perf_has(const ompp_perf_t *event)
{
    return event->pages && __atomic_load_n(&control(event)->data_head, __ATOMIC_RELAXED) != event->ring.tail;
}

void ompp_perf_drain(ompp_perf_t *event, void (*visit)(void *data, ompp_perf_record_t *record), void *data)
{
    ompp_perf_record_t record;

    if (!event->pages) return;
    event->ring.head = __atomic_load_n(&control(event)->data_head, __ATOMIC_ACQUIRE);
    while (ompp_perf_next(&event->ring, &record) != OMPP_PERF_END) visit(data, &record);
    __atomic_store_n(&control(event)->data_tail, event->ring.tail, __ATOMIC_RELEASE);
}

/* ---- Refusals ---------------------------------------------------------------------------------------------------- */

void ompp_perf_why(int error, const char *what, char *why, size_t n)
{
    switch (error) {
    case EACCES:
    case EPERM:
        snprintf(why, n,
                 "%s: not permitted (perf_event_paranoid is %d; 2 or less is needed, or a container forbids it)", what,
                 ompp_perf_paranoid());
        break;
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        snprintf(
            why, n,
            "%s: this machine does not have the event (a virtual machine mostly has no performance monitoring unit)",
            what);
        break;
    case ENOSPC: snprintf(why, n, "%s: all registers for it are in use, here or by a debugger", what); break;
    case ENOSYS: snprintf(why, n, "%s: the kernel was built without perf events", what); break;
    case ENOMEM: snprintf(why, n, "%s: no locked memory for samples (perf_event_mlock_kb, ulimit -l)", what); break;
    case EMFILE: snprintf(why, n, "%s: too many open files (ulimit -n)", what); break;
    default: snprintf(why, n, "%s: perf_event_open says: %s", what, strerror(error)); break;
    }
}
