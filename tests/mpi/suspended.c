/*
 * While clocks are suspended, messages go without clock vectors, in every way that they can be received. The results are the same as ever.
 * As soon as a rank's clocks go on, each message brings its own clock vector again, and that of no other message. Ranks stand in a ring.
 * Suspended or not, what begins where all ranks meet goes into the clock vectors of calls of all of them alone.
 */
#include "piggyback.h"

#include <string.h>

enum { MANY = 100, TAG = 5, OTHER_TAG = 6, WAYS = 11 };

static MPI_Comm world;
static int next_rank, last_rank, suspensions;

static void rest(bool on)
{
    suspend(on ? (uint64_t)++suspensions : 0);
}

static int number_of(int from, int i)
{
    return 1000000 * (from + 1) + i;
}

/* A message to the next, complete in any case when its receiver has it. */
static MPI_Request give(const int *number, int tag, MPI_Comm comm)
{
    MPI_Request r;

    mark(*number);
    MPI_Isend(number, 1, MPI_INT, next_rank, tag, comm, &r);
    return r;
}

static void test_until_done(MPI_Request *r)
{
    for (int flag = 0; !flag;) MPI_Test(r, &flag, MPI_STATUS_IGNORE);
}

/* One message from each to the next, in a way. */
static void pass_on(int way, int i, MPI_Comm comm)
{
    const int mine = number_of(rank, i);
    MPI_Request r[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL}, sent = MPI_REQUEST_NULL;
    MPI_Status s;
    int got = -1, flag = 0, index, count, indices[3];

    switch (way) {
    case 0:
        sent = give(&mine, TAG, comm);
        MPI_Recv(&got, 1, MPI_INT, last_rank, TAG, comm, MPI_STATUS_IGNORE);
        break;
    case 1:
        MPI_Irecv(&got, 1, MPI_INT, last_rank, TAG, comm, &r[0]);
        sent = give(&mine, TAG, comm);
        MPI_Wait(&r[0], &s);
        CHECK(s.MPI_SOURCE == last_rank && s.MPI_TAG == TAG);
        break;
    case 2: /* sends among them, and nothing */
        MPI_Irecv(&got, 1, MPI_INT, last_rank, TAG, comm, &r[2]);
        r[0] = give(&mine, TAG, comm);
        MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
        CHECK(r[0] == MPI_REQUEST_NULL && r[2] == MPI_REQUEST_NULL);
        break;
    case 3:
        mark(mine);
        MPI_Sendrecv(&mine, 1, MPI_INT, next_rank, TAG, &got, 1, MPI_INT, last_rank, TAG, comm, &s);
        CHECK(s.MPI_SOURCE == last_rank);
        break;
    case 4:
        MPI_Irecv(&got, 1, MPI_INT, last_rank, TAG, comm, &r[0]);
        sent = give(&mine, TAG, comm);
        test_until_done(&r[0]);
        break;
    case 5:
        MPI_Irecv(&got, 1, MPI_INT, last_rank, TAG, comm, &r[1]);
        sent = give(&mine, TAG, comm);
        MPI_Waitany(3, r, &index, &s);
        CHECK(index == 1 && s.MPI_SOURCE == last_rank);
        break;
    case 6:
        MPI_Irecv(&got, 1, MPI_INT, last_rank, TAG, comm, &r[1]);
        sent = give(&mine, TAG, comm);
        MPI_Waitsome(3, r, &count, indices, MPI_STATUSES_IGNORE);
        CHECK(count == 1 && indices[0] == 1);
        break;
    case 7:
        sent = give(&mine, TAG, comm);
        MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &s);
        CHECK(s.MPI_SOURCE == last_rank && s.MPI_TAG == TAG);
        break;
    case 8:
        MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, TAG, comm, &r[0]);
        sent = give(&mine, TAG, comm);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        break;
    case 9: /* one that nobody sends to, and one that is asked for before it is complete */
        MPI_Irecv(&index, 1, MPI_INT, last_rank, OTHER_TAG, comm, &r[0]);
        MPI_Irecv(&got, 1, MPI_INT, last_rank, TAG, comm, &r[1]);
        sent = give(&mine, TAG, comm);
        while (!flag) MPI_Request_get_status(r[1], &flag, MPI_STATUS_IGNORE);
        MPI_Cancel(&r[0]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        break;
    default:
        sent = give(&mine, TAG, comm);
        MPI_Probe(last_rank, TAG, comm, &s);
        MPI_Recv(&got, 1, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, comm, MPI_STATUS_IGNORE);
        break;
    }
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    CHECK(got == number_of(last_rank, i));
}

/* Clocks go on, and the next messages have their own clock vectors; also one in a direction in which there was none before. */
static void go_on(MPI_Comm comm, int i)
{
    adopted_t a;

    PMPI_Barrier(world);
    rest(false);
    PMPI_Barrier(world);
    take(&a);
    for (int way = 0; way < 4; way++) {
        pass_on(way, i + way, comm);
        ADOPTED(number_of(last_rank, i + way), BIT(last_rank));
    }
}

static void each_way(void)
{
    adopted_t a;

    for (int way = 0; way < WAYS; way++) {
        PMPI_Barrier(world);
        rest(true);
        for (int i = 0; i < MANY; i++) pass_on(way, i, world);
        go_on(world, MANY + way);
    }
    take(&a);
}

static void all_ways(void)
{
    unsigned chance = 1;

    for (int round = 0; round < 20; round++) {
        PMPI_Barrier(world);
        rest(true);
        for (int i = 0; i < MANY; i++) {
            chance = chance * 1664525u + 1013904223u;
            pass_on((int)(chance >> 16) % WAYS, i, world);
        }
        go_on(world, MANY + round);
    }
}

/* What messages were received without in the rest is not awaited: most of them take no notice of each other. */
static void takes_no_notice(void)
{
    adopted_t a;

    PMPI_Barrier(world);
    rest(true);
    for (int i = 0; i < 4; i++) pass_on(0, i, world);
    take(&a);
    const double begin = PMPI_Wtime();
    for (int i = 0; i < MANY; i++) pass_on(i % 4, i, world);
    /* 0, but for looking now and then: on each of four ways every 200 us */
    CHECK(!take(&a) || (a.joined == 0 && (a.unknown < MANY / 2 || a.unknown <= 4 + 4 * (PMPI_Wtime() - begin) / 200e-6)));
    go_on(world, MANY);
}

/* Receives that were begun in the rest, of what is sent after it. */
static void posted_before(void)
{
    MPI_Request r[4], sent[4];
    int got[4], numbers[4], flag;
    adopted_t a;

    PMPI_Barrier(world);
    rest(true);
    for (int i = 0; i < MANY; i++) pass_on(2, i, world);
    for (int i = 0; i < 4; i++) MPI_Irecv(&got[i], 1, MPI_INT, last_rank, TAG, world, &r[i]);
    PMPI_Barrier(world);
    rest(false);
    take(&a);
    for (int i = 0; i < 4; i++) {
        numbers[i] = number_of(rank, i);
        sent[i] = give(&numbers[i], TAG, world);
    }
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    ADOPTED(number_of(last_rank, 0), BIT(last_rank));
    for (flag = 0; !flag;) MPI_Test(&r[1], &flag, MPI_STATUS_IGNORE);
    ADOPTED(number_of(last_rank, 1), BIT(last_rank));
    MPI_Waitall(2, r + 2, MPI_STATUSES_IGNORE);
    ADOPTED(number_of(last_rank, 3), BIT(last_rank));
    MPI_Waitall(4, sent, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; i++) CHECK(got[i] == number_of(last_rank, i));
    take(&a);
    go_on(world, MANY);
}

/* The clocks of one rank go on: its clock vectors are there, and are looked at or passed over. */
static void one_does_not(void)
{
    for (int awake = 0; awake < size; awake++) {
        PMPI_Barrier(world);
        rest(rank != awake);
        for (int i = 0; i < 3 * MANY; i++) pass_on(i % WAYS, i, world);
        go_on(world, MANY);
    }
}

/* Freed while a receive is under way, its handle given to the next one. */
static void communicators(void)
{
    for (int i = 0; i < 8; i++) {
        MPI_Request r, sent;
        MPI_Comm comm;
        int got = 0, mine = number_of(rank, i);

        MPI_Comm_dup(world, &comm);
        rest(true);
        for (int k = 0; k < MANY; k++) pass_on(k % 3, k, comm);
        if (i % 2) go_on(comm, MANY);
        if (i % 4 > 1) {
            MPI_Irecv(&got, 1, MPI_INT, last_rank, OTHER_TAG, comm, &r);
            sent = give(&mine, OTHER_TAG, comm);
            MPI_Comm_free(&comm);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
            MPI_Wait(&sent, MPI_STATUS_IGNORE);
            CHECK(got == number_of(last_rank, i));
        } else {
            MPI_Comm_free(&comm);
        }
        PMPI_Barrier(world);
        rest(false);
        PMPI_Barrier(world);
    }
    go_on(world, MANY);
}

/* Of messages between two ranks with many tags, some have no room among those that are known; and requests none. */
static void many(void)
{
    enum { TAGS = 1500, AT_ONCE = 300 };
    MPI_Request r[AT_ONCE], sent[AT_ONCE];
    int numbers[AT_ONCE], got[AT_ONCE];

    PMPI_Barrier(world);
    rest(true);
    for (int round = 0; round < 3; round++)
        for (int tag = 0; tag < TAGS; tag += AT_ONCE) {
            for (int i = 0; i < AT_ONCE; i++) MPI_Irecv(&got[i], 1, MPI_INT, last_rank, 100 + tag + i, world, &r[i]);
            for (int i = 0; i < AT_ONCE; i++) {
                numbers[i] = number_of(rank, tag + i);
                sent[i] = give(&numbers[i], 100 + tag + i, world);
            }
            MPI_Waitall(AT_ONCE / 2, r, MPI_STATUSES_IGNORE);
            for (int i = AT_ONCE / 2; i < AT_ONCE; i++) MPI_Wait(&r[i], MPI_STATUS_IGNORE);
            MPI_Waitall(AT_ONCE, sent, MPI_STATUSES_IGNORE);
            for (int i = 0; i < AT_ONCE; i++) CHECK(got[i] == number_of(last_rank, tag + i));
        }
    go_on(world, MANY);
}

/* What MPI refuses is no message; what is too long for its receiver is one. */
static void errors(void)
{
    int mine[2] = {number_of(rank, 0), 0}, got = 0, status;
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, sent;
    MPI_Errhandler before;

    MPI_Comm_get_errhandler(world, &before);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    for (int kind = 0; kind < 7; kind++) {
        PMPI_Barrier(world);
        rest(true);
        for (int i = 0; i < MANY; i++) pass_on(i % 4, i, world);
        status = MPI_SUCCESS;
        mark(mine[0]);
        if (kind == 0) status = MPI_Send(mine, -1, MPI_INT, next_rank, TAG, world);
        if (kind == 1) status = MPI_Send(mine, 1, MPI_DATATYPE_NULL, next_rank, TAG, world);
        if (kind == 2) status = MPI_Isend(mine, -1, MPI_INT, next_rank, TAG, world, &sent);
        if (kind == 3) status = MPI_Sendrecv(mine, -1, MPI_INT, next_rank, TAG, &got, 1, MPI_INT, last_rank, TAG, world, MPI_STATUS_IGNORE);
        if (kind > 3) {
            if (kind > 4) MPI_Irecv(&got, 1, MPI_INT, last_rank, TAG, world, &r[1]);
            MPI_Isend(mine, 2, MPI_INT, next_rank, TAG, world, &sent);
            if (kind == 4) status = MPI_Recv(&got, 1, MPI_INT, last_rank, TAG, world, MPI_STATUS_IGNORE);
            if (kind == 5) status = MPI_Wait(&r[1], MPI_STATUS_IGNORE);
            if (kind == 6) status = MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
            MPI_Wait(&sent, MPI_STATUS_IGNORE);
        }
        CHECK(status != MPI_SUCCESS || kind > 3); /* Open MPI says nothing of what is too long for a message to oneself */
        for (int i = 0; i < 4; i++) pass_on(i, i, world);
        go_on(world, MANY);
    }
    MPI_Comm_set_errhandler(world, before);
}

/* A communicator that is freed inside another call, where nobody sees it. */
static int free_kept(MPI_Comm comm, int key, void *kept, void *state)
{
    (void)comm, (void)key, (void)state;
    return MPI_Comm_free(kept);
}

static void freed_inside(void)
{
    MPI_Comm kept, again;
    int key;

    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_kept, &key, NULL);
    for (int i = 0; i < 4; i++) {
        MPI_Comm_dup(world, &kept);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, &kept);
        PMPI_Barrier(world);
        rest(true);
        for (int k = 0; k < MANY; k++) pass_on(k % 4, k, kept);
        for (int k = 0; k < 10; k++) MPI_Barrier(kept);
        MPI_Comm_delete_attr(MPI_COMM_SELF, key);
        MPI_Comm_dup(world, &again); /* its handle may be that of the other one */
        for (int k = 0; k < 10; k++) MPI_Barrier(again);
        for (int k = 0; k < MANY; k++) pass_on(k % 4, k, again);
        go_on(again, MANY);
        MPI_Comm_free(&again);
    }
    MPI_Comm_free_keyval(&key);
}

/* Collective calls leave out the exchange for a while, all ranks the same ones. */
static void collectives(void)
{
    int x = rank, sum = 0, known = 0, unknown = 0, begun;
    adopted_t a;

    PMPI_Barrier(world);
    rest(true);
    for (int i = 0; i < 2000; i++) {
        take(&a);
        begun = i % 3;
        if (begun == 0) MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, world);
        else if (begun == 1) MPI_Barrier(world);
        else MPI_Exscan(&x, &sum, 1, MPI_INT, MPI_SUM, world), MPI_Barrier(world);
        if (begun == 0) CHECK(sum == size * (size - 1) / 2);
        if (!take(&a)) continue;
        known += a.joined > 0;
        unknown += a.joined == 0 && a.unknown > 0;
    }
    CHECK(!take(&a) || (unknown > 1000 && known > 0));
    PMPI_Barrier(world);
    rest(false);
    PMPI_Barrier(world);
    for (int i = 0; i < 600; i++) MPI_Barrier(world); /* those that were agreed on */
    take(&a);
    mark(number_of(rank, 1));
    MPI_Barrier(world);
    ADOPTED(number_of(size - 1, 1), BIT(size) - 1);
}

/* So many clock vectors since the last look had what begins where all ranks meet. */
static void proposed_at(int line, uint64_t expected)
{
    uint64_t (*proposals)(void) = (uint64_t(*)(void))fake("fake_proposals");
    adopted_t a;
    const uint64_t n = proposals ? proposals() : expected;

    if (!take(&a) || n == expected) return;
    failures++;
    printf("line %d: rank %d of %d: %d proposals, not %d\n", line, rank, size, (int)n, (int)expected);
}

#define PROPOSED(n) proposed_at(__LINE__, n)

static void give_and_take(void)
{
    int got;
    MPI_Request request = give(&rank, TAG, world);

    MPI_Recv(&got, 1, MPI_INT, last_rank, TAG, world, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void meet(MPI_Comm comm, uint64_t expected)
{
    MPI_Request request;

    MPI_Barrier(comm);
    PROPOSED(expected);
    MPI_Ibarrier(comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    PROPOSED(expected);
}

static void proposals(void)
{
    uint64_t (*const last)(void) = (uint64_t(*)(void))fake("fake_proposals");
    MPI_Comm some;

    MPI_Comm_split(world, rank, 0, &some);
    if (last) last(); /* those before */
    give_and_take();
    PROPOSED(0);
    meet(some, size == 1);
    meet(world, 1);
    rest(true);
    give_and_take();
    PROPOSED(0);
    rest(false);
    MPI_Comm_free(&some);
}

int main(int argc, char **argv)
{
    adopted_t a;

    start(&argc, &argv);
    world = MPI_COMM_WORLD;
    next_rank = (rank + 1) % size;
    last_rank = (rank + size - 1) % size;
    void (*const parts[])(void) = {each_way, all_ways, takes_no_notice, posted_before, one_does_not, communicators, many,
                                   errors,   freed_inside, proposals, collectives};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const int before = failures;
        take(&a);
        parts[i]();
        PMPI_Barrier(world);
        if (failures > before) printf("rank %d of %d: part %zu failed\n", rank, size, i);
    }
    return finish();
}
