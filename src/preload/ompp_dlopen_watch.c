#define _GNU_SOURCE
#include "preload/ompp_dlopen_watch.h"

#include "base/ompp_caller.h"
#include "base/ompp_env.h"
#include "base/ompp_jump.h"
#include "image/ompp_intercept.h"
#include "image/ompp_known.h"
#include "image/ompp_needed.h"
#include "image/ompp_program.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

static void *follow_dlopen(const char *name, int flags);
static void *follow_dlsym(void *library, const char *name);

static void *(*real_dlopen)(const char *, int);
static void *(*real_dlsym)(void *, const char *);
static const ompp_intercept_t calls[] = {{"dlopen", (void *)follow_dlopen, (void **)&real_dlopen},
                                         {"dlsym", (void *)follow_dlsym, (void **)&real_dlsym}};
enum { DLSYM = 1, NCALLS = sizeof calls / sizeof calls[0], ROOM = 128 * 1024 };

static const char *family; /* of the wrappers */
static char wrappers[PATH_MAX];

/* Whether an MPI has come. While it comes, other threads of the process wait: what they open would find MPI without its
 * wrappers. */
enum { NONE = 0, SETTLED = -1 };
static _Atomic int64_t state;  /* or the process and thread that opens it */
static _Atomic(void *) opened; /* the wrappers */
static atomic_bool deep;       /* a library that brings MPI was opened with RTLD_DEEPBIND */
enum { WAIT_MS = 10000 };
enum { MOST_TOLD = 4 };
static void (*_Atomic told[MOST_TOLD])(void); /* when the program looks for something */
static bool is_watching;                      /* for MPI */

/* ---- Which MPI a library brings ---------------------------------------------------------------------------------- */

typedef struct {
    const char *family;  /* "" = none */
    char path[PATH_MAX]; /* of the MPI itself; its name alone: not found */
} mpi_t;

/* The first is the one. */
static void see_name(const char *soname, void *data)
{
    mpi_t *mpi = data;

    if (*mpi->family || !*ompp_known_mpi(soname)) return;
    mpi->family = ompp_known_mpi(soname);
    snprintf(mpi->path, sizeof mpi->path, "%s", soname);
}

static void see_file(const char *path, void *data)
{
    mpi_t *mpi = data;

    if (!strchr(mpi->path, '/') && strcmp(ompp_known_mpi(path), mpi->family) == 0)
        snprintf(mpi->path, sizeof mpi->path, "%s", path);
}

/* libmpi.so, a link for who builds programs, leads to that of a family. */
static const char *family_of_file(const char *path)
{
    char file[PATH_MAX];

    return realpath(path, file) ? ompp_known_mpi(file) : "";
}

static void find_mpi(const char *name, const char *asker, mpi_t *mpi)
{
    char library[PATH_MAX];

    *mpi = (mpi_t){.family = ompp_known_mpi(name)};
    snprintf(mpi->path, sizeof mpi->path, "%s", name);
    snprintf(library, sizeof library, "%s", name);
    if (!strchr(name, '/') && !ompp_needed_find(name, asker, library)) return;
    snprintf(mpi->path, sizeof mpi->path, "%s", library);
    mpi->family = family_of_file(library);
    if (*mpi->family) return;
    ompp_needed_names(library, see_name, mpi);
    if (*mpi->family) ompp_needed_files(library, see_file, mpi);
}

/* ---- Libraries that are opened ----------------------------------------------------------------------------------- */

static bool is_loaded(const char *name)
{
    void *library = real_dlopen(name, RTLD_LAZY | RTLD_NOLOAD);

    if (library) dlclose(library);
    else dlerror();
    return library != NULL;
}

/*
 * The program's own MPI, which need not be the one that the wrappers were built with, is there before they look for
 * theirs. One that is not there does not come with them: the program asks whether it is, and may go on to another.
 */
static bool open_wrappers(const mpi_t *mpi)
{
    const bool there = real_dlopen(mpi->path, RTLD_NOW) != NULL;

    if (there) atomic_store(&opened, real_dlopen(wrappers, RTLD_NOW | RTLD_GLOBAL));
    dlerror();
    return there;
}

/* \return whether it has come. */
static bool take(const mpi_t *mpi)
{
    return strcmp(mpi->family, family) == 0 ? open_wrappers(mpi) : strchr(mpi->path, '/') != NULL;
}

static const char *file_of(const void *code)
{
    Dl_info module;

    if (dladdr(code, &module) && module.dli_fname && strchr(module.dli_fname, '/')) return module.dli_fname;
    return ompp_program_path();
}

/* Threads and coroutines may have small stacks, on which the program's own call has room, and a search for libraries
 * has not. */
static bool has_room(void)
{
    const char *here = __builtin_frame_address(0);
    pthread_attr_t attr;
    void *low = NULL;
    size_t size = 0;

    if (pthread_getattr_np(pthread_self(), &attr) != 0) return false;
    pthread_attr_getstack(&attr, &low, &size);
    pthread_attr_destroy(&attr);
    return here > (char *)low && (size_t)(here - (char *)low) < size && here - (char *)low > ROOM;
}

/* Another thread opens it; not one of the process that this one was forked from. */
static bool is_coming(int64_t now)
{
    return now != NONE && now != SETTLED && now >> 32 == getpid() && (int32_t)now != gettid();
}

static void wait_for_it(void)
{
    for (int ms = 0; ms < WAIT_MS && is_coming(atomic_load(&state)); ms++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void come(const mpi_t *mpi)
{
    const int64_t mine = (int64_t)getpid() << 32 | gettid();
    int64_t now = atomic_load(&state);

    if (now == mine) return; /* what it opens opens others */
    while (now != SETTLED && !is_coming(now))
        if (atomic_compare_exchange_strong(&state, &now, mine)) {
            atomic_store(&state, take(mpi) ? SETTLED : NONE);
            return;
        }
    wait_for_it();
}

/* Not inline: its stack is used where there is room alone. */
__attribute__((noinline)) static void search_and_open(const char *name, int flags, const void *caller)
{
    mpi_t mpi = {.family = ""};

    if (!is_loaded(name)) find_mpi(name, file_of(caller), &mpi);
    if (!*mpi.family) return;
    if (flags & RTLD_DEEPBIND) atomic_store(&deep, true);
    come(&mpi);
}

static void prepare(const char *name, int flags, const void *caller)
{
    const int saved = errno;
    const ompp_cancel_t cancel = ompp_cancel_hold();

    if (has_room()) search_and_open(name, flags, caller);
    ompp_cancel_release(cancel);
    errno = saved;
}

OMPP_JUMPS static void *follow_dlopen(const char *name, int flags)
{
    if (name && !(flags & RTLD_NOLOAD) && (atomic_load(&state) != SETTLED || flags & RTLD_DEEPBIND)) {
        ompp_intercept(calls, NCALLS); /* libraries that were opened before open others */
        prepare(name, flags, __builtin_return_address(0));
    }
    OMPP_JUMP return real_dlopen(name, flags);
}

static const char *module_of(const void *code)
{
    Dl_info module;

    return code && dladdr(code, &module) && module.dli_fname ? module.dli_fname : "";
}

/*
 * MPI's functions may be asked for in MPI itself, or in what brings it, and not in the program: what stands in front of
 * them is given then. A library that has functions of its own under these names is asked for them.
 */
static void *in_front(void *library, const char *name)
{
    int saved = errno;
    void *found = NULL, *real;

    wait_for_it();
    void *ours = atomic_load(&opened);
    if (ours && library != RTLD_DEFAULT && library != RTLD_NEXT) {
        real = real_dlsym(library, name);
        if (strcmp(ompp_known_mpi(module_of(real)), family) == 0) found = real_dlsym(ours, name);
        if (strcmp(module_of(found), wrappers) != 0) found = NULL; /* data of MPI, or a function that has no wrapper */
    }
    errno = saved;
    return found;
}

static void tell(void)
{
    int saved = errno;

    for (int i = 0; i < MOST_TOLD; i++) {
        void (*callback)(void) = atomic_load_explicit(&told[i], memory_order_acquire);
        if (callback) callback();
    }
    errno = saved;
}

/* Who opens a library asks for something in it next: what was opened is followed from here on, too. */
OMPP_JUMPS static void *follow_dlsym(void *library, const char *name)
{
    void *found = NULL;

    if (!is_watching) ompp_intercept(&calls[DLSYM], 1);
    else if (atomic_load(&state) != SETTLED) ompp_intercept(calls, NCALLS);
    tell();
    if (is_watching && name && strncmp(name, "MPI_", 4) == 0 && (found = in_front(library, name))) return found;
    OMPP_JUMP return real_dlsym(library, name);
}

bool ompp_dlopen_watch_is_deep(void) { return atomic_load(&deep); }

/* ---- Start ------------------------------------------------------------------------------------------------------- */

static int see_loaded(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    (void)data;
    return info->dlpi_name && *ompp_known_mpi(info->dlpi_name);
}

/* Whether the environment is read by now or not. */
static const char *wanted_family(void)
{
    for (size_t i = 0; i < ompp_env_nrows; i++)
        if (strcmp(ompp_env_rows[i].name, "OMPP_MPI_FAMILY") == 0) return ompp_env_text(&ompp_env_rows[i]);
    return "";
}

static bool find_wrappers(void)
{
    static const char *const families[] = {"openmpi", "mpich"};
    const char *wanted = wanted_family();
    char name[40];

    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (strcasecmp(wanted, families[i]) == 0) family = families[i];
    if (!family) return false;
    snprintf(name, sizeof name, "libompp-mpi-%s.so", family);
    ompp_library_path(wrappers, sizeof wrappers, name);
    return access(wrappers, R_OK) == 0;
}

void ompp_dlopen_watch_start(void)
{
    if (!find_wrappers() || dl_iterate_phdr(see_loaded, NULL)) return;
    ompp_intercept(calls, NCALLS);
    is_watching = true;
}

void ompp_dlopen_watch_tell(void (*callback)(void))
{
    for (int i = 0; i < MOST_TOLD; i++) {
        void (*none)(void) = NULL;
        if (atomic_compare_exchange_strong(&told[i], &none, callback) || none == callback) break;
    }
    ompp_intercept(&calls[DLSYM], 1);
}
