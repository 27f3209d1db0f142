/**
 * \file
 * JSON, compressed and in base64 while it is written: what the page unpacks.
 */
#include "base/ompp_utf8.h"
#include "report/ompp_html_priv.h"

#include <inttypes.h>
#include <math.h>
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

static void compress_plain(ompp_html_t *h, bool end)
{
    int rc = Z_OK;

    h->deflate.next_in = h->plain;
    h->deflate.avail_in = (uInt)h->nplain;
    h->nplain = 0;
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

static void put(ompp_html_t *h, const char *bytes, size_t n)
{
    for (size_t taken; n; bytes += taken, n -= taken) {
        taken = sizeof h->plain - h->nplain < n ? sizeof h->plain - h->nplain : n;
        memcpy(h->plain + h->nplain, bytes, taken);
        h->nplain += taken;
        if (h->nplain == sizeof h->plain) compress_plain(h, false);
    }
}

ompp_html_t *ompp_html_new(FILE *out)
{
    ompp_html_t *h = calloc(1, sizeof *h);

    if (h && deflateInit(&h->deflate, Z_DEFAULT_COMPRESSION) != Z_OK) {
        free(h);
        return NULL;
    }
    if (h) h->out = out;
    return h;
}

bool ompp_html_finish(ompp_html_t *h)
{
    compress_plain(h, true);
    return !h->failed;
}

void ompp_html_free(ompp_html_t *h)
{
    if (h) deflateEnd(&h->deflate);
    free(h);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void put_string(ompp_html_t *h, const char *text)
{
    uint32_t code;

    put(h, "\"", 1);
    while (*text) {
        const size_t n = ompp_utf8_next(text, &code);
        if (*text == '\t') put(h, "\\t", 2);
        else if (n == 0) put(h, "?", 1);
        else if (code == '"' || code == '\\') put(h, code == '"' ? "\\\"" : "\\\\", 2);
        else put(h, text, n);
        text += n ? n : 1;
    }
    put(h, "\"", 1);
}

static void begin_value(ompp_html_t *h, const char *key)
{
    if (h->comma) put(h, ",", 1);
    h->comma = true;
    if (!key) return;
    put_string(h, key);
    put(h, ":", 1);
}

void ompp_html_open(ompp_html_t *h, const char *key, char bracket)
{
    begin_value(h, key);
    put(h, &bracket, 1);
    h->comma = false;
}

void ompp_html_close(ompp_html_t *h, char bracket)
{
    put(h, &bracket, 1);
    h->comma = true;
}

void ompp_html_text(ompp_html_t *h, const char *key, const char *text)
{
    begin_value(h, key);
    put_string(h, text);
}

void ompp_html_number(ompp_html_t *h, const char *key, uint64_t value)
{
    char digits[32];

    begin_value(h, key);
    put(h, digits, (size_t)snprintf(digits, sizeof digits, "%" PRIu64, value));
}

void ompp_html_real(ompp_html_t *h, const char *key, double value)
{
    char digits[40];

    begin_value(h, key);
    if (isfinite(value)) put(h, digits, (size_t)snprintf(digits, sizeof digits, "%.9g", value));
    else put(h, "null", 4);
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

void ompp_html_lines(ompp_html_t *h, const char *key, const char *text)
{
    char line[4096];

    ompp_html_open(h, key, '[');
    while (*text) {
        const size_t n = strcspn(text, "\n"), kept = n < sizeof line ? n : sizeof line - 1;
        memcpy(line, text, kept);
        line[kept] = '\0';
        if (kept && line[kept - 1] == '\r') line[kept - 1] = '\0';
        ompp_html_text(h, NULL, line);
        text += n + (text[n] == '\n');
    }
    ompp_html_close(h, ']');
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
