#define _GNU_SOURCE
#include "image/ompp_bind.h"

#include "base/ompp_env.h"

#include <ctype.h>
#include <string.h>

/* By the variables of a process: ranks of a step of Slurm may have PMI_RANK, too. */
static const ompp_bind_t rows[] = {
    {"openmpi",
     "OMPI_COMM_WORLD_RANK",
     "mpirun --bind-to none, or --map-by slot:PE=N with N threads",
     "--bind-to none",
     {{"--bind-to", NULL},
      {"-bind-to", NULL},
      {"--map-by", "PE="},
      {"-map-by", "PE="},
      {"--cpus-per-proc", NULL},
      {"-cpus-per-proc", NULL},
      {"--cpus-per-rank", NULL},
      {"-cpus-per-rank", NULL}}},
    {"slurm",
     "SLURM_STEP_ID",
     "srun --cpus-per-task=N with N threads",
     "--cpus-per-task=",
     {{"--cpus-per-task", NULL}, {"-c", NULL}}},
    {"mpich",
     "PMI_RANK",
     "mpirun -bind-to none",
     "-bind-to none",
     {{"-bind-to", NULL}, {"--bind-to", NULL}, {"-binding", NULL}}},
};

const ompp_bind_t *ompp_bind_find(const char *name)
{
    const ompp_bind_t *found = NULL;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && !found; i++)
        if (name ? strcmp(name, rows[i].name) == 0 : ompp_env_foreign(rows[i].variable) != NULL) found = &rows[i];
    return found;
}

static size_t said(const ompp_bind_spelling_t *spelling, char *const *words)
{
    const size_t n = strlen(spelling->option);
    const char *behind = words[0] + n, *value = words[1];

    if (strncmp(words[0], spelling->option, n) != 0) return 0;
    if (*behind == '=') value = behind + 1;
    else if (n == 2 && isdigit((unsigned char)*behind)) value = behind;
    else if (*behind) return 0;
    if (spelling->value && !(value && strcasestr(value, spelling->value))) return 0;
    return *behind || !value ? 1 : 2;
}

size_t ompp_bind_said(const ompp_bind_t *bind, char *const *words)
{
    size_t n = 0;

    for (const ompp_bind_spelling_t *spelling = bind->spellings; spelling->option && n == 0; spelling++)
        n = said(spelling, words);
    return n;
}
