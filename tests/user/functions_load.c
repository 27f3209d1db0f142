/* Loads and unloads plug-ins: library, times, library, times, ... See functions.py. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int sum = 0;

    for (int i = 1; i + 1 < argc; i += 2) {
        void *library = dlopen(argv[i], RTLD_NOW);
        int (*work)(int) = library ? (int (*)(int))dlsym(library, "work") : 0;
        for (int k = atoi(argv[i + 1]); work && k > 0; k--)
            sum = work(sum);
        if (library)
            dlclose(library);
    }
    printf("%d\n", sum);
    return 0;
}
