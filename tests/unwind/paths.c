/* Frames of all kinds, run by single steps (paths.sh): recursion, alloca, aligned frames, tail calls, signals, cold parts, switches. */
#include <alloca.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static volatile int sink;
struct node {
    struct node *l, *r;
    double v;
};
static __attribute__((noinline)) struct node *ins(struct node *n, double v)
{
    if (!n) {
        n = calloc(1, sizeof *n);
        n->v = v;
        return n;
    }
    if (v < n->v) n->l = ins(n->l, v);
    else n->r = ins(n->r, v);
    return n;
}
static __attribute__((noinline)) double walk(struct node *n) { return n ? n->v + walk(n->l) * 0.5 + walk(n->r) : 0; }
static __attribute__((noinline)) int al(int n)
{
    char *p = alloca(n + 17);
    memset(p, n, n);
    char *q = alloca(n * 2);
    strcpy(q, "abc");
    sink += snprintf(q, n, "%d", n);
    return p[n / 2] + q[0];
}
static __attribute__((noinline)) double realign(int n)
{
    _Alignas(64) double a[32];
    for (int i = 0; i < 32; i++) a[i] = sin(i * n);
    volatile double *p = a;
    double s = 0;
    for (int i = 0; i < 32; i++) s += p[i];
    return s;
}
static __attribute__((noinline)) double realign_al(int n)
{
    _Alignas(64) double a[32];
    char *q = alloca(n + 8);
    memset(q, 1, n);
    for (int i = 0; i < 32; i++) a[i] = sqrt(i * n + q[n / 2]);
    volatile double *p = a;
    double s = 0;
    for (int i = 0; i < 32; i++) s += p[i];
    return s;
}
/* Its return is out of reach for a search that follows the code. */
static __attribute__((noinline)) double realign_far(int n)
{
    _Alignas(64) double a[32];
    char *q = alloca(n + 8);
    memset(q, 1, n);
    for (int i = 0; i < 32; i++) a[i] = sqrt(i * n + q[n / 2]);
    volatile double *p = a;
    sink += snprintf(q, n, "%d", (int)p[3]);
    __asm__ volatile(".rept 20500\n\tnop\n\t.endr" ::: "memory");
    return p[5];
}
/* Assembly without unwind information keeps its frame in r14 while a helper, which changes rbp, works on the aligned stack. */
int by_register(int n);
int by_memory(int n); /* keeps it in memory */
__asm__(".text\n"
        ".globl by_register\n"
        ".type by_register, @function\n"
        "by_register:\n\t"
        "push %rbx\n\tpush %rbp\n\tpush %r14\n\t"
        "mov %rsp, %r14\n\tand $-64, %rsp\n\tsub $128, %rsp\n\t"
        "mov %edi, %eax\n\tmov $3, %ecx\n"
        "1:\tcall 2f\n\tdec %ecx\n\tjne 1b\n\t"
        "mov %r14, %rsp\n\tpop %r14\n\tpop %rbp\n\tpop %rbx\n\tret\n"
        "2:\tlea 1(%rax), %rbp\n\tadd %ebp, %eax\n\tret\n"
        ".size by_register, . - by_register\n"
        ".globl by_memory\n"
        ".type by_memory, @function\n"
        "by_memory:\n\t"
        "push %rbx\n\tpush %rbp\n\tmov %rsp, %rax\n\t"
        "and $-64, %rsp\n\tsub $128, %rsp\n\tmov %rax, 64(%rsp)\n\t"
        "lea 5(%rdi), %rbp\n\tmov $20, %ecx\n"
        "3:\tadd $3, %rbp\n\tdec %ecx\n\tjne 3b\n\t"
        "mov %ebp, %eax\n\tmov 64(%rsp), %rsp\n\tpop %rbp\n\tpop %rbx\n\tret\n"
        ".size by_memory, . - by_memory\n");
static int cmp(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static __attribute__((noinline)) int sw(int k, int n)
{
    switch (k) {
    case 0: return al(n);
    case 1: return (int)realign(n);
    case 2: return n * 3;
    case 3: return (int)realign_al(n);
    case 4: return (int)walk(NULL) + n;
    case 5: return by_register(n) + by_memory(n);
    case 6: return puts("");
    default: return 7;
    }
}
static __attribute__((noinline)) int tail2(int n) { return sw(n % 7, n); }
static __attribute__((noinline)) int tail1(int n)
{
    sink++;
    return tail2(n + 1);
}
static __attribute__((noinline, cold)) int cold(int n)
{
    sink += snprintf((char[40]){0}, 40, "cold %d", n);
    return n;
}
static __attribute__((noinline)) int hotcold(int n)
{
    if (__builtin_expect(n % 5 == 3, 0)) {
        cold(n);
        cold(n + 1);
        sink += n;
    }
    return n * 2;
}
static void on(int s) { sink += s + al(5); }
static __attribute__((noinline)) int (*pick(int n))(int) { return n & 1 ? tail1 : hotcold; }
int main(void)
{
    struct node *t = NULL;
    double s = 0;
    int v[100];
    for (int i = 0; i < 40; i++) t = ins(t, (i * 7919) % 1000);
    signal(SIGUSR1, on);
    s += realign_far(9);
    for (int i = 0; i < 12; i++) {
        s += walk(t);
        v[i] = (i * 31) % 97;
        s += pick(i)(i);
        s += hotcold(i);
        s += sw(i % 8, i);
        if (i % 4 == 0) raise(SIGUSR1);
    }
    qsort(v, 100, sizeof *v, cmp);
    printf("%f %d\n", s, v[50]);
    return 0;
}
