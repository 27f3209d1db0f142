#include "base/ompp_interval.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const ompp_interval_t *x = a, *y = b;

    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->high != y->high) return x->high > y->high ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

/* From an interval that begins at or before the point on; whoever holds the point holds that one's begin, too. */
static uint32_t climb(const ompp_interval_t *intervals, uint32_t i, uint64_t point)
{
    while (i != OMPP_NO_INTERVAL && intervals[i].high <= point) i = intervals[i].around;
    return i;
}

void ompp_intervals_link(ompp_interval_t *intervals, size_t n)
{
    if (n > 1) qsort(intervals, n, sizeof *intervals, compare);
    for (uint32_t i = 0; i < n; i++)
        intervals[i].around = i ? climb(intervals, i - 1, intervals[i].low) : OMPP_NO_INTERVAL;
}

uint32_t ompp_intervals_last(const ompp_interval_t *intervals, size_t n, uint64_t point)
{
    size_t low = 0, high = n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (intervals[middle].low <= point) low = middle + 1;
        else high = middle;
    }
    return low ? climb(intervals, (uint32_t)low - 1, point) : OMPP_NO_INTERVAL;
}

uint32_t ompp_intervals_before(const ompp_interval_t *intervals, uint32_t index, uint64_t point)
{
    return climb(intervals, intervals[index].around, point);
}
