/* The reader of OPARI2's descriptions: what it finds, and that rubbish does no harm (run under sanitizers by sanitize.sh). */
#include "opari-bridge/ompp_pomp2_ctc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char loop[] = "102*regionType=for*sscl=/a/b.c:14:15*escl=/a/b.c:20:21*hasReduction=1*hasSchedule=dynamic,2**";

static void assert_span(ompp_span_t span, const char *text)
{
    assert_int_equal(span.length, strlen(text));
    assert_memory_equal(span.text, text, span.length);
}

static void test_reads(void **state)
{
    ompp_ctc_t ctc;

    (void)state;
    assert_true(ompp_ctc_read(loop, &ctc));
    assert_int_equal(ctc.construct, OMPP_CONSTRUCT_LOOP);
    assert_span(ctc.file, "/a/b.c");
    assert_int_equal(ctc.begin, 14);
    assert_int_equal(ctc.end, 21);
    assert_int_equal(ctc.name.length, 0);
    assert_true(ompp_ctc_read("*regionType=critical*sscl=f:1:1*escl=f:2:2*criticalName=nam**", &ctc));
    assert_span(ctc.name, "nam");
    assert_true(ompp_ctc_read("*regionType=userRegion*sscl=f:1:1*escl=f:2:2*userRegionName=a b**", &ctc));
    assert_span(ctc.name, "a b");
    assert_true(ompp_ctc_read("*regionType=task*sscl=f:1:1*escl=f:2:2*hasUntied=1**", &ctc));
    assert_int_equal(ctc.construct, OMPP_CONSTRUCT_UTASK);
}

static void test_odd_paths(void **state)
{
    ompp_ctc_t ctc;

    (void)state;
    assert_true(ompp_ctc_read("*regionType=for*sscl=/a*b:c/x.c:7:7*escl=/a*b:c/x.c:9:9**", &ctc));
    assert_span(ctc.file, "/a*b:c/x.c");
    assert_int_equal(ctc.begin, 7);
    assert_int_equal(ctc.end, 9);
}

static void test_rubbish(void **state)
{
    static const char *const texts[] = {"", "*", "**", "regionType=for", "*regionType=*", "*regionType=forx**", "*sscl=**",
                                        "*regionType=for*sscl=:1**", "*sscl=a:99999999999999999999:1**", "*sscl=a:1:b**"};
    ompp_ctc_t ctc;
    char text[sizeof loop];

    (void)state;
    assert_false(ompp_ctc_read(NULL, &ctc));
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) ompp_ctc_read(texts[i], &ctc);
    srand(1);
    for (int i = 0; i < 200000; i++) {
        memcpy(text, loop, sizeof loop);
        for (int k = rand() % 8; k >= 0; k--) text[rand() % (sizeof loop - 1)] = "*=:19\0afs"[rand() % 9];
        char *copy = strdup(text); /* exactly as long as the text, so that a sanitizer sees a read beyond it */
        ompp_ctc_read(copy, &ctc);
        assert_true(ctc.construct <= OMPP_CONSTRUCT_NUM);
        assert_true(ctc.file.length <= strlen(copy));
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reads), cmocka_unit_test(test_odd_paths), cmocka_unit_test(test_rubbish)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
