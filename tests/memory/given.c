/* Blocks that wrappers get and give on; and a structure that only the other file defines (given_mesh.c). */
#include "given.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef double volatile cell_t;

static struct owner {
    struct mesh *mesh; /* declared, not defined here */
} owner;

__attribute__((noinline)) static cell_t *get(int n)
{
    cell_t *result = malloc((size_t)n * sizeof *result);

    if (!result) abort();
    return result;
}

/* Its parameter is no name of what it gets. */
__attribute__((noinline)) static void put_back(cell_t *gone) { free((void *)gone); }

/* Of two blocks one is returned; of one block none is: what gets the result is no name of the other. */
__attribute__((noinline)) static cell_t *both(int n, cell_t **columns)
{
    cell_t *rows = malloc((size_t)n * sizeof *rows), *more = malloc((size_t)n * sizeof *more);

    if (!rows || !more) abort();
    for (int i = 0; i < n; i++) more[i] = i;
    *columns = more;
    return rows;
}

__attribute__((noinline)) static cell_t *smooth(cell_t *field, int n)
{
    cell_t *scratch = malloc((size_t)n * sizeof *scratch);

    if (!scratch) abort();
    for (int i = 0; i < n; i++) scratch[i] = field[i];
    field[0] = scratch[n - 1];
    free((void *)scratch);
    return field;
}

typedef struct {
    cell_t *cells;
    int n;
} part_t;

__attribute__((noinline)) static void make(part_t *part, int n)
{
    part->cells = get(n);
    part->n = n;
}

__attribute__((noinline)) static double work(void)
{
    part_t in, out;
    cell_t *first = get(700), *second = get(900), *columns, *rows = both(110, &columns), *same = smooth(first, 130);

    make(&in, 500);
    make(&out, 300);
    for (int i = 0; i < 700; i++) first[i] = i;
    for (int i = 0; i < 900; i++) second[i] = i;
    for (int i = 0; i < in.n; i++) in.cells[i] = i;
    for (int i = 0; i < out.n; i++) out.cells[i] = i;
    const double sum = same[3] + second[4] + in.cells[5] + out.cells[6] + columns[7];
    put_back(first);
    put_back(second);
    put_back(in.cells);
    put_back(out.cells);
    put_back(rows);
    put_back(columns);
    return sum;
}

/* The allocator stores the address itself, to a variable of a wrapper, of who calls, a member, or a global one. */
static part_t kept;
static cell_t *alone;

__attribute__((noinline)) static void *aligned(int n)
{
    void *got;

    return posix_memalign(&got, 64, (size_t)n * sizeof(cell_t)) == 0 ? got : NULL;
}

static inline void *inlined(int n)
{
    void *got = NULL;

    return posix_memalign(&got, 64, (size_t)n * sizeof(cell_t)) == 0 ? got : NULL;
}

__attribute__((noinline)) static void fill(cell_t **to, int n)
{
    if (posix_memalign((void **)to, 64, (size_t)n * sizeof(cell_t)) != 0) abort();
    for (int i = 0; i < n; i++) (*to)[i] = i;
}

/* What it gets is in no variable of its own once it is optimized, but it returns it: a block that nobody frees. */
static inline void *checked(size_t bytes)
{
    void *block = malloc(bytes);

    if (!block) abort();
    return block;
}

__attribute__((noinline)) static cell_t *zeros(int n)
{
    cell_t *cells = checked((size_t)n * sizeof *cells);

    for (int i = 0; i < n; i++) cells[i] = 0;
    return cells;
}

__attribute__((noinline)) static double stored(part_t *part)
{
    cell_t *mine, *other, *wrapped = aligned(210), *within = inlined(220), *typed = zeros(280);

    if (posix_memalign((void **)&mine, 64, 230 * sizeof *mine) != 0 || !wrapped || !within) abort();
    fill(&other, 240);
    fill(&part->cells, 250);
    fill(&kept.cells, 260);
    fill(&alone, 270);
    for (int i = 0; i < 210; i++) wrapped[i] = i;
    for (int i = 0; i < 220; i++) within[i] = i;
    for (int i = 0; i < 230; i++) mine[i] = i;
    const double sum = mine[3] + typed[2] + other[4] + wrapped[5] + within[6];
    free((void *)mine);
    free((void *)other);
    free((void *)wrapped);
    free((void *)within);
    return sum;
}

/* The dynamic linker calls pick() before hooks have their addresses. */
static int one(void) { return 1; }
static int two(void) { return 2; }
static int (*pick(void))(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") ? two : one;
}
int chosen(void) __attribute__((ifunc("pick")));

int main(void)
{
    part_t own;

    owner.mesh = make_mesh(400);
    if (!chosen()) abort();
    printf("%g\n", work() + stored(&own) + sum_of_mesh(owner.mesh));
    return 0;
}
