/*
 * Preloaded by tests/mpi/wrappers.sh. A rank of MPICH that waits asks again and again, and so takes the processor from the rank that it
 * waits for, where there are more ranks than processors: then each message takes a time slice. With this library it gives the processor
 * away.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*progress)(void *);

    if (!progress) progress = (unsigned (*)(void *))dlsym(RTLD_NEXT, "ucp_worker_progress");
    const unsigned done = progress(worker);
    if (!done) sched_yield();
    return done;
}
