/* Owners whose constructor gives temporary blocks back at several places, and whose pointers have no register of their own. */
#include <cstdio>
#include <cstdlib>
#include <locale>

struct owner {
    double *cells;
    owner(int n);
};

__attribute__((noinline)) static int use(int *p, int n)
{
    for (int i = 0; i < n; i++) p[i] = i;
    return p[n / 2];
}

__attribute__((noinline)) owner::owner(int n)
{
    int *a = new int[n], s = use(a, n);
    delete[] a;
    int *b = new int[n + 1];
    s += use(b, n);
    delete[] b;
    int *c = new int[n + 2];
    s += use(c, n);
    delete[] c;
    int *d = new int[n + 3];
    s += use(d, n);
    delete[] d;
    cells = new double[n];
    for (int i = 0; i < n; i++) cells[i] = s + i;
}

__attribute__((noinline)) static double sum(const owner *o, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++) s += o->cells[i];
    return s;
}

int main(int argc, char **)
{
    const int n = 1000 * argc;
    owner *first = new owner(n);
    owner *second = new owner(n + 1);
    owner *third = new owner(n + 2);
    owner *fourth = new owner(n + 3);
    owner *fifth = new owner(n + 4);
    owner *sixth = new owner(n + 5);
    owner *seventh = new owner(n + 6);
    owner *eighth = new owner(n + 7);
    double s = 0;
    for (int i = 0; i < 20; i++) {
        int *more = new int[n + 8];
        s += use(more, n) + sum(first, n) + sum(second, n) + sum(third, n) + sum(fourth, n) + sum(fifth, n) + sum(sixth, n) + sum(seventh, n) + sum(eighth, n);
        delete[] more;
    }
    /* the table of letters is data of libstdc++ without a symbol */
    printf("%g %c\n", s, std::use_facet<std::ctype<char>>(std::locale::classic()).toupper('a'));
    return 0;
}
