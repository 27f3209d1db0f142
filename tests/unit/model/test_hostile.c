/*
 * Arenas that somebody has made: circles, links to themselves and to anywhere in every kind of record, numbers that
 * lie. Each is read to an end in little time, and what was read is a profile. By hand: test_hostile RUNS [SEED].
 */
#define _GNU_SOURCE
#include "hostile_arena.h"

#include "model/ompp_collect.h"
#include "model/ompp_pack.h"
#include "model/ompp_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <time.h>

#include <cmocka.h>

#ifdef OMPP_TEST_SANITIZED
enum { RUNS = 1000, SECONDS = 5, SECONDS_ALL = 300 };
#else
enum { RUNS = 10000, SECONDS = 1, SECONDS_ALL = 100 };
#endif
static const uint32_t sizes[] = {HOSTILE_LEAST, 32768, 65536};
static unsigned long runs = RUNS, seed = 1;
static double longest, all;
static unsigned nread;

static double processor_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* \return whether there was a profile in it. */
static bool read_it(int fd, const char *what, unsigned long number)
{
    ompp_profile_t *profile = NULL, *copy;
    void *data;
    uint64_t bytes;

    assert_int_equal(pwrite(fd, hostile.base, hostile.size, 0), hostile.size);
    assert_int_equal(ftruncate(fd, hostile.size), 0);
    alarm(SECONDS_ALL); /* ends what does not end */
    const double begin = processor_seconds();
    const int rc = ompp_collect_fd(fd, &profile, NULL);
    const double took = processor_seconds() - begin;
    if (took > longest) longest = took;
    if (took > SECONDS) print_error("%s, %lu: %.3f s\n", what, number, took);
    assert_true(took <= SECONDS);
    all += took;
    if (rc != 0) return false;
    assert_int_equal(ompp_pack(profile, &data, &bytes), 0);
    assert_int_equal(ompp_unpack(data, bytes, &copy), 0);
    ompp_profile_free(copy);
    ompp_profile_free(profile);
    free(data);
    return true;
}

static void each_link(void **fd)
{
    static char base[262144];

    hostile_build(base, sizeof base, 'x');
    const unsigned n = hostile.nlinks;
    assert_true(read_it(*(int *)*fd, "unchanged", 0));
    for (unsigned i = 0; i < n; i++)
        for (unsigned way = 0; way < HOSTILE_WAYS; way++) {
            hostile_build(base, sizeof base, 'x');
            hostile_bend(&hostile.links[i], way);
            read_it(*(int *)*fd, hostile.links[i].name, way);
        }
}

static void many(void **fd)
{
    static char base[262144];

    for (unsigned long i = 0; i < runs; i++) {
        hostile_build(base, sizes[i % (sizeof sizes / sizeof sizes[0])], i % 2 ? 'x' : '\0');
        hostile_mutate(seed + i);
        nread += read_it(*(int *)*fd, "seed", seed + i);
        assert_true(all < SECONDS_ALL);
    }
    print_message("%lu arenas, %u with a profile in it, %.2f s of processor time, longest %.3f s\n", runs, nread, all,
                  longest);
}

static int open_file(void **state)
{
    static int fd;

    *state = &fd;
    return (fd = memfd_create("hostile", MFD_CLOEXEC)) < 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_link), cmocka_unit_test(many)};

    if (argc > 1) runs = strtoul(argv[1], NULL, 0);
    if (argc > 2) seed = strtoul(argv[2], NULL, 0);
    return cmocka_run_group_tests(tests, open_file, NULL);
}
