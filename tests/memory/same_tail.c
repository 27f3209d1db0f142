/* Recursion at the end of functions is a loop, as in the plain program: deep ones need no stack. */
#include <stdio.h>
#include <stdlib.h>

struct node {
    struct node *next;
    long value;
};

__attribute__((noinline)) static long sum(const struct node *n, long before)
{
    if (!n) return before;
    return sum(n->next, before + n->value);
}

static long odd(const struct node *n, long before);

__attribute__((noinline)) static long even(const struct node *n, long before)
{
    if (!n) return before;
    return odd(n->next, before + n->value);
}

__attribute__((noinline)) static long odd(const struct node *n, long before)
{
    if (!n) return before;
    return even(n->next, before - n->value);
}

int main(void)
{
    const long n = 3000000;
    struct node *list = malloc((size_t)n * sizeof *list);

    if (!list) return 2;
    for (long i = 0; i < n; i++) list[i] = (struct node){i + 1 < n ? &list[i + 1] : NULL, i};
    printf("%ld %ld\n", sum(list, 0), even(list, 0));
    return 0;
}
