/**
 * \file
 * What the process is: paths and names taken at start. Private to src/runtime.
 */
#ifndef OMPP_PROCESS_PRIV_H
#define OMPP_PROCESS_PRIV_H

/** \return path of the program, never NULL. */
const char *ompp_program_path(void);

/** \return whether "ompp --" started this program: somebody expects a report of it. */
bool ompp_is_launched(void);

/** \return working directory at the start of the program, "" when unknown. */
const char *ompp_program_dir(void);

#endif
