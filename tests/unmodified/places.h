/* Inlined into regions of places.cc: without a directive, and with some. */
class Queue
{
public:
    explicit Queue(int n) : shared(new int[n]()), in(n) {}
    int *begin() const { return shared; }
    int *end() const { return shared + in; }
    int *shared;
    int in;
};

static inline __attribute__((always_inline)) int steps(int x)
{
    while (x > 100) x /= 3;
    return x;
}

static inline __attribute__((always_inline)) void worker(int n, double *a, double x)
{
#pragma omp for schedule(dynamic, 100) nowait // LOOP
    for (int i = 0; i < n; i++) a[i] += x;
#pragma omp barrier // BARRIER
#pragma omp single // SINGLE
    a[1] = 2;
#pragma omp for // BARRIER
    for (int i = 0; i < n; i++) a[i] += steps(i);
}
