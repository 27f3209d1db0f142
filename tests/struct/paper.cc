// All loops of the work lie in functions of templates that are inlined: of the C++ library, and of paper.h. Usage: paper CASE SECONDS
#include "paper.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>

static double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static __attribute__((noinline)) double total(const field::Vector &v)
{
    return std::accumulate(v.all().begin(), v.all().end(), 0.0); // @accumulate
}

static __attribute__((noinline)) void order(std::vector<double> &v)
{
    std::sort(v.begin(), v.end()); // @sort
}

static __attribute__((noinline)) void combine(field::Vector &to, const field::Vector &a, const field::Vector &b)
{
    to = 0.5 * a + 0.25 * b; // @expression
}

static __attribute__((noinline)) long matches(const std::vector<double> &v, double limit)
{
    return std::count_if(v.begin(), v.end(), [limit](double x) { return x > limit; }); // @count
}

int main(int argc, char **argv)
{
    const char *which = argc > 1 ? argv[1] : "accumulate";
    const double end = now() + (argc > 2 ? std::atof(argv[2]) : 0.1);
    const std::size_t n = 20000;
    field::Vector a(n), b(n), c(n);
    double result = 0;

    while (now() < end) {
        if (std::strcmp(which, "accumulate") == 0) result += total(a);
        else if (std::strcmp(which, "expression") == 0) combine(c, a, b);
        else if (std::strcmp(which, "count") == 0) result += matches(a.all(), result);
        else {
            unsigned x = 1;
            for (double &v : a.all()) v = x = x * 1664525u + 1013904223u;
            order(a.all());
        }
    }
    std::printf("%d\n", result + c[n / 2] + a[n / 3] < 0);
    return 0;
}
