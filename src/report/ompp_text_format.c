/**
 * \file
 * Small pieces of the text report: times, percentages, names, locations.
 */
#include "config.h"

#include "base/ompp_utf8.h"
#include "report/ompp_text_priv.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

ompp_seconds_t ompp_text_seconds_digits(uint64_t ns, int digits)
{
    ompp_seconds_t s;
    uint64_t unit = 1, parts;

    if (digits > 9) digits = 9; /* no more are asked for; GCC 14 wants to see that the text has room */
    for (int i = digits; i < 9; i++) unit *= 10;
    parts = 1000000000u / unit; /* units per second */
    uint64_t whole = ns / unit + (ns % unit >= unit - unit / 2);
    if (digits > 0) snprintf(s.text, sizeof s.text, "%" PRIu64 ".%0*" PRIu64, whole / parts, digits, whole % parts);
    else snprintf(s.text, sizeof s.text, "%" PRIu64, whole);
    return s;
}

ompp_seconds_t ompp_text_seconds(const ompp_text_t *t, uint64_t ns) { return ompp_text_seconds_digits(ns, t->digits); }

ompp_seconds_t ompp_text_short_seconds(const ompp_text_t *t, uint64_t ns)
{
    enum { SHORT_DIGITS = 4 };

    return ompp_text_seconds_digits(ns, t->digits == OMPP_REPORT_DIGITS ? SHORT_DIGITS : t->digits);
}

uint64_t ompp_text_mean(uint64_t sum, uint64_t n) { return sum / n + (sum % n >= n - n / 2); }

double ompp_text_percent(uint64_t a, uint64_t b) { return b ? 100.0 * (double)a / (double)b : 0; }

double ompp_text_part(double part)
{
    double value = round(1000 * part) / 10;

    return value == 0 ? 0 : value;
}

ompp_seconds_t ompp_text_share(uint64_t a, double b)
{
    ompp_seconds_t s;

    snprintf(s.text, sizeof s.text, "%.*f", OMPP_LAYOUT_DIGITS, b > 0 ? 100.0 * (double)a / b : 0.0);
    return s;
}

/* White space that is not a control character. */
static bool is_blank(uint32_t c)
{
    return c == ' ' || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
           c == 0x202f || c == 0x205f || c == 0x3000;
}

char *ompp_text_printable(const char *text, bool word)
{
    char *copy = malloc(strlen(text) + 1), *to = copy;
    uint32_t code;

    if (!copy) return NULL;
    while (*text) {
        size_t n = ompp_utf8_next(text, &code);
        if (n == 0) *to++ = '?';
        else if (word && (is_blank(code) || code == '\'')) *to++ = code == '\'' ? '`' : '_';
        else to = (char *)memcpy(to, text, n) + n;
        text += n ? n : 1;
    }
    *to = 0;
    return copy;
}

void ompp_text_put(const ompp_text_t *t, const char *text)
{
    char *printable = ompp_text_printable(text, false);

    if (printable) fputs(printable, t->out);
    free(printable);
}

bool ompp_text_is_listed(const ompp_text_t *t, const ompp_finding_t *f)
{
    const double basis = ompp_analysis_basis(t->profile);

    return basis > 0 && 100.0 * (double)f->lost_ns / basis >= OMPP_TEXT_LEAST_PERCENT;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

const char *ompp_text_file(const ompp_profile_t *profile, const ompp_region_t *region)
{
    const char *file = ompp_profile_text(profile, region->file);

    if (!*file && region->module != OMPP_NONE) file = ompp_profile_text(profile, profile->modules[region->module].path);
    return *file ? last_part(file) : "unknown";
}

/* "12-34", "12" or "<0x1f0>". */
static void lines_of(const ompp_profile_t *profile, const ompp_region_t *region, ompp_place_t place, char *out,
                     size_t size)
{
    bool known = *ompp_profile_text(profile, region->file) && region->begin;
    bool one = place == OMPP_PLACE_LINE || place == OMPP_PLACE_CALL || !region->end;

    if (place == OMPP_PLACE_ADDRESS || (!known && (region->module != OMPP_NONE || region->addr)))
        snprintf(out, size, "<0x%" PRIx64 ">", region->addr);
    else if (one) snprintf(out, size, "%" PRIu32, region->begin);
    else snprintf(out, size, "%" PRIu32 "-%" PRIu32, region->begin, region->end);
}

/* "a.c"; of code without lines, the module and the function, "libsolver.so:Domain::sweep+0x1f". */
static char *file_of(const ompp_profile_t *profile, const ompp_region_t *region)
{
    const char *file = ompp_text_file(profile, region), *function = ompp_profile_text(profile, region->function);
    char *both = NULL, *text;

    if (region->file || !*function || strpbrk(function, "() ")) return ompp_text_printable(file, true);
    if (asprintf(&both, "%s:%s", file, function) < 0) return NULL;
    text = ompp_text_printable(both, true);
    free(both);
    return text;
}

char *ompp_text_place(const ompp_profile_t *profile, uint32_t region)
{
    const ompp_region_t *r = &profile->regions[region];
    const ompp_construct_row_t *construct = &ompp_constructs[r->construct];
    bool address = construct->place == OMPP_PLACE_ADDRESS;
    char lines[48], *text = NULL, *file, *name;
    const char *unnamed = construct->place == OMPP_PLACE_NAMED ? " (unnamed)" : "";
    bool named = construct->place != OMPP_PLACE_RANGE && construct->place != OMPP_PLACE_LINE;

    file = address ? ompp_text_printable(construct->full, true) : file_of(profile, r);
    name = ompp_text_printable(ompp_profile_text(profile, r->name), true);
    lines_of(profile, r, construct->place, lines, sizeof lines);
    if (file && name && named && *name) {
        if (asprintf(&text, "%s (%s) ('%s')", file, lines, name) < 0) text = NULL;
    } else if (file && name) {
        if (asprintf(&text, "%s (%s)%s", file, lines, unnamed) < 0) text = NULL;
    }
    free(file);
    free(name);
    return text;
}

void ompp_text_csv(FILE *out, const char *text, bool word)
{
    char *printable = ompp_text_printable(text, word);

    for (char *c = printable; c && *c; c++) putc(*c == ',' ? ';' : *c, out);
    free(printable);
}
