#include "report/ompp_text_path.h"

#include "base/ompp_path.h"
#include "base/ompp_utf8.h"
#include "report/ompp_text_priv.h"
#include "structure/ompp_name.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

size_t ompp_path_put(FILE *out, const char *text, size_t room)
{
    char *printable = ompp_text_printable(text, false);
    size_t used = 0;

    if (!printable) return 0;
    used = ompp_utf8_width(printable);
    if (used <= room) {
        fputs(printable, out);
    } else if (room > 3) {
        /* names are ASCII nearly always; others lose more than they need */
        fprintf(out, "%.*s...", (int)(room - 3), printable);
        used = room;
    }
    free(printable);
    return used < room ? used : room;
}

void ompp_path_place(const ompp_profile_t *p, const ompp_region_t *region, char *out, size_t size)
{
    const char *file = ompp_path_last(ompp_profile_text(p, region->file));

    if (*file && region->construct == OMPP_CONSTRUCT_SOURCE_LOOP && !region->name)
        snprintf(out, size, "%s:%" PRIu32 "-%" PRIu32, file, region->begin, region->end);
    else if (*file) snprintf(out, size, "%s:%" PRIu32, file, region->begin);
    else if (region->module < p->nmodules)
        snprintf(out, size, "%s", ompp_path_last(ompp_profile_text(p, p->modules[region->module].path)));
    else *out = '\0';
}

void ompp_path_name(const ompp_profile_t *p, const ompp_region_t *region, size_t room, char *out, size_t size)
{
    const char *name = ompp_profile_text(p, region->name);
    char *shorter = NULL;

    if (!*name) name = ompp_profile_text(p, region->function);
    if (strlen(name) > room) shorter = strdup(name);
    if (shorter) {
        ompp_name_shorten(shorter);
        name = shorter;
    }
    const char *rest = name;
    for (const char *next; strlen(rest) + (rest > name ? 3 : 0) > room && (next = strstr(rest, "::"));) rest = next + 2;
    snprintf(out, size, "%s%s", rest > name ? "..." : "", rest);
    free(shorter);
}

static bool is_loop(const ompp_profile_t *p, uint32_t node)
{
    return node && p->regions[p->nodes[node].region].construct == OMPP_CONSTRUCT_SOURCE_LOOP;
}

uint32_t ompp_path_caller(const ompp_profile_t *p, uint32_t node)
{
    do node = p->nodes[node].parent;
    while (is_loop(p, node));
    return node;
}
