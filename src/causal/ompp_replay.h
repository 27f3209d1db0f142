/**
 * \file
 * Where order is decided as the program runs: threads of a team between two barriers take turns at locks, and are handed out the iterations
 * of loops with a dynamic or guided schedule. Offsets alone cannot tell what happens then in the program with the faster region, for
 * other threads come first. So what the threads do is noted in pieces, and when all have come to the barrier it is gone through
 * once more for each clock, in the order in which things happen on that clock: a lock goes to the one that comes first, the next
 * iterations to the one that is free first. Going through it without any speed-up gives what the model makes of the measured program; the
 * difference is what is saved, so that a region that changes nothing saves exactly nothing.
 *
 * On plain data, as ompp_clocks.h: times are passed in, nothing here waits, allocates, or knows OpenMP.
 */
#ifndef OMPP_REPLAY_H
#define OMPP_REPLAY_H

#include "causal/ompp_clocks.h"

#define OMPP_REPLAY_PIECES 256u  /* of a team between two barriers */
#define OMPP_REPLAY_MEMBERS 64u
#define OMPP_REPLAY_LOCKS 32u    /* that are taken between two barriers */
#define OMPP_REPLAY_GRAIN 20000u /* ns: iterations handed out to a thread are one piece until it has been at them for so long */

/** What a thread does at the end of a piece of its work. */
typedef enum {
    OMPP_REPLAY_LOOP,     /* it comes to a loop, and asks for iterations */
    OMPP_REPLAY_CHUNK,    /* it asks for more */
    OMPP_REPLAY_LOOP_END, /* it has asked for more, and there were none */
    OMPP_REPLAY_LOCK,     /* it asks for a lock, and gets it */
    OMPP_REPLAY_UNLOCK,
    OMPP_REPLAY_END       /* it comes to the barrier */
} ompp_replay_op_t;

typedef struct {
    uint16_t member;
    uint16_t op;      /* ompp_replay_op_t */
    uint16_t next;    /* piece of the same member; 0 = none. Index + 1, as all links */
    uint16_t after;   /* LOOP: the member's first piece after the loop; 0 = none */
    uint64_t object;  /* LOCK, UNLOCK: the lock. LOOP: number of the loop, from 0, as the member counts */
    ompp_fine_t real; /* measured duration, waiting left out */
    ompp_fine_t v[OMPP_CLOCKS]; /* on each clock */
} ompp_piece_t;

/** Where a member is, of one that goes through the pieces. */
typedef struct {
    ompp_fine_t time;
    uint16_t at, after, waits; /* piece; first one behind the loop it is in; lock it waits for + 1 */
    int loop;                  /* that it is in; -1 = none */
} ompp_replayer_t;

/** An interval of a team. All zero bytes: nothing noted. */
typedef struct ompp_replay {
    bool spoiled; /* what happened cannot be gone through again */
    bool fits;    /* the last one that was gone through: without any speed-up it took as long as measured, within 2 % */
    uint64_t set;
    unsigned npieces, nmembers;
    ompp_time_t grain;
    struct {
        ompp_stamp_t begin, since; /* when the first piece, the present one began */
        uint16_t first, last;
        unsigned loops;
        bool in_loop, ended;
        ompp_time_t unit; /* when the present iterations were handed out */
    } members[OMPP_REPLAY_MEMBERS];
    ompp_piece_t pieces[OMPP_REPLAY_PIECES];
    /* Scratch of going through it: */
    ompp_replayer_t replayers[OMPP_REPLAY_MEMBERS];
    struct {
        uint64_t object;
        int holder; /* -1 = none */
        unsigned nqueue;
        uint16_t queue[OMPP_REPLAY_MEMBERS];
    } locks[OMPP_REPLAY_LOCKS];
    uint16_t nlocks;
    uint16_t units[OMPP_REPLAY_PIECES]; /* first pieces of iterations handed out, loop after loop, in the order of the program */
    uint16_t loop_begin[OMPP_REPLAY_PIECES + 1], loop_next[OMPP_REPLAY_PIECES];
    unsigned nloops;
} ompp_replay_t;

/** \brief Nothing noted, for clocks of this set. */
void ompp_replay_reset(ompp_replay_t *r, uint64_t set);

/** \brief A member takes part from now on. \param[in] now  its clocks. \return its number; -1 = too many, and the interval is spoiled. */
int ompp_replay_join(ompp_replay_t *r, const ompp_stamp_t *now);

/**
 * \brief A member has come to the end of a piece. For a LOCK, now is when it asked; what it has waited is told by ompp_replay_go_on().
 * \param[in] object  the lock; otherwise 0.
 */
void ompp_replay_note(ompp_replay_t *r, unsigned member, ompp_replay_op_t op, uint64_t object, const ompp_stamp_t *now);

/** \brief The member has waited for a lock, and goes on with these clocks. */
void ompp_replay_go_on(ompp_replay_t *r, unsigned member, const ompp_stamp_t *now);

/**
 * \brief All members have come to the barrier: what they leave it with.
 * \param[in,out] stamp  all of them, combined; v is replaced.
 * \return false when it cannot be told; stamp is as it was.
 */
bool ompp_replay_run(ompp_replay_t *r, ompp_stamp_t *stamp);

#endif
