/**
 * \file
 * A launched program that replaces itself by another (exec), as a shell by the last command of its script. Private to
 * src/preload.
 */
#ifndef OMPP_EXEC_H
#define OMPP_EXEC_H

/** \brief From now on the program's calls of exec go by the launcher. In a launched process, at load. */
void ompp_exec_follow(void);

#endif
