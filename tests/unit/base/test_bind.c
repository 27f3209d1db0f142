/* What launchers' lines say of processors, in each spelling, and what looks like it. */
#include "image/ompp_bind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void spellings(void **state)
{
    static const struct {
        const char *launcher;
        char *words[3];
        size_t n;
    } cases[] = {
        {"openmpi", {"--bind-to", "core"}, 2},
        {"openmpi", {"-bind-to", "core"}, 2},
        {"openmpi", {"--map-by", "slot:PE=2"}, 2},
        {"openmpi", {"--map-by=slot:pe=2"}, 1},
        {"openmpi", {"--map-by", "node"}, 0},
        {"openmpi", {"--map-by"}, 0},
        {"openmpi", {"--map-byte", "slot:PE=2"}, 0},
        {"openmpi", {"--cpus-per-rank", "2"}, 2},
        {"openmpi", {"-n", "2"}, 0},
        {"slurm", {"--cpus-per-task=1", "-n"}, 1},
        {"slurm", {"--cpus-per-task", "1"}, 2},
        {"slurm", {"-c", "1"}, 2},
        {"slurm", {"-c1", "-n"}, 1},
        {"slurm", {"-c"}, 1},
        {"slurm", {"-comment", "1"}, 0},
        {"slurm", {"--cpu-freq=1", "1"}, 0},
        {"mpich", {"-bind-to", "core"}, 2},
        {"mpich", {"-binding", "core"}, 2},
        {"mpich", {"-n", "1"}, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const size_t n = ompp_bind_said(ompp_bind_find(cases[i].launcher), cases[i].words);
        if (n != cases[i].n)
            fail_msg("%s: %s: %zu words, not %zu", cases[i].launcher, cases[i].words[0], n, cases[i].n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(spellings)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
