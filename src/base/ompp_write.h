/*
 * Writing that cannot kill the program: a pipe whose reader is gone and a limit of file sizes raise signals, and those
 * are held back and taken while we write. Whoever writes into files or pipes in the program's process calls this.
 */
#ifndef OMPP_WRITE_H
#define OMPP_WRITE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/** What ompp_write_end() gives back. */
typedef struct {
    sigset_t mask, pending;
    bool blocked;
} ompp_write_t;

/**
 * \brief SIGPIPE and SIGXFSZ do not reach the calling thread until ompp_write_end(); write() says EPIPE or EFBIG.
 *
 * \param[out] state  caller's, for ompp_write_end().
 * \note Threads: any; the two calls by one thread. The program's handlers and its mask stay as they are.
 */
void ompp_write_begin(ompp_write_t *state);

/**
 * \brief Takes the signals that came since ompp_write_begin(), and restores the mask. What was pending before is the
 *        program's, and stays.
 *
 * \param[in] state  of ompp_write_begin(). errno stays as it was.
 */
void ompp_write_end(const ompp_write_t *state);

/**
 * \brief Why a file cannot be written, in words; and what the user can do about it, as the beginning of a message.
 *
 * \param[in] error  errno.
 * \param[in] choose what the user does to have it elsewhere, "set OMPP_OUTDIR to a directory".
 * \return text, borrowed; of ompp_write_remedy the caller's, [size].
 */
const char *ompp_write_why(int error);
char *ompp_write_remedy(int error, const char *choose, char *text, size_t size);

/**
 * \brief One write(2) of n bytes to the standard error that the process came with.
 *
 * Nothing is written when that is closed, also when descriptor 2 is by now another file, which is one of the program's.
 * \param[in] text  borrowed, n bytes.
 * \note Threads: any. errno stays as it was.
 */
void ompp_write_stderr(const char *text, size_t n);

#endif
