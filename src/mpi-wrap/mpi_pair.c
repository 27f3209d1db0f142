/**
 * \file
 * Who waits for whom in messages from one rank to another. Messages of one communicator, sender, receiver and tag
 * arrive in the order in which they were sent, so that both sides know a message by its number there. Each side keeps
 * when it began the message, and the call in which it waited for it; the times are compared at the end of the run. No
 * message of ours goes out before.
 *
 * A rank that cannot number its messages takes no part: what several threads send, what is received from anyone by a
 * call that does not wait, and requests that are started again and again.
 */
#define OMPP_LOG_DOMAIN "mpi"
#include "mpi-wrap/mpi_wrap_priv.h"

#include "base/ompp_caller.h"
#include "base/ompp_hash.h"
#include "mpi-wrap/piggyback/mpi_piggyback_priv.h"
#include "runtime/ompp_meter.h"
#include "runtime/ompp_metric.h"

#include <errno.h>
#include <stdlib.h>

#define STREAM_BITS 12
#define PENDING_BITS 10
enum { MOST_MESSAGES = 8192, PROBES = 16 };

/* Messages of one communicator, peer and tag, in one direction. */
typedef struct {
    int peer, tag, comm; /* comm: its number + 1; 0 = free */
    bool sends;
    uint32_t count; /* so far */
} stream_t;

typedef struct {
    stream_t *stream; /* borrowed */
    uint32_t number;
    uint32_t together; /* messages that the call waited for; 0 = it has not returned */
    ompp_off_t node;   /* of the call that waited */
    ompp_time_t begun, enter, leave;
} message_t;

/* A message that was begun, by its request. */
typedef struct {
    MPI_Request request; /* counts when used */
    bool used, nothing;  /* nothing: nobody waits for it, to MPI_PROC_NULL or sent at once */
    stream_t *stream;
    uint32_t number;
    ompp_time_t begun;
} pending_t;

static struct {
    enum { UNTRIED, ON, OFF } state;
    stream_t *streams;  /* [1 << STREAM_BITS] */
    message_t *kept;    /* [MOST_MESSAGES], of one call side by side */
    pending_t *pending; /* [1 << PENDING_BITS], by request */
    uint32_t nkept, npending;
    unsigned bits; /* messages are kept whose number has a hash that begins with so many zeros */
    unsigned metric_set;
} self;

/* ---- Each message ------------------------------------------------------------------------------------------------ */

static void start(void *unused)
{
    int level = MPI_THREAD_MULTIPLE;

    (void)unused;
    self.state = OFF;
    if (PMPI_Query_thread(&level) != MPI_SUCCESS || level == MPI_THREAD_MULTIPLE) return;
    self.streams = calloc(1u << STREAM_BITS, sizeof *self.streams);
    self.pending = calloc(1u << PENDING_BITS, sizeof *self.pending);
    self.kept = malloc(MOST_MESSAGES * sizeof *self.kept);
    self.metric_set = ompp_metric_register(ompp_pair_metrics, OMPP_METRIC_PAIR_NUM);
    if (self.streams && self.pending && self.kept && self.metric_set) self.state = ON;
}

static bool is_on(void)
{
    if (__builtin_expect(self.state == UNTRIED, 0)) {
        const int saved = errno;
        ompp_caller_run(start, NULL);
        errno = saved;
    }
    return self.state == ON;
}

/* The numbers of this rank's messages mean nothing any more. */
void ompp_mpi_pair_lost(void) { self.state = OFF; }

static stream_t *stream_of(int comm, int peer, int tag, bool sends)
{
    const uint64_t key = ompp_hash_join(ompp_hash_pair((uint32_t)peer, (uint32_t)tag), (uint64_t)comm << 1 | sends);

    for (unsigned i = 0; i < PROBES; i++) {
        stream_t *s = &self.streams[(key + i) % (1u << STREAM_BITS)];
        if (!s->comm) *s = (stream_t){.peer = peer, .tag = tag, .comm = comm + 1, .sends = sends};
        if (s->peer == peer && s->tag == tag && s->comm == comm + 1 && s->sends == sends) return s;
    }
    return NULL;
}

/* The next message. \return NULL = it is not followed. */
static stream_t *next(MPI_Comm comm, int peer, int tag, bool sends)
{
    const int number = peer >= 0 && tag >= 0 && is_on() ? ompp_mpi_meet_number(comm) : -1;

    if (number < 0) return NULL;
    stream_t *s = stream_of(number, peer, tag, sends);
    if (s) s->count++;
    else ompp_mpi_pair_lost();
    return s;
}

/* Room for n messages more. */
static bool reserve(uint32_t n)
{
    while (self.nkept + n > MOST_MESSAGES && self.bits < 32) {
        uint32_t left = 0;
        self.bits++;
        for (uint32_t i = 0; i < self.nkept; i++)
            if (ompp_mpi_is_sampled(self.kept[i].number, self.bits)) self.kept[left++] = self.kept[i];
        self.nkept = left;
    }
    if (self.nkept + n > MOST_MESSAGES) ompp_mpi_pair_lost(); /* first messages, all of them */
    return self.state == ON;
}

static bool is_kept(const stream_t *s) { return s && ompp_mpi_is_sampled(s->count - 1, self.bits); }

static void keep(stream_t *s, uint32_t together, ompp_time_t leave)
{
    const ompp_time_t enter = ompp_event_called();

    self.kept[self.nkept++] = (message_t){s, s->count - 1, together, ompp_meter_place().node, enter, enter, leave};
}

/* The message that a blocking call has received. \return NULL = it is not followed. */
static stream_t *received(MPI_Comm comm, int peer, int tag, const void *status, bool fortran)
{
    const ompp_mpi_piggyback_t of = {.status = (void *)status, .fortran = fortran};
    MPI_Status room;

    if (self.state == OFF) return NULL;
    if (peer == MPI_ANY_SOURCE || tag == MPI_ANY_TAG) {
        const MPI_Status *known = ompp_mpi_status(&of, 0, &room);
        if (known) peer = known->MPI_SOURCE, tag = known->MPI_TAG;
        else ompp_mpi_pair_lost();
    }
    return next(comm, peer, tag, false);
}

void ompp_mpi_pair_sent(MPI_Comm comm, int peer, int tag, ompp_time_t leave)
{
    stream_t *s = next(comm, peer, tag, true);

    if (is_kept(s) && reserve(1) && is_kept(s)) keep(s, 1, leave);
}

void ompp_mpi_pair_received(MPI_Comm comm, int peer, int tag, const void *status, bool fortran, ompp_time_t leave)
{
    stream_t *s = received(comm, peer, tag, status, fortran);

    if (is_kept(s) && reserve(1) && is_kept(s)) keep(s, 1, leave);
}

void ompp_mpi_pair_exchanged(MPI_Comm comm, const int to[2], const int from[2], const void *status, bool fortran,
                             ompp_time_t leave)
{
    stream_t *out = next(comm, to[0], to[1], true), *in = received(comm, from[0], from[1], status, fortran);
    const uint32_t n = (to[0] != MPI_PROC_NULL) + (from[0] != MPI_PROC_NULL);

    if (!reserve(2) || (uint32_t)is_kept(out) + is_kept(in) != n) return;
    if (out) keep(out, n, leave);
    if (in) keep(in, n, leave);
}

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

static MPI_Request request_at(const void *requests, int i, bool fortran)
{
    return fortran ? PMPI_Request_f2c(((const MPI_Fint *)requests)[i]) : ((const MPI_Request *)requests)[i];
}

static pending_t *place_of(MPI_Request request)
{
    return &self.pending[ompp_hash_place((uintptr_t)request, PENDING_BITS)];
}

/* \return its entry; NULL = it has none. */
static pending_t *find(MPI_Request request)
{
    pending_t *p = place_of(request);

    return p->used && p->request == request ? p : NULL;
}

/* Sends that are through at once share one request. */
static void keep_sent(stream_t *s, uint32_t number, ompp_time_t begun)
{
    if (s && s->sends && ompp_mpi_is_sampled(number, self.bits) && reserve(1) && ompp_mpi_is_sampled(number, self.bits))
        self.kept[self.nkept++] = (message_t){s, number, 1, ompp_meter_place().node, begun, begun, begun};
}

static void drop(pending_t *p)
{
    p->used = false;
    self.npending--;
}

void ompp_mpi_pair_begun(MPI_Comm comm, int peer, int tag, bool sends, const void *request, bool fortran)
{
    if (!sends && (peer == MPI_ANY_SOURCE || tag == MPI_ANY_TAG)) ompp_mpi_pair_lost();
    stream_t *s = next(comm, peer, tag, sends);

    if (self.state != ON) return;
    const MPI_Request handle = request_at(request, 0, fortran);
    const pending_t new = {handle, true, peer == MPI_PROC_NULL, s, s ? s->count - 1 : 0, ompp_event_called()};
    pending_t *old = find(handle), *p = place_of(handle);
    if (old && sends) {
        if (!old->nothing) keep_sent(old->stream, old->number, old->begun);
        keep_sent(new.stream, new.number, new.begun);
        old->nothing = true;
        return;
    }
    if (old) drop(old);
    if (p->used || !(is_kept(s) || new.nothing)) return;
    *p = new;
    self.npending++;
}

void ompp_mpi_pair_forget(int number, const void *requests, bool fortran)
{
    for (int i = 0; self.npending && i < number; i++) {
        pending_t *p = find(request_at(requests, i, fortran));
        if (p) drop(p);
    }
}

/* Before a call that waits for all of them. What is not known of one is not known of the call. */
uint32_t ompp_mpi_pair_waits(int number, const void *requests, bool fortran)
{
    bool complete = self.npending && number > 0 && self.state == ON && reserve((uint32_t)number);
    const uint32_t first = self.nkept;
    const ompp_time_t enter = ompp_event_called();
    const ompp_off_t node = complete ? ompp_meter_place().node : 0;

    for (int i = 0; (complete || self.npending) && i < number; i++) {
        const MPI_Request request = request_at(requests, i, fortran);
        pending_t *p = request == MPI_REQUEST_NULL ? NULL : find(request);
        if (!p) complete &= request == MPI_REQUEST_NULL;
        else if (complete && !p->nothing)
            self.kept[self.nkept++] = (message_t){p->stream, p->number, 0, node, p->begun, enter, 0};
        if (p && !p->nothing) drop(p);
    }
    if (!complete) self.nkept = first;
    return self.nkept - first;
}

void ompp_mpi_pair_waited(uint32_t n, bool ok)
{
    const ompp_time_t leave = ompp_event_now();

    if (!ok) self.nkept -= n;
    for (uint32_t i = 0; ok && i < n; i++) {
        message_t *m = &self.kept[self.nkept - 1 - i];
        m->together = n;
        m->leave = leave;
    }
}

/* ---- The comparison ---------------------------------------------------------------------------------------------- */

/* What the other side of a message is told. */
typedef struct {
    int64_t begun; /* common clock */
    uint32_t number, total;
    int32_t tag;
    int16_t comm, sends;
} told_t;

static int by_message(const void *a, const void *b)
{
    const message_t *x = *(message_t *const *)a, *y = *(message_t *const *)b;

    if (x->stream != y->stream) return x->stream < y->stream ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* For each message kept, when the other side began it: 0 = not known. \return NULL = no memory. */
static int64_t *match(int size, const int *bytes, const told_t *told)
{
    message_t **sorted = malloc((self.nkept + 1) * sizeof(message_t *));
    int64_t *others = calloc(self.nkept + 1, sizeof *others);

    for (uint32_t i = 0; sorted && i < self.nkept; i++) sorted[i] = &self.kept[i];
    if (sorted) qsort(sorted, self.nkept, sizeof(message_t *), by_message);
    for (int r = 0; sorted && others && r < size; r++)
        for (int i = 0; i < bytes[r] / (int)sizeof *told; i++, told++) {
            message_t wanted = {.stream = stream_of(told->comm, r, told->tag, !told->sends), .number = told->number};
            message_t *key = &wanted;
            if (!wanted.stream || wanted.stream->count != told->total) continue;
            message_t **found = bsearch(&key, sorted, self.nkept, sizeof(message_t *), by_message);
            if (found) others[*found - self.kept] = told->begun;
        }
    free(sorted);
    return others;
}

/* n messages of one call, and when their other sides began: until when has it waited, and for whom? */
static void book(const message_t *m, uint32_t n, const int64_t *others)
{
    ompp_time_t met = m->enter;
    bool receives = false;

    for (uint32_t i = 0; i < n; i++) {
        if (!others[i]) return;
        const int64_t other = (int64_t)m[i].begun + (others[i] - ompp_mpi_clock_common(m[i].begun));
        ompp_time_t until = other < (int64_t)m->enter ? m->enter : (ompp_time_t)other;
        if (until > m->leave) until = m[i].stream->sends ? m->enter : m->leave; /* sent before anyone asked for it */
        if (until > met) met = until, receives = !m[i].stream->sends;
    }
    uint64_t *values = m->node ? ompp_meter_values(m->node, self.metric_set, 0, OMPP_METRIC_PAIR_NUM) : NULL;
    if (!values) return;
    values[OMPP_METRIC_PAIRS]++;
    values[receives ? OMPP_METRIC_PAIR_SENDER : OMPP_METRIC_PAIR_RECEIVER] += met - m->enter;
    values[OMPP_METRIC_PAIR_REST] += m->leave - met;
}

static void book_all(const int64_t *others)
{
    for (uint32_t i = 0, n; i < self.nkept; i += n) {
        const message_t *m = &self.kept[i];
        for (n = 1; i + n < self.nkept && m[n].enter == m->enter && m[n].node == m->node; n++) continue;
        if (n == m->together) book(m, n, &others[i]);
    }
}

/* Messages in the order of their peers. to: [size] bytes. \return NULL = no memory. */
static told_t *tell(int size, int *to)
{
    told_t *told = malloc((self.nkept + 1) * sizeof *told);
    int *at = calloc((size_t)size + 1, sizeof *at);

    for (uint32_t i = 0; at && i < self.nkept; i++) at[self.kept[i].stream->peer + 1]++;
    for (int r = 0; at && r < size; r++) to[r] = at[r + 1] * (int)sizeof *told, at[r + 1] += at[r];
    for (uint32_t i = 0; told && at && i < self.nkept; i++) {
        const message_t *m = &self.kept[i];
        const stream_t *s = m->stream;
        told[at[s->peer]++] =
            (told_t){ompp_mpi_clock_common(m->begun), m->number, s->count, s->tag, (int16_t)(s->comm - 1), s->sends};
    }
    free(at);
    return told;
}

void ompp_mpi_pair_finish(int size, ompp_mpi_reduce_all_fn *all_ranks, ompp_mpi_exchange_fn *exchange)
{
    static int mine[3], least[3]; /* MPI may write to them for ever */
    int *to = calloc(2 * (size_t)size, sizeof *to);

    if (self.state != ON) self.nkept = 0;
    mine[0] = -(int)self.nkept;
    mine[1] = ompp_mpi_meet_comms();
    mine[2] = -mine[1];
    if (!all_ranks(mine, least, 3, MPI_INT, MPI_MIN) || !least[0] || least[1] != -least[2] || !to) return;
    told_t *told = tell(size, to), *theirs = told ? exchange(told, to, to + size) : NULL;
    if (!theirs) return;
    int64_t *others = self.nkept ? match(size, to + size, theirs) : NULL; /* who never began has no streams */
    if (others) book_all(others);
    free(others);
    free(theirs);
    free(told);
    free(to);
}
