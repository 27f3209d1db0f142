/* A rank that hands out work to those that are free, in several ways. usage: as work.h says. */
#include "in_ranks.h"

static void work_on(int task)
{
    if (task % 3 == 0) region("a", 5);
    else region("b", 2);
}

static bool named = true;     /* there is a progress point */
static double manages = 0.15; /* ms, for each result */

/* Workers ask for work, the last time in vain; a task is two messages. Ranks do not meet at the end. */
static void asked(void)
{
    const int tasks = 6 * run.rounds;
    int x = 0, data = 0, sent = 0;
    MPI_Status s;

    straight = true;
    if (rank > 0) {
        work(rank);
        for (;;) {
            MPI_Send(&x, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
            MPI_Recv(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (x < 0) return;
            MPI_Recv(&data, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            work_on(x);
        }
    }
    for (int left = size - 1; left > 0;) {
        int task = sent < tasks ? sent++ : -1;
        MPI_Probe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &s);
        MPI_Recv(&x, 1, MPI_INT, s.MPI_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        region("c", 0.15);
        if (named) OMPP_PROGRESS("result");
        MPI_Send(&task, 1, MPI_INT, s.MPI_SOURCE, 1, MPI_COMM_WORLD);
        if (task >= 0) MPI_Send(&data, 1, MPI_INT, s.MPI_SOURCE, 3, MPI_COMM_WORLD);
        else left--;
    }
}

static void unnamed(void)
{
    named = false;
    asked();
}

/* A request for each worker's result; ahead: tasks that a worker has, one of which it is at. */
static void hand_out(int ahead)
{
    const int tasks = 6 * run.rounds;
    int x[8], sent = 0, w, end = -1, out[8] = {0};
    MPI_Request requests[8] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL,
                               MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};

    for (int i = 0; i < ahead; i++)
        for (w = 1; w < size; w++, sent++) out[w]++, MPI_Send(&sent, 1, MPI_INT, w, 1, MPI_COMM_WORLD);
    for (w = 1; w < size; w++) MPI_Irecv(&x[w], 1, MPI_INT, w, 2, MPI_COMM_WORLD, &requests[w]);
    for (int done = 0; done < tasks; done++) {
        MPI_Waitany(size, requests, &w, MPI_STATUS_IGNORE);
        region("c", manages);
        OMPP_PROGRESS("result");
        out[w]--;
        if (sent < tasks) {
            MPI_Send(&sent, 1, MPI_INT, w, 1, MPI_COMM_WORLD);
            sent++;
            out[w]++;
        }
        if (out[w]) MPI_Irecv(&x[w], 1, MPI_INT, w, 2, MPI_COMM_WORLD, &requests[w]);
    }
    for (w = 1; w < size; w++) MPI_Send(&end, 1, MPI_INT, w, 1, MPI_COMM_WORLD);
}

static void handed_out(int ahead)
{
    int x;

    if (rank == 0) {
        hand_out(ahead);
        return;
    }
    for (;;) {
        MPI_Recv(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (x < 0) return;
        work_on(x);
        MPI_Send(&x, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
}

static void one_each(void)
{
    handed_out(1);
}

/* Workers wait for the manager most of the time, and their results lie there. */
static void busy(void)
{
    manages = 1.5;
    handed_out(1);
}

static void two_each(void)
{
    handed_out(2);
}

/* Ranks meet, and some work before they do so: d is waited for by all. */
static void in_steps(void)
{
    const int rounds = run.rounds;

    run.rounds = 2;
    for (int i = 0; i < rounds; i++) {
        handed_out(1);
        if (rank == 0) region("d", 4);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* The last rank gets a record of each result, and has so much to do with it that all wait for it at the end; e in half its time, half as long. */
static void recorded(void)
{
    const int tasks = 6 * run.rounds, workers = size - 2, last = size - 1;
    int x = 0, sent = 0, end = -1;
    MPI_Status s;

    if (rank == 0) {
        for (int w = 1; w <= workers; w++, sent++) MPI_Send(&sent, 1, MPI_INT, w, 1, MPI_COMM_WORLD);
        for (int done = 0; done < sent; done++) {
            MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &s);
            MPI_Send(&x, 1, MPI_INT, last, 1, MPI_COMM_WORLD);
            if (sent < tasks) MPI_Send(&sent, 1, MPI_INT, s.MPI_SOURCE, 1, MPI_COMM_WORLD), sent++;
        }
        for (int w = 1; w <= last; w++) MPI_Send(&end, 1, MPI_INT, w, 1, MPI_COMM_WORLD);
        return;
    }
    for (;;) {
        MPI_Recv(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (x < 0) return;
        if (rank == last) {
            region("e", 3);
            continue;
        }
        work_on(x);
        MPI_Send(&x, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
}

/* The last rank does nothing but wait for a message of each worker at its end. */
static void waited_for(void)
{
    int x = 0;

    if (rank < size - 1) {
        size--;
        handed_out(1);
        size++;
        if (rank > 0) MPI_Send(&x, 1, MPI_INT, size - 1, 7, MPI_COMM_WORLD);
        return;
    }
    for (int i = 1; i < size - 1; i++) MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* A manager and two workers. */
static void farm_of_three(MPI_Comm farm, int tasks)
{
    int x, sent = 0, w, end = -1, number[2] = {0, 0};
    MPI_Request requests[2];

    if (rank % 3 > 0) {
        for (;;) {
            MPI_Recv(&x, 1, MPI_INT, 0, 1, farm, MPI_STATUS_IGNORE);
            if (x < 0) return;
            work_on(x);
            MPI_Send(&x, 1, MPI_INT, 0, 2, farm);
        }
    }
    for (w = 0; w < 2; w++, sent++) {
        MPI_Send(&sent, 1, MPI_INT, w + 1, 1, farm);
        MPI_Irecv(&number[w], 1, MPI_INT, w + 1, 2, farm, &requests[w]);
    }
    for (int done = 0; done < tasks; done++) {
        MPI_Waitany(2, requests, &w, MPI_STATUS_IGNORE);
        OMPP_PROGRESS("result");
        if (sent >= tasks) continue;
        MPI_Send(&sent, 1, MPI_INT, w + 1, 1, farm);
        sent++;
        MPI_Irecv(&number[w], 1, MPI_INT, w + 1, 2, farm, &requests[w]);
    }
    for (w = 0; w < 2; w++) MPI_Send(&end, 1, MPI_INT, w + 1, 1, farm);
}

static void two_farms(void)
{
    MPI_Comm half;

    MPI_Comm_split(MPI_COMM_WORLD, rank / 3, rank, &half);
    farm_of_three(half, 6 * run.rounds);
    MPI_Comm_free(&half);
}

/* The second one has less to do. Between their meetings, longer than an experiment, they know nothing of each other. */
static void two_in_steps(void)
{
    MPI_Comm half;

    MPI_Comm_split(MPI_COMM_WORLD, rank / 3, rank, &half);
    for (int i = 0; i < run.rounds; i++) {
        farm_of_three(half, rank < 3 ? 120 : 100);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Comm_free(&half);
}

/* Workers that do not say whom they receive from: one rank alone sends to them. */
static void from_anyone(void)
{
    int x;

    if (rank == 0) hand_out(1);
    while (rank > 0) {
        MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (x < 0) return;
        work_on(x);
        MPI_Send(&x, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
}

/* What there is to do goes by who does it. */
static void specialists(void)
{
    int x;

    straight = true;
    if (rank == 0) hand_out(1);
    while (rank > 0) {
        MPI_Recv(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (x < 0) return;
        if (rank == 1) region("a", 5);
        else region("b", 7);
        MPI_Send(&x, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
}

/* Several results at once, answered after that: nobody goes through it again. Ranks do not meet at the end. */
static void several(void)
{
    const int tasks = 6 * run.rounds;
    int x[8], index[8], n, sent = 0, end = -1;
    MPI_Request requests[8];

    straight = true;
    if (rank > 0) {
        handed_out(1);
        return;
    }
    for (int w = 0; w < size - 1; w++, sent++) {
        MPI_Send(&sent, 1, MPI_INT, w + 1, 1, MPI_COMM_WORLD);
        MPI_Irecv(&x[w], 1, MPI_INT, w + 1, 2, MPI_COMM_WORLD, &requests[w]);
    }
    for (int done = 0; done < tasks; done += n) {
        region("c", 3); /* meanwhile there are several */
        MPI_Waitsome(size - 1, requests, &n, index, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++) {
            if (sent >= tasks) continue;
            MPI_Send(&sent, 1, MPI_INT, index[i] + 1, 1, MPI_COMM_WORLD);
            sent++;
            MPI_Irecv(&x[index[i]], 1, MPI_INT, index[i] + 1, 2, MPI_COMM_WORLD, &requests[index[i]]);
        }
    }
    for (int w = 1; w < size; w++) MPI_Send(&end, 1, MPI_INT, w, 1, MPI_COMM_WORLD);
}

/* Workers tell a third rank when they are done, which has something to do then: it depends on the order, and nobody tells it. */
static void noted(void)
{
    int x = 0;

    straight = true;
    size--;
    if (rank < size) handed_out(1);
    if (rank > 0 && rank < size) MPI_Send(&x, 1, MPI_INT, size, 9, MPI_COMM_WORLD);
    for (int i = 1; rank == size && i < size; i++) {
        MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        region("e", 3);
    }
    size++;
}

/* Tasks are sent synchronously: what the manager hears of their receivers is no result. */
static void synchronous(void)
{
    const int tasks = 6 * run.rounds;
    int x = 0, sent = 0, end = -1;
    MPI_Status s;

    if (rank > 0) {
        for (;;) {
            MPI_Recv(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (x < 0) return;
            work_on(x);
            MPI_Send(&x, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
        }
    }
    for (int w = 1; w < size; w++, sent++) MPI_Ssend(&sent, 1, MPI_INT, w, 1, MPI_COMM_WORLD);
    for (int done = 0; done < sent; done++) {
        MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &s);
        region("c", 0.15);
        if (sent < tasks) MPI_Ssend(&sent, 1, MPI_INT, s.MPI_SOURCE, 1, MPI_COMM_WORLD), sent++;
    }
    for (int w = 1; w < size; w++) MPI_Ssend(&end, 1, MPI_INT, w, 1, MPI_COMM_WORLD);
}

/* A worker has more to do at the end than others: what it does there is none of what was handed out. */
static void late(void)
{
    handed_out(1);
    if (rank == 1) region("d", 30);
}

int main(int argc, char **argv)
{
    static const rank_case_t cases[] = {
        {"asked", asked},           {"one_each", one_each},       {"two_each", two_each}, {"busy", busy},
        {"in_steps", in_steps},     {"late", late},               {"unnamed", unnamed},   {"recorded", recorded},
        {"synchronous", synchronous}, {"waited_for", waited_for}, {"two_farms", two_farms}, {"two_in_steps", two_in_steps},
        {"several", several},       {"noted", noted},             {"from_anyone", from_anyone}, {"specialists", specialists},
    };

    return run_in_ranks(argc, argv, cases, sizeof cases / sizeof *cases);
}
