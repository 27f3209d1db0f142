/*
 * How a table grows; see ompp_table.h.
 */
#include "base/ompp_table.h"
#include "base/ompp_pages.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { FIRST_BITS = 6, FIRST_BITS_OF_PAGES = 10 };

static size_t size_of(const ompp_table_t *table) { return table->entries ? table->last + 1 : 0; }

/* The key's entry, or the free one where it belongs. */
static struct ompp_table_entry *entry_of(const ompp_table_t *table, uint64_t key)
{
    size_t i = ompp_hash_place(key, table->bits);

    while (table->entries[i].value && table->entries[i].key != key) i = (i + 1) & table->last;
    return &table->entries[i];
}

static void *zeroed(size_t n, size_t size, bool pages)
{
    if (!pages) return calloc(n, size);
    void *memory = ompp_mmap(NULL, n * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

bool ompp_table_reserve(ompp_table_t *table, size_t n)
{
    ompp_table_t bigger = *table;

    if (2 * n <= size_of(table)) return true;
    if (!table->entries) bigger.bits = table->pages ? FIRST_BITS_OF_PAGES : FIRST_BITS;
    while ((size_t)1 << bigger.bits < 2 * n) bigger.bits++;
    bigger.last = ((size_t)1 << bigger.bits) - 1;
    bigger.entries = zeroed(bigger.last + 1, sizeof *bigger.entries, bigger.pages);
    if (!bigger.entries) return false;
    for (size_t i = 0; i < size_of(table); i++)
        if (table->entries[i].value) *entry_of(&bigger, table->entries[i].key) = table->entries[i];
    ompp_table_fini(table);
    *table = bigger;
    return true;
}

bool ompp_table_set(ompp_table_t *table, uint64_t key, uint64_t value)
{
    if (!ompp_table_reserve(table, table->used + 1)) return false;
    struct ompp_table_entry *entry = entry_of(table, key);
    table->used += !entry->value;
    *entry = (struct ompp_table_entry){key, value};
    return true;
}

void ompp_table_fini(ompp_table_t *table)
{
    if (table->pages && table->entries) ompp_munmap(table->entries, size_of(table) * sizeof *table->entries);
    else free(table->entries);
    *table = (ompp_table_t){.pages = table->pages};
}
