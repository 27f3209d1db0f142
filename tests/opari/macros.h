/* Included by macros.c: directives in a header. */
#define REDUCE _Pragma("omp parallel for reduction(+ : n)")
#define TEXT(x) #x
#define OMP(x) _Pragma(TEXT(omp x))

static inline int header(int k)
{
    int n = 0;
#pragma omp parallel for reduction(+ : n)
    for (int i = 0; i < k; i++) n++;
    return n;
}
