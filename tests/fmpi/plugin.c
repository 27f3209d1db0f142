/* Loads a module and calls the Fortran in it. The program itself knows nothing of MPI. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    void (*plugin)(void) = module ? (void (*)(void))dlsym(module, "plugin_") : NULL;

    if (!plugin) return fprintf(stderr, "%s\n", dlerror()), 2;
    plugin();
    return 0;
}
