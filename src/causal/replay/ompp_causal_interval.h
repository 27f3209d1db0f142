/**
 * \file
 * What a team does between two of its barriers: how it is noted, and gone through again (ompp_causal_interval.c). Among
 * the files of this folder.
 */
#ifndef OMPP_CAUSAL_INTERVAL_H
#define OMPP_CAUSAL_INTERVAL_H

#include "causal/replay/ompp_causal_object.h"

/** \return the thread's count of barriers of a team. */
static inline uint32_t *ompp_causal_generation(ompp_causal_thread_t *self, uint64_t team)
{
    unsigned i = 0;

    while (i < OMPP_CAUSAL_BARRIERS && self->barriers[i].team != team) i++;
    if (i == OMPP_CAUSAL_BARRIERS) {
        i = self->next_barrier++ % OMPP_CAUSAL_BARRIERS;
        self->barriers[i].team = team;
        self->barriers[i].generation = 0;
    }
    return &self->barriers[i].generation;
}

/** \return whether the thread takes part in what is noted of the team before that barrier. */
bool ompp_causal_takes_part(const ompp_causal_thread_t *self, const ompp_causal_object_t *o, uint32_t generation);

/**
 * \brief Notes what the thread does, at the time of self->own.
 * \param[in] flag_bit, slots  what would be another order, for these slots: that says something only when the interval
 *                             cannot be gone through again.
 */
void ompp_causal_note(ompp_causal_thread_t *self, ompp_replay_op_t op, uint64_t object, unsigned flag_bit,
                      uint32_t slots);

/** \brief The thread has waited, which is no work, and goes on in its interval at clocks.since. */
void ompp_causal_interval_go_on(ompp_causal_thread_t *self);

/** \brief All have come to the barrier of this generation: the first one that goes on goes through what was noted. */
void ompp_causal_go_through(ompp_causal_object_t *o, uint32_t generation);

#endif
