/*
 * Threads that are followed, and the start of it all. A thread's place in the call tree comes from the runtime as to
 * any other meter.
 */
#define _GNU_SOURCE
#include "causal/ompp_causal.h"

#include "base/ompp_env.h"
#include "base/ompp_pages.h"
#include "base/ompp_prefault.h"
#include "causal/clock/ompp_causal_clock_priv.h"
#include "causal/experiment/ompp_causal_experiment_priv.h"
#include "causal/experiment/ompp_progress_priv.h"
#include "causal/replay/ompp_causal_replay_priv.h"
#include "causal/result/ompp_causal_result_priv.h"
#include "runtime/ompp_whatif_record.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

static ompp_causal_thread_t *find_unused(void)
{
    for (ompp_causal_thread_t *t = atomic_load(&ompp_causal.threads); t; t = t->next) {
        bool used = false;
        if (atomic_compare_exchange_strong(&t->used, &used, true)) return t;
    }
    return NULL;
}

static ompp_causal_thread_t *make_thread(void)
{
    ompp_causal_thread_t *t =
        ompp_mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    if (t == MAP_FAILED) return NULL;
    atomic_store(&t->used, true);
    t->next = atomic_load(&ompp_causal.threads);
    while (!atomic_compare_exchange_weak(&ompp_causal.threads, &t->next, t)) continue;
    return t;
}

/* What the initial thread has done before its first event is work, too. Of that, as much as the present clocks are
 * about. */
static ompp_time_t begin_of(const ompp_causal_thread_t *self)
{
    const ompp_time_t run = ompp_meter_since(), set = atomic_load(&ompp_causal.set_begin);

    return !self->main ? ompp_event_now() : set > run ? set : run;
}

/* What the one before has left that no other thread may go on with. Its sums stay. */
static void begin_anew(ompp_causal_thread_t *self)
{
    const uint64_t set = atomic_load(&ompp_causal.set);

    if (self->clocks.set != set) ompp_clocks_reset(&self->clocks, set, 0);
    self->experiment = atomic_load(&ompp_causal.experiment);
    self->percent = ompp_causal.rule.percent[0];
    memset(self->clocks.o, 0, sizeof self->clocks.o);
    memset(self->barriers, 0, sizeof self->barriers);
    self->paused = self->charged_paused = self->arrival.t = 0;
    self->chases = false;
    self->part.team = self->unit.team = 0;
    self->thread_group = 0;
    ompp_causal_farm_forget(self);
    self->clocks.waiting = 0;
    self->clocks.where = OMPP_CLOCKS_OUTSIDE;
    self->waits = false;
    self->clocks.idle = set == atomic_load(&ompp_causal.suspension);
    self->main = syscall(SYS_gettid) == getpid();
    self->clocks.since = begin_of(self);
    self->depth = self->task = self->group = 0;
    self->node = 0;
    self->made = false;
    self->regions = ompp_causal_mask(self, 0);
    self->clocks.mask = ompp_causal_counted(self->regions);
    ompp_clocks_use(&self->clocks, self->clocks.mask);
    self->region_work_until = ompp_causal_worked(self);
    self->busy = false;
}

static void *begin(void)
{
    int saved_errno = errno;
    ompp_causal_thread_t *self = find_unused();
    const uint64_t floats = ompp_float_take();

    if (!atomic_load(&ompp_causal.threads)) ompp_causal_result_begin();
    if (!self) self = make_thread();
    if (self) begin_anew(self);
    ompp_causal_self = self;
    ompp_float_back(floats);
    errno = saved_errno;
    return self;
}

static void count_seen_in(ompp_causal_thread_t *self, ompp_region_ref_t region, ompp_time_t passed)
{
    const int index = ompp_causal_find(region);

    if (index < 0 || self->last_look[index] == self->look) return;
    self->last_look[index] = self->look;
    self->region_work[index] += passed;
}

/* With delays: work per region, whatever is being tried, without waiting: of all that the thread is in, or outside of
 * all. */
static void count_seen(ompp_causal_thread_t *self, ompp_time_t t)
{
    ompp_off_t node = self->node;

    ompp_clocks_count(&self->clocks, t);
    const ompp_time_t until = ompp_causal_worked(self),
                      passed = until > self->region_work_until ? until - self->region_work_until : 0;
    if (!passed) return;
    self->look++;
    if (!ompp_meter_region(node) && ompp_causal_is_outside(self)) count_seen_in(self, 0, passed);
    for (unsigned depth = 0; ompp_meter_region(node) && depth <= OMPP_CAUSAL_DEEPEST;
         depth++, node = ompp_meter_parent(node))
        count_seen_in(self, ompp_meter_region(node), passed);
    self->region_work_until = until; /* last: who looks meanwhile (ompp_causal_done) has it twice rather than never */
}

void ompp_causal_was_made(ompp_causal_thread_t *self)
{
    self->made = true;
    self->regions = ompp_causal_mask(self, self->node);
    ompp_clocks_move(&self->clocks, ompp_causal_counted(self->regions), self->clocks.idle, ompp_event_now());
}

static void write_down(ompp_causal_thread_t *self, ompp_time_t t)
{
    ompp_progress_finish(t);
    ompp_causal_experiment_finish(self);
    ompp_causal_shared_take(true);
    ompp_causal_result(self, t);
}

/* The thread has come from one place to another: what that means besides to its clocks. */
static void look_at(ompp_causal_thread_t *self, ompp_place_now_t from, ompp_place_now_t to)
{
    if (from.node == to.node && from.waits == to.waits) write_down(self, ompp_meter_until());
    if (!ompp_causal_is_suspended(self) && self->main && from.waits && ompp_meter_parent(from.node) == to.node &&
        ompp_causal_forks(from.node))
        ompp_causal_may_end_unit(self, ompp_meter_region(from.node), self->clocks.since);
}

static void move_clocks(ompp_causal_thread_t *self, ompp_place_now_t from, ompp_place_now_t to)
{
    ompp_time_t t = ompp_event_now();

    /* before it goes into a region, which nobody is to take for work there */
    if (self->chases && ompp_meter_parent(to.node) == from.node) {
        ompp_causal_chase(self);
        t = ompp_event_now();
    }
    if (ompp_causal.mode->seen) ompp_causal.mode->seen(self, t);
    self->node = to.node;
    self->waits = to.waits;
    self->regions = ompp_causal_mask(self, to.node);
    ompp_clocks_move(&self->clocks, ompp_causal_counted(self->regions), to.waits, t);
    self->clocks.where = (uint8_t)ompp_causal_where(to.node);
    ompp_causal_race_tell(self);
    /* before it is handed out more */
    if (self->chases && ompp_meter_parent(from.node) == to.node) ompp_causal_chase(self);
}

static void move(void *state, ompp_place_now_t from, ompp_place_now_t to)
{
    ompp_causal_thread_t *self = state;

    /* the latter: at the end, by who ends it, when all has been told */
    if (self->busy || self != ompp_causal_self) return;
    self->busy = true;
    self->floats = ompp_float_take();
    const ompp_time_t begin = ompp_causal_time_event(self);
    self->node = from.node;
    self->waits = from.waits;
    self->knows_place = true;
    ompp_causal_settle(self);
    self->knows_place = false;
    self->moves++;
    if (ompp_causal_is_suspended(self)) {
        self->node = to.node;
        self->waits = to.waits;
    } else {
        move_clocks(self, from, to);
    }
    look_at(self, from, to);
    ompp_causal_timed(self, begin);
    ompp_causal_leave(self);
}

static void follow_no_more(void)
{
    __atomic_store_n(&ompp_sync_subscriber, NULL, __ATOMIC_RELAXED);
    __atomic_store_n(&ompp_sync_suspension_number, 0, __ATOMIC_RELAXED);
}

/* The thread is over, or measurement is. */
static void end(void *state)
{
    ompp_causal_thread_t *self = state;
    const ompp_time_t t = ompp_meter_until();
    const bool inside = self->busy; /* a handler of a signal ends the program */
    ompp_float_t program;

    self->busy = true;
    ompp_float_begin(&program);
    if (self->main && !inside) {
        write_down(self, t);
        ompp_causal_result_close();
    }
    if (self->main) follow_no_more();
    ompp_causal_self = NULL;
    atomic_store(&self->used, false);
    ompp_float_end(&program);
}

/* ---- Progress ---------------------------------------------------------------------------------------------------- */

/* A progress point that can tell us is visited on this thread. */
static void at_progress(ompp_time_t t)
{
    ompp_causal_thread_t *self = ompp_causal_enter();

    if (!self) return;
    ompp_causal_settle(self);
    ompp_clocks_count(&self->clocks, t);
    if (ompp_causal.mode->seen) ompp_causal.mode->seen(self, t);
    ompp_causal.mode->moment(self, ompp_progress_visits(t), OMPP_CAUSAL_ANYWHERE, t);
    ompp_causal_leave(self);
}

/* ---- Start ------------------------------------------------------------------------------------------------------- */

static void watch_clocks(const ompp_causal_thread_t *self, const ompp_clock_vector_t *before, unsigned flag_bit)
{
    ompp_causal_watch(flag_bit, ompp_causal_overtakes_clocks(self, before));
}

/* In the present set. */
static ompp_time_t work_of_clocks(const ompp_causal_thread_t *t, unsigned slot)
{
    return t->clocks.set == atomic_load(&ompp_causal.set) ? t->clocks.total[slot] + t->clocks.work[slot] : 0;
}

/* In all experiments. */
static ompp_time_t work_seen(const ompp_causal_thread_t *t, unsigned slot)
{
    const int known = ompp_causal_known(slot);

    return known >= 0 ? t->region_work[known] : 0;
}

static void posts_left(unsigned posts)
{
    if (ompp_causal_self) ompp_causal_self->left = posts;
}

static void clock_of_ranks(const ompp_sync_clock_t *clock)
{
    ompp_causal_farm_prefault(); /* messages are about to come */
    ompp_causal_clock(clock);
}

static void made_in_experiment(ompp_sync_thread_t what)
{
    ompp_causal_thread_t *self = ompp_causal_enter();

    if (!self) return;
    if (what == OMPP_SYNC_THREAD_BEGIN) ompp_causal_was_made(self);
    ompp_causal_leave(self);
}

/* What the modes have in common. */
#define BOTH                                                                                                \
    .suspended_until = ompp_causal_suspended_until, .hold = ompp_causal_hold, .revise = ompp_causal_revise, \
    .flag = ompp_causal_flag, .alone = ompp_whatif_say_why, .share = ompp_causal_shared_open,               \
    .publish = ompp_causal_publish, .wait = ompp_causal_wait, .resume = ompp_causal_resume,                 \
    .look = ompp_progress_look, .posts_left = posts_left, .task = ompp_causal_task, .charge = ompp_causal_charge

static ompp_causal_mode_t modes[OMPP_WHATIF_MODE_NUM] = {
    [OMPP_WHATIF_VIRTUAL] = {.rule = {.percent = {25, 50, 75, 100}},
                             .counted = OMPP_CAUSAL_ALL_SLOTS,
                             .subscriber = {BOTH, .combine = ompp_causal_combine, .vector = ompp_causal_remote_vector,
                                            .propose = ompp_causal_propose_set, .contribute = ompp_causal_contribute,
                                            .note_sent = ompp_causal_note_sent, .join_clock = ompp_causal_join_clock,
                                            .clock = clock_of_ranks, .thread = ompp_causal_thread},
                             .moment = ompp_causal_moment,
                             .may_turn = ompp_causal_may_turn_anywhere,
                             .tasks = ompp_causal_tasks,
                             .loop = ompp_causal_loop,
                             .locked = ompp_causal_note_lock,
                             .unlocked = ompp_causal_note_unlock,
                             .overtakes = ompp_causal_overtakes_clocks,
                             .watch = watch_clocks,
                             .work_of = work_of_clocks,
                             .write = ompp_causal_result_clocks},
    [OMPP_WHATIF_DELAY] = {.rule = {.delays = true},
                           .subscriber = {BOTH, .combine = ompp_causal_delay_combine,
                                          .vector = ompp_causal_delay_vector, .propose = ompp_causal_delay_propose,
                                          .throttle = ompp_causal_throttle, .join_clock = ompp_causal_delay_join,
                                          .clock = ompp_causal_clock, .thread = made_in_experiment},
                           .moment = ompp_causal_may_end,
                           .seen = count_seen,
                           .tasks = ompp_causal_delay_tasks,
                           .loop = ompp_causal_delay_loop,
                           .overtakes = ompp_causal_overtakes,
                           .watch = ompp_causal_watch_order,
                           .work_of = work_seen,
                           .write = ompp_causal_result_experiments},
};

static void in_child(void)
{
    follow_no_more();
    ompp_causal_self = NULL;
}

static bool start(char *why, size_t n)
{
    const ompp_whatif_mode_t asked = strcmp(ompp_env.causal, "virtual") == 0 ? OMPP_WHATIF_VIRTUAL
                                     : strcmp(ompp_env.causal, "delay") == 0 ? OMPP_WHATIF_DELAY
                                                                             : OMPP_WHATIF_OFF;
    const bool full = strcmp(ompp_env.efficiency, "full") == 0;

    (void)why, (void)n; /* the report says what is missing */
    const ompp_whatif_mode_t mode = asked == OMPP_WHATIF_OFF && full ? OMPP_WHATIF_VIRTUAL : asked;
    if (mode == OMPP_WHATIF_OFF) return false;
    ompp_prefault_library((const void *)start);
    atomic_store(&ompp_causal.set, 1);
    modes[OMPP_WHATIF_VIRTUAL].subscriber.vector_size = ompp_causal_remote_vector_size();
    modes[OMPP_WHATIF_DELAY].subscriber.vector_size = ompp_causal_delay_vector_size();
    modes[OMPP_WHATIF_DELAY].subscriber.shared_size = ompp_causal_shared_size();
    ompp_causal.mode = &modes[mode];
    ompp_causal.rule = modes[mode].rule;
    ompp_causal.counted = modes[mode].counted;
    ompp_causal_calibrate();
    if (!ompp_causal_result_open(mode)) return false;
    if (mode == OMPP_WHATIF_VIRTUAL) ompp_causal_follow_ideal();
    ompp_causal_limit_slots(asked == OMPP_WHATIF_OFF ? 0 : (unsigned)ompp_env.causal_clocks / OMPP_WHATIF_SPEEDUPS);
    return pthread_atfork(NULL, NULL, in_child) == 0;
}

static const ompp_sync_subscriber_t *waits(void) { return &ompp_causal.mode->subscriber; }

const ompp_component_t ompp_causal_component = {
    .name = "causal profiling",
    .start = start,
    .thread_begin = begin,
    .move = move,
    .thread_end = end,
    .readable = true,
    .visited = at_progress,
    .waits = waits,
};
