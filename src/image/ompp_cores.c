#include "image/ompp_cores.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CPUS = 8 * sizeof((ompp_proc_cpus_t *)NULL)->bits };

static bool has(const ompp_proc_cpus_t *cpus, unsigned cpu) { return cpus->bits[cpu / 8] >> cpu % 8 & 1; }

static void set(ompp_proc_cpus_t *cpus, unsigned cpu)
{
    if (cpu < CPUS) cpus->bits[cpu / 8] |= (unsigned char)(1u << cpu % 8);
}

/* A list such as "0-3,8" in a file; empty where there is none. */
static ompp_proc_cpus_t read_list(const char *path)
{
    const int saved_errno = errno;
    FILE *file = fopen(path, "re");
    ompp_proc_cpus_t found = {{0}};
    unsigned first, last;

    while (file && fscanf(file, "%u", &first) == 1) {
        if (fscanf(file, "-%u", &last) != 1) last = first;
        for (; first <= last && first < CPUS; first++) set(&found, first);
        if (fgetc(file) != ',') break;
    }
    if (file) fclose(file);
    errno = saved_errno;
    return found;
}

unsigned ompp_cores_first(const char *system, unsigned cpu)
{
    char path[300];
    unsigned first = 0;

    snprintf(path, sizeof path, "%s/cpu/cpu%u/topology/thread_siblings_list", system, cpu);
    const ompp_proc_cpus_t siblings = read_list(path);
    while (first < CPUS && !has(&siblings, first)) first++;
    return first < CPUS ? first : cpu;
}

ompp_proc_cpus_t ompp_cores_of(const char *system, const ompp_proc_cpus_t *cpus)
{
    ompp_proc_cpus_t cores = {{0}};

    for (unsigned cpu = 0; cpu < CPUS; cpu++)
        if (has(cpus, cpu)) set(&cores, ompp_cores_first(system, cpu));
    return cores;
}

ompp_proc_cpus_t ompp_cores_numa(const char *system, const ompp_proc_cpus_t *cpus)
{
    ompp_proc_cpus_t nodes = {{0}};
    char path[300];

    snprintf(path, sizeof path, "%s/node/online", system);
    const ompp_proc_cpus_t online = read_list(path);
    for (unsigned node = 0; node < CPUS; node++) {
        if (!has(&online, node)) continue;
        snprintf(path, sizeof path, "%s/node/node%u/cpulist", system, node);
        const ompp_proc_cpus_t its = read_list(path);
        for (size_t i = 0; i < sizeof its.bits; i++)
            if (its.bits[i] & cpus->bits[i]) set(&nodes, node);
    }
    return nodes;
}

void ompp_cores_text(const ompp_proc_cpus_t *cpus, char *text, size_t size)
{
    size_t used = 0;

    *text = '\0';
    for (unsigned first = 0, last; first < CPUS; first = last + 1) {
        last = first;
        if (!has(cpus, first)) continue;
        while (last + 1 < CPUS && has(cpus, last + 1)) last++;
        if (used + 20 > size) {
            snprintf(text + used, size - used, ",...");
            return;
        }
        used +=
            (size_t)snprintf(text + used, size - used, last > first ? "%s%u-%u" : "%s%u", used ? "," : "", first, last);
    }
}

void ompp_cores_kind(const char *cpuinfo, char *kind, size_t size)
{
    /* x86; POWER; Arm, which has numbers alone */
    static const char *const names[] = {"model name\t", "cpu\t", "CPU part\t"};
    const int saved_errno = errno;
    FILE *file = fopen(cpuinfo, "re");
    char line[300];

    *kind = '\0';
    while (file && !*kind && fgets(line, sizeof line, file))
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            const char *value = strncmp(line, names[i], strlen(names[i])) == 0 ? strchr(line, ':') : NULL;
            if (!value) continue;
            line[strcspn(line, "\n")] = '\0';
            value += 1 + strspn(value + 1, " ");
            snprintf(kind, size, "%s%.*s", i == 2 ? "Arm part " : "", (int)size - 10, value);
        }
    if (file) fclose(file);
    errno = saved_errno;
}
