/* Writing that cannot kill the program, and messages that do not get into its files. */
#include "base/ompp_write.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const int signals[] = {SIGPIPE, SIGXFSZ};
#define NSIGNALS (sizeof signals / sizeof signals[0])

static struct stat standard_error;
static bool has_standard_error, looked;

void ompp_write_begin(ompp_write_t *state)
{
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < NSIGNALS; i++) sigaddset(&set, signals[i]);
    sigpending(&state->pending);
    state->blocked = pthread_sigmask(SIG_BLOCK, &set, &state->mask) == 0;
}

void ompp_write_end(const ompp_write_t *state)
{
    const struct timespec now = {0, 0};
    int saved_errno = errno;
    sigset_t set;

    if (!state->blocked) return;
    sigemptyset(&set);
    for (size_t i = 0; i < NSIGNALS; i++)
        if (!sigismember(&state->pending, signals[i])) sigaddset(&set, signals[i]);
    while (sigtimedwait(&set, NULL, &now) > 0 || errno == EINTR) continue;
    pthread_sigmask(SIG_SETMASK, &state->mask, NULL);
    errno = saved_errno;
}

const char *ompp_write_why(int error)
{
    if (error == EFBIG) return "larger than ulimit -f allows";
    if (error == EPERM) return "not permitted: another user's file, link or pipe may be there";
    if (error == EEXIST) return "another file is there";
    return error == ETIMEDOUT ? "the reader of the pipe takes nothing" : strerror(error);
}

char *ompp_write_remedy(int error, const char *choose, char *text, size_t size)
{
    const bool full = error == ENOSPC || error == EDQUOT;

    if (error == EFBIG) snprintf(text, size, "set a larger ulimit -f");
    else snprintf(text, size, "%s %s", choose, full ? "where there is free space" : "that you can write to");
    return text;
}

/* At load; another constructor of ours may have something to say before this one has its turn. */
__attribute__((constructor)) static void at_load(void)
{
    int saved_errno = errno;

    if (!looked) has_standard_error = fstat(STDERR_FILENO, &standard_error) == 0;
    looked = true;
    errno = saved_errno;
}

static bool is_standard_error(void)
{
    struct stat now;

    at_load();
    if (!has_standard_error || fstat(STDERR_FILENO, &now)) return false;
    return now.st_dev == standard_error.st_dev && now.st_ino == standard_error.st_ino;
}

void ompp_write_stderr(const char *text, size_t n)
{
    int saved_errno = errno;
    ompp_write_t state;

    ompp_write_begin(&state);
    if (is_standard_error() && write(STDERR_FILENO, text, n) < 0) { /* nowhere left to say it */
    }
    ompp_write_end(&state);
    errno = saved_errno;
}
