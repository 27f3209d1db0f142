#define _GNU_SOURCE
#include "image/ompp_dso.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Relocations that hold the address of a function: calls, calls without a procedure linkage table, tables of
 * addresses. */
#if defined(__x86_64__)
static const uint32_t slots[] = {R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_64};
#elif defined(__aarch64__)
static const uint32_t slots[] = {R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_ABS64};
#else
static const uint32_t slots[] = {UINT32_MAX};
#endif

/* Addresses in the dynamic section are relocated in place by the C library, but for some machines. */
static const void *at(const ompp_dso_t *m, ElfW(Addr) address)
{
    return (const void *)(address < m->base ? m->base + address : address);
}

static void read_entry(ompp_dso_t *m, const ElfW(Dyn) * d)
{
    switch (d->d_tag) {
    case DT_SYMTAB: m->symbols = at(m, d->d_un.d_ptr); break;
    case DT_STRTAB: m->strings = at(m, d->d_un.d_ptr); break;
    case DT_GNU_HASH: m->gnu_hash = at(m, d->d_un.d_ptr); break;
    case DT_HASH: m->hash = at(m, d->d_un.d_ptr); break;
    case DT_RELA: m->relocations[0] = at(m, d->d_un.d_ptr); break;
    case DT_RELASZ: m->count[0] = d->d_un.d_val / sizeof(ElfW(Rela)); break;
    case DT_JMPREL: m->relocations[1] = at(m, d->d_un.d_ptr); break;
    case DT_PLTRELSZ: m->count[1] = d->d_un.d_val / sizeof(ElfW(Rela)); break;
    default: break;
    }
}

bool ompp_dso_read(const struct dl_phdr_info *info, ompp_dso_t *m)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const ElfW(Dyn) *dynamic = NULL;

    *m = (ompp_dso_t){.path = info->dlpi_name ? info->dlpi_name : "",
                      .base = info->dlpi_addr,
                      .headers = info->dlpi_phdr,
                      .nheaders = info->dlpi_phnum};
    for (unsigned i = 0; i < m->nheaders; i++) {
        const ElfW(Phdr) *p = &m->headers[i];
        if (p->p_type == PT_DYNAMIC) dynamic = (const ElfW(Dyn) *)(m->base + p->p_vaddr);
        if (p->p_type != PT_GNU_RELRO) continue;
        m->relro_begin = (m->base + p->p_vaddr) & ~(page - 1);
        m->relro_end = (m->base + p->p_vaddr + p->p_memsz) & ~(page - 1);
    }
    for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) read_entry(m, dynamic);
    return m->symbols && m->strings;
}

bool ompp_dso_has(const ompp_dso_t *m, const void *address)
{
    const uintptr_t offset = (uintptr_t)address - m->base;

    for (unsigned i = 0; i < m->nheaders; i++)
        if (m->headers[i].p_type == PT_LOAD && offset >= m->headers[i].p_vaddr &&
            offset - m->headers[i].p_vaddr < m->headers[i].p_memsz)
            return true;
    return false;
}

/* ---- What it defines --------------------------------------------------------------------------------------------- */

/* As DT_GNU_HASH has it. */
uint32_t ompp_dso_hash(const char *name)
{
    uint32_t hash = 5381;

    for (; *name; name++) hash = hash * 33 + (unsigned char)*name;
    return hash;
}

/* As DT_HASH has it. */
static uint32_t old_hash(const char *name)
{
    uint32_t hash = 0;

    for (; *name; name++) {
        hash = (hash << 4) + (unsigned char)*name;
        hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
    }
    return hash;
}

static void *address_of(const ompp_dso_t *m, uint32_t index, const char *name)
{
    const ElfW(Sym) *s = &m->symbols[index];
    const unsigned type = ELF64_ST_TYPE(s->st_info);

    if (s->st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_NOTYPE)) return NULL;
    return strcmp(m->strings + s->st_name, name) == 0 ? (void *)(m->base + s->st_value) : NULL;
}

static void *find_by_gnu_hash(const ompp_dso_t *m, const char *name, uint32_t hash)
{
    const uint32_t nbuckets = m->gnu_hash[0], first = m->gnu_hash[1], words = m->gnu_hash[2], shift = m->gnu_hash[3];
    const ElfW(Addr) *bloom = (const ElfW(Addr) *)(m->gnu_hash + 4);
    const uint32_t *buckets = (const uint32_t *)(bloom + words), *chains = buckets + nbuckets;
    const unsigned bits = 8 * sizeof *bloom;
    const ElfW(Addr) word = words ? bloom[hash / bits & (words - 1)] : 0;

    if (!nbuckets || !(word >> hash % bits & word >> (hash >> shift) % bits & 1)) return NULL;
    for (uint32_t i = buckets[hash % nbuckets]; i >= first && i; i++) {
        void *found = (chains[i - first] | 1) == (hash | 1) ? address_of(m, i, name) : NULL;
        if (found || chains[i - first] & 1) return found;
    }
    return NULL;
}

static void *find_by_hash(const ompp_dso_t *m, const char *name)
{
    const uint32_t nbuckets = m->hash[0], *chains = m->hash + 2 + nbuckets;
    void *found = NULL;

    for (uint32_t i = nbuckets ? m->hash[2 + old_hash(name) % nbuckets] : 0; i && !found; i = chains[i])
        found = address_of(m, i, name);
    return found;
}

void *ompp_dso_find(const ompp_dso_t *m, const char *name, uint32_t hash)
{
    if (m->gnu_hash) return find_by_gnu_hash(m, name, hash);
    return m->hash ? find_by_hash(m, name) : NULL;
}

/* ---- What the loader looks up for it ----------------------------------------------------------------------------- */

static bool is_slot(uint32_t type)
{
    for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++)
        if (type == slots[i]) return true;
    return false;
}

void ompp_dso_imports(const ompp_dso_t *m, ompp_dso_visit_t visit, void *data)
{
    for (int part = 0; part < 2; part++)
        for (size_t i = 0; m->relocations[part] && i < m->count[part]; i++) {
            const ElfW(Rela) *r = &m->relocations[part][i];
            const ElfW(Sym) *s = &m->symbols[ELF64_R_SYM(r->r_info)];
            const bool slot = is_slot((uint32_t)ELF64_R_TYPE(r->r_info)) && !(part == 0 && r->r_addend);
            if (!s->st_name) continue;
            visit(m,
                  &(ompp_dso_import_t){m->strings + s->st_name, s->st_shndx != SHN_UNDEF,
                                       slot ? (void **)(m->base + r->r_offset) : NULL},
                  data);
        }
}

bool ompp_dso_replace(const ompp_dso_t *m, void **slot, void *value)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)slot & ~(page - 1);
    const bool locked = (uintptr_t)slot >= m->relro_begin && (uintptr_t)slot < m->relro_end;

    if (locked && mprotect((void *)at, page, PROT_READ | PROT_WRITE) != 0) return false;
    __atomic_store_n(slot, value, __ATOMIC_RELEASE);
    if (locked) mprotect((void *)at, page, PROT_READ);
    return true;
}
