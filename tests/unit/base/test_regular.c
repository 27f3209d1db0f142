/* Reading what others have named: nothing is waited for, and what is no regular file is not even opened. */
#define _GNU_SOURCE
#include "base/ompp_regular.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/ompp-test-regular-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    return !mkdtemp(dir) || chdir(dir) != 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink("file"), unlink("link"), unlink("pipe");
    return rmdir(dir);
}

static void files(void **state)
{
    int fd = open("file", O_CREAT | O_WRONLY, 0600);
    char c;

    (void)state;
    assert_int_equal(write(fd, "x", 1), 1);
    close(fd);
    assert_int_equal(symlink("file", "link"), 0);
    fd = ompp_regular_open("link");
    assert_int_equal(read(fd, &c, 1), 1);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    close(fd);
    assert_int_equal(ompp_regular_open("none"), -1);
    assert_int_equal(errno, ENOENT);
}

static void others(void **state)
{
    static const char *const names[] = {"pipe", ".", "/dev/null"};
    char event[4096];
    const int watch = inotify_init1(IN_NONBLOCK);

    (void)state;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_true(inotify_add_watch(watch, "pipe", IN_OPEN) >= 0);
    alarm(20); /* a pipe that is waited for */
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_int_equal(ompp_regular_open(names[i]), -1);
        assert_int_equal(errno, EACCES);
    }
    assert_int_equal(read(watch, event, sizeof event), -1);
    alarm(0);
    close(watch);
}

/* Whoever has it would be given 45 s to give it back. */
static void leased(void **state)
{
    const int fd = open("file", O_RDWR);

    (void)state;
    signal(SIGIO, SIG_IGN);
    if (fcntl(fd, F_SETLEASE, F_WRLCK) != 0) skip(); /* no leases on this file system */
    alarm(20);
    if (fork() == 0) {
        const int got = ompp_regular_open("file");
        _exit(got < 0 && errno == EWOULDBLOCK ? 0 : 1);
    }
    int status;
    wait(&status);
    assert_int_equal(status, 0);
    alarm(0);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(files), cmocka_unit_test(others), cmocka_unit_test(leased)};

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
