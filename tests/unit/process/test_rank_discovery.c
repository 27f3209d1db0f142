/*
 * Processes that meet in a directory: all of them, some, too late, with ranks of several at once, and where killed ones
 * have been; they all think the same.
 */
#include "process/ompp_rank_discovery.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST = 1600 };

typedef struct {
    int n, met[MOST];
} result_t;

static char dir[] = "/tmp/ompp-test-meeting-XXXXXX";

/* Shared with children. */
static struct shared {
    result_t result[20];
    _Atomic int met; /* processes that know who has met */
    _Atomic int go;  /* they may leave */
} * shared;

static int set_up(void **state)
{
    (void)state;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return !mkdtemp(dir) || shared == MAP_FAILED;
}

static int tear_down(void **state)
{
    (void)state;
    return rmdir(dir); /* empty: places are cleared */
}

static void open_place(ompp_rank_discovery_t *discovery, const char *name)
{
    const char *dirs[] = {"/nowhere", dir, NULL};

    if (!ompp_rank_discovery_open(discovery, dirs, name)) _exit(1);
}

/* step: between ranks; 1 = they follow one another. */
static void hold(ompp_rank_discovery_t *discovery, int process, int per_process, int step, int all)
{
    const ompp_rank_discovery_limits_t limits = {all, 0.3, 5};
    result_t *result = &shared->result[process];
    int ranks[MOST], *met;

    for (int i = 0; i < per_process; i++) ranks[i] = (process * per_process + i) * step;
    result->n = ompp_rank_discovery_hold(discovery, ranks, per_process, &limits, &met);
    memcpy(result->met, met, (size_t)result->n * sizeof(int));
    free(met);
}

static void meet(const char *name, int process, int per_process, int step, int all)
{
    ompp_rank_discovery_t discovery;

    open_place(&discovery, name);
    ompp_rank_discovery_announce(&discovery);
    usleep((useconds_t)(process * 700 % 5000));
    hold(&discovery, process, per_process, step, all);
    shared->met++;
    while (!shared->go) usleep(1000);
    ompp_rank_discovery_leave(&discovery);
}

static void start(const char *name, int first, int processes, int per_process, int step, int all)
{
    shared->met = shared->go = 0;
    for (int p = first; p < first + processes; p++)
        if (fork() == 0) {
            meet(name, p, per_process, step, all);
            _exit(0);
        }
    while (shared->met < processes) usleep(1000);
}

static void end(int processes)
{
    shared->go = 1;
    for (int status, p = 0; p < processes; p++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
}

static void expect(int first, int processes, int ranks)
{
    for (int p = first; p < first + processes; p++) {
        assert_int_equal(shared->result[p].n, ranks);
        for (int i = 0; i < ranks; i++) assert_int_equal(shared->result[p].met[i], first + i);
    }
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void all_come(void **state)
{
    (void)state;
    for (int round = 0; round < 10; round++) {
        start("all", 0, 20, 1, 1, 20);
        end(20);
        expect(0, 20, 20);
    }
}

static void some_come(void **state)
{
    (void)state;
    start("some", 0, 3, 1, 1, 4);
    end(3);
    expect(0, 3, 3);
}

static void several_ranks_each(void **state)
{
    (void)state;
    start("several", 0, 4, 10, 1, 40);
    end(4);
    expect(0, 4, 40);
}

/* What is settled stays: whoever comes later is alone, and leaves to the others what they go by. */
static void too_late(void **state)
{
    ompp_rank_discovery_t discovery;
    char met[sizeof discovery.place + 10];
    struct stat st;

    (void)state;
    start("late", 0, 2, 1, 1, 3);
    expect(0, 2, 2);
    open_place(&discovery, "late");
    snprintf(met, sizeof met, "%s/met.0", discovery.place);
    hold(&discovery, 2, 1, 1, 3);
    expect(2, 1, 1);
    ompp_rank_discovery_leave(&discovery);
    assert_int_equal(lstat(met, &st), 0);
    end(2);
    assert_int_not_equal(lstat(met, &st), 0);
}

/* A job that was killed when it had met: its ranks are not counted, and nobody goes by what it has settled. */
static void killed_before(void **state)
{
    pid_t killed[3];
    int status;

    (void)state;
    shared->met = shared->go = 0;
    for (int p = 0; p < 3; p++)
        if ((killed[p] = fork()) == 0) meet("killed", p, 1, 1, 3);
    while (shared->met < 3) usleep(1000);
    for (int p = 0; p < 3; p++) kill(killed[p], SIGKILL);
    for (int p = 0; p < 3; p++) assert_true(wait(&status) > 0);
    start("killed", 1, 2, 1, 1, 3);
    end(2);
    expect(1, 2, 2);
}

/* Nobody waits for a process that was killed before it came. */
static void killed_announced(void **state)
{
    ompp_rank_discovery_t discovery;
    const double began = seconds();
    int status;

    (void)state;
    if (fork() == 0) {
        open_place(&discovery, "announced");
        ompp_rank_discovery_announce(&discovery);
        kill(getpid(), SIGKILL);
    }
    assert_true(wait(&status) > 0);
    start("announced", 0, 2, 1, 1, 3);
    end(2);
    expect(0, 2, 2);
    assert_true(seconds() - began < 3);
}

/* More than a text holds: that nobody has met is settled as well, at once, and for whoever comes later. */
static void too_many(void **state)
{
    const double began = seconds();
    ompp_rank_discovery_t discovery;

    (void)state;
    start("many", 0, 4, 400, 3, 1600);
    assert_true(seconds() - began < 3);
    for (int p = 0; p < 4; p++) assert_int_equal(shared->result[p].n, 400);
    open_place(&discovery, "many");
    hold(&discovery, 4, 1, 1, 1);
    assert_int_equal(shared->result[4].n, 1);
    char text[4096], met[sizeof discovery.place + 10];
    snprintf(met, sizeof met, "%s/met.0", discovery.place);
    ssize_t n = readlink(met, text, sizeof text);
    assert_true(n > 0 && text[n - 1] == ' '); /* no ranks */
    snprintf(met, sizeof met, "%s/met.1", discovery.place);
    assert_true(readlink(met, text, sizeof text) < 0);
    ompp_rank_discovery_leave(&discovery);
    end(4);
}

/* An announced process that waits to be killed, or is killed; its place was last changed long ago. */
static pid_t announce(const char *name, bool killed, char place[])
{
    ompp_rank_discovery_t discovery;
    int status;

    open_place(&discovery, name);
    strcpy(place, discovery.place);
    shared->go = 0;
    const pid_t pid = fork();
    if (pid == 0) {
        ompp_rank_discovery_announce(&discovery);
        shared->go = 1;
        pause();
    }
    while (!shared->go) usleep(1000);
    if (killed) {
        kill(pid, SIGKILL);
        assert_true(wait(&status) == pid);
    }
    const struct timeval long_ago[2] = {{time(NULL) - 300, 0}, {time(NULL) - 300, 0}};
    assert_int_equal(utimes(place, long_ago), 0);
    return pid;
}

/* What killed jobs have left goes with the next meeting beside it; what others use, or is not of a meeting, stays. */
static void swept(void **state)
{
    ompp_rank_discovery_t discovery;
    char gone[sizeof discovery.place], lives[sizeof discovery.place], other[sizeof discovery.place],
        file[sizeof discovery.place + 10];
    int status;

    (void)state;
    announce("swept", true, gone);
    announce("with a file", true, other);
    snprintf(file, sizeof file, "%s/notes", other);
    assert_int_equal(symlink("x", file), 0);
    assert_int_equal(utimes(other, (struct timeval[2]){{time(NULL) - 300, 0}, {time(NULL) - 300, 0}}), 0);
    const pid_t pid = announce("alive", false, lives);
    open_place(&discovery, "next");
    assert_int_not_equal(access(gone, F_OK), 0);
    assert_int_equal(access(lives, F_OK), 0);
    assert_int_equal(access(other, F_OK), 0);
    ompp_rank_discovery_announce(&discovery);
    ompp_rank_discovery_leave(&discovery);
    kill(pid, SIGKILL);
    assert_true(wait(&status) == pid);
    unlink(file);
    open_place(&discovery, "one more");
    assert_int_equal(access(other, F_OK), 0); /* it was changed just now */
    assert_int_equal(utimes(other, (struct timeval[2]){{1000, 0}, {1000, 0}}), 0);
    ompp_rank_discovery_leave(&discovery);
    open_place(&discovery, "the last");
    assert_int_not_equal(access(other, F_OK), 0);
    assert_int_not_equal(access(lives, F_OK), 0);
    ompp_rank_discovery_leave(&discovery);
}

/* A process whose place is swept before it says that it comes: it says it all the same. */
static void place_is_gone(void **state)
{
    ompp_rank_discovery_t discovery;

    (void)state;
    open_place(&discovery, "again");
    assert_int_equal(rmdir(discovery.place), 0);
    ompp_rank_discovery_announce(&discovery);
    assert_int_equal(access(discovery.place, F_OK), 0);
    ompp_rank_discovery_leave(&discovery);
}

/* Visits names of a directory that begin so. \return their number. */
static int visit(const char *place, const char *begin, void (*what)(const char *path))
{
    DIR *names = opendir(place);
    const struct dirent *entry;
    char path[4700];
    int n = 0;

    assert_non_null(names);
    while ((entry = readdir(names))) {
        if (strncmp(entry->d_name, begin, strlen(begin)) != 0 || *entry->d_name == '.') continue;
        snprintf(path, sizeof path, "%s/%s", place, entry->d_name);
        if (what) what(path);
        n++;
    }
    closedir(names);
    return n;
}

static void drop(const char *path) { unlink(path); }

static void clear(const char *place)
{
    visit(place, "", drop);
    assert_int_equal(rmdir(place), 0);
}

/*
 * Who may write to the directory above puts something else in the place's stead: a link to what this user has
 * elsewhere, or a directory of this user's own. Nothing in it goes, and nothing comes but names of the meeting.
 */
static void place_is_replaced(void **state)
{
    char precious[] = "/tmp/ompp-test-precious-XXXXXX", file[sizeof precious + 10], away[sizeof dir + 10],
         other[sizeof dir + 10];
    struct stat st;

    (void)state;
    assert_non_null(mkdtemp(precious));
    snprintf(file, sizeof file, "%s/thesis", precious);
    snprintf(away, sizeof away, "%s/away", dir);
    snprintf(other, sizeof other, "%s/x", precious);
    for (int when = 0; when < 3; when++)
        for (int link = 0; link < 2; link++) {
            ompp_rank_discovery_t discovery;
            close(open(file, O_CREAT | O_WRONLY, 0600));
            open_place(&discovery, "replaced");
            for (int step = 0; step < 3; step++) {
                if (step == when) {
                    assert_int_equal(rename(discovery.place, away), 0);
                    assert_int_equal(link ? symlink(precious, discovery.place) : rename(precious, discovery.place), 0);
                }
                if (step == 0) ompp_rank_discovery_announce(&discovery);
                else if (step == 1) hold(&discovery, 0, 1, 1, 1);
            }
            char place[sizeof discovery.place];
            strcpy(place, discovery.place);
            ompp_rank_discovery_leave(&discovery);
            expect(0, 1, 1);
            assert_int_equal(link ? unlink(place) : rename(place, precious), 0);
            assert_int_equal(lstat(file, &st), 0);
            assert_int_equal(unlink(file), 0);
            assert_int_equal(rmdir(precious), 0); /* empty */
            assert_int_equal(mkdir(precious, 0700), 0);
            clear(away);
        }
    rmdir(precious);
}

/* Who has come goes by what is settled where he has come, whatever is under that name now. */
static void place_is_moved(void **state)
{
    ompp_rank_discovery_t discovery;
    char away[sizeof dir + 10], met[sizeof away + 10];
    int status;

    (void)state;
    snprintf(away, sizeof away, "%s/away", dir);
    snprintf(met, sizeof met, "%s/met.0", away);
    open_place(&discovery, "moved");
    if (fork() == 0) {
        hold(&discovery, 0, 1, 1, 2);
        _exit(0);
    }
    while (visit(discovery.place, "here.", NULL) == 0) usleep(1000);
    assert_int_equal(rename(discovery.place, away), 0);
    assert_int_equal(symlink("x 0-1", met), 0);
    assert_true(wait(&status) > 0);
    expect(0, 1, 2);
    clear(away);
}

/* A process that ends before it comes leaves nothing. */
static void not_at_all(void **state)
{
    ompp_rank_discovery_t discovery;
    char place[sizeof discovery.place];

    (void)state;
    open_place(&discovery, "not at all");
    strcpy(place, discovery.place);
    ompp_rank_discovery_announce(&discovery);
    ompp_rank_discovery_leave(&discovery);
    assert_int_not_equal(access(place, F_OK), 0);
}

static void no_place(void **state)
{
    const char *dirs[] = {"/proc", NULL};
    const ompp_rank_discovery_limits_t limits = {2, 10, 10};
    ompp_rank_discovery_t discovery;
    int me = 1, *met;

    (void)state;
    assert_false(ompp_rank_discovery_open(&discovery, dirs, "none"));
    ompp_rank_discovery_announce(&discovery);
    assert_int_equal(ompp_rank_discovery_hold(&discovery, &me, 1, &limits, &met), 1);
    assert_int_equal(met[0], 1);
    free(met);
    ompp_rank_discovery_leave(&discovery);
}

/* A write would end the process. */
static void no_files(void **state)
{
    (void)state;
    if (fork() == 0) {
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0});
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){5, 5});
        shared->go = 1;
        meet("limits", 0, 1, 1, 1);
        _exit(0);
    }
    int status;
    wait(&status);
    assert_int_equal(status, 0);
    expect(0, 1, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_come),          cmocka_unit_test(some_come),      cmocka_unit_test(several_ranks_each),
        cmocka_unit_test(too_late),          cmocka_unit_test(killed_before),  cmocka_unit_test(killed_announced),
        cmocka_unit_test(too_many),          cmocka_unit_test(not_at_all),     cmocka_unit_test(no_place),
        cmocka_unit_test(no_files),          cmocka_unit_test(swept),          cmocka_unit_test(place_is_gone),
        cmocka_unit_test(place_is_replaced), cmocka_unit_test(place_is_moved),
    };

    alarm(120); /* a child that does not come would be waited for without end */
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
