/*
 * Communicators with ranks of other worlds, which may not be measured: spawned, connected, joined, of sessions, and what is made of these.
 * The argument says which, a second one which program is spawned. Prints what each rank has got; the same whoever is measured.
 */
#include <arpa/inet.h>
#include <mpi.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* MPICH's MPI_STATUSES_IGNORE is the address 1: gcc 12 takes it for an array of no size. */
#pragma GCC diagnostic ignored "-Wstringop-overflow"

#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define SESSIONS 1
#endif

static const char *way;
static int rank, size, handled;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    handled++;
}

static int is_none(MPI_Comm comm)
{
    if (comm != MPI_COMM_NULL && !handled) return 0;
    printf("%s: none\n", way);
    return 1;
}

/* Calls of every class; how often differs among the jobs that are in it. */
static void use(MPI_Comm comm, const char *what)
{
    int me, all, sum = 0, x, y = -1, inter;
    MPI_Request r[2];

    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &all);
    MPI_Comm_test_inter(comm, &inter);
    x = me + 1;
    for (int i = 0; i < 20; i++) MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Ibarrier(comm, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    if (!inter) {
        MPI_Irecv(&y, 1, MPI_INT, MPI_ANY_SOURCE, 3, comm, &r[0]);
        MPI_Isend(&me, 1, MPI_INT, (me + 1) % all, 3, comm, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        MPI_Scan(&x, &x, 0, MPI_INT, MPI_SUM, comm);
        MPI_Bcast(&x, 1, MPI_INT, all - 1, comm);
    }
    printf("%s %s: %d of %d: sum %d, from %d, handled %d\n", way, what, me, all, sum, y, handled);
}

/* All kinds that are made of one. */
static void derive(MPI_Comm comm, int world_color)
{
    MPI_Comm made, half, inter;
    MPI_Request r;
    MPI_Win win;
    int me, all, one, yes = 0, *base;

    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &all);
    use(comm, "itself");
    MPI_Comm_dup(comm, &made);
    use(made, "dup");
    MPI_Comm_free(&made);
    MPI_Comm_idup(comm, &made, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    use(made, "idup");
    MPI_Comm_free(&made);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
    use(made, "split_type");
    MPI_Comm_free(&made);
    MPI_Comm_split(comm, world_color, me, &made);
    use(made, "one world");
    MPI_Comm_free(&made);
    one = all;
    MPI_Cart_create(comm, 1, &one, &yes, 1, &made);
    use(made, "cart");
    MPI_Comm_free(&made);
    /* One group has ranks of both worlds, and so has the other, or it has those of one alone. */
    MPI_Comm_split(comm, me == 1 || me == all - 1, me, &half);
    MPI_Intercomm_create(half, 0, comm, me == 1 || me == all - 1 ? 0 : 1, 5, &inter);
    use(inter, "inter");
    MPI_Intercomm_merge(inter, me == 1 || me == all - 1, &made);
    use(made, "merged");
    MPI_Comm_free(&made);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    if (me == 0) {
        MPI_Group group, alone;
        MPI_Comm_group(comm, &group);
        MPI_Group_incl(group, 1, &me, &alone);
        MPI_Comm_create_group(comm, alone, 6, &made);
        use(made, "group");
        MPI_Comm_free(&made);
        MPI_Group_free(&alone);
        MPI_Group_free(&group);
    }
    if (strncmp(way, "spawn", 5) != 0 && strncmp(way, "session", 7) != 0) {
        MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, comm, &base, &win);
        for (int i = 0; i < 3; i++) MPI_Win_fence(0, win);
        MPI_Win_free(&win);
    }
}

static void spawn(char *program, int several)
{
    char *args[] = {(char *)way, NULL}, *commands[2] = {program, program}, **both[2] = {args, args};
    MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
    int numbers[2] = {1, 1}, x = 42;
    MPI_Comm parent, other = MPI_COMM_NULL, all;

    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) other = parent;
    else if (several) MPI_Comm_spawn_multiple(2, commands, both, numbers, infos, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
    else MPI_Comm_spawn(program, args, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
    if (is_none(other)) return;
    MPI_Bcast(&x, 1, MPI_INT, parent != MPI_COMM_NULL ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, other);
    MPI_Intercomm_merge(other, parent != MPI_COMM_NULL, &all);
    derive(all, parent != MPI_COMM_NULL);
    for (int i = 0; parent == MPI_COMM_NULL && i < 3; i++) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&other);
}

/* Ranks 0 and 1 of this world meet as strangers. */
static void connect_to_self(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm other = MPI_COMM_NULL, both;

    if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank > 1) return;
    if (rank == 0) MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    else MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    if (is_none(other)) return;
    use(other, "connected");
    MPI_Intercomm_merge(other, rank == 1, &both);
    use(both, "merged");
    MPI_Comm_free(&both);
    MPI_Comm_disconnect(&other);
    if (rank == 0) MPI_Close_port(port);
}

static void join(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int door = socket(AF_INET, SOCK_STREAM, 0), line = door, port;
    MPI_Comm other = MPI_COMM_NULL, both;

    if (rank == 0 && (bind(door, (struct sockaddr *)&address, length) || listen(door, 1))) exit(1);
    if (rank == 0) getsockname(door, (struct sockaddr *)&address, &length);
    port = address.sin_port;
    MPI_Bcast(&port, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank > 1) return;
    address.sin_port = (in_port_t)port;
    if (rank == 0) line = accept(door, NULL, NULL);
    else if (connect(line, (struct sockaddr *)&address, length)) exit(1);
    MPI_Comm_join(line, &other);
    if (is_none(other)) return;
    MPI_Intercomm_merge(other, rank == 1, &both);
    use(both, "joined");
    MPI_Comm_free(&both);
    MPI_Comm_disconnect(&other);
}

#if SESSIONS
/* strict: MPI refuses to finalize a session while there is something of it. */
static void session(int strict)
{
    MPI_Session session;
    MPI_Info info;
    MPI_Group group;
    MPI_Comm comm;
    int error;

    MPI_Info_create(&info);
    if (strict) MPI_Info_set(info, "strict_finalize", "1");
    MPI_Session_init(info, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Group_free(&group);
    derive(comm, 0);
    MPI_Comm_free(&comm);
    error = MPI_Session_finalize(&session);
    MPI_Info_free(&info);
    printf("%s: end %d, handled %d\n", way, error != MPI_SUCCESS, handled);
}
#endif

int main(int argc, char **argv)
{
    MPI_Errhandler mine;

    setvbuf(stdout, NULL, _IOLBF, 0);
    way = argc > 1 ? argv[1] : "plain";
#if SESSIONS
    if (strcmp(way, "session-alone") == 0) {
        session(0);
        return 0;
    }
#endif
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_create_errhandler(handler, &mine);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
    if (strncmp(way, "spawn", 5) == 0) spawn(argv[argc > 2 ? 2 : 0], strcmp(way, "spawn-several") == 0);
    else if (strcmp(way, "connect") == 0) connect_to_self();
    else if (strcmp(way, "join") == 0) join();
#if SESSIONS
    else if (strncmp(way, "session", 7) == 0) session(1);
#endif
    else derive(MPI_COMM_WORLD, 0);
    use(MPI_COMM_WORLD, "world");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&mine);
    MPI_Finalize();
    return 0;
}
