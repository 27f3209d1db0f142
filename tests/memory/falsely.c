/*
 * Structures that are easily taken for each other. Each line of stdout says how many bytes of one are accessed, and its
 * names, of which one is right; "-" is one that has none.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEY 0x5a5a5a5a5a5a5a5aul

typedef volatile double cell_t;

/* 16 bytes for each element and round; in its own frame nothing is told. */
__attribute__((noinline)) static void touch(cell_t *at, long n, const char *names)
{
    const long rounds = strtol(getenv("TEST_ROUNDS"), NULL, 10);

    for (long round = 0; round < rounds; round++)
        for (long i = 0; i < n; i++) at[i] = at[i] + 1;
    printf("%ld %s\n", 16 * rounds * n, names);
}

#ifdef PLUGIN
cell_t of_plugin[700];
static cell_t *plugged;
extern void plugin(void);
void plugin(void)
{
    plugged = calloc(600, 8);
    touch(of_plugin, 700, "of_plugin");
    touch(plugged, 600, "plugged [heap");
}
#else

typedef struct {
    cell_t *density, *energy;
    long n;
} tile_t;

typedef struct {
    cell_t *nodes;
    tile_t tile[2];
} mesh_t;

typedef struct node {
    struct node *next;
    cell_t value[50];
} node_t;

typedef struct leaf {
    struct leaf *left, *right;
    cell_t value[30];
} leaf_t;

cell_t grid[500];
static cell_t hidden[300], beside[7], small[3];
/* not static: a variable that nobody reads is none */
cell_t *pointer, *rows[20], *first, *second, *now, *next, *stale, *same_again;
mesh_t *mesh;
node_t *list;
leaf_t *tree;
static char *pool;
static size_t pool_used;
static uintptr_t compressed;
static __thread cell_t mine[90];

__attribute__((noinline)) static void *get(size_t size)
{
    void *block = calloc(1, size);

    if (!block) abort();
    return block;
}

__attribute__((noinline)) static void *from_pool(size_t size)
{
    if (!pool) pool = get(1 << 20);
    pool_used += size;
    return pool + pool_used - size;
}

__attribute__((noinline)) static void globals(void)
{
    static cell_t memo[250];

    touch(grid, 500, "grid");
    touch(hidden, 300, "hidden");
    touch(beside, 7, "beside");
    touch(small, 3, "small");
    touch(memo, 250, "globals::memo");
    touch(mine, 90, "mine [of threads]");
}

__attribute__((noinline)) static void members(void)
{
    pointer = get(400 * 8);
    mesh = get(sizeof *mesh);
    mesh->nodes = get(350 * 8);
    for (int i = 0; i < 2; i++) {
        mesh->tile[i].density = get(200 * 8);
        mesh->tile[i].energy = get(150 * 8);
    }
    for (int i = 0; i < 20; i++) rows[i] = get(40 * 8);
    touch(pointer, 400, "pointer [heap");
    touch(mesh->nodes, 350, "mesh->nodes [heap");
    for (int i = 0; i < 2; i++) {
        touch(mesh->tile[i].density, 200, "mesh->tile[*].density [heap");
        touch(mesh->tile[i].energy, 150, "mesh->tile[*].energy [heap");
    }
    for (int i = 0; i < 20; i++) touch(rows[i], 40, "rows[*] [heap");
}

__attribute__((noinline)) static leaf_t *grow(int depth)
{
    leaf_t *leaf = depth ? get(sizeof *leaf) : NULL;

    if (!leaf) return NULL;
    leaf->left = grow(depth - 1);
    leaf->right = grow(depth - 1);
    touch(leaf->value, 30, "tree [heap|grow::leaf [heap|tree->");
    return leaf;
}

__attribute__((noinline)) static void linked(void)
{
    for (int i = 0; i < 30; i++) {
        node_t *node = get(sizeof *node);
        node->next = list;
        list = node;
    }
    for (node_t *node = list; node; node = node->next) touch(node->value, 50, "list [heap|linked::node [heap|linked::node->|list->");
    tree = grow(6);
}

/* A block that is given back, and another one at its place. */
__attribute__((noinline)) static void again(void)
{
    first = get(777 * 8);
    touch(first, 777, "first [heap");
    free((void *)first);
    first = NULL;
    second = get(777 * 8);
    touch(second, 777, "second [heap");
}

/* The same, but the pointer to the first one stays; and the second one is only known to the function. */
__attribute__((noinline)) static void left_behind(void)
{
    stale = get(888 * 8);
    touch(stale, 888, "stale [heap");
    free((void *)stale);
    cell_t *other = malloc(888 * 8);
    touch(memset((void *)other, 0, 888 * 8), 888, "left_behind::other [heap");
    free((void *)other);
    same_again = get(660 * 8);
    touch(same_again, 660, "same_again [heap");
    free((void *)same_again);
    same_again = get(660 * 8);
    touch(same_again, 660, "same_again [heap");
}

__attribute__((noinline)) static void swapped(void)
{
    now = get(600 * 8);
    next = get(600 * 8);
    for (int i = 0; i < 4; i++) {
        cell_t *other = now;
        now = next;
        next = other;
        touch(now, 600, "now [heap|next [heap");
    }
}

__attribute__((noinline)) static void pools(void)
{
    cell_t *a = from_pool(300 * 8), *b = from_pool(300 * 8);

    touch(a, 300, "pool [heap");
    touch(b, 300, "pool [heap");
}

__attribute__((noinline)) static void storm(void)
{
    cell_t *grown = NULL;

    for (int n = 1; n <= 300; n++)
        if (!(grown = realloc((void *)grown, (size_t)n * 160))) abort();
    memset((void *)grown, 0, 900 * 8);
    touch(grown, 900, "storm::grown [heap");
    free((void *)grown);
}

/* Its address is nowhere, but for the time of the call. */
__attribute__((noinline)) static void hide(void)
{
    compressed = (uintptr_t)get(500 * 8) ^ KEY;
}
__attribute__((noinline)) static void use_hidden(void) { touch((cell_t *)(compressed ^ KEY), 500, "get::block [heap"); }

__attribute__((noinline)) static double stack(int n)
{
    cell_t local[300] = {0}, beside_it[40] = {0};

    touch(local, 300, "stack::local [stack]");
    touch(beside_it, n, "stack::beside_it [stack]");
    return local[n - 1] + beside_it[0];
}

__attribute__((noinline)) static double sized(int n)
{
    volatile double variable[n];
    cell_t *by_alloca = alloca((size_t)n * 8);

    memset((void *)variable, 0, sizeof variable);
    memset((void *)by_alloca, 0, (size_t)n * 8);
    touch(variable, n, "- sized");
    touch(by_alloca, n, "- sized");
    return variable[1] + by_alloca[1];
}

__attribute__((noinline)) static double deep(int level)
{
    cell_t at_level[60] = {0};

    touch(at_level, 60, "deep::at_level [stack]");
    return level ? deep(level - 1) + at_level[0] : 0;
}

__attribute__((noinline)) static void threads(void)
{
#pragma omp parallel num_threads(2)
    {
        cell_t scratch[80] = {0};
#pragma omp critical
        touch(scratch, 80, "threads::scratch [stack]");
#pragma omp barrier
    }
}

static cell_t handled[200];

static void handler(int signal)
{
    (void)signal;
    for (int i = 0; i < 200; i++) handled[i] = i;
}

__attribute__((noinline)) static void odd(const char *library)
{
    const int signals = 20 * (int)strtol(getenv("TEST_ROUNDS"), NULL, 10);
    struct sigaction action = {.sa_handler = handler};
    int status = 0;

    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < signals; i++) raise(SIGUSR1);
    printf("%d handled\n", 8 * 200 * signals);
    const pid_t child = vfork();
    if (child == 0) _exit(7);
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) abort();
    cell_t *mapped = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    touch(mapped, 1000, "odd::mapped [heap");
    munmap((void *)mapped, 1 << 16);
    void *plugin = library ? dlopen(library, RTLD_NOW) : NULL;
    void (*run)(void) = plugin ? (void (*)(void))dlsym(plugin, "plugin") : NULL;
    if (run) run();
}

int main(int argc, char **argv)
{
    globals();
    hide();
    members();
    linked();
    again();
    left_behind();
    swapped();
    pools();
    storm();
    use_hidden();
    const double sum = stack(40) + sized(70) + deep(9);
    threads();
    odd(argc > 1 ? argv[1] : NULL);
    return sum < 0;
}
#endif
