/**
 * \file
 * The program's calls of C11's threads, as those of POSIX (ompp_pthread_calls.c). Their names are not reserved: where
 * they are not the C library's, none is replaced.
 */
#define _GNU_SOURCE
#include "pthread/ompp_pthread_priv.h"

#include "base/ompp_dl.h"
#include "base/ompp_path.h"

#include <dlfcn.h>
#include <string.h>
#include <threads.h>

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

static int join_c11(thrd_t thread, int *result)
{
    const ompp_time_t begin = ompp_pthread_wait(OMPP_SYNC_EVENT, (uint64_t)thread);
    const int error = thrd_join(thread, result);

    ompp_pthread_waited(error == thrd_success, OMPP_SYNC_EVENT, (uint64_t)thread, begin);
    return error;
}

/* ---- Mutexes, conditions, what is done once ---------------------------------------------------------------------- */

#define C11(name, object, kind, ok, parameters, ...)                                           \
    static int name##_c11 parameters                                                           \
    {                                                                                          \
        const ompp_time_t begin = ompp_pthread_wait(kind, ompp_pthread_number(object));        \
        const int result = ok(__VA_ARGS__);                                                    \
        ompp_pthread_waited(result == thrd_success, kind, ompp_pthread_number(object), begin); \
        if (result == thrd_timedout) ompp_pthread_flag(true);                                  \
        return result;                                                                         \
    }

C11(mutex_lock, lock, OMPP_SYNC_MUTEX, mtx_lock, (mtx_t * lock), lock)
C11(mutex_timedlock, lock, OMPP_SYNC_MUTEX, mtx_timedlock, (mtx_t * lock, const struct timespec *until), lock, until)

static int mutex_trylock_c11(mtx_t *lock)
{
    const int result = mtx_trylock(lock);

    ompp_pthread_got(result == thrd_success, OMPP_SYNC_MUTEX, ompp_pthread_number(lock));
    ompp_pthread_try_for(lock, result != thrd_busy);
    return result;
}

static int mutex_unlock_c11(mtx_t *lock)
{
    ompp_pthread_publish(OMPP_SYNC_MUTEX, ompp_pthread_number(lock));
    return mtx_unlock(lock);
}

static int woken_c11(cnd_t *cond, mtx_t *lock, int result, ompp_time_t begin)
{
    (void)ompp_pthread_woken(cond, lock, result == thrd_success ? 0 : -1, begin);
    return result;
}

static int cond_wait_c11(cnd_t *cond, mtx_t *lock)
{
    const ompp_time_t begin = ompp_pthread_give_up(cond, lock);

    return woken_c11(cond, lock, cnd_wait(cond, lock), begin);
}

static int cond_timedwait_c11(cnd_t *cond, mtx_t *lock, const struct timespec *until)
{
    const ompp_time_t begin = ompp_pthread_give_up(cond, lock);
    const int result = woken_c11(cond, lock, cnd_timedwait(cond, lock, until), begin);

    ompp_pthread_flag(result == thrd_timedout);
    return result;
}

static int cond_signal_c11(cnd_t *cond)
{
    ompp_pthread_publish(OMPP_SYNC_EVENT, ompp_pthread_number(cond));
    return cnd_signal(cond);
}

static int cond_broadcast_c11(cnd_t *cond)
{
    ompp_pthread_publish(OMPP_SYNC_EVENT, ompp_pthread_number(cond));
    return cnd_broadcast(cond);
}

static int call_once_really(pthread_once_t *control, void (*function)(void))
{
    call_once((once_flag *)control, function);
    return 0;
}

static void call_once_c11(once_flag *flag, void (*function)(void))
{
    ompp_pthread_once_by(call_once_really, (pthread_once_t *)flag, function);
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

static const ompp_intercept_t functions[] = {
    {"call_once", call_once_c11, NULL},
    {"cnd_broadcast", cond_broadcast_c11, NULL},
    {"cnd_signal", cond_signal_c11, NULL},
    {"cnd_timedwait", cond_timedwait_c11, NULL},
    {"cnd_wait", cond_wait_c11, NULL},
    {"mtx_lock", mutex_lock_c11, NULL},
    {"mtx_timedlock", mutex_timedlock_c11, NULL},
    {"mtx_trylock", mutex_trylock_c11, NULL},
    {"mtx_unlock", mutex_unlock_c11, NULL},
    {"thrd_join", join_c11, NULL},
    /* End of functions; ascending */
};

static bool is_of_libc(const char *name)
{
    const void *const function = ompp_dl_symbol(RTLD_DEFAULT, name);
    Dl_info info;

    if (!function || !dladdr(function, &info) || !info.dli_fname) return false;
    const char *const file = ompp_path_last(info.dli_fname);
    return strncmp(file, "libc.so", 7) == 0 || strncmp(file, "libc-", 5) == 0 || strncmp(file, "libpthread", 10) == 0;
}

static bool are_of_libc(void)
{
    bool are = is_of_libc("thrd_create");

    for (size_t i = 0; are && i < sizeof functions / sizeof functions[0]; i++) are = is_of_libc(functions[i].name);
    return are;
}

bool ompp_c11_is_known(void)
{
    static _Atomic int known; /* 1 = no, 2 = yes */

    if (!known) known = are_of_libc() ? 2 : 1;
    return known == 2;
}

bool ompp_c11_follow(void)
{
    if (ompp_c11_is_known()) ompp_intercept(functions, sizeof functions / sizeof functions[0]);
    return ompp_c11_is_known();
}
