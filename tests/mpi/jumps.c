/* Calls inside calls belong to the outer one; a call that an error handler jumps out of is over, wherever the next one is made. */
#include "check.h"

#include <setjmp.h>

static jmp_buf back;
static int handled;

static void jump(MPI_Comm *comm, int *code, ...)
{
    int class;

    (void)comm;
    MPI_Error_class(*code, &class); /* inside: not counted */
    handled++;
    longjmp(back, class);
}

static void stay(MPI_Comm *comm, int *code, ...)
{
    int x = 1, y;

    (void)comm, (void)code;
    handled++;
    MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF); /* inside: not counted */
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    int bytes;

    MPI_Type_size(*type, &bytes); /* inside: not counted */
    for (int i = 0; i < *n; i++) ((int *)inout)[i] += ((int *)in)[i] + bytes - 4;
}

/* Makes the compiler keep a variable on the stack. */
static void keep(void *variable)
{
    __asm__ volatile("" : : "r"(variable) : "memory");
}

/* Below a part of the stack that is not written, so that what a call left there stays. */
__attribute__((noinline)) static void deep(int depth)
{
    char untouched[700];
    int x = 1, y = 0;

    keep(untouched);
    if (depth > 0) {
        deep(depth - 1);
    } else {
        MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
        CHECK(y == 1);
    }
    keep(untouched);
}

/* The call that is jumped out of, at some depth of the stack. */
__attribute__((noinline)) static void wrong(int depth)
{
    char room[300];
    int x = 0;

    keep(room);
    if (depth > 0) wrong(depth - 1);
    else MPI_Send(&x, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
    keep(room);
}

__attribute__((noinline)) static void jump_out_at(int at)
{
    handled = 0;
    if (setjmp(back) == 0) wrong(at);
    CHECK(handled == 1);
}

static void jumps_out(void)
{
    for (int at = 0; at < 4; at++) {
        for (int depth = 0; depth < 8; depth++) {
            jump_out_at(at);
            deep(depth);
            SEEN("MPI_Allreduce", 1, 0, 0, 0, 0, 0, 1);
            SEEN("MPI_Send", 1, 0, 0, 0, 0, 0, 0); /* closed when the next call came */
        }
    }
    SEEN("MPI_Error_class", 0, 0, 0, 0, 0, 0, 0);
}

static void stays_in(void)
{
    MPI_Errhandler handler;
    MPI_Op op;
    int x = rank + 1, y = 0;

    MPI_Comm_create_errhandler(stay, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (int i = 0; i < 3; i++) wrong(i);
    CHECK(handled == 4);
    SEEN("MPI_Send", 3, 0, 0, 0, 0, 0, 0);
    SEEN("MPI_Allreduce", 0, 0, 0, 0, 0, 0, 0);
    MPI_Errhandler_free(&handler);
    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(&x, &y, 1, MPI_INT, op, MPI_COMM_WORLD);
    CHECK(y == size * (size + 1) / 2);
    MPI_Op_free(&op);
    SEEN("MPI_Allreduce", 1, 0, 4 * (uint64_t)(size - 1), 4 * (uint64_t)(size - 1), 0, 0, 1);
    SEEN("MPI_Type_size", 0, 0, 0, 0, 0, 0, 0);
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;

    start(&argc, &argv);
    MPI_Comm_create_errhandler(jump, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    jumps_out();
    MPI_Errhandler_free(&handler);
    stays_in();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    return finish();
}
