/**
 * \file
 * Arrays that grow. The caller has the pointer to the elements, their number and the number that there is room for, all
 * 0 at first. The elements are memory of malloc(), owned by the caller: free() gives it back.
 */
#ifndef OMPP_VECTOR_H
#define OMPP_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { OMPP_VECTOR_FIRST = 16 };

/**
 * \brief Makes room for n elements, and for at least twice as many as there was room for.
 * \param[in,out] array      address of the pointer to the elements.
 * \param[in,out] allocated  elements that there is room for.
 * \param[in]     size       bytes of an element.
 * \return false when out of memory: all is as it was.
 */
static inline bool ompp_vector_reserve(void *array, size_t *allocated, size_t n, size_t size)
{
    size_t more = n > 2 * *allocated ? n : 2 * *allocated;
    void *items;

    if (n <= *allocated) return true;
    if (more < OMPP_VECTOR_FIRST) more = OMPP_VECTOR_FIRST;
    memcpy(&items, array, sizeof items);
    items = reallocarray(items, more, size);
    if (!items) return false;
    memcpy(array, &items, sizeof items);
    *allocated = more;
    return true;
}

/**
 * \brief Appends an element, which the caller fills in.
 * \param[in,out] n  number of elements; others as above.
 * \return the element, valid until the next one comes; NULL when out of memory: all is as it was.
 */
static inline void *ompp_vector_push(void *array, size_t *n, size_t *allocated, size_t size)
{
    char *items;

    if (!ompp_vector_reserve(array, allocated, *n + 1, size)) return NULL;
    memcpy(&items, array, sizeof items);
    return items + (*n)++ * size;
}

#endif
