/**
 * \file
 * Threads that wait by the system's own call: std::barrier, std::latch, std::counting_semaphore and std::atomic::wait
 * of C++20. There is no function for it but syscall(), which has any arguments and may do anything, come back twice or
 * on another stack: so what is no futex goes on to the real one as it came, which needs a few instructions of the
 * machine.
 *
 * Whoever wakes threads at an address is who those waited for. Waits that end before they begin, since the word has
 * changed, are none.
 */
#define _GNU_SOURCE
#include "pthread/ompp_pthread_priv.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__) && !defined(__ILP32__)

#define HIDDEN __attribute__((visibility("hidden"), used))

HIDDEN long ompp_futex_call(long number, uint32_t *word, long operation, long value, const void *limit, uint32_t *other,
                            long value3);

static long wait_at(uint32_t *word, int operation, long value, const void *limit, uint32_t *other, long value3)
{
    const int saved = errno;
    const ompp_time_t begin = ompp_pthread_wait(OMPP_SYNC_EVENT, ompp_pthread_number(word));
    errno = saved;
    const long result = syscall(SYS_futex, word, operation, value, limit, other, value3);
    const int error = errno;

    ompp_pthread_waited(result == 0, OMPP_SYNC_EVENT, ompp_pthread_number(word), begin);
    if (result != 0 && error == ETIMEDOUT) ompp_pthread_flag(true);
    errno = error;
    return result;
}

long ompp_futex_call(long number, uint32_t *word, long operation, long value, const void *limit, uint32_t *other,
                     long value3)
{
    const int saved = errno;

    switch ((int)operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET: return wait_at(word, (int)operation, value, limit, other, value3);
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
    case FUTEX_WAKE_OP:
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE: ompp_pthread_publish(OMPP_SYNC_EVENT, ompp_pthread_number(word)); break;
    default: break;
    }
    errno = saved;
    return syscall(number, word, operation, value, limit, other, value3);
}

_Static_assert(SYS_futex == 202, "as below");

__attribute__((naked)) static void call(void)
{
    __asm__("cmpq $202, %rdi\n\t"
            "je ompp_futex_call\n\t"
            "jmp syscall@PLT\n");
}

const ompp_intercept_t ompp_futex_functions[] = {
    {"syscall", (void *)call, NULL},
};
const size_t ompp_nfutex_functions = sizeof ompp_futex_functions / sizeof ompp_futex_functions[0];

#else

const ompp_intercept_t ompp_futex_functions[] = {
    {NULL, NULL, NULL},
};
const size_t ompp_nfutex_functions = 0;

#endif
