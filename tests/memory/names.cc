// Variables to be found by name: in a namespace, static in the file and in functions, one name twice. Prints name, loads, stores.
#include <cstdio>

namespace geo {
volatile double count[10];
}
static volatile long hidden[5];
volatile long plain[7];

static int first(int i)
{
    static volatile int memo[3];
    memo[i % 3] = i;
    return memo[0];
}

static int second(int i)
{
    static volatile int memo[3], only[2];
    memo[i % 3] = i;
    only[i % 2] = i;
    return memo[1];
}

int main()
{
    double sum = 0;

    for (int i = 0; i < 10; i++) {
        geo::count[i] = i;
        sum += first(i) + second(i);
    }
    for (int i = 0; i < 5; i++) hidden[i] = i;
    for (int i = 0; i < 7; i++) plain[i] = hidden[i % 5];
#pragma omp parallel
    {
    }
    std::printf("geo::count 0 10\ncount 0 10\nhidden 7 5\nplain 0 7\nonly 0 10\n_ZZL5firstiE4memo 10 10\n");
    return sum > 0 ? 0 : 1;
}
