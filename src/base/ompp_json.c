#include "base/ompp_json.h"

#include "base/ompp_utf8.h"

#include <stdbool.h>

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

void ompp_json_name(FILE *out, const char *name, _Bool *first)
{
    fputs(*first ? "" : ", ", out);
    *first = false;
    ompp_json_text(out, name);
    fputs(": ", out);
}
