/* The program looks itself up, and damaged copies of itself. */
#define _GNU_SOURCE
#include "base/ompp_clock.h"
#include "base/ompp_error.h"
#include "structure/ompp_name.h"
#include "structure/ompp_scope.h"
#include "structure/ompp_structure.h"

#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static int first_module(struct dl_phdr_info *info, size_t size, void *bias)
{
    (void)size;
    *(uint64_t *)bias = info->dlpi_addr;
    return 1;
}

/* Address in this file of the caller's code, return address - 1. */
static __attribute__((noinline)) uint64_t here(void)
{
    uint64_t bias = 0;

    dl_iterate_phdr(first_module, &bias);
    return (uint64_t)(uintptr_t)__builtin_return_address(0) - 1 - bias;
}

static void finds_own_line(void **state)
{
    ompp_structure_t *structure = NULL;
    ompp_query_t query = {0};

    (void)state;
    assert_int_equal(ompp_structure_open("/proc/self/exe", NULL, &structure), 0);
    if (!ompp_structure_has_lines(structure)) {
        ompp_structure_close(structure);
        skip(); /* built without -g */
    }
    const uint32_t line = __LINE__ + 1;
    query.addr = here();
    assert_int_equal(ompp_structure_lookup(structure, &query, 1, ompp_clock_seconds() + 60), 0);
    assert_int_equal(query.line, line);
    assert_string_equal(query.function, "finds_own_line");
    assert_non_null(strstr(query.file, "tests/unit/structure/test_structure.c"));
    assert_int_equal(ompp_structure_lookup(structure, &query, 1, 0), -OMPP_E_TIMEOUT);
    assert_false(query.done);
    ompp_structure_close(structure);
}

static inline __attribute__((always_inline)) uint64_t inlined_here(void) { return here() + (uint64_t)(getppid() < 0); }

/* From the procedure to the innermost: the loop, and the call that is inlined into it. */
static void finds_own_loop(void **state)
{
    ompp_structure_t *structure = NULL;
    ompp_spot_t spot;
    uint64_t address = 0;
    const uint32_t line = __LINE__ + 1;
    for (int i = 0; i < 3 + (getppid() < 0); i++) {
        address = inlined_here();
    }

    (void)state;
    assert_int_equal(ompp_structure_open("/proc/self/exe", NULL, &structure), 0);
    assert_int_equal(ompp_scope_at(structure, address, 0, &spot), -OMPP_E_TIMEOUT);
    assert_int_equal(ompp_scope_at(structure, address, ompp_clock_seconds() + 60, &spot), 0);
    if (!ompp_structure_has_lines(structure) || spot.loops_rc == -OMPP_E_UNSUPPORTED) {
        ompp_structure_close(structure);
        skip(); /* built without -g, or without Zydis */
    }
    assert_int_equal(spot.loops_rc, 0);
    assert_int_equal(spot.scope->kind, OMPP_SCOPE_INLINED);
    assert_string_equal(spot.scope->function, "inlined_here");
    assert_int_equal(spot.scope->line, line + 1);
    const ompp_scope_t *loop = spot.scope->outer;
    assert_int_equal(loop->kind, OMPP_SCOPE_LOOP);
    assert_int_equal(loop->line, line);
    assert_in_range(loop->line_end, line, line + 2);
    assert_int_equal(loop->outer->kind, OMPP_SCOPE_PROCEDURE);
    assert_string_equal(loop->outer->function, "finds_own_loop");
    assert_null(loop->outer->outer);
    const ompp_scope_t *again = spot.scope; /* kept */
    assert_int_equal(ompp_scope_at(structure, address, 0, &spot), 0);
    assert_ptr_equal(spot.scope, again);
    assert_int_equal(ompp_scope_at(structure, 1, ompp_clock_seconds() + 60, &spot), -OMPP_E_NOTFOUND);
    ompp_structure_close(structure);
}

static void refuses_others(void **state)
{
    ompp_structure_t *structure = NULL;

    (void)state;
    assert_int_equal(ompp_structure_open("/nonexistent/file", NULL, &structure), -OMPP_E_OPEN);
    assert_int_equal(ompp_structure_open("/", NULL, &structure), -OMPP_E_OPEN);
    assert_int_equal(ompp_structure_open("/proc/self/exe", "0123456789abcdef0123456789abcdef01234567", &structure),
                     -OMPP_E_VERSION);
    assert_null(structure);
}

/* Whatever is left of a file: an answer or an error, no crash. */
static void survives_truncation(void **state)
{
    enum { COPIES = 60 };
    char path[] = "/tmp/ompp-test-XXXXXX";
    FILE *self = fopen("/proc/self/exe", "rb");
    int fd = mkstemp(path);
    uint64_t address = here();
    unsigned opened = 0;

    (void)state;
    assert_non_null(self);
    assert_true(fd >= 0);
    fseek(self, 0, SEEK_END);
    long size = ftell(self);
    char *contents = malloc((size_t)size);
    rewind(self);
    assert_int_equal(fread(contents, 1, (size_t)size, self), size);
    for (long i = 0; i <= COPIES; i++) {
        ompp_structure_t *structure = NULL;
        ompp_query_t query = {.addr = address};
        ompp_spot_t spot;
        /* Cut, but with the section table in its place: contents read as zeroes. */
        assert_int_equal(pwrite(fd, contents, (size_t)(size * i / COPIES), 0), size * i / COPIES);
        assert_int_equal(ftruncate(fd, i % 2 ? size * i / COPIES : size), 0);
        if (i % 2 == 0) assert_true(pwrite(fd, contents + size - size / 20, (size_t)(size / 20), size - size / 20) > 0);
        if (ompp_structure_open(path, NULL, &structure) != 0) continue;
        opened++;
        assert_int_equal(ompp_structure_lookup(structure, &query, 1, ompp_clock_seconds() + 60), 0);
        const int rc = ompp_scope_at(structure, address, ompp_clock_seconds() + 60, &spot);
        assert_true(rc == 0 || rc == -OMPP_E_NOTFOUND);
        ompp_structure_close(structure);
    }
    assert_true(opened > 0);
    free(contents);
    fclose(self);
    close(fd);
    unlink(path);
}

static void shortens_names(void **state)
{
    static const char *const names[][2] = {
        {"solve", "solve"},
        {"Matrix<double, 3>::norm", "Matrix<...>::norm"},
        {"a::B<C<int, D<1> >, (E)2>::f<long, char>", "a::B<...>::f<...>"},
        {"run<(5>3), true>", "run<...>"},
        {"B<int>::run", "B<int>::run"},
        {"B<i>::run", "B<i>::run"},
        {"operator<< <std::char_traits<char> >", "operator<< <...>"},
        {"A<double>::operator<", "A<...>::operator<"},
        {"A<double>::operator->", "A<...>::operator->"},
        {"A<double>::operator()<int, 2>", "A<...>::operator()<...>"},
        {"f<int>::{lambda(g<int>)#1}::operator()", "f<int>::{lambda(g<int>)#1}::operator()"},
        {"broken<double, ", "broken<double, "},
        {"", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *name = strdup(names[i][0]);
        assert_non_null(name);
        ompp_name_shorten(name);
        assert_string_equal(name, names[i][1]);
        free(name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shortens_names), cmocka_unit_test(finds_own_line),      cmocka_unit_test(finds_own_loop),
        cmocka_unit_test(refuses_others), cmocka_unit_test(survives_truncation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
