/**
 * \file
 * The message matrix as a list of the pairs of ranks that have sent something.
 */
#include "base/ompp_error.h"
#include "model/ompp_combine_priv.h"

#include <stdlib.h>

static int by_pair(const void *a, const void *b)
{
    const ompp_message_t *x = a, *y = b;

    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

/* The most bytes first; those that are added up already last. */
static int by_bytes(const void *a, const void *b)
{
    const ompp_message_t *x = a, *y = b;
    const int others = (x->to == OMPP_NONE) - (y->to == OMPP_NONE);

    if (others) return others;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    return by_pair(a, b);
}

/* Equal pairs, which stand side by side, become one. */
static void join(ompp_profile_t *p)
{
    size_t n = 0;

    for (size_t i = 0; i < p->nmessages; i++) {
        ompp_message_t *last = n ? &p->messages[n - 1] : NULL;
        const ompp_message_t message = p->messages[i];
        if (last && last->from == message.from && last->to == message.to) {
            last->messages += message.messages;
            last->bytes += message.bytes;
        } else {
            p->messages[n++] = message;
        }
    }
    p->nmessages = n;
}

void ompp_messages_sort(ompp_profile_t *p)
{
    if (!p->nmessages) return;
    if (p->nmessages > OMPP_MESSAGE_PAIRS) {
        qsort(p->messages, p->nmessages, sizeof *p->messages, by_bytes);
        for (size_t i = OMPP_MESSAGE_PAIRS - 1; i < p->nmessages; i++)
            p->messages[i].from = p->messages[i].to = OMPP_NONE;
    }
    qsort(p->messages, p->nmessages, sizeof *p->messages, by_pair);
    join(p);
}

int ompp_messages_merge(ompp_profile_t *into, const ompp_profile_t *from)
{
    for (size_t i = 0; i < from->nmessages; i++) ompp_profile_add_message(into, &from->messages[i]);
    ompp_messages_sort(into);
    return into->failed ? -OMPP_E_NOMEM : 0;
}
