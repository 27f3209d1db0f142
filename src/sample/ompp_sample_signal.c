/*
 * SIGPROF as the system has it: waiting, blocked, and not ours. The system is called directly, as the program's calls
 * of the C library are followed. Async-signal-safe.
 */
#define _GNU_SOURCE
#include "sample/ompp_sample_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BIT (UINT64_C(1) << (SIGPROF - 1)) /* as the system numbers signals */

/* As the system has it. */
typedef struct {
    void *handler;
    unsigned long flags;
    void *restorer;
    uint64_t blocked;
} action_t;

/* To where it came from: a thread, or the process. */
static void send_again(siginfo_t *info)
{
    const long process = getpid(), thread = syscall(SYS_gettid);

    if (info->si_code == SI_TKILL) syscall(SYS_rt_tgsigqueueinfo, process, thread, SIGPROF, info);
    else syscall(SYS_rt_sigqueueinfo, process, SIGPROF, info);
}

void ompp_sample_set_default(const struct sigaction *action)
{
    action_t wanted = {.handler = (void *)SIG_DFL, .flags = (unsigned)action->sa_flags};

    memcpy(&wanted.blocked, &action->sa_mask, sizeof wanted.blocked);
    syscall(SYS_rt_sigaction, SIGPROF, &wanted, NULL, sizeof wanted.blocked);
}

/* The handler runs: the signal that is sent again waits until it is over. */
void ompp_sample_foreign(siginfo_t *info)
{
    ompp_sample_set_default(&(struct sigaction){.sa_handler = SIG_DFL});
    syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), SIGPROF, info);
}

unsigned ompp_sample_drain(void)
{
    const uint64_t wanted = BIT;
    const struct timespec now = {0, 0};
    siginfo_t info;
    unsigned periods = 0;

    while (syscall(SYS_rt_sigtimedwait, &wanted, &info, &now, sizeof wanted) == SIGPROF) {
        if (!ompp_sample_is_ours(&info)) {
            send_again(&info);
            break;
        }
        periods += 1 + (info.si_code == SI_TIMER ? (unsigned)info.si_overrun : 0);
    }
    return periods;
}

bool ompp_sample_is_pending(pid_t tid)
{
    static const char field[] = "SigPnd:\t";
    char path[60], text[2000];

    snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)tid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0) close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *found = strstr(text, field);
    return found && strtoull(found + sizeof field - 1, NULL, 16) & BIT;
}
