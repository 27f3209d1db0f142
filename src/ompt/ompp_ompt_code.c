/*
 * Return addresses of libomp, and when they are wrong:
 *  - Some lie in libomp itself (of what it does for a taskloop).
 *  - libomp (14 to 19) notes the place of a call in the state of the calling thread, for as long as the call lasts; but
 *    that of the end of a critical section with its first thread, whoever ends it. What the first thread meets
 *    meanwhile has the other one's place, or none; and the end of the section may have the place that the first thread
 *    is at.
 * The stack is always right, and slow. So addresses of the first thread are held against it when they are new, and
 * those of ends are taken from it, once per region.
 */
#define _GNU_SOURCE
#include "ompt/ompp_ompt_code.h"

#include "base/ompp_hash.h"

#include <execinfo.h>
#include <link.h>
#include <stdint.h>

#define PLACE_CODE ((UINT64_C(1) << 56) - 1)

enum { STACK_DEPTH = 24, KNOWN_BITS = 8 };

ompp_code_range_t ompp_code_runtime;
static ompp_code_range_t our_range;
static __thread bool is_first __attribute__((tls_model("initial-exec"))); /* libomp's first thread */
/* Places of the first thread that the stack has confirmed: addresses, with the construct in the highest byte. */
static uintptr_t known[1 << KNOWN_BITS];

typedef struct {
    const void *address;
    ompp_code_range_t range;
} range_search_t;

static int match_range(struct dl_phdr_info *info, size_t size, void *argument)
{
    range_search_t *search = argument;
    ompp_code_range_t range = {UINTPTR_MAX, 0};

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + p->p_vaddr;
        if (p->p_type != PT_LOAD) continue;
        if (start < range.low) range.low = start;
        if (start + p->p_memsz > range.high) range.high = start + p->p_memsz;
    }
    if (!ompp_code_is_in(&range, search->address)) return 0;
    search->range = range;
    return 1;
}

static ompp_code_range_t range_of(const void *address)
{
    range_search_t search = {.address = address};

    dl_iterate_phdr(match_range, &search);
    return search.range;
}

void ompp_code_start(const void *in_runtime)
{
    void *frame;

    ompp_code_runtime = range_of(in_runtime);
    our_range = range_of(known);
    is_first = true;
    (void)backtrace(&frame, 1); /* the first call loads the unwinder: not in the middle of the program */
}

const void *ompp_code_by_stack(const void *code)
{
    void *stack[STACK_DEPTH];
    int n = backtrace(stack, STACK_DEPTH);

    /* libomp's frames; before them, there may be those of who stands in front of backtrace() (AddressSanitizer) */
    bool seen = false;

    for (int i = 0; i < n; i++) {
        if (ompp_code_is_runtime(stack[i])) seen = true;
        else if (seen && !ompp_code_is_in(&our_range, stack[i])) return stack[i];
    }
    return code;
}

void ompp_code_unloaded(uintptr_t low, uintptr_t high)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const uintptr_t code = known[i] & PLACE_CODE;
        if (code >= low && code < high) known[i] = 0;
    }
    if (ompp_code_runtime.low >= low && ompp_code_runtime.high <= high) ompp_code_runtime = (ompp_code_range_t){0, 0};
}

static const void *first_thread_code(ompp_construct_t construct, const void *code)
{
    uintptr_t place = (uintptr_t)code | (uintptr_t)construct << 56;
    uintptr_t *slot = &known[ompp_hash_place32((uint32_t)(place ^ place >> 32), KNOWN_BITS)];

    if (__builtin_expect(*slot == place, 1)) return code;
    const void *found = ompp_code_by_stack(code);
    if (found == code) *slot = place;
    return found;
}

const void *ompp_code_of(ompp_construct_t construct, const void *code)
{
    if (__builtin_expect(!code || ompp_code_is_runtime(code), 0)) return ompp_code_by_stack(code);
    return is_first ? first_thread_code(construct, code) : code;
}
