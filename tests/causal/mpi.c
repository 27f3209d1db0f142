/* MPI programs whose regions can be made faster (work.h). Four ranks. Here are those with messages. */
#include "in_ranks.h"

#include "mpi_collectives.h"

#ifdef NO_MEMORY
/* Ranks share no memory, as on several nodes. */
int memfd_create(const char *name, unsigned flags);
int memfd_create(const char *name, unsigned flags)
{
    (void)name;
    (void)flags;
    return -1;
}
#endif

/* Stages of 3.5, 4, 2.5 and 3: what b, the slowest, gains is bounded by a, its producer. */
static void stages(int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm), double *data, int count)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    static const double ms[] = {3.5, 4, 2.5, 3};

    for (int i = 0; i < run.rounds; i++) {
        OMPP_PROGRESS("round");
        if (rank > 0) MPI_Recv(data, count, MPI_DOUBLE, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        region(names[rank % 4], ms[rank % 4]);
        if (rank < size - 1) send(data, count, MPI_DOUBLE, rank + 1, 7, MPI_COMM_WORLD);
    }
}

static void pipeline(void)
{
    double x = 0;

    stages(MPI_Send, &x, 1);
}

/* Each two ranks send to each other before they wait for what comes: no receipt can come while a rank is in its send. */
static void crossing(void)
{
    enum { WORDS = 20000, MANY = 100 };
    static double out[WORDS], in[WORDS];
    const int peer = (rank ^ 1) < size ? rank ^ 1 : MPI_PROC_NULL;

    for (int i = 0; i < MANY * run.rounds; i++) {
        MPI_Request request;
        MPI_Irecv(in, WORDS, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &request);
        MPI_Send(out, WORDS, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* The sender waits for the receiver, too: a gains as well where b is slower. */
static void synchronous(void)
{
    double x = 0;

    stages(MPI_Ssend, &x, 1);
}

/* The same by size: larger than what MPI sends at once, and small enough that copying takes no time. */
static void rendezvous(void)
{
    static double data[1 << 15];

    stages(MPI_Send, data, 1 << 15);
}

/* Rank 1 is slower than its neighbours. */
static void halo(void)
{
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;
    double x = rank, ghost[2];
    MPI_Request r[4];

    for (int i = 0; i < run.rounds; i++) {
        OMPP_PROGRESS("round");
        MPI_Irecv(&ghost[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(&ghost[1], 1, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &r[1]);
        MPI_Isend(&x, 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &r[2]);
        MPI_Isend(&x, 1, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &r[3]);
        region("c", 1.5); /* the inner part, meanwhile */
        MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
        if (rank == 1) region("a", 6);
        else region("b", 3 + (i + rank) % 3);
    }
}

/* The same with persistent requests, completed one by one. */
static void persistent(void)
{
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;
    double x = rank, ghost[2];
    MPI_Request r[4];

    MPI_Recv_init(&ghost[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Recv_init(&ghost[1], 1, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &r[1]);
    MPI_Send_init(&x, 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &r[2]);
    MPI_Send_init(&x, 1, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &r[3]);
    for (int i = 0; i < run.rounds; i++) {
        OMPP_PROGRESS("round");
        MPI_Startall(4, r);
        region("c", 1.5);
        for (int k = 0; k < 4; k++) MPI_Wait(&r[k], MPI_STATUS_IGNORE);
        if (rank == 1) region("a", 6);
        else region("b", 3 + (i + rank) % 3);
    }
    for (int k = 0; k < 4; k++) MPI_Request_free(&r[k]);
}

/* Rank 0 hands out tasks, a third of them long, to whoever asks. */
static void give_tasks(void)
{
    int sent = 0, x, end = -1;
    MPI_Status s;

    for (int w = 1; w < size; w++, sent++) MPI_Send(&sent, 1, MPI_INT, w, 1, MPI_COMM_WORLD);
    for (int done = 0; done < sent; done++) {
        MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &s);
        region("c", 0.15);
        OMPP_PROGRESS("task");
        if (sent < 6 * run.rounds) MPI_Send(&sent, 1, MPI_INT, s.MPI_SOURCE, 1, MPI_COMM_WORLD), sent++;
    }
    for (int w = 1; w < size; w++) MPI_Send(&end, 1, MPI_INT, w, 1, MPI_COMM_WORLD);
}

static void workers(void)
{
    int x;

    if (rank == 0) {
        give_tasks();
        return;
    }
    for (;;) {
        MPI_Recv(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (x < 0) return;
        if (x % 3 == 0) region("a", 5);
        else region("b", 2);
        MPI_Send(&x, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
}

/* Between regions, two ranks send each other a thousand messages that nobody works for. */
static void ping_pong(void)
{
    int x = 0;

    for (int i = 0; i < run.rounds; i++) {
        region(rank == 0 ? "a" : "b", rank == 0 ? 4 : 2);
        for (int k = 0; k < 1000; k++) {
            if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(&x, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank == 1) MPI_Send(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
    }
}

/* Rank 0 goes on with whatever has come. Rank 1 is the last one, and would be the first. */
static void whichever(int (*wait)(MPI_Request requests[]))
{
    static const char *const names[] = {"c", "a", "b", "d"};
    static const double ms[] = {0, 4.3, 2.7, 1.9};
    double x = rank, in[3];
    MPI_Request r[3];

    for (int i = 0; i < run.rounds; i++) {
        OMPP_PROGRESS("round");
        if (rank > 0) {
            region(names[rank % 4], ms[rank % 4]);
            MPI_Send(&x, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
        }
        for (int k = 0; rank == 0 && k < 3; k++) MPI_Irecv(&in[k], 1, MPI_DOUBLE, k + 1, 1, MPI_COMM_WORLD, &r[k]);
        for (int left = rank == 0 ? 3 : 0; left > 0;) {
            const int done = wait(r);
            for (int k = 0; k < done; k++) region("c", 1.1);
            left -= done;
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static int wait_any(MPI_Request requests[])
{
    int k;

    MPI_Waitany(3, requests, &k, MPI_STATUS_IGNORE);
    return 1;
}

static int wait_some(MPI_Request requests[])
{
    int done, indices[3];

    MPI_Waitsome(3, requests, &done, indices, MPI_STATUSES_IGNORE);
    return done;
}

static void any(void)
{
    whichever(wait_any);
}

static void some(void)
{
    whichever(wait_some);
}

/* Ranks ask for what comes from the one before, again and again, and leave the request. */
static void asking(void)
{
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;
    double x = rank, in;

    for (int i = 0; i < run.rounds; i++) {
        MPI_Request r;
        int done = 0;

        OMPP_PROGRESS("round");
        MPI_Irecv(&in, 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &r);
        if (rank == 1) region("a", 4.3);
        else region("b", 2.7);
        MPI_Send(&x, 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD);
        while (!done) MPI_Request_get_status(r, &done, MPI_STATUS_IGNORE);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        region("c", 0.7);
    }
}

/* Those that start an epoch may wait for the others' posts before they work in it. */
static void epochs(void)
{
    const int peer = rank ^ 1;
    double x = rank, memory[1];
    MPI_Group all, group;
    MPI_Win window;

    MPI_Win_create(memory, sizeof memory, sizeof x, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &peer, &group);
    for (int i = 0; i < run.rounds; i++) {
        OMPP_PROGRESS("round");
        if (rank % 2 == 0) {
            work(1.9);
            MPI_Win_start(group, 0, window);
            MPI_Put(&x, 1, MPI_DOUBLE, peer, 0, 1, MPI_DOUBLE, window);
            region("b", 3.1);
            MPI_Win_complete(window);
        } else {
            region("a", 4.3);
            MPI_Win_post(group, 0, window);
            MPI_Win_wait(window);
        }
    }
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    MPI_Win_free(&window);
}

/* What came is of one of two tags; some are received by what comes first, some are probed. */
static void receive_somehow(int i)
{
    MPI_Request r;
    MPI_Status status;
    double x;

    if (i % 4 == 0) {
        MPI_Recv(&x, 1, MPI_DOUBLE, 0, i % 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (i % 4 == 1) {
        MPI_Irecv(&x, 1, MPI_DOUBLE, 0, i % 2, MPI_COMM_WORLD, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else if (i % 4 == 2) {
        MPI_Probe(0, i % 2, MPI_COMM_WORLD, &status);
        MPI_Recv(&x, 1, MPI_DOUBLE, 0, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&x, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void messages(void)
{
    double x = 0;

    for (int i = 0; i < 1000 * run.rounds; i++) {
        ompp_region_begin(rank ? "b" : "a");
        work_until(now_ns() + (rank ? 10000 : 16000));
        ompp_region_end(rank ? "b" : "a");
        if (rank == 0) MPI_Send(&x, 1, MPI_DOUBLE, 1, i % 2, MPI_COMM_WORLD);
        else receive_somehow(i);
        if (i % 50 == 49) MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* A token goes round; who has not got it looks for it now and then, between pieces of work. */
static void polling(void)
{
    const int next = (rank + 1) % size, last = (rank + size - 1) % size;
    int token = 0, there;

    for (int i = 0; i < run.rounds; i++) {
        OMPP_PROGRESS("round");
        if (rank == 0) {
            region("a", 2);
            MPI_Send(&token, 1, MPI_INT, next, 3, MPI_COMM_WORLD);
        }
        do MPI_Iprobe(last, 3, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        while (!there);
        MPI_Recv(&token, 1, MPI_INT, last, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 0) continue;
        region("b", 1);
        MPI_Send(&token, 1, MPI_INT, next, 3, MPI_COMM_WORLD);
    }
}

/* The sender goes on when its message is received, 3 ms after it was found. */
static void probing(void)
{
    double x = rank;

    for (int i = 0; i < run.rounds; i++) {
        OMPP_PROGRESS("round");
        if (rank == 1) {
            region("a", 1);
            MPI_Ssend(&x, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
            region("b", 3);
        } else {
            MPI_Probe(1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            region("c", 3);
            MPI_Recv(&x, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
}

static void matched(void)
{
    double x = rank;
    MPI_Message message;

    for (int i = 0; i < run.rounds; i++) {
        region("a", 1 + rank);
        if (rank == 1) {
            MPI_Ssend(&x, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
        } else {
            MPI_Mprobe(1, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
            MPI_Mrecv(&x, 1, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
        }
    }
}

/* When the rest of a large message goes depends on the sender's next call. */
static void buffered(void)
{
    enum { WORDS = 20000 };
    static double data[WORDS];
    static char room[2 * sizeof data + 2 * MPI_BSEND_OVERHEAD];
    void *buffer;
    int bytes;

    MPI_Buffer_attach(room, sizeof room);
    for (int i = 0; i < run.rounds; i++) {
        region("a", 1 + rank);
        if (rank == 1) MPI_Bsend(data, WORDS, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
        else MPI_Recv(data, WORDS, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Buffer_detach(&buffer, &bytes);
}

/* No clock vectors go with messages that have the largest tag of all. */
static void largest(void)
{
    const int peer = rank ^ 1;
    int *tag, found;
    double x = rank, y;

    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag, &found);
    for (int i = 0; i < run.rounds; i++) {
        region("a", 1 + rank);
        MPI_Sendrecv(&x, 1, MPI_DOUBLE, peer, *tag, &y, 1, MPI_DOUBLE, peer, *tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* Messages alone: no progress point, and no collective call that could serve as one. */
static void silent(void)
{
    const int next = (rank + 1) % size, last = (rank + size - 1) % size;
    double x = 0, y;

    for (int i = 0; i < run.rounds; i++) {
        region(rank ? "b" : "a", 3);
        MPI_Sendrecv(&x, 1, MPI_DOUBLE, next, 4, &y, 1, MPI_DOUBLE, last, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    static const rank_case_t cases[] = {{"bulk", bulk}, {"early", early}, {"pipeline", pipeline}, {"synchronous", synchronous}, {"rendezvous", rendezvous},
                 {"halo", halo}, {"ping_pong", ping_pong}, {"persistent", persistent}, {"workers", workers}, {"subcomm", subcomm}, {"rooted", rooted},
                 {"above", above}, {"below", below},
                 {"epochs", epochs}, {"asking", asking}, {"made", made}, {"any", any}, {"some", some},
                 {"meetings", meetings}, {"messages", messages}, {"polling", polling}, {"silent", silent},
                 {"neighbors", neighbors}, {"scans", scans}, {"probing", probing}, {"matched", matched}, {"empty", empty},
                 {"empty-scan", empty_scan}, {"buffered", buffered}, {"groups", groups}, {"largest", largest},
                 {"crossing", crossing}, {"strangers", strangers}, {"collectives", collectives}, {"ahead", ahead}, {"seldom", seldom}};

    return run_in_ranks(argc, argv, cases, sizeof cases / sizeof *cases);
}
