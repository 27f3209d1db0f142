/**
 * \file
 * What a program is, and which of our libraries belong in front of it: read from its file and those of its libraries,
 * without running it.
 */
#ifndef OMPP_TOOLS_PROGRAM_H
#define OMPP_TOOLS_PROGRAM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/** The OpenMP library whose functions the program gets: of several, the one that is first in the dynamic linker's
 * search order. */
typedef enum { OMPP_OPENMP_NONE, OMPP_OPENMP_GOMP, OMPP_OPENMP_LLVM } ompp_openmp_t;

/** What a program needs, directly or through libraries. */
typedef struct {
    char mpi[256];                  /* soname of its MPI library; "" = none */
    char sanitizer[64];             /* soname of a sanitizer's runtime, which has to be in front; "" = none */
    bool mpi_f77, mpi_f90, mpi_f08; /* libraries of MPI's Fortran bindings */
    ompp_openmp_t openmp;
    bool both;      /* libgomp and libomp */
    bool pmi, pmix; /* a resource manager's library by which ranks find each other */
} ompp_needs_t;

/** \brief What the program in this file needs. */
void ompp_program_needs(const char *path, ompp_needs_t *needs);

/** A program that is to be run. Strings live as long as the process. */
typedef struct {
    char path[PATH_MAX]; /* file to be executed: for a script, its interpreter */
    char **argv;         /* as the system would give them */
    /* "" = it can be measured; else why not, as the rest of a sentence whose subject it is */
    char why[2 * PATH_MAX + 200];
    char remedy[200]; /* what to do about it, as a command; "" = nothing that is known */
    bool shell;       /* a shell: what is of interest is what it starts */
    int status;       /* 0, or exit status when it cannot even be run */
} ompp_program_t;

/**
 * \brief Finds a program as the shell finds it, and looks at its file. Follows the first line of a script.
 * \param[in] argv      of the program; argv[0] is its name.
 * \param[in] children  what it starts is measured as well: shell scripts and the like can be run.
 */
void ompp_program_find(char **argv, bool children, ompp_program_t *program);

/** \brief The same of a file that has been found. \param[in] path  of the file. */
void ompp_program_take(const char *path, char **argv, bool children, ompp_program_t *program);

/** \brief Is this a command that starts what is to be measured (mpirun, env, taskset, ...)? By its name. */
bool ompp_program_starts_others(const char *name);

/** \brief Is it one that starts ranks of MPI (mpirun, srun, ...)? */
bool ompp_program_starts_ranks(const char *name);

/**
 * \brief The library of wrappers for an MPI library.
 * \param[in] dir     where our libraries are.
 * \param[in] soname  of the program's MPI library; NULL with family.
 * \param[in] family  openmpi, mpich or other; NULL with soname.
 * \param[out] path   [PATH_MAX].
 * \return false when there is none.
 */
bool ompp_program_mpi_library(const char *dir, const char *soname, const char *family, char *path);

/** \brief LLVM's OpenMP library of this machine. \param[out] path [PATH_MAX]. \return false when it is not found. */
bool ompp_program_find_libomp(char *path);

#endif
