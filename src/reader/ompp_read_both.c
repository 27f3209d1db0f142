/**
 * \file
 * Pieces of a report that stand in both forms: what the two readers share beyond lines and numbers.
 */
#include "reader/ompp_document_priv.h"

#include <inttypes.h>
#include <string.h>

bool ompp_reading_expect(ompp_reading_t *r, const char *expected)
{
    if (r->at >= r->nlines)
        return ompp_reading_fail(r, "the file is cut off; " OMPP_DO_RESTORE, "it ends where %s should stand", expected);
    return ompp_reading_fail(r, r->at + 1 == r->nlines ? "the file is cut off; " OMPP_DO_RESTORE : OMPP_DO_RESTORE,
                             "\"%.60s\" is not %s", ompp_reading_line(r), expected);
}

bool ompp_reading_region(ompp_reading_t *r, uint32_t number, ompp_construct_t construct, const char *place,
                         const char *fields, uint32_t *region)
{
    *region = ompp_document_region(r->doc, number, construct, place, fields);
    return *region != OMPP_DOC_NONE || ompp_reading_nomem(r);
}

ompp_doc_step_t *ompp_reading_step(ompp_reading_t *r, ompp_doc_table_t *t, const char *behind, const char **rest)
{
    const char *p = ompp_reading_line(r);
    const char mark = p[0] == '[' ? p[1] : 0;
    uint64_t level;

    if (mark != '+' && mark != '=') {
        ompp_reading_expect(r, "a step of a call path, [+01] or [=01]");
        return NULL;
    }
    p += 2;
    if (!ompp_take_whole(&p, OMPP_DOC_LEVELS, &level) || !ompp_take(&p, "]") || !ompp_take(&p, behind)) {
        ompp_reading_expect(r, "a step of a call path");
        return NULL;
    }
    if (level != t->nsteps + 1) {
        ompp_reading_fail(r, OMPP_DO_RESTORE, "level %" PRIu64 " follows level %zu", level, t->nsteps);
        return NULL;
    }
    ompp_doc_step_t *step = ompp_reading_push(r, &t->steps, &t->nsteps, sizeof *step);
    if (step) step->mark = mark;
    *rest = p;
    return step;
}

bool ompp_reading_class(ompp_reading_t *r, bool first, size_t n, const char *title, size_t length)
{
    if (first) {
        const char **kept = ompp_reading_push(r, &r->doc->classes, &r->doc->nclasses, sizeof *kept);
        return kept && (*kept = ompp_reading_keep(r, title, length));
    }
    if (n < r->doc->nclasses && strlen(r->doc->classes[n]) == length && memcmp(r->doc->classes[n], title, length) == 0)
        return true;
    return ompp_reading_fail(r, OMPP_DO_RESTORE, "%.*s is not among the classes of the table above", (int)length,
                             title);
}

ompp_doc_overhead_t *ompp_reading_overhead(ompp_reading_t *r, ompp_doc_overhead_t **rows, size_t *n)
{
    ompp_doc_overhead_t *row = ompp_reading_push(r, rows, n, sizeof *row);

    if (!row) return NULL;
    row->line = r->at + 1;
    row->number = OMPP_DOC_NONE;
    row->shares = ompp_reading_alloc(r, 1 + r->doc->nclasses, sizeof *row->shares);
    return row->shares ? row : NULL;
}

ompp_doc_wall_t *ompp_reading_wall(ompp_reading_t *r)
{
    ompp_doc_wall_t *row = ompp_reading_push(r, &r->doc->wall, &r->doc->nwall, sizeof *row);

    if (!row) return NULL;
    row->line = r->at + 1;
    row->region = OMPP_DOC_NONE;
    row->values = ompp_reading_alloc(r, r->doc->nextra, sizeof *row->values);
    return row->values ? row : NULL;
}

bool ompp_reading_rows(ompp_reading_t *r, ompp_doc_table_t *t, bool (*read_row)(ompp_reading_t *r, ompp_doc_table_t *t))
{
    do {
        if (!read_row(r, t)) return false;
        r->at++;
    } while (t->rows[t->nrows - 1].kind != OMPP_ROW_SUM);
    return true;
}

static const char *name_of(ompp_doc_form_t form, unsigned kind)
{
    return form == OMPP_DOC_TEXT ? ompp_sections[kind].title : ompp_sections[kind].block;
}

ompp_section_kind_t ompp_reading_kind(ompp_doc_form_t form, const char *name, size_t length)
{
    unsigned kind = 0;

    while (kind < OMPP_SECTION_NUM &&
           (strlen(name_of(form, kind)) != length || memcmp(name_of(form, kind), name, length) != 0))
        kind++;
    return kind;
}

bool ompp_reading_complete(ompp_reading_t *r, ompp_doc_form_t form)
{
    unsigned found = 0;

    for (size_t i = 0; i < r->doc->nsections; i++)
        if (r->doc->sections[i].kind != OMPP_SECTION_OTHER) found |= 1u << r->doc->sections[i].kind;
    for (unsigned kind = 0; kind < OMPP_SECTION_NUM; kind++)
        if (!(found & 1u << kind))
            return ompp_reading_fail(r, "the file is cut off; " OMPP_DO_RESTORE, "the %s \"%s\" is missing",
                                     form == OMPP_DOC_TEXT ? "section" : "block", name_of(form, kind));
    return true;
}
