#include "base/ompp_utf8.h"

#include <stdbool.h>

/* Characters of XML 1.0, without the controls that parsers normalise (tab, line feed, carriage return). */
static bool is_xml_char(uint32_t c)
{
    if (c < 0x20 || (c >= 0x7f && c < 0xa0)) return false;
    if (c >= 0xd800 && c < 0xe000) return false;
    return c != 0xfffe && c != 0xffff && c <= 0x10ffff;
}

size_t ompp_utf8_next(const char *text, uint32_t *code)
{
    const unsigned char *t = (const unsigned char *)text;
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = t[0] < 0x80 ? 1 : (t[0] & 0xe0) == 0xc0 ? 2 : (t[0] & 0xf0) == 0xe0 ? 3 : (t[0] & 0xf8) == 0xf0 ? 4 : 0;
    uint32_t c;

    *code = t[0];
    if (n == 0) return 0;
    c = n == 1 ? t[0] : t[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((t[i] & 0xc0) != 0x80) return 0; /* also stops at the end of the string */
        c = c << 6 | (t[i] & 0x3f);
    }
    if (c < smallest[n] || !is_xml_char(c)) return 0;
    *code = c;
    return n;
}

size_t ompp_utf8_width(const char *text)
{
    size_t width = 0, n;
    uint32_t code;

    for (; *text; text += n ? n : 1, width++) n = ompp_utf8_next(text, &code);
    return width;
}

char *ompp_utf8_make_printable(char *text)
{
    uint32_t code;

    for (char *at = text; *at;) {
        const size_t n = ompp_utf8_next(at, &code);
        if (n == 0) *at = '?';
        at += n ? n : 1;
    }
    return text;
}
