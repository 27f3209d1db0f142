/* A program of one user in a directory of many; with an argument it is killed, and leaves its file. */
#include <signal.h>

int main(int argc, char **argv)
{
    int sum = 0;

    (void)argv;
#pragma omp parallel num_threads(2)
#pragma omp critical
    sum++;
    if (argc > 1) raise(SIGKILL);
    return sum - 2;
}
