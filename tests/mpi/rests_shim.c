/* What rests_f.f90 asks of the fake runtime; nothing, when there is none. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int64_t mark;
    uint64_t ranks, adopted, unknown, flags;
} adopted_t; /* as in stamps.h */

void fake_rest_f(int number)
{
    void (*rest)(uint64_t) = (void (*)(uint64_t))dlsym(RTLD_DEFAULT, "fake_rest");

    if (rest) rest((uint64_t)number);
}

void fake_mark_f(int number)
{
    void (*mark)(int64_t) = (void (*)(int64_t))dlsym(RTLD_DEFAULT, "fake_mark");

    if (mark) mark(number);
}

int fake_adopted_f(void)
{
    void (*take)(adopted_t *) = (void (*)(adopted_t *))dlsym(RTLD_DEFAULT, "fake_adopted");
    adopted_t adopted;

    memset(&adopted, 0, sizeof adopted);
    if (!take || !getenv("FAKE_STAMPS")) return -1;
    take(&adopted);
    return adopted.unknown ? 0 : (int)adopted.mark;
}
