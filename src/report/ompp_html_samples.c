/**
 * \file
 * Samples with the call paths of their own, and the text of source files, as lists of the page.
 */
#define _GNU_SOURCE /* getline */
#include "report/ompp_html_priv.h"

#include "analysis/ompp_sample_sums.h"
#include "base/ompp_path.h"
#include "base/ompp_regular.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define MOST_OF_A_FILE ((size_t)1 << 20) /* bytes of text */
#define MOST_OF_ALL ((size_t)6 << 20)

/* ---- Samples ----------------------------------------------------------------------------------------------------- */

static void put_table(ompp_html_t *h, const char *key, const ompp_sampled_t *rows, size_t n)
{
    ompp_json_open(&h->json, key, '['); /* region, own, all */
    for (size_t i = 0; i < n; i++) {
        ompp_json_open(&h->json, NULL, '[');
        ompp_json_number(&h->json, NULL, rows[i].index);
        ompp_json_number(&h->json, NULL, rows[i].own_ns);
        ompp_json_number(&h->json, NULL, rows[i].all_ns);
        ompp_json_close(&h->json, ']');
    }
    ompp_json_close(&h->json, ']');
}

static bool is_shown(const ompp_profile_t *p, const ompp_samples_t *s, uint32_t node)
{
    return s->inclusive_ns[node] && p->regions[p->nodes[node].region].construct != OMPP_CONSTRUCT_SOURCE_LINE;
}

/* Time of a node's own, with its lines. */
static void find_own(const ompp_profile_t *p, const ompp_samples_t *s, uint64_t *own)
{
    for (uint32_t n = (uint32_t)p->nnodes; n-- > 1;) {
        if (!is_shown(p, s, n)) continue;
        own[n] += s->inclusive_ns[n];
        own[p->nodes[n].parent] -= s->inclusive_ns[n]; /* of the root, that is what is in no function */
    }
    own[0] += s->total_ns;
}

static bool put_tree(ompp_html_t *h, const ompp_profile_t *p, const ompp_samples_t *s)
{
    uint32_t *place = calloc(p->nnodes, sizeof *place), n = 1;
    uint64_t *own = calloc(p->nnodes, sizeof *own);
    const bool ok = place && own;

    if (ok) {
        find_own(p, s, own);
        ompp_json_open(&h->json, "tree", '{');
        ompp_json_open(&h->json, "parent", '[');
        ompp_json_number(&h->json, NULL, 0);
        for (uint32_t i = 1; i < p->nnodes; i++) {
            if (!is_shown(p, s, i)) continue;
            place[i] = n++;
            ompp_json_number(&h->json, NULL, place[p->nodes[i].parent]);
        }
        ompp_json_close(&h->json, ']');
        ompp_json_open(&h->json, "region", '[');
        ompp_json_number(&h->json, NULL, 0);
        for (uint32_t i = 1; i < p->nnodes; i++)
            if (place[i]) ompp_json_number(&h->json, NULL, p->nodes[i].region + 1);
        ompp_json_close(&h->json, ']');
        ompp_json_open(&h->json, "all", '[');
        ompp_json_number(&h->json, NULL, s->total_ns);
        for (uint32_t i = 1; i < p->nnodes; i++)
            if (place[i]) ompp_json_number(&h->json, NULL, s->inclusive_ns[i]);
        ompp_json_close(&h->json, ']');
        ompp_json_open(&h->json, "own", '[');
        for (uint32_t i = 0; i < p->nnodes; i++)
            if (place[i] || !i) ompp_json_number(&h->json, NULL, own[i]);
        ompp_json_close(&h->json, ']');
        ompp_json_close(&h->json, '}');
    }
    free(place);
    free(own);
    return ok;
}

static bool put_samples(ompp_html_t *h, const ompp_profile_t *p, const ompp_samples_t *s)
{
    ompp_json_open(&h->json, "samples", '{');
    ompp_json_number(&h->json, "count", s->total);
    ompp_json_number(&h->json, "time", s->total_ns);
    ompp_json_number(&h->json, "processor", ompp_samples_cpu_ns(p));
    ompp_json_open(&h->json, "owners", '[');
    for (unsigned o = 0; o < OMPP_CODE_OWNERS; o++) {
        if (!s->owner_ns[o]) continue;
        ompp_json_open(&h->json, NULL, '[');
        ompp_json_string(&h->json, NULL, ompp_code_owner_names[o]);
        ompp_json_number(&h->json, NULL, s->owner_ns[o]);
        ompp_json_close(&h->json, ']');
    }
    ompp_json_close(&h->json, ']');
    put_table(h, "functions", s->functions, s->nfunctions);
    put_table(h, "loops", s->loops, s->nloops);
    put_table(h, "lines", s->lines, s->nlines);
    const bool ok = put_tree(h, p, s);
    ompp_json_close(&h->json, '}');
    return ok;
}

/* ---- Source ------------------------------------------------------------------------------------------------------ */

/* A profile may name any file, and the page goes to others: files that look like something else stay where they are. */
static bool is_source(const char *path)
{
    static const char *const endings[] = {"c",   "h",   "cc",  "cpp", "cxx", "c++", "hh",  "hpp", "hxx", "ipp", "inl",
                                          "tcc", "cu",  "cuh", "f",   "for", "ftn", "f77", "f90", "f95", "f03", "f08",
                                          "f18", "fpp", "inc", "m",   "mm",  "y",   "l",   "s",   "rs"};
    const char *dot = strrchr(ompp_path_last(path), '.');

    for (size_t i = 0; dot && i < sizeof endings / sizeof endings[0]; i++)
        if (strcasecmp(dot + 1, endings[i]) == 0) return true;
    return false;
}

/* The text of a file; NULL when there is none, or too much of it. */
static char *read_source(const char *path, size_t most)
{
    const int fd = is_source(path) ? ompp_regular_open(path) : -1;
    char *text = fd < 0 ? NULL : malloc(most + 1);
    size_t n = 0;
    ssize_t got = 0;

    while (text && n < most && (got = read(fd, text + n, most - n)) > 0) n += (size_t)got;
    if (fd >= 0) close(fd);
    if (text) text[n] = '\0';
    if (text && got == 0 && n && !memchr(text, '\0', n)) return text;
    free(text);
    return NULL;
}

/* Files in which something was measured, those with the first regions first. */
static void put_sources(ompp_html_t *h, const ompp_profile_t *p, bool *wanted)
{
    size_t left = MOST_OF_ALL;

    ompp_json_open(&h->json, "sources", '{');
    for (uint32_t r = 0; r < p->nregions && left; r++) {
        const ompp_str_t file = p->regions[r].file;
        if (!wanted[file]) continue;
        wanted[file] = false;
        char *text = read_source(ompp_profile_text(p, file), left < MOST_OF_A_FILE ? left : MOST_OF_A_FILE);
        if (!text) continue;
        left -= strlen(text) < left ? strlen(text) : left;
        ompp_html_lines(h, ompp_profile_text(p, file), text);
        free(text);
    }
    ompp_json_close(&h->json, '}');
}

static bool put_all_sources(ompp_html_t *h, const ompp_profile_t *p, const ompp_samples_t *s)
{
    bool *wanted = calloc(p->nstrings + 1, sizeof *wanted);

    if (!wanted) return false;
    for (uint32_t n = 1; n < p->nnodes; n++) {
        const ompp_region_t *r = &p->regions[p->nodes[n].region];
        if (!ompp_construct_is_path(r->construct) && r->file < p->nstrings) wanted[r->file] = true;
    }
    for (size_t i = 0; i < s->nlines; i++)
        if (p->regions[s->lines[i].index].file < p->nstrings) wanted[p->regions[s->lines[i].index].file] = true;
    wanted[0] = false;
    put_sources(h, p, wanted);
    free(wanted);
    return true;
}

bool ompp_html_samples(ompp_html_t *h, const ompp_profile_t *p, bool source)
{
    ompp_samples_t samples;
    bool ok = true;

    if (ompp_samples_init(&samples, p) != 0) return false;
    if (samples.total) ok = put_samples(h, p, &samples);
    if (ok && source) ok = put_all_sources(h, p, &samples);
    ompp_samples_fini(&samples);
    return ok;
}
