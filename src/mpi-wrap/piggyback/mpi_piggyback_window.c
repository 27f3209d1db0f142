/**
 * \file
 * Clock vectors of one-sided communication: a fence is a collective call; post and complete are messages to those that
 * start and wait. What passive targets wait for nobody knows: such calls are marked.
 */
#include "mpi-wrap/piggyback/mpi_piggyback_collective_priv.h"
#include "mpi-wrap/piggyback/mpi_piggyback_message_priv.h"

#include <stdlib.h>
#include <string.h>

enum { TAG_POST = 1, TAG_COMPLETE = 2 };

/* Ranks of an epoch. */
typedef struct {
    int number, *ranks;
} group_t;

typedef struct ompp_mpi_window {
    struct ompp_mpi_window *next;
    MPI_Win win;
    MPI_Comm own;    /* the window's ranks */
    group_t origins; /* posted for: Win_wait waits for them */
    group_t targets; /* started to: Win_complete may wait for them */
} window_t;

static struct {
    pthread_mutex_t lock;
    window_t *first;
} windows = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- Table ------------------------------------------------------------------------------------------------------- */

static window_t *find(MPI_Win win, bool remove)
{
    window_t **link = &windows.first, *w;

    pthread_mutex_lock(&windows.lock);
    while (*link && (*link)->win != win) link = &(*link)->next;
    w = *link;
    if (w && remove) *link = w->next;
    pthread_mutex_unlock(&windows.lock);
    return w;
}

static MPI_Win made_of(const ompp_mpi_piggyback_t *s)
{
    return s->fortran ? PMPI_Win_f2c(*(MPI_Fint *)s->made) : *(MPI_Win *)s->made;
}

static void add(window_t *w)
{
    pthread_mutex_lock(&windows.lock);
    w->next = windows.first;
    windows.first = w;
    pthread_mutex_unlock(&windows.lock);
}

static void delete (window_t *w)
{
    if (!w) return;
    if (w->own != MPI_COMM_NULL) PMPI_Comm_free(&w->own);
    free(w->origins.ranks);
    free(w->targets.ranks);
    free(w);
}

/*
 * Collective: all ranks of the communicator made the window. One with this handle may be gone unseen, in a call that is
 * nested in another one.
 */
static void make(MPI_Win win, ompp_mpi_shadow_t *shadow)
{
    delete (find(win, true));
    if (!shadow) return;
    MPI_Comm own = ompp_mpi_shadow_copy(shadow->hidden);
    window_t *w = calloc(1, sizeof *w);
    if (!w && own != MPI_COMM_NULL) PMPI_Comm_free(&own);
    if (!w) return;
    w->win = win;
    w->own = own;
    add(w);
}

/* ---- Epochs ------------------------------------------------------------------------------------------------------ */

/* The group is one that MPI has accepted. */
static void learn(const window_t *w, MPI_Group group, group_t *to)
{
    MPI_Group all;
    int *numbers;

    free(to->ranks);
    *to = (group_t){0};
    if (PMPI_Group_size(group, &to->number) != MPI_SUCCESS || PMPI_Comm_group(w->own, &all) != MPI_SUCCESS) return;
    to->ranks = malloc(((size_t)to->number + 1) * sizeof *to->ranks);
    numbers = malloc(((size_t)to->number + 1) * sizeof *numbers);
    for (int i = 0; numbers && i < to->number; i++) numbers[i] = i;
    if (!numbers || !to->ranks || PMPI_Group_translate_ranks(group, to->number, numbers, all, to->ranks) != MPI_SUCCESS)
        to->number = 0;
    free(numbers);
    PMPI_Group_free(&all);
}

static void tell(const window_t *w, const group_t *to, int tag, ompp_time_t t)
{
    for (int i = 0; i < to->number; i++)
        if (to->ranks[i] >= 0) ompp_mpi_piggyback_post(w->own, to->ranks[i], tag, t);
}

static void hear(const window_t *w, group_t *from, int tag, ompp_time_t begin, unsigned flags)
{
    ompp_mpi_message_t *sum = NULL;

    for (int i = 0; i < from->number; i++) {
        ompp_mpi_message_t *message =
            from->ranks[i] < 0 ? NULL
                               : ompp_mpi_piggyback_fetch(w->own, from->ranks[i], tag, OMPP_MPI_PIGGYBACK_LIMIT_NS);
        ompp_mpi_piggyback_sum(&sum, message);
    }
    if (sum) ompp_mpi_join_clock(sum, (ompp_sync_wait_t){.begin = begin, .kind = OMPP_SYNC_ONE_SIDED, .flags = flags});
    from->number = 0;
    ompp_mpi_piggyback_free(sum);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

void ompp_mpi_epoch_before(ompp_mpi_piggyback_t *s)
{
    s->window = find(s->win, false);
    if (s->window && s->window->own == MPI_COMM_NULL) s->window = NULL;
}

void ompp_mpi_fence_before(ompp_mpi_piggyback_t *s)
{
    ompp_mpi_epoch_before(s);
    if (s->window) ompp_mpi_agree_before(s, s->window->own);
}

void ompp_mpi_complete_before(ompp_mpi_piggyback_t *s)
{
    ompp_mpi_epoch_before(s);
    if (s->window) tell(s->window, &s->window->targets, TAG_COMPLETE, s->begin);
}

void ompp_mpi_win_freed_before(ompp_mpi_piggyback_t *s)
{
    if (s->made) s->window = find(made_of(s), true);
    if (s->window && s->window->own != MPI_COMM_NULL) ompp_mpi_agree_before(s, s->window->own);
}

void ompp_mpi_win_created_after(ompp_mpi_piggyback_t *s, bool ok)
{
    if (ok) make(made_of(s), s->shadow);
    ompp_mpi_agreeing_after(s, ok);
}

void ompp_mpi_win_freed_after(ompp_mpi_piggyback_t *s, bool ok)
{
    if (s->window) ompp_mpi_agree_after(s, s->window->own, ok);
    if (s->window && !ok) add(s->window); /* it stays */
    else delete (s->window);
}

void ompp_mpi_fence_after(ompp_mpi_piggyback_t *s, bool ok)
{
    if (s->window) ompp_mpi_agree_after(s, s->window->own, ok);
}

void ompp_mpi_post_after(ompp_mpi_piggyback_t *s, bool ok)
{
    if (!s->window || !ok) return;
    learn(s->window, s->group, &s->window->origins);
    tell(s->window, &s->window->origins, TAG_POST, s->begin);
}

/* MPI may wait for the posts here, or only at the end. */
void ompp_mpi_win_start_after(ompp_mpi_piggyback_t *s, bool ok)
{
    if (!s->window || !ok) return;
    ompp_mpi_lose(s);
    learn(s->window, s->group, &s->window->targets);
}

void ompp_mpi_complete_after(ompp_mpi_piggyback_t *s, bool ok)
{
    if (s->window && ok) hear(s->window, &s->window->targets, TAG_POST, s->begin, 0);
}

void ompp_mpi_win_wait_after(ompp_mpi_piggyback_t *s, bool ok)
{
    if (s->window && ok) hear(s->window, &s->window->origins, TAG_COMPLETE, s->begin, 0);
}

void ompp_mpi_win_test_after(ompp_mpi_piggyback_t *s, bool ok)
{
    if (!s->window || !ok) return;
    const bool done = *s->flag;
    const ompp_time_t begin = ompp_mpi_polled(s->begin, done);
    if (done) hear(s->window, &s->window->origins, TAG_COMPLETE, begin, OMPP_WHATIF_F_POLLING);
}

void ompp_mpi_passive_after(ompp_mpi_piggyback_t *s, bool ok)
{
    const ompp_sync_wait_t wait = {.begin = s->begin, .kind = OMPP_SYNC_ONE_SIDED, .flags = OMPP_WHATIF_F_ONE_SIDED};

    if (ok) ompp_mpi_join_clock(NULL, wait);
}
