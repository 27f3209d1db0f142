#define _GNU_SOURCE
#include "preload/ompp_reexec.h"

#include "base/ompp_env.h"
#include "preload/ompp_loaded.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

/* The value of a variable is the word, or it is not set and the word is NULL. */
static bool is_word(const char *name, const char *word)
{
    const char *text = ompp_env_foreign(name);

    return text && *text ? word && strcasecmp(text, word) == 0 : !word;
}

/* The launcher has chosen for this program in this process; what it did not change then it would not now. */
static bool is_chosen(const struct stat *program)
{
    char mine[OMPP_ENV_REEXEC_SIZE];
    const char *noted = ompp_env_foreign(OMPP_ENV_REEXEC);

    ompp_env_reexec(mine, program);
    return noted && strcmp(noted, mine) == 0;
}

static bool lacks_gomp(const ompp_loaded_t *loaded)
{
    return loaded->gomp && !loaded->gomp_reported && !is_word("OMPP_OMP_RUNTIME", "none");
}

/* Also of wrappers of another one: those break it. */
static bool lacks_mpi(const ompp_loaded_t *loaded)
{
    return *loaded->mpi && strcmp(loaded->wrapped, "other") != 0 &&
           (!is_word("OMPP_MPI_FAMILY", "none") || *loaded->wrapped);
}

static bool lacks_libraries(void)
{
    ompp_loaded_t loaded;

    ompp_loaded_look(&loaded);
    return lacks_gomp(&loaded) || lacks_mpi(&loaded);
}

/* Its own file, where that has a name still. Where the loader was started with the program as its argument, it is the
 * loader's. */
static bool find_program(char path[PATH_MAX], struct stat *program)
{
    struct stat named;
    ssize_t n = getauxval(AT_BASE) ? readlink("/proc/self/exe", path, PATH_MAX - 1) : 0;

    if (n <= 0) return false;
    path[n] = '\0';
    return stat("/proc/self/exe", program) == 0 && stat(path, &named) == 0 && named.st_dev == program->st_dev &&
           named.st_ino == program->st_ino;
}

/* The launcher itself is not measured: what is preloaded goes to it under another name. */
static void start_again(const char *command, const char *path, char **argv, char **envp)
{
    static const char preload[] = "LD_PRELOAD=";
    const char *value = ompp_env_foreign("LD_PRELOAD");
    char exec[sizeof OMPP_ENV_EXEC + PATH_MAX + 1],
        was[sizeof OMPP_ENV_WAS + sizeof preload + (value ? strlen(value) : 0)];
    size_t n = 0, k = 0;

    while (envp[n]) n++;
    char *environment[n + 3];
    for (size_t i = 0; i < n; i++)
        if (strncmp(envp[i], preload, sizeof preload - 1) != 0) environment[k++] = envp[i];
    snprintf(exec, sizeof exec, "%s=%s", OMPP_ENV_EXEC, path);
    snprintf(was, sizeof was, OMPP_ENV_WAS "%s%s", preload, value ? value : "");
    environment[k++] = exec;
    if (value) environment[k++] = was;
    environment[k] = NULL;
    execve(command, argv, environment);
}

void ompp_reexec_check(char **argv, char **envp)
{
    const char *command = ompp_env_foreign(OMPP_ENV_COMMAND);
    char path[PATH_MAX];
    struct stat program;
    int saved = errno;

    if (!command || is_word("OMPP_CHILDREN", NULL) || is_word("OMPP_CHILDREN", "0") ||
        ompp_env_foreign(OMPP_ENV_RESTORE))
        return;
    if (argv && argv[0] && lacks_libraries() && find_program(path, &program) && !is_chosen(&program))
        start_again(command, path, argv, envp);
    errno = saved;
}
