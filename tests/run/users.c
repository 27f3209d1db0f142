/* A program of one user in a directory of many; with an argument it is killed, and leaves its file; with two it waits for that. */
#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int sum = 0;

    (void)argv;
#pragma omp parallel num_threads(2)
#pragma omp critical
    sum++;
    if (argc > 2) pause();
    if (argc > 1) raise(SIGKILL);
    return sum - 2;
}
