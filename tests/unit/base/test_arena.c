/* Growth, cap, a file system that is full (by RLIMIT_FSIZE), and the child after a fork. */
#include "base/ompp_arena.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const here[] = {".", NULL}, *const nowhere[] = {"/nonexistent", NULL}, *const none[] = {NULL};

static void grows_to_cap(void **state)
{
    ompp_arena_t a;
    ompp_off_t last = 0, at;
    unsigned n = 0;

    (void)state;
    assert_int_equal(ompp_arena_open(&a, none, "x", 1 << 20), 0);
    assert_string_equal(a.path, "");
    assert_string_not_equal(a.why, "");
    while ((at = ompp_arena_take(&a, 1000)) != 0) {
        assert_int_equal(at % 16, 0);
        assert_true(at > last);
        for (unsigned i = 0; i < 1000; i++) assert_int_equal(a.base[at + i], 0);
        memset(a.base + at, 0xff, 1000);
        last = at;
        n++;
    }
    assert_int_equal(n, ((1 << 20) - 16) / 1008);
    assert_int_equal(a.mapped, 1 << 20);
    assert_int_equal(ompp_arena_take(&a, 2 << 20), 0);
    ompp_arena_close(&a, false);
}

static void has_a_file(void **state)
{
    ompp_arena_t a;
    struct stat what;

    (void)state;
    assert_int_equal(ompp_arena_open(&a, here, "test_arena.file", 1 << 20), 0);
    assert_string_equal(a.path, "./test_arena.file");
    assert_string_equal(a.why, "");
    assert_int_equal(stat("test_arena.file", &what), 0);
    assert_true((uint64_t)what.st_size == a.mapped && (uint64_t)what.st_blocks * 512 >= a.mapped); /* not sparse */
    ompp_arena_close(&a, true);
    assert_int_equal(stat("test_arena.file", &what), 0);
    assert_int_equal(ompp_arena_open(&a, here, "test_arena.file", 1 << 20), 0); /* never takes over a file */
    assert_string_equal(a.path, "");
    ompp_arena_close(&a, false);
    unlink("test_arena.file");
    assert_int_equal(ompp_arena_open(&a, nowhere, "x", 1 << 20), 0);
    assert_string_equal(a.path, "");
    ompp_arena_close(&a, false);
}

/* In a child: SIGXFSZ or SIGBUS would end it. */
static int use_when_full(void)
{
    struct rlimit limit = {300 << 10, 300 << 10};
    ompp_arena_t a;

    setrlimit(RLIMIT_FSIZE, &limit);
    if (ompp_arena_open(&a, here, "test_arena.full", 1 << 20) != 0 || !a.path[0] || a.full) return 1;
    ompp_off_t at = ompp_arena_take(&a, 900 << 10);
    if (!at || !a.full || !a.why[0]) return 2;
    memset(a.base + at, 1, 900 << 10);
    ompp_arena_close(&a, false);
    return 0;
}

/* In a child of the arena's process: what it writes stays its own. */
static int use_after_fork(ompp_arena_t *a, ompp_off_t at)
{
    ompp_arena_detach(a);
    if (a->base[at] != 0 || a->path[0]) return 1;
    memset(a->base + at, 7, 64);
    ompp_off_t more = ompp_arena_take(a, 300 << 10);
    if (!more) return 2;
    memset(a->base + more, 7, 300 << 10);
    ompp_arena_close(a, false);
    return 0;
}

static void full_file_system(void **state)
{
    int status;

    (void)state;
    pid_t pid = fork();
    if (pid == 0) _exit(use_when_full());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_not_equal(access("test_arena.full", F_OK), 0);
}

/* A program that closes what it did not open, and gets our numbers for its own files, keeps its files. */
static void foreign_descriptors(void **state)
{
    char text[16] = "";
    ompp_arena_t a;

    (void)state;
    assert_int_equal(ompp_arena_open(&a, here, "test_arena.closed", 1 << 20), 0);
    for (int fd = 3; fd < 64; fd++) close(fd);
    int own = open("test_arena.own", O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(own, "mine", 4), 4);
    ompp_off_t at = ompp_arena_take(&a, 600 << 10);
    assert_int_not_equal(at, 0);
    memset(a.base + at, 9, 600 << 10);
    assert_int_equal(pread(own, text, sizeof text, 0), 4);
    assert_string_equal(text, "mine");
    ompp_arena_close(&a, false);
    assert_int_equal(fcntl(own, F_GETFD), 0);
    close(own);
    unlink("test_arena.own");
}

static void fork_detaches(void **state)
{
    ompp_arena_t a;
    int status;

    (void)state;
    assert_int_equal(ompp_arena_open(&a, here, "test_arena.fork", 1 << 20), 0);
    ompp_off_t at = ompp_arena_take(&a, 64);
    memset(a.base + at, 3, 64);
    pid_t pid = fork();
    if (pid == 0) _exit(use_after_fork(&a, at));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(a.base[at], 3);
    assert_int_equal(access("test_arena.fork", F_OK), 0);
    ompp_arena_close(&a, false);
    assert_int_not_equal(access("test_arena.fork", F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_to_cap),        cmocka_unit_test(has_a_file),    cmocka_unit_test(full_file_system),
        cmocka_unit_test(foreign_descriptors), cmocka_unit_test(fork_detaches),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
