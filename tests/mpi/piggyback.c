/*
 * Clock vectors that travel with calls of MPI: results, statuses, order and error codes are the same as without. Every message brings the
 * clock vector of its own sender, every collective call those of the ranks it waits for. Messages carry numbers; before
 * each send the fake clocks get the number as mark.
 */
#include "piggyback_collectives.h"
#include "piggyback_ring.h"

enum { LARGE = 1 << 18, WILDCARD = 1 << 3, POLLING = 1 << 4 };

static double large[LARGE / sizeof(double)], room[LARGE / sizeof(double)];

static void blocking(void)
{
    MPI_Status s;
    int got, count;

    send_ring(1, 5);
    MPI_Recv(&got, 1, MPI_INT, last_rank, 5, world, MPI_STATUS_IGNORE);
    CHECK(got == number_of(last_rank, 1));
    ADOPTED(got, BIT(last_rank));
    send_ring(2, 6);
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 6, world, MPI_STATUS_IGNORE);
    ADOPTED(number_of(last_rank, 2), BIT(last_rank));
    send_ring(3, 7);
    s.MPI_ERROR = 12345;
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &s);
    MPI_Get_count(&s, MPI_INT, &count);
    CHECK(s.MPI_SOURCE == last_rank && s.MPI_TAG == 7 && count == 1 && s.MPI_ERROR == 12345 && got == number_of(last_rank, 3));
    ADOPTED(got, BIT(last_rank));
    /* Order of two tags. */
    send_ring(4, 1);
    send_ring(5, 2);
    MPI_Recv(&got, 1, MPI_INT, last_rank, 2, world, &s);
    ADOPTED(number_of(last_rank, 5), BIT(last_rank));
    MPI_Recv(&got, 1, MPI_INT, last_rank, MPI_ANY_TAG, world, &s);
    CHECK(s.MPI_TAG == 1);
    ADOPTED(number_of(last_rank, 4), BIT(last_rank));
    /* Nobody. */
    MPI_Recv(&got, 1, MPI_INT, MPI_PROC_NULL, 3, world, &s);
    CHECK(s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG);
    MPI_Send(&got, 1, MPI_INT, MPI_PROC_NULL, 3, world);
    ADOPTED(0, 0);
    /* Oneself. */
    MPI_Request r;
    int mine = number_of(rank, 6);
    r = isend(&mine, rank, 3);
    MPI_Recv(&got, 1, MPI_INT, rank, 3, world, &s);
    ADOPTED(mine, BIT(rank));
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    ADOPTED(0, 0);
}

static void both_ways(void)
{
    MPI_Status s;
    int number = number_of(rank, 1), got = 0;

    mark(number);
    MPI_Sendrecv(&number, 1, MPI_INT, next_rank, 4, &got, 1, MPI_INT, last_rank, 4, world, &s);
    CHECK(got == number_of(last_rank, 1) && s.MPI_SOURCE == last_rank);
    ADOPTED(got, BIT(last_rank));
    number = number_of(rank, 2);
    mark(number);
    got = number;
    MPI_Sendrecv_replace(&got, 1, MPI_INT, next_rank, 4, MPI_ANY_SOURCE, MPI_ANY_TAG, world, MPI_STATUS_IGNORE);
    ADOPTED(number_of(last_rank, 2), BIT(last_rank));
    /* A chain: the first receives from nobody. */
    got = -1;
    mark(number_of(rank, 3));
    MPI_Sendrecv(&number, 1, MPI_INT, rank + 1 < size ? rank + 1 : MPI_PROC_NULL, 4, &got, 1, MPI_INT,
                 rank > 0 ? rank - 1 : MPI_PROC_NULL, 4, world, &s);
    CHECK(rank > 0 || got == -1);
    if (rank > 0) ADOPTED(number_of(rank - 1, 3), BIT(rank - 1));
    else ADOPTED(0, 0);
}

static void non_blocking(void)
{
    MPI_Request r[6];
    MPI_Status s[6];
    int got[6], n, index[6], flag, i;
    adopted_t a;

    /* Equal tags, one after the other. */
    for (i = 0; i < 3; i++) MPI_Irecv(&got[i], 1, MPI_INT, last_rank, 5, world, &r[i]);
    for (i = 0; i < 3; i++) send_ring(i, 5);
    for (i = 0; i < 3; i++) {
        MPI_Wait(&r[i], MPI_STATUS_IGNORE);
        CHECK(r[i] == MPI_REQUEST_NULL && got[i] == number_of(last_rank, i));
        ADOPTED(got[i], BIT(last_rank));
    }
    MPI_Wait(&r[0], &s[0]);
    MPI_Test(&r[0], &flag, &s[0]);
    CHECK(flag && s[0].MPI_SOURCE == MPI_ANY_SOURCE);
    /* All at once, with a wildcard, a send and a null request among them. */
    MPI_Irecv(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, 6, world, &r[0]);
    MPI_Irecv(&got[1], 1, MPI_INT, last_rank, 7, world, &r[1]);
    r[2] = MPI_REQUEST_NULL;
    int number = number_of(rank, 9);
    r[3] = isend(&number, next_rank, 7);
    send_ring(8, 6);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    CHECK(got[0] == number_of(last_rank, 8) && got[1] == number_of(last_rank, 9));
    ADOPTED(number_of(last_rank, 9), BIT(last_rank));
    /* Any of them. */
    for (i = 0; i < 4; i++) MPI_Irecv(&got[i], 1, MPI_INT, last_rank, 10 + i, world, &r[i]);
    for (i = 3; i >= 0; i--) send_ring(20 + i, 10 + i);
    for (n = 0; n < 4; n++) {
        MPI_Waitany(4, r, &i, &s[0]);
        CHECK(i >= 0 && i < 4 && s[0].MPI_TAG == 10 + i && r[i] == MPI_REQUEST_NULL && got[i] == number_of(last_rank, 20 + i));
        ADOPTED(number_of(last_rank, 20 + i), BIT(last_rank));
    }
    MPI_Waitany(4, r, &i, MPI_STATUS_IGNORE);
    CHECK(i == MPI_UNDEFINED);
    for (i = 0; i < 4; i++) MPI_Irecv(&got[i], 1, MPI_INT, MPI_ANY_SOURCE, 10 + i, world, &r[i]);
    for (i = 0; i < 4; i++) send_ring(30 + i, 10 + i);
    for (n = 0; n < 4;) {
        int done, highest = -1;
        MPI_Waitsome(4, r, &done, index, s);
        CHECK(done > 0);
        for (i = 0; i < done; i++) {
            CHECK(s[i].MPI_TAG == 10 + index[i] && s[i].MPI_SOURCE == last_rank);
            if (index[i] > highest) highest = index[i];
        }
        ADOPTED(number_of(last_rank, 30 + highest), BIT(last_rank));
        n += done;
    }
    MPI_Waitsome(4, r, &n, index, s);
    CHECK(n == MPI_UNDEFINED);
    /* Asking. */
    MPI_Barrier(world);
    take(&a);
    MPI_Irecv(&got[0], 1, MPI_INT, last_rank, 6, world, &r[0]);
    if (size > 1) {
        MPI_Test(&r[0], &flag, &s[0]);
        CHECK(!flag && r[0] != MPI_REQUEST_NULL);
        ADOPTED(0, 0);
    }
    MPI_Barrier(world);
    take(&a);
    send_ring(40, 6);
    do MPI_Test(&r[0], &flag, &s[0]);
    while (!flag);
    CHECK(s[0].MPI_SOURCE == last_rank && s[0].MPI_TAG == 6);
    CHECK(!take(&a) || (a.mark == number_of(last_rank, 40) && (a.flags & POLLING)));
    for (i = 0; i < 2; i++) MPI_Irecv(&got[i], 1, MPI_INT, MPI_ANY_SOURCE, 10 + i, world, &r[i]);
    for (i = 0; i < 2; i++) send_ring(50 + i, 10 + i);
    do MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE);
    while (!flag);
    ADOPTED(number_of(last_rank, 51), BIT(last_rank));
    for (i = 0; i < 2; i++) MPI_Irecv(&got[i], 1, MPI_INT, MPI_ANY_SOURCE, 10 + i, world, &r[i]);
    for (i = 0; i < 2; i++) send_ring(52 + i, 10 + i);
    for (n = 0; n < 2; n += flag) {
        MPI_Testany(2, r, &i, &flag, MPI_STATUS_IGNORE);
        if (flag) ADOPTED(number_of(last_rank, 52 + i), BIT(last_rank));
    }
    for (i = 0; i < 2; i++) MPI_Irecv(&got[i], 1, MPI_INT, MPI_ANY_SOURCE, 10 + i, world, &r[i]);
    for (i = 0; i < 2; i++) send_ring(54 + i, 10 + i);
    for (int total = 0; total < 2; total += n) MPI_Testsome(2, r, &n, index, MPI_STATUSES_IGNORE);
    ADOPTED(number_of(last_rank, 55), BIT(last_rank));
}

static void probes(void)
{
    MPI_Message m;
    MPI_Status s;
    MPI_Request r;
    int flag, got, count;
    adopted_t a;

    send_ring(1, 5);
    send_ring(2, 5);
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &s);
    MPI_Get_count(&s, MPI_INT, &count);
    CHECK(s.MPI_SOURCE == last_rank && s.MPI_TAG == 5 && count == 1);
    ADOPTED(number_of(last_rank, 1), BIT(last_rank));
    MPI_Probe(last_rank, 5, world, MPI_STATUS_IGNORE);
    ADOPTED(number_of(last_rank, 1), BIT(last_rank));
    for (int i = 0; i < 3; i++) {
        MPI_Iprobe(last_rank, MPI_ANY_TAG, world, &flag, MPI_STATUS_IGNORE);
        CHECK(flag);
        ADOPTED(number_of(last_rank, 1), BIT(last_rank));
    }
    for (int i = 1; i <= 2; i++) {
        MPI_Recv(&got, 1, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, world, MPI_STATUS_IGNORE);
        CHECK(got == number_of(last_rank, i));
        ADOPTED(got, BIT(last_rank));
    }
    MPI_Barrier(world);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &flag, &s);
    CHECK(!flag);
    MPI_Probe(MPI_PROC_NULL, 1, world, &s);
    CHECK(s.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Barrier(world);
    take(&a);
    send_ring(3, 6);
    send_ring(4, 6);
    do MPI_Iprobe(MPI_ANY_SOURCE, 6, world, &flag, &s);
    while (!flag);
    ADOPTED(number_of(last_rank, 3), BIT(last_rank));
    MPI_Mprobe(last_rank, 6, world, &m, &s);
    ADOPTED(number_of(last_rank, 3), BIT(last_rank));
    /* The first one is no longer among those that can be received. */
    MPI_Recv(&got, 1, MPI_INT, last_rank, 6, world, &s);
    CHECK(got == number_of(last_rank, 4));
    ADOPTED(got, BIT(last_rank));
    MPI_Mrecv(&got, 1, MPI_INT, &m, &s);
    CHECK(got == number_of(last_rank, 3) && m == MPI_MESSAGE_NULL);
    send_ring(5, 7);
    do MPI_Improbe(MPI_ANY_SOURCE, 7, world, &flag, &m, MPI_STATUS_IGNORE);
    while (!flag);
    ADOPTED(number_of(last_rank, 5), BIT(last_rank));
    MPI_Imrecv(&got, 1, MPI_INT, &m, &r);
    MPI_Wait(&r, &s);
    CHECK(got == number_of(last_rank, 5));
    send_ring(6, 7);
    MPI_Recv(&got, 1, MPI_INT, last_rank, 7, world, &s);
    ADOPTED(number_of(last_rank, 6), BIT(last_rank));
}

/* What is taken back does not shift the clock vectors of what follows. */
static void withdrawn(void)
{
    MPI_Request r;
    MPI_Status s;
    int got = 0, flag = 0;
    adopted_t a;

    MPI_Irecv(&got, 1, MPI_INT, last_rank, 5, world, &r);
    MPI_Cancel(&r);
    MPI_Wait(&r, &s);
    MPI_Test_cancelled(&s, &flag);
    CHECK(flag);
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &r);
    MPI_Cancel(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    ADOPTED(0, 0);
    MPI_Barrier(world);
    take(&a);
    send_ring(1, 5);
    MPI_Recv(&got, 1, MPI_INT, last_rank, 5, world, &s);
    ADOPTED(number_of(last_rank, 1), BIT(last_rank));
    /* A receive that nobody waits for. */
    int lost = 0;
    MPI_Irecv(&lost, 1, MPI_INT, last_rank, 5, world, &r);
    MPI_Request_free(&r);
    send_ring(2, 5);
    send_ring(3, 5);
    MPI_Recv(&got, 1, MPI_INT, last_rank, 5, world, &s);
    CHECK(got == number_of(last_rank, 3) && lost == number_of(last_rank, 2));
    ADOPTED(number_of(last_rank, 3), BIT(last_rank));
    send_ring(4, 5);
    MPI_Recv(&got, 1, MPI_INT, last_rank, 5, world, &s);
    ADOPTED(number_of(last_rank, 4), BIT(last_rank));
}

static void persistent(void)
{
    MPI_Request r[2];
    int number = 0, got;
    adopted_t a;

    take(&a);
    MPI_Send_init(&number, 1, MPI_INT, next_rank, 5, world, &r[0]);
    MPI_Recv_init(&got, 1, MPI_INT, MPI_ANY_SOURCE, 5, world, &r[1]);
    for (int i = 0; i < 5; i++) {
        number = number_of(rank, i);
        mark(number);
        if (i % 2) MPI_Startall(2, r);
        else MPI_Start(&r[1]), MPI_Start(&r[0]);
        if (i == 3) MPI_Wait(&r[1], MPI_STATUS_IGNORE), MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        else MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        CHECK(got == number_of(last_rank, i) && r[0] != MPI_REQUEST_NULL && r[1] != MPI_REQUEST_NULL);
#if defined(OPEN_MPI) /* the send is over when its receiver waits, too */
        CHECK(!take(&a) || ((a.ranks & BIT(last_rank)) && !(a.ranks & ~(BIT(last_rank) | BIT(next_rank))) && a.mark >= got));
#else
        ADOPTED(got, BIT(last_rank));
#endif
    }
    MPI_Wait(&r[1], MPI_STATUS_IGNORE); /* not active */
    ADOPTED(0, 0);
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    CHECK(r[1] == MPI_REQUEST_NULL);
}

/* The other's, or none: a receipt may come too late. */
static void check_one_of(const adopted_t *a, int other, int round, bool may_be_none)
{
    if (may_be_none && a->mark == 0 && a->ranks == 0 && a->unknown == 0) return;
    CHECK(a->mark == number_of(other, round) && a->ranks == BIT(other) && a->unknown == 0);
}

static void adopted_maybe(int other, int round)
{
    adopted_t a;

    if (take(&a)) check_one_of(&a, other, round, true);
}

/* Each sends before it waits: the send of the first one is over when the other begins its own. */
static void acks_crossing(int other)
{
    const bool even = rank % 2 == 0;
    adopted_t a;
    MPI_Request r;

    for (int round = 10; round < 12; round++) {
        double mine, others;
        MPI_Irecv(room, LARGE / 8, MPI_DOUBLE, other, 7, world, &r);
        come_after(other, even == (round % 2 == 1));
        take(&a);
        mark(number_of(rank, round));
        mine = PMPI_Wtime();
        MPI_Send(large, LARGE / 8, MPI_DOUBLE, other, 7, world);
        const bool clocks = take(&a);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        PMPI_Sendrecv(&mine, 1, MPI_DOUBLE, other, 78, &others, 1, MPI_DOUBLE, other, 78, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (clocks) check_one_of(&a, other, round, others < mine + LATE_US * 0.5e-6);
        take(&a);
    }
}

/* Senders learn of receivers that they had to wait for; of those that waited for them, in calls that always meet. */
static void acks(void)
{
    const int even = rank % 2 == 0, other = even ? rank + 1 : rank - 1;
    MPI_Request r;
    adopted_t a;

    for (int round = 0; round < 4 && other < size; round++) {
        const bool late = round % 2, synchronous = round < 2;
        MPI_Barrier(MPI_COMM_SELF);
        come_after(other, even == late);
        take(&a);
        mark(number_of(rank, round));
        if (even) {
            if (synchronous) MPI_Ssend(large, 1, MPI_DOUBLE, other, 5, world);
            else MPI_Isend(large, LARGE / 8, MPI_DOUBLE, other, 5, world, &r), MPI_Wait(&r, MPI_STATUS_IGNORE);
            /* late: the sender; else the receiver, who has begun to wait when the sender came. */
            if (late) adopted_maybe(other, round);
            else ADOPTED(number_of(other, round), BIT(other));
        } else {
            MPI_Recv(room, LARGE / 8, MPI_DOUBLE, other, 5, world, MPI_STATUS_IGNORE);
            ADOPTED(number_of(other, round), BIT(other));
        }
    }
    MPI_Barrier(world);
    take(&a);
    /* Both sides at once: nobody waits for a receipt that the other gives later. */
    mark(number_of(rank, 9));
    MPI_Sendrecv(large, LARGE / 8, MPI_DOUBLE, next_rank, 6, room, LARGE / 8, MPI_DOUBLE, last_rank, 6, world, MPI_STATUS_IGNORE);
    CHECK(!take(&a) || (a.ranks & BIT(last_rank)));
    if (other < size) acks_crossing(other);
    MPI_Barrier(world);
    take(&a);
}

static int handled;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    handled++;
}

/* The user's handler sees the user's errors, once each; what follows is not mixed up. */
static void errors(void)
{
    MPI_Errhandler mine;
    MPI_Request r;
    MPI_Status s[2];
    int two[2], x = 0, code, class;
    adopted_t a;

    MPI_Comm_create_errhandler(handler, &mine);
    MPI_Comm_set_errhandler(world, mine);
    CHECK(MPI_Send(&x, 1, MPI_INT, size + 5, 1, world) != MPI_SUCCESS);
    CHECK(MPI_Send(&x, 1, MPI_INT, next_rank, -7, world) != MPI_SUCCESS);
    CHECK(MPI_Send(&x, -1, MPI_INT, next_rank, 1, world) != MPI_SUCCESS);
    CHECK(MPI_Send(&x, 1, MPI_DATATYPE_NULL, next_rank, 1, world) != MPI_SUCCESS);
    CHECK(MPI_Bcast(&x, 1, MPI_INT, size + 1, world) != MPI_SUCCESS);
    CHECK(handled == 5);
    MPI_Barrier(world);
    send_ring(1, 1);
    MPI_Recv(&x, 1, MPI_INT, last_rank, 1, world, MPI_STATUS_IGNORE);
    CHECK(!take(&a) || a.mark == number_of(last_rank, 1));
    /* Too long a message. */
    two[0] = number_of(rank, 2);
    mark(two[0]);
    MPI_Isend(two, 2, MPI_INT, next_rank, 1, world, &r);
    code = MPI_Recv(&x, 1, MPI_INT, last_rank, 1, world, MPI_STATUS_IGNORE);
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_TRUNCATE && handled == 6);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    take(&a);
    mark(number_of(rank, 3));
    MPI_Isend(two, 2, MPI_INT, next_rank, 1, world, &r);
    MPI_Request q;
    MPI_Irecv(&x, 1, MPI_INT, last_rank, 1, world, &q);
    MPI_Request pair[2] = {q, r};
    code = MPI_Waitall(2, pair, s);
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_IN_STATUS || class == MPI_ERR_TRUNCATE);
    MPI_Barrier(world);
    take(&a);
    send_ring(4, 1);
    MPI_Recv(&x, 1, MPI_INT, last_rank, 1, world, MPI_STATUS_IGNORE);
    CHECK(x == number_of(last_rank, 4));
    ADOPTED(number_of(last_rank, 4), BIT(last_rank));
    MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&mine);
}

/* What MPI refuses, of neighbourhoods on one rank alone, too, has no number: the next call is told right. */
static void refused(void)
{
    MPI_Comm ring, chain;
    int one[1] = {size}, yes[1] = {1}, neighbor[2], x = rank, y = 0;
    adopted_t a;

    MPI_Cart_create(world, 1, one, yes, 0, &ring);
    MPI_Comm_dup(world, &chain);
    MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(chain, MPI_ERRORS_RETURN);
    take(&a);
    for (int i = 1; i <= 4; i++) {
        mark(30 + i);
        if (i % 2 || rank == 0)
            CHECK(MPI_Neighbor_allgather(&x, 1, MPI_DATATYPE_NULL, neighbor, 1, MPI_INT, ring) != MPI_SUCCESS);
        CHECK(MPI_Scan(&x, &y, 1, MPI_DATATYPE_NULL, MPI_SUM, chain) != MPI_SUCCESS);
        ADOPTED(0, 0);
        MPI_Neighbor_allgather(&x, 1, MPI_INT, neighbor, 1, MPI_INT, ring);
        CHECK(neighbor[0] == last_rank && neighbor[1] == next_rank);
        ADOPTED(30 + i, BIT(last_rank) | BIT(next_rank));
        MPI_Scan(&x, &y, 1, MPI_INT, MPI_SUM, chain);
        CHECK(y == rank * (rank + 1) / 2);
        ADOPTED(30 + i, BIT(rank + 1) - 1);
    }
    MPI_Comm_free(&chain);
    MPI_Comm_free(&ring);
}

/* Switched off on one rank: its clocks still travel. */
static void paused(void)
{
    int got;
    adopted_t a;

    if (rank == 0) MPI_Pcontrol(0);
    MPI_Barrier(world);
    take(&a);
    send_ring(1, 1);
    MPI_Recv(&got, 1, MPI_INT, last_rank, 1, world, MPI_STATUS_IGNORE);
    ADOPTED(number_of(last_rank, 1), BIT(last_rank));
    MPI_Barrier(world);
    if (rank == 0) MPI_Pcontrol(1);
}

/* Many small messages, far ahead of their receiver. */
static void flood(void)
{
    enum { MANY = 3000 };
    int x;
    adopted_t a;

    MPI_Barrier(world);
    take(&a);
    for (int i = 0; rank == 0 && size > 1 && i < MANY; i++) {
        mark(i + 1);
        MPI_Send(&i, 1, MPI_INT, 1, 2, world);
    }
    for (int i = 0; rank == 1 && i < MANY; i++) {
        MPI_Recv(&x, 1, MPI_INT, i % 2 ? 0 : MPI_ANY_SOURCE, 2, world, MPI_STATUS_IGNORE);
        CHECK(x == i);
        ADOPTED(i + 1, 1);
    }
    MPI_Barrier(world);
}

int main(int argc, char **argv)
{
    adopted_t a;

    start(&argc, &argv);
    world = MPI_COMM_WORLD;
    next_rank = (rank + 1) % size;
    last_rank = (rank + size - 1) % size;
    void (*const parts[])(void) = {blocking, both_ways, non_blocking, probes, withdrawn, persistent, acks,
                                   communicators, windows, errors, refused, paused, flood};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const int before = failures;
        take(&a);
        parts[i]();
        settle();
        MPI_Barrier(world);
        if (failures > before) printf("rank %d of %d: part %zu failed\n", rank, size, i);
    }
    return finish();
}
