/**
 * \file
 * How far the system permits perf events. In a header, because several libraries need it that share no code.
 */
#ifndef OMPP_PARANOID_H
#define OMPP_PARANOID_H

#include <stdio.h>

/** \return kernel.perf_event_paranoid; 0 when the system does not say. */
static inline int ompp_perf_paranoid(void)
{
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
    int level = 0;

    if (!file) return 0;
    if (fscanf(file, "%d", &level) != 1) level = 0;
    fclose(file);
    return level;
}

#endif
