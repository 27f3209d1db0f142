/* A program with rights that its caller lacks: prints who it is, and what it was given back of the environment. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    const char *job = getenv("OMPP_JOB_DIR");
    int sum = 0;

#pragma omp parallel num_threads(2)
#pragma omp critical
    sum++;
    printf("%d %d %s\n", getuid() != geteuid() || getgid() != getegid(), sum, job ? job : "none");
    return 7;
}
