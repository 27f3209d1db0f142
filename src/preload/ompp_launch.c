/*
 * Variables of the environment are tables here; MPICH's process manager sets none that names the job: its proxy's
 * command line does, and the proxy is at the other end of the socket that each rank was given.
 */
#define _GNU_SOURCE
#include "preload/ompp_launch.h"

#include "base/ompp_env.h"
#include "image/ompp_proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bool is_launched;

void ompp_launch_restore(void) { is_launched = ompp_env_restore(); }

bool ompp_is_launched(void) { return is_launched; }

bool ompp_is_preloaded(void)
{
    const char *preload = ompp_env_foreign("LD_PRELOAD");

    return preload && strstr(preload, "libompp");
}

/* ---- Ranks ------------------------------------------------------------------------------------------------------- */

int ompp_launch_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
    static int rank = -2;

    for (unsigned i = 0; i < sizeof names / sizeof names[0] && rank < 0; i++) {
        const char *text = rank == -2 ? ompp_env_foreign(names[i]) : NULL;
        if (text && *text) rank = atoi(text);
    }
    if (rank < 0) rank = -1;
    return rank;
}

int ompp_launch_ranks_here(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PALS_LOCAL_SIZE",
                                        "FLUX_TASK_LOCAL_SIZE"};

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *text = ompp_env_foreign(names[i]);
        if (text && atoi(text) > 0) return atoi(text);
    }
    return 0;
}

/* ---- The proxy of MPICH's process manager ------------------------------------------------------------------------ */

/* Word of a command line, as /proc has it, behind an option of this name; "" = none. */
static const char *value_of(const char *words, size_t n, const char *option)
{
    for (const char *at = words; at < words + n; at += strlen(at) + 1) {
        const char *next = at + strlen(at) + 1;
        if (strcmp(at, option) == 0 && next < words + n) return next;
    }
    return "";
}

/* Process at the other end of the socket in PMI_FD; 0 = none. */
static pid_t pmi_peer(void)
{
    const char *text = ompp_env_foreign("PMI_FD");
    struct ucred peer = {0};
    socklen_t size = sizeof peer;

    if (!text || getsockopt(atoi(text), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return 0;
    return peer.pid > 0 ? peer.pid : 0;
}

/* Where its proxies report to is a port that no other job has, on a host that is named; a group of spawned ranks has
 * its number. */
static void name_proxy(pid_t pid, char *name, size_t size)
{
    char path[40], words[1001];
    ssize_t n = -1;

    *name = '\0';
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        n = read(fd, words, sizeof words - 1);
        close(fd);
    }
    if (n <= 0) return;
    words[n] = '\0';
    const char *port = value_of(words, (size_t)n, "--control-port");
    if (*port) snprintf(name, size, "%s/%s", port, value_of(words, (size_t)n, "--pgid"));
}

/* ---- Names of the job -------------------------------------------------------------------------------------------- */

static struct {
    bool known;
    char here[900], everywhere[900];
} names;

/* unique: no two jobs have it at a time. */
static bool add_variables(char *text, size_t size)
{
    static const struct {
        const char *name;
        bool unique;
    } rows[] = {{"OMPI_MCA_orte_precondition_transports", true},
                {"PMIX_NAMESPACE", true},
                {"SLURM_JOB_ID", false},
                {"SLURM_STEP_ID", true},
                {"SLURM_RESTART_COUNT", false},
                {"PBS_JOBID", false},
                {"LSB_JOBID", false},
                {"FLUX_JOB_ID", true},
                {"PALS_APID", true}};
    bool unique = false;
    size_t n = 0;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *value = ompp_env_foreign(rows[i].name);
        if (!value || !*value) continue;
        n += (size_t)snprintf(text + n, size - n, "%s%.80s", n ? "/" : "", value);
        unique = unique || rows[i].unique;
    }
    return unique;
}

static void find_names(void)
{
    const int saved = errno;
    char variables[760] = "", proxy[300] = "";
    const pid_t peer = pmi_peer(), parent = getppid();

    /* A launcher within a step of another one: the inner one's proxy tells its jobs apart. Slurm's peer has none. */
    if (peer) name_proxy(peer, proxy, sizeof proxy);
    const bool unique = add_variables(variables, sizeof variables) && !*proxy;
    if (unique) snprintf(names.everywhere, sizeof names.everywhere, "%s", variables);
    else if (*proxy) snprintf(names.everywhere, sizeof names.everywhere, "%s", proxy);
    if (*names.everywhere) snprintf(names.here, sizeof names.here, "%s", names.everywhere);
    else
        snprintf(names.here, sizeof names.here, "%s%s %d/%llu", variables, peer ? "proxy" : "parent",
                 (int)(peer ? peer : parent), (unsigned long long)ompp_proc_start(peer ? peer : parent));
    names.known = true;
    errno = saved;
}

const char *ompp_launch_name(void)
{
    if (!names.known) find_names();
    return names.here;
}

const char *ompp_launch_name_everywhere(void)
{
    if (!names.known) find_names();
    return names.everywhere;
}
