/** \file The wrapper's own options, for all of its parts. */
#include "tools/kinst/kinst-ompp.h"

#include <stdio.h>
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

/* What OPARI2 can leave out, and what the report calls it; NULL: several. */
static const struct {
    const char *word, *name;
} left_out[] = {{"atomic", "ATOMIC"}, {"critical", "CRITICAL"}, {"flush", "FLUSH"},   {"locks", "LOCK"},
                {"master", "MASTER"}, {"ordered", "ORDERED"},   {"single", "SINGLE"}, {"sync", NULL},
                {"task", "TASK"},     {"taskwait", "TASKWAIT"}};

static void note(const char *name)
{
    for (size_t i = 0; i < kinst_own.left_out.n; i += 2)
        if (strcmp(kinst_own.left_out.v[i], name) == 0) return;
    kinst_add(&kinst_own.left_out, name);
    kinst_add(&kinst_own.left_out, "left out at build: kinst-ompp --disable");
}

bool kinst_own_opari_option(const char *option)
{
    static const char ours[] = "--disable=omp:";
    const char *list = option + strlen(ours);
    bool known = true;

    kinst_add(&kinst_own.opari_options, option);
    if (strncmp(option, ours, strlen(ours)) != 0) return true;
    for (size_t length; *list; list += length + (list[length] != '\0')) {
        bool found = false;
        length = strcspn(list, ",");
        for (size_t i = 0; i < sizeof left_out / sizeof left_out[0]; i++) {
            if (strlen(left_out[i].word) != length || memcmp(left_out[i].word, list, length) != 0) continue;
            found = true;
            if (left_out[i].name) note(left_out[i].name);
            for (size_t k = 0; !left_out[i].name && k < i; k++) note(left_out[k].name);
        }
        known &= found;
    }
    return known;
}
