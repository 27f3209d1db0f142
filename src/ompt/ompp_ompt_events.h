/* Callbacks of OMPT that ompp_ompt.c asks for, and that are in files of their own. Private to src/ompt. */
#ifndef OMPP_OMPT_EVENTS_H
#define OMPP_OMPT_EVENTS_H

#include <omp-tools.h>

/* ---- Mutexes (ompp_ompt_mutex.c) --------------------------------------------------------------------------------- */

void ompp_ompt_on_mutex_acquire(ompt_mutex_t kind, unsigned hint, unsigned impl, ompt_wait_id_t wait, const void *code);
void ompp_ompt_on_mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t wait, const void *code);
void ompp_ompt_on_nest_lock(ompt_scope_endpoint_t endpoint, ompt_wait_id_t wait, const void *code);
void ompp_ompt_on_mutex_released(ompt_mutex_t kind, ompt_wait_id_t wait, const void *code);

/* ---- Tasks (ompp_ompt_task.c) ------------------------------------------------------------------------------------ */

void ompp_ompt_on_task_dependence(ompt_data_t *before, ompt_data_t *after);
void ompp_ompt_on_task_create(ompt_data_t *encountering, const ompt_frame_t *frame, ompt_data_t *task, int flags,
                              int dependences, const void *code);
void ompp_ompt_on_task_schedule(ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next);

#endif
