/**
 * \file
 * Layout of the text report; see ompp_layout.h.
 */
#include "report/ompp_text_layout.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LARGE 1e13      /* evaluators from there on have ... */
#define LARGE_DIGITS 13 /* significant digits: with six more behind the point they are still 64 bits */

/* How ompP writes the titles of the classes, by position: each takes 16 columns. */
static const char *const class_layout[] = {"  =   %s  (%%)", "  +  %s   (%%)", "  +   %s (%%)", "   +    %s (%%)",
                                           "   +     %s (%%)"};
#define CLASS_LAYOUTS (sizeof class_layout / sizeof class_layout[0])

void ompp_layout_title(FILE *out, const char *title)
{
    static const char dashes[] = "----------------------------------------------------------------------";
    int used = 4 + 5 + (int)strlen(title) + 5;

    fprintf(out, "%s\n%.4s     %s     %.*s\n%s\n", dashes, dashes, title, used < 70 ? 70 - used : 0, dashes, dashes);
}

void ompp_layout_label(FILE *out, const char *label) { fprintf(out, "%-16s: ", label); }

void ompp_layout_number(FILE *out, uint32_t number) { fprintf(out, "R%05" PRIu32, number); }

void ompp_layout_group(FILE *out, const char *type, size_t nregions)
{
    fprintf(out, "%s: %zu region%s:\n", type, nregions, nregions > 1 ? "s" : "");
}

void ompp_layout_member(FILE *out, uint32_t number, const char *place)
{
    fprintf(out, " * R%05" PRIu32 " %s\n", number, place);
}

/* ---- Callgraph --------------------------------------------------------------------------------------------------- */

void ompp_layout_callgraph_titles(FILE *out, int extra)
{
    fprintf(out, "\n%*s%*s\n", 16 + extra, "Inclusive  (%)", 17 + extra, "Exclusive  (%)");
}

static void print_time(FILE *out, int extra, const char *time, const char *percent)
{
    fprintf(out, "%*s (%5s%%)", OMPP_WIDTH_TIME + extra, time, percent);
}

void ompp_layout_root(FILE *out, int extra, const char *total, const char *total_percent, const char *exclusive,
                      const char *exclusive_percent, const char *app, uint64_t nthreads)
{
    print_time(out, extra, total, total_percent);
    putc(' ', out);
    print_time(out, extra, exclusive, exclusive_percent);
    fprintf(out, " %10s[%s: %" PRIu64 " threads]\n", "", app, nthreads);
}

void ompp_layout_node(FILE *out, int extra, const char *const value[4], const char *brief)
{
    print_time(out, extra, value[0], value[1]);
    putc(' ', out);
    print_time(out, extra, value[2], value[3]);
    fprintf(out, " %8s ", brief);
}

void ompp_layout_branch(FILE *out, bool own, bool has_sibling)
{
    if (own) fputs(has_sibling ? " |-" : " +-", out);
    else fputs(has_sibling ? " | " : "   ", out);
}

void ompp_layout_percent_digits(double a, double b, int digits[2])
{
    bool extreme = (a > 99.9 || a < 0.1) && (b > 99.9 || b < 0.1);

    digits[0] = !extreme ? OMPP_LAYOUT_DIGITS : a > 99.9 ? 1 : 3;
    digits[1] = !extreme ? OMPP_LAYOUT_DIGITS : b > 99.9 ? 1 : 3;
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

void ompp_layout_step(FILE *out, char mark, uint32_t level) { fprintf(out, "[%c%02" PRIu32 "] ", mark, level); }

void ompp_layout_heading(FILE *out, uint32_t number, const char *place, const char *type)
{
    fprintf(out, "R%05" PRIu32 " %s%s%s\n", number, place, *type ? " " : "", type);
}

void ompp_layout_row_title(FILE *out, bool ranked) { fputs(ranked ? " RANK TID" : " TID", out); }

void ompp_layout_row_label(FILE *out, bool ranked, ompp_row_kind_t kind, uint32_t rank, uint32_t tid)
{
    if (kind == OMPP_ROW_OTHERS) {
        fputs(ranked ? "  oth   -" : " oth", out);
    } else if (kind == OMPP_ROW_SUM) {
        fputs(ranked ? "      SUM" : " SUM", out);
    } else {
        if (ranked) fprintf(out, " %4" PRIu32, rank);
        fprintf(out, " %3" PRIu32, tid);
    }
}

void ompp_layout_cell(FILE *out, int width, const char *text) { fprintf(out, " %*s", width, text); }

/* Of 10, when the value is written with so many digits behind the first. */
static int exponent_of(double value, int digits)
{
    char text[64];

    snprintf(text, sizeof text, "%.*e", digits, value);
    return atoi(strchr(text, 'e') + 1);
}

/* What a double does not hold is zeros, for its own digits there would be chance. */
static void print_large(double value, int places, char *text)
{
    char digits[64];
    int exponent = exponent_of(value, LARGE_DIGITS - 1);

    snprintf(digits, sizeof digits, "%.*e", LARGE_DIGITS - 1, fabs(value));
    snprintf(text, OMPP_LAYOUT_EVALUATOR, "%s%c%.*s%0*d.%0*d", value < 0 ? "-" : "", digits[0], LARGE_DIGITS - 1,
             digits + 2, exponent - LARGE_DIGITS + 1, 0, places, 0);
}

/* small: digits behind the point of what is below 1e-3. */
static void print_evaluator(double value, int places, int small, char *text)
{
    double size = fabs(value);

    if (size >= LARGE) print_large(value, places, text);
    else snprintf(text, OMPP_LAYOUT_EVALUATOR, "%.*f", size == 0 || size >= 1e-3 ? places : small, value);
}

void ompp_layout_evaluator_csv(double value, char *text)
{
    if (isnan(value)) *text = '\0';
    else print_evaluator(value, 6, 6 - exponent_of(value, 6), text);
}

void ompp_layout_evaluator(double value, char *text)
{
    ompp_layout_evaluator_csv(value, text);
    value = strtod(text, NULL);
    double size = fabs(value);
    if (!*text) snprintf(text, OMPP_LAYOUT_EVALUATOR, "-");
    else print_evaluator(value, size == 0 || size >= 1 ? 2 : size >= 0.1 ? 4 : 6, 2 - exponent_of(value, 2), text);
}

/* ---- Overheads --------------------------------------------------------------------------------------------------- */

void ompp_layout_overheads(FILE *out, const char *duration, uint64_t nthreads, uint64_t nregions, const char *coverage,
                           const char *percent)
{
    ompp_layout_title(out, "ompP Overhead Analysis Report");
    fprintf(out, "Total runtime (wallclock)   : %s sec [%" PRIu64 " thread%s]\n", duration, nthreads,
            nthreads > 1 ? "s" : "");
    fprintf(out, "Number of parallel regions  : %" PRIu64 "\n", nregions);
    fprintf(out, "Parallel coverage           : %s sec (%5s%%)\n\n", coverage, percent);
}

const char *const ompp_layout_no_parallel[2] = {
    "There is no parallel region: this section is about OpenMP. What MPI costs stands in the callgraph, in the section",
    "'ompp Outside Parallel Regions' (column MPI), and in the Performance Properties Report.",
};

void ompp_layout_wall_titles(FILE *out, int extra)
{
    fputs("Parallel regions sorted by wallclock time:\n", out);
    fprintf(out, "            Type                            Location      %*s%s", extra, "", "Wallclock (%) ");
}

void ompp_layout_wall(FILE *out, uint32_t number, const char *brief, const char *place, int pad, int extra,
                      const char *wall, const char *percent)
{
    ompp_layout_number(out, number);
    fprintf(out, "  %8s %*s%s    ", brief, pad, "", place);
    ompp_layout_share(out, extra, wall, percent);
    putc(' ', out);
}

void ompp_layout_wall_sum(FILE *out, int extra, const char *wall, const char *percent)
{
    fprintf(out, "%52s    ", "SUM");
    ompp_layout_share(out, extra, wall, percent);
    putc(' ', out);
}

void ompp_layout_class_titles(FILE *out, int extra, const char *what)
{
    fprintf(out, "Overheads wrt. %s:\n%*s%*s", what, 15 + extra, "Total", 17 + extra, "Ovhds (%)");
}

void ompp_layout_class_title(FILE *out, int extra, unsigned position, const char *title)
{
    fprintf(out, "%*s", extra, "");
    fprintf(out, class_layout[position < CLASS_LAYOUTS ? position : CLASS_LAYOUTS - 1], title);
}

void ompp_layout_class_row(FILE *out, bool sum, uint32_t number, int extra, const char *total)
{
    if (sum) fputs("   SUM", out);
    else ompp_layout_number(out, number);
    fprintf(out, "  %*s  ", OMPP_WIDTH_TIME + extra, total);
}

void ompp_layout_share(FILE *out, int extra, const char *time, const char *percent)
{
    fprintf(out, "%*s (%5s)", OMPP_WIDTH_TIME + extra, time, percent);
}

void ompp_layout_property(FILE *out, size_t number, const char *name, size_t name_length, const char *type,
                          const char *subject, size_t subject_length, const char *percent)
{
    fprintf(out, "Property P%05zu '%.*s' holds for\n", number, (int)name_length, name);
    fprintf(out, "     '%s%s%.*s', with a severity (in percent) of %s\n", type, *type ? " " : "", (int)subject_length,
            subject, percent);
}
