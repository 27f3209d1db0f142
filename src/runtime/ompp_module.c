/*
 * Modules: the program and its libraries, in which addresses of regions lie.
 */
#define _GNU_SOURCE
#include "runtime/ompp_module_priv.h"

#include "image/ompp_mapped.h"
#include "image/ompp_program.h"
#include "runtime/ompp_state.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void *at(ompp_off_t off) { return ompp_process.arena.base + off; }

static void read_build_id(ompp_module_search_t *search, const char *note, size_t bytes)
{
    while (bytes >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *n = (const ElfW(Nhdr) *)note;
        size_t name = (n->n_namesz + 3u) & ~3u, desc = (n->n_descsz + 3u) & ~3u, all = sizeof *n + name + desc;
        if (all > bytes) return;
        const unsigned char *d = (const unsigned char *)note + sizeof *n + name;
        if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && memcmp(note + sizeof *n, "GNU", 4) == 0)
            for (size_t i = 0; i < n->n_descsz && i < 32; i++) snprintf(search->id + 2 * i, 3, "%02x", d[i]);
        note += all;
        bytes -= all;
    }
}

/* A module without build id is told apart by size and time of modification. */
static void stat_id(char *id, size_t n, const char *path)
{
    struct stat s;

    if (stat(path, &s) == 0)
        snprintf(id, n, "%llx-%llx", (unsigned long long)s.st_size, (unsigned long long)s.st_mtime);
}

static int match_module(struct dl_phdr_info *info, size_t size, void *argument)
{
    ompp_module_search_t *search = argument;
    uintptr_t low = UINTPTR_MAX, high = 0;
    bool inside = false;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD) continue;
        uintptr_t start = info->dlpi_addr + p->p_vaddr, end = start + p->p_memsz;
        if (start < low) low = start;
        if (end > high) high = end;
        if (search->address >= start && search->address < end) inside = true;
    }
    if (!inside) return 0;
    snprintf(search->path, sizeof search->path, "%s",
             info->dlpi_name && *info->dlpi_name ? info->dlpi_name : ompp_program_path());
    search->base = info->dlpi_addr;
    search->low = low;
    search->high = high;
    search->found = true;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_NOTE) read_build_id(search, (const char *)(info->dlpi_addr + p->p_vaddr), p->p_memsz);
    }
    return 1;
}

ompp_a_module_t *ompp_module_known(uintptr_t address)
{
    ompp_off_t off = atomic_load_explicit(&ompp_process.header->modules, memory_order_relaxed);

    while (off) {
        ompp_a_module_t *m = at(off);
        if (address >= m->low && address < m->high) return m;
        off = m->next;
    }
    return NULL;
}

ompp_a_module_t *ompp_module_add(const ompp_module_search_t *search)
{
    ompp_a_header_t *header = ompp_process.header;
    ompp_off_t first = atomic_load_explicit(&header->modules, memory_order_relaxed);
    ompp_a_module_t *known = ompp_module_known(search->address);

    if (known || !search->found) return known;
    ompp_described_t described = {sizeof(ompp_a_module_t), {search->path, search->id}, {0}};
    ompp_off_t off = ompp_described_take(&described, ompp_arena_take);
    if (!off) return NULL;
    ompp_a_module_t *m = at(off);
    *m = (ompp_a_module_t){.next = first,
                           .path = described.copies[0],
                           .id = described.copies[1],
                           .index = first ? ((ompp_a_module_t *)at(first))->index + 1 : 0,
                           .base = search->base,
                           .low = search->low,
                           .high = search->high,
                           .was_low = search->low,
                           .was_high = search->high};
    atomic_store_explicit(&header->modules, off, memory_order_release);
    return m;
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

#define AT_A_TIME 64u

/* An address in each of the modules [first, first + n) of the dynamic linker's list. */
typedef struct {
    uintptr_t address[AT_A_TIME];
    unsigned first, seen, n;
} loaded_t;

static int note_loaded(struct dl_phdr_info *info, size_t size, void *argument)
{
    loaded_t *loaded = argument;

    (void)size;
    if (loaded->seen++ < loaded->first) return 0;
    loaded->address[loaded->n++] = info->dlpi_addr + (info->dlpi_phnum ? info->dlpi_phdr[0].p_vaddr : 0);
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD)
            loaded->address[loaded->n - 1] = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    return loaded->n == AT_A_TIME;
}

static void add_module(uintptr_t address)
{
    ompp_module_search_t search = {.address = address};
    ompp_locked_t locked = ompp_lock();
    const bool known = ompp_module_known(address) != NULL;

    ompp_unlock(locked);
    if (known) return;
    ompp_module_find(&search);
    locked = ompp_lock();
    ompp_module_add(&search);
    ompp_unlock(locked);
}

void ompp_modules_add(void)
{
    loaded_t loaded = {.n = AT_A_TIME};

    while (loaded.n == AT_A_TIME) {
        loaded.first = loaded.seen;
        loaded.seen = loaded.n = 0;
        dl_iterate_phdr(note_loaded, &loaded);
        for (unsigned i = 0; i < loaded.n; i++) add_module(loaded.address[i]);
    }
}

/* A name of the program's own ("./plugin.so") may be another file's later. */
void ompp_module_find(ompp_module_search_t *search)
{
    dl_iterate_phdr(match_module, search);
    if (search->found && search->path[0] != '/') ompp_mapped_file(search->address, search->path, sizeof search->path);
    if (search->found && !search->id[0]) stat_id(search->id, sizeof search->id, search->path);
}

void ompp_module_unloaded(uintptr_t low, uintptr_t high)
{
    for (ompp_off_t off = atomic_load(&ompp_process.header->modules); off; off = ((ompp_a_module_t *)at(off))->next) {
        ompp_a_module_t *m = at(off);
        if (m->low >= low && m->high <= high) m->low = m->high = 0;
    }
}

typedef struct {
    uintptr_t low;
    bool loaded;
} loaded_search_t;

static int match_low(struct dl_phdr_info *info, size_t size, void *argument)
{
    loaded_search_t *search = argument;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && info->dlpi_addr + p->p_vaddr == search->low) search->loaded = true;
    }
    return search->loaded;
}

static int count_unloads(struct dl_phdr_info *info, size_t size, void *unloads)
{
    (void)size;
    *(unsigned long long *)unloads = info->dlpi_subs;
    return 1;
}

bool ompp_module_is_gone(uintptr_t *low, uintptr_t *high)
{
    static _Atomic unsigned long long seen;
    unsigned long long now = 0;

    dl_iterate_phdr(count_unloads, &now);
    if (now == atomic_load(&seen) || atomic_load(&ompp_process.state) != OMPP_STATE_RUNNING) return false;
    for (ompp_off_t off = atomic_load(&ompp_process.header->modules); off; off = ((ompp_a_module_t *)at(off))->next) {
        const ompp_a_module_t *m = at(off);
        loaded_search_t search = {.low = m->low};
        if (search.low) dl_iterate_phdr(match_low, &search);
        *low = search.low;
        *high = m->high;
        if (search.low && !search.loaded) return true;
    }
    atomic_store(&seen, now);
    return false;
}
