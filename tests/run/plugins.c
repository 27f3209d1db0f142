/* Two plug-ins of this text, told apart by SECOND, which have their loop in different lines, most often at one address; and the host. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HOST
#include <dlfcn.h>

/* host TIMES one.so two.so: opens them in turn, and closes each before the next. */
int main(int argc, char **argv)
{
    const int times = argc > 3 ? atoi(argv[1]) : 0;
    char path[4096];
    long total = 0;

    if (argc < 4 || !dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL))
        return 77; /* its threads would not survive an unload */
    for (int k = 0; k < 2 * times; k++) {
        void *library = dlopen(argv[2 + k % 2], RTLD_NOW | RTLD_LOCAL);
        if (!library) return puts(dlerror()), 1;
        if (!getcwd(path, sizeof path) || chdir("/") != 0) return 1;
        int (*work)(int) = (int (*)(int))dlsym(library, "work");
        total += work(10);
        if (k % 2) total += work(10);
        if (chdir(path) != 0) return 1;
        dlclose(library);
        printf("closed %d\n", k);
    }
    printf("total %ld\n", total);
    return 5;
}
#else
#ifdef SECOND
#define WORD "two"
#else
#define WORD "one"
#endif
#ifdef NAMED
#include "ompp.h"
#endif

static volatile int numbers[1000];

__attribute__((destructor)) static void leave(void) { printf("unloaded %s\n", WORD); }

static int sum_up(int n)
{
    int sum = 0;
#ifdef SECOND

/* @two */
#pragma omp parallel for num_threads(2) reduction(+ : sum)
    for (int i = 0; i < n; i++) sum += 2 * i;
#else
/* @one */
#pragma omp parallel for num_threads(2) reduction(+ : sum)
    for (int i = 0; i < n; i++) sum += i;
#endif
    return sum;
}

int work(int n);
int work(int n)
{
#if defined NAMED && !defined SECOND
    ompp_papi_set_drange((void *)numbers, sizeof numbers, "numbers");
#endif
    for (int i = 0; i < 1000; i++) numbers[i] = i;
    return sum_up(n);
}
#endif
