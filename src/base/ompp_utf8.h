/**
 * \file
 * UTF-8 as far as the writers need it: names come from programs and may be any bytes. Needs nothing.
 */
#ifndef OMPP_UTF8_H
#define OMPP_UTF8_H

#include <stddef.h>
#include <stdint.h>

/**
 * \brief Length of the character at text.
 * \param[out] code  its code point, also when 0 is returned for a single byte (then that byte).
 * \return bytes, 1-4; 0 when the bytes are not valid UTF-8 or the character may not stand in XML (control characters,
 *         U+FFFE).
 */
size_t ompp_utf8_next(const char *text, uint32_t *code);

/** \brief Number of characters, as a terminal would advance; bytes that are not UTF-8 count one each. */
size_t ompp_utf8_width(const char *text);

/** \brief For a line on a terminal: bytes that are not UTF-8 and control characters become '?'. \return text. */
char *ompp_utf8_make_printable(char *text);

#endif
