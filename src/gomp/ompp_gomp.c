/*
 * GOMP interposition, what happens once: finding libgomp's functions, and whether they are to be measured.
 */
#define _GNU_SOURCE
#include "gomp/ompp_gomp_priv.h"

#include "base/ompp_dl.h"
#include "base/ompp_path.h"
#include "model/ompp_profile.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

unsigned ompp_gomp_mode;
bool ompp_gomp_by_llvm;
__thread ompp_gomp_body_t ompp_gomp_body __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* LLVM's library has libgomp's functions as well, and may be in front of libgomp. */
static bool is_served_by_llvm(void)
{
    void *function = ompp_dl_symbol(RTLD_NEXT, "GOMP_parallel");
    Dl_info info;

    if (!function || !dladdr(function, &info) || !info.dli_fname) return false;
    const char *name = ompp_path_last(info.dli_fname);
    return strncmp(name, "libomp.", 7) == 0 || strncmp(name, "libomp-", 7) == 0 || strncmp(name, "libiomp5", 8) == 0;
}

#define UNSEEN                                                                                                       \
    "loops with static schedule (their barriers count as BARRIER), master, atomic, flush, simd, distribute, scope; " \
    "single without copyprivate lasts until the thread's next barrier"

bool ompp_gomp_ask_slow(void)
{
    int saved = errno;
    bool by_llvm = is_served_by_llvm();
    bool on = !ompp_dl_symbol(RTLD_DEFAULT, "ompp_opari_linked") &&
              ompp_event_claim_openmp(by_llvm ? "GOMP, libomp" : "GOMP, libgomp");
    unsigned before = 0;

    if (on) ompp_gomp_by_llvm = by_llvm;
    if (__atomic_compare_exchange_n(&ompp_gomp_mode, &before, on ? OMPP_GOMP_ON : OMPP_GOMP_OFF, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED) &&
        on)
        ompp_event_coverage(OMPP_COVERAGE_INVISIBLE, "GOMP", by_llvm ? UNSEEN "; what clang has compiled" : UNSEEN);
    errno = saved;
    return ompp_gomp_mode == OMPP_GOMP_ON;
}

/* Before OMPT asks: with two OpenMP libraries in the process, the launcher has decided for this one. */
__attribute__((constructor)) static void at_load(void) { ompp_gomp_on(); }

static void *find(void *where, const char *name, const char *version)
{
    void *found = version ? dlvsym(where, name, version) : dlsym(where, name);

    if (!found) dlerror();
    return found;
}

typedef struct {
    size_t wanted; /* place among the loaded objects */
    size_t seen;
    char name[4096]; /* "" = the wanted one is the program, or not a file */
} object_t;

static int take_name(struct dl_phdr_info *info, size_t size, void *data)
{
    object_t *object = data;
    size_t length = strlen(info->dlpi_name);

    (void)size;
    if (object->seen++ < object->wanted) return 0;
    if (length < sizeof object->name) memcpy(object->name, info->dlpi_name, length + 1);
    return 1;
}

/* Defined by this object, and not by one that it needs, or by us. */
static bool is_of(const char *object, const void *function)
{
    Dl_info found, own;

    return dladdr(function, &found) && found.dli_fname && strcmp(found.dli_fname, object) == 0 &&
           dladdr(&ompp_gomp_mode, &own) && found.dli_fbase != own.dli_fbase;
}

/*
 * A library that was opened by a name is not in the search order: every loaded object is asked. Packages of Python, for
 * one, bring a libgomp of their own, whose name is another (libgomp-a34b3233.so.1.0.0).
 */
static void *find_anywhere(const char *name, const char *version)
{
    static object_t object; /* the callers' stacks may be small; called in turn */
    void *found = NULL;

    for (object.wanted = 0; !found; object.wanted++) {
        object.seen = 0;
        object.name[0] = '\0';
        if (!dl_iterate_phdr(take_name, &object)) break;
        void *library = object.name[0] ? ompp_dl_open(object.name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
        if (!library) continue;
        found = find(library, name, version);
        if (found && !is_of(object.name, found)) found = NULL;
        if (!found) dlclose(library); /* the one that is used stays */
    }
    return found;
}

void *ompp_gomp_find_slow(const char *name, const char *version)
{
    static const char why[] = ": needed by the program, and found in no library\n";
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    int saved = errno;
    void *found = find(RTLD_NEXT, name, version);

    if (!found) {
        pthread_mutex_lock(&one);
        found = find_anywhere(name, version);
        pthread_mutex_unlock(&one);
    }
    if (!found) {
        if (write(2, name, strlen(name)) > 0 && write(2, why, sizeof why - 1) > 0) _exit(127);
        _exit(127);
    }
    errno = saved;
    return found;
}
