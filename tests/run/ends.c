/* Ways of beginning and ending MPI, the argument says which. Prints one line per rank, which does not depend on being measured. */
#define _GNU_SOURCE
#include <mpi.h>
#include <ompp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;
static const char *way;

static int is_way(const char *name)
{
    return strcmp(way, name) == 0;
}

static void work(MPI_Comm comm)
{
    int sum = 1;

    ompp_region_begin("work");
    for (int i = 0; i < 10; i++)
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_MAX, comm);
    ompp_region_end("work");
    printf("%s: rank %d of %d: %d\n", way, rank, size, sum);
    fflush(stdout);
}

/* ---- Callbacks that call MPI ---- */

static int at_delete(MPI_Comm comm, int key, void *value, void *extra)
{
    int sum = 1;

    (void)comm, (void)key, (void)value, (void)extra;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return sum == size ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static int at_copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    int flag2, value;

    (void)key, (void)extra, (void)flag2;
    MPI_Comm_rank(comm, &value);
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static void user_max(void *in, void *out, int *n, MPI_Datatype *type)
{
    int bytes;

    MPI_Type_size(*type, &bytes);
    for (int i = 0; i < *n; i++)
        if (((int *)in)[i] > ((int *)out)[i])
            ((int *)out)[i] = ((int *)in)[i];
}

static void at_error(MPI_Comm *comm, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING];
    int length, me;

    MPI_Comm_rank(*comm, &me);
    MPI_Error_string(*code, text, &length);
}

static int query(void *extra, MPI_Status *status)
{
    int me;

    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Status_set_elements(status, MPI_INT, *(int *)extra);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = me;
    status->MPI_TAG = 7;
    return MPI_SUCCESS;
}

static int let_go(void *extra)
{
    int me;

    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    *(int *)extra += 1;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    int me;

    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    *(int *)extra += complete ? 100 : 10;
    return MPI_SUCCESS;
}

/* Requests of the program's own: MPI_Wait, MPI_Test and MPI_Cancel call back. */
static void generalized_requests(void)
{
    MPI_Request requests[2];
    MPI_Status status;
    int extra[2] = {3, 5}, done = 0, n;

    for (int i = 0; i < 2; i++) MPI_Grequest_start(query, let_go, cancel, &extra[i], &requests[i]);
    MPI_Cancel(&requests[1]);
    for (int i = 0; i < 2; i++) MPI_Grequest_complete(requests[i]);
    while (!done) MPI_Test(&requests[0], &done, &status);
    MPI_Get_elements(&status, MPI_INT, &n);
    MPI_Wait(&requests[1], &status);
    printf("generalized requests: %d elements, source %d, tag %d, extra %d and %d\n", n, status.MPI_SOURCE, status.MPI_TAG, extra[0], extra[1]);
}

static void callbacks(void)
{
    MPI_Comm comm;
    MPI_Op op;
    MPI_Errhandler handler;
    int key, value = rank, most;

    MPI_Comm_create_keyval(at_copy, at_delete, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &value); /* deleted first of all in MPI_Finalize */
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Op_create(user_max, 1, &op);
    MPI_Allreduce(&value, &most, 1, MPI_INT, op, comm);
    MPI_Op_free(&op);
    MPI_Comm_create_errhandler(at_error, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Send(&value, 1, MPI_INT, size + 5, 0, comm);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
    printf("callbacks: most %d\n", most);
    generalized_requests();
}

/* ---- Other ends ---- */

static void *finalize(void *unused)
{
    MPI_Finalize();
    return unused;
}

static void finalize_on_a_thread(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, finalize, NULL);
    pthread_join(thread, NULL);
}

static void part(void)
{
    MPI_Comm half;

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    work(half);
    MPI_Comm_free(&half);
}

static int spawn(char **argv)
{
    char *args[] = {"spawned", NULL};
    MPI_Comm parent, children;

    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        work(MPI_COMM_WORLD);
        MPI_Barrier(parent);
        return 0;
    }
    if (MPI_Comm_spawn(argv[0], args, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE) != MPI_SUCCESS)
        return 1;
    MPI_Barrier(children);
    work(MPI_COMM_WORLD);
    return 0;
}

/* Two jobs that were started apart: one leaves the name of its port in a file, where the other one finds it. */
static int meet(const char *path)
{
    char port[MPI_MAX_PORT_NAME] = "", hidden[4096];
    const int accepts = is_way("accept");
    MPI_Comm other, all;
    int sum = rank + 1, error;

    if (rank == 0 && accepts) {
        MPI_Open_port(MPI_INFO_NULL, port);
        snprintf(hidden, sizeof hidden, "%s.new", path);
        FILE *file = fopen(hidden, "w");
        fputs(port, file);
        fclose(file);
        rename(hidden, path);
    } else if (rank == 0) {
        FILE *file;
        for (int i = 0; !(file = fopen(path, "r")) && i < 6000; i++)
            usleep(10000);
        if (!file || !fgets(port, sizeof port, file))
            return 1;
        fclose(file);
    }
    error = accepts ? MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other)
                    : MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other);
    if (error != MPI_SUCCESS)
        return 1;
    MPI_Intercomm_merge(other, !accepts, &all);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, all);
    printf("%s: together %d\n", way, sum);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&other);
    if (rank == 0 && accepts)
        MPI_Close_port(port);
    work(MPI_COMM_WORLD);
    return 0;
}

#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
static int session(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;

    if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS)
        return 1;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    work(comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    return MPI_Session_finalize(&session) != MPI_SUCCESS;
}
#else
static int session(void)
{
    printf("sessions: none\n");
    return 0;
}
#endif

static int level(void)
{
    static const char *const names[] = {"single", "funneled", "serialized", "multiple"};
    static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};

    for (int i = 0; i < 4; i++)
        if (is_way(names[i]))
            return levels[i];
    return is_way("thread") ? MPI_THREAD_MULTIPLE : -1;
}

int main(int argc, char **argv)
{
    int provided;

    way = argc > 1 ? argv[1] : "plain";
    if (is_way("session"))
        return session();
    if (level() < 0)
        MPI_Init(&argc, &argv);
    else
        MPI_Init_thread(&argc, &argv, level(), &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (is_way("spawn") || is_way("spawned")) {
        if (spawn(argv))
            return 1;
    } else if (is_way("accept") || is_way("connect")) {
        if (meet(argv[2]))
            return 1;
    } else if (is_way("parts")) {
        part();
    } else {
        work(MPI_COMM_WORLD);
    }
    if (is_way("callbacks"))
        callbacks();
    if ((is_way("apart") || is_way("late")) && rank == 1)
        sleep(2);
    if (is_way("gone") && rank == 1)
        _exit(0);
    if (is_way("hidden"))
        PMPI_Finalize(); /* by a library that knows no better: MPI is gone when we notice */
    else if (is_way("thread"))
        finalize_on_a_thread();
    else
        MPI_Finalize();
    return 0;
}
