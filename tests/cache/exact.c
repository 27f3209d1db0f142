/* Reuse distances of a program of one thread, all of them: what gcc's hooks are linked with in the place of ompp. */
#include "cache/ompp_reuse.h"

#include <stdio.h>
#include <stdlib.h>

enum { CAPACITY = 1 << 21, ROWS = 20, LEAST = 4 };

static ompp_reuse_t reuse;
static unsigned long rows[ROWS], references;

static void touch(const void *address)
{
    const uint32_t distance = ompp_reuse_touch(&reuse, (uintptr_t)address >> 6);
    unsigned row = 0;

    references++;
    if (distance < 1u << LEAST) return;
    while (row < ROWS - 2 && distance >> (LEAST + 1 + row)) row++;
    rows[distance == OMPP_REUSE_NEW ? ROWS - 1 : row]++;
}

__attribute__((constructor)) static void begin(void)
{
    ompp_reuse_init(&reuse, CAPACITY, calloc(1, ompp_reuse_bytes(CAPACITY)));
}

/* References, then the misses of caches of 1 KiB, 2 KiB and so on. */
__attribute__((destructor)) static void end(void)
{
    fprintf(stderr, "exact %lu", references);
    for (unsigned size = 0; size < ROWS - 1; size++) {
        unsigned long misses = 0;
        for (unsigned i = size; i < ROWS; i++) misses += rows[i];
        fprintf(stderr, " %lu", misses);
    }
    fputc('\n', stderr);
}

#define HOOK(name)            \
    void name(void *address); \
    void name(void *address) { touch(address); }
#define ALL(n) HOOK(__tsan_read##n) HOOK(__tsan_write##n) HOOK(__tsan_unaligned_read##n) HOOK(__tsan_unaligned_write##n)
ALL(1)
ALL(2)
ALL(4)
ALL(8)
ALL(16)

void __tsan_init(void);
void __tsan_init(void) {}
void __tsan_func_entry(void *code);
void __tsan_func_entry(void *code) { (void)code; }
void __tsan_func_exit(void);
void __tsan_func_exit(void) {}

static void range(char *address, size_t size)
{
    for (size_t at = 0; at < size; at += 64) touch(address + at);
}
void __tsan_read_range(void *address, size_t size);
void __tsan_read_range(void *address, size_t size) { range(address, size); }
void __tsan_write_range(void *address, size_t size);
void __tsan_write_range(void *address, size_t size) { range(address, size); }
