/**
 * \file
 * The parts of the OPARI2 bridge that run rarely: making regions, finding OpenMP's functions, switches, notes of the
 * build.
 */
#include "opari-bridge/ompp_pomp2_ctc.h"
#include "opari-bridge/ompp_pomp2_priv.h"

#include "base/ompp_caller.h"
#include "base/ompp_dl.h"
#include "model/ompp_profile.h"
#include "process/ompp_lifecycle.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Time between two attempts to get a region that the runtime refused: measurement may be switched on later. */
enum { RETRY_NS = 1000000 };

/*
 * One OpenMP source per process: every object that kinst-ompp instruments with OPARI2 defines the symbol
 * `ompp_opari_linked` (weak, default visibility). libompp.so names it, so the linker exports it from the program by
 * itself; another source asks dlsym(RTLD_DEFAULT, "ompp_opari_linked") and declines when it is there. The
 * reference lies in a section that is not loaded: a plug-in whose symbol the loader had given to us could never be
 * unloaded.
 */
__asm__(".pushsection .ompp.linked,\"\",@progbits\n.weak ompp_opari_linked\n.8byte ompp_opari_linked\n.popsection");

/* ---- OpenMP's functions ------------------------------------------------------------------------------------------ */

static int no_number(void) { return 0; }

static int one(void) { return 1; }

static int no_ancestor(int level)
{
    (void)level;
    return 0;
}

static void no_lock(void *lock) { (void)lock; }

static int no_test(void *lock)
{
    (void)lock;
    return 1;
}

#define NO_LOCKS                                                                                                 \
    {                                                                                                            \
        .init_lock = no_lock, .destroy_lock = no_lock, .set_lock = no_lock, .unset_lock = no_lock,               \
        .test_lock = no_test, .init_nest_lock = no_lock, .destroy_nest_lock = no_lock, .set_nest_lock = no_lock, \
        .unset_nest_lock = no_lock, .test_nest_lock = no_test,                                                   \
    }

ompp_pomp2_omp_t ompp_pomp2_omp = {
    .get_thread_num = no_number,
    .get_level = no_number,
    .get_active_level = no_number,
    .get_ancestor_thread_num = no_ancestor,
    .get_max_threads = one,
    .c = NO_LOCKS,
    .fortran = NO_LOCKS,
};

/*
 * Never called: references that make the linker export these functions from a program that has its OpenMP runtime
 * linked statically. Calls go through dlsym, which finds the default version (libgomp has two of each lock function).
 */
#define WEAK(name) extern void name(void) __attribute__((weak));
#define OMP_FUNCTIONS(ROW) \
    ROW(get_thread_num) ROW(get_level) ROW(get_active_level) ROW(get_ancestor_thread_num) ROW(get_max_threads)
#define OMP_LOCKS(ROW) \
    ROW(init_lock)     \
    ROW(destroy_lock)  \
    ROW(set_lock)      \
    ROW(unset_lock)    \
    ROW(test_lock)     \
    ROW(init_nest_lock) ROW(destroy_nest_lock) ROW(set_nest_lock) ROW(unset_nest_lock) ROW(test_nest_lock)
#define WEAK_ROW(name) WEAK(omp_##name)
#define WEAK_FORTRAN(name) WEAK(omp_##name##_)
OMP_FUNCTIONS(WEAK_ROW)
OMP_LOCKS(WEAK_ROW)
OMP_LOCKS(WEAK_FORTRAN)

/* A library that came with a plug-in is not in the search order. It stays from now on: its functions are kept. */
static void *library_of_plugin(void)
{
    static const char *const names[] = {"libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so"};
    void *library = NULL;

    for (size_t i = 0; !library && i < sizeof names / sizeof names[0]; i++)
        library = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
    return library;
}

/* \return whether there is an OpenMP library. */
static bool find_all(void)
{
#define TABLE_ROW(name) {"omp_" #name, (void **)&ompp_pomp2_omp.name, (void (*)(void))omp_##name},
#define TABLE_LOCK(name) {"omp_" #name, (void **)&ompp_pomp2_omp.c.name, (void (*)(void))omp_##name},
#define TABLE_FORTRAN(name) {"omp_" #name "_", (void **)&ompp_pomp2_omp.fortran.name, (void (*)(void))omp_##name##_},
    const struct {
        const char *name;
        void **slot;
        void (*exported)(void);
    } rows[] = {OMP_FUNCTIONS(TABLE_ROW) OMP_LOCKS(TABLE_LOCK) OMP_LOCKS(TABLE_FORTRAN)};

    const bool visible = ompp_dl_symbol(RTLD_DEFAULT, rows[0].name) || rows[0].exported;
    void *library = visible ? NULL : library_of_plugin();

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        void *found = ompp_dl_symbol(library ? library : RTLD_DEFAULT, rows[i].name);
        if (!found) memcpy(&found, &rows[i].exported, sizeof found);
        if (found) *rows[i].slot = found;
    }
    return visible || library;
}

enum { TRIES = 64 }; /* a plug-in may bring it later */
static unsigned tries;

/* More than one thread may look: they find the same. None waits for another, which could have the loader's lock. */
void ompp_pomp2_omp_find(void)
{
    int saved = errno;

    if (__atomic_load_n(&tries, __ATOMIC_ACQUIRE) >= TRIES) return;
    const bool found = find_all();
    __atomic_fetch_add(&tries, found ? TRIES : 1, __ATOMIC_RELEASE);
    errno = saved;
}

/*
 * A program that uses OpenMP's locks and nothing else of it refers, after OPARI2, to none of its functions: a linker
 * that leaves out what is not needed has left out the library.
 */
void ompp_pomp2_omp_need_locks(void)
{
    static int looked;

    if (__atomic_load_n(&looked, __ATOMIC_ACQUIRE)) return;
    if (!ompp_dl_symbol(RTLD_DEFAULT, "omp_init_lock") && ompp_dl_open("libgomp.so.1", RTLD_NOW | RTLD_GLOBAL))
        find_all();
    __atomic_store_n(&looked, 1, __ATOMIC_RELEASE);
}

/* At load, where it cannot spoil what dlerror() has for the program; later for an OpenMP library that a plug-in
 * brings. */
__attribute__((constructor)) static void find_at_load(void)
{
    if (ompp_dl_symbol(RTLD_DEFAULT, "omp_get_max_threads")) ompp_pomp2_omp_find();
}

/* ---- Regions ----------------------------------------------------------------------------------------------------- */

static void copy(char *to, size_t size, ompp_span_t from)
{
    size_t length = from.length < size ? from.length : size - 1;

    if (length) memcpy(to, from.text, length);
    to[length] = '\0';
}

bool ompp_pomp2_off[OMPP_CONSTRUCT_NUM];

/* Asks the runtime for the region; leaves ref 0 when there is none now. */
static void define(ompp_pomp2_region_t *region, const ompp_ctc_t *ctc, unsigned flags)
{
    char file[PATH_MAX], name[1024];
    ompp_region_def_t def = {.construct = ctc->construct, .begin = ctc->begin, .end = ctc->end, .flags = flags};

    if (ctc->construct == OMPP_CONSTRUCT_NUM || !ompp_runtime_start()) return;
    if (ctc->construct != OMPP_CONSTRUCT_USER_REGION) ompp_event_claim_openmp("OPARI2");
    copy(file, sizeof file, ctc->file);
    copy(name, sizeof name, ctc->name);
    def.file = *file ? file : NULL;
    def.name = *name ? name : NULL;
    __atomic_store_n(&region->ref, ompp_region_define(&def), __ATOMIC_RELEASE);
    region->off = !ompp_region_wanted(ctc->construct);
    /* who follows waiting wants to know of it all the same */
    if (region->off && !ompp_sync_wanted()) __atomic_store_n(&ompp_pomp2_off[ctc->construct], true, __ATOMIC_RELAXED);
}

/* All critical constructs of one name, and all without, exclude one another. */
static uint64_t mutex_of(const ompp_pomp2_region_t *region, const ompp_ctc_t *ctc)
{
    if (ctc->construct != OMPP_CONSTRUCT_CRITICAL) return (uint64_t)(uintptr_t)region;
    return ompp_hash_bytes(OMPP_HASH_START, ctc->name.text, ctc->name.length);
}

static ompp_pomp2_region_t *make(POMP2_Region_handle *handle, const ompp_ctc_t *ctc)
{
    static ompp_pomp2_region_t nothing = {.construct = OMPP_CONSTRUCT_NUM};
    ompp_pomp2_region_t *region = NULL;
    void *empty = NULL;

    if (posix_memalign((void **)&region, 64, sizeof *region) != 0) return &nothing;
    memset(region, 0, sizeof *region);
    region->construct = ctc->construct;
    region->forks = ctc->construct != OMPP_CONSTRUCT_NUM && ompp_construct_forks(ctc->construct);
    region->mutex = mutex_of(region, ctc);
    region->dynamic = ctc->dynamic;
    define(region, ctc, 0);
    if (__atomic_compare_exchange_n(handle, &empty, region, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return region;
    free(region); /* another thread was faster */
    return empty;
}

typedef struct {
    POMP2_Region_handle *handle;
    const char *text;
    ompp_pomp2_region_t *region;
} described_t;

static void define_described(void *described)
{
    described_t *d = described;
    ompp_ctc_t ctc;

    ompp_pomp2_omp_find();
    ompp_ctc_read(d->text, &ctc);
    if (!d->region) d->region = make(d->handle, &ctc);
    else define(d->region, &ctc, 0);
}

ompp_pomp2_region_t *ompp_pomp2_region_slow(POMP2_Region_handle *handle, const char *text)
{
    described_t described = {handle, text, __atomic_load_n(handle, __ATOMIC_ACQUIRE)};
    const ompp_pomp2_region_t *region = described.region;
    ompp_time_t retry_at = region ? __atomic_load_n(&region->retry_at, __ATOMIC_RELAXED) : 0;

    if (region && ompp_event_now() < retry_at) return described.region;
    ompp_caller_run(define_described, &described);
    __atomic_store_n(&described.region->retry_at, ompp_event_now() + RETRY_NS, __ATOMIC_RELAXED);
    return described.region;
}

ompp_pomp2_slot_t *ompp_pomp2_slot_new(void)
{
    int saved = errno;
    ompp_pomp2_slot_t *slot = calloc(1, sizeof *slot);

    errno = saved;
    return slot;
}

static pthread_key_t tasks_key;

static void free_tasks(void *block)
{
    for (ompp_pomp2_tasks_t *inner; block; block = inner) {
        inner = ((ompp_pomp2_tasks_t *)block)->inner;
        free(block);
    }
}

static void make_tasks_key(void) { pthread_key_create(&tasks_key, free_tasks); }

ompp_pomp2_tasks_t *ompp_pomp2_tasks_new(ompp_pomp2_tasks_t *outer)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    ompp_caller_t caller;

    ompp_caller_save(&caller);
    ompp_pomp2_tasks_t *block = calloc(1, sizeof *block);
    if (block) {
        pthread_once(&once, make_tasks_key);
        block->outer = outer;
        if (outer) outer->inner = block;
        else pthread_setspecific(tasks_key, block);
    }
    ompp_caller_restore(&caller);
    return block;
}

/* ---- Switches ---------------------------------------------------------------------------------------------------- */

OMPP_EXPORT void POMP2_Init(void)
{
    int saved = errno;

    ompp_runtime_start();
    errno = saved;
}

/* What the program marked as the end of what it wants measured. The report is written at the end of the process all the
 * same. */
OMPP_EXPORT void POMP2_Finalize(void) { ompp_event_switch(false, "inst finalize"); }

OMPP_EXPORT void POMP2_On(void) { ompp_event_switch(true, "inst on"); }

OMPP_EXPORT void POMP2_Off(void) { ompp_event_switch(false, "inst off"); }

/* ---- Notes of the build ------------------------------------------------------------------------------------------ */

/**
 * \brief Called by constructors that kinst-ompp puts into objects, mostly before measurement starts.
 * \param[in] kind  0 = file compiled without instrumentation, 1 = pragma ignored, 2 = construct that is not
 *                  instrumented, 3 = part of a file ("path:first:last") that is not to be, 4 = construct that the user
 *                  has left out.
 * \note Where files are not instrumented there may be no event at all: measurement starts here, so that there is a
 *       report.
 */
OMPP_EXPORT void ompp_build_note(int kind, const char *subject, const char *reason)
{
    static const unsigned kinds[] = {OMPP_COVERAGE_UNINSTRUMENTED, OMPP_COVERAGE_NOTE, 0, OMPP_COVERAGE_QUIET,
                                     OMPP_COVERAGE_DISABLED};
    int saved = errno;
    char text[1024];

    if (kind == 2) {
        snprintf(text, sizeof text, "%s (%s)", subject, reason);
        ompp_event_coverage(OMPP_COVERAGE_INVISIBLE, "OPARI2", text);
    } else {
        ompp_event_coverage(kinds[kind == 0 || kind == 3 || kind == 4 ? kind : 1], subject, reason);
    }
    if (kind == 0) ompp_runtime_start();
    errno = saved;
}

/* ---- Regions of the build ---------------------------------------------------------------------------------------- */

/** Descriptions in an object; copied, because objects come and go. */
typedef struct build_list {
    struct build_list *next;
    unsigned n;
    char *ctcs[];
} build_list_t;

static build_list_t *build_lists; /* those that the runtime has not been told of; objects are loaded one at a time */

static void define_list(const build_list_t *list)
{
    ompp_pomp2_region_t region;
    ompp_ctc_t ctc;

    for (unsigned i = 0; i < list->n; i++) {
        if (!list->ctcs[i] || !ompp_ctc_read(list->ctcs[i], &ctc)) continue;
        memset(&region, 0, sizeof region);
        define(&region, &ctc, OMPP_REGION_F_LISTED);
    }
}

static void define_lists(void)
{
    build_list_t *list = __atomic_exchange_n(&build_lists, NULL, __ATOMIC_ACQ_REL);

    while (list) {
        build_list_t *next = list->next;
        define_list(list);
        for (unsigned i = 0; i < list->n; i++) free(list->ctcs[i]);
        free(list);
        list = next;
    }
}

/**
 * \brief Called by constructors that kinst-ompp puts into objects: all regions of the object, so that the report can
 *        name those that are never executed.
 * \param[in] ctcs  [n] descriptions; copied.
 */
OMPP_EXPORT void ompp_build_regions(const char *const *ctcs, unsigned n)
{
    int saved = errno;
    build_list_t *list = malloc(sizeof *list + n * sizeof *list->ctcs);

    if (list) {
        list->n = n;
        for (unsigned i = 0; i < n; i++) list->ctcs[i] = strdup(ctcs[i]);
        list->next = __atomic_load_n(&build_lists, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(&build_lists, &list->next, list, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            continue;
        ompp_runtime_at_start(define_lists);
    }
    errno = saved;
}
