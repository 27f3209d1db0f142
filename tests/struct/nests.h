/* A function that is inlined from another file. */
static inline double scaled_sum(const double *x, int n, double factor)
{
    double s = 0;
    for (int i = 0; i < n; i++) /* @loop */
        s += factor * x[i] * x[i];
    return s;
}
