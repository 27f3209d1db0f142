/**
 * \file
 * A line on a terminal that says what takes long; nothing in a pipe, and nothing of what is soon done.
 */
#ifndef OMPP_TOOLS_PROGRESS_H
#define OMPP_TOOLS_PROGRESS_H

/**
 * \brief From half a second on, stderr has a line with what, and the share of the file that is read, or the seconds.
 * \param[in] command  whose line it is. \param[in] what  one line; copied. \param[in] fd  of the file; -1 = none.
 */
void ompp_progress_begin(const char *command, const char *what, int fd);

/** \brief Takes the line away: before anything else is printed. Nothing to do when there is none. */
void ompp_progress_end(void);

#endif
