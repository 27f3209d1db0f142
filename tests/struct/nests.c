/* Loops of many kinds. A loop begins on each line with "@loop"; one with "@do" begins there or on the next line, as its
 * first line has no code of its own. */
#include "nests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EACH(i, n) for (int i = 0; i < (n); i++)

struct item {
    struct item *next;
    int key;
};

int opaque(int x);

static double dot(const double *x, const double *y, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++) /* @loop */
        s += x[i] * y[i];
    return s;
}

void product(int n, const double *a, const double *b, double *c)
{
    for (int i = 0; i < n; i++) /* @loop */
        for (int j = 0; j < n; j++) { /* @loop */
            double s = 0;
            for (int k = 0; k < n; k++) /* @loop */
                s += a[i * n + k] * b[k * n + j];
            c[i * n + j] = s;
        }
}

void stencil(int n, int steps, double *restrict u, double *restrict v)
{
    for (int t = 0; t < steps; t++) { /* @loop */
        for (int i = 1; i < n - 1; i++) /* @loop */
            v[i] = 0.25 * (u[i - 1] + 2 * u[i] + u[i + 1]);
        for (int i = 1; i < n - 1; i++) /* @loop */
            u[i] = v[i] * 1.5 + 1;
        opaque(t);
    }
}

int interpret(const unsigned char *p, int n)
{
    int r = 0;
    while (n > 0) { /* @loop */
        switch (*p) {
        case 1: r += opaque(3); p++; n--; break;
        case 2: r *= 3; p += 2; n -= 2; break;
        case 3: r ^= 3; p++; n--; break;
        case 4: r -= opaque(r); p++; n--; break;
        case 5: r |= 3; p++; n--; break;
        case 6:
            for (int i = 0; i < r; i++) /* @loop */
                n -= opaque(i);
            break;
        case 7: r &= 3; p++; n--; break;
        default: abort();
        }
    }
    return r;
}

struct item *list(struct item *head, int key)
{
    for (struct item *i = head; i; i = i->next) /* @loop */
        if (i->key == key) return i;
    return NULL;
}

int search(const int *table, int n, int key)
{
    int low = 0, high = n;
    while (low < high) { /* @loop */
        int middle = (low + high) / 2;
        if (table[middle] < key) low = middle + 1;
        else high = middle;
    }
    return low;
}

void sort(int *x, int n)
{
    for (int i = 1; i < n; i++) { /* @loop */
        int v = x[i], j = i;
        while (j > 0 && x[j - 1] > v) { /* @loop */
            x[j] = x[j - 1];
            j--;
        }
        x[j] = v;
    }
}

int converge(double x)
{
    int n = 0;
    do { /* @do */
        x = x / 2 + 1 / x;
        n++;
    } while (x * x > 2.0001);
    return n;
}

int forever(FILE *in)
{
    int n = 0;
    for (;;) { /* @do */
        int c = fgetc(in);
        if (c == EOF) break;
        if (c == ' ') continue;
        n += opaque(c);
    }
    return n;
}

void unswitched(int n, int flag, float *restrict x, const float *restrict y)
{
    for (int i = 0; i < n; i++) { /* @loop */
        if (flag) x[i] += y[i];
        else x[i] *= y[i];
    }
}

int macro(int n)
{
    int r = 0;
    EACH(i, n) /* @loop */
        r += opaque(i);
    return r;
}

int called(int n, const double *x, const double *y)
{
    double s = 0;
    for (int i = 1; i < n; i++) /* @loop */
        s += dot(x, y, i);
    return s > scaled_sum(x, n, 2.0) + scaled_sum(y, n, 3.0);
}

int words(const char *text)
{
    int n = 0;
    while (*text) { /* @loop */
        while (*text == ' ') /* @loop */
            text++;
        if (*text) n++;
        while (*text && *text != ' ') /* @loop */
            text++;
    }
    return n;
}

int left_early(int n, const int *x)
{
    for (int i = 0; i < n; i++) { /* @loop */
        if (x[i] < 0) {
            fprintf(stderr, "negative: %d\n", i);
            exit(1);
        }
        for (int j = 0; j < i; j++) { /* @loop */
            if (x[j] == x[i]) goto next;
            if (opaque(j)) return j;
        }
        opaque(i);
    next:;
    }
    return -1;
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 8;
    double *a = malloc(sizeof *a * n * n), *b = malloc(sizeof *b * n * n), *c = malloc(sizeof *c * n * n);
    int *x = malloc(sizeof *x * n);
    struct item *head = NULL;
    for (int i = 0; i < n * n; i++) { /* @loop */
        a[i] = i;
        b[i] = argc;
    }
    for (int i = 0; i < n; i++) { /* @loop */
        struct item *item = malloc(sizeof *item);
        *item = (struct item){head, i};
        head = item;
        x[i] = opaque(i);
    }
    product(n, a, b, c);
    stencil(n, n, a, b);
    sort(x, n);
    unswitched(n, argc, (float *)a, (float *)b);
    printf("%d %d %d %d\n", interpret((unsigned char *)argv[0], 3), list(head, 3) != NULL, search(x, n, 3), converge(argc));
    printf("%d %d %d %d %d\n", forever(stdin), macro(n), called(n, a, b), words(argv[0]), left_early(n, x));
    return (int)c[0] & 1;
}
