/* The state of the program's thread that our code must not change, and a stack that is not the program's. */
#define _GNU_SOURCE
#include "base/ompp_caller.h"
#include "base/ompp_pages.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As the system numbers them, from the lowest bit. */
#define BIT(signal) (UINT64_C(1) << ((signal)-1))
/* Those of what a thread does itself cannot wait; the C library's own, which are below SIGRTMIN, must not. */
#define NEVER_HELD                                                                                                  \
    (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | BIT(SIGTRAP) | BIT(SIGSYS) | BIT(SIGABRT) | BIT(32) | \
     BIT(33))

/* Inside of ompp_caller_run(); and what the program's thread blocks, then. */
static __thread bool is_on_ours __attribute__((tls_model("initial-exec")));
static __thread uint64_t blocked_outside __attribute__((tls_model("initial-exec")));

_Atomic bool ompp_signals_are_handled = true;

uint64_t ompp_signals_hold(void)
{
    const uint64_t all = ~NEVER_HELD;
    uint64_t before = 0;

    if (is_on_ours) return OMPP_SIGNALS_KEPT;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, sizeof all);
    return before;
}

void ompp_signals_release(uint64_t held)
{
    if (held != OMPP_SIGNALS_KEPT) syscall(SYS_rt_sigprocmask, SIG_SETMASK, &held, NULL, sizeof held);
}

bool ompp_signals_can_wait(int signal) { return signal > 0 && signal <= 64 && !(NEVER_HELD & BIT(signal)); }

bool ompp_signals_blocks(int signal)
{
    uint64_t blocked = blocked_outside;

    if (!is_on_ours) syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &blocked, sizeof blocked);
    return blocked & BIT(signal);
}

/* The C library's signal looks only at the type: it may have been sent before the state was changed. */
ompp_cancel_t ompp_cancel_hold(void)
{
    ompp_cancel_t held;

    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &held.type);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &held.state);
    return held;
}

void ompp_cancel_release(ompp_cancel_t held)
{
    int unused;

    pthread_setcancelstate(held.state, &unused);
    pthread_setcanceltype(held.type, &unused);
}

ompp_stay_t ompp_stay(void)
{
    const uint64_t signals = ompp_signals_hold();

    return (ompp_stay_t){signals, ompp_cancel_hold()};
}

ompp_stay_t ompp_stay_if_handled(void)
{
    if (atomic_load_explicit(&ompp_signals_are_handled, memory_order_relaxed)) return ompp_stay();
    return (ompp_stay_t){OMPP_SIGNALS_KEPT, ompp_cancel_hold()};
}

void ompp_stay_end(ompp_stay_t stay)
{
    int unused;

    pthread_setcancelstate(stay.cancel.state, &unused);
    ompp_signals_release(stay.signals);
    pthread_setcanceltype(stay.cancel.type, &unused);
}

void ompp_caller_save(ompp_caller_t *caller)
{
    caller->error = errno;
    caller->stay = ompp_stay();
    ompp_float_begin(&caller->floats);
}

void ompp_caller_restore(const ompp_caller_t *caller)
{
    ompp_float_end(&caller->floats);
    errno = caller->error;
    ompp_stay_end(caller->stay);
}

/* ---- Another stack ----------------------------------------------------------------------------------------------- */

#define STACK_BYTES ((size_t)1 << 20)
#define GUARD_BYTES ((size_t)1 << 16)

/* One that was used before. Two threads at once: the other makes one for itself. */
static _Atomic(void *) spare;

static void *take_stack(void)
{
    void *stack = atomic_exchange(&spare, NULL);

    if (stack) return stack;
    stack = ompp_mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) return NULL;
    mprotect(stack, GUARD_BYTES, PROT_NONE); /* what takes too much of it faults, as on a stack of a thread */
    return stack;
}

static void give_stack(void *stack)
{
    void *other = atomic_exchange(&spare, stack);

    if (other) ompp_munmap(other, STACK_BYTES);
}

/* A function may read arguments that it has not got: syscall() reads all that it could have. */
#define ARGUMENTS 64

/* A call with another stack pointer. The frame pointer stays the caller's, by which debuggers find their way back. */
__attribute__((noinline)) void ompp_caller_call(void *top, void (*work)(void *argument), void *argument)
{
    void *const below = (char *)top - ARGUMENTS;

#if defined(__x86_64__)
    __asm__ volatile("movq %%rsp, %%rbx\n\tmovq %[top], %%rsp\n\tcallq *%[work]\n\tmovq %%rbx, %%rsp"
                     : "+D"(argument)
                     : [top] "r"(below), [work] "r"(work), "r"(__builtin_frame_address(0))
                     : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3",
                       "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
                       "xmm15", "cc", "memory");
#elif defined(__aarch64__)
    register void *x0 __asm__("x0") = argument;
    __asm__ volatile("mov x19, sp\n\tmov sp, %[top]\n\tblr %[work]\n\tmov sp, x19"
                     : "+r"(x0)
                     : [top] "r"(below), [work] "r"(work), "r"(__builtin_frame_address(0))
                     : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
                       "x16", "x17", "x18", "x19", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9",
                       "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23",
                       "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "cc", "memory");
#else
    (void)below;
    work(argument);
#endif
}

void ompp_caller_run(void (*work)(void *argument), void *argument)
{
    ompp_caller_t caller;

    if (is_on_ours) {
        work(argument);
        return;
    }
    ompp_caller_save(&caller);
    void *stack = take_stack();
    if (stack) {
        blocked_outside = caller.stay.signals;
        is_on_ours = true;
        ompp_caller_call((char *)stack + STACK_BYTES, work, argument);
        is_on_ours = false;
        give_stack(stack);
    } else {
        work(argument);
    }
    ompp_caller_restore(&caller);
}
