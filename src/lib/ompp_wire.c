/*
 * Joins the parts of libompp that must not know each other.
 */
#include "causal/ompp_causal.h"
#include "runtime/ompp_lifecycle.h"
#include "runtime/ompp_plugin.h"

ompp_plugin_start_t *const ompp_builtin_parts[] = {ompp_causal_start, NULL};
