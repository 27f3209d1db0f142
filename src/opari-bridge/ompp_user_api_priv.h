/**
 * \file
 * User regions by name, for the functions of other languages: ompp_region_begin() and _end() with the place they were
 * called from.
 */
#ifndef OMPP_USER_API_PRIV_H
#define OMPP_USER_API_PRIV_H

/** \brief See ompp_region_begin(). \param[in] code  the program's return address. */
void ompp_named_begin(const char *name, const void *code);
void ompp_named_end(const char *name, const void *code);

#endif
