#include "base/ompp_json.h"

#include "base/ompp_utf8.h"

#include <inttypes.h>

static void put_text(FILE *out, const char *text, bool plain)
{
    uint32_t code;

    putc('"', out);
    for (const char *at = text; *at;) {
        const size_t n = ompp_utf8_next(at, &code);
        const unsigned char c = (unsigned char)*at;
        if (n == 0 && plain && c != '\t') putc('?', out);
        else if (n == 0 && c < 0x80) fprintf(out, "\\u%04x", c); /* control characters */
        else if (n == 0) fputs("\\ufffd", out);
        else if (c == '"' || c == '\\') fprintf(out, "\\%c", c);
        else fwrite(at, 1, n, out);
        at += n ? n : 1;
    }
    putc('"', out);
}

void ompp_json_text(FILE *out, const char *text) { put_text(out, text, false); }

void ompp_json_begin(ompp_json_t *json, const char *name)
{
    if (json->follows) fputs(name ? ", " : ",", json->out);
    json->follows = true;
    if (!name) return;
    ompp_json_text(json->out, name);
    putc(':', json->out);
}

void ompp_json_open(ompp_json_t *json, const char *name, char bracket)
{
    const bool row = !name && bracket == '{' && json->follows;

    ompp_json_begin(json, name);
    if (row) putc('\n', json->out);
    putc(bracket, json->out);
    json->follows = false;
}

void ompp_json_close(ompp_json_t *json, char bracket)
{
    putc(bracket, json->out);
    json->follows = true;
}

void ompp_json_number(ompp_json_t *json, const char *name, uint64_t value)
{
    ompp_json_begin(json, name);
    fprintf(json->out, "%" PRIu64, value);
}

void ompp_json_string(ompp_json_t *json, const char *name, const char *text)
{
    ompp_json_begin(json, name);
    put_text(json->out, text, json->plain);
}
