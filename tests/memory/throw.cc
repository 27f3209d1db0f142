// Exceptions, virtual functions, standard containers and inline assembly with hooks. Prints name, loads, stores of each structure.
#include <ompp.h>

#include <cstdio>
#include <stdexcept>
#include <vector>

struct Shape {
    virtual ~Shape() {}
    virtual double area(const volatile double *sides) const = 0;
};

struct Box : Shape {
    double area(const volatile double *sides) const override { return sides[0] * sides[1]; }
};

static volatile double sides[2] = {2, 3};
static volatile long thrown[10];
static long assembly;

__attribute__((noinline)) static void may_throw(int i)
{
    thrown[i]++;
    if (i % 2) throw std::runtime_error("odd");
    thrown[i]++;
}

int main()
{
    std::vector<int> numbers(100);
    const Shape *shape = new Box;
    double area = 0;
    long sum = 0;

    ompp_papi_set_drange((void *)sides, sizeof sides, "sides");
    ompp_papi_set_drange((void *)thrown, sizeof thrown, "thrown");
    ompp_papi_set_drange((void *)&assembly, sizeof assembly, "assembly");
    ompp_papi_set_drange(numbers.data(), 100 * sizeof(int), "numbers");
#pragma omp parallel for num_threads(2) reduction(+ : sum)
    for (int i = 0; i < 10; i++) {
        try {
            may_throw(i);
        } catch (const std::exception &) {
            sum++;
        }
    }
    for (int k = 0; k < 10; k++) area += shape->area(sides);
    for (int i = 0; i < 100; i++) numbers[i] = i;
    for (int n : numbers) sum += n;
    __asm__ volatile("incq %0" : "+m"(assembly)); // not seen
    ompp_release_drange(numbers.data());
    delete shape;
    std::printf("sides 20 0\nthrown 15 15\nassembly 0 0\nnumbers 100 100\n");
    return area == 60 && sum == 4955 ? 0 : 1;
}
