/*
 * What our part of locks and critical sections costs: the callbacks are called as the OpenMP library calls them. What
 * it does to call them is not known.
 */
#include "ompt/ompp_ompt_tool.h"
#include "runtime/ompp_event.h"

static ompt_callback_mutex_acquire_t acquire;
static ompt_callback_mutex_t acquired, released;

static void mutex(ompt_mutex_t kind, void *lock)
{
    const ompt_wait_id_t wait = (ompt_wait_id_t)(uintptr_t)lock;

    acquire(kind, 0, 0, wait, lock);
    ompp_calibrated_set(lock);
    acquired(kind, wait, lock);
    ompp_calibrated_unset(lock);
    released(kind, wait, lock);
}

static void critical(ompp_region_ref_t region, void *lock)
{
    (void)region;
    mutex(ompt_mutex_critical, lock);
}

static void set_and_unset(void *lock) { mutex(ompt_mutex_lock, lock); }

void ompp_ompt_calibrate(ompt_callbacks_t event, ompt_callback_t function)
{
    static const ompp_calibrated_t calibrated = {critical, set_and_unset};

    switch ((int)event) {
    case ompt_callback_mutex_acquire: acquire = (ompt_callback_mutex_acquire_t)function; return;
    case ompt_callback_mutex_acquired: acquired = (ompt_callback_mutex_t)function; return;
    case ompt_callback_mutex_released: released = (ompt_callback_mutex_t)function; break;
    default: return;
    }
    if (acquire && acquired) ompp_event_calibrate_by(&calibrated);
}
