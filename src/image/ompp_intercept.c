/**
 * \file
 * Replacing the slots of modules. A slot is a word that the loader fills with the address of a function: relocations of
 * the kinds JUMP_SLOT (calls) and GLOB_DAT (calls without a procedure linkage table, addresses taken). It may lie in
 * memory that the loader has made read-only since (PT_GNU_RELRO).
 */
#define _GNU_SOURCE
#include "image/ompp_intercept.h"
#include "base/ompp_dl.h"
#include "base/ompp_path.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#define SLOT_CALL R_X86_64_JUMP_SLOT
#define SLOT_DATA R_X86_64_GLOB_DAT
#elif defined(__aarch64__)
#define SLOT_CALL R_AARCH64_JUMP_SLOT
#define SLOT_DATA R_AARCH64_GLOB_DAT
#endif

/* Modules that are left alone, by the beginning of their file's name: they implement the functions, or synchronise on
 * their own account. */
static const char *const left_alone[] = {
    "libc.so",     "libc-",       "libpthread",   "ld-linux", "linux-vdso",    "libdl",  "libm.so",  "librt",
    "libgcc_s",    "libgomp",     "libomp.",      "libomp-",  "libiomp5",      "libmpi", "libopen-", "libpmi",
    "libprte",     "libevent",    "libhwloc",     "libucp",   "libucs",        "libuct", "libucm",   "libfabric",
    "libpsm",      "libibverbs",  "librdmacm",    "libhcoll", "libsharp_coll", "libucc", "libnccl",  "libcuda.so",
    "libjemalloc", "libtcmalloc", "libmimalloc",  "mca_",     "libompp",       "libcoz", "libpapi",  "libpfm",
    "libasan",     "libtsan",     "libomptarget",
};

#ifdef SLOT_CALL

#define MAX_CALLERS 8 /* of the rows that are given */

/* The module that is being looked at. */
typedef struct {
    const struct dl_phdr_info *info;
    const ElfW(Sym) * symbols;
    const char *strings;
    uintptr_t relro_begin, relro_end; /* read-only now; 0, 0 = nothing */
    const ompp_intercept_t *rows;
    size_t n;
    unsigned replaced;
} module_t;

static bool is_left_alone(const char *path)
{
    const char *name = ompp_path_last(path);

    for (size_t i = 0; i < sizeof left_alone / sizeof left_alone[0]; i++)
        if (strncmp(name, left_alone[i], strlen(left_alone[i])) == 0) return true;
    return false;
}

static int by_name(const void *name, const void *row) { return strcmp(name, ((const ompp_intercept_t *)row)->name); }

static bool write_slot(const module_t *m, void **slot, void *value)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)slot & ~(page - 1);
    bool locked = (uintptr_t)slot >= m->relro_begin && (uintptr_t)slot < m->relro_end;

    if (locked && mprotect((void *)at, page, PROT_READ | PROT_WRITE) != 0) return false;
    __atomic_store_n(slot, value, __ATOMIC_RELEASE);
    if (locked) mprotect((void *)at, page, PROT_READ);
    return true;
}

static void look_at(module_t *m, const ElfW(Rela) * relocations, size_t bytes)
{
    for (size_t i = 0; relocations && i < bytes / sizeof *relocations; i++) {
        const ElfW(Rela) *r = &relocations[i];
        if (ELF64_R_TYPE(r->r_info) != SLOT_CALL && ELF64_R_TYPE(r->r_info) != SLOT_DATA) continue;
        const ElfW(Sym) *symbol = &m->symbols[ELF64_R_SYM(r->r_info)];
        if (symbol->st_shndx != SHN_UNDEF) continue; /* the module's own function of that name */
        const ompp_intercept_t *row = bsearch(m->strings + symbol->st_name, m->rows, m->n, sizeof *m->rows, by_name);
        void **slot = (void **)(m->info->dlpi_addr + r->r_offset);
        /* A weak reference that is empty asks whether the function is there at all. */
        if (!row || !*slot || *slot == row->replacement || (row->real && !*row->real)) continue;
        m->replaced += write_slot(m, slot, row->replacement);
    }
}

/* Addresses in the dynamic section are relocated in place by the C library, but for some machines. */
static const void *at(const module_t *m, ElfW(Addr) address)
{
    return (const void *)(address < m->info->dlpi_addr ? m->info->dlpi_addr + address : address);
}

static void take_in(module_t *m)
{
    const ElfW(Dyn) *dynamic = NULL;
    const ElfW(Rela) *calls = NULL, *data = NULL;
    size_t call_bytes = 0, data_bytes = 0;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    m->relro_begin = m->relro_end = 0;
    for (int i = 0; i < m->info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &m->info->dlpi_phdr[i];
        if (p->p_type == PT_DYNAMIC) dynamic = (const ElfW(Dyn) *)(m->info->dlpi_addr + p->p_vaddr);
        if (p->p_type != PT_GNU_RELRO) continue;
        m->relro_begin = (m->info->dlpi_addr + p->p_vaddr) & ~(page - 1);
        m->relro_end = (m->info->dlpi_addr + p->p_vaddr + p->p_memsz) & ~(page - 1);
    }
    m->symbols = NULL;
    m->strings = NULL;
    for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
        if (dynamic->d_tag == DT_SYMTAB) m->symbols = at(m, dynamic->d_un.d_ptr);
        if (dynamic->d_tag == DT_STRTAB) m->strings = at(m, dynamic->d_un.d_ptr);
        if (dynamic->d_tag == DT_JMPREL) calls = at(m, dynamic->d_un.d_ptr);
        if (dynamic->d_tag == DT_PLTRELSZ) call_bytes = dynamic->d_un.d_val;
        if (dynamic->d_tag == DT_RELA) data = at(m, dynamic->d_un.d_ptr);
        if (dynamic->d_tag == DT_RELASZ) data_bytes = dynamic->d_un.d_val;
    }
    if (!m->symbols || !m->strings) return;
    look_at(m, calls, call_bytes);
    look_at(m, data, data_bytes);
}

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
    module_t *m = data;

    (void)size;
    if (is_left_alone(info->dlpi_name ? info->dlpi_name : "")) return 0;
    m->info = info;
    take_in(m);
    return 0;
}

/* How many modules have been loaded, ever; the loader tells it with the first module. */
static int count_loads(struct dl_phdr_info *info, size_t size, void *loads)
{
    (void)size;
    *(unsigned long long *)loads = info->dlpi_adds;
    return 1;
}

/* Not while the loader's list of modules is held. */
static void find_real(const ompp_intercept_t *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (rows[i].real && !*rows[i].real) *rows[i].real = ompp_dl_symbol(RTLD_DEFAULT, rows[i].name);
}

/* Which modules have been looked at for these rows. */
static unsigned long long *seen_for(const ompp_intercept_t *rows)
{
    static struct {
        const ompp_intercept_t *rows;
        unsigned long long loads;
    } seen[MAX_CALLERS];
    size_t i = 0;

    while (i < MAX_CALLERS - 1 && seen[i].rows && seen[i].rows != rows) i++;
    if (seen[i].rows != rows) seen[i].loads = 0;
    seen[i].rows = rows;
    return &seen[i].loads;
}

unsigned ompp_intercept(const ompp_intercept_t *rows, size_t n)
{
    static atomic_flag busy = ATOMIC_FLAG_INIT;
    unsigned long long loads = 0;
    module_t m = {.rows = rows, .n = n};
    int saved = errno;

    if (atomic_flag_test_and_set(&busy)) return 0;
    dl_iterate_phdr(count_loads, &loads);
    unsigned long long *seen = seen_for(rows);
    if (loads != *seen) {
        find_real(rows, n);
        dl_iterate_phdr(visit, &m);
    }
    *seen = loads;
    atomic_flag_clear(&busy);
    errno = saved;
    return m.replaced;
}

/* The program's file is the first module. */
static int visit_first(struct dl_phdr_info *info, size_t size, void *data)
{
    module_t *m = data;

    (void)size;
    m->info = info;
    take_in(m);
    return 1;
}

void ompp_intercept_program(const ompp_intercept_t *rows, size_t n)
{
    module_t m = {.rows = rows, .n = n};
    int saved = errno;

    find_real(rows, n);
    dl_iterate_phdr(visit_first, &m);
    errno = saved;
}

#else

void ompp_intercept_program(const ompp_intercept_t *rows, size_t n) { (void)rows, (void)n; }

unsigned ompp_intercept(const ompp_intercept_t *rows, size_t n)
{
    (void)rows, (void)n, (void)left_alone;
    return 0;
}

#endif
