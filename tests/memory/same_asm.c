/* Inline assembly and other things that hooks must not disturb: registers, flags, the stack, jumps. Prints results. */
#define _GNU_SOURCE
#include <alloca.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 1000

static long data[N];
static char from[256], to[256];
static jmp_buf there;
static volatile sig_atomic_t signals;

#if defined(__x86_64__)
static long add_in_memory(long *at, long by)
{
    long old = by;
    __asm__ volatile("lock xaddq %0, %1" : "+r"(old), "+m"(*at) : : "memory", "cc");
    return old;
}

static void copy_bytes(void *dst, const void *src, size_t n)
{
    __asm__ volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(n) : : "memory");
}

static unsigned __int128 wide(unsigned long a, unsigned long b)
{
    unsigned long low, high;
    __asm__("mulq %3" : "=a"(low), "=d"(high) : "a"(a), "rm"(b) : "cc");
    return (unsigned __int128)high << 64 | low;
}

/* All registers but those that the compiler needs are written; flags are read behind loads. */
static long many_registers(const long *at)
{
    long sum = at[0];
    __asm__ volatile("movq %1, %%r8\n\tmovq %2, %%r9\n\taddq %%r9, %%r8\n\tadcq $0, %0\n\taddq %%r8, %0"
                     : "+r"(sum)
                     : "m"(at[1]), "m"(at[2])
                     : "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm15", "cc", "memory");
    return sum;
}

static int jumps(long *at)
{
    __asm__ goto("cmpq $5, %0\n\tjg %l1" : : "m"(*at) : "cc" : larger);
    return 0;
larger:
    return 1;
}

__attribute__((naked, noinline)) static long bare(const long *at)
{
    __asm__("movq (%rdi), %rax\n\taddq %rax, %rax\n\tret");
}

static double vectors(const double *a)
{
    double sum[2];
    __asm__("movupd %1, %%xmm2\n\taddpd %%xmm2, %%xmm2\n\tmovupd %%xmm2, %0" : "=m"(sum) : "m"(*(const double(*)[2])a) : "xmm2");
    return sum[0] + sum[1];
}
#else
static long add_in_memory(long *at, long by) { long old = *at; *at += by; return old; }
static void copy_bytes(void *dst, const void *src, size_t n) { memcpy(dst, src, n); }
static unsigned __int128 wide(unsigned long a, unsigned long b) { return (unsigned __int128)a * b; }
static long many_registers(const long *at) { return at[0] + at[1] + at[2]; }
static int jumps(long *at) { return *at > 5; }
static long bare(const long *at) { return 2 * *at; }
static double vectors(const double *a) { return 2 * (a[0] + a[1]); }
#endif

static void assembly(void)
{
    double pair[2] = {1.5, 2.25};
    unsigned long sum = 0;

    for (int i = 0; i < 256; i++) from[i] = (char)(i * 7);
    for (int i = 0; i < N; i++) data[i] = i;
    for (int i = 0; i + 3 < N; i++) sum += (unsigned long)(add_in_memory(&data[i], i) + many_registers(&data[i]) + jumps(&data[i]) + bare(&data[i]));
    copy_bytes(to, from, sizeof to);
    unsigned __int128 product = wide(0xfedcba9876543210u, sum);
    printf("assembly %lu %d %lx %lx %g\n", sum, memcmp(from, to, sizeof to), (long)(product >> 64), (long)product, vectors(pair));
}

static void down(int depth)
{
    volatile int here[10];

    for (int i = 0; i < 10; i++) here[i] = depth;
    if (depth == 0) longjmp(there, here[3] + 7);
    down(depth - 1);
}

static void handler(int signal)
{
    data[0] += signal;
    signals++;
}

static double sum_of(int n, ...)
{
    va_list list;
    double sum = 0;

    va_start(list, n);
    for (int i = 0; i < n; i++) sum += i % 2 ? va_arg(list, int) : va_arg(list, double);
    va_end(list);
    return sum;
}

static long stack(int n)
{
    long *block = alloca((size_t)n * sizeof *block), vla[n], sum = 0;

    for (int i = 0; i < n; i++) block[i] = vla[n - 1 - i] = i;
    for (int i = 0; i < n; i++) sum += block[i] * vla[i];
    return sum;
}

int main(void)
{
    volatile int rounds = 0;
    int jumped;

    assembly();
    jumped = setjmp(there);
    rounds++;
    if (rounds < 5) down(20);
    printf("longjmp %d %d\n", jumped, rounds);
    signal(SIGUSR1, handler);
    data[0] = 0;
    for (int i = 0; i < 100; i++) raise(SIGUSR1);
    printf("signals %d %ld\n", (int)signals, data[0]);
    errno = 33;
    for (int i = 0; i < N; i++) data[i] = N - i;
    printf("errno %d\n", errno);
    printf("others %g %ld\n", sum_of(4, 1.5, 2, 3.5, 4), stack(50));
    return 3;
}
