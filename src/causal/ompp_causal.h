/**
 * \file
 * Causal profiling: what src/lib starts. Virtual clocks for every thread, moved by the meter interface (where work is
 * done) and by runtime/ompp_sync.h (who waits for whom). Results go to the arena: runtime/ompp_whatif_record.h.
 */
#ifndef OMPP_CAUSAL_H
#define OMPP_CAUSAL_H

/** \brief Starts what OMPP_CAUSAL asks for; a built-in part (runtime/ompp_plugin.h). */
void ompp_causal_start(void);

#endif
