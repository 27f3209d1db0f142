/*
 * What sampling back ends share. A thread's state is used by the thread, at changes of its place, and by the collector,
 * when a ring is half full meanwhile: "busy" lets one of them in at a time. The collector adds up only; so nobody holds
 * it for long.
 */
#define _GNU_SOURCE
#include "perf/ompp_sampled_priv.h"

#include "base/ompp_reserve.h"
#include "data/ompp_address_map.h"
#include "data/ompp_data.h"
#include "data/ompp_used.h"
#include "model/ompp_profile.h"
#include "process/ompp_helper.h"
#include "runtime/ompp_metric.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <unistd.h>

#define COLLECTOR_STACK (256u << 10)
#define ANYWHERE 0                                                /* the object that stands for all data */
#define LAST_ADDRESS ((OMPP_MAP_PAGES << OMPP_MAP_PAGE_BITS) - 1) /* of a program; above are the kernel's */

typedef struct state {
    ompp_sampled_t *backend;
    ompp_perf_t events[OMPP_SAMPLED_EVENTS], leader;
    unsigned current; /* event that is being read */
    _Atomic bool busy;
    bool any;           /* something waits in pending */
    struct state *next; /* of all that live */
    ompp_used_t used;   /* structures with something in pending */
    uint64_t pending[OMPP_DATA_MAX + 1][OMPP_SAMPLED_VALUES];
} state_t;

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER; /* of threads that come and go, and of the collector */
static state_t *states;
static int watched = -1; /* epoll */
static bool map_is_open;

/* ---- Structures -------------------------------------------------------------------------------------------------- */

bool ompp_sampled_map(void)
{
    if (!map_is_open) map_is_open = ompp_map_open();
    return map_is_open;
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

static void visit(void *data, ompp_perf_record_t *record)
{
    state_t *state = data;
    const ompp_sampled_t *backend = state->backend;

    if (backend->look) backend->look(record);
    if (record->kind == OMPP_PERF_SAMPLE) {
        const uint64_t weight = record->period ? record->period : backend->attr[state->current].sample_period;
        const uint32_t object = record->addr <= LAST_ADDRESS ? ompp_map_object(record->addr) : ANYWHERE;
        backend->count(record, weight, state->pending[ANYWHERE]);
        if (object) backend->count(record, weight, state->pending[object]);
        if (object) ompp_used_mark(&state->used, object);
        state->any = true;
    } else if (ompp_perf_count_loss(record, &state->pending[ANYWHERE][backend->nvalues - OMPP_LOSS_NUM])) {
        state->any = true;
    }
}

static void enter(state_t *state)
{
    while (atomic_exchange_explicit(&state->busy, true, memory_order_acquire)) sched_yield();
}

static void leave(state_t *state) { atomic_store_explicit(&state->busy, false, memory_order_release); }

static void drain(state_t *state)
{
    for (state->current = 0; state->current < state->backend->nevents; state->current++)
        ompp_perf_drain(&state->events[state->current], visit, state);
}

/* What has been recorded belongs to the structures of before. */
static void drain_all(void)
{
    pthread_mutex_lock(&list_lock);
    for (state_t *state = states; state; state = state->next) {
        enter(state);
        drain(state);
        leave(state);
    }
    pthread_mutex_unlock(&list_lock);
}

/* Several back ends may be told; the map holds the same after each of them. */
void ompp_sampled_put(uint32_t object, uintptr_t begin, uintptr_t end)
{
    if (!ompp_sampled_map()) return;
    drain_all();
    if (!ompp_map_put(object, begin, end))
        ompp_event_coverage(OMPP_COVERAGE_DROPPED, "edges of data structures", "too many structures that share a page");
}

/* ---- The collector ----------------------------------------------------------------------------------------------- */

static bool lives(const state_t *state)
{
    const state_t *s = states;

    while (s && s != state) s = s->next;
    return s != NULL;
}

static void collect(void *unused)
{
    struct epoll_event event;

    (void)unused;
    for (;;) {
        const int n = epoll_wait(watched, &event, 1, OMPP_HELPER_LOOK_MS);
        if (n < 0 ? errno != EINTR : n == 0 && ompp_helper_is_alone()) return;
        if (n < 1) continue;
        pthread_mutex_lock(&list_lock);
        state_t *state = event.data.ptr;
        if (lives(state)) {
            enter(state);
            drain(state);
            leave(state);
        }
        pthread_mutex_unlock(&list_lock);
    }
}

/* Without it, what does not fit into a ring is counted as lost. */
static void start_collector(void)
{
    pthread_t thread;

    watched = epoll_create1(EPOLL_CLOEXEC);
    if (watched < 0) return;
    watched = ompp_perf_move_up(watched);
    if (ompp_helper_start(&thread, "ompp-collect", COLLECTOR_STACK, collect, NULL) == 0) pthread_detach(thread);
}

static void watch(state_t *state)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, start_collector);
    pthread_mutex_lock(&list_lock);
    state->next = states;
    states = state;
    for (unsigned i = 0; i < state->backend->nevents && watched >= 0; i++)
        epoll_ctl(watched, EPOLL_CTL_ADD, state->events[i].fd,
                  &(struct epoll_event){.events = EPOLLIN, .data.ptr = state});
    pthread_mutex_unlock(&list_lock);
}

static void unwatch(state_t *state)
{
    pthread_mutex_lock(&list_lock);
    for (unsigned i = 0; i < state->backend->nevents && watched >= 0; i++)
        epoll_ctl(watched, EPOLL_CTL_DEL, state->events[i].fd, NULL);
    for (state_t **link = &states; *link; link = &(*link)->next)
        if (*link == state) {
            *link = state->next;
            break;
        }
    pthread_mutex_unlock(&list_lock);
}

/* ---- The meter --------------------------------------------------------------------------------------------------- */

int ompp_sampled_open(ompp_sampled_t *backend, ompp_perf_t *events, ompp_perf_t *leader)
{
    int error = 0;

    *leader = (ompp_perf_t){.fd = -1};
    for (unsigned i = 0; i < OMPP_SAMPLED_EVENTS; i++) events[i] = (ompp_perf_t){.fd = -1};
    if (backend->has_leader) error = ompp_perf_open(leader, &backend->leader, -1, 0);
    for (unsigned i = 0; i < backend->nevents && !error; i++) {
        error = ompp_perf_open(&events[i], &backend->attr[i], i == 0 ? leader->fd : -1, backend->ring);
    }
    if (!error) return 0;
    for (unsigned i = 0; i < backend->nevents; i++) ompp_perf_close(&events[i]);
    ompp_perf_close(leader);
    return error;
}

bool ompp_sampled_start(ompp_sampled_t *backend)
{
    backend->metrics = ompp_metric_register(backend->rows, backend->nvalues);
    return backend->metrics != 0;
}

void *ompp_sampled_begin(ompp_sampled_t *backend)
{
    state_t *state = ompp_reserve(sizeof *state);
    char why[300];

    if (!state) return NULL;
    state->backend = backend;
    int error = ompp_sampled_open(backend, state->events, &state->leader);
    if (!error) {
        watch(state);
        return state;
    }
    ompp_perf_why(error, backend->what, why, sizeof why);
    ompp_event_coverage(OMPP_COVERAGE_REFUSED, "samples of a thread", why);
    ompp_unreserve(state, sizeof *state);
    return NULL;
}

static bool has_any(const uint64_t *values, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (values[i]) return true;
    return false;
}

static void hand_over_object(state_t *state, ompp_off_t node, uint32_t object)
{
    const unsigned n = state->backend->nvalues;
    uint64_t *pending = state->pending[object];

    if (!has_any(pending, n)) return;
    uint64_t *values = ompp_meter_values(node, state->backend->metrics, object, n);
    for (unsigned i = 0; i < n; i++) {
        if (values) values[i] += pending[i];
        pending[i] = 0;
    }
}

static void hand_over(state_t *state, ompp_off_t node)
{
    uint32_t next = 0, first;

    hand_over_object(state, node, ANYWHERE);
    for (uint64_t bits; (bits = ompp_used_take(&state->used, OMPP_DATA_MAX, &next, &first));)
        for (; bits; bits &= bits - 1) hand_over_object(state, node, first + (uint32_t)__builtin_ctzll(bits));
    state->any = false;
}

void ompp_sampled_move(void *data, ompp_place_now_t from, ompp_place_now_t to)
{
    state_t *state = data;
    bool some = false;

    (void)to;
    for (unsigned i = 0; i < state->backend->nevents; i++) some |= ompp_perf_has(&state->events[i]);
    if (!some && !__atomic_load_n(&state->any, __ATOMIC_RELAXED)) return;
    enter(state);
    drain(state);
    if (state->any) hand_over(state, from.node);
    leave(state);
}

void ompp_sampled_end(void *data)
{
    state_t *state = data;

    unwatch(state);
    for (unsigned i = 0; i < state->backend->nevents; i++) ompp_perf_close(&state->events[i]);
    ompp_perf_close(&state->leader);
    ompp_unreserve(state, sizeof *state);
}
