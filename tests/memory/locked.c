/*
 * Keeps all its memory locked, as programs with deadlines and drivers of networks do. The argument says what: "current", "future",
 * "both", "fault", in front of threads and a block of memory; "long": with a file mapped whose name is longer than any buffer; "cancel":
 * on a thread that is to be cancelled. Prints what mlockall says, and whether much more is locked than it uses.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* A page behind one of a file whose name takes four characters for each of its own in /proc/self/maps. */
static char *map_long_name(void)
{
    char name[201] = "";
    char *pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    memset(name, '\n', sizeof name - 1);
    for (int depth = 0; depth < 12; depth++)
        if (mkdir(name, 0700) != 0 || chdir(name) != 0) return NULL;
    int file = open("file", O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, 4096) != 0 || pages == MAP_FAILED) return NULL;
    mmap(pages + 4096, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0);
    close(file);
    return pages + 2 * 4096;
}

static const char *is_locked(const char *page)
{
    FILE *file = fopen("/proc/self/smaps", "r");
    unsigned long begin, end, mine = 0;
    char *line = NULL;
    size_t room = 0;
    const char *found = "not known";

    while (page && file && getline(&line, &room, file) > 0) {
        if (sscanf(line, "%lx-%lx ", &begin, &end) == 2) mine = (unsigned long)page >= begin && (unsigned long)page < end;
        if (mine && strncmp(line, "VmFlags:", 8) == 0) found = strstr(line, " lo") ? "yes" : "no";
    }
    free(line);
    if (file) fclose(file);
    return found;
}

static volatile int went_on;

static void *lock_cancelled(void *unused)
{
    pthread_cancel(pthread_self());
    mlockall(MCL_CURRENT);
    went_on = 1;
    return unused;
}

static void lock_on_thread(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, lock_cancelled, NULL) == 0) pthread_join(thread, NULL);
    printf("went on: %d\n", went_on);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "none";
    const int flags = strcmp(how, "current") == 0 || strcmp(how, "long") == 0 ? MCL_CURRENT
                      : strcmp(how, "future") == 0 ? MCL_FUTURE
                      : strcmp(how, "both") == 0   ? MCL_CURRENT | MCL_FUTURE
                                                   : MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT;
    double *late, sum = 0;
    char *page = strcmp(how, "long") == 0 ? map_long_name() : NULL;

    if (strcmp(how, "cancel") == 0) lock_on_thread();
    errno = 0;
    const int result = strcmp(how, "none") == 0 || strcmp(how, "cancel") == 0 ? 0 : mlockall(flags);
    printf("%s: %d %s\n", how, result, result ? strerror(errno) : "");
    if (page) printf("a page behind one of a file with a long name is locked: %s\n", is_locked(page));
    late = malloc(sizeof early);
    memset(late, 0, sizeof early);
#pragma omp parallel num_threads(4) reduction(+ : sum)
    for (int i = 0; i < 4096; i++) sum += early[i] + late[i] + 1;
    printf("%g, much is locked: %s\n", sum, locked() > 400 ? "yes" : "no");
    free(late);
    return 0;
}
