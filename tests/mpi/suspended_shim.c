/* What suspended_f.f90 asks of the fake runtime; nothing, when there is none. */
#define _GNU_SOURCE
#include "piggyback.h"

void fake_suspension_f(int number)
{
    suspend((uint64_t)number);
}

void fake_mark_f(int number)
{
    mark(number);
}

/* \return the mark; 0 = the call had no clock vector, -1 = there are no clocks, -2 = the fake runtime lacks a function. */
int fake_joined_f(void)
{
    adopted_t a;

    if (!take(&a)) return failures ? -2 : -1;
    return a.unknown ? 0 : (int)a.mark;
}
