/*
 * The short way of calls while clocks are suspended and their messages have no clock vectors, as far as is known: they
 * are counted, and that is all. In some 200 instructions beside those of their events; the long way (mpi_piggyback.c)
 * takes 600 to 1000.
 */
#include "mpi-wrap/piggyback/mpi_piggyback_collective_priv.h"
#include "mpi-wrap/piggyback/mpi_piggyback_request_priv.h"
#include "mpi-wrap/piggyback/mpi_suppressed_priv.h"

#include <errno.h>

#define SAMPLE 64u       /* of one call in so many, by chance, it is measured what this takes */
#define LONGEST_NS 2000u /* who takes longer has had no processor */

static bool is_possible(void)
{
    return __atomic_load_n(&ompp_mpi_piggyback_state.alone, __ATOMIC_RELAXED) && !ompp_mpi_under_way_any();
}

/* \return when it began; 0 = it is not measured. */
static ompp_time_t measured_since(void)
{
    ompp_mpi_quick.chance = ompp_mpi_quick.chance * 1664525u + 1013904223u;
    return ompp_mpi_quick.chance >> 16 & (SAMPLE - 1) ? 0 : ompp_event_now();
}

static void measured(ompp_time_t measured_from)
{
    const ompp_time_t took = measured_from ? ompp_event_now() - measured_from : 0;

    if (measured_from) ompp_sync_charge((took < LONGEST_NS ? took : LONGEST_NS) * SAMPLE);
}

static ompp_mpi_direction_t *direction_of(int which, MPI_Comm comm, int peer, int tag)
{
    const uint64_t key = ompp_hash_pair((uint32_t)peer, (uint32_t)tag) ^ (uintptr_t)comm >> 4;
    ompp_mpi_near_t *near = &ompp_mpi_quick.near[which][ompp_hash_place(key, OMPP_MPI_NEAR_BITS)];

    if (__builtin_expect(near->direction && near->comm == comm && near->peer == peer && near->tag == tag, 1))
        return near->direction;
    return ompp_mpi_near_slow(near, which, comm, peer, tag);
}

/* ---- Sends ------------------------------------------------------------------------------------------------------- */

static bool counts_sent(MPI_Comm comm, int dest, int tag)
{
    ompp_mpi_direction_t *d;

    if (dest == MPI_PROC_NULL) return true;
    d = direction_of(OMPP_MPI_SENT, comm, dest, tag);
    if (!d || !d->suppressed || d->count == UINT32_MAX) return false;
    d->count++;
    return true;
}

bool ompp_mpi_suppressed_send(ompp_mpi_suppressed_t *s, MPI_Comm comm, int dest, int tag, bool sendable)
{
    (void)s;
    if (!sendable || !is_possible()) return false;
    const ompp_time_t measured_from = measured_since();
    const bool counted = counts_sent(comm, dest, tag);
    measured(measured_from);
    return counted;
}

/* ---- Receives ---------------------------------------------------------------------------------------------------- */

/* No clock vector is known to be there, or wanted. */
static bool is_suppressed(const ompp_mpi_direction_t *d) { return d->suppressed && !d->shadow->here; }

bool ompp_mpi_suppressed_receive(ompp_mpi_suppressed_t *s, MPI_Comm comm, int source, int tag)
{
    s->number = 0;
    s->suspension = ompp_sync_suspension();
    if (!is_possible()) return false;
    if (source == MPI_PROC_NULL) return true;
    const ompp_time_t measured_from = measured_since();
    ompp_mpi_direction_t *d = direction_of(OMPP_MPI_RECEIVED, comm, source, tag);
    measured(measured_from);
    s->receives[0].direction = d;
    s->number = 1;
    return d && is_suppressed(d);
}

bool ompp_mpi_suppressed_irecv(ompp_mpi_suppressed_t *s, MPI_Comm comm, int source, int tag, const void *requests,
                               bool fortran)
{
    s->requests = requests;
    s->fortran = fortran;
    return ompp_mpi_suppressed_receive(s, comm, source, tag);
}

/* What is received is looked at first: what is sent is counted. */
bool ompp_mpi_suppressed_sendrecv(ompp_mpi_suppressed_t *s, MPI_Comm comm, int source, int recvtag, int dest, int tag,
                                  bool sendable)
{
    return ompp_mpi_suppressed_receive(s, comm, source, recvtag) &&
           ompp_mpi_suppressed_send(s, comm, dest, tag, sendable);
}

static bool passes(ompp_mpi_direction_t *d, ompp_time_t t)
{
    if (!is_suppressed(d) || t - d->looked > OMPP_MPI_LOOK_NS) return false;
    d->count = ompp_mpi_number_after(d->count);
    return true;
}

static ompp_time_t end(ompp_mpi_suppressed_t *s, bool ok, ompp_time_t t)
{
    unsigned i = 0;

    if (ok && ompp_sync_suspension() == s->suspension)
        while (i < s->number && passes(s->receives[i].direction, t)) i++;
    return i == s->number ? t : ompp_mpi_suppressed_end_slow(s, i, ok);
}

ompp_time_t ompp_mpi_suppressed_receive_end(ompp_mpi_suppressed_t *s, int result, ompp_time_t t)
{
    if (s->number == 0 || !ompp_mpi_has_received(result)) return t;
    return end(s, result == MPI_SUCCESS, t);
}

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

static MPI_Request handle_of(const ompp_mpi_suppressed_t *s, int i)
{
    return s->fortran ? PMPI_Request_f2c(((const MPI_Fint *)s->requests)[i]) : ((const MPI_Request *)s->requests)[i];
}

static void put_started(const ompp_mpi_started_t *one)
{
    ompp_mpi_started_t *place = ompp_mpi_started_of(one->handle);

    if (place->direction) {
        ompp_mpi_started_keep_slow(one);
        return;
    }
    *place = *one;
    ompp_mpi_quick.nstarted++;
}

ompp_time_t ompp_mpi_suppressed_irecv_end(ompp_mpi_suppressed_t *s, int result, ompp_time_t t)
{
    if (result != MPI_SUCCESS || s->number == 0) return t;
    const ompp_mpi_started_t one = {handle_of(s, 0), s->receives[0].direction, t};
    if (one.handle != MPI_REQUEST_NULL) put_started(&one);
    return t;
}

bool ompp_mpi_suppressed_wait(ompp_mpi_suppressed_t *s, int number, const void *requests, bool fortran)
{
    s->number = 0;
    s->suspension = ompp_sync_suspension();
    s->requests = requests;
    s->fortran = fortran;
    if (!is_possible() || ompp_mpi_request_any() || number > OMPP_MPI_SUPPRESSED_MOST) return false;
    const ompp_time_t measured_from = measured_since();
    for (int i = 0; requests && i < number && ompp_mpi_quick.nstarted > 0; i++) {
        const MPI_Request handle = handle_of(s, i);
        ompp_mpi_started_t *place = ompp_mpi_started_of(handle);
        if (!place->direction || place->handle != handle) continue;
        s->receives[s->number++] = (ompp_mpi_suppressed_receive_t){place->direction, handle, i, place->begin};
        place->direction = NULL;
        ompp_mpi_quick.nstarted--;
    }
    measured(measured_from);
    return true;
}

/* Those whose handles are not gone are still active. */
static void put_back(ompp_mpi_suppressed_t *s)
{
    unsigned complete = 0;

    for (unsigned i = 0; i < s->number; i++) {
        const ompp_mpi_suppressed_receive_t r = s->receives[i];
        const ompp_mpi_started_t one = {r.handle, r.direction, r.begin};
        if (handle_of(s, r.index) == MPI_REQUEST_NULL) s->receives[complete++] = r;
        else put_started(&one);
    }
    s->number = complete;
}

ompp_time_t ompp_mpi_suppressed_wait_end(ompp_mpi_suppressed_t *s, int result, ompp_time_t t)
{
    if (s->number == 0) return t;
    if (result != MPI_SUCCESS) put_back(s);
    return end(s, result == MPI_SUCCESS, t ? t : ompp_event_now());
}

/* ---- Collective calls -------------------------------------------------------------------------------------------- */

/* While the user's call goes on, the communicator is not freed. */
static ompp_mpi_shadow_t *shadow_of(MPI_Comm comm)
{
    const unsigned i = ((uintptr_t)comm >> 4 ^ (uintptr_t)comm) % OMPP_MPI_NEAR_SHADOWS;

    if (__builtin_expect(ompp_mpi_quick.shadows[i].shadow && ompp_mpi_quick.shadows[i].comm == comm, 1))
        return ompp_mpi_quick.shadows[i].shadow;
    return ompp_mpi_shadow_slow(i, comm);
}

bool ompp_mpi_suppressed_collective(ompp_mpi_suppressed_t *s, MPI_Comm comm, bool accepted)
{
    if (!accepted || !is_possible()) return false;
    s->shadow = shadow_of(comm);
    return s->shadow && !s->shadow->inter && ompp_mpi_collective_passes(s->shadow);
}

ompp_time_t ompp_mpi_suppressed_collective_end(ompp_mpi_suppressed_t *s, int result, ompp_time_t t)
{
    const int saved = errno;
    const ompp_time_t measured_from = measured_since();

    const ompp_sync_wait_t wait = {.begin = ompp_event_called(),
                                   .kind = ompp_mpi_collective_kind(s->shadow, OMPP_MPI_ORDER_ALL)};

    if (result == MPI_SUCCESS) ompp_mpi_join_clock(NULL, wait);
    measured(measured_from);
    errno = saved;
    return t;
}
