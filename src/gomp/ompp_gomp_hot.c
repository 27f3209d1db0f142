/*
 * Teams, mutual exclusion, cancellation and devices of programs on libgomp. Every function tells events and calls
 * libgomp's.
 */
#include "gomp/ompp_gomp_priv.h"

/* ---- Teams ------------------------------------------------------------------------------------------------------- */

/** What a thread is in the middle of, kept while it is a member of a team further in. */
typedef struct {
    ompp_region_ref_t team; /* region of the innermost team this thread is a member of */
    bool dynamic;           /* ompp_gomp_dynamic */
    const void *single;     /* ompp_gomp_single_code */
} place_t;

/** What the members of a team need; on the forking thread's stack until the join. */
typedef struct {
    void *reductions; /* GOMP_parallel_reductions looks for them at the begin of the data */
    ompp_gomp_body_t body;
    void *data;
    ompp_team_t *team;
    ompp_region_ref_t region;
    int schedule; /* of the loop that all it does is */
    bool nested;
    place_t outer; /* of a team whose first member goes on in the caller: where that one comes back to */
} team_t;

enum { MAX_STARTED = 8 };

static __thread struct {
    ompp_region_ref_t team; /* as in place_t */
    /* teams whose first member goes on in the caller (compilers before GCC 4.9), innermost last */
    team_t started[MAX_STARTED];
    unsigned nstarted;
    /* it has left the code of a team as a worker, and who follows waiting has not been told of the barrier's end */
    bool left;
} self __attribute__((tls_model("initial-exec")));

static int thread_number(void) { return OMPP_REAL(int (*)(void), "omp_get_thread_num")(); }

static void fork_team(team_t *w, ompp_construct_t construct, int schedule, ompp_gomp_body_t body, void *data,
                      const void *code)
{
    w->reductions = NULL;
    w->body = body;
    w->data = data;
    w->schedule = schedule;
    w->nested = OMPP_REAL(int (*)(void), "omp_get_active_level")() > 0;
    w->region = ompp_gomp_region_of(construct, body);
    /* the call: of a stripped library it may have a name where the region's function has none */
    ompp_region_ends_at(w->region, code);
    w->team = ompp_event_fork(w->region, ompp_event_now());
}

static place_t place_here(void) { return (place_t){self.team, ompp_gomp_dynamic, ompp_gomp_single_code}; }

static void come_back(place_t outer)
{
    self.team = outer.team;
    ompp_gomp_dynamic = outer.dynamic;
    ompp_gomp_single_code = outer.single;
}

/* A worker has left the barrier of its last team when that team was joined. Who follows waiting is told now; else the
 * begin in the next team closes what is open. */
static void leave_last_team(ompp_time_t t)
{
    if (!self.left) return;
    self.left = false;
    ompp_event_member_barrier(false, t);
}

/* \return the thread's number in the team. */
static int member_begin(const team_t *w)
{
    int number = thread_number();
    ompp_time_t t = ompp_event_now();

    self.team = w->region;
    if (number > 0) leave_last_team(t); /* in its barrier it may run a task that forks */
    ompp_event_member_begin(w->team, (unsigned)number, w->nested, t);
    if (__builtin_expect(ompp_sync_follower() != NULL, 0)) ompp_gomp_loop_begins(w->schedule);
    else ompp_gomp_dynamic = false;
    return number;
}

static void member_barrier(void)
{
    ompp_time_t t = ompp_event_now();

    ompp_gomp_end_single(t);
    ompp_event_member_barrier(true, t);
}

/* What libgomp calls on each member in place of the region's function. */
static void member(void *data)
{
    const team_t *w = data;
    ompp_gomp_body_t body = w->body;
    void *own = w->data;
    const place_t outer = place_here();
    ompp_gomp_body_t outer_body = ompp_gomp_body;

    int number = member_begin(w);
    ompp_gomp_body = body;
    body(own);
    ompp_gomp_body = outer_body;
    member_barrier();
    come_back(outer);
    if (number > 0) self.left = ompp_sync_follower();
}

/* The forking thread has left the barrier at the team's end, and goes on alone. */
static void join_team(const team_t *w) { ompp_event_join(w->team, ompp_event_now()); }

#define OMPP_GOMP_PARALLEL(name, construct, n, schedule)                                   \
    OMPP_EXPORT ompp_word_t GOMP_##name(ompp_gomp_body_t body, void *data, OMPP_P##n)      \
    {                                                                                      \
        ompp_word_t (*real)(ompp_gomp_body_t, void *, OMPP_P##n) =                         \
            OMPP_REAL(ompp_word_t(*)(ompp_gomp_body_t, void *, OMPP_P##n), "GOMP_" #name); \
        ompp_word_t result;                                                                \
        team_t w;                                                                          \
                                                                                           \
        if (!ompp_gomp_on()) return real(body, data, OMPP_A##n);                           \
        fork_team(&w, OMPP_CONSTRUCT_##construct, schedule, body, data, OMPP_GOMP_HERE);   \
        result = real(member, &w, OMPP_A##n);                                              \
        join_team(&w);                                                                     \
        return result;                                                                     \
    }

/* The caller runs the region's function itself, and calls GOMP_parallel_end. */
static team_t *start_team(ompp_construct_t construct, int schedule, ompp_gomp_body_t body, void *data, const void *code)
{
    unsigned n = self.nstarted++;

    if (n >= MAX_STARTED) return NULL;
    self.started[n].team = NULL;
    self.started[n].region = 0;
    if (!ompp_gomp_on()) return NULL;
    fork_team(&self.started[n], construct, schedule, body, data, code);
    self.started[n].outer = place_here();
    return &self.started[n];
}

#define OMPP_GOMP_FORK(name, construct, n, schedule)                                              \
    OMPP_EXPORT void GOMP_##name(ompp_gomp_body_t body, void *data, OMPP_P##n)                    \
    {                                                                                             \
        void (*real)(ompp_gomp_body_t, void *, OMPP_P##n) =                                       \
            OMPP_REAL(void (*)(ompp_gomp_body_t, void *, OMPP_P##n), "GOMP_" #name);              \
        team_t *w = start_team(OMPP_CONSTRUCT_##construct, schedule, body, data, OMPP_GOMP_HERE); \
                                                                                                  \
        real(w ? member : body, w ? w : data, OMPP_A##n);                                         \
        if (w) member_begin(w);                                                                   \
    }

#include "gomp/ompp_gomp.def"

typedef unsigned reductions_t(ompp_gomp_body_t, void *, unsigned, unsigned);

OMPP_EXPORT unsigned GOMP_parallel_reductions(ompp_gomp_body_t body, void *data, unsigned threads, unsigned flags)
{
    reductions_t *real = OMPP_REAL(reductions_t *, "GOMP_parallel_reductions");
    unsigned result;
    team_t w;

    if (!ompp_gomp_on() || !data) return real(body, data, threads, flags);
    fork_team(&w, OMPP_CONSTRUCT_PARALLEL, NO_LOOP, body, data, OMPP_GOMP_HERE);
    w.reductions = *(void **)data;
    result = real(member, &w, threads, flags);
    join_team(&w);
    return result;
}

OMPP_EXPORT void GOMP_parallel_end(void)
{
    void (*real)(void) = OMPP_REAL(void (*)(void), "GOMP_parallel_end");
    unsigned n = self.nstarted ? --self.nstarted : MAX_STARTED;
    bool measured = n < MAX_STARTED && ompp_gomp_on();

    if (measured) member_barrier();
    real();
    if (!measured) return;
    come_back(self.started[n].outer);
    join_team(&self.started[n]);
}

/* A team of a league on LLVM's library: its first thread is a member of TEAMS. */
static void league_member(void *data)
{
    const team_t *w = data;
    const unsigned number = (unsigned)OMPP_REAL(int (*)(void), "omp_get_team_num")();
    const place_t outer = place_here();

    if (number > 0) {
        leave_last_team(ompp_event_now());
        ompp_event_member_begin(w->team, number, false, ompp_event_now());
    }
    self.team = w->region;
    w->body(w->data);
    member_barrier();
    come_back(outer);
    if (number > 0) self.left = ompp_sync_follower();
}

/* libgomp runs the teams of a league one after the other: a team of one. On LLVM's library each has a thread. */
OMPP_EXPORT void GOMP_teams_reg(ompp_gomp_body_t body, void *data, ompp_word_t teams, ompp_word_t limit,
                                ompp_word_t flags)
{
    void (*real)(ompp_gomp_body_t, void *, ompp_word_t, ompp_word_t, ompp_word_t) =
        OMPP_REAL(void (*)(ompp_gomp_body_t, void *, ompp_word_t, ompp_word_t, ompp_word_t), "GOMP_teams_reg");
    team_t w;

    if (!ompp_gomp_on()) {
        real(body, data, teams, limit, flags);
        return;
    }
    fork_team(&w, OMPP_CONSTRUCT_TEAMS, NO_LOOP, body, data, OMPP_GOMP_HERE);
    ompp_event_member_begin(w.team, 0, false, ompp_event_now());
    if (ompp_gomp_by_llvm) {
        real(league_member, &w, teams, limit, flags);
    } else {
        real(body, data, teams, limit, flags);
        member_barrier();
    }
    join_team(&w);
}

/* ---- Mutual exclusion -------------------------------------------------------------------------------------------- */

static ompp_region_ref_t enter_mutex(ompp_construct_t construct, const void *code)
{
    ompp_region_ref_t region = ompp_gomp_on() ? ompp_region_at(construct, code, NULL) : 0;

    ompp_event_enter_brief(region);
    return region;
}

static ompp_region_ref_t leave_mutex(ompp_construct_t construct, const void *code, const void *lock)
{
    ompp_region_ref_t region = ompp_gomp_on() ? ompp_event_innermost(construct) : 0;

    if (!ompp_region_has_end(region)) {
        ompp_region_locked_by(region, lock);
        ompp_region_ends_at(region, code);
    }
    ompp_event_phase_brief(region, OMPP_PHASE_EXIT);
    return region;
}

static const char unnamed, atomics; /* their addresses stand for libgomp's locks */

OMPP_EXPORT void GOMP_critical_start(void)
{
    ompp_region_ref_t region = enter_mutex(OMPP_CONSTRUCT_CRITICAL, OMPP_GOMP_HERE);

    ompp_gomp_wait(region, OMPP_SYNC_MUTEX, &unnamed);
    OMPP_REAL(void (*)(void), "GOMP_critical_start")();
    ompp_gomp_have(region, OMPP_SYNC_MUTEX, &unnamed);
    ompp_event_phase_brief(region, OMPP_PHASE_BODY);
}

OMPP_EXPORT void GOMP_critical_end(void)
{
    ompp_region_ref_t region = leave_mutex(OMPP_CONSTRUCT_CRITICAL, OMPP_GOMP_HERE, &unnamed);

    ompp_gomp_give(region, OMPP_SYNC_MUTEX, &unnamed);
    OMPP_REAL(void (*)(void), "GOMP_critical_end")();
    ompp_event_exit_brief(region);
}

static inline void name_start(const void *code, void (*real)(void *), void *lock)
{
    ompp_region_ref_t region = enter_mutex(OMPP_CONSTRUCT_CRITICAL, code);

    ompp_gomp_wait(region, OMPP_SYNC_MUTEX, lock);
    real(lock);
    ompp_gomp_have(region, OMPP_SYNC_MUTEX, lock);
    ompp_event_phase_brief(region, OMPP_PHASE_BODY);
}

static inline void name_end(const void *code, void (*real)(void *), void *lock)
{
    ompp_region_ref_t region = leave_mutex(OMPP_CONSTRUCT_CRITICAL, code, lock);

    ompp_gomp_give(region, OMPP_SYNC_MUTEX, lock);
    real(lock);
    ompp_event_exit_brief(region);
}

OMPP_EXPORT void GOMP_critical_name_start(void **lock)
{
    name_start(OMPP_GOMP_HERE, OMPP_REAL(void (*)(void *), "GOMP_critical_name_start"), lock);
}

OMPP_EXPORT void GOMP_critical_name_end(void **lock)
{
    name_end(OMPP_GOMP_HERE, OMPP_REAL(void (*)(void *), "GOMP_critical_name_end"), lock);
}

/* As the two above, found by the lock's address. */
static __attribute__((noinline)) void calibrated_start(void *lock) { name_start(lock, ompp_calibrated_set, lock); }
static __attribute__((noinline)) void calibrated_end(void *lock) { name_end(lock, ompp_calibrated_unset, lock); }

void ompp_gomp_calibrated_critical(ompp_region_ref_t region, void *lock)
{
    (void)region;
    calibrated_start(lock);
    calibrated_end(lock);
}

/* Of operations that the processor does not have. */
OMPP_EXPORT void GOMP_atomic_start(void)
{
    ompp_region_ref_t region = enter_mutex(OMPP_CONSTRUCT_ATOMIC, OMPP_GOMP_HERE);

    ompp_gomp_wait(region, OMPP_SYNC_MUTEX, &atomics);
    OMPP_REAL(void (*)(void), "GOMP_atomic_start")();
    ompp_gomp_have(region, OMPP_SYNC_MUTEX, &atomics);
}

OMPP_EXPORT void GOMP_atomic_end(void)
{
    ompp_region_ref_t region = leave_mutex(OMPP_CONSTRUCT_ATOMIC, OMPP_GOMP_HERE, NULL);

    ompp_gomp_give(region, OMPP_SYNC_MUTEX, &atomics);
    OMPP_REAL(void (*)(void), "GOMP_atomic_end")();
    ompp_event_exit_brief(region);
}

OMPP_EXPORT void GOMP_ordered_start(void)
{
    ompp_region_ref_t region = enter_mutex(OMPP_CONSTRUCT_ORDERED, OMPP_GOMP_HERE);

    ompp_gomp_wait(region, OMPP_SYNC_ORDERED, ompp_event_team());
    OMPP_REAL(void (*)(void), "GOMP_ordered_start")();
    ompp_gomp_have(region, OMPP_SYNC_ORDERED, ompp_event_team());
    ompp_event_phase_brief(region, OMPP_PHASE_BODY);
}

OMPP_EXPORT void GOMP_ordered_end(void)
{
    ompp_region_ref_t region = leave_mutex(OMPP_CONSTRUCT_ORDERED, OMPP_GOMP_HERE, NULL);

    ompp_gomp_give(region, OMPP_SYNC_ORDERED, ompp_event_team());
    OMPP_REAL(void (*)(void), "GOMP_ordered_end")();
    ompp_event_exit_brief(region);
}

/* ordered depend(source): nothing to wait for. */
static void post(ompp_word_t *counts, void (*real)(ompp_word_t *), const void *code)
{
    ompp_region_ref_t region = enter_mutex(OMPP_CONSTRUCT_ORDERED, code);

    ompp_event_phase_brief(region, OMPP_PHASE_EXIT);
    real(counts);
    ompp_event_exit_brief(region);
}

OMPP_EXPORT void GOMP_doacross_post(ompp_word_t *counts)
{
    post(counts, OMPP_REAL(void (*)(ompp_word_t *), "GOMP_doacross_post"), OMPP_GOMP_HERE);
}

OMPP_EXPORT void GOMP_doacross_ull_post(ompp_word_t *counts)
{
    post(counts, OMPP_REAL(void (*)(ompp_word_t *), "GOMP_doacross_ull_post"), OMPP_GOMP_HERE);
}

/*
 * ordered depend(sink): takes a word for each loop of the nest, and is not told how many. More than the caller has
 * given are passed on: what lies behind its own on the stack, which libgomp does not look at.
 */
typedef void wait_t(ompp_word_t first, ...);

#define OMPP_GOMP_WAIT(name)                                                                                    \
    OMPP_EXPORT void GOMP_##name(ompp_word_t first, ...)                                                        \
    {                                                                                                           \
        ompp_region_ref_t region = enter_mutex(OMPP_CONSTRUCT_ORDERED, OMPP_GOMP_HERE);                         \
        ompp_word_t w[15];                                                                                      \
        __builtin_va_list more;                                                                                 \
                                                                                                                \
        __builtin_va_start(more, first);                                                                        \
        for (unsigned i = 0; i < sizeof w / sizeof w[0]; i++) w[i] = __builtin_va_arg(more, ompp_word_t);       \
        __builtin_va_end(more);                                                                                 \
        OMPP_REAL(wait_t *, "GOMP_" #name)                                                                      \
        (first, w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13], w[14]); \
        ompp_event_exit(region, ompp_event_now());                                                              \
    }
OMPP_GOMP_WAIT(doacross_wait)
OMPP_GOMP_WAIT(doacross_ull_wait)

/* ---- Cancellation ------------------------------------------------------------------------------------------------ */

enum { CANCEL_PARALLEL = 1, CANCEL_LOOP = 2, CANCEL_SECTIONS = 4 };

/* This thread goes on at the end of the construct, whose own end is told. */
static bool cancelled(int which, bool is)
{
    ompp_time_t t = ompp_event_now();

    if (!is || !ompp_gomp_on()) return is;
    if (which & CANCEL_PARALLEL) ompp_event_unwind(self.team, t);
    if (which & CANCEL_LOOP) ompp_event_unwind(ompp_event_innermost(OMPP_CONSTRUCT_LOOP), t);
    if (which & CANCEL_SECTIONS) {
        ompp_event_unwind(ompp_gomp_sections_here(), t);
        ompp_event_phase(ompp_gomp_sections_here(), OMPP_PHASE_MGMT, t);
    }
    return is;
}

OMPP_EXPORT bool GOMP_cancel(int which, bool does)
{
    return cancelled(which, OMPP_REAL(bool (*)(int, bool), "GOMP_cancel")(which, does));
}

OMPP_EXPORT bool GOMP_cancellation_point(int which)
{
    return cancelled(which, OMPP_REAL(bool (*)(int), "GOMP_cancellation_point")(which));
}

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

#define OMPP_GOMP_TARGET(name, n)                                                      \
    OMPP_EXPORT void GOMP_##name(OMPP_P##n)                                            \
    {                                                                                  \
        void (*real)(OMPP_P##n) = OMPP_REAL(void (*)(OMPP_P##n), "GOMP_" #name);       \
        ompp_region_ref_t region = enter_mutex(OMPP_CONSTRUCT_TARGET, OMPP_GOMP_HERE); \
                                                                                       \
        real(OMPP_A##n);                                                               \
        ompp_event_exit(region, ompp_event_now());                                     \
    }
#include "gomp/ompp_gomp.def"

OMPP_EXPORT void GOMP_target_data(OMPP_P6)
{
    enter_mutex(OMPP_CONSTRUCT_TARGET, OMPP_GOMP_HERE);
    OMPP_REAL(void (*)(OMPP_P6), "GOMP_target_data")(OMPP_A6);
}

OMPP_EXPORT void GOMP_target_data_ext(OMPP_P5)
{
    enter_mutex(OMPP_CONSTRUCT_TARGET, OMPP_GOMP_HERE);
    OMPP_REAL(void (*)(OMPP_P5), "GOMP_target_data_ext")(OMPP_A5);
}

OMPP_EXPORT void GOMP_target_end_data(void)
{
    ompp_region_ref_t region = leave_mutex(OMPP_CONSTRUCT_TARGET, OMPP_GOMP_HERE, NULL);

    OMPP_REAL(void (*)(void), "GOMP_target_end_data")();
    ompp_event_exit(region, ompp_event_now());
}
