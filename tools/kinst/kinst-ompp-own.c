/** \file The wrapper's own options, for all of its parts. */
#include "tools/kinst/kinst-ompp.h"

#include <string.h>

kinst_own_t kinst_own = {.opari = OMPP_OPARI2, .opari_seconds = 10};

/* Is the word in a list that has commas? */
static bool listed(const char *list, const char *word)
{
    for (size_t length; *list; list += length + (list[length] != '\0')) {
        length = strcspn(list, ":,+");
        if (length == strlen(word) && memcmp(list, word, length) == 0) return true;
    }
    return false;
}

bool kinst_own_disables(const char *construct)
{
    for (size_t i = 0; i < kinst_own.opari_options.n; i++) {
        const char *option = kinst_own.opari_options.v[i];
        if (strncmp(option, "--disable=omp", 13) == 0 && (!option[13] || listed(option + 13, construct))) return true;
    }
    return false;
}
