/*
 * Loads and stores of all sizes in one program of several objects: the same counts whether hooks are inlined or called. With -DPART
 * the other object, or a shared library.
 */
#include <ompp.h>

#include <stdint.h>
#include <string.h>

#define N 1000

typedef struct {
    char pad;
    double value;
} __attribute__((packed)) odd_t;

void part(double *to, const double *from);
void library(double *to, const double *from);

#ifdef PART
void PART(double *to, const double *from)
{
    for (int i = 1; i + 1 < N; i++) to[i] = 0.5 * (from[i - 1] + from[i + 1]);
}
#else
static uint8_t bytes[N];
static int16_t shorts[N];
static int ints[N];
static double x[N], y[N], z[N];
static __int128 wide[N];
static volatile int flag;
static odd_t odd[N];
static int hits;

int main(void)
{
    double sum = 0;

    ompp_papi_set_drange(bytes, sizeof bytes, "bytes");
    ompp_papi_set_drange(shorts, sizeof shorts, "shorts");
    ompp_papi_set_drange(ints, sizeof ints, "ints");
    ompp_papi_set_drange(x, sizeof x, "x");
    ompp_papi_set_drange(y, sizeof y, "y");
    ompp_papi_set_drange(z, sizeof z, "z");
    ompp_papi_set_drange(wide, sizeof wide, "wide");
    ompp_papi_set_drange((void *)&flag, sizeof flag, "flag");
    ompp_papi_set_drange(odd, sizeof odd, "odd");
    ompp_papi_set_drange(&hits, sizeof hits, "hits");
    for (int i = 0; i < N; i++) {
        bytes[i] = (uint8_t)i;
        shorts[i] = (int16_t)(bytes[i] * 3);
        ints[i] = shorts[i] + flag;
        x[i] = ints[i] * 0.25;
        wide[i] = (__int128)ints[i] * bytes[i];
        odd[i].value = x[i] + 1;
    }
#pragma omp parallel for num_threads(2) schedule(static) reduction(+ : sum)
    for (int i = 0; i < N; i++) {
        y[i] = x[i] + odd[i].value;
        wide[i] += ints[i];
        if (bytes[i] > 7) __atomic_fetch_add(&hits, 1, __ATOMIC_RELAXED);
        sum += __atomic_load_n(&ints[i], __ATOMIC_RELAXED);
    }
    part(z, y);
    library(x, z);
    memcpy(y, x, sizeof y);
    flag = 1;
    return sum < 0 || hits != 968 || y[1] != x[1];
}
#endif
