// As statements.c: what C++ has more of.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

static volatile long ten = 10;

template <class T> static void fill(T *at, long n)
{
    for (long i = 0; i < n; i++) *(volatile T *)(at + i) = (T)i;
}

static void expect(const char *name, long stores) { std::printf("%s 0 %ld\n", name, stores); }

__attribute__((noinline)) static long count(long n) { return n * ten; }

struct point {
    volatile double x, y;
    point(double a, double b) : x(a), y(b) {}
};

struct pool {
    __attribute__((noinline)) double *get(long n) { return static_cast<double *>(std::malloc(n * sizeof(double))); }
};

int main()
{
    pool pool;

    // > elements
    double *a = new double
        [
            count(1)
        ];
    // <
    fill(a, 10);
    expect("elements", 10);
    // > type
    a =
        new
        double[count(2)];
    // <
    fill(a, 20);
    expect("type", 20);
    // > member
    a = pool
            .get(
                count(3));
    // <
    fill(a, 30);
    expect("member", 30);
    // > nothrow
    a = new (std::nothrow)
        double[count(4)];
    // <
    fill(a, 40);
    expect("nothrow", 40);
    // > called
    fill(new double[count(
             1)],
         count(1));
    // <
    expect("called", 10);
    // > pointer
    std::unique_ptr<double[]> p(
        new double[count(1)]
    );
    // <
    fill(p.get(), 10);
    expect("pointer", 10);
    std::vector<double> v;
    // > reserved
    v.reserve(
        count(2)
    );
    // <
    fill(v.data(), 20);
    expect("reserved", 20);
    // > lambda
    auto make = [](long n) { return new float[
        n]; };
    // <
    float *f = make(count(1));
    fill(f, 10);
    expect("lambda", 10);
    // > values
    point *q = new point
    {
        1.0,
        2.0
    };
    // <
    q->x = 3;
    expect("values", 3);
    return 0;
}
