/*
 * What makes the signals: a timer on the thread's processor time, or a perf event. The system is called directly: the
 * C library's functions allocate.
 */
#define _GNU_SOURCE
#include "sample/ompp_sample_way.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000u
#define HIGH_FD 1000u /* descriptors: out of the way of the program, which may count on the lowest number */
#define LEAST_FDS 64u /* with fewer the program needs them itself */

const char ompp_sample_cookie = 0;

/* ---- Timers ------------------------------------------------------------------------------------------------------ */

bool ompp_sample_timers_are_safe(void)
{
#ifdef __x86_64__
    struct utsname system;
    unsigned major, minor;

    return uname(&system) == 0 && sscanf(system.release, "%u.%u", &major, &minor) == 2 &&
           (major > 5 || (major == 5 && minor >= 11)); /* CONFIG_POSIX_CPU_TIMERS_TASK_WORK */
#else
    return false;
#endif
}

unsigned ompp_sample_timers_most(void)
{
    struct timespec tick = {0, 0};

    return clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0 && tick.tv_nsec > 0 ? SECOND / (unsigned)tick.tv_nsec : 100;
}

static int open_timer(ompp_sampler_t *sampler)
{
    struct sigevent event;

    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGPROF;
    event.sigev_value.sival_ptr = (void *)&ompp_sample_cookie;
    event._sigev_un._tid = sampler->tid;
    return syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &sampler->timer) == 0 ? 0 : errno;
}

static struct timespec span(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / SECOND), .tv_nsec = (long)(ns % SECOND)};
}

static uint64_t ns_of(struct timespec t) { return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec; }

uint64_t ompp_sample_processor_time(void)
{
    struct timespec used = {0, 0};

    syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &used);
    return ns_of(used);
}

/* The number of the clock is the system's: processor time of one thread by its id. */
uint64_t ompp_sample_time_of(pid_t tid)
{
    struct timespec used = {0, 0};

    syscall(SYS_clock_gettime, (clockid_t)(~(unsigned)tid << 3 | 6u), &used);
    return ns_of(used);
}

/* first_ns: of the thread's time; periods that are over by then count as overrun. \return ns that were left of what was
 * set before. */
static uint64_t set_timer(const ompp_sampler_t *sampler, uint64_t first_ns, uint64_t period_ns)
{
    const struct itimerspec wanted = {.it_interval = span(period_ns), .it_value = span(first_ns)};
    struct itimerspec before = {{0, 0}, {0, 0}};

    syscall(SYS_timer_settime, sampler->timer, TIMER_ABSTIME, &wanted, &before);
    return ns_of(before.it_value);
}

/* ---- Perf events ------------------------------------------------------------------------------------------------- */

/* Whether the number is that of our event still. The program may have closed it, and have its own file there. */
static bool is_own(const ompp_sampler_t *sampler)
{
    static const char wanted[] = "anon_inode:[perf_event]";
    char link[40], to[sizeof wanted];
    uint64_t id = 0;

    snprintf(link, sizeof link, "/proc/self/fd/%d", sampler->fd);
    return readlink(link, to, sizeof to) == (ssize_t)sizeof wanted - 1 && memcmp(to, wanted, sizeof wanted - 1) == 0 &&
           ioctl(sampler->fd, PERF_EVENT_IOC_ID, &id) == 0 && id == sampler->id;
}

static int move_up(int fd)
{
    struct rlimit limit = {0, 0};
    int high = -1;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= LEAST_FDS)
        high = fcntl(fd, F_DUPFD_CLOEXEC, (int)(limit.rlim_cur / 2 < HIGH_FD ? limit.rlim_cur / 2 : HIGH_FD));
    close(fd);
    return high;
}

static int open_event(ompp_sampler_t *sampler)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .size = sizeof attr, .config = PERF_COUNT_SW_CPU_CLOCK};
    const struct f_owner_ex owner = {F_OWNER_TID, sampler->tid};

    attr.sample_period = sampler->period_ns;
    attr.disabled = attr.exclude_kernel = attr.exclude_hv = 1;
    attr.wakeup_events = 1;
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, (unsigned long)PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) return errno;
    fd = move_up(fd);
    if (fd < 0) return EMFILE;
    sampler->fd = fd;
    if (ioctl(fd, PERF_EVENT_IOC_ID, &sampler->id) == 0 && fcntl(fd, F_SETSIG, SIGPROF) == 0 &&
        fcntl(fd, F_SETOWN_EX, &owner) == 0 && fcntl(fd, F_SETFL, O_RDWR | O_ASYNC) == 0)
        return 0;
    const int error = errno;
    close(fd);
    return error;
}

/* ---- Both -------------------------------------------------------------------------------------------------------- */

int ompp_sample_way_open(ompp_sampler_t *sampler, ompp_sample_way_t way, uint64_t period_ns)
{
    sampler->way = way;
    sampler->period_ns = period_ns;
    sampler->begin_ns = ompp_sample_processor_time();
    sampler->next_ns = sampler->begin_ns + period_ns;
    sampler->tid = (pid_t)syscall(SYS_gettid);
    sampler->is_armed = false;
    sampler->fd = -1;
    const int error = way == OMPP_SAMPLE_TIMER ? open_timer(sampler) : open_event(sampler);
    if (error) sampler->tid = 0;
    return error;
}

bool ompp_sample_way_close(ompp_sampler_t *sampler)
{
    const bool is_timer = sampler->way == OMPP_SAMPLE_TIMER, good = is_timer || is_own(sampler);

    sampler->is_armed = false;
    if (is_timer) {
        syscall(SYS_timer_delete, sampler->timer);
    } else if (good) {
        ioctl(sampler->fd, PERF_EVENT_IOC_DISABLE, 0); /* a forked child may have it open still */
        close(sampler->fd);
    }
    sampler->fd = -1;
    return good;
}

void ompp_sample_way_arm(ompp_sampler_t *sampler)
{
    sampler->is_armed = true;
    if (sampler->way == OMPP_SAMPLE_TIMER) set_timer(sampler, sampler->next_ns, sampler->period_ns);
    else if (is_own(sampler)) ioctl(sampler->fd, PERF_EVENT_IOC_ENABLE, 0);
}

void ompp_sample_way_disarm(ompp_sampler_t *sampler)
{
    sampler->is_armed = false;
    if (sampler->way == OMPP_SAMPLE_TIMER) sampler->next_ns = ompp_sample_processor_time() + set_timer(sampler, 0, 0);
    else if (is_own(sampler)) ioctl(sampler->fd, PERF_EVENT_IOC_DISABLE, 0);
}

void ompp_sample_way_slow_down(ompp_sampler_t *sampler)
{
    sampler->slow = 0;
    sampler->is_slowed = true;
    sampler->period_ns *= 2;
    if (sampler->way == OMPP_SAMPLE_TIMER)
        set_timer(sampler, ompp_sample_processor_time() + sampler->period_ns, sampler->period_ns);
    else if (is_own(sampler)) ioctl(sampler->fd, PERF_EVENT_IOC_PERIOD, &sampler->period_ns);
}
