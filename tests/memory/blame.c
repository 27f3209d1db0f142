/*
 * Small blocks of the heap that lie in pages with others, read again and again: each access is looked up.
 */
#include <stdio.h>
#include <stdlib.h>

typedef struct node {
    struct node *next;
    long value;
} node_t;

int main(int argc, char **argv)
{
    const long turns = argc > 1 ? atol(argv[1]) : 1000;
    node_t *list = NULL;
    long sum = 0;

    for (int i = 0; i < 1000; i++) {
        node_t *node = malloc(sizeof *node);
        char *other = malloc(16);
        if (!node || !other) return 1;
        node->next = list;
        node->value = *other = 1;
        list = node;
    }
#pragma omp parallel for reduction(+ : sum)
    for (long i = 0; i < turns; i++)
        for (const node_t *node = list; node; node = node->next) sum += node->value;
    printf("%ld\n", sum);
    return 0;
}
