#define _GNU_SOURCE
#include "process/ompp_helper.h"

#include "base/ompp_caller.h"
#include "runtime/ompp_thread.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2u
#endif

typedef struct {
    const char *name;
    void (*run)(void *argument);
    void *argument;
} start_t;

static _Atomic unsigned helpers; /* that there are */

static __thread bool has_own_descriptors;

/* Linux before 5.9: all threads share their descriptors. */
void ompp_helper_leave_descriptors(void)
{
#ifdef SYS_close_range
    has_own_descriptors = syscall(SYS_close_range, 0u, ~0u, CLOSE_RANGE_UNSHARE) == 0;
#endif
}

void ompp_helper_borrow_stderr(void)
{
#if defined SYS_pidfd_open && defined SYS_pidfd_getfd
    if (!has_own_descriptors) return;
    const long process = syscall(SYS_pidfd_open, getpid(), 0u);
    const long error = process >= 0 ? syscall(SYS_pidfd_getfd, (int)process, STDERR_FILENO, 0u) : -1;
    if (error >= 0 && error != STDERR_FILENO) dup3((int)error, STDERR_FILENO, O_CLOEXEC);
    if (error >= 0 && error != STDERR_FILENO) close((int)error);
    if (process >= 0 && process != STDERR_FILENO) close((int)process);
#endif
}

void ompp_helper_return_stderr(void)
{
    if (has_own_descriptors) close(STDERR_FILENO);
}

static void *begin(void *given)
{
    const start_t start = *(start_t *)given;

    free(given);
    ompp_thread_self = &ompp_thread_none;
    pthread_setname_np(pthread_self(), start.name);
    start.run(start.argument);
    atomic_fetch_sub(&helpers, 1);
    return NULL;
}

int ompp_helper_start(pthread_t *thread, const char *name, size_t stack_bytes, void (*run)(void *argument),
                      void *argument)
{
    start_t *start = malloc(sizeof *start);
    pthread_attr_t attributes;
    int error = start ? pthread_attr_init(&attributes) : ENOMEM;

    if (!error) {
        sigset_t all, before;
        *start = (start_t){name, run, argument};
        atomic_fetch_add(&helpers, 1);
        pthread_attr_setstacksize(&attributes, stack_bytes);
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        error = pthread_create(thread, &attributes, begin, start);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (error) atomic_fetch_sub(&helpers, 1);
        pthread_attr_destroy(&attributes);
    }
    if (error) free(start);
    return error;
}

bool ompp_helper_is_alone(void)
{
    DIR *tasks = opendir("/proc/self/task");
    unsigned n = 0;

    if (!tasks) return false;
    for (struct dirent *e; (e = readdir(tasks));) n += e->d_name[0] != '.';
    closedir(tasks);
    /* The first thread is there until all others have ended. */
    return n <= atomic_load(&helpers) + (ompp_task_state((uint32_t)getpid()) == 'Z');
}
