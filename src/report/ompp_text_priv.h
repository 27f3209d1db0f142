/**
 * \file
 * What the parts of the text writer share. The layout is ompP's, byte for byte; see docs/report.md.
 */
#ifndef OMPP_TEXT_PRIV_H
#define OMPP_TEXT_PRIV_H

#include "analysis/ompp_analysis.h"
#include "analysis/ompp_values.h"
#include "model/ompp_profile.h"
#include "report/ompp_layout.h"

#include <stdio.h>

/** One report being written. */
typedef struct {
    FILE *out;
    const ompp_profile_t *profile;
    ompp_values_t *values;
    char *app;          /* name of the application, printable */
    char **places;      /* [nregions] location as printed; NULL for regions that were never executed */
    uint32_t *regions;  /* executed regions by first execution, [nexecuted] */
    size_t nexecuted;
    uint32_t *order;    /* locations by rank and thread, the rest last, [nlocations] */
    uint32_t *nodes;    /* depth first, [nordered], without the root */
    size_t nordered;
    uint32_t *depth;    /* [nnodes] */
    bool *has_sibling;  /* [nnodes] another child of the same parent follows */
    bool *has_child;    /* [nnodes] */
    ompp_row_t *rows;   /* [nlocations] scratch */
    ompp_row_t *totals; /* [nnodes] sums over locations; of the root: MPI columns only */
    uint32_t *path;     /* [nnodes] scratch */
    uint64_t *rank_exec;/* [nranks_kept] scratch: execT of a table per rank */
    uint32_t *rank_sort;/* [nranks_kept] scratch */
    bool *rank_shown;   /* [nranks_kept] */
    uint64_t duration_ns, nslots, nranks;
    int digits;         /* after the point of times */
    int extra;          /* columns that times need beyond ompP's width */
    bool show_ranks;    /* merged report: RANK column */
} ompp_text_t;

/** Buffer for a time. */
typedef struct {
    char text[32];
} ompp_seconds_t;

/** \brief ns as seconds with t->digits digits, rounded half up; never goes through floating point. */
ompp_seconds_t ompp_text_seconds(const ompp_text_t *t, uint64_t ns);

/** \brief The same with a given number of digits. */
ompp_seconds_t ompp_text_seconds_digits(uint64_t ns, int digits);

/** \return sum / n, rounded to the nearest. */
uint64_t ompp_text_mean(uint64_t sum, uint64_t n);

/** \return 100 a / b; 0 when b is 0. */
double ompp_text_percent(uint64_t a, uint64_t b);

/** \return 100 a / b with two digits; as text. */
ompp_seconds_t ompp_text_share(uint64_t a, double b);

/**
 * \brief Text that fits on a line of the report: bytes that are not UTF-8 and control characters become '?'.
 * \param[in] word  blanks become '_' and single quotes '`', so that the text stays one word for readers.
 * \return owned, free(); NULL when out of memory.
 */
char *ompp_text_printable(const char *text, bool word);

/** \brief Location of a region as the report writes it. \return owned, free(); NULL when out of memory. */
char *ompp_text_place(const ompp_profile_t *profile, uint32_t region);

/* Sections. */
void ompp_text_general(ompp_text_t *t);
void ompp_text_coverage(ompp_text_t *t);
void ompp_text_overview(ompp_text_t *t);
void ompp_text_callgraph(ompp_text_t *t);
void ompp_text_flat(ompp_text_t *t);
void ompp_text_callgraph_profiles(ompp_text_t *t);
int ompp_text_overheads(ompp_text_t *t);

/** \brief Orders regions, nodes and locations and sums nodes up, once per report. \return 0 or -OMPP_E_NOMEM. */
int ompp_text_prepare(ompp_text_t *t);
void ompp_text_release(ompp_text_t *t);

#endif
