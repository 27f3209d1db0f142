#define _GNU_SOURCE
#include "core_tools.h"

#include "model/ompp_merge.h"
#include "process/ompp_lifecycle.h"
#include "process/ompp_snapshot.h"

#include <inttypes.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- Clock and text ---------------------------------------------------------------------------------------------- */

static _Atomic uint64_t now_ns;

/* Replaces the C library's function. Never 0, which the runtime takes for a clock that was never read. */
int clock_gettime(clockid_t id, struct timespec *t)
{
    const uint64_t ns = UINT64_C(1000000000) + now_ns;

    (void)id;
    *t = (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    return 0;
}

static char written[1 << 18];

const char *core_written(void) { return written; }

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    const size_t n = strlen(written);
    va_list args;

    va_start(args, format);
    vsnprintf(written + n, sizeof written - n, format, args);
    va_end(args);
}

/* ---- Profile ----------------------------------------------------------------------------------------------------- */

static void say_path(const ompp_profile_t *p, uint32_t node)
{
    const ompp_region_t *r = &p->regions[p->nodes[node].region];

    if (p->nodes[node].parent) say_path(p, p->nodes[node].parent);
    say("%s%s%s", p->nodes[node].parent ? "/" : " ",
        ompp_constructs[r->construct].flags & OMPP_CONSTRUCT_F_TASK ? "*" : "", ompp_profile_text(p, r->name));
}

static void say_phases(const uint64_t *values, uint32_t n)
{
    say(" %" PRIu64, values[0]);
    for (uint32_t i = 1; i < n; i += OMPP_SLOT_NUM) {
        const uint64_t *v = &values[i];
        if (!v[0] && !v[1] && !v[2] && !v[3]) say(" ()");
        else say(" (%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 ")", v[0], v[1], v[2], v[3]);
    }
}

static void say_blocks(const ompp_profile_t *p, uint32_t node, uint32_t location)
{
    bool is_first = true;

    for (uint32_t i = 0; i < p->nodes[node].nblocks; i++) {
        const ompp_block_t *block = &p->nodes[node].blocks[i];
        if (block->location != location) continue;
        if (is_first) say("\n%u", location), say_path(p, node);
        is_first = false;
        if (block->set == OMPP_SET_PHASES) say_phases(block->values, block->nvalues);
        else
            for (uint32_t k = 0; k < block->nvalues; k++)
                say("%s%" PRIu64 "%s", k ? " " : " [", block->values[k], k + 1 < block->nvalues ? "" : "]");
    }
}

static void collect(bool rows)
{
    static const char *const kinds[] = {"initial", "team", "nested", "other"};
    ompp_profile_t *p = ompp_snapshot_profile(OMPP_END_DUMP);
    char why[256];

    assert_non_null(p);
    if (ompp_profile_check(p, why, sizeof why) != 0) say("\n%s", why);
    for (uint32_t l = 0; l < p->nlocations; l++) {
        const ompp_location_t *row = &p->locations[l];
        if (rows) say("\n%u %s %" PRIu64 "-%" PRIu64, row->tid, kinds[row->kind], row->begin_ns, row->end_ns);
        else
            for (uint32_t node = 1; node < p->nnodes; node++) say_blocks(p, node, l);
    }
    for (size_t i = 0; !rows && i < p->ncoverage; i++) {
        const ompp_coverage_t *c = &p->coverage[i];
        if (c->kind == OMPP_COVERAGE_MISMATCH || c->kind == OMPP_COVERAGE_DROPPED || c->kind == OMPP_COVERAGE_LEFT ||
            c->kind == OMPP_COVERAGE_LOSS || c->kind == OMPP_COVERAGE_PAUSED || c->kind == OMPP_COVERAGE_DISABLED)
            say("\n%s %s %" PRIu64, ompp_coverage_rows[c->kind].name, ompp_profile_text(p, c->reason), c->count);
    }
    ompp_profile_free(p);
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

typedef struct {
    ompp_time_t t;
    const char *word, *a, *b, *c; /* "" = none */
} event_t;

static ompp_team_t *teams[4]; /* 0 = none */
static ompp_task_t tasks[4];  /* 0 = none */

static ompp_region_ref_t region(const char *name)
{
    static const struct {
        const char *start;
        ompp_construct_t construct;
        unsigned flags;
    } kinds[] = {{"par", OMPP_CONSTRUCT_PARALLEL, 0}, {"sections", OMPP_CONSTRUCT_PARSECTS, 0},
                 {"loop", OMPP_CONSTRUCT_LOOP, 0},    {"critical", OMPP_CONSTRUCT_CRITICAL, 0},
                 {"wait", OMPP_CONSTRUCT_BARRIER, 0}, {"task", OMPP_CONSTRUCT_TASK, 0},
                 {"mpi", OMPP_CONSTRUCT_MPI, 0},      {"fn", OMPP_CONSTRUCT_USER_REGION, OMPP_REGION_F_FUNCTION},
                 {"", OMPP_CONSTRUCT_USER_REGION, 0}};
    size_t k = 0;

    while (strncmp(name, kinds[k].start, strlen(kinds[k].start)) != 0) k++;
    const ompp_region_def_t def = {.construct = kinds[k].construct, .name = name, .flags = kinds[k].flags};
    if (*name == '0' || *name == '?') return *name == '?' ? OMPP_REGION_LOST : 0;
    return ompp_region_define(&def);
}

static bool is(const event_t *e, const char *word) { return strcmp(e->word, word) == 0; }

static ompp_team_t **team(const char *name) { return &teams[name[1] - '0']; }

static ompp_task_t *task(const char *name) { return &tasks[*name == 'n' ? 0 : *name - '@']; }

static void ask(void)
{
    static const char *const states[] = {"none", "awaited", "begun"}, *const regions[] = {"none", "skipped", "open"};
    const ompp_region_ref_t r = ompp_event_innermost(OMPP_CONSTRUCT_USER_REGION);
    unsigned in = 0;

    while (in < 4 && teams[in] != ompp_event_team()) in++;
    say("\nteam T%u, barrier %s, user region %s, in %s:", in, states[ompp_event_barrier_state()],
        regions[r > OMPP_REGION_SKIPPED ? 2 : r], ompp_event_task_region() ? "a task" : "no task");
    for (int i = 1; i < 4; i++)
        if (tasks[i])
            say(" %c%s%s", '@' + i, ompp_event_task_below(tasks[i]) ? " below" : "",
                ompp_event_task_suspended(tasks[i]) ? " suspended" : "");
}

static void deliver(const event_t *e)
{
    const ompp_time_t t = e->t;
    const unsigned number = (unsigned)atoi(e->b);

    if (is(e, "enter")) ompp_event_enter(region(e->a), t);
    else if (is(e, "phase")) ompp_event_phase(region(e->a), ompp_phase_by_name(e->b), t);
    else if (is(e, "exit")) ompp_event_exit(region(e->a), t);
    else if (is(e, "release")) ompp_event_release(region(e->a), t);
    else if (is(e, "unwind")) ompp_event_unwind(region(e->a), t);
    else if (is(e, "count")) ompp_event_count(region(e->a));
    else if (is(e, "function")) ompp_event_enter_function(region(e->a), (void *)(uintptr_t)number, NULL, t);
    else if (is(e, "return")) ompp_event_exit_function(region(e->a), (void *)(uintptr_t)number, t);
    else if (is(e, "caught")) ompp_event_caught((void *)(uintptr_t)atoi(e->a), t);
    else if (is(e, "ended")) ompp_event_exit_or_barrier(region(e->a), t);
    else if (is(e, "barrier")) ompp_event_barrier_phase(*e->a == 'b', t);
    else if (is(e, "fork")) *team(e->b) = ompp_event_fork(region(e->a), t);
    else if (is(e, "begin")) ompp_event_member_begin(*team(e->a), number, *e->c == 'n', t);
    else if (is(e, "arrive")) ompp_event_member_barrier(true, t);
    else if (is(e, "leave")) ompp_event_member_barrier(false, t);
    else if (is(e, "end")) ompp_event_member_end(t);
    else if (is(e, "join")) ompp_event_join(*team(e->a), t);
    else if (is(e, "create")) *task(e->b) = ompp_event_task_create(ompp_region_exec_of(region(e->a)), t);
    else if (is(e, "run")) ompp_event_task_begin(task(e->a), t);
    else if (is(e, "suspend")) ompp_event_task_suspend(*task(e->a), t);
    else if (is(e, "resume")) ompp_event_task_resume(*task(e->a), t);
    else if (is(e, "current")) ompp_event_task_current(*task(e->a), t);
    else if (is(e, "over")) ompp_event_task_end(*task(e->a), t);
    else if (is(e, "on") || is(e, "off")) ompp_event_switch(is(e, "on"), "test");
    else if (is(e, "add")) ompp_event_add(OMPP_SET_MPI, OMPP_METRIC_BYTES_IN, (uint64_t)atoi(e->a));
    else if (is(e, "collect") || is(e, "rows")) collect(is(e, "rows"));
    else if (is(e, "ask")) ask();
    else if (*e->word) say("\nunknown event: %s", e->word);
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

static struct {
    pthread_t id;
    bool is_alive;
    sem_t go, done;
    const event_t *event; /* NULL = end */
} threads[4];

static void *work(void *index)
{
    const size_t i = (size_t)(uintptr_t)index;

    while (sem_wait(&threads[i].go) == 0 && threads[i].event) {
        deliver(threads[i].event);
        sem_post(&threads[i].done);
    }
    return NULL;
}

static void step(size_t i, const event_t *event)
{
    if (!threads[i].is_alive) {
        sem_init(&threads[i].go, 0, 0);
        sem_init(&threads[i].done, 0, 0);
        assert_int_equal(pthread_create(&threads[i].id, NULL, work, (void *)(uintptr_t)i), 0);
    }
    threads[i].is_alive = event != NULL;
    threads[i].event = event;
    sem_post(&threads[i].go);
    if (event) sem_wait(&threads[i].done);
    else pthread_join(threads[i].id, NULL);
}

static void play_one(char *text)
{
    char *token[6] = {"", "", "", "", "", ""}, *rest = NULL, *part = strtok_r(text, " \n", &rest);
    unsigned n = 0;

    for (; part && n < 6; part = strtok_r(NULL, " \n", &rest)) token[n++] = part;
    const size_t thread = token[1][0] == 'W' ? (size_t)(token[1][1] - '0') : 0;
    char **word = &token[thread ? 2 : 1];
    const event_t event = {strtoul(token[0], NULL, 10), word[0], word[1], word[2], word[3]};
    if (event.t > now_ns) now_ns = event.t;
    if (thread) step(thread, is(&event, "gone") ? NULL : &event);
    else deliver(&event);
}

void core_play(const char *format, ...)
{
    char text[4096], *rest = NULL;
    va_list args;

    va_start(args, format);
    assert_true(vsnprintf(text, sizeof text, format, args) < (int)sizeof text);
    va_end(args);
    if (ompp_runtime_start()) ompp_arena_unlink(&ompp_process.arena); /* a case that fails leaves no file */
    for (char *one = strtok_r(text, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) play_one(one);
}

/* ---- Cases ------------------------------------------------------------------------------------------------------- */

static bool is_same(const char *a, const char *b)
{
    for (size_t n, m;; a += n, b += m) {
        a += strspn(a, " \n");
        b += strspn(b, " \n");
        n = strcspn(a, " \n");
        m = strcspn(b, " \n");
        if (n != m || memcmp(a, b, n) != 0) return false;
        if (n == 0) return true;
    }
}

static void run_here(const core_case_t *it)
{
    alarm(60);
    setenv("CMOCKA_TEST_ABORT", "1", 1); /* a failure ends this process, not the case */
    setenv("OMPP_CLOCK", "gettime", 1);
    if (it->run) it->run();
    if (it->events) core_play("%s", it->events);
    for (size_t i = 1; i < 4; i++)
        if (threads[i].is_alive) step(i, NULL);
    atomic_store(&ompp_process.state, OMPP_STATE_DEAD); /* no report of this at exit */
    if (it->expected && !is_same(written, it->expected)) fail_msg("expected:\n%s\ngot:%s", it->expected, written);
    exit(0);
}

static void run(void **state)
{
    const core_case_t *it = *state;
    int status;

    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) run_here(it);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int core_main(const core_case_t *cases, size_t n)
{
    struct CMUnitTest tests[n];

    for (size_t i = 0; i < n; i++) tests[i] = (struct CMUnitTest){cases[i].name, run, NULL, NULL, (void *)&cases[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
