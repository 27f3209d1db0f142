/**
 * \file
 * A stream for the data of the page: compressed and in base64 while it is written. The page unpacks it.
 */
#define _GNU_SOURCE /* fopencookie */
#include "report/ompp_html_priv.h"

#include <stdlib.h>
#include <string.h>

/* ---- Base64 ------------------------------------------------------------------------------------------------------ */

static void put_group(FILE *out, const unsigned char *bytes, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint32_t all =
        (uint32_t)bytes[0] << 16 | (n > 1 ? (uint32_t)bytes[1] << 8 : 0) | (n > 2 ? (uint32_t)bytes[2] : 0);
    const char group[4] = {digits[all >> 18], digits[all >> 12 & 63], (char)(n > 1 ? digits[all >> 6 & 63] : '='),
                           (char)(n > 2 ? digits[all & 63] : '=')};

    fwrite(group, 1, sizeof group, out);
}

/* Whole groups; at the end the rest, too. */
static void encode(ompp_html_t *h, bool end)
{
    size_t i = 0;

    for (; i + 3 <= h->npacked; i += 3) put_group(h->out, h->packed + i, 3);
    if (end && i < h->npacked) put_group(h->out, h->packed + i, h->npacked - i), i = h->npacked;
    memmove(h->packed, h->packed + i, h->npacked - i);
    h->npacked -= i;
}

/* ---- Compression ------------------------------------------------------------------------------------------------- */

static void compress_bytes(ompp_html_t *h, const char *bytes, size_t n, bool end)
{
    int rc = Z_OK;

    h->deflate.next_in = (const unsigned char *)bytes;
    h->deflate.avail_in = (uInt)n;
    while (!h->failed && (h->deflate.avail_in || (end && rc != Z_STREAM_END))) {
        h->deflate.next_out = h->packed + h->npacked;
        h->deflate.avail_out = (uInt)(sizeof h->packed - h->npacked);
        rc = deflate(&h->deflate, end ? Z_FINISH : Z_NO_FLUSH);
        h->failed = rc != Z_OK && rc != Z_STREAM_END;
        h->npacked = sizeof h->packed - h->deflate.avail_out;
        encode(h, false);
    }
    if (end) encode(h, true);
}

/* What is written to the stream of h->json comes here, OMPP_HTML_ROOM bytes at a time. */
static ssize_t take(void *cookie, const char *bytes, size_t n)
{
    ompp_html_t *h = cookie;

    compress_bytes(h, bytes, n, false);
    return h->failed ? 0 : (ssize_t)n;
}

ompp_html_t *ompp_html_new(FILE *out)
{
    ompp_html_t *h = calloc(1, sizeof *h);

    if (!h) return NULL;
    h->out = out;
    h->json.plain = true;
    h->json.out = fopencookie(h, "w", (cookie_io_functions_t){.write = take});
    if (h->json.out && deflateInit(&h->deflate, Z_DEFAULT_COMPRESSION) == Z_OK) {
        setvbuf(h->json.out, h->plain, _IOFBF, sizeof h->plain);
        return h;
    }
    if (h->json.out) fclose(h->json.out);
    free(h);
    return NULL;
}

bool ompp_html_finish(ompp_html_t *h)
{
    if (fflush(h->json.out) != 0) h->failed = true;
    compress_bytes(h, "", 0, true);
    return !h->failed;
}

void ompp_html_free(ompp_html_t *h)
{
    if (!h) return;
    fclose(h->json.out);
    deflateEnd(&h->deflate);
    free(h);
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

void ompp_html_lines(ompp_html_t *h, const char *key, const char *text)
{
    char line[4096];

    ompp_json_open(&h->json, key, '[');
    while (*text) {
        const size_t n = strcspn(text, "\n"), kept = n < sizeof line ? n : sizeof line - 1;
        memcpy(line, text, kept);
        line[kept] = '\0';
        if (kept && line[kept - 1] == '\r') line[kept - 1] = '\0';
        ompp_json_string(&h->json, NULL, line);
        text += n + (text[n] == '\n');
    }
    ompp_json_close(&h->json, ']');
}

void ompp_html_section(ompp_html_t *h, const char *key, ompp_text_t *t, ompp_html_write_fn *write, const void *what)
{
    FILE *out = t->out;
    char *text = NULL;
    size_t size = 0, end;

    t->out = open_memstream(&text, &size);
    if (!t->out || write(t, what) != 0) h->failed = true;
    if (t->out && fclose(t->out) != 0) h->failed = true;
    t->out = out;
    if (!h->failed && text && *text) {
        const char *begin = text;
        for (end = strlen(text); end && text[end - 1] == '\n';) text[--end] = '\0';
        while (*begin == '\n') begin++;
        ompp_html_lines(h, key, begin);
    }
    free(text);
}
