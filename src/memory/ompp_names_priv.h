/**
 * \file
 * OMPP_DATA: data structures named by the user and found by their symbols. Private to src/memory.
 */
#ifndef OMPP_NAMES_PRIV_H
#define OMPP_NAMES_PRIV_H

/**
 * \brief Registers the variables of a list of names, found in the program's symbols, else in those of its libraries.
 *
 * A name fits a variable of that name; a static variable of a function ("count", "count.0", "function.count"); a C++ or Fortran
 * module variable with or without its scope ("geo::count", "shapes::area"); a Fortran common block, without underscore. A name that
 * fits several is not registered: they are listed, for one of them to be named by its symbol.
 * \param[in] names  separated by commas.
 */
void ompp_names_register(const char *names);

#endif
