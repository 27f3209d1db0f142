#include "tools/common/ompp-progress.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { STEP_NS = 250000000, QUIET = 2 }; /* steps before the first line */

static struct {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    bool runs, stop;
    int fd;
    long long size;
    char what[200];
} progress = {.mutex = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};

static void put_line(unsigned step)
{
    const long long at = progress.size > 0 ? (long long)lseek(progress.fd, 0, SEEK_CUR) : 0;

    if (at > 0 && at < progress.size) fprintf(stderr, "\r%s: %lld %%\033[K", progress.what, 100 * at / progress.size);
    else fprintf(stderr, "\r%s: %u s\033[K", progress.what, step / 4);
}

static void *show(void *arg)
{
    struct timespec until;
    bool shown = false;

    clock_gettime(CLOCK_REALTIME, &until);
    pthread_mutex_lock(&progress.mutex);
    for (unsigned step = 1; !progress.stop; step++) {
        until.tv_nsec += STEP_NS;
        if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, until.tv_sec++;
        while (!progress.stop && pthread_cond_timedwait(&progress.ended, &progress.mutex, &until) == 0) {
        }
        if (progress.stop || step < QUIET) continue;
        put_line(step);
        shown = true;
    }
    if (shown) fputs("\r\033[K", stderr);
    pthread_mutex_unlock(&progress.mutex);
    return arg;
}

void ompp_progress_begin(const char *command, const char *what, int fd)
{
    struct stat st;

    if (progress.runs || !isatty(STDERR_FILENO)) return;
    snprintf(progress.what, sizeof progress.what, "%s: %s", command, what);
    progress.fd = fd;
    progress.size = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? (long long)st.st_size : 0;
    progress.stop = false;
    progress.runs = pthread_create(&progress.thread, NULL, show, NULL) == 0;
}

void ompp_progress_end(void)
{
    if (!progress.runs) return;
    pthread_mutex_lock(&progress.mutex);
    progress.stop = true;
    pthread_cond_signal(&progress.ended);
    pthread_mutex_unlock(&progress.mutex);
    pthread_join(progress.thread, NULL);
    progress.runs = false;
}
