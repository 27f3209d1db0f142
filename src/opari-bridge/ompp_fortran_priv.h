/**
 * \file
 * How Fortran compilers write the name of an external procedure: one function with all its usual names. For
 * ompp_fortran.def.
 */
#ifndef OMPP_FORTRAN_PRIV_H
#define OMPP_FORTRAN_PRIV_H

#include <stddef.h>

#define OMPP_FORTRAN_ALIAS(name, same, type, parameters) \
    __attribute__((visibility("default"), alias(#same))) extern type name parameters;

/** The names but {lower, none}, for a function of another name. */
#define OMPP_FORTRAN_ALIASES(lower, upper, same, type, parameters) \
    OMPP_FORTRAN_ALIAS(lower##_, same, type, parameters)           \
    OMPP_FORTRAN_ALIAS(lower##__, same, type, parameters)          \
    OMPP_FORTRAN_ALIAS(upper, same, type, parameters)              \
    OMPP_FORTRAN_ALIAS(upper##_, same, type, parameters)           \
    OMPP_FORTRAN_ALIAS(upper##__, same, type, parameters)

/** {lower, upper} x {none, _, __}. The body of lower_ follows. */
#define OMPP_FORTRAN_NAMES(lower, upper, type, parameters)           \
    __attribute__((visibility("default"))) type lower##_ parameters; \
    OMPP_FORTRAN_ALIAS(lower, lower##_, type, parameters)            \
    OMPP_FORTRAN_ALIAS(lower##__, lower##_, type, parameters)        \
    OMPP_FORTRAN_ALIAS(upper, lower##_, type, parameters)            \
    OMPP_FORTRAN_ALIAS(upper##_, lower##_, type, parameters)         \
    OMPP_FORTRAN_ALIAS(upper##__, lower##_, type, parameters)        \
    type lower##_ parameters

#endif
