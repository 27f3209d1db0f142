/**
 * \file
 * Where the commands find the libraries and headers: beside themselves, installed or in the build tree.
 */
#ifndef OMPP_TOOLS_PLACE_H
#define OMPP_TOOLS_PLACE_H

/** Absolute paths; static storage, valid after ompp_place_find(). Empty when not found. */
typedef struct {
    const char *lib;        /* directory of libompp.so */
    const char *include;    /* directory of ompp.h */
    const char *pkginclude; /* directory that holds opari2/pomp2_lib.h */
} ompp_place_t;

/**
 * \brief Finds the places from the path of the running program. A file `ompp-build-tree` beside it, made by the build,
 *        says where the headers are; otherwise the configured directories, or those relative to the program if it was
 *        moved.
 */
const ompp_place_t *ompp_place_find(void);

#endif
