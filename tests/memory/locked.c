/*
 * Keeps all its memory locked, as programs with deadlines and drivers of networks do. The argument says what: "current", "future",
 * "both", "fault", in front of threads and a block of memory. Prints what mlockall says, and whether much more is locked than it uses.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MCL_ONFAULT
#define MCL_ONFAULT 4
#endif

double early[4096];

/* MiB that are locked. */
static long locked(void)
{
    char line[200];
    long kib = -1;
    FILE *file = fopen("/proc/self/status", "r");

    while (file && fgets(line, sizeof line, file)) sscanf(line, "VmLck: %ld", &kib);
    if (file) fclose(file);
    return kib / 1024;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "none";
    const int flags = strcmp(how, "current") == 0  ? MCL_CURRENT
                      : strcmp(how, "future") == 0 ? MCL_FUTURE
                      : strcmp(how, "both") == 0   ? MCL_CURRENT | MCL_FUTURE
                                                   : MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT;
    double *late, sum = 0;

    errno = 0;
    const int result = strcmp(how, "none") == 0 ? 0 : mlockall(flags);
    printf("%s: %d %s\n", how, result, result ? strerror(errno) : "");
    late = malloc(sizeof early);
    memset(late, 0, sizeof early);
#pragma omp parallel num_threads(4) reduction(+ : sum)
    for (int i = 0; i < 4096; i++) sum += early[i] + late[i] + 1;
    printf("%g, much is locked: %s\n", sum, locked() > 400 ? "yes" : "no");
    free(late);
    return 0;
}
