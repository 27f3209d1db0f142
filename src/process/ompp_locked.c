/*
 * A program that locks all its memory: the system would back what we have reserved, more than there is. libompp comes
 * before the C library, so that this is called by the program and its libraries. What is mapped now is locked one by
 * one, without what is ours; the rest is the system's, and so are results and errno. As long as nothing is reserved,
 * all is.
 */
#define _GNU_SOURCE
#include "base/ompp_caller.h"
#include "base/ompp_reserve.h"
#include "image/ompp_mapped.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OMPP_EXPORT __attribute__((visibility("default")))
#define PAGE 4096ul
#ifndef MCL_ONFAULT
#define MCL_ONFAULT 4 /* Linux 4.4 */
#endif
#ifndef MLOCK_ONFAULT
#define MLOCK_ONFAULT 1u
#endif

typedef void (*visit_t)(void *data, uintptr_t begin, uintptr_t end);

/* The parts of [begin, end) that are not ours. */
static void visit_others(uintptr_t begin, uintptr_t end, visit_t visit, void *data)
{
    ompp_reserved_t range;

    for (unsigned i = 0; begin < end && ompp_reserve_get(i, &range); i++) {
        if (range.end <= begin || range.begin >= end) continue;
        if (range.begin > begin) visit_others(begin, range.begin, visit, data);
        begin = range.end;
    }
    if (begin < end) visit(data, begin, end);
}

typedef struct {
    visit_t visit;
    void *data;
} visitor_t;

static bool visit_some(void *data, uintptr_t begin, uintptr_t end, const char *path)
{
    const visitor_t *v = data;

    (void)path;
    visit_others(begin, end, v->visit, v->data);
    return false;
}

/* What is mapped, but for ours. \return false: the system does not tell. */
static bool visit_mapped(visit_t visit, void *data)
{
    visitor_t v = {visit, data};

    return ompp_mapped_each(visit_some, &v);
}

static void add_size(void *data, uintptr_t begin, uintptr_t end) { *(size_t *)data += end - begin; }

/* What cannot be backed is locked nevertheless; mlockall says nothing of it either. */
static void lock_now(void *data, uintptr_t begin, uintptr_t end)
{
    (void)data;
    mlock((const void *)begin, end - begin);
}

static void lock_on_fault(void *data, uintptr_t begin, uintptr_t end)
{
    (void)data;
    mlock2((const void *)begin, end - begin, MLOCK_ONFAULT);
}

/* Linux 4.4 and later. */
static bool knows_on_fault(void)
{
    ompp_reserved_t range;

    for (unsigned i = 0; ompp_reserve_get(i, &range); i++)
        if (range.end) return mlock2((const void *)range.begin, 0, MLOCK_ONFAULT) == 0;
    return false;
}

/* Whether the process may lock more than its limit: asked with addresses of ours, which are not backed for it. */
static bool may_exceed(size_t limit)
{
    ompp_reserved_t range;

    for (unsigned i = 0; ompp_reserve_get(i, &range); i++) {
        if (range.end - range.begin <= limit + PAGE) continue;
        const size_t size = (limit / PAGE + 1) * PAGE;
        const void *at = (const void *)range.begin;
        const bool may = (knows_on_fault() ? mlock2(at, size, MLOCK_ONFAULT) : mlock(at, size)) == 0;
        if (may) munlock(at, size);
        return may;
    }
    return false;
}

/* As the system judges it, which would count what is ours: 0, or an errno. */
static int refusal(size_t size)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 0;
    if ((limit.rlim_cur == 0 || size > limit.rlim_cur) && !may_exceed(limit.rlim_cur))
        return limit.rlim_cur == 0 ? EPERM : ENOMEM;
    return 0;
}

static bool is_anything_reserved(void)
{
    ompp_reserved_t range;

    for (unsigned i = 0; ompp_reserve_get(i, &range); i++)
        if (range.end) return true;
    return false;
}

/* Of who comes behind us, which may be another one that stands in front of the system. */
static int lock_all(int flags)
{
    int (*const real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "mlockall");

    return real ? real(flags) : (int)syscall(SYS_mlockall, flags);
}

static int lock_others(int flags)
{
    const int saved = errno;
    size_t size = 0;
    int error;

    if (!knows_on_fault() && flags & MCL_ONFAULT) return lock_all(flags);
    if (!visit_mapped(add_size, &size)) return lock_all(knows_on_fault() ? flags | MCL_ONFAULT : flags);
    error = refusal(size);
    if (error) {
        errno = error;
        return -1;
    }
    if (flags & MCL_FUTURE && lock_all(flags & ~MCL_CURRENT) != 0) return -1;
    visit_mapped(flags & MCL_ONFAULT ? lock_on_fault : lock_now, NULL);
    errno = saved;
    return 0;
}

/* No point of cancellation, though we read a file. */
OMPP_EXPORT int mlockall(int flags)
{
    int result;

    if (!(flags & MCL_CURRENT) || flags & ~(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) || !is_anything_reserved())
        return lock_all(flags);
    const ompp_stay_t stay = ompp_stay();
    result = lock_others(flags);
    ompp_stay_end(stay);
    return result;
}
