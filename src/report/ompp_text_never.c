/* Section "Regions Never Executed": ompP leaves these regions out, and only their missing numbers show that they
 * exist. */
#include "base/ompp_error.h"
#include "report/ompp_text_priv.h"

#include <stdlib.h>

static bool is_never(const ompp_text_t *t, uint32_t region)
{
    return t->profile->regions[region].flags & OMPP_REGION_F_LISTED && !t->places[region];
}

int ompp_text_never(ompp_text_t *t)
{
    size_t nregions = t->profile->nregions, n = 0;
    uint32_t *order = malloc((nregions + 1) * sizeof *order);

    if (!order) return -OMPP_E_NOMEM;
    for (uint32_t r = 0; r < nregions; r++) order[r] = OMPP_NONE;
    for (uint32_t r = 0; r < nregions; r++) {
        uint32_t number = t->profile->regions[r].number; /* from 1, each once */
        if (is_never(t, r) && number > 0 && number <= nregions) order[number - 1] = r, n++;
    }
    if (n) ompp_layout_title(t->out, "ompp Regions Never Executed");
    for (size_t i = 0; i < nregions; i++) {
        if (order[i] == OMPP_NONE) continue;
        char *place = ompp_text_place(t->profile, order[i]);
        const ompp_region_t *region = &t->profile->regions[order[i]];
        if (!place) break;
        fputs(" * ", t->out);
        ompp_layout_heading(t->out, region->number, place, ompp_constructs[region->construct].full);
        free(place);
    }
    if (n) putc('\n', t->out);
    free(order);
    return 0;
}
