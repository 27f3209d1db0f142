// C++ that is hard to read for a tool that does not parse it.
#include "cxx.h"
#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <omp.h>
#include <stdexcept>
#include <string>

namespace app {
/* A destructor and a lambda in it. */
struct Guard {
    int &n;
    ~Guard()
    {
        auto add = [this]() noexcept -> void {
            /* @destructor */
#pragma omp parallel num_threads(2)
            {
#pragma omp atomic
                n++;
            }
        };
        add();
    }
};

template <int N, typename F> int times(F f)
{
    int sum = 0;
    /* @function */
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < N; ++i) sum += f(i);
    return sum;
}
} // namespace app

static auto operator""_k(unsigned long long x)
{
    return static_cast<int>(x) * 1'000;
}

[[nodiscard]] constexpr int braces(char c)
{
    return c == '{' ? 1 : c == '"' ? 2 : c == '\'' ? 3 : 0;
}

int main()
{
    int n = 0, caught = 0, big = 1'000'000, order = 0;
    const char *raw = R"x(
#pragma omp parallel
{ " )" )x";
    std::string text = R"(})" "{";

    Array<int> a(100);
    a.fill(2);
    Array<double> b(10);
    b.fill(0.5);
    n += a.sum() + static_cast<int>(b.sum());
    {
        app::Guard guard{n};
    }
    n += app::times<10>([](int i) { return i; });
    n += app::times<5>([&](int) { return 1; });

    if (big > 0x1'0)
        /* @if */
#pragma omp parallel num_threads(2)
#pragma omp critical
        n += 1;
    else
        n = 0;
    for (int k : {1, 2})
        /* @nobrace */
#pragma omp parallel for schedule(dynamic) ordered
        for (int i = 0; i < 4; i++)
            if (i % 2)
                ;
            else
                /* @ordered */
#pragma omp ordered
                [&]() { order = order * 2 + k; }();
    /* @try */
#pragma omp parallel num_threads(2)
    try {
        if (omp_get_thread_num() == 0) throw std::runtime_error("}");
    } catch (const std::exception &e) {
#pragma omp critical(c)
        caught += e.what()[0] == '}';
    } catch (...) {
    }
    switch (braces('{')) {
    case 1:
        /* @case */
#pragma omp parallel for if(big) collapse(2)
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++) [[maybe_unused]] auto f = [=] { return i + j; }();
        break;
    default: n = -1;
    }
    auto generic = [](auto... xs) {
        int sum = 0;
        /* @generic */
#pragma omp parallel for reduction(+ : sum)
        for (auto x : std::array<int, sizeof...(xs)>{xs...}) sum += x;
        return sum;
    };
    n += generic(1, 2, 3) + generic(4);
    /* @sections */
#pragma omp parallel sections num_threads(2)
    {
        if (auto it = std::min(1, 2); it == 1) {
            caught += 10;
        }
#pragma omp section
        ;
    }
    /* @lambda */
    auto body = [&] {
#pragma omp single
        {
            n += 1_k;
        }
    };
    /* @calls */
#pragma omp parallel
    body();
    omp_lock_t lock;
    omp_init_lock(&lock);
    if (omp_test_lock(&lock)) ::omp_unset_lock(&lock);
    omp_destroy_lock(&lock);
    std::printf("%d %d %d %d %zu %zu\n", n, caught, order, big, std::string(raw).size(), text.size());
    return 0;
}
