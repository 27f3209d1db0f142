/**
 * \file
 * Runs OPARI2 on a Fortran source, without the directives that it refuses, and reads its descriptions of constructs.
 */
#include "tools/kinst/kinst-ompp-fortran.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Directives that OPARI2 refuses, at most: each costs one more run of it. */
enum { MAX_REFUSED = 20 };

/* ---- Descriptions ------------------------------------------------------------------------------------------------ */

/* "sscl=file:1:1*escl=file:9:9": both in the file of the begin, whose line is the last one there when the end is in
 * another. */
static char *place_text(const kinst_fortran_t *f, unsigned begin, unsigned end)
{
    kinst_mapping_t first = kinst_fortran_mapped(f, begin), last = kinst_fortran_mapped(f, end);
    char *path = first.file ? realpath(first.file, NULL) : NULL;
    const char *file = path ? path : first.file ? first.file : f->absolute;

    while (end > begin && !kinst_fortran_same_file(first, last)) last = kinst_fortran_mapped(f, --end);
    if (last.line < first.line) last.line = first.line;
    return kinst_text("sscl=%s:%u:%u*escl=%s:%u:%u", file, first.line, first.line, file, last.line, last.line);
}

char *kinst_fortran_description(const kinst_fortran_t *f, const kinst_user_region_t *r)
{
    return kinst_text("*regionType=%s*%s*userRegionName=%s**", r->type, place_text(f, r->begin, r->end), r->name);
}

kinst_line_t kinst_fortran_physical(const kinst_lines_t *in, unsigned line)
{
    return line > 0 && line <= in->n ? in->v[line - 1] : (kinst_line_t){.line = line, .last = line};
}

/* "sscl=/private/in/source.f90:12:13": the last number of it, and what follows; NULL = it does not stand there. */
static const char *read_lines(const char *text, const char *key, const char *own, unsigned *first, unsigned *last)
{
    const char *at = strstr(text, kinst_text("*%s=%s:", key, own));
    int n = 0;

    if (!at) return NULL;
    at += strlen(key) + strlen(own) + 3;
    return sscanf(at, "%u:%u%n", first, last, &n) == 2 ? at + n : NULL;
}

/* A description of OPARI2's with the user's file and lines in place of those of in/source.f90. */
static char *with_places(const kinst_fortran_t *f, const kinst_lines_t *in, const char *text, const char *own)
{
    unsigned first = 0, last = 0, unused;
    const char *behind = read_lines(text, "sscl", own, &first, &last), *at = strstr(text, "*sscl="),
               *end = read_lines(text, "escl", own, &unused, &last);

    if (!behind || !at) return kinst_text("%s", text);
    return kinst_text("%.*s*%s%s", (int)(at - text), text,
                      place_text(f, kinst_fortran_physical(in, first).line, kinst_fortran_physical(in, last).last),
                      end ? end : behind);
}

/* The texts opari2_ctc_N of OPARI2's declarations: constants in pieces, "..."// over several lines. */
static void read_descriptions(kinst_fortran_t *f, const kinst_lines_t *in, const char *inc, const char *own)
{
    for (const char *p = inc; (p = strstr(p, "opari2_ctc_"));) {
        char *rest, *text = kinst_text("%s", "");
        size_t number = strtoul(p + 11, &rest, 10);
        p = rest;
        rest += strspn(rest, " ");
        if (*rest != '=') continue; /* fixed form names it once before */
        const char *end = strstr(rest, "**\"");
        if (!end) return;
        for (const char *q = strchr(rest, '"'); q && q < end + 2; q = strchr(q + 1, '"')) {
            size_t length = strcspn(q + 1, "\"");
            text = kinst_text("%s%.*s", text, (int)length, q + 1);
            q += 1 + length;
        }
        while (f->texts.n < number) kinst_add(&f->texts, "");
        f->texts.v[number - 1] = with_places(f, in, text, own);
        p = end;
    }
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

/* Of in/source.f90. */
static const char *run(const kinst_fortran_t *f, const char *in, const char *own, const kinst_lines_t *lines)
{
    const char *options[] = {"--f90", f->form.fixed ? "--fix-form" : "--free-form", NULL};
    FILE *source = fopen(own, "w");

    if (!source) return "no space for temporary files";
    for (size_t i = 0; i < lines->n; i++) fprintf(source, "%s\n", lines->v[i].text);
    if (fclose(source) != 0) return "no space for temporary files";
    return kinst_run_opari(options, in, "source.f90", "out.f90");
}

/* A message of OPARI2's names a line: from now on the directive there is left out. */
static bool leave_out(kinst_fortran_t *f, const kinst_lines_t *lines, const char *in, const char *own)
{
    size_t size;
    const char *log = kinst_file_read(kinst_text("%s/log", in), &size), *at = log ? strstr(log, own) : NULL;
    size_t i = at ? strtoul(at + strlen(own) + 1, NULL, 10) : 0;

    if (i > lines->n || f->refused.n == MAX_REFUSED) return false;
    while (i > 0 && (!lines->v[i - 1].original || strstr(lines->v[i - 1].text, KINST_FORTRAN_HIDDEN))) i--;
    if (i > 0) kinst_addf(&f->refused, "%u", lines->v[i - 1].line);
    return i > 0;
}

const char *kinst_fortran_opari(kinst_fortran_t *f, kinst_opari_text_t *text)
{
    const char *in = kinst_text("%s/in", f->source->dir), *reason;
    size_t out, inc;

    text->own = kinst_text("%s/source.f90", in);
    if (mkdir(in, 0700) != 0 && errno != EEXIST) return "no space for temporary files";
    do {
        text->in = (kinst_lines_t){0};
        reason = kinst_fortran_hide(f, &text->in);
        if (reason) return reason;
        reason = run(f, in, text->own, &text->in);
    } while (reason && (f->preprocessed || !f->form.cpp) && leave_out(f, &text->in, in, text->own));
    if (reason) return reason;
    text->out = kinst_file_read(kinst_text("%s/out.f90", in), &out);
    char *declarations = kinst_file_read(kinst_text("%s/source.f90.opari.inc", in), &inc);
    if (!text->out || !declarations) return "OPARI2 wrote nothing";
    if (strlen(text->out) != out || strlen(declarations) != inc) return "OPARI2 wrote no text";
    read_descriptions(f, &text->in, declarations, text->own);
    return NULL;
}
