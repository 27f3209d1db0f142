/*
 * show_variables MODULE NAME [OFFSET...]: the variables of a name, each as "name|function|file|line|size", and which
 * part lies at each offset, as found by its address. For variables.py.
 */
#include "base/ompp_clock.h"
#include "structure/ompp_variable.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *last_part(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;

    return slash ? slash + 1 : path ? path : "";
}

static void show(ompp_structure_t *structure, const ompp_variable_t *v, char **offsets, double deadline)
{
    static const char *const whole[] = {"omp_lock_t", NULL};
    char part[200];

    printf("%s|%s|%s|%" PRIu32 "|%" PRIu64, v->name, v->function ? v->function : "", last_part(v->file), v->line,
           v->size);
    for (; *offsets; offsets++) {
        uint64_t addr = v->addr + strtoull(*offsets, NULL, 0);
        const ompp_variable_t *found = ompp_variable_at(structure, addr, deadline);
        ompp_variable_part(structure, v, addr - v->addr, whole, part, sizeof part);
        printf("|%s", found == v ? part : "not found by its address");
    }
    putchar('\n');
}

int main(int argc, char **argv)
{
    const ompp_variable_t *found[8];
    ompp_structure_t *structure;

    if (argc < 3 || ompp_structure_open(argv[1], NULL, &structure) != 0) return 1;
    double deadline = ompp_clock_seconds() + 20;
    size_t n = ompp_variable_named(structure, argv[2], deadline, found, 8);
    for (size_t i = 0; i < n && i < 8; i++) show(structure, found[i], argv + 3, deadline);
    ompp_structure_close(structure);
    return 0;
}
