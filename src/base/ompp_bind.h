/**
 * \file
 * Launchers bind ranks to processors, and how to tell them not to.
 */
#ifndef OMPP_BIND_H
#define OMPP_BIND_H

/** A launcher. */
typedef struct {
    const char *name;     /* openmpi, slurm, mpich */
    const char *variable; /* that its ranks have */
    const char *words;    /* what to write, for people */
    const char *option;   /* the first of it; what ends with '=' wants the number of threads */
} ompp_bind_t;

/** \brief A launcher by its name, or the one that started this process. \param[in] name  NULL: this process. \return NULL = none. */
const ompp_bind_t *ompp_bind_find(const char *name);

#endif
