/*
 * Bounds of procedures in files without symbols for all of them (Tallent, Mellor-Crummey and Fagan, PLDI 2009, section
 * 2.1). Part of libompp-unwind.so; never called in a signal handler.
 *
 * Certain starts are exported symbols and the targets of direct calls. Between two of them, what follows a jump or a
 * return may be one, where no jump of the same interval leads across it.
 */
#define _GNU_SOURCE
#include "unwind/ompp_decoder_priv.h"

#include "base/ompp_vector.h"

#include <Zydis/Zydis.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct bounds {
    struct bounds *next;
    uintptr_t low, high; /* of the file */
    size_t n, room;
    uintptr_t *starts; /* ascending */
} bounds_t;

static _Atomic(bounds_t *) all; /* what is in it stays as it is */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool add(bounds_t *b, uintptr_t start)
{
    uintptr_t *added = ompp_vector_push(&b->starts, &b->n, &b->room, sizeof *added);

    if (added) *added = start;
    return added;
}

static int by_address(const void *a, const void *b)
{
    const uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

    return x < y ? -1 : x > y;
}

static void sort(bounds_t *b)
{
    size_t n = 0;

    if (!b->n) return;
    qsort(b->starts, b->n, sizeof *b->starts, by_address);
    for (size_t i = 0; i < b->n; i++)
        if (!n || b->starts[n - 1] != b->starts[i]) b->starts[n++] = b->starts[i];
    b->n = n;
}

/* ---- Certain starts ---------------------------------------------------------------------------------------------- */

/* The dynamic linker has made addresses of these entries. */
static uintptr_t run_time(const ompp_image_map_t *image, uintptr_t at)
{
    return at >= image->low ? at : image->base + at;
}

static void add_symbols(const ompp_image_map_t *image, bounds_t *b)
{
    const ElfW(Dyn) *dynamic = (const ElfW(Dyn) *)image->dynamic;
    uintptr_t symbols = 0, names = 0;

    if (!dynamic) return;
    for (; dynamic->d_tag != DT_NULL; dynamic++) {
        if (dynamic->d_tag == DT_SYMTAB) symbols = run_time(image, dynamic->d_un.d_ptr);
        if (dynamic->d_tag == DT_STRTAB) names = run_time(image, dynamic->d_un.d_ptr);
    }
    /* Nothing says how many there are; the names follow them in every file that linkers make. */
    if (!symbols || names <= symbols || !ompp_image_map_end(image, symbols, false) ||
        !ompp_image_map_end(image, names, false))
        return;
    for (const ElfW(Sym) *s = (const ElfW(Sym) *)symbols; (uintptr_t)(s + 1) <= names; s++) {
        const unsigned type = ELF64_ST_TYPE(s->st_info);
        if ((type == STT_FUNC || type == STT_GNU_IFUNC) && s->st_shndx != SHN_UNDEF && s->st_value)
            add(b, image->base + s->st_value);
    }
}

typedef struct {
    ZydisDecoder decoder;
    ZydisDecodedInstruction i;
} sweep_t;

/* One instruction; bytes that are none count as one. */
static uintptr_t sweep(sweep_t *s, uintptr_t at, uintptr_t end)
{
    if (ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&s->decoder, NULL, (const void *)at, end - at, &s->i)))
        return at + s->i.length;
    s->i.mnemonic = ZYDIS_MNEMONIC_INVALID;
    s->i.meta.category = ZYDIS_CATEGORY_INVALID;
    return at + 1;
}

/* Where a direct jump or call leads; 0: it is none. */
static uintptr_t target_of(const sweep_t *s, uintptr_t next)
{
    return s->i.raw.imm[0].is_relative ? next + (uintptr_t)s->i.raw.imm[0].value.s : 0;
}

static void add_call_targets(sweep_t *s, uintptr_t low, uintptr_t high, bounds_t *b)
{
    for (uintptr_t at = low, next; at < high; at = next) {
        next = sweep(s, at, high);
        const uintptr_t to = s->i.mnemonic == ZYDIS_MNEMONIC_CALL ? target_of(s, next) : 0;
        if (to >= low && to < high) add(b, to);
    }
}

/* ---- Likely starts ----------------------------------------------------------------------------------------------- */

static bool is_nop(const sweep_t *s)
{
    return s->i.mnemonic == ZYDIS_MNEMONIC_NOP || s->i.mnemonic == ZYDIS_MNEMONIC_INT3;
}

/* Between two certain starts. */
static void add_between(sweep_t *s, uintptr_t low, uintptr_t high, bounds_t *b)
{
    const size_t first = b->n;
    uintptr_t reach = low; /* jumps so far lead up to here */
    bool is_over = false;  /* the code before does not go on here */

    for (uintptr_t at = low, next; at < high; at = next) {
        next = sweep(s, at, high);
        if (is_over && is_nop(s)) continue;
        if (is_over && at > reach && s->i.mnemonic != ZYDIS_MNEMONIC_INVALID) add(b, at);
        const bool branches =
            s->i.meta.category == ZYDIS_CATEGORY_UNCOND_BR || s->i.meta.category == ZYDIS_CATEGORY_COND_BR;
        const uintptr_t to = branches ? target_of(s, next) : 0;
        if (to > reach && to < high) reach = to;
        if (to >= low && to < at)
            while (b->n > first && b->starts[b->n - 1] > to && b->starts[b->n - 1] != at) b->n--;
        is_over = s->i.meta.category == ZYDIS_CATEGORY_RET || s->i.meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
                  s->i.mnemonic == ZYDIS_MNEMONIC_UD2 || s->i.mnemonic == ZYDIS_MNEMONIC_HLT;
    }
}

static void find_all(const ompp_image_map_t *image, bounds_t *b)
{
    sweep_t s;

    ZydisDecoderInit(&s.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    add_symbols(image, b);
    for (unsigned i = 0; i < image->nsegments; i++)
        if (image->segment[i].flags & PF_X) {
            add(b, image->segment[i].low);
            add_call_targets(&s, image->segment[i].low, image->segment[i].high, b);
        }
    sort(b);
    const size_t certain = b->n;
    for (size_t i = 0; i < certain; i++) {
        const uintptr_t low = b->starts[i], end = ompp_image_map_end(image, low, true);
        add_between(&s, low, i + 1 < certain && b->starts[i + 1] < end ? b->starts[i + 1] : end, b);
    }
    sort(b);
}

/* ---- Use --------------------------------------------------------------------------------------------------------- */

static const bounds_t *find_file(const ompp_image_map_t *image)
{
    const bounds_t *b = atomic_load_explicit(&all, memory_order_acquire);

    while (b && (b->low != image->low || b->high != image->high)) b = b->next;
    return b;
}

void ompp_bounds_prepare(const ompp_image_map_t *image)
{
    pthread_mutex_lock(&lock);
    bounds_t *b = find_file(image) ? NULL : calloc(1, sizeof *b);
    if (b) {
        b->low = image->low;
        b->high = image->high;
        find_all(image, b);
        b->next = atomic_load_explicit(&all, memory_order_relaxed);
        atomic_store_explicit(&all, b, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
}

bool ompp_bounds_known(const ompp_image_map_t *image, uintptr_t address, uintptr_t *low, uintptr_t *high)
{
    const bounds_t *b = find_file(image);
    const uintptr_t end = ompp_image_map_end(image, address, true);
    size_t first = 0;

    if (!b || !end) return false;
    for (size_t last = b->n; first < last;) {
        const size_t middle = (first + last) / 2;
        if (b->starts[middle] <= address) first = middle + 1;
        else last = middle;
    }
    if (!first) return false;
    *low = b->starts[first - 1];
    *high = first < b->n && b->starts[first] < end ? b->starts[first] : end;
    return true;
}

bool ompp_bounds(const ompp_image_map_t *image, uintptr_t address, uintptr_t *low, uintptr_t *high)
{
    ompp_bounds_prepare(image);
    return ompp_bounds_known(image, address, low, high);
}
