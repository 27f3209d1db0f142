#define _GNU_SOURCE
#include "base/ompp_prefault.h"
#include "base/ompp_pages.h"

#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Of Linux 5.14; not in all headers. */
#define POPULATE_READ 22
#define POPULATE_WRITE 23

static void populate(uintptr_t begin, uintptr_t end, int advice)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = begin & ~(page - 1);
    const int saved = errno;

    if (begin < end)
        ompp_madvise((void *)first, end - first,
                     advice); /* by whole pages; when it cannot, they come as they are touched */
    errno = saved;
}

void ompp_prefault(void *at, size_t size) { populate((uintptr_t)at, (uintptr_t)at + size, POPULATE_WRITE); }

/* \param[in] function  const uintptr_t *. */
static int prefault_segments(struct dl_phdr_info *module, size_t size, void *function)
{
    const uintptr_t wanted = *(const uintptr_t *)function;
    uintptr_t relocated = 0; /* end of what is written by the loader alone */
    bool found = false;

    (void)size;
    for (unsigned i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &module->dlpi_phdr[i];
        const uintptr_t begin = module->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD) found |= wanted >= begin && wanted < begin + p->p_memsz;
        if (p->p_type == PT_GNU_RELRO) relocated = begin + p->p_memsz;
    }
    for (unsigned i = 0; found && i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &module->dlpi_phdr[i];
        const uintptr_t begin = module->dlpi_addr + p->p_vaddr, end = begin + p->p_filesz;
        if (p->p_type != PT_LOAD) continue;
        if (p->p_flags & PF_X) populate(begin, end, POPULATE_READ);
        if (p->p_flags & PF_W) populate(begin > relocated ? begin : relocated, end, POPULATE_WRITE);
    }
    return found;
}

void ompp_prefault_library(const void *function)
{
    uintptr_t at = (uintptr_t)function;

    dl_iterate_phdr(prefault_segments, &at);
}
