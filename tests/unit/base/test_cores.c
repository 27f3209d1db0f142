/* Cores and NUMA nodes of processors, from made-up trees like that of /sys. */
#include "image/ompp_cores.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char top[] = "/tmp/ompp-test-cores-XXXXXX";

static void put(const char *name, const char *text)
{
    char command[300], path[200];

    snprintf(path, sizeof path, "%s/%s", top, name);
    snprintf(command, sizeof command, "mkdir -p $(dirname %s)", path);
    assert_int_equal(system(command), 0);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static ompp_proc_cpus_t processors(unsigned first, unsigned last)
{
    ompp_proc_cpus_t cpus = {{0}};

    for (; first <= last; first++) cpus.bits[first / 8] |= (unsigned char)(1u << first % 8);
    return cpus;
}

/* Two cores with two hyper-threads each, as Linux numbers them: 0 and 2, 1 and 3; a node of memory for each core. */
static int make_tree(void **state)
{
    (void)state;
    if (!mkdtemp(top)) return 1;
    put("cpu/cpu0/topology/thread_siblings_list", "0,2\n");
    put("cpu/cpu2/topology/thread_siblings_list", "0,2\n");
    put("cpu/cpu1/topology/thread_siblings_list", "1,3\n");
    put("cpu/cpu3/topology/thread_siblings_list", "1,3\n");
    put("node/online", "0-1,4\n");
    put("node/node0/cpulist", "0,2\n");
    put("node/node1/cpulist", "1,3\n");
    put("node/node4/cpulist", "\n"); /* memory alone */
    return 0;
}

static int remove_tree(void **state)
{
    char command[100];

    (void)state;
    snprintf(command, sizeof command, "rm -r %s", top);
    return system(command);
}

static void hyper_threads(void **state)
{
    char text[40];
    ompp_proc_cpus_t all = processors(0, 3), two = processors(2, 3), cores;

    (void)state;
    assert_int_equal(ompp_cores_first(top, 3), 1);
    cores = ompp_cores_of(top, &all);
    ompp_cores_text(&cores, text, sizeof text);
    assert_string_equal(text, "0-1");
    cores = ompp_cores_of(top, &two);
    assert_int_equal(ompp_proc_cpus_count(&cores), 2);
}

static void numa(void **state)
{
    char text[40];
    ompp_proc_cpus_t all = processors(0, 3), one = processors(3, 3), nodes;

    (void)state;
    nodes = ompp_cores_numa(top, &all);
    ompp_cores_text(&nodes, text, sizeof text);
    assert_string_equal(text, "0-1");
    nodes = ompp_cores_numa(top, &one);
    ompp_cores_text(&nodes, text, sizeof text);
    assert_string_equal(text, "1");
}

/* What the system does not say: each processor is a core, and there are no NUMA nodes. */
static void nothing_known(void **state)
{
    ompp_proc_cpus_t all = processors(0, 3), found;

    (void)state;
    found = ompp_cores_of("/nonexistent", &all);
    assert_int_equal(ompp_proc_cpus_count(&found), 4);
    found = ompp_cores_numa("/nonexistent", &all);
    assert_int_equal(ompp_proc_cpus_count(&found), 0);
}

static void long_lists(void **state)
{
    ompp_proc_cpus_t every = {{0}};
    char text[40];

    (void)state;
    for (size_t i = 0; i < sizeof every.bits; i++) every.bits[i] = 0x55;
    ompp_cores_text(&every, text, sizeof text);
    assert_string_equal(text, "0,2,4,6,8,10,12,14,16,...");
    ompp_cores_text(&(ompp_proc_cpus_t){{0}}, text, sizeof text);
    assert_string_equal(text, "");
}

static void kinds(void **state)
{
    static const struct {
        const char *line, *kind;
    } cases[] = {{"processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC 7763\n", "AMD EPYC 7763"},
                 {"processor\t: 0\ncpu\t\t: POWER9, altivec supported\n", "POWER9, altivec supported"},
                 {"processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n", "Arm part 0xd4f"},
                 {"nothing\n", ""}};
    char path[100], kind[60];

    (void)state;
    snprintf(path, sizeof path, "%s/cpuinfo", top);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        put("cpuinfo", cases[i].line);
        ompp_cores_kind(path, kind, sizeof kind);
        assert_string_equal(kind, cases[i].kind);
    }
    ompp_cores_kind("/nonexistent", kind, sizeof kind);
    assert_string_equal(kind, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hyper_threads), cmocka_unit_test(numa),
                                       cmocka_unit_test(nothing_known), cmocka_unit_test(long_lists),
                                       cmocka_unit_test(kinds)};

    return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
