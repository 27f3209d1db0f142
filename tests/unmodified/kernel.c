/* The OpenMP part of the matrix: two threads, each construct once per call. Results are exact, whoever does the work. */
long kernel(const int *n);
long kernel_(const int *n);

long kernel(const int *n)
{
    long sum = 0, shared = 0, once = 0;

#pragma omp parallel num_threads(2) reduction(+ : sum)
    {
#pragma omp for schedule(dynamic, 4)
        for (int i = 0; i < *n; i++) sum += i;
#pragma omp critical
        {
            shared += 1;
        }
#pragma omp barrier
#pragma omp single
        {
            once = shared;
        }
        sum += once;
    }
    return sum;
}

long kernel_(const int *n)
{
    return kernel(n);
}
