/* Names of jobs: Slurm is at the other end of PMI's socket, too, and has no proxy's port; its variables tell the job
 * then. */
#include "preload/ompp_launch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <cmocka.h>

static const char *const others[] = {
    "OMPI_MCA_orte_precondition_transports", "PMIX_NAMESPACE", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "PALS_APID"};

static void slurm_without_pmix(void **state)
{
    int sockets[2];
    char number[20];

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) unsetenv(others[i]);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    snprintf(number, sizeof number, "%d", sockets[0]);
    setenv("PMI_FD", number, 1);
    setenv("SLURM_JOB_ID", "17", 1);
    setenv("SLURM_STEP_ID", "3", 1);
    setenv("SLURM_RESTART_COUNT", "1", 1);
    assert_string_equal(ompp_launch_name_everywhere(), "17/3/1");
    assert_string_equal(ompp_launch_name(), "17/3/1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(slurm_without_pmix)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
