/* Every kind of variable: good values, bad ones with their one warning, unknown names. Each case in a process of its
 * own, because the environment is read once. */
#include "base/ompp_env.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Messages go to the standard error that a process came with: this one comes with a pipe, and gives the tests its own
 * one back. */
enum { PIPE_OUT = 20, PIPE_IN = 21, OWN_STDERR = 22 };

static void come_with_pipe(char **argv)
{
    int ends[2];

    if (getenv("TEST_ENV_PIPE")) {
        dup2(OWN_STDERR, STDERR_FILENO);
        unsetenv("TEST_ENV_PIPE");
        return;
    }
    if (pipe(ends) != 0) exit(99);
    dup2(STDERR_FILENO, OWN_STDERR);
    dup2(ends[0], PIPE_OUT);
    dup2(ends[1], PIPE_IN);
    dup2(ends[1], STDERR_FILENO);
    fcntl(PIPE_OUT, F_SETFL, O_NONBLOCK);
    setenv("TEST_ENV_PIPE", "1", 1);
    execv("/proc/self/exe", argv);
    exit(99);
}

/* Sets "NAME=value", reads in a child and returns what it wrote to stderr; *right tells what the child's test said. */
static char *said(const char *setting, bool (*test)(void), bool *right)
{
    static char text[4096];
    int status;
    size_t n = 0;
    ssize_t got;

    pid_t pid = fork();
    if (pid == 0) {
        char *copy = strdup(setting);
        dup2(PIPE_IN, STDERR_FILENO);
        putenv(copy);
        ompp_env_read();
        _exit(test() ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    while ((got = read(PIPE_OUT, text + n, sizeof text - 1 - n)) > 0) n += (size_t)got;
    text[n] = '\0';
    *right = status == 0;
    return text;
}

static bool memory_4m(void) { return ompp_env.memory == 4u << 20; }
static bool memory_default(void) { return ompp_env.memory == 8u << 20; }
static bool memory_2g(void) { return ompp_env.memory == (uint64_t)2 << 30; }
static bool detail_default(void) { return ompp_env.rank_detail == 64; }
static bool detail_7(void) { return ompp_env.rank_detail == 7; }
static bool speedup_50(void) { return ompp_env.causal_speedup == 50; }
static bool speedup_100(void) { return ompp_env.causal_speedup == 100; }
static bool lock_off(void) { return ompp_env.disable_lock; }
static bool lock_on(void) { return !ompp_env.disable_lock; }
static bool half_second(void) { return ompp_env.resolve_seconds == 0.5; }
static bool seconds_default(void) { return ompp_env.resolve_seconds == 20; }
static bool named_x(void) { return strcmp(ompp_env.appname, "x") == 0; }
static bool memory_least(void) { return ompp_env.memory == 256u << 10; }
static bool detail_1(void) { return ompp_env.rank_detail == 1; }
static bool digits_9(void) { return ompp_env.time_digits == 9; }
static bool text_only(void) { return strcmp(ompp_env.outformat, "text") == 0; }
static bool csv_and_text(void)
{
    return ompp_env_has_word(ompp_env.outformat, "csv") && ompp_env_has_word(ompp_env.outformat, "text") &&
           !ompp_env_has_word(ompp_env.outformat, "xml") && !ompp_env_has_word(ompp_env.outformat, "tex");
}
static bool clock_auto(void) { return strcmp(ompp_env.clock, "auto") == 0; }
static bool anything(void) { return true; }

static bool one_counter(void)
{
    return ompp_env.counters.n == 1 && ompp_env.counters.number[0] == 7 &&
           strcmp(ompp_env.counters.text[0], "PAPI_TOT_CYC") == 0;
}

static bool no_counter(void) { return ompp_env.counters.n == 0; }

static const struct {
    const char *setting;
    bool (*test)(void);
    const char *warning; /* part of it; NULL = none */
} cases[] = {
    {"OMPP_MEMORY=4M", memory_4m, NULL},
    {"OMPP_MEMORY=4MB", memory_4m, NULL},
    {"OMPP_MEMORY=4096k", memory_4m, NULL},
    {"OMPP_MEMORY=2G", memory_2g, NULL},
    {"OMPP_MEMORY=", memory_default, NULL},
    {"OMPP_MEMORY=-1", memory_default,
     "set OMPP_MEMORY to a number of bytes, with k, M or G (bytes 256k-4G): '-1' is not understood"},
    {"OMPP_MEMORY=4Mx", memory_default, "'4Mx' is not understood; using 8M"},
    {"OMPP_MEMORY=99999999999999999999", memory_default, "is not understood"},
    {"OMPP_MEMORY=17179869184G", memory_default, "using 8M"},
    {"OMPP_MEMORY=1k", memory_least, "(bytes 256k-4G): '1k' is out of range; using 256k"},
    {"OMPP_MEMORY=0", memory_least, "using 256k"},
    {"OMPP_RANK_DETAIL=0", detail_1, "using 1"},
    {"OMPP_TIME_DIGITS=9", digits_9, NULL},
    {"OMPP_TIME_DIGITS=10", digits_9, "(digits 0-9): '10' is out of range; using 9"},
    {"OMPP_OUTFORMAT=Csv,TEXT", csv_and_text, NULL},
    {"OMPP_OUTFORMAT=CVS", text_only,
     "set OMPP_OUTFORMAT to one or more, with commas, of text|plain|csv|html|xml: 'CVS' is not understood; using text"},
    {"OMPP_OUTFORMAT=csv,", text_only, "'csv,' is not understood"},
    {"OMPP_OUTFORMAT=cube", text_only, "'cube' is not understood"},
    {"OMPP_CLOCK=sundial", clock_auto,
     "set OMPP_CLOCK to one of auto|tsc|gettime: 'sundial' is not understood; using auto"},
    {"OMPP_CLOCK=tsc,gettime", clock_auto, "one of auto|tsc|gettime: 'tsc,gettime' is not understood; using auto"},
    {"OMPP_RANK_DETAIL=7", detail_7, NULL},
    {"OMPP_RANK_DETAIL=-7", detail_default, "a whole number, 0 or more"},
    {"OMPP_RANK_DETAIL=seven", detail_default, "set OMPP_RANK_DETAIL to a whole number, 0 or more (ranks 1-): 'seven'"},
    {"OMPP_RANK_DETAIL=7%", detail_default, "'7%' is not understood"},
    {"OMPP_CAUSAL_SPEEDUP=50%", speedup_50, NULL},
    {"OMPP_CAUSAL_SPEEDUP=150%", speedup_100, "(percent 0-100): '150%' is out of range; using 100"},
    {"OMPP_CAUSAL_SPEEDUP=%", anything, "'%' is not understood"},
    {"OMPP_DISABLE_LOCK=1", lock_off, NULL},
    {"OMPP_DISABLE_LOCK=", lock_off, NULL},
    {"OMPP_DISABLE_LOCK=0", lock_on, NULL},
    {"OMPP_RESOLVE_SECONDS=0.5", half_second, NULL},
    {"OMPP_RESOLVE_SECONDS=nan", seconds_default,
     "set OMPP_RESOLVE_SECONDS to a number of seconds, 0 or more (s): 'nan'"},
    {"OMPP_RESOLVE_SECONDS=-1", seconds_default, "using 20"},
    {"OMPP_APPNAME=x", named_x, NULL},
    {"OMPP_NONSENSE=1", anything, "unknown variable OMPP_NONSENSE"},
    {"OMPP_MEMORYX=1", anything, "unknown variable OMPP_MEMORYX"},
    {"OMPP_CTR7=PAPI_TOT_CYC", one_counter, NULL},
    {"OMPP_CTR=PAPI_TOT_CYC", no_counter, "unknown variable OMPP_CTR;"},
    {"OMPP_CTR1=", no_counter, NULL},
    {"OMPP_CTR1X=PAPI_TOT_CYC", no_counter, "unknown variable OMPP_CTR1X"},
    {"OMPP_SAMPLE_HZ=200", anything, NULL},
    {"OMPP_SAMPLE_HZ=often", anything, "set OMPP_SAMPLE_HZ to a whole number"},
    {"OMPP=1", anything, NULL},
};

static void values_and_warnings(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool right;
        const char *text = said(cases[i].setting, cases[i].test, &right);
        const char *end = strchr(text, '\n');
        bool expected = cases[i].warning ? end && end[1] == '\0' && strstr(text, cases[i].warning) : *text == '\0';
        if (!right || !expected)
            print_error("%s: value %s, said: %s\n", cases[i].setting, right ? "right" : "wrong", text);
        assert_true(right && expected);
    }
}

static bool quiet(void) { return ompp_env.quiet; }

static void quiet_says_nothing(void **state)
{
    bool right;

    (void)state;
    setenv("OMPP_MEMORY", "rubbish", 1);
    assert_string_equal(said("OMPP_QUIET=1", quiet, &right), "");
    assert_true(right);
    unsetenv("OMPP_MEMORY");
}

/* A default that its own type refuses would leave the field as it is. */
static void rows_are_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < ompp_env_nrows; i++) {
        assert_string_not_equal(ompp_env_rows[i].help, "");
        for (size_t k = 0; k < i; k++) assert_string_not_equal(ompp_env_rows[i].name, ompp_env_rows[k].name);
    }
}

int main(int argc, char **argv)
{
    (void)argc;
    come_with_pipe(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_warnings),
        cmocka_unit_test(quiet_says_nothing),
        cmocka_unit_test(rows_are_complete),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
