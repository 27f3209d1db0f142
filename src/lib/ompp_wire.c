/*
 * Joins the parts of libompp that must not know each other.
 */
#include "causal/ompp_causal.h"
#include "process/ompp_lifecycle.h"
#include "process/ompp_plugin.h"

ompp_plugin_start_t *const ompp_builtin_parts[] = {ompp_causal_start, NULL};
