/**
 * \file
 * Which libraries of MPI and OpenMP, and which of ours for them, are in the process now.
 */
#ifndef OMPP_LOADED_H
#define OMPP_LOADED_H

#include <stdbool.h>

typedef struct {
    char wrapped[16];         /* family of the MPI whose calls are told; "" = none */
    char mpi[64];             /* an MPI library of another family; "" = none */
    const char *family;       /* of that one; "" = none */
    bool gomp, gomp_reported; /* libgomp; our functions in front of it */
} ompp_loaded_t;

/** \param[out] loaded  all of it. \note Threads: any. */
void ompp_loaded_look(ompp_loaded_t *loaded);

#endif
