#include "base/ompp_nearest.h"

#include <ctype.h>
#include <string.h>

#define MAX_LETTERS 127

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Levenshtein's. */
size_t ompp_nearest_distance(const char *a, const char *b)
{
    size_t n = strnlen(a, MAX_LETTERS), m = strnlen(b, MAX_LETTERS), row[MAX_LETTERS + 1];

    for (size_t j = 0; j <= m; j++) row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            const size_t changed = corner + (toupper((unsigned char)a[i - 1]) != toupper((unsigned char)b[j - 1]));
            corner = row[j];
            row[j] = least(changed, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[m];
}

void ompp_nearest_begin(ompp_nearest_t *nearest, const char *wanted)
{
    const size_t n = strlen(wanted);

    *nearest = (ompp_nearest_t){.wanted = wanted, .limit = n < 6 ? 2 : n / 3};
    if (n > 0 && nearest->limit >= n) nearest->limit = n - 1; /* nothing of it would be left */
}

void ompp_nearest_offer(ompp_nearest_t *nearest, const char *name, const void *item)
{
    const size_t n = strnlen(nearest->wanted, MAX_LETTERS), m = strnlen(name, MAX_LETTERS), limit = nearest->limit;
    size_t at = nearest->n;

    if (n > m + limit || m > n + limit) return; /* known without looking at letters */
    const size_t distance = ompp_nearest_distance(nearest->wanted, name);
    if (distance > limit) return;
    while (at > 0 && nearest->best[at - 1].distance > distance) at--;
    if (at == OMPP_NEAREST_MAX) return;
    if (nearest->n < OMPP_NEAREST_MAX) nearest->n++;
    for (size_t k = nearest->n - 1; k > at; k--) nearest->best[k] = nearest->best[k - 1];
    nearest->best[at].item = item;
    nearest->best[at].distance = distance;
}
