/*
 * What happens when this library is loaded, and when object files with hooks are.
 */
#include "hooks/ompp_count_priv.h"

#include "hooks/ompp_free_priv.h"
#include "hooks/ompp_whose.h"
#include "process/ompp_lifecycle.h"
#include "runtime/ompp_event.h"

static bool at_load_is_over; /* all of the program's libraries are there */

/*
 * Before threads come that are metered. Other libraries' constructors may run hooks before: those start it, too. The
 * runtime starts now and not at the first hook, which may be one of a signal handler that interrupts its start.
 */
__attribute__((constructor)) static void at_load(void)
{
    const ompp_own_t own = ompp_runtime_own_begin();

    ompp_counter_start();
    ompp_free_start();
    ompp_runtime_start();
    ompp_data_resolve();
    ompp_runtime_own_end(&own);
    at_load_is_over = true;
}

/* Called by libompp (src/lib/ompp_wire.c) before a thread begins. */
extern __attribute__((visibility("default"))) void ompp_memory_before_threads(void);
void ompp_memory_before_threads(void) { ompp_counter_start(); }

void ompp_counter_file(unsigned compiler)
{
    __atomic_fetch_add(&ompp_counter_files[compiler], 1, __ATOMIC_RELAXED);
    if (!at_load_is_over) return;
    ompp_data_resolve(); /* it may be of a library that was opened now */
    ompp_whose_refresh();
}
