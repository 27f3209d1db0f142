/**
 * \file
 * Launchers bind ranks to processors, and how to tell them not to.
 */
#ifndef OMPP_BIND_H
#define OMPP_BIND_H

#include <stddef.h>

enum { OMPP_BIND_SPELLINGS = 9 };

/** A way to say in a launcher's line how many processors a rank has. */
typedef struct {
    /* as it is written; its value is the next word, or behind '='; of a letter also right behind it */
    const char *option;
    const char *value; /* only if its value has this, in whatever case; NULL: any */
} ompp_bind_spelling_t;

/** A launcher. */
typedef struct {
    const char *name;     /* openmpi, slurm, mpich */
    const char *variable; /* that its ranks have */
    const char *words;    /* what to write, for people */
    const char *option;   /* the first of it; what ends with '=' wants the number of threads */
    /* what a line says that it takes the place of; closed by NULL */
    ompp_bind_spelling_t spellings[OMPP_BIND_SPELLINGS + 1];
} ompp_bind_t;

/**
 * \brief A launcher by its name, or the one that started this process.
 * \param[in] name  NULL: this process.
 * \return NULL = none.
 */
const ompp_bind_t *ompp_bind_find(const char *name);

/**
 * \brief Words in which a launcher's line says how many processors a rank has.
 * \param[in] words  the rest of the line, closed by NULL.
 * \return how many, from words[0]; 0: that one says something else.
 */
size_t ompp_bind_said(const ompp_bind_t *bind, char *const *words);

#endif
