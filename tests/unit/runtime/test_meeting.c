/* Processes that meet in a directory: all of them, some, too late, and with ranks of several at once; they all think the same. */
#include "runtime/ompp_meeting.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST = 40 };

typedef struct {
    int n, met[MOST];
} result_t;

static char dir[] = "/tmp/ompp-test-meeting-XXXXXX";
static result_t *results; /* [MOST] shared with children */

static int set_up(void **state)
{
    (void)state;
    results = mmap(NULL, MOST * sizeof *results, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return !mkdtemp(dir) || results == MAP_FAILED;
}

static int tear_down(void **state)
{
    (void)state;
    return rmdir(dir); /* empty: places are cleared */
}

static void meet(const char *name, int process, int per_process, int all)
{
    const char *dirs[] = {"/nowhere", dir, NULL};
    const ompp_meeting_limits_t limits = {all, 0.3, 5};
    ompp_meeting_t meeting;
    int ranks[MOST], *met;

    for (int i = 0; i < per_process; i++) ranks[i] = process * per_process + i;
    if (!ompp_meeting_open(&meeting, dirs, name)) _exit(1);
    ompp_meeting_announce(&meeting);
    usleep((useconds_t)(process * 700 % 5000));
    results[process].n = ompp_meeting_hold(&meeting, ranks, per_process, &limits, &met);
    memcpy(results[process].met, met, (size_t)results[process].n * sizeof(int));
}

static void run(const char *name, int processes, int per_process, int all)
{
    for (int p = 0; p < processes; p++)
        if (fork() == 0) {
            meet(name, p, per_process, all);
            _exit(0);
        }
    for (int status, p = 0; p < processes; p++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
}

static void clear(const char *name)
{
    const char *dirs[] = {dir, NULL};
    ompp_meeting_t meeting;

    assert_true(ompp_meeting_open(&meeting, dirs, name));
    ompp_meeting_clear(&meeting);
}

static void expect(int processes, int ranks)
{
    for (int p = 0; p < processes; p++) {
        assert_int_equal(results[p].n, ranks);
        for (int i = 0; i < ranks; i++) assert_int_equal(results[p].met[i], i);
    }
}

static void all_come(void **state)
{
    (void)state;
    for (int round = 0; round < 10; round++) {
        run("all", 20, 1, 20);
        expect(20, 20);
        clear("all");
    }
}

static void some_come(void **state)
{
    (void)state;
    run("some", 3, 1, 4);
    expect(3, 3);
    clear("some");
}

static void several_ranks_each(void **state)
{
    (void)state;
    run("several", 4, 10, MOST);
    expect(4, MOST);
    clear("several");
}

/* What is settled stays: whoever comes later is alone. */
static void too_late(void **state)
{
    (void)state;
    run("late", 2, 1, 3);
    expect(2, 2);
    meet("late", 2, 1, 3);
    assert_int_equal(results[2].n, 1);
    assert_int_equal(results[2].met[0], 2);
    clear("late");
}

/* A process that ends before it comes leaves nothing. */
static void not_at_all(void **state)
{
    const char *dirs[] = {dir, NULL};
    ompp_meeting_t meeting;
    char place[sizeof meeting.place];

    (void)state;
    assert_true(ompp_meeting_open(&meeting, dirs, "not at all"));
    strcpy(place, meeting.place);
    ompp_meeting_announce(&meeting);
    ompp_meeting_leave(&meeting);
    assert_int_not_equal(access(place, F_OK), 0);
}

static void no_place(void **state)
{
    const char *dirs[] = {"/proc", NULL};
    const ompp_meeting_limits_t limits = {2, 10, 10};
    ompp_meeting_t meeting;
    int me = 1, *met;

    (void)state;
    assert_false(ompp_meeting_open(&meeting, dirs, "none"));
    ompp_meeting_announce(&meeting);
    assert_int_equal(ompp_meeting_hold(&meeting, &me, 1, &limits, &met), 1);
    assert_int_equal(met[0], 1);
    free(met);
    ompp_meeting_clear(&meeting);
}

/* A write would end the process. */
static void no_files(void **state)
{
    (void)state;
    if (fork() == 0) {
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0});
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){5, 5});
        meet("limits", 0, 1, 1);
        _exit(0);
    }
    int status;
    wait(&status);
    assert_int_equal(status, 0);
    expect(1, 1);
    clear("limits");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_come), cmocka_unit_test(some_come), cmocka_unit_test(several_ranks_each),
                                       cmocka_unit_test(too_late), cmocka_unit_test(not_at_all), cmocka_unit_test(no_place),
                                       cmocka_unit_test(no_files)};

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
