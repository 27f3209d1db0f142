/**
 * \file
 * Which processes of a job are measured, found out without MPI: what is collective in MPI waits for ranks that are not
 * measured, and messages to them would be received by the program. A directory is the place; its files are the
 * processes that have come, and the first one who sees all of them, or whose patience ends, writes down who is there.
 * That is one file, which appears as a whole and once, and is what everybody goes by: no two of those in it can think
 * differently. Who gives up writes it, too, and names nobody.
 *
 * What a killed job has left under the same name is told by processes that are gone, and elsewhere by its age.
 *
 * All of it works on file systems of networks, too, and needs no locks.
 */
#ifndef OMPP_RANK_DISCOVERY_H
#define OMPP_RANK_DISCOVERY_H

#include <stdbool.h>
#include <sys/types.h>

#pragma GCC visibility push(default)

/** A place for one meeting. Zero: there is none. */
typedef struct {
    char place[4400];
    dev_t device; /* the directory of that name, as it was found */
    ino_t inode;
    int fd; /* held: open */
    bool held;
    double arrival_s, old_s; /* of ompp_rank_discovery_hold(), for what others have left */
} ompp_rank_discovery_t;

/** How long to wait. */
typedef struct {
    int all;           /* ranks that could come; when they are there, nobody waits */
    double patience_s; /* for ranks that nobody has announced */
    double limit_s;    /* for those that were announced */
} ompp_rank_discovery_limits_t;

/**
 * \brief Makes the place, or finds it made.
 * \param[in] dirs  where it may be, best first, NULL behind the last.
 * \param[in] name  of the meeting: the same for all who shall meet, and for nobody else; any text.
 * \return false when it can be nowhere.
 */
bool ompp_rank_discovery_open(ompp_rank_discovery_t *discovery, const char *const *dirs, const char *name);

/** \brief Says that this process will come: others wait for it. */
void ompp_rank_discovery_announce(ompp_rank_discovery_t *discovery);

/**
 * \brief Comes with some ranks, and waits for others; bounded.
 * \param[in]  ranks    n of them, ascending; n > 0.
 * \param[out] met      owned, free(): those that have met, ascending, ranks among them; only ranks when this process
 *                      came too late.
 * \return their number; 0: out of memory, *met = NULL.
 */
int ompp_rank_discovery_hold(ompp_rank_discovery_t *discovery, const int *ranks, int n,
                             const ompp_rank_discovery_limits_t *limits, int **met);

/**
 * \brief This process will not come after all, or knows who has met: takes back what it has put there. The last one
 *        removes the place; names of processes that have ended do not count.
 */
void ompp_rank_discovery_leave(ompp_rank_discovery_t *discovery);

#pragma GCC visibility pop

#endif
