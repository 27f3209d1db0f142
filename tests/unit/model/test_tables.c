/* The tables fit each other: what a row names exists, and every phase belongs to an overhead class or stands below as
 * having none. */
#include "model/ompp_property.h"
#include "model/ompp_tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Time of the user's own work, and phases of constructs that are reported without an overhead. */
static const struct {
    unsigned construct, phase;
} no_class[] = {
#define ALL OMPP_CONSTRUCT_NUM
    {ALL, OMPP_PHASE_BODY},
    {ALL, OMPP_PHASE_SECTION},
    {ALL, OMPP_PHASE_SINGLE},
    {OMPP_CONSTRUCT_PARSECTS, OMPP_PHASE_MGMT},
    {OMPP_CONSTRUCT_SINGLE, OMPP_PHASE_MGMT},
    {OMPP_CONSTRUCT_USER_REGION, OMPP_PHASE_EXEC},
    {OMPP_CONSTRUCT_MASTER, OMPP_PHASE_EXEC},
    {OMPP_CONSTRUCT_TASK, OMPP_PHASE_EXEC},
    {OMPP_CONSTRUCT_TASKEXEC, OMPP_PHASE_EXEC},
    {OMPP_CONSTRUCT_UTASK, OMPP_PHASE_EXEC},
    {OMPP_CONSTRUCT_UTASKEXEC, OMPP_PHASE_EXEC},
    {OMPP_CONSTRUCT_TASKWAIT, OMPP_PHASE_EXEC},
    {OMPP_CONSTRUCT_TASKGROUP, OMPP_PHASE_EXITBAR},
    {OMPP_CONSTRUCT_TASKLOOP, OMPP_PHASE_EXEC},
    {OMPP_CONSTRUCT_TEAMS, OMPP_PHASE_STARTUP},
    {OMPP_CONSTRUCT_TEAMS, OMPP_PHASE_EXITBAR},
    {OMPP_CONSTRUCT_TEAMS, OMPP_PHASE_SHUTDWN},
    {OMPP_CONSTRUCT_DISTRIBUTE, OMPP_PHASE_EXITBAR},
    {OMPP_CONSTRUCT_SCOPE, OMPP_PHASE_EXITBAR},
    {OMPP_CONSTRUCT_TARGET, OMPP_PHASE_EXEC},
};

static unsigned rules_for(unsigned construct, unsigned phase)
{
    unsigned n = 0;

    for (size_t i = 0; i < ompp_nrules; i++) n += ompp_rules[i].construct == construct && ompp_rules[i].phase == phase;
    return n;
}

static bool without_class(unsigned construct, unsigned phase)
{
    for (size_t i = 0; i < sizeof no_class / sizeof no_class[0]; i++)
        if ((no_class[i].construct == ALL || no_class[i].construct == construct) && no_class[i].phase == phase)
            return true;
    return false;
}

static void constructs(void **state)
{
    (void)state;
    for (unsigned c = 0; c < OMPP_CONSTRUCT_NUM; c++) {
        const ompp_construct_row_t *row = &ompp_constructs[c];
        assert_int_equal(ompp_construct_by_name(row->full), c);
        if (strlen(row->brief) > 8)
            print_error("%s: short name %s has more than 8 characters\n", row->full, row->brief);
        assert_true(strlen(row->brief) <= 8);
        assert_in_range(row->nphases, 1, OMPP_MAX_PHASES);
        assert_in_range(row->ncolumns, 2, OMPP_MAX_COLUMNS);
        for (unsigned s = 0; s < row->nphases; s++) {
            assert_true(row->phases[s] < OMPP_PHASE_NUM);
            assert_int_equal(ompp_phase_slot(c, row->phases[s]), s); /* not so when a phase stands twice */
        }
        if (!ompp_construct_forks(c)) continue;
        /* runtime/ompp_team_priv.h counts them from either end */
        assert_int_equal(row->phases[0], OMPP_PHASE_STARTUP);
        assert_int_equal(row->phases[row->nphases - 2], OMPP_PHASE_EXITBAR);
        assert_int_equal(row->phases[row->nphases - 1], OMPP_PHASE_SHUTDWN);
    }
    assert_int_equal(ompp_construct_by_name("nonsense"), OMPP_CONSTRUCT_NUM);
    assert_int_equal(ompp_phase_by_name("nonsense"), OMPP_PHASE_NUM);
}

/* A column of one phase stands only in constructs that have the phase; none stands twice; at most one has /I and /E. */
static void columns(void **state)
{
    (void)state;
    for (unsigned c = 0; c < OMPP_CONSTRUCT_NUM; c++) {
        unsigned split = 0;
        bool seen[OMPP_COLUMN_NUM] = {false};
        for (unsigned i = 0; i < ompp_constructs[c].ncolumns; i++) {
            unsigned column = ompp_constructs[c].columns[i] & ~OMPP_COLUMN_SPLIT;
            split += (ompp_constructs[c].columns[i] & OMPP_COLUMN_SPLIT) != 0;
            assert_true(column < OMPP_COLUMN_NUM);
            assert_false(seen[column]);
            seen[column] = true;
            ompp_column_source_t source = ompp_columns[column].source;
            if (source == OMPP_SOURCE_TIME || source == OMPP_SOURCE_TIME_LESS || source == OMPP_SOURCE_COUNT)
                assert_int_not_equal(ompp_phase_slot(c, ompp_columns[column].arg), OMPP_NO_SLOT);
        }
        assert_true(split <= 1);
    }
    for (size_t i = 0; i < ompp_nmpi_columns; i++) assert_true(ompp_mpi_columns[i] < OMPP_COLUMN_NUM);
}

static void rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < ompp_nrules; i++) {
        const ompp_rule_t *rule = &ompp_rules[i];
        assert_int_not_equal(ompp_phase_slot(rule->construct, rule->phase), OMPP_NO_SLOT);
        assert_true(rule->class < OMPP_CLASS_NUM && rule->class_few < OMPP_CLASS_NUM);
    }
    for (unsigned c = 0; c < OMPP_CONSTRUCT_NUM; c++)
        for (unsigned s = 0; !ompp_construct_is_path(c) && s < ompp_constructs[c].nphases; s++) {
            unsigned phase = ompp_constructs[c].phases[s], n = rules_for(c, phase);
            bool none = without_class(c, phase);
            if (n + none != 1)
                print_error("%s, %s: %u rules in ompp_class.def, %s in no_class\n", ompp_constructs[c].full,
                            ompp_phase_name[phase], n, none ? "also" : "not");
            assert_int_equal(n + none, 1);
        }
}

/* Rules of properties name phases that there are; the last one of a construct holds always, but for FrequentAtomic;
 * none is idle. */
static void properties(void **state)
{
    bool used[OMPP_PROPERTY_NUM] = {[OMPP_PROPERTY_SERIAL_PROGRAM] = true, [OMPP_PROPERTY_CHUNKS] = true};

    (void)state;
    for (size_t i = 0; i < ompp_nproperty_rules; i++) {
        const ompp_property_rule_t *rule = &ompp_property_rules[i];
        bool last = i + 1 == ompp_nproperty_rules || rule[1].construct != rule->construct;
        assert_int_not_equal(ompp_phase_slot(rule->construct, rule->phase), OMPP_NO_SLOT);
        assert_true(last == (rule->when == OMPP_WHEN_ALWAYS || rule->when == OMPP_WHEN_OFTEN));
        for (size_t k = 0; k < i; k++)
            assert_true(ompp_property_rules[k].construct != rule->construct || rule[-1].construct == rule->construct);
        used[rule->property] = true;
    }
    for (size_t i = 0; i < ompp_nproperty_managements; i++) {
        const ompp_property_management_t *rule = &ompp_property_managements[i];
        bool last = i + 1 == ompp_nproperty_managements || rule[1].construct != rule->construct;
        assert_true(ompp_construct_forks(rule->construct));
        assert_true(last == (rule->when == OMPP_WHEN_ALWAYS));
        used[rule->property] = true;
    }
    for (unsigned size = OMPP_TASKS_FIT + 1; size < OMPP_TASKS_NUM; size++) used[ompp_property_tasks[size]] = true;
    for (unsigned p = 0; p < OMPP_PROPERTY_NUM; p++) {
        const char *advice = ompp_properties[p].advice;
        assert_true(used[p]);
        assert_true(*advice && advice[strlen(advice) - 1] == '.' && strlen(advice) < 130);
    }
}

/* What is said of calls of MPI is true of each: by kind, as they wait for different things or for nothing. */
static void calls(void **state)
{
    static const struct {
        ompp_property_t property;
        const char *call, *said;
    } row[] = {
        {OMPP_PROPERTY_MPI_CALL, "MPI_Barrier", "ranks wait for each other"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Init", "starts MPI"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Init_thread", "starts MPI"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Finalize", "ends MPI"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Wait", "what was begun before"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Waitall", "what was begun before"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Waitany", "one of the messages"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Testsome", "waits for none"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Probe", "until a message comes"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Mprobe", "until a message comes"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Iprobe", "waits for none"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Improbe", "waits for none"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Send_init", "prepares"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Ibarrier", "Only begun"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Win_fence", "put and got"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Win_unlock_all", "put and got"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Win_free", "window"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Win_lock", "hold the window"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Win_lock_all", "let this rank in"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Win_flush_local_all", "put and got"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Win_start", "let this rank in"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Win_complete", "put and got"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Win_post", "waits for nobody"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Win_wait", "post it earlier"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Win_test", "waits for none"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Win_sync", "this rank alone"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Win_attach", "larger pieces"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Win_set_name", "this rank alone"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_File_write_at", "files"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Comm_split", "communicator"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Dist_graph_create", "communicator"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Graph_create", "communicator"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Intercomm_create", "communicator"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Info_create", "by themselves"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Pack", "copies"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Type_commit", "this rank alone"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Unpack", "copies"},
        {OMPP_PROPERTY_MPI_CALL, "MPI_Group_incl", "by themselves"},
        {OMPP_PROPERTY_MPI_CALL, "", "by themselves"},
        {OMPP_PROPERTY_MPI_COMMUNICATION, "MPI_Bcast", "fewer and larger calls"},
        {OMPP_PROPERTY_MPI_COMMUNICATION, "MPI_Ibcast", "Only begun"},
        {OMPP_PROPERTY_MPI_MUCH, "MPI_Sendrecv", "move less of it"},
        {OMPP_PROPERTY_MPI_MUCH, "MPI_Isend", "Only begun"},
        {OMPP_PROPERTY_MPI_COMMUNICATION, "MPI_Put", "windows"},
        {OMPP_PROPERTY_MPI_COMMUNICATION, "MPI_Get", "windows"},
        {OMPP_PROPERTY_MPI_COMMUNICATION, "MPI_Rget", "Only begun"},
        {OMPP_PROPERTY_MPI_COMMUNICATION, "MPI_Raccumulate", "Only begun"},
        {OMPP_PROPERTY_MPI_COMMUNICATION, "MPI_Fetch_and_op", "one value"},
        {OMPP_PROPERTY_MPI_RECEIVE, "MPI_Recv", "MPI_Irecv"},
        {OMPP_PROPERTY_MPI_RECEIVE, "MPI_Irecv", "Only begun"},
        {OMPP_PROPERTY_MPI_RECEIVE, "MPI_Startall", "Only begun"},
        {OMPP_PROPERTY_MPI_LATE_RECEIVER, "MPI_Send", "MPI_Isend"},
        {OMPP_PROPERTY_MPI_LATE_RECEIVER, "MPI_Isend", "only begins"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        if (!strstr(ompp_property_advice(row[i].property, row[i].call), row[i].said))
            fail_msg("%s: %s", row[i].call, ompp_property_advice(row[i].property, row[i].call));
    for (size_t i = 0; i < ompp_nproperty_calls; i++) {
        const ompp_property_call_t *call = &ompp_property_calls[i];
        assert_true(call->advice[strlen(call->advice) - 1] == '.' && strlen(call->advice) < 150);
        for (const ompp_property_call_t *before = ompp_property_calls; before < call; before++)
            assert_true(call->property != before->property || strcmp(call->calls, before->calls) != 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(constructs), cmocka_unit_test(columns), cmocka_unit_test(rules),
                                       cmocka_unit_test(properties), cmocka_unit_test(calls)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
