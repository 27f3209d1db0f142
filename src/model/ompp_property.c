#include "model/ompp_property.h"

#include "model/ompp_tables.h"

#include <fnmatch.h>

const ompp_property_row_t ompp_properties[OMPP_PROPERTY_NUM] = {
#define OMPP_PROPERTY(id, name, advice) [OMPP_PROPERTY_##id] = {name, advice},
#include "model/ompp_property.def"
#undef OMPP_PROPERTY
};

const ompp_property_rule_t ompp_property_rules[] = {
#define OMPP_PROPERTY_RULE(construct, phase, when, property) \
    {OMPP_CONSTRUCT_##construct, OMPP_PHASE_##phase, OMPP_WHEN_##when, OMPP_PROPERTY_##property},
#include "model/ompp_property.def"
#undef OMPP_PROPERTY_RULE
};
const size_t ompp_nproperty_rules = sizeof ompp_property_rules / sizeof ompp_property_rules[0];

const ompp_property_management_t ompp_property_managements[] = {
#define OMPP_PROPERTY_MANAGEMENT(construct, when, property) \
    {OMPP_CONSTRUCT_##construct, OMPP_WHEN_##when, OMPP_PROPERTY_##property},
#include "model/ompp_property.def"
#undef OMPP_PROPERTY_MANAGEMENT
};
const size_t ompp_nproperty_managements = sizeof ompp_property_managements / sizeof ompp_property_managements[0];

const uint8_t ompp_property_tasks[OMPP_TASKS_NUM] = {
#define OMPP_PROPERTY_TASKS(size, property) [OMPP_TASKS_##size] = OMPP_PROPERTY_##property,
#include "model/ompp_property.def"
#undef OMPP_PROPERTY_TASKS
};

const ompp_property_call_t ompp_property_calls[] = {
#define OMPP_PROPERTY_CALL(property, calls, advice) {OMPP_PROPERTY_##property, calls, advice},
#include "model/ompp_property.def"
#undef OMPP_PROPERTY_CALL
};
const size_t ompp_nproperty_calls = sizeof ompp_property_calls / sizeof ompp_property_calls[0];

const char *ompp_property_advice(ompp_property_t property, const char *call)
{
    const ompp_property_t kind = property == OMPP_PROPERTY_MPI_MUCH ? OMPP_PROPERTY_MPI_COMMUNICATION : property;

    for (size_t i = 0; call && *call && i < ompp_nproperty_calls; i++) {
        const ompp_property_call_t *row = &ompp_property_calls[i];
        if (row->property == kind && fnmatch(row->calls, call, 0) == 0) return row->advice;
    }
    return ompp_properties[property].advice;
}
