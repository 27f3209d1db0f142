/*
 * Why there is nothing to tell, or no interval, and what the user can do for it.
 */
#include "analysis/ompp_ideal_clocks.h"
#include "analysis/ompp_whatif_priv.h"
#include "base/ompp_env.h"
#include "base/ompp_nearest.h"
#include "base/ompp_path.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TOO_SHORT_NS 10000000u /* a shorter run that tells nothing was too short, whatever else it lacks */
#define ENOUGH_VISITS 5        /* of a named point, as src/causal wants it */

/* ---- Settings ---------------------------------------------------------------------------------------------------- */

/* Settings that only one mode knows. */
static const struct {
    const char *name;
    ompp_whatif_mode_t mode;
} of_mode[] = {
    {"OMPP_CAUSAL_REGION", OMPP_WHATIF_DELAY},
    {"OMPP_CAUSAL_SPEEDUP", OMPP_WHATIF_DELAY},
    {"OMPP_CAUSAL_SEED", OMPP_WHATIF_DELAY},
    {"OMPP_CAUSAL_BUDGET", OMPP_WHATIF_VIRTUAL},
};

/* What it is when nobody sets it. */
static const char *unset(const char *name)
{
    for (size_t i = 0; i < ompp_env_nrows; i++)
        if (strcmp(ompp_env_rows[i].name, name) == 0) return ompp_env_rows[i].def;
    return "";
}

/* "2%" is 2. */
static bool says_the_same(const char *value, const char *other)
{
    const size_t length = strlen(other);
    const bool number = length > 0 && strspn(other, "0123456789") == length;

    return strncmp(value, other, length) == 0 && (!value[length] || (number && strcmp(value + length, "%") == 0));
}

const char *ompp_whatif_unused(const ompp_profile_t *p, size_t *next, const char **mode)
{
    for (; *next < sizeof of_mode / sizeof of_mode[0]; ++*next) {
        const char *name = of_mode[*next].name, *value = ompp_profile_setting(p, name);
        if (p->whatif.mode == of_mode[*next].mode || !*value || says_the_same(value, unset(name))) continue;
        *mode = ompp_whatif_modes[of_mode[*next].mode];
        ++*next;
        return name;
    }
    return NULL;
}

/* ---- A region that is named in another way than it is called ----------------------------------------------------- */

/* "R00003", as reports number regions. \return 0 = it is no such number. */
static uint32_t number_of(const char *wanted)
{
    const char *digits = wanted + (*wanted == 'R' || *wanted == 'r');

    return strspn(digits, "0123456789") == strlen(digits) ? (uint32_t)strtoul(digits, NULL, 10) : 0;
}

/* file:line, or as reports print it: file (line-line). \return line; 0 = it is none. */
static uint32_t line_of(const char *wanted)
{
    const char *colon = strrchr(wanted, ':');

    if (colon && isdigit((unsigned char)colon[1])) return (uint32_t)strtoul(colon + 1, NULL, 10);
    for (const char *c = strchr(ompp_path_last(wanted), '('); c; c = strchr(c + 1, '('))
        if (isdigit((unsigned char)c[1])) return (uint32_t)strtoul(c + 1, NULL, 10);
    return 0;
}

static bool is_in_file(const ompp_profile_t *p, const ompp_region_t *r, const char *wanted)
{
    const char *file = ompp_path_last(ompp_profile_text(p, r->file)), *place = ompp_path_last(wanted),
               *at = strstr(place, file);
    const size_t length = strlen(file);

    return length > 0 && at && (at == place || at[-1] == ' ') && (at[length] == ':' || at[length] == ' ');
}

/* As reports print names: ('name'). \return whether the text has it. */
static bool has_label(const char *wanted, const char *name)
{
    const char *at = strstr(wanted, "('");

    return at && *name && strncmp(at + 2, name, strlen(name)) == 0 && at[2 + strlen(name)] == '\'';
}

/* What is in no region, in whatever brackets and letters. */
static bool is_outside(const char *wanted)
{
    const char *word = wanted + strspn(wanted, "( ");

    return strncasecmp(word, "outside", 7) == 0 && (!word[7] || strchr(" )", word[7]));
}

/* Where its code is: what a program knows of itself when lines and functions are found later. \return false = it is
 * known by its lines. */
static bool address_of(const ompp_profile_t *p, const ompp_region_t *r, char *text, size_t size)
{
    if (r->module == OMPP_NONE || !r->addr) return false;
    snprintf(text, size, "%s+0x%llx", ompp_path_last(ompp_profile_text(p, p->modules[r->module].path)),
             (unsigned long long)r->addr);
    return true;
}

static bool has_own_name(const ompp_region_t *r)
{
    return r->construct == OMPP_CONSTRUCT_USER_REGION || r->construct == OMPP_CONSTRUCT_MPI;
}

/* Whether experiments are made with a region that is named so: as src/causal knows it. */
static bool is_called(const ompp_profile_t *p, const ompp_region_t *r, const char *wanted)
{
    const char *name = ompp_profile_text(p, r->name);
    char place[600], address[600];
    const bool by_address = address_of(p, r, address, sizeof address);

    snprintf(place, sizeof place, "%s:%u", ompp_path_last(ompp_profile_text(p, r->file)), r->begin);
    if ((!by_address || has_own_name(r)) && strcmp(name, wanted) == 0) return true;
    return strcmp(by_address ? address : place, ompp_path_last(wanted)) == 0;
}

static bool is_there(const ompp_profile_t *p, const char *wanted)
{
    for (size_t i = 0; i < p->nregions; i++)
        if (is_called(p, &p->regions[i], wanted)) return true;
    return strcmp(wanted, OMPP_WHATIF_OUTSIDE) == 0;
}

/* Something to make experiments with, as far as clocks have seen work; all where they have seen none. \return owned,
 * [nregions]; NULL when out of memory. */
static bool *find_meant(const ompp_profile_t *p)
{
    bool *meant = calloc(p->nregions + 1, sizeof *meant), any = false;

    for (size_t i = p->whatif.nregions; meant && i-- > 0;) { /* the first one of a region counts */
        const ompp_whatif_region_t *w = &p->whatif.regions[i];
        any = any || w->total_ns;
        if (w->point == OMPP_NONE && w->region < p->nregions) meant[w->region] = w->total_ns > 0;
    }
    for (size_t r = 0; meant && r < p->nregions; r++)
        meant[r] =
            (meant[r] || !any) && p->regions[r].number != OMPP_NONE && p->regions[r].construct != OMPP_CONSTRUCT_LOCK;
    return meant;
}

/* How the user has to name it. A call of MPI has the name of others, too. */
static bool name_it(const ompp_profile_t *p, const ompp_region_t *r, char *text, size_t size)
{
    const char *name = ompp_profile_text(p, r->name), *file = ompp_path_last(ompp_profile_text(p, r->file));
    const bool named = *name && r->construct == OMPP_CONSTRUCT_USER_REGION;

    if (!named && address_of(p, r, text, size)) return true;
    if (*name) snprintf(text, size, "%s", name);
    else if (*file && r->begin) snprintf(text, size, "%s:%u", file, r->begin);
    else return false;
    return true;
}

/* The shortest region around a line of its file, or behind it the next one. */
static const ompp_region_t *region_at(const ompp_profile_t *p, const bool *meant, const char *wanted, uint32_t line)
{
    const ompp_region_t *best = NULL;
    uint32_t least = UINT32_MAX;

    for (size_t i = 0; i < p->nregions && line; i++) {
        const ompp_region_t *r = &p->regions[i];
        if (!meant[i] || !is_in_file(p, r, wanted) || !r->begin) continue;
        const uint32_t end = r->end > r->begin ? r->end : r->begin;
        const bool around = r->begin <= line && line <= end;
        const uint32_t far =
            around ? end - r->begin : UINT32_MAX / 2 + (line < r->begin ? r->begin - line : line - end);
        if (best && far >= least) continue;
        best = r;
        least = far;
    }
    return best;
}

static const ompp_region_t *region_like(const ompp_profile_t *p, const bool *meant, const char *wanted)
{
    ompp_nearest_t nearest;

    ompp_nearest_begin(&nearest, wanted);
    for (size_t i = 0; i < p->nregions; i++) {
        const char *name = ompp_profile_text(p, p->regions[i].name),
                   *function = ompp_profile_text(p, p->regions[i].function);
        if (!meant[i]) continue;
        if (*name) ompp_nearest_offer(&nearest, name, &p->regions[i]);
        if (*function) ompp_nearest_offer(&nearest, function, &p->regions[i]);
    }
    return nearest.n ? nearest.best[0].item : NULL;
}

/* By its number, or its name, behind its place if that is given, as reports print them. */
static const ompp_region_t *region_as_printed(const ompp_profile_t *p, const bool *meant, const char *wanted)
{
    const uint32_t number = number_of(wanted), line = line_of(wanted);

    for (size_t i = 0; i < p->nregions; i++) {
        const ompp_region_t *r = &p->regions[i];
        const bool here = !line || (r->begin == line && is_in_file(p, r, wanted));
        const bool printed =
            (number && r->number == number) || (here && has_label(wanted, ompp_profile_text(p, r->name)));
        if (printed && meant[i]) return r;
    }
    return NULL;
}

/* As a shell takes it. */
static void quote(char *text, size_t size)
{
    char bare[600];

    if (!strpbrk(text, " ()<>&;|*?$~#'\"")) return;
    snprintf(bare, sizeof bare, "%s", text);
    snprintf(text, size, "'%s'", bare);
}

bool ompp_whatif_meant(const ompp_profile_t *p, char *text, size_t size, uint32_t *region)
{
    const char *wanted = ompp_whatif_chosen(p);

    *region = OMPP_NONE;
    if (!wanted) return false;
    bool *meant = find_meant(p);
    const ompp_region_t *r = meant ? region_as_printed(p, meant, wanted) : NULL;
    if (!r && meant) r = region_at(p, meant, wanted, line_of(wanted));
    if (!r && meant && !is_outside(wanted)) r = region_like(p, meant, wanted);
    free(meant);
    if (!r && is_outside(wanted)) {
        snprintf(text, size, "%s", OMPP_WHATIF_OUTSIDE);
        quote(text, size);
        return true;
    }
    if (!r || !name_it(p, r, text, size)) return false;
    quote(text, size);
    *region = (uint32_t)(r - p->regions);
    return true;
}

/* ---- Results, or none -------------------------------------------------------------------------------------------- */

uint32_t ompp_whatif_leader(const ompp_whatif_t *w)
{
    uint64_t most = ENOUGH_VISITS - 1;
    uint32_t leader = OMPP_NONE;

    for (uint32_t i = 0; i < w->npoints; i++) {
        if (w->points[i].kind != OMPP_WHATIF_THROUGHPUT || w->points[i].automatic || w->points[i].visits <= most)
            continue;
        most = w->points[i].visits;
        leader = i;
    }
    for (uint32_t i = 0; leader == OMPP_NONE && i < w->npoints; i++)
        if (w->points[i].automatic == 2) return i;
    return leader;
}

/* What is outside of regions is none. */
static bool any_region(const ompp_whatif_t *w)
{
    for (size_t i = 0; i < w->nregions; i++)
        if (w->regions[i].region != OMPP_NONE) return true;
    return false;
}

const char *ompp_whatif_why(const ompp_profile_t *p)
{
    const ompp_whatif_t *w = &p->whatif;

    if (w->why) return ompp_profile_text(p, w->why);
    if (ompp_whatif_any(p)) return NULL;
    if (w->time_ns < TOO_SHORT_NS) return "the run is too short";
    if (!any_region(w))
        return "no region was followed: the program has none (OpenMP, MPI, functions, OMPP_REGION), or none that "
               "worked long enough";
    if (ompp_whatif_chosen(p) && !is_there(p, ompp_whatif_chosen(p)))
        return "no region is called what OMPP_CAUSAL_REGION says";
    if (w->mode == OMPP_WHATIF_VIRTUAL)
        return "the program ended, not by itself, before its virtual clocks were written for the first time";
    return "no experiment came to its end: the run is too short, or does not come to a progress point (OMPP_PROGRESS)";
}

const char *ompp_whatif_no_interval(const ompp_profile_t *p, const ompp_whatif_result_t *results, size_t n)
{
    const ompp_whatif_t *w = &p->whatif;
    bool points = false, wide = false, unsynchronised = false;

    if (!ompp_whatif_any(p) || w->why) return NULL;
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++) {
            if (results[i].gains[k].interval == OMPP_INTERVAL_KNOWN) return NULL;
            wide = wide || results[i].gains[k].interval == OMPP_INTERVAL_WIDE;
            unsynchronised = unsynchronised || results[i].gains[k].interval == OMPP_INTERVAL_UNSYNCHRONISED;
        }
    if (unsynchronised)
        return "ranks end experiments at different moments, where a unit of work more or less is too much";
    if (wide) return "parts of the run differ too much, or are too few";
    for (size_t i = 0; i < w->npoints; i++) points = points || w->points[i].kind == OMPP_WHATIF_THROUGHPUT;
    if (points && p->whatif.suspended_ns > p->whatif.time_ns / 2)
        return "fewer than 4 blocks between visits of progress points: clocks were suspended; longer runs, or "
               "OMPP_CAUSAL_BUDGET=100";
    if (points) return "too short: fewer than 4 blocks between visits of progress points";
    return "no progress point was named (OMPP_PROGRESS), and none is regular";
}

/* One line for a terminal. */
static void make_plain(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 127) *text = '?';
}

/* "A, B are not used: they are for OMPP_CAUSAL=delay". \return how many characters that is, without the end. */
static size_t name_unused(const ompp_profile_t *p, const char *of_mode, char *text, size_t size)
{
    const char *name, *mode = NULL;
    size_t length = 0, names = 0;

    for (size_t next = 0; (name = ompp_whatif_unused(p, &next, &mode)) && length < size;)
        if (strcmp(mode, of_mode) == 0)
            length += (size_t)snprintf(text + length, size - length, "%s%s", names++ ? ", " : "", name);
    if (names && length < size)
        length += (size_t)snprintf(text + length, size - length,
                                   names > 1 ? " are not used: they are for OMPP_CAUSAL=%s"
                                             : " is not used: it is for OMPP_CAUSAL=%s",
                                   of_mode);
    return length < size ? length : size - 1;
}

static void name_all_unused(const ompp_profile_t *p, char *text, size_t size)
{
    const char *delay = ompp_whatif_modes[OMPP_WHATIF_DELAY], *clocks = ompp_whatif_modes[OMPP_WHATIF_VIRTUAL];
    const size_t length = name_unused(p, delay, text, size), next = length ? length + 2 : 0;

    if (next < size && name_unused(p, clocks, text + next, size - next) && length) memcpy(text + length, "; ", 2);
}

void ompp_whatif_notice(const ompp_profile_t *p, char *text, size_t size)
{
    const char *why = ompp_whatif_why(p), *chosen = ompp_whatif_chosen(p);
    char meant[600];
    uint32_t region;

    text[0] = '\0';
    if (p->whatif.mode == OMPP_WHATIF_OFF || ompp_whatif_is_unasked(p) || !why) {
        name_all_unused(p, text, size);
    } else if (chosen && strstr(why, "OMPP_CAUSAL_REGION") && ompp_whatif_meant(p, meant, sizeof meant, &region)) {
        snprintf(text, size, "no what-if result: %s (%.200s); nearest: OMPP_CAUSAL_REGION=%s", why, chosen, meant);
    } else if (chosen && strstr(why, "OMPP_CAUSAL_REGION")) {
        snprintf(text, size, "no what-if result: %s (%.200s); it takes %s", why, chosen, OMPP_WHATIF_REGION_FORMS);
    } else {
        snprintf(text, size, "no what-if result: %s%s%.200s", why, chosen ? "; OMPP_CAUSAL_REGION is " : "",
                 chosen ? chosen : "");
    }
    make_plain(text);
}
