/* A library of functions.c: one function that is seen from outside, one that is not. */
/* @hidden */
static long hidden(long x)
{
    return 2 * x;
} /* @end hidden */

long in_library(long x);

/* @in_library */
long in_library(long x)
{
    return hidden(x) + 1;
} /* @end in_library */
