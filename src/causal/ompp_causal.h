/**
 * \file
 * Causal profiling: what src/lib starts. Virtual clocks for every thread, moved as by a meter (where work is
 * done) and by runtime/ompp_sync.h (who waits for whom). Results go to the arena: runtime/ompp_whatif_record.h.
 */
#ifndef OMPP_CAUSAL_H
#define OMPP_CAUSAL_H

#include "runtime/ompp_component.h"

/** What OMPP_CAUSAL asks for. */
extern const ompp_component_t ompp_causal_component;

#endif
