/**
 * \file
 * Numbers as reports print them.
 */
#include "reader/ompp_decimal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
/* after the above, as cmocka wants */
#include <cmocka.h>

static void same(const char *text, size_t taken)
{
    ompp_decimal_t d;

    assert_int_equal(ompp_decimal_parse(text, &d), taken);
    if (taken) assert_memory_equal(ompp_decimal_format(&d, -1).text, text, taken);
}

static void printed_as_read(void **state)
{
    (void)state;
    same("0", 1);
    same("0.00", 4);
    same("-0.00", 5);
    same("12.345678", 9);
    same("100.0", 5);
    same("7.50 (12", 4);
    same("18446744073709551615", 20);
    same("0.000000000000000001", 20);
    same("nan", 3);
    same("-nan", 4);
    same("inf", 3);
    same("5.", 1); /* the point belongs to what follows */
}

static void refused(void **state)
{
    static const char *const bad[] = {"",
                                      " 1",
                                      "-",
                                      "+1",
                                      ".5",
                                      "x",
                                      "na",
                                      "18446744073709551616",
                                      "0.0000000000000000001",
                                      "99999999999.9999999999"};
    ompp_decimal_t d;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) assert_int_equal(ompp_decimal_parse(bad[i], &d), 0);
}

static void grouped(void **state)
{
    static const char *const good[] = {"0", "12", "999", "1.000", "12.345.678", "-1.234", "18.446.744.073.709.551.615"};
    static const char *const bad[] = {
        "", ".123", "1.23", "1234.567", "12.3456", "1.234.56", "18.446.744.073.709.551.616"};
    ompp_decimal_t d;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(ompp_decimal_parse_grouped(good[i], &d), strlen(good[i]));
        assert_string_equal(ompp_decimal_format_grouped(&d).text, good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) assert_int_equal(ompp_decimal_parse_grouped(bad[i], &d), 0);
}

/* What evaluators give has any size, and many zeros. */
static void of_evaluators(void **state)
{
    static const char *const good[] = {"0.00", "-12.50", "0.0000000000000000000000000001234567", "1234567890123000000000000.00",
                                       "-1000000000000000000000000.000000", "nan"};
    static const char *const bad[] = {"", "-", "x", "12345678901234567890123", "1.5e", "1.5e-1234"};
    ompp_decimal_t d;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(ompp_decimal_parse_evaluator(good[i], &d), strlen(good[i]));
        assert_string_equal(ompp_decimal_format(&d, -1).text, good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) assert_int_equal(ompp_decimal_parse_evaluator(bad[i], &d), 0);
    assert_int_equal(ompp_decimal_parse_evaluator(good[2], &d), strlen(good[2]));
    assert_true(ompp_decimal_value(&d) == 1.234567e-28);
    assert_int_equal(ompp_decimal_parse_evaluator("1.51e-04", &d), 8); /* early versions */
    assert_true(ompp_decimal_value(&d) == 1.51e-04);
}

static void rounded(const char *text, int digits, const char *expected)
{
    ompp_decimal_t d;

    assert_true(ompp_decimal_parse(text, &d) > 0);
    assert_string_equal(ompp_decimal_format(&d, digits).text, expected);
}

static void rounds_half_up(void **state)
{
    (void)state;
    rounded("1.005000", 2, "1.01");
    rounded("1.004999", 2, "1.00");
    rounded("9.999999", 2, "10.00");
    rounded("-0.005", 2, "-0.01");
    rounded("2.5", 0, "3");
    rounded("2.5", 4, "2.5"); /* no digits are made up */
    rounded("18446744073709551.615", 2, "18446744073709551.62");
}

static void shifted(const char *text, int power, const char *expected)
{
    ompp_decimal_t d;

    assert_true(ompp_decimal_parse(text, &d) > 0);
    d = ompp_decimal_shift(&d, power);
    assert_string_equal(ompp_decimal_format(&d, -1).text, expected);
}

static void moves_the_point(void **state)
{
    (void)state;
    shifted("0.012345", 2, "1.2345");
    shifted("1.2345", -2, "0.012345");
    shifted("3", 2, "300");
    shifted("3", -2, "0.03");
    shifted("18446744073709551615", 1, "inf");
}

static void values(void **state)
{
    ompp_decimal_t d;

    (void)state;
    assert_true(ompp_decimal_parse("-12.50", &d) > 0);
    assert_true(ompp_decimal_value(&d) == -12.5 && ompp_decimal_slack(&d) == 0.005);
    assert_true(ompp_decimal_parse("7", &d) > 0);
    assert_true(ompp_decimal_value(&d) == 7 && ompp_decimal_slack(&d) == 0);
    assert_true(ompp_decimal_parse("-inf", &d) > 0);
    assert_true(isinf(ompp_decimal_value(&d)));
    d = (ompp_decimal_t){.kind = OMPP_DECIMAL_NONE};
    assert_true(isnan(ompp_decimal_value(&d)));
    assert_string_equal(ompp_decimal_format(&d, -1).text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(printed_as_read), cmocka_unit_test(refused),
                                       cmocka_unit_test(grouped),         cmocka_unit_test(rounds_half_up),
                                       cmocka_unit_test(moves_the_point), cmocka_unit_test(values), cmocka_unit_test(of_evaluators)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
