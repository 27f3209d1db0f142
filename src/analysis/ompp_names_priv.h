/**
 * \file
 * Structures that get names of the source: what is known of each, and the list that they make. Private to src/analysis.
 */
#ifndef OMPP_NAMES_PRIV_H
#define OMPP_NAMES_PRIV_H

#include "base/ompp_table.h"
#include "model/ompp_profile.h"
#include "structure/ompp_local.h"

#define OMPP_NAMES_TEXT 400

typedef struct {
    ompp_structure_t *structure; /* NULL = it cannot be read */
    bool tried;
} ompp_names_module_t;

/** What a pointer that was named points to. */
typedef struct {
    ompp_structure_t *structure;
    uint64_t type; /* 0 = not known */
    bool fortran;
} ompp_names_target_t;

typedef struct {
    char name[OMPP_NAMES_TEXT]; /* "" = none */
    char rank;                  /* how good: kinds of holders, best last */
    ompp_names_target_t target; /* of the first name */
    bool mixed;                 /* the second one's is another: members are not its own */
    const char *function;       /* that the first name is a local variable of; borrowed, NULL = it is none */
} ompp_names_answer_t;

typedef struct {
    char *text;                 /* the name in the report; NULL = the user's */
    char *members;              /* what is told of them; NULL = nothing */
    ompp_names_answer_t answer; /* of the heap */
    enum { OMPP_NAMES_NEW, OMPP_NAMES_BUSY, OMPP_NAMES_DONE } state;
    uint64_t accesses;
} ompp_names_object_t;

typedef struct {
    ompp_profile_t *profile;
    double deadline;
    ompp_names_module_t *modules;
    ompp_names_object_t *objects;
    ompp_table_t by_key; /* heap: index + 1 */
    uint64_t late;
} ompp_names_t;

/** \return the name of a module's file: raw names lack letters that they have a use for. */
const char *ompp_names_module(const ompp_names_t *n, const char *name);

/** \brief Reads "module+1f40", or "+1f40" in the module of before. \return behind it; NULL = the end. */
const char *ompp_names_place(ompp_names_t *n, const char *text, ompp_structure_t **structure, uint64_t *at);

/** \brief Adds up the accesses to each structure. */
void ompp_names_count_accesses(ompp_names_t *n);

/** \brief Those of one name count as one. \return false: no memory. */
bool ompp_names_join_accesses(ompp_names_t *n);

/**
 * \brief Gives the profile its new list: one structure per name, in the order of accesses.
 * \return false: no memory.
 */
bool ompp_names_apply(ompp_names_t *n);

#endif
