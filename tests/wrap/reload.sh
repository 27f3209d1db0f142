#!/bin/sh
# A library that is loaded where another one was has regions of its own, though code and locks have the same addresses.
. "$abs_top_srcdir/tests/wrap/lib.sh"
test -f "$abs_top_builddir/.libs/libompp-report.so" || skip "no report library in the build tree"
for part in first second; do
    cat >$part.c <<'X2'
#include <omp.h>
static omp_lock_t lock;
void work(void)
{
    omp_init_lock(&lock);
#pragma omp parallel
    {
        omp_set_lock(&lock);
        omp_unset_lock(&lock);
    }
}
X2
done
cat >host.c <<'X2'
#include <dlfcn.h>
int main(void)
{
    const char *const names[] = {"./first.so", "./second.so"};
    for (int i = 0; i < 2; i++) {
        void *handle = dlopen(names[i], RTLD_NOW);
        if (!handle) return 1;
        ((void (*)(void))dlsym(handle, "work"))();
        dlclose(handle);
    }
#pragma omp parallel
    {
    }
    return 0;
}
X2
export OMP_NUM_THREADS=2
for cc in gcc "${TEST_CLANG:-clang}"; do
    command -v "$cc" >/dev/null || continue
    claim "$cc: build" $kinst $cc -g -fopenmp -shared -fPIC first.c -o first.so
    claim "$cc: build" $kinst $cc -g -fopenmp -shared -fPIC second.c -o second.so
    claim "$cc: build" $kinst $cc -g -fopenmp host.c -o host -ldl
    claim "$cc: run" env OMPP_REPORTFILE=$cc.txt ./host
    claim "$cc: the first library" grep -q '^ \* R.* first.c (6-' $cc.txt
    claim "$cc: the second library" grep -q '^ \* R.* second.c (6-' $cc.txt
    claim "$cc: a lock each" same "$(grep -c '^ \* R.* LOCK (<' $cc.txt)" 2
done
end_test
