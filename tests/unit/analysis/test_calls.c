/* Lines of calls in Fortran: continuations in both forms, calls that the compiler puts on the line of the program
 * unit. */
#include "analysis/ompp_calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

/* Mends the n calls of a source text in a file of this name. */
static void mend(const char *path, const char *text, ompp_call_t *calls, size_t n)
{
    char name[] = "/tmp/ompp-test-calls-XXXXXX";
    int fd = mkstemp(name);
    ompp_call_t *order[16];
    FILE *file = fdopen(fd, "w");

    fputs(text, file);
    fclose(file);
    ompp_source_t *source = ompp_source_open(name, INT64_MAX);
    unlink(name);
    assert_non_null(source);
    for (size_t i = 0; i < n; i++) order[i] = &calls[i];
    ompp_calls_mend(source, path, order, n);
    ompp_source_close(source);
}

static void free_form(void **state)
{
    ompp_call_t calls[] = {{"MPI_Send", 1, 0, 0, 4}, {"MPI_Recv", 2, 0, 0, 6}, {"MPI_Wait", 3, 0, 0, 7}};

    (void)state;
    mend("a.F90",
         "subroutine s\n"
         "  call mpi_send(a, & ! mpi_recv\n"
         "                ! a comment\n"
         "                & b)\n"
         "  print *, 'mpi_wait'; ! MPI_Wait\n"
         "  CALL MPI_RECV(a)\n"
         "  x = my_mpi_wait(3)\n"
         "end\n",
         calls, 3);
    assert_int_equal(calls[0].line, 2);
    assert_int_equal(calls[1].line, 6);
    assert_int_equal(calls[2].line, 5); /* the only use of the word: a text in quotes is taken for one */
}

static void fixed_form(void **state)
{
    ompp_call_t calls[] = {{"MPI_Send", 1, 0, 0, 5}, {"MPI_Recv", 2, 0, 0, 6}};

    (void)state;
    mend("a.f",
         "      subroutine s\n"
         "c     call mpi_recv\n"
         "      call mpi_send(a,\n"
         "* more\n"
         "     >     b)\n"
         "   10 call mpi_recv(a)\n"
         "      end\n",
         calls, 2);
    assert_int_equal(calls[0].line, 3);
    assert_int_equal(calls[1].line, 6);
}

static const char two_units[] = "module m\n"
                                "contains\n"
                                "subroutine s\n"       /* 3 */
                                "  call MPI_Init(e)\n" /* 4 */
                                "  x = 1\n"
                                "  call MPI_Wait(a, e)\n" /* 6 */
                                "  call MPI_Wait(b, e)\n" /* 7 */
                                "  y = 2\n"
                                "  call MPI_Wait(c, e)\n" /* 9 */
                                "end subroutine s\n"
                                "integer function f(x)\n" /* 11 */
                                "  call MPI_Init(e)\n"
                                "  if (x > 0) call MPI_Test(e)\n"
                                "  f = 1\n"
                                "  call MPI_Test(e)\n"
                                "endfunction\n"
                                "end module\n";

/* On the line of their unit: found between the lines around them, or as the only ones, or by their order. */
static void displaced(void **state)
{
    ompp_call_t calls[] = {{"MPI_Init", 10, 0, 5, 3},
                           {"MPI_Wait", 22, 5, 8, 3},
                           {"MPI_Wait", 21, 5, 8, 3},
                           {"MPI_Wait", 30, 8, 10, 3},
                           {"MPI_Init", 40, 0, 0, 11}};

    (void)state;
    mend("a.f90", two_units, calls, 5);
    assert_int_equal(calls[0].line, 4);
    assert_int_equal(calls[1].line, 7);
    assert_int_equal(calls[2].line, 6);
    assert_int_equal(calls[3].line, 9);
    assert_int_equal(calls[4].line, 12);
}

/* Two uses and one call: it may be either. In C, nothing is looked at. */
static void uncertain(void **state)
{
    ompp_call_t calls[] = {{"MPI_Test", 10, 0, 0, 11}}, in_c[] = {{"MPI_Init", 10, 0, 0, 3}};

    (void)state;
    mend("a.f90", two_units, calls, 1);
    assert_int_equal(calls[0].line, 11);
    mend("a.c", two_units, in_c, 1);
    assert_int_equal(in_c[0].line, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(free_form), cmocka_unit_test(fixed_form),
                                       cmocka_unit_test(displaced), cmocka_unit_test(uncertain)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
