#include "base/ompp_bind.h"

#include "base/ompp_env.h"

#include <stddef.h>
#include <string.h>

/* By the variables of a process: ranks of a step of Slurm may have PMI_RANK, too. */
static const ompp_bind_t rows[] = {
    {"openmpi", "OMPI_COMM_WORLD_RANK", "mpirun --bind-to none, or --map-by slot:PE=N with N threads", "--bind-to none"},
    {"slurm", "SLURM_STEP_ID", "srun --cpus-per-task=N with N threads", "--cpus-per-task="},
    {"mpich", "PMI_RANK", "mpirun -bind-to none", "-bind-to none"},
};

const ompp_bind_t *ompp_bind_find(const char *name)
{
    const ompp_bind_t *found = NULL;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && !found; i++)
        if (name ? strcmp(name, rows[i].name) == 0 : ompp_env_foreign(rows[i].variable) != NULL) found = &rows[i];
    return found;
}
