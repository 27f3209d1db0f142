/* Where a statement of C or C++ ends: each text has an @ there. */
#include "tools/kinst/kinst-ompp-source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const texts[] = {
    "x = 1;@ y;",
    "{ a; { b; } }@ else c;",
    "if (a) b; else if (c) d; else { e; }@ f;",
    "if (a) if (b) c; else d;@ e;",
    "if constexpr (a) b; else c;@ d;",
    "for (int i = 0; i < 3; i++) for (auto x : {1, 2}) y(x);@ z;",
    "while (a(\")\")) { }@ b;",
    "do if (a) b; else c; while (d);@ e;",
    "do { a; } while (b)\n;@",
    "try { a; } catch (int) { b; } catch (...) { c; }@ d;",
    "switch (a) { case 1: b; default: c; }@",
    "label: case '}': default: a;@",
    "case a ? b : c: d;@ e;",
    "case n::x: y;@",
    "std::f(a);@",
    "[[likely]] a;@ b;",
    "auto f = [&](int x) { return x; }(1);@ g;",
    "s = R\"x(;}\")x\";@ t;",
    "n = 1'000 + 'x' + '\\'';@ m;",
    "# 3 \"a.c\" 2\n#pragma GCC ivdep\nfor (;;) { }@",
    "#pragma omp parallel\n# 4 \"a.c\"\n { a; }@ b;",
    "#pragma omp barrier@\nx;",
    "#pragma omp for\nfor (;;)\n#pragma omp critical (x)\n a;@ b;",
    "#pragma omp ordered depend(source)@\n}",
    "struct { int a; } s = {1};@",
    "return ({ int v;\n#pragma omp atomic read\n v = x; v; });@ y;",
};

/* Not understood, or not all there. */
static const char *const bad[] = {"", "}", "x = 1", "{ a;", "if (a", "do x;", "for a;", "(a; }", "#pragma omp parallel\n"};

static void ends_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const char *mark = strchr(texts[i], '@');
        size_t before = mark - texts[i];
        char *text = calloc(1, strlen(texts[i]) + 1);
        memcpy(text, texts[i], before);
        strcpy(text + before, mark + 1);
        const char *end = kinst_behind_statement(text, text + strlen(text));
        if (!end || (size_t)(end - text) != before) fail_msg("end of \"%s\" is found at %td", texts[i], end ? end - text : -1);
        free(text);
    }
}

static void broken_text_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (kinst_behind_statement(bad[i], bad[i] + strlen(bad[i]))) fail_msg("\"%s\" has an end", bad[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ends_are_found), cmocka_unit_test(broken_text_is_refused)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
