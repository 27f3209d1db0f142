/* What suspended_f.f90 asks of the fake runtime; nothing, when there is none. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int64_t mark;
    uint64_t ranks, joined, unknown, flags;
} adopted_t; /* as in piggyback.h */

void fake_suspension_f(int number)
{
    void (*rest)(uint64_t) = (void (*)(uint64_t))dlsym(RTLD_DEFAULT, "fake_rest");

    if (rest) rest((uint64_t)number);
}

void fake_mark_f(int number)
{
    void (*mark)(int64_t) = (void (*)(int64_t))dlsym(RTLD_DEFAULT, "fake_mark");

    if (mark) mark(number);
}

int fake_joined_f(void)
{
    void (*take)(adopted_t *) = (void (*)(adopted_t *))dlsym(RTLD_DEFAULT, "fake_adopted");
    adopted_t joined;

    memset(&joined, 0, sizeof joined);
    if (!take || !getenv("FAKE_STAMPS")) return -1;
    take(&joined);
    return joined.unknown ? 0 : (int)joined.mark;
}
