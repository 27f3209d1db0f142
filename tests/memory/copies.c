/*
 * Assignments of structures next to calls of memcpy and memset about the same bytes: each is counted, and none is counted twice
 * where the compiler makes a call of the assignment. Prints what has to be counted: name, loads, stores.
 */
#include <ompp.h>

#include <stdio.h>
#include <string.h>

#define TIMES 100

#define SIZE(n)                                                                                                        \
    static struct s##n {                                                                                               \
        char v[n];                                                                                                     \
    } to##n, from##n;                                                                                                  \
    static void copies##n(void)                                                                                        \
    {                                                                                                                  \
        ompp_papi_set_drange(&to##n, sizeof to##n, "to" #n);                                                           \
        ompp_papi_set_drange(&from##n, sizeof from##n, "from" #n);                                                     \
        for (int i = 0; i < TIMES; i++) {                                                                              \
            to##n = from##n;                                                                                           \
            ((volatile char *)to##n.v)[1]++;                                                                           \
            memcpy(&to##n, &from##n, sizeof to##n);                                                                    \
            to##n = from##n;                                                                                           \
            memcpy(&to##n, &from##n, sizeof to##n);                                                                    \
            to##n = (struct s##n){0};                                                                                  \
            memset(&to##n, 0, sizeof to##n);                                                                           \
        }                                                                                                              \
        printf("from" #n " %d 0\nto" #n " %d %d\n", 4 * TIMES, TIMES, 7 * TIMES);                                      \
    }

SIZE(32)
SIZE(600)
SIZE(8192)
SIZE(8193)
SIZE(20000)

int main(void)
{
    copies32();
    copies600();
    copies8192();
    copies8193();
    copies20000();
    return 0;
}
