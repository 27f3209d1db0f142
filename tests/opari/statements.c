/* Statements and places whose end is hard to find. */
#include <stdio.h>

/* clang-format off */
#define SAFE(x) ({ int v_; _Pragma("omp atomic read") v_ = (x); v_; })
#define MAX(a, b) ({ __typeof__(a) _a = (a), _b = (b); _a > _b ? _a : _b; })

static int add(int k)
{
    static int seen;

    goto *(&&here);
here:
    /* @critical */
#pragma omp critical
    { seen += k; } return seen;
}

int main(void)
{
    int s = 0, a[4] = {[0 ... 3] = 1};

    /* @parallel */
#pragma omp parallel num_threads(2)
    { switch (a[0]) {
    case 1:
        /* @for */
#pragma omp for
        for (int i = 0; i < 4; ++i) { s = MAX(s, a[i]); }
    default:; }
        /* @atomic */
        if (SAFE(s) != 1) __builtin_abort();
        if (a[1]) {
            /* @barrier */
#pragma omp barrier
        } else { }
        /* @single */
#pragma omp single nowait
        do s++; while (s < 5);
        /* @guided */
#pragma omp for nowait schedule(guided)
        for (int i = 0; i < 4; ++i) switch (a[i]) { case 1: add(1); break; default: add(2); }
    goto label;
label:;
        /* @sections */
#pragma omp sections nowait
        { ;
#pragma omp section
            if (a[2] == '{') add(1); else if (a[2] == '"') add(2); else add(3);
            add(1);
        } }
    printf("%d %d\n", s, add(0));
    return 0;
}
