/* Hybrid program of which rank 1 ends in the middle, in the way that its argument says. Each step: a parallel region, a reduction. */
#include <glob.h>
#include <mpi.h>
#include <ompp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP 10
#define PATIENCE 6000 /* naps of 10 ms */

static void end(const char *way)
{
    if (strcmp(way, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(way, "segv") == 0)
        raise(SIGSEGV);
    if (strcmp(way, "abort") == 0)
        abort();
    if (strcmp(way, "_exit") == 0)
        _exit(3);
    if (strcmp(way, "exit") == 0)
        exit(3);
    if (strcmp(way, "mpi_abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
}

/* As the launchers of Open MPI and MPICH say it. */
static int launchers_rank(void)
{
    const char *open_mpi = getenv("OMPI_COMM_WORLD_RANK"), *mpich = getenv("PMI_RANK");

    return atoi(open_mpi ? open_mpi : mpich ? mpich : "0");
}

static int launchers_size(void)
{
    const char *open_mpi = getenv("OMPI_COMM_WORLD_SIZE"), *mpich = getenv("PMI_SIZE");

    return atoi(open_mpi ? open_mpi : mpich ? mpich : "1");
}

/* Each rank says that it is measured, and rank 1 waits until all have. */
static void meet_without_mpi(void)
{
    char name[32];

    snprintf(name, sizeof name, "early.%d", launchers_rank());
    fclose(fopen(name, "w"));
    for (int rank = 0, naps = 0; launchers_rank() == 1 && rank < launchers_size(); rank++) {
        snprintf(name, sizeof name, "early.%d", rank);
        while (access(name, F_OK) != 0 && naps++ < PATIENCE)
            usleep(10000);
    }
}

/* Which copy there is: each is a new file. */
static ino_t newest_copy(void)
{
    struct stat st = {0};
    char pattern[64];
    glob_t found;

    snprintf(pattern, sizeof pattern, "*.checkpoint-%d-*.ompp.bin", (int)getpid());
    if (glob(pattern, 0, NULL, &found) == 0) {
        if (stat(found.gl_pathv[0], &st) != 0)
            st.st_ino = 0;
        globfree(&found);
    }
    return st.st_ino;
}

/* Until a copy has been begun and made: the first that comes may have been under way. */
static void wait_for_copy(void)
{
    ino_t last = newest_copy();

    for (int copies = 0, naps = 0; copies < 2 && naps < PATIENCE; naps++) {
        const ino_t now = newest_copy();
        usleep(10000);
        copies += now != last;
        last = now;
    }
}

/* The other ranks are in MPI_Finalize meanwhile. */
static void wait_for_file(const char *name)
{
    for (int naps = 0; access(name, F_OK) != 0 && naps < PATIENCE; naps++)
        usleep(10000);
}

static void work(int *sum)
{
    ompp_region_begin("step");
#pragma omp parallel
#pragma omp critical
    *sum += 1;
    MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    ompp_region_end("step");
}

/* Rank 1 dies, and the others go on: the launcher, which would end them, is stopped meanwhile. */
static void die_unnoticed(int rank)
{
    if (rank == 0)
        kill(getppid(), SIGSTOP);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        raise(SIGKILL);
    for (int i = 0; i < 30; i++) {
        ompp_region_begin("later");
        usleep(10000);
        ompp_region_end("later");
    }
    if (rank == 0)
        kill(getppid(), SIGCONT);
    raise(SIGKILL);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "good";
    int rank, sum = 0;

    if (strcmp(way, "early") == 0) {
#pragma omp parallel
        sum += launchers_rank() < 0;
        meet_without_mpi();
        if (launchers_rank() == 1)
            raise(SIGKILL);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * STEP; i++) {
        /* Nobody waits for another when it goes: the others have done as much. */
        if (i == STEP && strcmp(way, "good") != 0 && strcmp(way, "wait") != 0)
            MPI_Barrier(MPI_COMM_WORLD);
        if (i == STEP && strcmp(way, "unnoticed") == 0)
            die_unnoticed(rank);
        if (i == STEP && rank == 1)
            end(way);
        if (strcmp(way, "vanish") == 0 && i == STEP) {
            wait_for_copy();
            MPI_Barrier(MPI_COMM_WORLD); /* the launcher ends all when one has gone */
            raise(SIGKILL);
        }
        work(&sum);
    }
    if (strcmp(way, "wait") == 0 && rank == 1)
        wait_for_file("go");
    MPI_Finalize();
    return 0;
}
