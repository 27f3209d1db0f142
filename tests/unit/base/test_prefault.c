/* Pages are there before they are touched, contents stay, and what cannot be done does no harm. */
#define _GNU_SOURCE
#include "base/ompp_arena.h"
#include "base/ompp_prefault.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#define PAGES 16u

static size_t page;

static unsigned there(void *at)
{
    unsigned char in[PAGES];
    unsigned n = 0;

    assert_int_equal(mincore(at, PAGES * page, in), 0);
    for (unsigned i = 0; i < PAGES; i++) n += in[i] & 1;
    return n;
}

static bool can(void)
{
    char *at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const bool done = madvise(at, page, 23 /* MADV_POPULATE_WRITE */) == 0;

    munmap(at, page);
    return done;
}

static void backs_pages(void **state)
{
    char *at = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    if (!can()) skip();
    madvise(at, PAGES * page, MADV_NOHUGEPAGE);
    at[3 * page + 7] = 42;
    assert_int_equal(there(at), 1);
    errno = 77;
    ompp_prefault(at + page + 5, 2 * page); /* three pages, by bytes */
    assert_int_equal(there(at), 3);
    ompp_prefault(at, PAGES * page);
    assert_int_equal(errno, 77);
    assert_int_equal(there(at), PAGES);
    for (size_t i = 0; i < PAGES * page; i++) assert_int_equal(at[i], i == 3 * page + 7 ? 42 : 0);
    munmap(at, PAGES * page);
}

static void does_what_it_can(void **state)
{
    char *at = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    munmap(at + 8 * page, page);
    mprotect(at + 4 * page, page, PROT_READ);
    errno = 77;
    ompp_prefault(at, PAGES * page);
    ompp_prefault(NULL, 0);
    ompp_prefault(at, 0);
    assert_int_equal(errno, 77);
    at[3 * page] = 1;
    munmap(at, PAGES * page);
}

/* Pages that the system has to bring when something is written there, and none of the address sanitizer. */
__attribute__((no_sanitize("address", "undefined"))) static long faults_of(unsigned char *begin,
                                                                           const unsigned char *end)
{
    struct rusage before, after;

    getrusage(RUSAGE_THREAD, &before);
    for (volatile unsigned char *at = begin; at < end; at += page) *at = 0;
    getrusage(RUSAGE_THREAD, &after);
    return after.ru_minflt - before.ru_minflt;
}

static void arena_is_ahead(void **state)
{
    const char *const here[] = {".", NULL};
    ompp_arena_t a;

    (void)state;
    if (!can()) skip();
    assert_int_equal(ompp_arena_open(&a, here, "test_ready.file", 1 << 20), 0);
    if (!a.path[0]) skip();
    for (unsigned i = 0; i < 900; i++) {
        const ompp_off_t at = ompp_arena_take(&a, 1000);
        assert_int_not_equal(at, 0);
        assert_true(a.ready >= a.used && a.ready <= a.mapped);
        if (i % 100 == 0)
            assert_int_equal(faults_of((unsigned char *)a.base + a.used, (unsigned char *)a.base + a.ready), 0);
    }
    ompp_arena_detach(&a);
    assert_int_not_equal(ompp_arena_take(&a, 1000), 0);
    ompp_arena_close(&a, false);
    unlink("./test_ready.file");
}

static int not_zero = 1;

static void library(void **state)
{
    (void)state;
    not_zero = 5;
    errno = 77;
    ompp_prefault_library((const void *)(uintptr_t)library);
    ompp_prefault_library(NULL);
    assert_int_equal(errno, 77);
    assert_int_equal(not_zero, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(backs_pages), cmocka_unit_test(does_what_it_can),
                                       cmocka_unit_test(arena_is_ahead), cmocka_unit_test(library)};

    page = (size_t)sysconf(_SC_PAGESIZE);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
