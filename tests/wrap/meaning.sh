#!/bin/sh
# The instrumented program computes what the user's does, whatever way C and C++ are written, and is still instrumented.
. "$abs_top_srcdir/tests/wrap/lib.sh"
command -v opari2 >/dev/null || skip "opari2 is not installed"
export OMP_NUM_THREADS=4
gxx=$(command -v g++ || true)

# as_before TEXT COMPILER FILE: prints the same, and the whole file is instrumented.
as_before()
{
    rm -f plain prog report.txt
    claim "$1: the compiler builds" $2 -w -fopenmp $3 -o plain
    claim "$1: builds" $kinst $2 -w -fopenmp $3 -o prog
    wanted=$(unmeasured ./plain)
    [ $? -le 128 ] || { left_out="$left_out $1;"; return; }
    claim "$1: same result" same "$(OMPP_REPORTFILE=report.txt ./prog)" "$wanted"
    claim "$1: instrumented" instrumented prog
    claim "$1: all of it" not grep -q 'compiled without instrumentation' report.txt
}

# Conditions that are no int.
cat >if.c <<'X'
#include <omp.h>
#include <stdio.h>
int main(void)
{
    double half = 0.5;
    long big = 1L << 32;
    int n = 0;
#pragma omp parallel if(half)
#pragma omp single
    n = omp_get_num_threads();
    printf("%d\n", n);
#pragma omp parallel if(parallel: big)
#pragma omp single
    n = omp_get_num_threads();
    printf("%d\n", n);
#pragma omp parallel for if(parallel : half) num_threads(3)
    for (int i = 0; i < 3; i++) n = omp_get_num_threads();
    printf("%d\n", n);
#pragma omp parallel for if(big) num_threads(3) lastprivate(n)
    for (int i = 0; i < 3; i++) n = omp_get_num_threads();
    printf("%d\n", n);
#pragma omp parallel sections if(n > 5 ? 0 : half)
    {
        n = omp_get_num_threads();
    }
    printf("%d\n", n);
    return 0;
}
X
as_before "conditions" gcc if.c
cat >if.cc <<'X'
#include <cstdio>
#include <memory>
int main()
{
    std::shared_ptr<int> set(new int(2)), empty;
    int n = 0;
#pragma omp parallel if(set) num_threads(2) reduction(+ : n)
    n++;
#pragma omp parallel if(empty) num_threads(2) reduction(+ : n)
    n++;
    return std::printf("%d\n", n) < 0;
}
X
test -z "$gxx" || as_before "objects as conditions" g++ if.cc

# Constructs without braces in each other.
cat >bare.c <<'X'
#include <stdio.h>
int main(void)
{
    int n = 0, h[4] = {0};
#pragma omp parallel for
    for (int i = 0; i < 100; i++)
#pragma omp atomic
        h[i & 3]++;
#pragma omp parallel
#pragma omp atomic
    n++;
#pragma omp parallel
#pragma omp single
#pragma omp task
#pragma omp atomic
    n++;
#pragma omp parallel sections
    {
#pragma omp section
#pragma omp atomic
        n++;
#pragma omp section
#pragma omp critical
        h[2]++;
    }
    return printf("%d %d\n", n, h[1]) < 0;
}
X
as_before "atomic without braces" gcc bare.c

# Functions of OpenMP's lock functions' names, and calls where they might be declarations.
cat >calls.c <<'C'
#include <omp.h>
#include <stdio.h>
int main(void)
{
    omp_lock_t l;
    int s = 1;
    omp_init_lock(&l);
#pragma omp parallel
    { }
    int x = 1 + 2 * omp_test_lock(&l);
    if (s >omp_test_lock(&l)) s += 2;
    omp_unset_lock(&l);
    return printf("%d %d\n", x, s) < 0;
}
C
as_before "lock calls in expressions" gcc calls.c
claim "all are measured" same "$(gcc -c calls.c -fopenmp; $kinst gcc -fopenmp -c calls.c; nm calls.o | grep -c ' omp_.*lock\|POMP2_Test_lock')" 1
# own_locks TEXT COMPILER FILE
own_locks()
{
    as_before "$1" $2 $3
    claim "$1: calls stay" sh -c '! nm prog | grep "U POMP2_.*_lock"'
    claim "$1: Coverage says so" grep -q "lock calls in .*/$3.*declares" report.txt
}
cat >pointer.c <<'C'
#include <omp.h>
#include <stdio.h>
static int count;
static void mine(omp_lock_t *l) { count += l != NULL; }
int main(void)
{
    omp_lock_t l;
    void (*omp_set_lock)(omp_lock_t *) = mine;
#pragma omp parallel num_threads(1)
    omp_set_lock(&l);
    return printf("%d\n", count) < 0;
}
C
own_locks "a pointer with the name of a lock function" gcc pointer.c
cat >member.cc <<'C'
#include <omp.h>
#include <cstdio>
struct L {
    omp_lock_t l;
    int n = 0;
    L() { omp_init_lock(&l); }
    void omp_set_lock(omp_lock_t *p) { n++; ::omp_set_lock(p); }
    void omp_unset_lock(omp_lock_t *p) { n++; ::omp_unset_lock(p); }
    void go() { omp_set_lock(&l); omp_unset_lock(&l); }
};
int main()
{
    L a;
#pragma omp parallel num_threads(2)
    a.go();
    return std::printf("%d\n", a.n) < 0;
}
C
cat >space.cc <<'C'
#include <omp.h>
#include <cstdio>
namespace serial {
int calls = 0;
int *omp_set_lock(int *l) { ++calls; return l; }
void work(int *l) { omp_set_lock(l); }
}
int main()
{
    omp_lock_t l;
    omp_init_lock(&l);
#pragma omp parallel num_threads(1)
    serial::work(nullptr);
    serial::omp_set_lock(nullptr);
    return std::printf("%d %d\n", serial::calls, omp_test_lock(&l)) < 0;
}
C
test -z "$gxx" || own_locks "members with names of lock functions" g++ member.cc
test -z "$gxx" || own_locks "a namespace with such names" g++ space.cc

# Other ways to write braces and brackets.
cat >digraph.c <<'C'
%:include <stdio.h>
int main(void)
<%
    int n = 0, m = 0, h<:2:> = <% 0 %>;
#pragma omp parallel num_threads(4) reduction(+ : h<:0:2:>)
    <%
        __atomic_fetch_add(&n, 1, 5);
        __atomic_fetch_add(&m, 1, 5);
        h<:1:>++;
    %>
%:pragma omp parallel for num_threads(4)
    for (int i = 0; i < 4; i++)
    <%
        __atomic_fetch_add(&n, 1, 5);
        __atomic_fetch_add(&m, 1, 5);
    %>
    return printf("%d %d %d <%% %%> <: :>\n", n, m, h<:1:>) < 0;
%>
C
as_before "digraphs" gcc digraph.c
cat >digraph.cc <<'C'
#include <cstdio>
#include <vector>
struct S { int v = 1; };
int main()
<%
    std::vector<::S> all(3);
    int n = 0;
#pragma omp parallel for reduction(+ : n)
    for (int i = 0; i < 3; i++) <% n += all<:i:>.v; %>
    return std::printf("%d %s\n", n, R"(<% " %>)") < 0;
%>
C
test -z "$gxx" || as_before "digraphs in C++" g++ digraph.cc

# Only what is named is switched off.
cat >off.c <<'C'
#include <stdio.h>
int main(void)
{
    int n = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task shared(n)
        n++;
#pragma omp taskwait
    }
    return printf("%d\n", n) < 0;
}
C
claim "without taskwait" $kinst --disable=omp:taskwait -- gcc -fopenmp off.c -o prog
claim "the result is there" same "$(OMPP_REPORTFILE=report.txt ./prog)" 1
claim "tasks are" grep -q '^TASK: 1 region' report.txt
claim "taskwait is not" not grep -q '^TASKWAIT: 1 region' report.txt

# ompp.h, and MPI by the path of its library.
printf '#include <ompp.h>\nint main(void)\n{\n#pragma omp parallel\n    { }\n    return 0;\n}\n' >header.c
claim "ompp.h is found" $kinst gcc -fopenmp header.c -o prog
claim "without OpenMP as well" $kinst gcc -c header.c
if test -f "$abs_top_builddir/.libs/libompp-mpi.so"; then
    touch libmpi.so libmpir.so
    of() { $kinst --dry-run gcc bare.o "$@" 2>&1 | grep -c libompp-mpi.so; }
    claim "a path of an MPI library" same "$(of ./libmpi.so)" 1
    claim "and of another one" same "$(of ./libmpir.so)" 0
fi

# Dependencies that the environment asks for, once.
DEPENDENCIES_OUTPUT=plain.d gcc -fopenmp -c bare.c; DEPENDENCIES_OUTPUT=ours.d $kinst gcc -fopenmp -c bare.c
claim "DEPENDENCIES_OUTPUT" cmp ours.d plain.d

# Programs that are not there.
for path in /nonexistent ./bare.c; do
    claim "--opari=$path says so" same "$($kinst --opari=$path gcc -fopenmp bare.c 2>&1)" \
        "kinst-ompp: --opari=$path: there is no such program"
    $kinst --opari=$path gcc -fopenmp bare.c 2>/dev/null; claim "--opari=$path: status 2" same $? 2
done
cat >only_locks.c <<'X'
#include <omp.h>
#include <stdio.h>
int main(void)
{
    omp_lock_t lock;
    omp_init_lock(&lock);
    int first = omp_test_lock(&lock), second = omp_test_lock(&lock);
    printf("%d %d\n", first, second);
    return 0;
}
X
claim "locks and nothing else of OpenMP: build" $kinst gcc -g -fopenmp only_locks.c -o only_locks
claim "locks and nothing else of OpenMP" same "$(./only_locks 2>/dev/null)" "1 0"
end_test
