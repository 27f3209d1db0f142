/*
 * Access patterns with known numbers of loads and stores: N times each, on a structure of its own that has the pattern's name.
 * What each has to count stands in kernels.py.
 */
#include <ompp.h>

#include <complex.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 1000
#define KERNEL __attribute__((noinline)) static void

static double sink;

/* A pattern that reads an array of a type, and one that writes it. */
#define SCALAR(name, type)                                                                                             \
    type read_##name[N], write_##name[N];                                                                              \
    KERNEL do_read_##name(void)                                                                                        \
    {                                                                                                                  \
        double sum = 0;                                                                                                \
        for (int i = 0; i < N; i++) sum += (double)read_##name[i];                                                     \
        sink += sum;                                                                                                   \
    }                                                                                                                  \
    KERNEL do_write_##name(void)                                                                                       \
    {                                                                                                                  \
        for (int i = 0; i < N; i++) write_##name[i] = (type)i;                                                         \
    }

SCALAR(char, signed char)
SCALAR(short, short)
SCALAR(int, int)
SCALAR(long, long)
SCALAR(float, float)
SCALAR(double, double)
SCALAR(bool, _Bool)
SCALAR(int128, __int128)
SCALAR(longdouble, long double)

double update[N], copied_from[N], copied_to[N], matrix[100][100], gather[N], scatter[N];
static const double constant[N] = {1, 2, 3};
static int place[N];
struct small {
    int a;
    double b;
} members[N];
struct big {
    double x[8];
} assigned_from[N], assigned_to[N];
struct __attribute__((packed)) packed {
    char c;
    int i;
} unaligned[N];
struct bits {
    unsigned a : 3, b : 13, c : 16;
} bits_write[N], bits_read[N];
double complex complex_array[N];
char memcpy_from[64 * N], memcpy_to[64 * N], memmove_array[64 * N], memset_array[64 * N], idiom_from[N], idiom_to[N], idiom_set[N];
char fixed_from[64 * N], fixed_to[64 * N], fixed_set[64 * N];
volatile int volatile_array[N];
_Atomic long atomic_add, atomic_load, atomic_store, atomic_compare, atomic_exchange;
long omp_atomic_long;
double omp_atomic, reduced, private_array[N];
static double per_thread[N];
#pragma omp threadprivate(per_thread)
struct node {
    struct node *next;
    long value;
} list[N];
typedef float vector4 __attribute__((vector_size(16)));
vector4 vectors[N];
typedef double vector32 __attribute__((vector_size(32)));
vector32 wide_vectors[N];
double simd_from[N], simd_to[N], simdlen_from[N], simdlen_to[N], simd_sum[N];
long scalar;

KERNEL do_update(void)
{
    for (int i = 0; i < N; i++) update[i] += i;
}

KERNEL do_copied(void)
{
    for (int i = 0; i < N; i++) copied_to[i] = copied_from[i] * 2;
}

KERNEL do_constant(void)
{
    double sum = 0;
    for (int i = 0; i < N; i++) sum += constant[i];
    sink += sum;
}

KERNEL do_matrix(void)
{
    double sum = 0;
    for (int i = 0; i < 100; i++)
        for (int j = 0; j < 100; j++) sum += matrix[j][i];
    sink += sum;
}

KERNEL do_gather(void)
{
    double sum = 0;
    for (int i = 0; i < N; i++) sum += gather[place[i]];
    sink += sum;
}

KERNEL do_scatter(void)
{
    for (int i = 0; i < N; i++) scatter[place[i]] = i;
}

KERNEL do_members(void)
{
    double sum = 0;
    for (int i = 0; i < N; i++) sum += members[i].b;
    sink += sum;
}

KERNEL do_assigned(void)
{
    for (int i = 0; i < N; i++) assigned_to[i] = assigned_from[i];
}

KERNEL do_unaligned(void)
{
    for (int i = 0; i < N; i++) unaligned[i].i = i;
}

KERNEL do_bits(void)
{
    double sum = 0;
    for (int i = 0; i < N; i++) bits_write[i].b = i & 7;
    for (int i = 0; i < N; i++) sum += bits_read[i].b;
    sink += sum;
}

KERNEL do_complex(void)
{
    for (int i = 0; i < N; i++) complex_array[i] = complex_array[i] * 2 + 1;
}

/* Sizes that the compiler cannot know. */
KERNEL do_blocks(size_t size)
{
    for (int i = 0; i < N; i++) memcpy(memcpy_to + 64 * i, memcpy_from + 64 * i, size);
    for (int i = 0; i + 1 < N; i++) memmove(memmove_array + 64 * i, memmove_array + 64 * (i + 1), size);
    for (int i = 0; i < N; i++) memset(memset_array + 64 * i, i, size);
    for (int i = 0; i < N; i++) memcpy(fixed_to + 64 * i, fixed_from + 64 * i, 64);
    for (int i = 0; i < N; i++) __builtin_memset(fixed_set + 64 * i, i, 64);
}

/* Loops that compilers make calls of. */
KERNEL do_idioms(void)
{
    for (int i = 0; i < N; i++) idiom_to[i] = idiom_from[i];
    for (int i = 0; i < N; i++) idiom_set[i] = 0;
}

KERNEL do_volatile(void)
{
    for (int i = 0; i < N; i++) volatile_array[i]++;
}

KERNEL do_atomics(void)
{
    long old = 0;
    for (int i = 0; i < N; i++) atomic_fetch_add_explicit(&atomic_add, 1, memory_order_relaxed);
    for (int i = 0; i < N; i++) sink += (double)atomic_load_explicit(&atomic_load, memory_order_acquire);
    for (int i = 0; i < N; i++) atomic_store_explicit(&atomic_store, i, memory_order_release);
    for (int i = 0; i < N; i++) atomic_compare_exchange_strong(&atomic_compare, &old, old + (i & 1));
    for (int i = 0; i < N; i++) sink += (double)atomic_exchange(&atomic_exchange, i);
}

KERNEL do_list(void)
{
    for (int i = 0; i < N; i++) list[i].next = i + 1 < N ? &list[i + 1] : NULL;
    for (struct node *n = list; n; n = n->next) sink += (double)n->value;
}

KERNEL do_vectors(void)
{
    for (int i = 0; i < N; i++) vectors[i] = vectors[i] * 2;
}

KERNEL do_wide_vectors(void)
{
    for (int i = 0; i < N; i++) wide_vectors[i] = wide_vectors[i] * 2;
}

KERNEL do_simd(void)
{
    double sum = 0;

#pragma omp simd
    for (int i = 0; i < N; i++) simd_to[i] = simd_from[i] * 2;
#pragma omp simd simdlen(4) safelen(8)
    for (int i = 0; i < N; i++) simdlen_to[i] = simdlen_from[i] * 2;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < N; i++) sum += simd_sum[i];
    sink += sum;
}

/* Four levels of a local array that a callee fills. */
__attribute__((noinline)) static void fill(double *array, int n)
{
    for (int i = 0; i < n; i++) array[i] = i;
}

__attribute__((noinline)) static double recursion(int depth)
{
    double local[100], sum = 0;

    ompp_papi_set_drange(local, sizeof local, "recursion");
    fill(local, 100);
    if (depth > 1) sum = recursion(depth - 1);
    for (int i = 0; i < 100; i++) sum += local[i];
    ompp_release_drange(local);
    return sum;
}

KERNEL do_vla(int n)
{
    double vla[n];

    ompp_papi_set_drange(vla, sizeof vla, "vla");
    fill(vla, n);
    ompp_release_drange(vla);
}

KERNEL do_heap(void)
{
    double *heap = malloc(N * sizeof *heap), sum = 0;

    ompp_papi_set_drange(heap, N * sizeof *heap, "heap");
    fill(heap, N);
    for (int i = 0; i < N; i++) sum += heap[i];
    sink += sum;
    ompp_release_drange(heap);
    free(heap);
}

KERNEL do_scalar(void)
{
    for (int i = 0; i < N; i++) {
        scalar++;
        __asm__ volatile("" ::: "memory");
    }
}

KERNEL do_openmp(void)
{
    double *mine = private_array;

#pragma omp parallel for num_threads(2)
    for (int i = 0; i < N; i++) {
#pragma omp atomic
        omp_atomic += 1;
#pragma omp atomic
        omp_atomic_long += 1;
    }
#pragma omp parallel for num_threads(2) reduction(+ : reduced)
    for (int i = 0; i < N; i++) reduced += i;
#pragma omp parallel for num_threads(2) firstprivate(mine)
    for (int i = 0; i < N; i++) mine[i] = i;
#pragma omp parallel num_threads(2)
    {
        ompp_papi_set_drange(per_thread, sizeof per_thread, "per_thread");
#pragma omp barrier
        for (int i = 0; i < N; i++) per_thread[i] = i;
    }
}

#define NAME(x) ompp_papi_set_drange((void *)&(x), sizeof(x), #x)
#define NAME_SCALAR(name) NAME(read_##name), NAME(write_##name)

static void name_all(void)
{
    NAME_SCALAR(char), NAME_SCALAR(short), NAME_SCALAR(int), NAME_SCALAR(long), NAME_SCALAR(float), NAME_SCALAR(double);
    NAME_SCALAR(bool), NAME_SCALAR(int128), NAME_SCALAR(longdouble);
    NAME(update), NAME(copied_from), NAME(copied_to), NAME(constant), NAME(matrix), NAME(gather), NAME(scatter), NAME(members);
    NAME(assigned_from), NAME(assigned_to), NAME(unaligned), NAME(bits_write), NAME(bits_read), NAME(complex_array);
    NAME(memcpy_from), NAME(memcpy_to), NAME(memmove_array), NAME(memset_array), NAME(idiom_from), NAME(idiom_to), NAME(idiom_set);
    NAME(fixed_from), NAME(fixed_to), NAME(fixed_set);
    NAME(volatile_array), NAME(atomic_add), NAME(atomic_load), NAME(atomic_store), NAME(atomic_compare), NAME(atomic_exchange);
    NAME(wide_vectors), NAME(simd_from), NAME(simd_to), NAME(simdlen_from), NAME(simdlen_to), NAME(simd_sum);
    NAME(list), NAME(vectors), NAME(scalar), NAME(omp_atomic), NAME(omp_atomic_long), NAME(reduced), NAME(private_array);
}

int main(int argc, char **argv)
{
    (void)argv;
    for (int i = 0; i < N; i++) place[i] = 7 * i % N;
    name_all();
#define RUN(name) do_read_##name(), do_write_##name()
    RUN(char), RUN(short), RUN(int), RUN(long), RUN(float), RUN(double), RUN(bool), RUN(int128), RUN(longdouble);
    do_update(), do_copied(), do_constant(), do_matrix(), do_gather(), do_scatter(), do_members(), do_assigned(), do_unaligned();
    do_bits(), do_complex(), do_blocks((size_t)argc * 64), do_idioms(), do_volatile(), do_atomics(), do_list(), do_vectors(), do_wide_vectors(), do_simd();
    sink += recursion(4);
    do_vla(N), do_heap(), do_scalar(), do_openmp();
    printf("%.6g\n", sink);
    return 0;
}
