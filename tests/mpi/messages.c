/* Point-to-point calls: blocking, non-blocking, persistent, matched; MPI_PROC_NULL; derived types; errors. */
#include "check.h"

#include <setjmp.h>

static int handled;
static jmp_buf escape;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    handled++;
}

static void jumper(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    longjmp(escape, 1);
}

static void ring(void)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    double a[10] = {rank}, b[20];
    MPI_Request r[2];

    MPI_Irecv(b, 20, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Send(a, 10, MPI_DOUBLE, to, 1, MPI_COMM_WORLD);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    CHECK(b[0] == from);
    SEEN("MPI_Irecv", 1, 0, 160, 0, 1, 0, 0);
    SEEN("MPI_Send", 1, 0, 0, 80, 0, 1, 0);
    SEEN("MPI_Wait", 1, 0, 0, 0, 0, 0, 0);
    MPI_Isend(a, 10, MPI_DOUBLE, to, 2, MPI_COMM_WORLD, &r[0]);
    MPI_Recv(b, 20, MPI_DOUBLE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(1, r, MPI_STATUSES_IGNORE);
    SEEN("MPI_Isend", 1, 0, 0, 80, 0, 1, 0);
    SEEN("MPI_Recv", 1, 0, 160, 0, 1, 0, 0);
    MPI_Sendrecv(a, 10, MPI_DOUBLE, to, 3, b, 10, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    SEEN("MPI_Sendrecv", 1, 0, 80, 80, 1, 1, 0);
    MPI_Sendrecv_replace(a, 5, MPI_DOUBLE, to, 3, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    SEEN("MPI_Sendrecv_replace", 1, 0, 40, 40, 1, 1, 0);

    MPI_Send_init(a, 10, MPI_DOUBLE, to, 4, MPI_COMM_WORLD, &r[0]);
    MPI_Recv_init(b, 10, MPI_DOUBLE, from, 4, MPI_COMM_WORLD, &r[1]);
    for (int i = 0; i < 3; i++) {
        MPI_Startall(2, r);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    MPI_Start(&r[1]);
    MPI_Start(&r[0]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    SEEN("MPI_Send_init", 1, 0, 0, 0, 0, 0, 0);
    SEEN("MPI_Startall", 3, 0, 240, 240, 3, 3, 0);
    SEEN("MPI_Start", 2, 0, 80, 80, 1, 1, 0);
}

static void nowhere(void)
{
    MPI_Message message = MPI_MESSAGE_NO_PROC;
    MPI_Status status;
    int x = 7;

    MPI_Send(&x, 5, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    SEEN("MPI_Send", 1, 0, 0, 0, 0, 1, 0);
    MPI_Recv(&x, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
    CHECK(x == 7 && status.MPI_SOURCE == MPI_PROC_NULL);
    SEEN("MPI_Recv", 1, 0, 0, 0, 1, 0, 0);
    MPI_Mrecv(&x, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    SEEN("MPI_Mrecv", 1, 0, 0, 0, 1, 0, 0);
}

static void types(void)
{
    MPI_Datatype column;
    MPI_Request r;
    int a[100] = {0}, b[100];

    MPI_Type_vector(10, 1, 10, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Irecv(b, 10, MPI_INT, rank, 1, MPI_COMM_WORLD, &r);
    MPI_Send(a, 1, column, rank, 1, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Type_free(&column);
    SEEN("MPI_Send", 1, 0, 0, 40, 0, 1, 0);
    SEEN("MPI_Irecv", 1, 0, 40, 0, 1, 0, 0);
}

/* The handle of a type that was freed is given to another one. */
static void handles(void)
{
    int a[8] = {0}, b[8];

    for (int n = 1; n <= 8; n++) {
        MPI_Datatype type;

        MPI_Type_contiguous(n, MPI_INT, &type);
        MPI_Type_commit(&type);
        for (int i = 0; i < 2; i++) {
            MPI_Sendrecv(a, 1, type, rank, 1, b, 1, type, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            SEEN("MPI_Sendrecv", 1, 0, n * sizeof(int), n * sizeof(int), 1, 1, 0);
        }
        MPI_Type_free(&type);
    }
}

/* The user's error handler runs once, for the user's call; one that jumps leaves the next call measured as before. */
static void errors(void)
{
    MPI_Errhandler mine, jumping;
    int x = 0;

    MPI_Comm_create_errhandler(handler, &mine);
    MPI_Comm_create_errhandler(jumper, &jumping);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
    CHECK(MPI_Send(&x, 1, MPI_INT, size + 5, 1, MPI_COMM_WORLD) != MPI_SUCCESS);
    CHECK(MPI_Bcast(&x, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
    CHECK(MPI_Send(&x, 1, MPI_INT, 0, 1, MPI_COMM_NULL) != MPI_SUCCESS);
    CHECK(handled == 3);
    SEEN("MPI_Send", 2, 0, 0, 0, 0, 0, 0);
    SEEN("MPI_Bcast", 1, 0, 0, 0, 0, 0, 0);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, jumping);
    if (!setjmp(escape)) MPI_Send(&x, 1, MPI_INT, size + 5, 1, MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    SEEN("MPI_Send", 1, 0, 0, 0, 0, 0, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    SEEN("MPI_Barrier", 1, 0, 0, 0, 0, 0, 1);
    MPI_Errhandler_free(&mine);
    MPI_Errhandler_free(&jumping);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    ring();
    nowhere();
    types();
    handles();
    errors();
    return finish();
}
