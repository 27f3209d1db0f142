/* Evaluators: values, what is undefined, and where a bad expression is wrong. */
#include "analysis/ompp_eval.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static ompp_values_t *values;
static ompp_profile_t *profile;

static int setup(void **state)
{
    const char *const names[] = {"PAPI_TOT_INS", "PAPI_TOT_INS2", "perf::PAGE-FAULTS", "perf::TASK-CLOCK"};

    (void)state;
    profile = ompp_profile_new();
    for (unsigned i = 0; i < 4; i++) {
        ompp_metric_t m = {.set = OMPP_SET_FIRST_FREE,
                           .index = i,
                           .unit = i == 3 ? OMPP_UNIT_NS : OMPP_UNIT_COUNT,
                           .use = OMPP_USE_COLUMN};
        m.name = ompp_profile_string(profile, names[i]);
        ompp_profile_add_metric(profile, &m);
    }
    values = ompp_values_new(profile);
    return values ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    ompp_values_free(values);
    ompp_profile_free(profile);
    return 0;
}

static double value_of(const char *expression)
{
    char error[200];
    uint64_t counters[] = {100, 7, 12, 2500000000u};
    ompp_row_t row = {.counter = counters};
    ompp_eval_t *eval = ompp_eval_new(expression, values, error, sizeof error);

    row.value[OMPP_COLUMN_EXEC_T] = 500000000u;
    row.value[OMPP_COLUMN_EXEC_C] = 4;
    if (!eval) print_error("%s: %s\n", expression, error);
    assert_non_null(eval);
    double value = ompp_eval_value(eval, &row);
    ompp_eval_free(eval);
    return value;
}

static void computes(void **state)
{
    static const struct {
        const char *expression;
        double value;
    } cases[] = {
        {"1", 1},
        {" 1 + 2*3 ", 7},
        {"(1+2)*3", 9},
        {"2^3^2", 512},
        {"-2^2", -4},
        {"10-4-3", 3},
        {"16/4/2", 2},
        {"1e3", 1000},
        {"PAPI_TOT_INS", 100},
        {"PAPI_TOT_INS2", 7},
        {"perf::PAGE-FAULTS-2", 10},
        {"perf::PAGE-FAULTS-perf::PAGE-FAULTS", 0},
        {"perf::TASK-CLOCK-2", 2499999998},
        {"EXECT", 0.5},
        {"EXECC*2", 8},
        {"PAPI_TOT_INS/EXECT", 200},
        {"max(1,EXECC)", 4},
        {"min(3,2)", 2},
        {"sqrt(4)+abs(-3)", 5},
        {"+5", 5},
        {"--5", 5},
        {"BODYT", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (value_of(cases[i].expression) != cases[i].value)
            fail_msg("%s is %g, not %g", cases[i].expression, value_of(cases[i].expression), cases[i].value);
}

static void is_undefined(void **state)
{
    (void)state;
    assert_true(isnan(value_of("1/0")));
    assert_true(isnan(value_of("EXECC/BODYT")));
    assert_true(isnan(value_of("0/0")));
    assert_true(isnan(value_of("log(0)")));
    assert_true(isnan(value_of("sqrt(-1)")));
}

static void names_the_place(void **state)
{
    static const struct {
        const char *expression, *place;
    } cases[] = {
        {"", "character 1:"},
        {"1+", "character 3:"},
        {"2 * / 3", "character 5:"},
        {"PAPI_TOT_CYC", "character 1:"},
        {"1+NOTHING*2", "character 3:"},
        {"(1+2", "character 5:"},
        {"1 2", "character 3:"},
        {"max(1)", "character 6:"},
        {"sqrt 4", "character 6:"},
        {"execT", "character 1:"},
        {"PAPI_TOT_INSX", "character 1:"},
        {"1)", "character 2:"},
    };
    char error[200];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ompp_eval_t *eval = ompp_eval_new(cases[i].expression, values, error, sizeof error);
        if (eval || !strstr(error, cases[i].place))
            fail_msg("'%s': '%s', not '%s'", cases[i].expression, error, cases[i].place);
    }
}

/* What is wrong is said in words that fit, with the nearest name where one was misspelled. */
static void says_what(void **state)
{
    static const struct {
        const char *expression, *words;
    } cases[] = {
        {"EXECT)", "no bracket is open that this one closes, at character 6: ')'"},
        {"(1+2", "the bracket of character 1 is not closed, at character 5: the end"},
        {"2*(1+(3)", "the bracket of character 3 is not closed"},
        {"(1 2)", "an operator or the bracket that closes the one of character 1 is expected, at character 4"},
        {"sqrt(4", "the bracket of character 5 is not closed"},
        {"max(1)", "max takes two arguments"},
        {"max(1,2,3)", "max takes two arguments, at character 8: ',3)'"},
        {"sqrt(1,2)", "sqrt takes one argument, at character 7"},
        {"sqrt 4", "sqrt needs its arguments in brackets"},
        {"1+", "a number or a name is missing, at character 3: the end"},
        {"", "a number or a name is missing, at character 1: the end"},
        {"1 2", "an operator (+ - * / ^) is expected"},
        {"EXECTT/2", "at character 1: 'EXECTT/2'; nearest: EXECT"},
        {"bodyt", "nearest: BODYT"},
        {"2*sqr(4)", "at character 3: 'sqr(4)'; nearest: sqrt"},
        {"PAPI_TOT_IMS", "nearest: PAPI_TOT_INS"},
        {"perf::PAGE-FALTS", "nearest: perf::PAGE-FAULTS"},
        {"IPC*2",
         "IPC is a column that appears by itself, and has no name in expressions; it is PAPI_TOT_INS/PAPI_TOT_CYC"},
        {"1+NOTHING*2", "neither a counter in use nor a column"},
    };
    char error[300];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ompp_eval_t *eval = ompp_eval_new(cases[i].expression, values, error, sizeof error);
        if (eval || !strstr(error, cases[i].words))
            fail_msg("'%s': '%s', not '%s'", cases[i].expression, error, cases[i].words);
    }
}

static void survives_size(void **state)
{
    char text[4000], error[200];

    (void)state;
    memset(text, '(', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_null(ompp_eval_new(text, values, error, sizeof error));
    memset(text, '-', sizeof text - 1);
    assert_null(ompp_eval_new(text, values, error, sizeof error));
    for (size_t i = 0; i + 2 < sizeof text; i += 2) memcpy(text + i, "1+", 3);
    assert_null(ompp_eval_new(text, values, error, sizeof error));
    for (size_t i = 0; i + 2 < sizeof text; i += 2) memcpy(text + i, "1^", 3);
    assert_null(ompp_eval_new(text, values, error, sizeof error));
}

/* As many terms as a user has counters. */
static void is_long(void **state)
{
    enum { TERMS = 2000 };
    static char text[TERMS * 16];
    size_t n = 0;

    (void)state;
    for (int i = 0; i < TERMS; i++) n += (size_t)snprintf(text + n, sizeof text - n, "%sPAPI_TOT_INS", i ? "+" : "");
    assert_true(value_of(text) == TERMS * 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(computes),  cmocka_unit_test(is_undefined),  cmocka_unit_test(names_the_place),
        cmocka_unit_test(says_what), cmocka_unit_test(survives_size), cmocka_unit_test(is_long),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
