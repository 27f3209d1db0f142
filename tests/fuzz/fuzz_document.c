/**
 * \file
 * Text and CSV reports. What was read can be printed in both forms and checked; printed in its own form and read again
 * it prints the same.
 */
#include "fuzz.h"

#include "reader/ompp_document.h"

#include <string.h>

#define MOST_PRINTED ((size_t)64 << 20) /* long paths in deep trees print long */

static char *print(const ompp_document_t *document, ompp_doc_form_t form, int digits, size_t *length)
{
    char *text = NULL, *notes = NULL;
    size_t notes_length;
    FILE *out = open_memstream(&text, length), *said = open_memstream(&notes, &notes_length);

    FUZZ_REQUIRE(out && said, "memory for the output");
    if (form == OMPP_DOC_TEXT) ompp_document_text(document, digits, out, said);
    else ompp_document_csv(document, out, said);
    fclose(out);
    fclose(said);
    free(notes);
    return text;
}

static void check(const ompp_document_t *document)
{
    FILE *out = fopen("/dev/null", "w");
    size_t nchecked;

    FUZZ_REQUIRE(out, "/dev/null");
    ompp_document_check(document, "input", out, &nchecked);
    fclose(out);
}

static void reread(const ompp_document_t *document)
{
    size_t length, again_length;
    char *text = print(document, document->form, -1, &length), *again, why[512];
    ompp_document_t *copy;

    if (length < MOST_PRINTED) {
        if (ompp_document_parse("printed", text, length, &copy, why, sizeof why)) {
            fprintf(stderr, "%s\n%s", why, text);
            FUZZ_REQUIRE(false, "what was printed can be read");
        }
        again = print(copy, copy->form, -1, &again_length);
        if (length != again_length || memcmp(text, again, length) != 0) fprintf(stderr, "%s----\n%s", text, again);
        FUZZ_REQUIRE(length == again_length && memcmp(text, again, length) == 0,
                     "what was printed is read as it stands");
        free(again);
        ompp_document_free(copy);
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ompp_document_t *document;
    char why[512] = "";
    size_t length;
    int rc = ompp_document_parse("input", (const char *)data, size, &document, why, sizeof why);

    if (rc) {
        FUZZ_REQUIRE(!document, "no document on failure");
        FUZZ_REQUIRE(strncmp(why, "input:", 6) == 0 && strchr(why, ';') && !strchr(why, '\n'),
                     "file:line: reason; what to do");
        return 0;
    }
    free(print(document, OMPP_DOC_TEXT, 1, &length));
    free(print(document, document->form == OMPP_DOC_TEXT ? OMPP_DOC_CSV : OMPP_DOC_TEXT, -1, &length));
    check(document);
    reread(document);
    ompp_document_free(document);
    return 0;
}
