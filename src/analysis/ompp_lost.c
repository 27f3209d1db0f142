/*
 * What thread time can be lost to, and what the phases of constructs are lost to.
 */
#include "analysis/ompp_efficiency.h"

#include "analysis/ompp_own.h"
#include "model/ompp_tables.h"

const ompp_lost_row_t ompp_lost_rows[OMPP_LOST_NUM] = {
#define OMPP_LOST(id, name, level, text) [OMPP_LOST_##id] = {name, text, OMPP_LEVEL_##level},
#include "analysis/ompp_lost.def"
#undef OMPP_LOST
};

static const unsigned class_of_lost[OMPP_LOST_NUM] = {
    [OMPP_LOST_IMBALANCE] = OMPP_CLASS_IMBAL,  [OMPP_LOST_LIMPAR] = OMPP_CLASS_LIMPAR,
    [OMPP_LOST_SYNCH] = OMPP_CLASS_SYNCH,      [OMPP_LOST_MANAGEMENT] = OMPP_CLASS_MGMT,
    [OMPP_LOST_SERIAL] = OMPP_CLASS_NUM,       [OMPP_LOST_UNUSED] = OMPP_CLASS_NUM,
    [OMPP_LOST_REST] = OMPP_CLASS_NUM,         [OMPP_LOST_MPI_WAIT] = OMPP_CLASS_MPI,
    [OMPP_LOST_MPI_TRANSFER] = OMPP_CLASS_MPI, [OMPP_LOST_MPI] = OMPP_CLASS_MPI,
    [OMPP_LOST_MPI_START] = OMPP_CLASS_MPI,    [OMPP_LOST_ENDED] = OMPP_CLASS_NUM,
};

/* What a phase is lost to where no overhead class of ompP has it; OMPP_LOST_NUM = it is work. */
static unsigned lost_of_phase(unsigned construct, unsigned phase)
{
    if (phase == OMPP_PHASE_EXITBAR)
        return construct == OMPP_CONSTRUCT_TASKGROUP ? OMPP_LOST_SYNCH : OMPP_LOST_IMBALANCE;
    if (phase == OMPP_PHASE_ENTER || construct == OMPP_CONSTRUCT_TASKWAIT) return OMPP_LOST_SYNCH;
    if (!ompp_phase_is_work[phase] || construct == OMPP_CONSTRUCT_TASK || construct == OMPP_CONSTRUCT_UTASK)
        return OMPP_LOST_MANAGEMENT;
    return OMPP_LOST_NUM;
}

unsigned ompp_efficiency_lost_in(unsigned construct, unsigned slot)
{
    const unsigned phase = ompp_constructs[construct].phases[slot];

    for (size_t i = 0; i < ompp_nrules; i++)
        if (ompp_rules[i].construct == construct && ompp_rules[i].phase == phase)
            for (unsigned lost = 0; lost < OMPP_LOST_NUM; lost++)
                if (lost != OMPP_LOST_MPI_WAIT && lost != OMPP_LOST_MPI_TRANSFER &&
                    class_of_lost[lost] == ompp_rules[i].class)
                    return lost;
    return lost_of_phase(construct, phase);
}

/* Outside of all regions a thread of a team has nothing to do; where tasks begin it waits, or makes them. */
double ompp_efficiency_measuring_ns(const ompp_profile_t *p, uint32_t n, const ompp_block_t *block,
                                    const unsigned *lost)
{
    const ompp_node_t *node = &p->nodes[n];
    const ompp_construct_row_t *c = &ompp_constructs[p->regions[node->region].construct];
    const unsigned kind = p->locations[block->location].kind;
    const bool works = node->parent || kind == OMPP_THREAD_INITIAL || kind == OMPP_THREAD_OTHER;
    double sum = works && !(c->flags & OMPP_CONSTRUCT_F_TASK) ? ompp_own_around_ns(p, n, block) : 0;

    for (unsigned s = 0; s < c->nphases; s++)
        if (lost[s] == OMPP_LOST_NUM) sum += (double)ompp_own_in_phase(p, n, block, s);
    return sum;
}
