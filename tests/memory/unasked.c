/*
 * Data of each kind, whose accesses are counted by the constants below, and whose names a reader of this source knows.
 * What is read is volatile, so that compilers keep each access.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef volatile double cell_t;

typedef struct node {
    struct node *volatile next;
    volatile long value;
} node_t;

typedef struct {
    cell_t *density, *energy;
    volatile int n;
} mesh_t;

typedef struct {
    double x[200];
} whole_t;

cell_t grid[1000];
static volatile whole_t table;
static cell_t board[8];
static volatile int counter;
static cell_t *pointer;
static mesh_t *mesh;
static node_t *head;
static cell_t *rows[10];
static __thread volatile long mine[8];

__attribute__((noinline)) static void *get(size_t size)
{
    void *block = malloc(size);

    if (!block) abort();
    return block;
}

__attribute__((noinline)) static void fill(cell_t *to, int n)
{
    for (int i = 0; i < n; i++) to[i] = i;
}

__attribute__((noinline)) static double stack(int n)
{
    cell_t local[64];

    fill(local, n);
    return local[1];
}

/* One frame for each level: all are one structure. */
__attribute__((noinline)) static double deep(int level)
{
    cell_t at_level[4];

    fill(at_level, 4);
    return level ? deep(level - 1) + at_level[0] : 0;
}

__attribute__((noinline)) static double at(const whole_t *whole, int n) { return whole->x[n]; }

/* Variables of callers, through pointers that stay the same in a call, also while they are other ones in its calls. */
__attribute__((noinline)) static void both(cell_t *to, cell_t *from, int level)
{
    to[0] = level;
    from[1] = to[0];
    to[2] = from[1];
    if (level) both(from, to, level - 1);
    to[3] = level;
    from[4] = to[3];
}

static double callers(void)
{
    cell_t first[8], second[8];

    both(first, second, 4);
    both(first, board, 0);
    return first[4];
}

/* One store each time, wherever in a page of the map the structure lies. */
__attribute__((noinline)) static double copy(int n)
{
    whole_t whole;
    volatile char room[16 * n];

    whole = table;
    room[0] = 0;
    return at(&whole, n);
}

/* An array whose address never leaves the function. */
__attribute__((noinline)) static double inside(int n)
{
    double own[50];
    double sum = 0;

    for (int i = 0; i < n; i++) own[i * 7 % 50] = i;
    for (int i = 0; i < n; i++) sum += own[i * 3 % 50];
    return sum;
}

/* No array either. */
__attribute__((noinline)) static double pair_of(int n)
{
    volatile struct {
        double x, y;
    } pair;

    for (int i = 0; i < n; i++) pair.x = pair.y = i;
    return pair.x;
}

static void heap(void)
{
    pointer = get(300 * sizeof *pointer);
    fill(pointer, 300);
    mesh = get(sizeof *mesh);
    mesh->n = 7;
    mesh->density = get(200 * sizeof *mesh->density);
    mesh->energy = get(100 * sizeof *mesh->energy);
    fill(mesh->density, 200);
    fill(mesh->energy, 100);
    for (int i = 0; i < 10; i++) {
        rows[i] = get(20 * sizeof *rows[i]);
        fill(rows[i], 20);
    }
    for (int i = 0; i < 50; i++) {
        node_t *node = get(sizeof *node);
        node->value = i;
        node->next = head;
        head = node;
    }
}

/* Grown block by block, and given back: the variable keeps the name. */
static double grow(void)
{
    double sum = 0;
    cell_t *grown = NULL;

    for (int n = 1; n <= 40; n++) {
        cell_t *more = realloc((void *)grown, (size_t)n * sizeof *grown);
        if (!more) abort();
        grown = more;
        grown[n - 1] = n;
    }
    sum = grown[39];
    free((void *)grown);
    return sum;
}

int main(void)
{
    double sum = 0;

    fill(grid, 1000);
    for (int i = 0; i < 30; i++) counter = counter + 1;
    for (int i = 0; i < 8; i++) mine[i] = i;
    heap();
    for (int i = 0; i < 5; i++) sum += stack(60);
    for (int i = 1; i <= 20; i++) sum += copy(i) > 0;
    sum += deep(9) + grow() + callers() + inside(500) + pair_of(45) * 0;
    printf("%g\n", sum + (double)mine[3]);
    free((void *)mesh->density);
    free((void *)mesh->energy);
    free(mesh);
    free((void *)pointer);
    return 0;
}
