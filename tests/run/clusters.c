/*
 * A program as clusters see it. shm: many regions, then asks /dev/shm for the room that MPI would want. chroot DIR: the
 * libraries that were preloaded are out of sight at the end. exec DIR: the same, and another program there. huge:
 * memory in huge pages. gpu: calls the libraries of an accelerator. away FILE: the process is stopped, restored from a
 * checkpoint, as the libraries of the test fake it, and goes on.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef MPI
#include <mpi.h>
#endif
#ifdef GPU
int gpu_count(void);
int gpu_run(int n);
#endif

#ifdef REGIONS
#include <ompp.h>
#endif

static int team(void)
{
    int sum = 0;

#pragma omp parallel reduction(+ : sum)
    sum += 1;
    return sum;
}

#ifdef REGIONS
static void many_regions(void)
{
    char name[40];

    for (int i = 0; i < REGIONS; i++) {
        snprintf(name, sizeof name, "region %d", i);
        ompp_region_begin(name);
        ompp_region_end(name);
    }
}

/* Room that is there: 3/8 of the file system. */
static int has_room(size_t bytes)
{
    int fd = open("/dev/shm/program", O_RDWR | O_CREAT | O_EXCL, 0600), error = fd < 0 ? 1 : posix_fallocate(fd, 0, bytes);

    unlink("/dev/shm/program");
    return error == 0;
}
#endif

static void huge(void)
{
    const size_t size = 8u << 20;
    char *own = aligned_alloc(2u << 20, size), *given = malloc(size);
    void *asked = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
    unsigned sum = 0;

    madvise(own, size, MADV_HUGEPAGE);
    if (asked != MAP_FAILED) memset(asked, 1, size);
#pragma omp parallel for reduction(+ : sum)
    for (size_t i = 0; i < size; i++) sum += (unsigned)(own[i] = given[i] = (char)i);
    printf("huge %u %s\n", sum, asked == MAP_FAILED ? "without" : "with");
}

static void enter(const char *dir)
{
    if (chroot(dir) != 0 || chdir("/") != 0) exit(9);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

#ifdef MPI
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < atoi(what); i++) team();
    MPI_Finalize();
    return 0;
#endif
    printf("team %d\n", team());
#ifdef REGIONS
    if (strcmp(what, "shm") == 0) {
        many_regions();
        puts(has_room((size_t)atol(argv[2])) ? "room" : "full");
    }
#endif
#ifdef GPU
    if (strcmp(what, "gpu") == 0) printf("gpu %d %d\n", gpu_count(), gpu_run(1000));
#endif
    if (strcmp(what, "huge") == 0) huge();
    if (strcmp(what, "chroot") == 0) enter(argv[2]);
    if (strcmp(what, "exec") == 0) {
        fflush(stdout);
        enter(argv[2]);
        execl("/other", "other", NULL);
        exit(8);
    }
    if (strcmp(what, "away") == 0) {
#pragma omp parallel
        {
            usleep(20000);
#pragma omp barrier
#pragma omp master
            close(open(argv[2], O_RDWR | O_CREAT, 0600));
#pragma omp barrier
            usleep(20000);
        }
        team();
    }
    return 7;
}
