/**
 * \file
 * Elements of the XML file that are no records of the profile: they follow from it, or stand for a part of a record.
 */
#include "analysis/ompp_efficiency.h"
#include "analysis/ompp_properties.h"
#include "analysis/ompp_whatif.h"
#include "model/ompp_record_rows.h"
#include "report/ompp_xml_priv.h"

static const char *const verdicts[] = {[OMPP_WHATIF_AGREES] = "agrees",
                                       [OMPP_WHATIF_BUSY_FOR_NOTHING] = "busy-for-nothing",
                                       [OMPP_WHATIF_SMALL_BUT_CRITICAL] = "small-but-critical"};

static OMPP_NAMES(verdict, verdicts, );
static OMPP_NAMES(property, ompp_properties, .name);
static OMPP_NAMES(lost, ompp_lost_rows, .name);

#include "report/ompp_xml_record.def"
