/*
 * Libraries that the program closes: at their addresses another one may be loaded next. Stands in front of dlclose() to
 * learn of it. In a program that was built without us, and whose library brings us, the calls are taken over.
 */
#define _GNU_SOURCE
#include "base/ompp_pages.h"
#include "data/ompp_data.h"
#include "image/ompp_intercept.h"
#include "process/ompp_openmp.h"
#include "runtime/ompp_callpath.h"
#include "runtime/ompp_state.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

typedef struct {
    uintptr_t low, high;
} place_t;

typedef struct {
    size_t n, room;
    place_t *places;
    unsigned long long unloads;
} places_t;

static int note(struct dl_phdr_info *info, size_t size, void *data)
{
    places_t *all = data;
    place_t place = {UINTPTR_MAX, 0};

    (void)size;
    all->unloads = info->dlpi_subs;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const uintptr_t begin = info->dlpi_addr + p->p_vaddr, end = begin + p->p_memsz;
        if (p->p_type != PT_LOAD) continue;
        if (begin < place.low) place.low = begin;
        if (end > place.high) place.high = end;
    }
    if (all->n < all->room) all->places[all->n] = place;
    all->n++;
    return 0;
}

/* Not from malloc: the program may close a library where it has the allocator in its hands. */
static void look(places_t *all)
{
    places_t counted = {0};

    dl_iterate_phdr(note, &counted);
    *all = (places_t){.room = counted.n + 16}; /* other threads may be loading some */
    all->places =
        ompp_mmap(NULL, all->room * sizeof(place_t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all->places == MAP_FAILED) all->room = 0;
    dl_iterate_phdr(note, all);
    if (all->n > all->room) all->n = all->room;
}

static void forget(places_t *all)
{
    if (all->room) ompp_munmap(all->places, all->room * sizeof(place_t));
}

static bool has(const places_t *all, uintptr_t low)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->places[i].low == low) return true;
    return false;
}

static void gone(place_t place)
{
    ompp_region_unloaded(place.low, place.high);
    ompp_data_forget((const void *)place.low, place.high - place.low, NULL, 0);
}

static void tell_gone(const places_t *before)
{
    places_t now;

    look(&now);
    for (size_t i = 0; i < before->n && now.unloads != before->unloads && now.room; i++)
        if (!has(&now, before->places[i].low)) gone(before->places[i]);
    forget(&now);
}

static int (*real_dlclose)(void *);

static void find_real(void)
{
    void *symbol = dlsym(RTLD_NEXT, "dlclose"); /* of the C library, which is always there */

    memcpy(&real_dlclose, &symbol, sizeof symbol);
}

static int close_library(void *handle)
{
    const bool running = atomic_load(&ompp_process.state) == OMPP_STATE_RUNNING,
               watched = running || ompp_callpath_early_is_on();
    places_t before = {0};
    int result, saved = errno;

    if (!real_dlclose) find_real();
    if (watched) look(&before);
    if (!running) ompp_openmp_note();
    errno = saved;
    result = real_dlclose(handle);
    saved = errno;
    if (watched) tell_gone(&before);
    forget(&before);
    errno = saved;
    return result;
}

__attribute__((visibility("default"), no_instrument_function)) int dlclose(void *handle)
{
    return close_library(handle);
}

/* What comes with a library of the program is not in front of the C library for those that were there before. */
__attribute__((constructor)) static void at_load(void)
{
    static const ompp_intercept_t calls[] = {{"dlclose", (void *)close_library, NULL}};
    const void *first = dlsym(RTLD_DEFAULT, "dlclose");
    Dl_info one, own;

    find_real();
    dlerror(); /* what was not found is no error of the program */
    if (first && dladdr(first, &one) && dladdr((void *)close_library, &own) && one.dli_fbase != own.dli_fbase)
        ompp_intercept(calls, 1);
}
