/**
 * \file
 * What processes leave behind that did not end well: their profiles, found and joined. The commands merge and collect
 * of ompp-report.
 */
#ifndef OMPP_TOOLS_REPORT_LEFT_H
#define OMPP_TOOLS_REPORT_LEFT_H

#include "model/ompp_collect.h"
#include "model/ompp_profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/** A file that was read. */
typedef struct {
    char *path; /* owned */
    dev_t device;
    ino_t inode;
    bool own;         /* it is this user's */
    ompp_life_t life; /* of its process */
} ompp_left_file_t;

/** The profile of one process, as a file holds it: the one it wrote into (arena), or a compact copy of that. */
typedef struct {
    ompp_left_file_t file;
    ompp_profile_t *profile; /* owned, of one rank */
    bool copy;               /* compact copy */
    size_t run;              /* number of the run it belongs to */
    bool chosen;             /* it is the one to take where several are of the same rank */
} ompp_left_t;

typedef struct {
    ompp_left_t *piece; /* [n] */
    size_t n, allocated;
    ompp_left_file_t *foreign; /* [nforeign] of another version of ompp, which only that one can read */
    size_t nforeign;
    size_t nruns;
    size_t nskipped;      /* files of other users in directories, which are not opened */
    unsigned patience_ms; /* how long to wait, in all, for processes that still run: the end of a job may be just now */
} ompp_left_list_t;

/**
 * \brief Adds what a file or a directory holds. Other files in a directory are passed over in silence, and those of
 *        other users are counted.
 * \param[in] path   NULL: OMPP_JOB_DIR alone, or when that is not set the directories that a run takes then.
 * \return pieces added; -1 when path cannot be read, or names a file of another kind: why says what. Files of other
 *         versions are noted, and not counted.
 */
long ompp_left_find(ompp_left_list_t *list, const char *path, char *why, size_t n);

/**
 * \brief Removes a file that was read, and nothing else that others may have put under its name.
 * \return success, or errno: ESTALE when something else is there now.
 */
bool ompp_left_remove(const ompp_left_file_t *file);

/** \brief Why a file is not read, and what to do. \param[in] rc  the error; errno says more. */
void ompp_left_why(const char *path, int rc, char *why, size_t n);

/**
 * \brief Opens a file that is named. When it is another user's, ompp_report_note_maker() is told.
 * \return descriptor, -1 with errno.
 */
int ompp_left_open(const char *path);

/** \brief Directories in which a run leaves things: borrowed. \return their number. */
size_t ompp_left_places(const char *dirs[3]);

/** \return whether the process is gone whose file has this name. */
bool ompp_left_is_gone(const char *name);

/** \brief Where is looked when nothing is named, as text: "OMPP_JOB_DIR=/scratch/x", "/dev/shm, /tmp". */
void ompp_left_usual_places(char *text, size_t n);

/**
 * \brief Sorts by run and rank, numbers the runs from 0 and chooses one piece per rank: the one that knows most.
 *
 * A run: the ranks have agreed upon its name in MPI_Init. A process that died before belongs to the run of the same
 * launcher's job that lacks its rank.
 */
void ompp_left_group(ompp_left_list_t *list);

/**
 * \brief Joins the chosen pieces of a run, and names the ranks that are missing.
 * \param[in] running  also pieces of processes that still run.
 * \return owned, ompp_profile_free(); NULL when there is none, or out of memory.
 */
ompp_profile_t *ompp_left_join(const ompp_left_list_t *list, size_t run, bool running);

/** What is known of a run without joining it. */
typedef struct {
    const char *app;         /* borrowed from the list */
    const char *path;        /* of its first piece; borrowed */
    const char *end;         /* how the first rank ended that is known to have; borrowed */
    size_t length;           /* of end, characters */
    size_t found, living;    /* ranks that have left something; of them, those that still run */
    uint32_t nranks;         /* size of MPI_COMM_WORLD, 1 without MPI */
    uint64_t begin_epoch_ns; /* when its first process started */
} ompp_left_run_t;

/** \brief Describes a run of a list that is grouped. */
ompp_left_run_t ompp_left_run(const ompp_left_list_t *list, size_t run);

void ompp_left_free(ompp_left_list_t *list);

#endif
