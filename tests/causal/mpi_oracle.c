/*
 * An MPI program that knows the answer of its own run, as oracle.c: each rank notes when it began and ended to wait and for whom, and how
 * long it was in each region before. Rank 0 replays that with the regions made faster; "saved NAME PERMILLE NS" is what the run would
 * have been shorter by, of whatever the machine did meanwhile. Argument: the number of rounds.
 */
#include "in_ranks.h"

enum { MAX_OPS = 4096, REGIONS = 3, MAX_RANKS = 16, ALL = -1, SEND = -2 };

/* A call. Region times are those since the call before. */
typedef struct {
    int64_t begin, end, region[REGIONS];
    int kind, from[2]; /* ALL, SEND (from[0]: to whom), or the number of messages received */
} op_t;

static const char *const names[REGIONS] = {"a", "b", "c"};
static op_t ops[MAX_OPS];
static int nops;
static int64_t spent[REGIONS];

static void timed_region(int r, double ms)
{
    const int64_t begin = now_ns();

    region(names[r], ms);
    spent[r] += now_ns() - begin;
}

static op_t *begin_op(int kind, int first, int second)
{
    op_t *op = &ops[nops < MAX_OPS - 1 ? nops++ : nops];

    *op = (op_t){.kind = kind, .from = {first, second}, .begin = now_ns()};
    memcpy(op->region, spent, sizeof spent);
    memset(spent, 0, sizeof spent);
    return op;
}

static void end_op(op_t *op)
{
    op->end = now_ns();
}

/* ---- The program ---------------------------------------------------------------------------------------------------- */

static void wait_for_all(void)
{
    double x = rank, sum;
    op_t *op = begin_op(ALL, 0, 0);

    MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    end_op(op);
}

/* The second stage is the slowest; the last rank's result is not waited for. */
static void pipeline(void)
{
    double x = 0;

    for (int i = 0; i < 3; i++) {
        if (rank > 0) {
            op_t *op = begin_op(1, rank - 1, 0);
            MPI_Recv(&x, 1, MPI_DOUBLE, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            end_op(op);
        }
        timed_region(rank == 1 ? 0 : 1, rank == 1 ? 2 : 1);
        if (rank < size - 1) {
            op_t *op = begin_op(SEND, rank + 1, 0);
            MPI_Send(&x, 1, MPI_DOUBLE, rank + 1, 7, MPI_COMM_WORLD);
            end_op(op);
        }
    }
}

static void halo(void)
{
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;
    double x = rank, ghost[2];
    MPI_Request r[4];
    op_t *op;

    MPI_Irecv(&ghost[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(&ghost[1], 1, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &r[1]);
    op = begin_op(SEND, right, 0);
    MPI_Isend(&x, 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &r[2]);
    end_op(op);
    op = begin_op(SEND, left, 0);
    MPI_Isend(&x, 1, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &r[3]);
    end_op(op);
    timed_region(2, 0.5);
    op = begin_op(2, left, right);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    end_op(op);
    timed_region(rank == 2 ? 0 : 1, rank == 2 ? 3 : 1.5);
}

/*
 * Messages that MPI does not take over at once: the sender goes on when the receiver is there, as if that had sent it a message. The same
 * call follows with the other side being the later one.
 */
enum { WORDS = 1 << 15 };
static double out[WORDS], in[WORDS];

static op_t *begin_meeting(int number, int first, int second)
{
    end_op(begin_op(SEND, first, 0));
    if (number > 1) end_op(begin_op(SEND, second, 0));
    return begin_op(number, first, second);
}

static void one_sends(int peer, int words, int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm))
{
    for (int i = 0; i < 2; i++) {
        timed_region((rank + i) % 2, (rank + i) % 2 ? 1 : 2);
        op_t *op = begin_meeting(1, peer, 0);
        if (rank < peer) send(out, words, MPI_DOUBLE, peer, 8, MPI_COMM_WORLD);
        else MPI_Recv(in, words, MPI_DOUBLE, peer, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        end_op(op);
    }
}

static void both_send(int peer)
{
    MPI_Request r;

    for (int i = 0; i < 2; i++) {
        MPI_Irecv(in, WORDS, MPI_DOUBLE, peer, 9, MPI_COMM_WORLD, &r);
        timed_region((rank + i) % 2, (rank + i) % 2 ? 2 : 1);
        op_t *op = begin_meeting(1, peer, 0);
        MPI_Send(out, WORDS, MPI_DOUBLE, peer, 9, MPI_COMM_WORLD);
        end_op(op);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
}

static void shift(void)
{
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;

    for (int i = 0; i < 3; i++) {
        timed_region((rank + i) % 3, (rank + i) % 3 ? 1 : 2);
        op_t *op = begin_meeting(2, left, right);
        MPI_Sendrecv(out, WORDS, MPI_DOUBLE, right, 10, in, WORDS, MPI_DOUBLE, left, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        end_op(op);
    }
}

/* The receiver is there when it comes to another call, in which MPI makes progress. */
static void meanwhile(int peer)
{
    MPI_Request r;
    op_t *op;

    if (rank > peer) MPI_Irecv(in, WORDS, MPI_DOUBLE, peer, 11, MPI_COMM_WORLD, &r);
    timed_region(rank % 2, rank % 2 ? 3 : 1);
    if (rank < peer) {
        op = begin_meeting(1, peer, 0);
        MPI_Send(out, WORDS, MPI_DOUBLE, peer, 11, MPI_COMM_WORLD);
        end_op(op);
        timed_region(0, 1);
    } else {
        end_op(begin_op(SEND, peer, 0));
    }
    wait_for_all();
    if (rank < peer) return;
    op = begin_op(1, peer, 0);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    end_op(op);
}

static void meetings(void)
{
    const int peer = rank ^ 1;

    one_sends(peer, WORDS, MPI_Send);
    one_sends(peer, 1, MPI_Ssend);
    both_send(peer);
    shift();
    meanwhile(peer);
}

/* ---- The answer ----------------------------------------------------------------------------------------------------- */

static op_t *of[MAX_RANKS];
static int count[MAX_RANKS], next[MAX_RANKS], taken[MAX_RANKS][MAX_RANKS];
static double v[MAX_RANKS], sent[MAX_RANKS][MAX_OPS];
static int64_t t[MAX_RANKS];

/* The n-th send of a rank to another that has been replayed: its position; -1 = not yet. */
static int find_send(int from, int to, int n)
{
    for (int i = 0; i < next[from]; i++)
        if (of[from][i].kind == SEND && of[from][i].from[0] == to && n-- == 0) return i;
    return -1;
}

static double arrival(int r, const op_t *op, int fast, double x)
{
    return v[r] + (double)(op->begin - t[r]) - x * (double)op->region[fast];
}

static void go_on(int r, const op_t *op, double virtual_time, int64_t real)
{
    v[r] = virtual_time + (double)(op->end - real);
    t[r] = op->end;
    next[r]++;
}

static int replay_all(int fast, double x)
{
    double latest = -1e300;
    int64_t real = 0;

    for (int r = 0; r < size; r++) {
        if (next[r] == count[r] || of[r][next[r]].kind != ALL) return 0;
        const op_t *op = &of[r][next[r]];
        if (arrival(r, op, fast, x) > latest) latest = arrival(r, op, fast, x);
        if (op->begin > real) real = op->begin;
    }
    for (int r = 0; r < size; r++) go_on(r, &of[r][next[r]], latest, real);
    return 1;
}

static int replay_one(int r, int fast, double x)
{
    const op_t *op = next[r] < count[r] ? &of[r][next[r]] : NULL;
    double latest;
    int64_t real;

    if (!op || op->kind == ALL) return 0;
    latest = arrival(r, op, fast, x);
    real = op->begin;
    if (op->kind == SEND) sent[r][next[r]] = latest;
    for (int i = 0; i < op->kind; i++)
        if (find_send(op->from[i], r, taken[r][op->from[i]] + (i > 0 && op->from[0] == op->from[1])) < 0) return 0;
    for (int i = 0; i < op->kind; i++) {
        const int from = op->from[i], k = find_send(from, r, taken[r][from]++);
        if (sent[from][k] > latest) latest = sent[from][k];
        if (of[from][k].begin > real) real = of[from][k].begin;
    }
    go_on(r, op, latest, real);
    return 1;
}

static int64_t saved(int fast, double x)
{
    int64_t real = 0;
    double latest = 0;
    int moved = 1;

    memset(next, 0, sizeof next);
    memset(taken, 0, sizeof taken);
    for (int r = 0; r < size; r++) v[r] = 0, t[r] = run.begin;
    while (moved) {
        moved = replay_all(fast, x);
        for (int r = 0; r < size; r++) moved |= replay_one(r, fast, x);
    }
    for (int r = 0; r < size; r++) {
        if (next[r] < count[r]) printf("rank %d stopped at %d of %d\n", r, next[r], count[r]);
        if (t[r] > real) real = t[r];
        if (v[r] > latest) latest = v[r];
    }
    return real - run.begin - (int64_t)latest;
}

static void tell(void)
{
    int bytes = nops * (int)sizeof(op_t);

    if (rank > 0) {
        MPI_Send(ops, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        return;
    }
    of[0] = ops;
    count[0] = nops;
    for (int r = 1; r < size; r++) {
        MPI_Status s;
        of[r] = calloc(MAX_OPS, sizeof(op_t));
        MPI_Recv(of[r], MAX_OPS * (int)sizeof(op_t), MPI_BYTE, r, 1, MPI_COMM_WORLD, &s);
        MPI_Get_count(&s, MPI_BYTE, &bytes);
        count[r] = bytes / (int)sizeof(op_t);
    }
    for (int i = 0; i < REGIONS; i++) {
        printf("saved %s 500 %lld\n", names[i], (long long)saved(i, 0.5));
        printf("saved %s 1000 %lld\n", names[i], (long long)saved(i, 1));
    }
}

int main(int argc, char **argv)
{
    begin_in_ranks(argc, argv);
    for (int i = 0; i < run.rounds; i++) {
        pipeline();
        for (int k = 0; k < 3; k++) halo();
        meetings();
        if (i % 2) wait_for_all();
    }
    wait_for_all();
    if (rank == 0) end_run();
    tell();
    MPI_Finalize();
    return 0;
}
