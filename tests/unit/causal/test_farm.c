/*
 * A manager hands out random tasks to those that are free, in simulated time: once as it is, noted, and once with a
 * region really faster. Going through what was noted must predict that exactly; clocks that keep the measured order
 * must fail.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
/* after those: */
#include <cmocka.h>

#include "causal/replay/ompp_farm.h"
#include "tests/unit/causal/random.h"

#define PROGRAMS 200
#define REGIONS 3u
#define MOST_WORKERS 60u
#define MOST_TASKS 20000u
#define START 1000
#define AHEAD 3u
#define FIRST 7u /* rank of the first worker */

typedef struct {
    unsigned region; /* REGIONS = none */
    double ns;
} work_t;

typedef struct {
    unsigned nworkers, ntasks;
    bool reports;   /* workers ask for their first task */
    bool in_parts;  /* a task is two messages, and so is a result */
    unsigned ahead; /* tasks that each worker has */
    bool records;   /* the manager tells another rank, which never answers, of each result */
    bool latent;    /* results take time to come */
    double takes[MOST_WORKERS], later[MOST_WORKERS]; /* later: the first result of each */
    enum { FIRST_COME, IN_TURN, LOWEST } choice;     /* MPI's, of those that are there when the manager asks */
    bool sends_ends; /* to all, when there is no task left; else to each as it has nothing left to do */
    /* before: the manager's, before it hands out a task */
    work_t tasks[MOST_TASKS], before[MOST_TASKS], first[MOST_WORKERS];
} program_t;

static program_t program;

static work_t random_work(unsigned most) { return (work_t){below(REGIONS + 1), 1 + below(below(4) ? most : 8 * most)}; }

static void make_program(unsigned nworkers, unsigned ntasks)
{
    program_t *p = &program;

    *p = (program_t){.nworkers = nworkers,
                     .ntasks = ntasks,
                     .reports = below(2),
                     .in_parts = below(2),
                     .sends_ends = below(2),
                     .records = below(2),
                     .latent = below(2),
                     .ahead = 1 + below(2) * below(AHEAD)};
    for (unsigned i = 0; i < ntasks; i++) {
        p->tasks[i] = random_work(1000000);
        p->before[i] = random_work(10000);
    }
    for (unsigned i = 0; i < nworkers; i++) {
        p->first[i] = random_work(300000);
        p->takes[i] = p->latent ? below(30000) : 0;
    }
}

/* ---- The program runs -------------------------------------------------------------------------------------------- */

/* One clock, that of a region and a speed-up; or all of them, with the measured order. */
typedef struct {
    ompp_clock_vector_t manager, last[MOST_WORKERS]; /* last: result of each worker */
    struct {
        ompp_clock_vector_t vectors[AHEAD];
        unsigned n;
    } results[MOST_WORKERS]; /* that are under way, the oldest first */
    bool answered[MOST_WORKERS];
    unsigned latest; /* worker */
} run_t;

static run_t run;
static ompp_farm_t *farm;      /* NULL = a run that nobody notes */
static unsigned fast, percent; /* the region that is really faster in it */

static ompp_farm_t *new_farm(void)
{
    ompp_farm_t *f = aligned_alloc(_Alignof(ompp_farm_t), sizeof *f);

    assert_non_null(f);
    memset(f, 0, sizeof *f);
    return f;
}

static double scaled(work_t w, unsigned region, unsigned by)
{
    return w.region == region ? w.ns * (100 - by) : w.ns * 100;
}

static void work(ompp_clock_vector_t *s, work_t w)
{
    s->t += scaled(w, fast, percent);
    for (unsigned i = 0; i < s->used; i++)
        s->v[i] += scaled(w, i / OMPP_WHATIF_SPEEDUPS, 25 * (i % OMPP_WHATIF_SPEEDUPS + 1));
}

static void wait_for(ompp_clock_vector_t *s, const ompp_clock_vector_t *other)
{
    if (other->t > s->t) s->t = other->t;
    for (unsigned i = 0; i < s->used; i++)
        if (other->v[i] > s->v[i]) s->v[i] = other->v[i];
}

static double takes(unsigned worker)
{
    return program.takes[worker] + (run.answered[worker] ? 0 : program.later[worker]);
}

static void wait_for_message(ompp_clock_vector_t *s, const ompp_clock_vector_t *result, unsigned worker)
{
    ompp_clock_vector_t there = *result;

    work(&there, (work_t){REGIONS, takes(worker)});
    wait_for(s, &there);
}

static void do_task(unsigned worker, const ompp_clock_vector_t *given, work_t task)
{
    ompp_clock_vector_t *last = &run.last[worker];

    if (last->t == 0) *last = *given;
    else wait_for(last, given);
    work(last, task);
    assert_true(run.results[worker].n < AHEAD);
    run.results[worker].vectors[run.results[worker].n++] = *last;
}

static void give(unsigned worker, int task)
{
    if (farm) ompp_farm_give(farm, FIRST + worker, &run.manager);
    if (task >= 0 && program.in_parts) {
        work(&run.manager, (work_t){REGIONS, 17});
        if (farm) ompp_farm_give(farm, FIRST + worker, &run.manager);
    }
    if (task >= 0) do_task(worker, &run.manager, program.tasks[task]);
}

static double comes(unsigned worker) { return run.results[worker].vectors[0].t + 100 * takes(worker); }

/* Whose result MPI has for who asks for any. */
static unsigned choose(void)
{
    const unsigned n = program.nworkers;
    unsigned first = n;

    for (unsigned i = 0; i < n && program.choice != FIRST_COME; i++) {
        const unsigned w = program.choice == LOWEST ? i : (run.latest + 1 + i) % n;
        if (run.results[w].n && comes(w) <= run.manager.t) return w;
    }
    for (unsigned w = 0; w < n; w++)
        if (run.results[w].n && (first == n || comes(w) < comes(first))) first = w;
    return first;
}

static unsigned take(void)
{
    const unsigned first = choose();

    assert_true(first < program.nworkers);
    const ompp_clock_vector_t result = run.results[first].vectors[0];
    if (farm) ompp_farm_take(farm, FIRST + first, true, &run.manager, &result);
    wait_for_message(&run.manager, &result, first);
    run.answered[first] = true;
    run.latest = first;
    if (farm) ompp_farm_go_on(farm, &run.manager);
    if (farm && program.in_parts) {
        ompp_farm_take(farm, FIRST + first, false, &run.manager, &result);
        ompp_farm_go_on(farm, &run.manager);
    }
    memmove(run.results[first].vectors, run.results[first].vectors + 1, --run.results[first].n * sizeof result);
    return first;
}

static void begin(void)
{
    memset(&run, 0, sizeof run);
    run.manager = (ompp_clock_vector_t){.t = START, .set = 1, .used = farm ? REGIONS * OMPP_WHATIF_SPEEDUPS : 0};
    for (unsigned i = 0; i < run.manager.used; i++) run.manager.v[i] = START - 10.0 * i;
    if (farm) ompp_farm_begin(farm, &run.manager);
}

static void answer(unsigned worker, unsigned *given)
{
    work(&run.manager, program.before[*given % program.ntasks]);
    if (*given < program.ntasks) give(worker, (int)(*given)++);
    else if (!program.sends_ends) give(worker, -1);
}

/* \return when the manager has all results. */
static double execute(void)
{
    const program_t *p = &program;
    unsigned given = 0, taken = 0;

    begin();
    for (unsigned w = 0; w < p->nworkers && p->reports; w++) do_task(w, &run.manager, p->first[w]);
    for (unsigned i = 0; i < p->ahead && !p->reports; i++)
        for (unsigned w = 0; w < p->nworkers; w++) give(w, given < p->ntasks ? (int)given++ : -1);
    while (taken < p->ntasks + (p->reports ? p->nworkers : 0)) {
        const unsigned w = take();
        taken++;
        if (p->records && farm) ompp_farm_give(farm, FIRST + p->nworkers, &run.manager);
        answer(w, &given);
    }
    for (unsigned w = 0; w < p->nworkers && p->sends_ends; w++) give(w, -1);
    return run.manager.t;
}

static double worst; /* by which a clock was off, of the run */
static bool fitted;
static unsigned off; /* clocks, by 2 % or more: how long results take is not known of those that nobody waited for */

/* \return in how many cases clocks in the measured order were wrong. */
static unsigned compare(void)
{
    ompp_clock_vector_t reported;
    unsigned wrong = 0;

    farm = new_farm();
    fast = REGIONS;
    percent = 0;
    const double end = execute();
    reported = run.manager;
    assert_true(ompp_farm_end(farm, &reported));
    const ompp_clock_vector_t measured = run.manager;
    fitted = farm->fits;
    free(farm);
    farm = NULL;
    for (unsigned i = 0; i < REGIONS * OMPP_WHATIF_SPEEDUPS; i++) {
        fast = i / OMPP_WHATIF_SPEEDUPS;
        percent = 25 * (i % OMPP_WHATIF_SPEEDUPS + 1);
        const double then = execute() - 10.0 * i; /* its clock was ahead by that at the begin */
        assert_true(reported.t == end);
        assert_true(reported.v[i] == then || program.latent);
        worst = fmax(worst, fabs(reported.v[i] - then) / (end - START));
        off += 50 * (reported.v[i] > then ? reported.v[i] - then : then - reported.v[i]) > end - START;
        wrong += measured.v[i] != then;
    }
    return wrong;
}

static void random_programs(void **state)
{
    unsigned wrong = 0, all = PROGRAMS * REGIONS * OMPP_WHATIF_SPEEDUPS;

    (void)state;
    for (unsigned i = 0; i < PROGRAMS; i++) {
        seed = i + 1;
        make_program(2 + below(12), 1 + below(120));
        wrong += compare();
    }
    assert_true(wrong > all / 2);
    assert_true(off < all / 40);
}

/* More events than are kept, and more workers than most. */
static void long_ones(void **state)
{
    (void)state;
    seed = 4711;
    make_program(3, MOST_TASKS);
    compare();
    seed = 4712;
    make_program(MOST_WORKERS, 2000);
    program.ahead = 1;
    compare();
}

typedef struct {
    unsigned nworkers;
    double least, most; /* ns, a task */
    double manages, takes, later;
    double near; /* of the run */
} busy_t;

/* Two regions of tasks, and the manager's. */
static void make_busy(const busy_t *b, unsigned choice)
{
    program_t *p = &program;

    seed = 1;
    *p = (program_t){.nworkers = b->nworkers, .ntasks = 2000, .ahead = 1, .latent = true, .choice = choice};
    for (unsigned i = 0; i < p->ntasks; i++) {
        p->tasks[i] = (work_t){below(2), b->least + below((unsigned)(b->most - b->least))};
        p->before[i] = (work_t){2, b->manages};
    }
    for (unsigned w = 0; w < p->nworkers; w++) p->takes[w] = b->takes / 2 + below((unsigned)b->takes);
    p->later[0] = b->later;
}

static void is_near(const busy_t *b, unsigned choice)
{
    make_busy(b, choice);
    worst = 0;
    compare();
    if (worst > b->near || !fitted)
        print_message("%u workers, choice %u: off by %g of the run, fits: %d\n", b->nworkers, choice, worst, fitted);
    assert_true(worst <= b->near && fitted);
}

/*
 * Managers that are busy: results lie there, and MPI may choose any of them. That is not what messages take, however
 * long the first ones did: what is told is near, and fits.
 */
static void busy_managers(void **state)
{
    static const busy_t rows[] = {
        {16, 3e6, 9e6, 0.5e6, 20e3, 0, 0.005},
        {8, 3e6, 5e6, 0.45e6, 20e3, 0, 0.005},
        {8, 3e6, 5e6, 0.6e6, 20e3, 0, 0.005},
        {30, 3e6, 5e6, 0.12e6, 20e3, 0, 0.005},
    };
    /*
     * Those with the highest numbers would have their first results taken last, if the lowest were chosen. In the last
     * row messages take as much as a fifth of what the manager does, and how much is seen of one of them alone.
     */
    static const busy_t too_busy[] = {
        {8, 2e6, 6e6, 1e6, 20e3, 0, 0.005},
        {8, 2e6, 6e6, 1e6, 20e3, 3e6, 0.005},
        {8, 2e5, 6e5, 1e5, 20e3, 1e5, 0.03},
    };

    (void)state;
    for (unsigned choice = FIRST_COME; choice <= LOWEST; choice++)
        for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) is_near(&rows[i], choice);
    for (unsigned choice = FIRST_COME; choice <= IN_TURN; choice++)
        for (unsigned i = 0; i < sizeof too_busy / sizeof *too_busy; i++) is_near(&too_busy[i], choice);
}

static ompp_clock_vector_t at(double t) { return (ompp_clock_vector_t){.t = t, .set = 1}; }

static void hand_to(unsigned rank, double t)
{
    const ompp_clock_vector_t now = at(t);

    ompp_farm_give(farm, rank, &now);
}

static void take_from(unsigned rank, double begin, double result)
{
    const ompp_clock_vector_t now = at(begin), then = at(result), end = at(begin > result ? begin : result);

    ompp_farm_take(farm, rank, true, &now, &then);
    ompp_farm_go_on(farm, &end);
}

/* Two ranks have had a task each. */
static void begin_well(void)
{
    const ompp_clock_vector_t now = at(1e6);

    ompp_farm_begin(farm, &now);
    hand_to(1, 1e6);
    hand_to(2, 1e6);
    take_from(1, 1e6, 2e6);
    take_from(2, 2e6, 3e6);
}

static bool is_reported(double t, uint64_t set)
{
    ompp_clock_vector_t end = {.t = t, .set = set};

    return ompp_farm_end(farm, &end);
}

/* Two ranks in turn; results take 1 us to come, the last one so much. \return whether it fits. */
static bool fits_with(double last)
{
    const ompp_clock_vector_t begin = at(1e6);
    double t = 1e6;

    ompp_farm_begin(farm, &begin);
    hand_to(1, t);
    hand_to(2, t);
    for (unsigned i = 0; i < 10; i++) {
        const double takes = i < 9 ? 1e5 : last;
        const ompp_clock_vector_t now = at(t), sent = at(t + 1e8), there = at(t + 1e8 + takes);
        ompp_farm_take(farm, 1 + i % 2, true, &now, &sent);
        ompp_farm_go_on(farm, &there);
        t = there.t;
        hand_to(1 + i % 2, t);
    }
    assert_true(is_reported(t, 1));
    return farm->fits;
}

/* A call that takes much longer than usual may have waited for something else. */
static void odd_ones(void **state)
{
    (void)state;
    farm = new_farm();
    assert_true(fits_with(1e5) && fits_with(2e7));
    assert_false(fits_with(7e7));
    free(farm);
    farm = NULL;
}

/* What cannot be told, and what is not what it seems; each beside what can. */
static void not_reported(void **state)
{
    const ompp_clock_vector_t late = at(4e6), little = at(3.1e6), busy = at(5e6), then = at(4e6), longer = at(5.4e6);

    (void)state;
    farm = new_farm();
    assert_false(is_reported(3e6, 1)); /* nothing was begun */
    begin_well();
    assert_true(is_reported(3e6, 1) && farm->fits);
    begin_well();
    assert_false(is_reported(3e6, 2)); /* another set of regions */
    begin_well();
    ompp_farm_go_on(farm, &late); /* it has waited for something else */
    assert_false(is_reported(4e6, 1));
    begin_well();
    hand_to(2, 3e6);
    take_from(2, 5e6, 4e6); /* it was there, and the call took a while */
    ompp_farm_take(farm, 2, false, &busy, &then);
    ompp_farm_go_on(farm, &longer);
    assert_true(is_reported(5.4e6, 1) && farm->fits);
    begin_well();
    ompp_farm_go_on(farm, &little);
    assert_true(is_reported(3.1e6, 1) && !farm->fits);

    begin_well();
    hand_to(2, 3e6);
    take_from(2, 3e6, 4e6);
    assert_true(is_reported(4e6, 1));
    begin_well();
    hand_to(1, 3e6); /* the answer to a result before the latest one */
    take_from(1, 3e6, 4e6);
    assert_false(is_reported(4e6, 1));
    begin_well();
    hand_to(2, 3e6);
    take_from(2, 3e6, 2.5e6 - 2e6); /* a result from before the task */
    assert_false(is_reported(3e6, 1));

    begin_well();
    hand_to(2, 3e6);
    hand_to(2, 3e6); /* one task, in two messages, */
    take_from(2, 3e6, 4e6);
    assert_true(is_reported(4e6, 1));
    begin_well();
    hand_to(2, 3e6);
    hand_to(2, 3e6);
    hand_to(3, 3e6);
    take_from(2, 3e6, 4e6);
    take_from(3, 4e6, 5e6);
    take_from(2, 5e6, 6e6); /* or two: more results than tasks */
    assert_false(is_reported(6e6, 1));

    begin_well();
    hand_to(OMPP_FARM_RANKS, 3e6); /* a rank that there is no room for */
    assert_false(is_reported(3e6, 1));
    ompp_farm_reset(farm);
    assert_false(ompp_farm_is_one(farm));
    free(farm);
    farm = NULL;
}

/* Ranks that send and receive without choosing among sources, or have one worker, are no managers. */
static void no_farms(void **state)
{
    const ompp_clock_vector_t now = at(1e6), then = at(2e6);

    (void)state;
    farm = new_farm();
    ompp_farm_begin(farm, &now);
    hand_to(1, 1e6);
    assert_false(ompp_farm_is_one(farm));
    take_from(1, 1e6, 2e6);
    assert_false(ompp_farm_is_one(farm));
    ompp_farm_begin(farm, &now);
    for (unsigned i = 0; i < OMPP_FARM_TRIES; i++) {
        ompp_farm_give(farm, i % 2, &now);
        ompp_farm_take(farm, i % 2, false, &now, &then);
    }
    assert_true(farm->spoiled);
    free(farm);
    farm = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs), cmocka_unit_test(long_ones),
                                       cmocka_unit_test(busy_managers),   cmocka_unit_test(odd_ones),
                                       cmocka_unit_test(not_reported),    cmocka_unit_test(no_farms)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
