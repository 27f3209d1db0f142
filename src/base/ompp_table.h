/**
 * \file
 * A hash table from numbers of 64 bits to numbers other than 0: indices + 1, or addresses. Open addressing, at most
 * half full; nothing is removed. One thread at a time writes, and nobody reads meanwhile.
 *
 * What has a longer key, or a text, is found by its hash (ompp_hash.h), see ompp_table_search().
 */
#ifndef OMPP_TABLE_H
#define OMPP_TABLE_H

#include "base/ompp_hash.h"

#include <stdbool.h>

/** An empty table is all 0, but for pages. Give its memory back with ompp_table_fini(). */
typedef struct {
    struct ompp_table_entry {
        uint64_t key, value; /* value 0 = free */
    } * entries;             /* [last + 1 = 2^bits], owned; NULL = none yet */
    size_t last, used;
    unsigned bits;
    bool pages; /* memory of mmap(): where the program may be in its allocator */
} ompp_table_t;

/** Whether the element with this value in a table is the wanted one. */
typedef bool ompp_table_equal_t(const void *elements, uint64_t value, const void *wanted);

/** \brief Makes room for n keys. \return false when out of memory: all is as it was. */
bool ompp_table_reserve(ompp_table_t *table, size_t n);

/* Seen by the other libraries in the process. */
#pragma GCC visibility push(default)

/**
 * \brief Gives a key its value, other than 0; a former value is replaced.
 * \return false when out of memory: all is as it was. Not where ompp_table_reserve() has made room.
 */
bool ompp_table_set(ompp_table_t *table, uint64_t key, uint64_t value);

/** \brief Gives its memory back; the table is empty. */
void ompp_table_fini(ompp_table_t *table);

#pragma GCC visibility pop

/** \return the value of a key; 0 = it has none. */
static inline uint64_t ompp_table_get(const ompp_table_t *table, uint64_t key)
{
    if (!table->entries) return 0;
    for (size_t i = ompp_hash_place(key, table->bits);; i = (i + 1) & table->last) {
        const struct ompp_table_entry *entry = &table->entries[i];
        if (entry->key == key || !entry->value) return entry->value;
    }
}

/**
 * \brief Finds an element by its hash among those with equal hashes.
 * \param[in,out] hash  of the wanted one; then the key under which it is found, or belongs.
 * \param[in] elements, wanted  for equal.
 * \return its value; 0 = there is none.
 */
static inline uint64_t ompp_table_search(const ompp_table_t *table, uint64_t *hash, ompp_table_equal_t *equal,
                                         const void *elements, const void *wanted)
{
    uint64_t value;

    while ((value = ompp_table_get(table, *hash)) && !equal(elements, value, wanted)) ++*hash;
    return value;
}

#endif
