/*
 * Which loaded file an address lies in: asked of the C library without its lock, else of a table of our own
 * (ompp_unwind_start.c). And whether memory can be read.
 */
#define _GNU_SOURCE
#include "unwind/ompp_image_table_priv.h"
#include "unwind/ompp_unwind_priv.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define PAGE 4096u

/* ---- Readable memory --------------------------------------------------------------------------------------------- */

int ompp_probe_pid;

#if defined(__x86_64__)
/* By process_vm_readv(). */
static bool is_copied(uintptr_t at)
{
    uint64_t value;
    const struct iovec to = {&value, sizeof value}, from = {(void *)at, sizeof value};
    long result;
    register long n __asm__("r10") = (long)&from;
    register long one __asm__("r8") = 1;
    register long flags __asm__("r9") = 0;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"((long)SYS_process_vm_readv), "D"((long)ompp_probe_pid), "S"(&to), "d"(1l), "r"(n), "r"(one),
                       "r"(flags)
                     : "rcx", "r11", "memory");
    return result == sizeof value;
}
#endif

/* rt_sigprocmask() reads the new mask before it refuses to do something that does not exist. No other system call is
 * that harmless: it is never filtered, and needs no permission. */
bool ompp_is_readable(uintptr_t at)
{
#if defined(__x86_64__)
    if (at < PAGE) return false; /* for the system NULL is no address: there is no new mask */
    long result;
    if (ompp_probe_pid) return is_copied(at & ~(uintptr_t)7);
    register long size __asm__("r10") = 8;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"((long)SYS_rt_sigprocmask), "D"(~0l), "S"(at & ~(uintptr_t)7), "d"(0l), "r"(size)
                     : "rcx", "r11", "memory");
    return result != -EFAULT;
#else
    (void)at;
    return false;
#endif
}

bool ompp_walk_read_slow(ompp_walk_t *walk, uintptr_t at, uint64_t *value)
{
    const uintptr_t page = at & ~(uintptr_t)(PAGE - 1), last = (at + 7) & ~(uintptr_t)(PAGE - 1);

    if (last < page || !ompp_is_readable(page) || (last != page && !ompp_is_readable(last))) return false;
    if (walk->high - walk->low <= PAGE) {
        walk->low = page;
        walk->high = page + PAGE;
    }
    memcpy(value, (const void *)at, sizeof *value);
    return true;
}

/* ---- The table of our own ---------------------------------------------------------------------------------------- */

ompp_image_table_t ompp_image_tables[2];
_Atomic unsigned ompp_image_version, ompp_unwind_generation;
ompp_image_owned_t ompp_image_owned[OMPP_IMAGE_OWNED];
_Atomic unsigned ompp_image_nowned;

ompp_owner_t ompp_unwind_owner(uintptr_t address)
{
    const unsigned n = atomic_load_explicit(&ompp_image_nowned, memory_order_acquire);

    for (unsigned i = 0; i < n; i++) {
        const ompp_image_owned_t *owned = &ompp_image_owned[i];
        if (address >= owned->range.low && address < owned->range.high) return owned->owner;
    }
    return OMPP_OWNER_PROGRAM;
}

/* The table in use is never written; one that came after it may be while we read: then once more. A handler that has
 * interrupted the writer reads the one in use. */
static bool find_in_table(uintptr_t address, ompp_image_range_t *range)
{
    for (int tries = 0; tries < 4; tries++) {
        const unsigned version = atomic_load_explicit(&ompp_image_version, memory_order_acquire);
        const ompp_image_table_t *table = &ompp_image_tables[version & 1];
        size_t low = 0, high = table->n < OMPP_IMAGES ? table->n : OMPP_IMAGES;
        while (low < high) {
            const size_t middle = (low + high) / 2;
            if (table->items[middle].low <= address) low = middle + 1;
            else high = middle;
        }
        *range = low ? table->items[low - 1] : (ompp_image_range_t){0, 0};
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&ompp_image_version, memory_order_relaxed) == version)
            return address >= range->low && address < range->high;
    }
    return false;
}

/* ---- Program headers --------------------------------------------------------------------------------------------- */

static bool begins_with_header(const ompp_image_range_t *range)
{
    return range->high - range->low >= sizeof(ElfW(Ehdr)) && ompp_is_readable(range->low) &&
           memcmp((const void *)range->low, ELFMAG, SELFMAG) == 0;
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE
extern __typeof__(_dl_find_object) _dl_find_object __attribute__((weak));

static bool find_range(uintptr_t address, ompp_image_range_t *range)
{
    struct dl_find_object found;

    if (!_dl_find_object) return find_in_table(address, range);
    if (_dl_find_object((void *)address, &found) != 0) return false;
    range->low = (uintptr_t)found.dlfo_map_start;
    range->high = (uintptr_t)found.dlfo_map_end;
    /* of a program with pages between its segments the C library knows each segment alone */
    return begins_with_header(range) || find_in_table(address, range);
}
#else
static bool find_range(uintptr_t address, ompp_image_range_t *range) { return find_in_table(address, range); }
#endif

/* The file begins with its ELF header, and that is mapped where the file is: so linkers lay them out. */
bool ompp_image_map_find(uintptr_t address, ompp_image_map_t *image)
{
    ompp_image_range_t range;

    if (!find_range(address, &range) || !begins_with_header(&range)) return false;
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)range.low;
    const ElfW(Phdr) *phdr = (const ElfW(Phdr) *)(range.low + header->e_phoff);
    const uintptr_t end = (uintptr_t)(phdr + header->e_phnum);
    if (header->e_phentsize != sizeof *phdr || header->e_phoff > range.high - range.low || end > range.high ||
        header->e_phnum > 64 || !ompp_is_readable((uintptr_t)phdr) || !ompp_is_readable(end - 1))
        return false;
    *image = (ompp_image_map_t){.low = range.low, .high = range.high};
    bool based = false;
    for (unsigned i = 0; i < header->e_phnum && !based; i++) {
        if (phdr[i].p_type != PT_LOAD) continue;
        image->base = range.low - (phdr[i].p_vaddr & ~(uintptr_t)(PAGE - 1));
        based = true;
    }
    for (unsigned i = 0; i < header->e_phnum; i++) {
        const uintptr_t low = image->base + phdr[i].p_vaddr;
        if (low < range.low || low + phdr[i].p_memsz > range.high) continue;
        if (phdr[i].p_type == PT_GNU_EH_FRAME) image->eh_frame_hdr = low;
        if (phdr[i].p_type == PT_DYNAMIC) image->dynamic = low;
        if (phdr[i].p_type != PT_LOAD || !(phdr[i].p_flags & PF_R) || image->nsegments == OMPP_IMAGE_SEGMENTS) continue;
        image->segment[image->nsegments].low = low;
        image->segment[image->nsegments].high = low + phdr[i].p_memsz;
        image->segment[image->nsegments++].flags = phdr[i].p_flags;
    }
    image->entry = image->base + header->e_entry;
    return based;
}
