/**
 * \file
 * Options of "ompp [options] -- program": they mirror the variables of ompp_env.def.
 */
#ifndef OMPP_TOOLS_OPTION_H
#define OMPP_TOOLS_OPTION_H

#include "base/ompp_env.h"

enum { OMPP_OPTION_UNKNOWN = 0, OMPP_OPTION_NO_VALUE = -1 };

/**
 * \brief Reads an option and, where it stands apart, its value.
 * \param[in]  words     the option and what follows, NULL-terminated.
 * \param[out] variable  that it sets; owned, free(); NULL for -n and on failure.
 * \param[out] value     of the variable; borrowed from words.
 * \return how many words it is, OMPP_OPTION_UNKNOWN or OMPP_OPTION_NO_VALUE.
 */
int ompp_option_read(char *const *words, char **variable, const char **value);

/**
 * \brief What is wrong with a value: "set --clock to one of auto|tsc|gettime: 'sundial' is not understood".
 * \param[in] variable, value  from ompp_option_read; NULL = none.
 * \return a buffer that the next call uses again; NULL = all is well, as far as the value alone can tell.
 */
const char *ompp_option_wrong(const char *variable, const char *value);

/**
 * \return option that an unknown one may be meant for, with its dashes, in a buffer that the next call uses again; NULL
 *         = none is near.
 */
const char *ompp_option_nearest(const char *option);

/** \brief Prints the help of ompp on stdout. \param[in] all  every option, not only those that are often used. */
void ompp_option_help(bool all);

#endif
