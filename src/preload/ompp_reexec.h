/**
 * \file
 * Programs that a measured program starts (--children): each has the libraries that it needs, not those of who started
 * it.
 */
#ifndef OMPP_REEXEC_H
#define OMPP_REEXEC_H

/**
 * \brief When libraries of ours are missing, or are those of another MPI, the launcher starts the program anew, with
 *        those that it needs: nothing of it has run yet. Does not return then.
 * \param[in] argv, envp  of main(); borrowed.
 * \note At load, before all else.
 */
void ompp_reexec_check(char **argv, char **envp);

#endif
