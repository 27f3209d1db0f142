// Exceptions through functions and out of regions that end by them; static objects that work when the program is over.
#include <cstdio>
#include <omp.h>
#include <stdexcept>

struct Late {
    ~Late()
    {
        int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
        sum += 1;
        std::printf("late: %d\n", sum);
    }
} late;

static int deep(int n)
{
    if (n == 0)
        throw std::runtime_error("deep");
    return deep(n - 1) + 1;
}

int main()
{
    int caught = 0;

    for (int i = 0; i < 100; i++) {
        try {
            deep(i % 7);
        } catch (const std::exception &) {
            caught++;
        }
    }
#pragma omp parallel num_threads(2)
    {
        try {
            deep(3);
        } catch (const std::exception &) {
#pragma omp critical
            caught++;
        }
    }
    std::printf("caught %d\n", caught);
    return 0;
}
