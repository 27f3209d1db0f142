#!/bin/sh
# Programs that end threads, stacks, libraries and descriptors under the measurement's feet: they must not notice.
lib=$abs_top_builddir/.libs
[ -f "$lib/libompp.so" ] || { echo "SKIP: $lib/libompp.so is not there"; exit 77; }
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ompp-harm.XXXXXX") || exit 1
trap 'cd /; rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failed=0
claim() {
    name=$1
    shift
    if "$@"; then echo "ok - $name"; else echo "not ok - $name"; failed=1; fi
}
same() { [ "$1" = "$2" ] || { echo "#   expected '$2', is '$1'"; return 1; }; }
build() { ${CC-gcc} -g -pthread -I"$abs_top_srcdir/include" "$@" -L"$lib" -Wl,--no-as-needed -lompp -Wl,-rpath,"$lib" -ldl || exit 1; }

cat >plugin.c <<'C'
#include "ompp.h"
void work(void) { ompp_region_begin("plugin"); ompp_region_end("plugin"); }
C
cat >host.c <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
static void *handle;
static void *run(void *unused)
{
    ((void (*)(void))dlsym(handle, "work"))();
    dlclose(handle);
    return unused;
}
int main(void)
{
    pthread_t thread;
    handle = dlopen("./plugin.so", RTLD_NOW);
    if (!handle) return 1;
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
    puts("done");
    return 3;
}
C
build -shared -fPIC plugin.c -o plugin.so
${CC-gcc} -pthread host.c -o host -ldl || exit 1
out=$(./host 2>/dev/null)
claim "a plug-in that was measured is closed: exit status" same $? 3
claim "a plug-in that was measured is closed: output" same "$out" done

cat >stack.c <<'C'
#include "ompp.h"
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
static void *run(void *unused)
{
    ompp_region_begin("small");
    ompp_region_end("small");
    exit(7);
    return unused;
}
int main(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
    if (pthread_create(&thread, &attributes, run, NULL)) return 1;
    pthread_join(thread, NULL);
    return 2;
}
C
build stack.c -o stack
./stack
claim "exit() on the smallest stack: exit status" same $? 7
claim "exit() on the smallest stack: a report" test -f stack.1-0.ompp.txt -o -f stack.2-0.ompp.txt

cat >threads.c <<'C'
#include "ompp.h"
#include <pthread.h>
static void *run(void *unused)
{
    ompp_region_begin("thread");
    ompp_region_end("thread");
    return unused;
}
int main(void)
{
    pthread_t thread;
    for (int i = 0; i < 3000; i++) {
        if (pthread_create(&thread, NULL, run, NULL)) return 1;
        pthread_join(thread, NULL);
    }
    return 0;
}
C
build threads.c -o threads
OMPP_MEMORY=512k ./threads
claim "3000 threads one after the other: exit status" same $? 0
claim "a row for each that is alive at a time" grep -q '^ SUM .* 3000$' threads.1-0.ompp.txt

cat >crash.c <<'C'
#include "ompp.h"
#include <signal.h>
#include <time.h>
int main(void)
{
    struct timespec t = {0, 50000000};
    for (int i = 0; i < 3; i++) {
        ompp_region_begin("step");
        nanosleep(&t, NULL);
        ompp_region_end("step");
    }
    ompp_region_begin("last");
    raise(SIGKILL);
    return 0;
}
C
build crash.c -o crash
mkdir job
OMPP_JOB_DIR=job ./crash
claim "a program that is killed: exit status" same $? 137
"$abs_top_builddir/ompp-report" convert job/ompp-* >/dev/null
claim "what it left becomes a report" grep -q "^Type of Report  : incomplete" crash.1-0.ompp.txt
claim "with the regions that ended" grep -q '^ SUM .* 3$' crash.1-0.ompp.txt
claim "and the one that was open" grep -q "('last')" crash.1-0.ompp.txt
cat >crash-later.c <<'C'
#include "ompp.h"
#include <signal.h>
#include <time.h>
int main(void)
{
    struct timespec t = {0, 50000000};
    for (int i = 0; i < 3; i++) {
        ompp_region_begin("step");
        nanosleep(&t, NULL);
        ompp_region_end("step");
    }
    nanosleep(&t, NULL);
    raise(SIGKILL);
    return 0;
}
C
build crash-later.c -o crash-later
OMPP_JOB_DIR=job2 ./crash-later
"$abs_top_builddir/ompp-report" merge --digits=3 --remove job2 >/dev/null
claim "the end of a region is the last event" grep -Eq "last event was (0\.(1[5-9]|[2-9])|[1-9][0-9]?\.).* s after" crash-later.1-0.ompp.txt
claim "the directory is made, and what was read is removed" same "$(ls job2)" ""

cat >again.c <<'C'
#include "ompp.h"
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    (void)argc;
    ompp_region_begin("step");
    ompp_region_end("step");
    if (getenv("AGAIN")) return 0;
    setenv("AGAIN", "1", 1);
    execv(argv[0], argv);
    return 1;
}
C
build again.c -o again
OMPP_JOB_DIR=job2 ./again 2>/dev/null
claim "a program that executes itself: a report of what came last" test -f again.1-0.ompp.txt
claim "and no file of what was before" same "$(ls job2)" ""

OMPP_JOB_DIR=job ./threads

cat >metric.c <<'C'
#include "runtime/ompp_event.h"
#include "runtime/ompp_metric.h"
int main(void)
{
    const ompp_metric_row_t rows[] = {
        {"apples", OMPP_UNIT_COUNT, OMPP_QUALITY_EXACT, OMPP_REDUCE_SUM, OMPP_REDUCE_SUM, "test", "a metric of a component"},
        {"pears", OMPP_UNIT_BYTES, OMPP_QUALITY_SAMPLED, OMPP_REDUCE_SUM, OMPP_REDUCE_MAX, "test", "another"}};
    ompp_region_def_t def = {.construct = OMPP_CONSTRUCT_USER_REGION, .file = "metric.c", .name = "counted", .begin = 1, .end = 2};
    unsigned set = ompp_metric_register(rows, 2);
    ompp_region_ref_t region = ompp_region_define(&def);
    for (int i = 0; i < 3; i++) {
        ompp_event_enter(region, ompp_event_now());
        ompp_event_add(set, 1, 1000);
        ompp_event_add(set, 7, 1); /* there is none: ignored */
        ompp_event_exit(region, ompp_event_now());
    }
    return set >= OMPP_SET_FIRST_FREE ? 0 : 1;
}
C
build -I"$abs_top_srcdir/src" metric.c -o metric
./metric
claim "a metric registered at run time: exit status" same $? 0
claim "it is described in the profile" grep -q pears metric.1-0.ompp.xml
claim "its values are in the profile" grep -q '0 3000' metric.1-0.ompp.xml

cat >deep.c <<'C'
#include "ompp.h"
static void nest(int n)
{
    if (n == 0) return;
    ompp_region_begin("odd");
    ompp_region_begin("even");
    nest(n - 1);
    ompp_region_end("even");
    ompp_region_end("odd");
}
int main(void)
{
    nest(500);
    nest(500);
    return 0;
}
C
build deep.c -o deep
./deep 2>/dev/null
measured=$(sed -n 's/.*name="\(odd\|even\)".*/&/p' deep.1-0.ompp.xml | wc -l)
claim "regions nested too deeply: two regions" same "$measured" 2
entered=$("$abs_top_builddir/ompp-report" csv deep.1-0.ompp.xml | awk -F, '/^##BEG flat/ {on = 1} on && $1 == "SUM" {n += $3} /^##END flat/ {on = 0} END {print n}')
dropped=$(sed -n 's/^region entries dropped: \([0-9]*\) (nested too deeply)$/\1/p' deep.1-0.ompp.txt)
claim "each entry is measured or counted as dropped" same "$((${entered:-0} + ${dropped:-0}))" 2000

cat >back.c <<'C'
#include <setjmp.h>
static jmp_buf place;
static volatile int sink;
void after(void) { sink++; }
void again(int n)
{
    if (n == 3 && setjmp(place)) return;
    if (n == 0) longjmp(place, 1);
    again(n - 1);
    sink++;
}
int main(void)
{
    again(3);
    after();
    return 0;
}
C
build -O0 -finstrument-functions back.c -o back
./back 2>/dev/null
claim "longjmp to the outer level of a recursive function: it has ended" \
    sh -c "! grep -A1 \"|-.*'again'\" back.1-0.ompp.txt | grep -q \"|  .*'after'\""
claim "the levels that were left are counted" grep -q '^functions that ended without saying so (longjmp, exceptions): 3$' back.1-0.ompp.txt

cat >cancel.c <<'C'
/* A thread with a pending cancel runs to its end when the program has no cancellation point: ours must not be one. */
#include "ompp.h"

#include <pthread.h>
#include <stdio.h>

static volatile int cancelled, finished;

static void *work(void *unused)
{
    char name[32];

    (void)unused;
    while (!cancelled) {
    }
    for (int i = 0; i < 5000; i++) {
        name[0] = 'a' + i % 26, name[1] = 'a' + i / 26 % 26, name[2] = 'a' + i / 676, name[3] = '\0';
        ompp_region_begin(name);
        ompp_region_end(name);
    }
    finished = 1;
    return NULL;
}

int main(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, work, NULL);
    pthread_cancel(thread);
    cancelled = 1;
    pthread_join(thread, NULL);
    printf("finished: %d\n", finished);
    ompp_region_begin("later");
    ompp_region_end("later");
    return !finished;
}
C
build cancel.c -o cancel
out=$(timeout 60 ./cancel 2>/dev/null)
claim "a thread with a pending cancel is not cancelled in our code" same "$out" "finished: 1"

cat >first.c <<'C'
#include "ompp.h"
#include <unistd.h>
int main(void)
{
    ompp_region_begin("first");
    usleep(200000);
    ompp_region_end("first");
    return 0;
}
C
build first.c -o first
OMPP_TIME_DIGITS=3 ./first 2>/dev/null
claim "the process's first event has its time" grep -Eq "^ SUM +(0\.[2-9]|[1-9][0-9]?\.)[0-9]* +1$" first.1-0.ompp.txt

claim "a good end leaves nothing" same "$(ls job | wc -l)" 1
exit $failed
