#!/bin/sh
# From source to report through OPARI2: counts in the text are exact, and Coverage names what was not instrumented.
. "$abs_top_srcdir/tests/wrap/lib.sh"
command -v opari2 >/dev/null || skip "opari2 is not installed"
test -f "$abs_top_builddir/.libs/libompp-report.so" || skip "no report library in the build tree"
cat >t.c <<'X'
#include <omp.h>
int broken(int n);
int main(void)
{
    int n = 0, i;
    omp_lock_t lock;
    omp_nest_lock_t nest;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp inst begin(all)
#pragma omp parallel num_threads(2) private(i)
    {
#pragma omp for schedule(dynamic)
        for (i = 0; i < 10; i++) {
#pragma omp critical(named)
            n++;
        }
#pragma omp single
        {
#pragma omp task
            { n++; }
#pragma omp task
            { n++; }
        }
        omp_set_lock(&lock);
        omp_unset_lock(&lock);
        omp_set_nest_lock(&nest);
        omp_set_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
#pragma omp parallel num_threads(2)
        {
#pragma omp barrier
        }
    }
#pragma omp parallel if (n < 0)
    {
#pragma omp atomic
        n++;
    }
#pragma omp inst end(all)
    return broken(0);
}
X
cat >b.c <<'X'
int broken(int n)
{
#pragma omp parallel for simd reduction(+ : n)
    for (int i = 0; i < 4; i++) n += i;
    return n != 6;
}
X
export OMP_MAX_ACTIVE_LEVELS=2 OMPP_REPORTFILE=report.txt OMP_NUM_THREADS=2
claim "build of a source that OPARI2 fails on" $kinst --opari=/bin/false gcc -g -fopenmp -c b.c
claim "build" $kinst gcc -g -fopenmp t.c b.o -o t
claim "run" ./t
# execC of the SUM row of a region's first profile, by the heading's text. LOCK headings end with the address.
count() { awk -v want="$1" 'index($0, "R0") == 1 && index($0, want) { hit = 1 } hit && /^ TID/ { for (i = 1; i <= NF; i++) if ($i == "execC") c = i }
    hit && /^ SUM/ { print $c; exit }' report.txt; }
for fact in "t.c (11-35) PARALLEL:2" "t.c (13-17) LOOP:2" "('named') CRITICAL:10" "t.c (18-24) SINGLE:2" "t.c (20-21) TASK:1" \
    "t.c (20-21) TASKEXEC:1" "t.c (22-23) TASKEXEC:1" "t.c (31-34) PARALLEL:4" "t.c (33) BARRIER:4" "t.c (36-40) PARALLEL:1" \
    "t.c (38-39) ATOMIC:1" "('all') USER REGION:1" "LOCK (<:2"; do
    claim "${fact%:*} is executed ${fact##*:} times" same "$(count "${fact%:*}")" "${fact##*:}"
done
locks=$(awk '/^R.*LOCK \(</ { hit = 1 } hit && /^ TID/ { for (i = 1; i <= NF; i++) if ($i == "execC") c = i }
    hit && /^ SUM/ { n += $c; hit = 0 } /Callgraph Region/ { exit } END { print n }' report.txt)
claim "both locks are taken twice, inner sets of the nest lock do not count" same "$locks" 4
claim "two locks in the overview" same "$(grep -c '^ \* R.*LOCK (<' report.txt)" 2
claim "Coverage names the source of events" grep -q 'OpenMP events: OPARI2' report.txt
claim "Coverage names the unmodified file" grep -q 'compiled without instrumentation: .*b.c' report.txt
claim "no mismatch" not grep -q 'not open\|not closed' report.txt
end_test
