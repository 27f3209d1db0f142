/*
 * A part of a local variable has a name from the source for some calls of its function, when code has accessed the
 * variable before, itself or through a pointer: 40 stores to "half" of 480.
 */
#include <ompp.h>

#include <stdio.h>
typedef volatile double cell_t;
__attribute__((noinline)) static double part(int named)
{
    cell_t local[8];
    for (int i = 0; i < 8; i++) local[i] = i;
    if (named) ompp_papi_set_drange((void *)&local[4], 4 * sizeof local[0], "half");
    for (int i = 0; i < 8; i++) local[i] = 1;
    if (named) ompp_release_drange((void *)&local[4]);
    return local[3];
}
__attribute__((noinline)) static void fill(cell_t *to, int named)
{
    for (int i = 0; i < 8; i++) to[i] = i;
    if (named) ompp_papi_set_drange((void *)&to[4], 4 * sizeof to[0], "half");
    for (int i = 0; i < 8; i++) to[i] = 1;
    if (named) ompp_release_drange((void *)&to[4]);
}
__attribute__((noinline)) static double through(int named)
{
    cell_t local[8];
    fill(local, named);
    return local[3];
}
int main(void)
{
    double sum = 0;
    for (int i = 0; i < 15; i++) sum += part(i >= 10) + through(i >= 10);
    printf("%g\n", sum);
    return 0;
}
