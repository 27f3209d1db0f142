/**
 * \file
 * Members of structures that nobody has named: what was told of offsets (model/ompp_raw.h), as members. Private to what
 * names structures.
 *
 * In a report, behind OMPP_OBJECT_ALL in a structure's origin stands ";NAME BYTES REFERENCES MISSES MISSES MISSES" for
 * each member: its share of the structure's bytes, references and misses of L1, L2, L3, in hundredths of a percent.
 */
#ifndef OMPP_ANALYSIS_MEMBERS_H
#define OMPP_ANALYSIS_MEMBERS_H

#include "structure/ompp_local.h"

/** What lies at an offset: a variable at an address, or an element of a type in a block. */
typedef struct {
    ompp_structure_t *structure;
    uint64_t addr;       /* of a variable in the module's file; 0 = it is a block */
    uint64_t type, size; /* of an element; of a variable its bytes */
    bool fortran;
    double deadline;
} ompp_whole_t;

/** \return "(all)" and what is known of members; owned, free(); NULL when nothing is. */
char *ompp_members_of(const ompp_whole_t *whole, const char *origin);

/** One of them, as a report has it. Shares are of 10000. */
typedef struct {
    const char *name; /* borrowed, name_length bytes */
    int name_length;
    uint32_t bytes, references, misses[3];
} ompp_member_share_t;

/** \brief The next member of an origin. \param[in,out] rest  at first the origin. \return false: there is no more. */
bool ompp_members_next(const char **rest, ompp_member_share_t *member);

#endif
