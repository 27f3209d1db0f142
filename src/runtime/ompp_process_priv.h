/**
 * \file
 * What the process is: paths and names taken at start. Private to src/runtime.
 */
#ifndef OMPP_PROCESS_PRIV_H
#define OMPP_PROCESS_PRIV_H

/** \return path of the program, never NULL. */
const char *ompp_program_path(void);

/** \return working directory at the start of the program, "" when unknown. */
const char *ompp_program_dir(void);

#endif
