/*
 * Before the first walk: the cache's memory, libompp-unwind.so, bounds of stacks; files that are loaded and unloaded.
 * Nothing here is called from a signal handler.
 */
#define _GNU_SOURCE
#include "base/ompp_pages.h"
#include "unwind/ompp_cache_priv.h"
#include "unwind/ompp_image_table_priv.h"
#include "unwind/ompp_unwind.h"
#include "unwind/ompp_unwind_priv.h"

#include "base/ompp_caller.h"
#include "base/ompp_error.h"
#include "base/ompp_path.h"
#include "image/ompp_known.h"
#include "image/ompp_mapped.h"
#include "image/ompp_program.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define DECODER_LIBRARY "libompp-unwind.so"
#define DECODER_SYMBOL "ompp_unwind_decoder"

/* ---- Names of ends ----------------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *meaning;
} ends[] = {
#define OMPP_UNWIND_END(id, name, meaning) [OMPP_UNWIND_##id] = {name, meaning},
#include "unwind/ompp_unwind.def"
#undef OMPP_UNWIND_END
};

const char *ompp_unwind_end_name(ompp_unwind_end_t end) { return ends[end].name; }
const char *ompp_unwind_end_meaning(ompp_unwind_end_t end) { return ends[end].meaning; }

/* ---- Loaded files ------------------------------------------------------------------------------------------------ */

static pthread_mutex_t refreshing = PTHREAD_MUTEX_INITIALIZER;

typedef struct {
    ompp_image_table_t *table;
    unsigned long long adds, subs;
    bool is_checked;
} visit_t;

static unsigned long long seen_adds, seen_subs;
static bool prepares; /* under refreshing */

static void add_range(ompp_image_table_t *table, ompp_image_range_t range)
{
    size_t i = table->n;

    if (i == OMPP_IMAGES) return;
    for (; i > 0 && table->items[i - 1].low > range.low; i--) table->items[i] = table->items[i - 1];
    table->items[i] = range;
    table->n++;
}

static void add_owned(ompp_image_owned_t owned)
{
    const unsigned n = atomic_load_explicit(&ompp_image_nowned, memory_order_relaxed);

    if (n == OMPP_IMAGE_OWNED || ompp_unwind_owner(owned.range.low) == owned.owner) return;
    ompp_image_owned[n] = owned;
    atomic_store_explicit(&ompp_image_nowned, n + 1, memory_order_release);
}

static void classify(const char *path, ompp_image_range_t range)
{
    const ompp_owner_t owner = ompp_known_owner(path);

    if (owner != OMPP_OWNER_PROGRAM) add_owned((ompp_image_owned_t){range, owner});
}

/* Files were unloaded: what is still there is found again. Ours stay, and walks that begin in them meanwhile. */
static void forget_owned(void)
{
    unsigned n = 0;

    while (n < ompp_image_nowned && ompp_image_owned[n].owner == OMPP_OWNER_OURS) n++;
    atomic_store(&ompp_image_nowned, n);
}

static int visit(struct dl_phdr_info *info, size_t size, void *argument)
{
    visit_t *v = argument;
    ompp_image_range_t range = {UINTPTR_MAX, 0};

    (void)size;
    v->adds = info->dlpi_adds;
    v->subs = info->dlpi_subs;
    if (!v->is_checked && v->adds == seen_adds && v->subs == seen_subs) return 1;
    if (!v->is_checked && v->subs != seen_subs) forget_owned();
    v->is_checked = true;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD) continue;
        const uintptr_t low = info->dlpi_addr + (p->p_vaddr & ~(uintptr_t)4095),
                        high = info->dlpi_addr + p->p_vaddr + p->p_memsz;
        if (low < range.low) range.low = low;
        if (high > range.high) range.high = high;
    }
    if (range.low >= range.high) return 0;
    add_range(v->table, range);
    classify(info->dlpi_name, range);
    return 0;
}

#define PROBES 64u                    /* addresses of a file that are looked up */
#define LARGEST ((uintptr_t)16 << 20) /* bytes of code that are searched for procedures: some 1 s */

/* Files without unwind information for most of their code: where procedures begin is found out now, for handlers. Those
 * of the table before have been looked at; NULL: none has. MPI opens and closes a hundred files at its start, and each
 * closed one leads to here. \return whether there are such files. */
static bool prepare(const ompp_image_table_t *table, const ompp_image_table_t *before)
{
    const ompp_unwind_decoder_t *d = ompp_unwind_decoder_get();
    bool found = false;

    for (size_t i = 0, old = 0; d && i < table->n; i++) {
        ompp_image_map_t image;
        while (before && old < before->n && before->items[old].low < table->items[i].low) old++;
        if (before && old < before->n && before->items[old].low == table->items[i].low &&
            before->items[old].high == table->items[i].high)
            continue;
        /* its end: where the C library knows each segment alone, the first one looks like a whole file */
        if (!ompp_image_map_find(table->items[i].high - 1, &image)) continue;
        for (unsigned k = 0; k < image.nsegments; k++) {
            const uintptr_t begin = image.segment[k].low, bytes = image.segment[k].high - begin;
            uintptr_t low, high;
            unsigned covered = 0;
            if (!(image.segment[k].flags & PF_X) || bytes < PROBES || bytes > LARGEST) continue;
            for (unsigned p = 0; p < PROBES; p++)
                covered += ompp_cfi_procedure(&image, begin + bytes / PROBES * p, &low, &high);
            if (covered >= PROBES / 2) continue;
            d->prepare(&image);
            found = true;
        }
    }
    return found;
}

static void refresh(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&refreshing);
    const unsigned version = atomic_load_explicit(&ompp_image_version, memory_order_relaxed);
    visit_t v = {.table = &ompp_image_tables[(version + 1) & 1]};
    v.table->n = 0;
    dl_iterate_phdr(visit, &v);
    if (v.is_checked) {
        atomic_store_explicit(&ompp_image_version, version + 1, memory_order_release);
        if (v.subs != seen_subs) atomic_fetch_add_explicit(&ompp_unwind_generation, 1, memory_order_release);
        seen_adds = v.adds;
        seen_subs = v.subs;
        if (prepares) prepare(v.table, &ompp_image_tables[version & 1]);
    }
    pthread_mutex_unlock(&refreshing);
}

void ompp_unwind_refresh(void) { ompp_caller_run(refresh, NULL); }

/* ---- The start --------------------------------------------------------------------------------------------------- */

static char why_simple[200];

const char *ompp_unwind_why_simple(void) { return why_simple[0] ? why_simple : NULL; }

static void open_decoder(void)
{
    char path[4096 - 256];

    ompp_library_path(path, sizeof path, DECODER_LIBRARY);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const ompp_unwind_decoder_t *found = library ? dlsym(library, DECODER_SYMBOL) : NULL;
    if (found && found->version == OMPP_UNWIND_DECODER) {
        found->warm();
        atomic_store_explicit(&ompp_decoder, found, memory_order_release);
        return;
    }
    const char *why = dlerror();
    snprintf(why_simple, sizeof why_simple, "%s",
             found ? DECODER_LIBRARY " is of another version"
             : why ? why
                   : "unknown");
}

static int result;

static void open_all(void *unused)
{
    (void)unused;
#if defined(__x86_64__)
    void *memory = ompp_mmap(NULL, OMPP_CACHE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        result = -OMPP_E_NOMEM;
        return;
    }
    if (ompp_known_in_valgrind()) ompp_probe_pid = getpid();
    open_decoder();
    refresh(NULL);
    atomic_store_explicit(&ompp_cache_entries, (ompp_cache_entry_t *)memory, memory_order_release);
    result = why_simple[0] ? -OMPP_E_OPEN : 0;
#else
    result = -OMPP_E_UNSUPPORTED;
#endif
}

static void prepare_all(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&refreshing);
    prepares = true;
    /* What walks have found out before is found out again, now that more is known. */
    if (prepare(&ompp_image_tables[atomic_load(&ompp_image_version) & 1], NULL))
        atomic_fetch_add(&ompp_unwind_generation, 1);
    pthread_mutex_unlock(&refreshing);
}

static void open_aside(void) { ompp_caller_run(open_all, NULL); }
static void prepare_aside(void) { ompp_caller_run(prepare_all, NULL); }

int ompp_unwind_open(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, open_aside);
    return result;
}

int ompp_unwind_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    ompp_unwind_open();
    pthread_once(&once, prepare_aside);
    return result;
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

/* The mapping that the thread's descriptor is in, which stands above its stack. Below is a guard; where the program
 * wants none, the next stack may be part of it. */
static bool take_stack(void *argument, uintptr_t begin, uintptr_t end, const char *path)
{
    ompp_unwind_thread_t *thread = argument;
    const uintptr_t descriptor = (uintptr_t)pthread_self();

    (void)path;
    if (descriptor < begin || descriptor >= end) return false;
    thread->stack_low = begin;
    thread->stack_high = descriptor;
    return true;
}

/* pthread_getattr_np() locks and allocates. A signal handler, of which this may be the first access, may have
 * interrupted a call of it, or of malloc, by the same thread. */
static void note_stack(void *argument)
{
    ompp_unwind_thread_t *thread = argument;
    pthread_attr_t attributes;
    size_t bytes;
    void *low;

    if (atomic_load(&ompp_signals_are_handled) && gettid() != getpid()) {
        ompp_mapped_each(take_stack, thread);
        return;
    }
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    if (pthread_attr_getstack(&attributes, &low, &bytes) == 0) {
        thread->stack_low = (uintptr_t)low;
        thread->stack_high = (uintptr_t)low + bytes;
    }
    pthread_attr_destroy(&attributes);
}

void ompp_unwind_thread_begin(ompp_unwind_thread_t *thread) { ompp_caller_run(note_stack, thread); }

/* ---- Procedures -------------------------------------------------------------------------------------------------- */

uintptr_t ompp_unwind_entry(uintptr_t address)
{
    ompp_image_map_t image;
    uintptr_t low = 0, high;

    if (!ompp_image_map_find(address, &image) || !ompp_image_map_end(&image, address, true)) return 0;
    return ompp_cfi_procedure(&image, address, &low, &high) ? low : 0;
}

bool ompp_unwind_procedure(uintptr_t address, uintptr_t *low, uintptr_t *high)
{
    const ompp_unwind_decoder_t *d = ompp_unwind_decoder_get();
    ompp_image_map_t image;

    if (!ompp_image_map_find(address, &image) || !ompp_image_map_end(&image, address, true)) return false;
    return ompp_cfi_procedure(&image, address, low, high) || (d && d->procedure(&image, address, low, high));
}
