/**
 * \file
 * Programs and libraries of others that are known by the name of their file.
 */
#ifndef OMPP_KNOWN_H
#define OMPP_KNOWN_H

#include <stdbool.h>

/** \brief Is it a shell: what is of interest is not what it does, but what it starts? */
bool ompp_known_shell(const char *path);

/** \return family of an MPI library (libmpi.so.40, not libmpi_cxx.so): openmpi, mpich or other; "" = it is none. */
const char *ompp_known_mpi(const char *path);

/**
 * \brief Does the file belong to an MPI, by its name: libmpi.so, libmpi_mpifh.so.40, mca_btl_tcp.so? Not libraries that
 *        only have MPI in their names.
 */
__attribute__((visibility("default"))) bool ompp_known_mpi_part(const char *path);

/** Whose code a file is. */
typedef enum {
    OMPP_OWNER_PROGRAM, /* and its libraries, MPI's too */
    OMPP_OWNER_OURS,    /* libraries of ompp */
    OMPP_OWNER_OPENMP,  /* an OpenMP library */
    OMPP_OWNER_SYSTEM   /* the C library, the loader */
} ompp_owner_t;

/** \return whose code it is, by the name of the file. */
ompp_owner_t ompp_known_owner(const char *path);

/** \return a family as users call it: Open MPI, MPICH, another MPI. */
const char *ompp_known_family(const char *family);

/**
 * \brief Does one of valgrind's tools run this process? Its callgrind (3.19) ends the program when a signal comes in a
 *        thread; all of them print a line about system calls that do not exist.
 */
bool ompp_known_in_valgrind(void);

#endif
