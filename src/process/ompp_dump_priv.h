/**
 * \file
 * Reports by the clock. Private to src/process.
 */
#ifndef OMPP_DUMP_PRIV_H
#define OMPP_DUMP_PRIV_H

/** \brief Starts the thread that writes reports every OMPP_DUMP_INTERVAL seconds and copies every OMPP_CHECKPOINT
 *        seconds; nothing without these variables. */
void ompp_dump_start(void (*dump)(void), void (*checkpoint)(void));

/** \brief Ends it and waits for a report that it is writing, for a limited time. */
void ompp_dump_stop(void);

#endif
