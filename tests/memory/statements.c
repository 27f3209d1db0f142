/*
 * Allocations in statements over several lines, between lines with "> mark" and "<": each line in between names the blocks. Prints
 * "mark loads stores".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEW(type, n) (type *)malloc((n) * sizeof(type))
#define GET(to, n) \
    do { \
        (to) = malloc((n) * sizeof *(to)); \
    } while (0)

static volatile long ten = 10;

static void fill(volatile double *at, long n)
{
    for (long i = 0; i < n; i++) at[i] = (double)i;
}

static void expect(const char *name, long stores) { printf("%s 0 %ld\n", name, stores); }

__attribute__((noinline)) static long count(long n) { return n * ten; }

__attribute__((noinline)) static void *mine(long n, size_t size) { return calloc(n, size); }

int main(void)
{
    double *a, *b;

    // > arguments
    a = malloc(
        count(1)
        * sizeof *a
    );
    // <
    fill(a, 10);
    expect("arguments", 10);
    // > target
    double *c
        = (double *)
        malloc(20 * sizeof *c);
    // <
    fill(c, 20);
    expect("target", 20);
    // > condition
    if ((b = calloc(count(3),
                    sizeof *b))
        == NULL) {
    // <
        return 1;
    }
    fill(b, 30);
    expect("condition", 30);
    // > macro
    a = NEW(double,
            count(4)
    );
    // <
    fill(a, 40);
    expect("macro", 40);
    // > statements
    GET(a,
        count(
            5));
    // <
    fill(a, 50);
    expect("statements", 50);
    // > two
    a = NEW(double, count(3)); b = NEW(double,
                                       count(3));
    // <
    fill(a, 30);
    fill(b, 30);
    expect("two", 60);
    // > first
    a = malloc(count(1) * sizeof *a),
    // <
    // > second
    b = malloc(count(2) * sizeof *b);
    // <
    fill(a, 10);
    fill(b, 20);
    expect("first", 10);
    expect("second", 20);
    // > caller
    a = mine(
        count(2),
        sizeof(double));
    // <
    fill(a, 20);
    expect("caller", 20);
    // > loop
    for (a = malloc(count(1)
                    * sizeof *a);
         a;
         a = NULL)
        // <
        fill(a, 10);
    expect("loop", 10);
    // > branch
    a = malloc(
#ifdef NEVER
        1
#else
        count(1) * sizeof *a
#endif
    );
    // <
    fill(a, 10);
    expect("branch", 10);
    // > initializer
    double *list[] = {
        malloc(count(1) * sizeof(double)),
    // <
        NULL};
    fill(list[0], 10);
    expect("initializer", 10);
    // not of any statement above
    a = malloc(count(1) * sizeof *a);
    fill(a, 10);
    return 0;
}
