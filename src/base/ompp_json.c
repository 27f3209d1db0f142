#include "base/ompp_json.h"

#include "base/ompp_utf8.h"

#include <inttypes.h>
#include <math.h>

void ompp_json_text(FILE *out, const char *text)
{
    uint32_t code;

    putc('"', out);
    for (const char *at = text; *at;) {
        const size_t n = ompp_utf8_next(at, &code);
        const unsigned char c = (unsigned char)*at;
        if (n == 0 && c < 0x80) fprintf(out, "\\u%04x", c); /* control characters */
        else if (n == 0) fputs("\\ufffd", out);
        else if (c == '"' || c == '\\') fprintf(out, "\\%c", c);
        else fwrite(at, 1, n, out);
        at += n ? n : 1;
    }
    putc('"', out);
}

static void begin(ompp_json_t *json, const char *name)
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

    begin(json, name);
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
    begin(json, name);
    fprintf(json->out, "%" PRIu64, value);
}

void ompp_json_real(ompp_json_t *json, const char *name, double value)
{
    begin(json, name);
    if (isfinite(value)) fprintf(json->out, "%.9g", value);
    else fputs("null", json->out);
}

void ompp_json_string(ompp_json_t *json, const char *name, const char *text)
{
    begin(json, name);
    ompp_json_text(json->out, text);
}
