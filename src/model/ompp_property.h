/**
 * \file
 * The table of performance properties (ompp_property.def). Adding one means adding rows there.
 */
#ifndef OMPP_PROPERTY_H
#define OMPP_PROPERTY_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
#define OMPP_PROPERTY(id, name, advice) OMPP_PROPERTY_##id,
#include "model/ompp_property.def"
#undef OMPP_PROPERTY
    OMPP_PROPERTY_NUM
} ompp_property_t;

/** When a rule holds; see ompp_property.def. */
typedef enum {
    OMPP_WHEN_ALWAYS,
    OMPP_WHEN_LOOP,
    OMPP_WHEN_NOWAIT,
    OMPP_WHEN_CALLS,
    OMPP_WHEN_UNEVEN,
    OMPP_WHEN_FEW,
    OMPP_WHEN_OFTEN,
    OMPP_WHEN_LATE,
    OMPP_WHEN_IN_TURN,
    OMPP_WHEN_LITTLE,
    OMPP_WHEN_BRIEFLY,
    OMPP_WHEN_MAINLY,
    OMPP_WHEN_SENDER,
    OMPP_WHEN_RECEIVER,
    OMPP_WHEN_TRANSFER,
    OMPP_WHEN_TRANSFER_MUCH,
    OMPP_WHEN_RECEIVES,
    OMPP_WHEN_DELAYED,
    OMPP_WHEN_MOVES,
    OMPP_WHEN_MOVES_MUCH,
    OMPP_WHEN_TINY,
    OMPP_WHEN_FEW_ITERATIONS,
    OMPP_WHEN_SOME_ITERATIONS,
    OMPP_WHEN_FEW_CHUNKS,
    OMPP_WHEN_HANDED_OUT,
    OMPP_WHEN_UNCOUNTED,
    OMPP_WHEN_SHORT,
    OMPP_WHEN_QUICK
} ompp_property_when_t;

/** Whether the size of the tasks of a team explains what its threads wait. */
typedef enum { OMPP_TASKS_FIT, OMPP_TASKS_FINE, OMPP_TASKS_LARGE, OMPP_TASKS_NUM } ompp_task_size_t;

typedef struct {
    const char *name, *advice;
} ompp_property_row_t;

/** What a property says of some calls of MPI. */
typedef struct {
    uint8_t property;
    const char *calls, *advice; /* calls: with * for anything */
} ompp_property_call_t;

typedef struct {
    uint8_t construct, phase, when, property;
} ompp_property_rule_t;

/** The second property of a region, for the time of its phases of the class Mgmt. */
typedef struct {
    uint8_t construct, when, property;
} ompp_property_management_t;

extern const ompp_property_row_t ompp_properties[OMPP_PROPERTY_NUM];
extern const ompp_property_rule_t ompp_property_rules[];
extern const size_t ompp_nproperty_rules;
extern const ompp_property_management_t ompp_property_managements[];
extern const size_t ompp_nproperty_managements;
extern const uint8_t ompp_property_tasks[OMPP_TASKS_NUM]; /* by size; of OMPP_TASKS_FIT nothing */
extern const ompp_property_call_t ompp_property_calls[];
extern const size_t ompp_nproperty_calls;

/** \brief What to do about a property. \param call  the MPI function that it holds for, NULL or "" for none. */
const char *ompp_property_advice(ompp_property_t property, const char *call);

#endif
