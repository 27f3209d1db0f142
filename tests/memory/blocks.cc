// Blocks of the heap that are named from outside, by the line that allocates them or calls what does: malloc and its family, new, vectors,
// mappings; blocks that are given back and got again under other lines. Lines end with the mark that the test knows them by; prints
// "mark loads stores".
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include <sys/mman.h>

static void fill(volatile double *at, long n)
{
    for (long i = 0; i < n; i++) at[i] = (double)i;
}

static void expect(const char *name, long stores)
{
    std::printf("%s 0 %ld\n", name, stores);
}

__attribute__((noinline)) static double *wrapper(long n)
{
    return (double *)std::malloc(n * sizeof(double)); // @inside
}

int main()
{
    for (int i = 0; i < 10; i++) {
        double *p = (double *)std::malloc(800); // @malloc
        fill(p, 100);
        std::free(p);
        double *q = (double *)std::malloc(800); // not named, and most likely in the same place
        fill(q, 100);
        std::free(q);
    }
    expect("malloc", 1000);

    double *c = (double *)std::calloc(100, 8); // @calloc
    fill(c, 100);
    c = (double *)std::realloc(c, 80000);
    fill(c, 10000); // the part that there was before
    std::free(c);
    expect("calloc", 200);

    double *r = (double *)std::realloc(nullptr, 800); // @realloc
    fill(r, 100);
    r = (double *)std::realloc(r, 1600); // @realloc_2
    fill(r, 200);
    std::free(r);
    expect("realloc", 100);
    expect("realloc_2", 200);

    double *n = new double[50]; // @new
    fill(n, 50);
    delete[] n;
    expect("new", 50);

    void *aligned = nullptr;
    if (posix_memalign(&aligned, 4096, 800) != 0) return 1; // @posix_memalign
    fill((double *)aligned, 100);
    std::free(aligned);
    expect("posix_memalign", 100);

    double *m = (double *)mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); // @mmap
    fill(m, 1024);
    munmap(m, 8192);
    expect("mmap", 1024);

    double *first = wrapper(30); // @wrapped
    fill(first, 30);
    double *second = wrapper(40); // not named
    fill(second, 40);
    std::free(second);
    std::free(first);
    expect("wrapped", 30);

    std::unique_ptr<std::vector<double>> v(new std::vector<double>);
    v->reserve(100); // @vector
    for (int i = 0; i < 100; i++) v->push_back(i);
    expect("vector", 100);
    return 0;
}
