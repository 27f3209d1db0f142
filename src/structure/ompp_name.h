/**
 * \file
 * From symbols to names as they stand in the source. Needs libc alone: also part of libompp.so.
 */
#ifndef OMPP_NAME_H
#define OMPP_NAME_H

#include <stdbool.h>
#include <stddef.h>

/**
 * \brief Name of a function or variable in the source.
 *
 * C++ names are demangled and lose return type, parameters and qualifiers: "Domain::volume", "sum<int, double>". Module
 * procedures of gfortran become "module::procedure". What compilers append to copies of a function (".constprop.0") is
 * cut off. C++ needs __cxa_demangle, of the C++ library that the process has.
 *
 * \param[in] load  load libstdc++.so.6 when the process has no C++ library. Without one, C++ names stay as they are.
 * \return owned, free(); NULL when out of memory.
 * \note Threads: one at a time.
 */
char *ompp_name_of_symbol(const char *symbol, bool load);

/** \brief Leaves out the arguments of templates: "Matrix<double, 3>::norm" becomes "Matrix<...>::norm". Any text. */
void ompp_name_shorten(char *name);

/** \brief Whether a symbol says more than the name in the debug information: it names class, namespace or module. */
bool ompp_name_is_qualified(const char *symbol);

/** \brief Whether a function is the body of an OpenMP construct, or made for one, rather than of the user's. */
bool ompp_name_is_outlined(const char *symbol);

/**
 * \brief A function as its user calls it, from its name in the debug information or its symbol: without arguments, and
 *        of those that compilers make of regions, the one that they were made of. Demangles as above.
 * \param[in] function  may be NULL.
 */
void ompp_name_of_user(const char *function, char *text, size_t size);

/** \brief "solve" of "solve<double, int>"; in place. */
void ompp_name_without_arguments(char *text);

/** \brief "rows[*]" of "rows[3]", "area(*)" of "area(2,5)"; in place. */
void ompp_name_without_indices(char *text);

#endif
