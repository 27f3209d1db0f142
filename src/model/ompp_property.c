#include "model/ompp_property.h"

#include "model/ompp_tables.h"

const ompp_property_row_t ompp_properties[OMPP_PROPERTY_NUM] = {
#define OMPP_PROPERTY(id, name, advice) [OMPP_PROPERTY_##id] = {name, advice},
#include "model/ompp_property.def"
#undef OMPP_PROPERTY
};

const ompp_property_rule_t ompp_property_rules[] = {
#define OMPP_PROPERTY_RULE(construct, phase, when, property)                                                           \
    {OMPP_CONSTRUCT_##construct, OMPP_PHASE_##phase, OMPP_WHEN_##when, OMPP_PROPERTY_##property},
#include "model/ompp_property.def"
#undef OMPP_PROPERTY_RULE
};
const size_t ompp_nproperty_rules = sizeof ompp_property_rules / sizeof ompp_property_rules[0];
