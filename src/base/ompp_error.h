/**
 * \file
 * Error codes. A function that can fail returns 0 or a negative code, -OMPP_E_x; the codes, their names and messages
 * stand in ompp_error.def. Needs nothing.
 */
#ifndef OMPP_ERROR_H
#define OMPP_ERROR_H

enum {
    OMPP_OK = 0,
#define OMPP_ERROR(name, message) OMPP_E_##name,
#include "base/ompp_error.def"
#undef OMPP_ERROR
    OMPP_E_NUM
};

/**
 * \brief One sentence fragment for an error code.
 * \param[in] code  0, an OMPP_E_x or its negative.
 * \return static text, never NULL ("no error" for 0, "unknown error" out of range).
 */
const char *ompp_error_message(int code);

#endif
