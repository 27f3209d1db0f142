/*
 * A signal handler with hooks runs before each instruction of a function that accesses its local variables for the first
 * time, and walks the stack from another place each time. The processor's single step signals; where it does not, this
 * ends with 77. Says nothing.
 */
#include <errno.h>
#include <signal.h>

#define TIMES 1000

static volatile int handled, changed;

/* Its address is known elsewhere: accesses to it are counted. */
#define SHOW(variable) __asm__ volatile("" ::"r"(&(variable)) : "memory")

__attribute__((noinline)) static void put(volatile long *to) { *to = 1; }

/* Its frame is another one each time. */
__attribute__((noinline)) static void go_down(int bytes)
{
    volatile char room[bytes];
    volatile long other;

    SHOW(room);
    put(&other);
}

static void handler(int number)
{
    (void)number;
    go_down(16 * (++handled % 10000));
}

/* What is between the two calls of it is stepped through. */
#define STEP(operation)                                                                                          \
    __asm__ volatile("leaq -128(%%rsp), %%rsp; pushfq; " operation ", (%%rsp); popfq; leaq 128(%%rsp), %%rsp" :: \
                         : "memory", "cc")

__attribute__((noinline)) static void victim(void)
{
    volatile long target;
    const int saved = errno;

    SHOW(target);
    for (int i = 0; i < TIMES; i++) {
        if (i == 0) STEP("orq $256");
        target = i;
        if (i == 0) STEP("andq $-257");
    }
    changed = errno != saved;
}

int main(void)
{
    signal(SIGTRAP, handler);
    victim();
    return changed ? 1 : handled > 100 ? 0 : 77;
}
