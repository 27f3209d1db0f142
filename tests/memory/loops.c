/*
 * Loops of many shapes: what is counted in registers while they run must be what calls count. Structures that share pages, begin and
 * end within them, belong to another thread, are touched for the first time; loops that are left early, not entered, or that call.
 * Values are kept in all registers meanwhile, and printed.
 */
#include <ompp.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define N 1500

static struct {
    char before[72];
    double left[N];
    int middle[N];
    char gap[7], text[N];
    double right[N] __attribute__((aligned(8)));
} s;
static double shared[N], alone[4 * N];
static volatile int last = N;
static jmp_buf back;

static double forward(const double *from, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++) sum += from[i];
    return sum;
}

static double backward(const double *from, int step)
{
    double sum = 0;

    for (int i = N - 1; i >= 0; i -= step) sum = sum * 0.5 + from[i];
    return sum;
}

/* From one structure into those behind it. */
static long across(const char *from, const char *to)
{
    long sum = 0;

    for (; from < to; from++) sum += *from;
    return sum;
}

static int search(const int *in, int what)
{
    for (int i = 0; i < N; i++) {
        if (in[i] == what) return i;
        if (in[i] > 2 * N) break;
    }
    return -1;
}

static double triangle(double *a, const int *b)
{
    double sum = 0;

    for (int i = 0; i < 60; i++) {
        for (int j = 0; j < i; j++) {
            if (b[j] == 3 * i) goto out;
            a[j] += b[i] * 0.25 + a[i];
        }
        sum += a[i];
        for (int k = 0; k < 3; k++) sum += a[i + k] * b[k];
    }
out:
    return sum;
}

static int gather(const int *at, int n)
{
    int sum = 0, i = n;

    while (i-- > 0) {
        switch (at[i] & 3) {
        case 0: sum += s.text[at[i] % N]; break;
        case 1: s.text[at[i] % N]++; continue;
        default: sum ^= at[i];
        }
        sum++;
    }
    return sum;
}

__attribute__((noinline)) static void told(double *x)
{
    *x += 1;
}

static double calls(double *a)
{
    double sum = 0;

    for (int i = 0; i < N; i++) {
        sum += a[i];
        if (i % 100 == 0) told(&a[i]);
    }
    return sum;
}

static double jumps(double *a)
{
    volatile int turn = 0;
    double sum = 0;

    if (setjmp(back)) return -1;
    for (int i = 0; i < N; i++) {
        sum += a[i];
        if (++turn == 1000) longjmp(back, 1);
    }
    return sum;
}

/* Sixteen values in registers, over memory that nobody has touched. */
static double many(double *a)
{
    double v[16];

    for (int k = 0; k < 16; k++) v[k] = k * last;
    double v0 = v[0], v1 = v[1], v2 = v[2], v3 = v[3], v4 = v[4], v5 = v[5], v6 = v[6], v7 = v[7], v8 = v[8], v9 = v[9];
    long w0 = last, w1 = w0 + 1, w2 = w0 + 2, w3 = w0 + 3, w4 = w0 + 4, w5 = w0 + 5;
    for (int i = 0; i < 4 * N; i++) {
        a[i] += v0;
        v0 += v1, v1 += v2, v2 -= v3, v3 += v4, v4 -= v5, v5 += v6, v6 -= v7, v7 += v8, v8 -= v9, v9 += v0 * 1e-3;
        w0 += w1, w1 ^= w2, w2 += w3, w3 ^= w4, w4 += w5, w5 ^= w0 + i;
    }
    return v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9 + (double)((w0 ^ w1 ^ w2 ^ w3 ^ w4 ^ w5) & 0xffff);
}

#if defined(__x86_64__)
typedef double wide_t __attribute__((vector_size(32)));

__attribute__((target("avx"), noinline)) static double wide(double *a)
{
    wide_t v[4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, {13, 14, 15, 16}};

    for (int i = 0; i < 4 * N; i++) {
        double x = a[i];
        wide_t w = {x, x, x, x};
        v[0] += w, v[1] -= v[0] * 0.125, v[2] += v[1] * 0.25, v[3] -= v[2] * 0.5;
    }
    return v[0][3] + v[1][2] + v[2][1] + v[3][0];
}
#endif

static void *other(void *nothing)
{
    double *fresh = calloc(4 * N, sizeof *fresh), *results = malloc(4 * sizeof *results);

    (void)nothing;
    ompp_papi_set_drange(fresh, 4 * N * sizeof *fresh, "fresh");
#if defined(__x86_64__)
    results[0] = __builtin_cpu_supports("avx") ? wide(fresh) * 0 : 0; /* the thread's first hook may be in it */
#endif
    for (int i = 0; i < 4 * N; i++) fresh[i] = i;
    results[1] = many(fresh) + forward(shared, last);
#if defined(__x86_64__)
    results[0] += __builtin_cpu_supports("avx") ? wide(fresh) : 0;
#endif
    results[2] = 0;
    for (int i = 0, at = 7; i < N; i++, at = (at * 31 + 7) % N) results[2] += shared[at];
    for (int i = 0; i < N; i++) shared[i] *= 2;
    return results;
}

int main(void)
{
    pthread_t thread;
    void *results;

    for (int i = 0; i < N; i++) s.left[i] = i, s.middle[i] = i * 7 % N, s.right[i] = -i, shared[i] = 1.0 / (i + 1);
    ompp_papi_set_drange(s.left, sizeof s.left, "left");
    ompp_papi_set_drange(s.middle, sizeof s.middle, "middle");
    ompp_papi_set_drange(s.text, sizeof s.text, "text");
    ompp_papi_set_drange(s.right, sizeof s.right, "right");
    ompp_papi_set_drange(shared, sizeof shared, "shared");
    ompp_papi_set_drange(alone, sizeof alone, "alone");
    printf("%a %a %a\n", many(alone), forward(s.left, last), forward(s.left, last - N));
    printf("%a %a\n", backward(s.right, 1), backward(s.right, 33));
    printf("%ld %ld\n", across((char *)&s, (char *)(&s + 1)), across(s.text + 5, s.text + 5));
    printf("%d %d\n", search(s.middle, 700), search(s.middle, -1));
    printf("%a %d\n", triangle(s.left, s.middle), gather(s.middle, last));
    printf("%a %a\n", calls(s.right), jumps(s.right));
    pthread_create(&thread, NULL, other, NULL);
    pthread_join(thread, &results);
    for (int i = 0; i < 3; i++) printf("%a\n", ((double *)results)[i]);
    return 0;
}
