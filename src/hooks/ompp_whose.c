/*
 * Data that lies where modules, threads and libraries have put it. A page of the map gets its structures when it is
 * touched first: no structure is made of what nobody uses.
 */
#define _GNU_SOURCE
#include "hooks/ompp_whose.h"

#include "base/ompp_pages.h"
#include "hooks/ompp_offsets.h"

#include "model/ompp_raw.h"
#include "structure/ompp_elf.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE (1ul << OMPP_MAP_PAGE_BITS)
#define AHEAD (64 * PAGE) /* of a large variable, so many bytes at once */
#define SEGMENTS 8
#define NAME_BYTES 400
#define PATH_BYTES 4096

/* A module of the process; lists of them are replaced as a whole, and former ones are left to those who read them. */
typedef struct {
    uintptr_t low, high, bias,
        tls_below; /* the template's copy begins so far below the thread pointer; 0 = elsewhere */
    size_t tls_size;
    char name[OMPP_RAW_NAME];
    bool ours, system;
    unsigned nsegments;
    struct {
        uintptr_t low, high;
        unsigned flags;
    } segment[SEGMENTS];
    const ompp_elf_symbols_t *data, *tls;
} module_t;

typedef struct {
    size_t n;
    module_t modules[];
} list_t;

bool ompp_whose_all;
static _Atomic(const list_t *) list;
static uintptr_t first_break;

/* ---- Modules ----------------------------------------------------------------------------------------------------- */

static uintptr_t thread_pointer(void)
{
#if defined(__x86_64__)
    uintptr_t at;

    __asm__("movq %%fs:0, %0" : "=r"(at));
    return at;
#else
    return 0;
#endif
}

static const module_t *module_at(uintptr_t address)
{
    const list_t *all = atomic_load_explicit(&list, memory_order_acquire);

    for (size_t i = 0; all && i < all->n; i++)
        if (address >= all->modules[i].low && address < all->modules[i].high) return &all->modules[i];
    return NULL;
}

static uintptr_t code_of(const module_t *m)
{
    for (unsigned i = 0; i < m->nsegments; i++)
        if (m->segment[i].flags & PF_X) return m->segment[i].low;
    return m->low;
}

static void read_symbols(module_t *m, const char *path)
{
    ompp_elf_t *elf = calloc(1, sizeof *elf);

    if (!elf || ompp_elf_open(elf, path, NULL) != 0) {
        free(elf);
        return;
    }
    m->data = ompp_elf_objects(elf); /* elf stays for them, without its file */
    m->tls = ompp_elf_thread_objects(elf);
    close(elf->fd);
    elf->fd = -1;
}

static void read_segments(module_t *m, const struct dl_phdr_info *info)
{
    m->low = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const uintptr_t begin = info->dlpi_addr + p->p_vaddr, end = begin + p->p_memsz;
        if (p->p_type == PT_TLS) m->tls_size = p->p_memsz;
        if (p->p_type != PT_LOAD) continue;
        if (begin < m->low) m->low = begin;
        if (end > m->high) m->high = end;
        if (m->nsegments < SEGMENTS) {
            m->segment[m->nsegments].low = begin;
            m->segment[m->nsegments].high = end;
            m->segment[m->nsegments++].flags = p->p_flags;
        }
    }
}

typedef struct {
    const list_t *before;
    list_t *now;
    size_t room;
} look_t;

static int count_module(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)info, (void)size;
    ++*(size_t *)data;
    return 0;
}

static int take_module(struct dl_phdr_info *info, size_t size, void *data)
{
    look_t *look = data;
    const bool is_program = look->now->n == 0;
    static char program[PATH_BYTES]; /* the loader lets one in at a time */
    const ssize_t length = is_program ? readlink("/proc/self/exe", program, sizeof program - 1) : 0;
    const char *path = is_program ? program : info->dlpi_name;

    (void)size, (void)length;
    if (look->now->n == look->room) return 1;
    module_t *m = &look->now->modules[look->now->n++];
    *m = (module_t){.bias = info->dlpi_addr};
    read_segments(m, info);
    for (size_t i = 0; look->before && i < look->before->n; i++)
        if (look->before->modules[i].low == m->low && look->before->modules[i].high == m->high) {
            *m = look->before->modules[i];
            return 0;
        }
    const char *slash = path ? strrchr(path, '/') : NULL;
    snprintf(m->name, sizeof m->name, "%.79s", slash ? slash + 1 : path ? path : "");
    const ompp_owner_t owner = ompp_unwind_owner(code_of(m));
    for (char *c = m->name; *c; c++) *c = ompp_raw_letter(*c);
    m->ours = owner == OMPP_OWNER_OURS;
    m->system = !is_program && owner != OMPP_OWNER_PROGRAM;
    if (m->tls_size && info->dlpi_tls_data) m->tls_below = thread_pointer() - (uintptr_t)info->dlpi_tls_data;
    if (path && (*path == '/' || is_program) && !m->ours) read_symbols(m, path);
    return 0;
}

static bool is_in(const list_t *all, const module_t *m)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->modules[i].low == m->low && all->modules[i].high == m->high) return true;
    return false;
}

/* At the addresses of a module that is closed another one may lie next, and at those of a new one other data has. */
static void forget_others(const list_t *some, const list_t *than)
{
    for (size_t i = 0; i < some->n; i++) {
        const module_t *m = &some->modules[i];
        if (is_in(than, m) || !ompp_data_try()) continue;
        ompp_map_put(0, m->low, m->high);
        ompp_data_done();
    }
}

void ompp_whose_refresh(void)
{
    size_t n = 0;

    if (!ompp_whose_all) return;
    look_t look = {.before = atomic_load(&list)};
    dl_iterate_phdr(count_module, &n);
    look.room = n + 8;
    look.now = calloc(1, sizeof *look.now + look.room * sizeof(module_t));
    if (!look.now) return;
    dl_iterate_phdr(take_module, &look);
    if (look.before) {
        forget_others(look.before, look.now);
        forget_others(look.now, look.before);
    }
    atomic_store_explicit(&list, look.now, memory_order_release);
}

size_t ompp_whose_place(uintptr_t address, char *text, size_t size)
{
    const module_t *m = module_at(address);
    const int n =
        m ? snprintf(text, size, "%s+%lx", m->name, (unsigned long)(address - m->bias)) : snprintf(text, size, "?");

    return n > 0 && (size_t)n < size ? (size_t)n : 0;
}

void ompp_whose_each_variable(ompp_whose_visit_t *visit, void *data)
{
    const list_t *all = atomic_load(&list);

    for (size_t i = 0; all && i < all->n; i++) {
        const module_t *m = &all->modules[i];
        if (m->ours || m->system || !m->data) continue;
        for (size_t k = 0; k < m->data->n; k++) {
            const uintptr_t low = m->bias + m->data->items[k].low, high = m->bias + m->data->items[k].high;
            for (unsigned s = 0; s < m->nsegments; s++)
                if ((m->segment[s].flags & PF_W) && low >= m->segment[s].low && high <= m->segment[s].high)
                    visit(low, high, data);
        }
    }
}

/* ---- Painting: between ompp_data_try() and ompp_data_done() ---------------------------------------------------- */

uint32_t ompp_whose_object(const char *name, uint64_t address, uint64_t size)
{
    const uint32_t number = ompp_data_object(name, address, size);

    if (number) ompp_counter_expect(number);
    return number;
}

__attribute__((format(printf, 3, 4))) static uint32_t object(uint64_t address, uint64_t size, const char *format, ...)
{
    char name[NAME_BYTES];
    va_list list_of;

    va_start(list_of, format);
    vsnprintf(name, sizeof name, format, list_of);
    va_end(list_of);
    return ompp_whose_object(name, address, size);
}

uint32_t ompp_whose_unknown(const char *why) { return object(0, 0, "%cu %s", OMPP_RAW_MARK, why); }

static bool is_bare(uintptr_t address) { return (*ompp_map_entry(address) & OMPP_MAP_LOW) == 0; }

/* What a page of a module is where no variable lies. */
static uint32_t rest_of(const module_t *m, uintptr_t page)
{
    for (unsigned i = 0; i < m->nsegments; i++) {
        if (page + PAGE <= m->segment[i].low || page >= m->segment[i].high) continue;
        const unsigned flags = m->segment[i].flags;
        const char kind = flags & PF_W ? 'd' : flags & PF_X ? 'c' : 'r';
        return object(m->segment[i].low, m->segment[i].high - m->segment[i].low, "%c%c %s", OMPP_RAW_MARK, kind,
                      m->name);
    }
    return 0;
}

/* Index of the first symbol that may reach beyond an address: symbols are in the order of their beginnings. */
static size_t first_symbol(const ompp_elf_symbols_t *symbols, uint64_t address)
{
    size_t low = 0, high = symbols->n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (symbols->items[middle].low <= address) low = middle + 1;
        else high = middle;
    }
    while (low > 0 && symbols->items[low - 1].high > address) low--;
    return low;
}

/* From a page on, as far as whole pages behind it are bare. */
static uintptr_t end_of_bare(uintptr_t page, uintptr_t end)
{
    uintptr_t at = page + PAGE;

    if (end <= at) return end;
    if (end > page + AHEAD) end = page + AHEAD;
    while (at + PAGE <= end && is_bare(at)) at += PAGE;
    return at;
}

/* base: address of the module's, or of the thread's copy. */
static void paint_symbols(const module_t *m, const ompp_elf_symbols_t *symbols, uintptr_t base, char kind,
                          uintptr_t page)
{
    for (size_t i = first_symbol(symbols, page > base ? page - base : 0); i < symbols->n; i++) {
        const ompp_elf_symbol_t *s = &symbols->items[i];
        const uintptr_t low = base + s->low, high = base + s->high;
        if (low >= page + PAGE) return;
        if (high <= page || (i > 0 && s[-1].low == s->low && s[-1].high == s->high)) continue;
        const uint32_t number =
            object(low, high - low, "%c%c %s+%lx %.200s", OMPP_RAW_MARK, kind, m->name, (unsigned long)s->low, s->name);
        if (number) ompp_counter_put(number, low > page ? low : page, end_of_bare(page, high));
        if (kind == 'g') ompp_offsets_begin(number, low);
    }
}

static void paint_module(const module_t *m, uintptr_t page)
{
    const uint32_t rest = rest_of(m, page);

    if (rest) ompp_counter_put(rest, page, page + PAGE);
    if (m->data) paint_symbols(m, m->data, m->bias, 'g', page);
}

/* Variables of threads, which lie below the thread pointer. */
static bool paint_thread(uintptr_t page)
{
    const list_t *all = atomic_load_explicit(&list, memory_order_acquire);
    const uintptr_t top = thread_pointer();
    bool painted = false;

    for (size_t i = 0; all && i < all->n; i++) {
        const module_t *m = &all->modules[i];
        const uintptr_t begin = top - m->tls_below, end = begin + m->tls_size;
        if (!m->tls_below || page + PAGE <= begin || page >= end) continue;
        if (m->tls) paint_symbols(m, m->tls, begin, 't', page);
        painted = true;
    }
    return painted;
}

/* A page that no structure is in. */
static void paint_bare(uintptr_t page)
{
    const module_t *m = module_at(page);

    if (!m) m = module_at(page + PAGE - 1);
    const bool is_stack = !m && ompp_counter_in_stack(page) != NULL;
    if (m) paint_module(m, page);
    else if (is_stack) ompp_map_put(OMPP_WHOSE_STACK, page, page + PAGE);
    if (!m && paint_thread(page)) return;
    if (m || is_stack) return;
    const bool is_heap = page >= first_break && page < ompp_heap_end();
    const uint32_t unknown =
        ompp_whose_unknown(is_heap ? "blocks that libraries allocate" : "memory that libraries map");
    if (unknown) ompp_counter_put(unknown, page, page + PAGE);
}

/* Others that access it meanwhile find all of its structures, or none yet. */
void ompp_whose_paint_page(uintptr_t address)
{
    const uintptr_t page = address & ~(PAGE - 1);

    if (!is_bare(page)) return;
    ompp_map_hold(page);
    paint_bare(page);
    ompp_map_release();
}

void ompp_whose_paint(uintptr_t address)
{
    const int saved = errno;

    if (ompp_data_try()) {
        ompp_whose_paint_page(address);
        ompp_data_done();
    }
    errno = saved;
}

/* ---- Start ------------------------------------------------------------------------------------------------------- */

void ompp_whose_thread(ompp_whose_thread_t *thread)
{
    if (ompp_whose_all) ompp_unwind_thread_begin(&thread->unwind);
}

void ompp_whose_start(void)
{
    if (!ompp_data_wants_all()) return;
    ompp_unwind_start();
    first_break = ompp_heap_end(); /* what libraries have got before is theirs, too: the break began lower */
    first_break &= ~0xffffffful;
    ompp_whose_all = true;
    ompp_whose_refresh();
}
