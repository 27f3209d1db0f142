/* Variables for variables.py. The lines of those marked with their names are looked at. */
#include "variables.h"

typedef struct { void *inside; } omp_lock_t;
struct cell {
    int used;
    union {
        omp_lock_t lock;
        double other;
    };
    struct { short a, b[2]; } pair[3];
};

int plain = 1;                       /* @plain */
static double table[2][3] = {{1}};   /* @table */
struct cell cells[4] = {{1}};        /* @cells */
static omp_lock_t locks[3];          /* @locks */
_Thread_local int per_thread = 3;
const char *const text = "x"; /* @text */

static int first(void)
{
    static int count; /* @first::count */
    return ++count;
}

static int second(void)
{
    static int count[2] = {1, 2}; /* @second::count */
    return ++count[1];
}

int main(void)
{
    locks[0].inside = &plain;
    return first() + second() + (int)table[1][2] + cells[0].used + per_thread + (text == 0) + (locks[1].inside == 0) + in_header();
}
