/**
 * \file
 * What the names of functions say that compilers make of parallel and task constructs. See ompp_extent.c.
 */
#ifndef OMPP_OUTLINED_H
#define OMPP_OUTLINED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Who has made a function of a construct. gcc's has no line of its own, clang's have the directive's. */
typedef enum { OMPP_MARK_CLANG, OMPP_MARK_CLANG_TASK, OMPP_MARK_GCC, OMPP_MARK_NONE } ompp_mark_t;

/** \param[in] name  of the function; NULL = it has none. */
ompp_mark_t ompp_outlined_mark(const char *name);

/** \return whether it is the body of a construct, which is called by the construct's function (clang). */
bool ompp_outlined_is_body(const char *name);

/** \brief Name of a function as it stands in the source: "main" of "main.omp_outlined.3". \return length. */
size_t ompp_outlined_source_name(const char *name);

#endif
