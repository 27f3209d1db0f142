/**
 * \file
 * What the process asks of libompp-names.so: where variables lie that the user named in OMPP_DATA. The only contact
 * between the library that lives in the user's process and the one that reads debug information (libdwarf). Opened with
 * RTLD_LOCAL when there is a name to be found, and closed again; function looked up by OMPP_LOCATE_FUNCTION.
 */
#ifndef OMPP_LOCATED_H
#define OMPP_LOCATED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OMPP_LOCATE_FUNCTION "ompp_locate_4" /* the number changes with what stands here */

/** A module of the process. */
typedef struct {
    const char *path;
    uintptr_t bias; /* dlpi_addr of dl_iterate_phdr */
} ompp_locate_module_t;

#define OMPP_LOCATE_CODES 128

/** One name, and the answer. */
typedef struct {
    const char *name;  /* as the user wrote it, see docs/data.md */
    size_t found;      /* variables that it fits; 1: the next three are about it */
    uintptr_t line_of; /* of code in the process: not the name is looked up, but the line of this, for text; else 0 */
    uintptr_t address; /* in the process */
    uint64_t size;     /* bytes; 0 = not known */
    size_t module;     /* index */
    /* "solve.c:42": found ranges of its code, in several modules; the first of them in code, in the process */
    bool is_line;
    struct {
        uintptr_t begin, end; /* begin <= address < end */
        size_t module;
        bool other; /* of another line of the same statement */
    } code[OMPP_LOCATE_CODES];
    bool lies_elsewhere; /* found 1: it says where the data lie that may be meant */
    int no_part;    /* found 0: the variable is there, but not the part of it, or it is a function: text says why */
    char text[600]; /* found > 1: how to name each of them; 0: the nearest names; 1: a remark; may be "" */
} ompp_locate_t;

/**
 * \brief Looks each name up in module 0, and in the user's others when it is not there, in the system's where they are
 *        named; the code of a line in all.
 * \param[in]     modules  shape [nmodules].
 * \param[in,out] names    shape [n].
 * \param[in]     seconds  longest time for reading debug information; symbols are always read.
 */
typedef void ompp_locate_run_t(const ompp_locate_module_t *modules, size_t nmodules, ompp_locate_t *names, size_t n,
                               double seconds);

/**
 * \brief The next name of a list as the user writes it.
 * \param[in,out] rest  of the list, which is cut; NULL behind the last.
 */
char *ompp_locate_next(char **rest);

/**
 * \brief What there is to say of an answer: why nothing is counted, or a remark.
 * \param[in]  hooks  loads and stores are counted by hooks, and blocks of the heap are followed.
 * \param[out] why    one line, shape [n]; "" = nothing.
 */
void ompp_locate_why(const ompp_locate_t *answer, bool hooks, char *why, size_t n);

#endif
