/*
 * Variables that get what a call returns, by the instructions behind it; and registers of its callers that a function
 * has kept in its frame.
 */
#include "structure/ompp_local_call.h"

#include "structure/ompp_follow.h"
#include "structure/ompp_local_priv.h"
#include "structure/ompp_structure_priv.h"
#include "structure/ompp_type_priv.h"

#include "base/ompp_clock.h"

#include <string.h>

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

#ifdef OMPP_DWARF_INIT_PATH_SHORT
#define INFO_FOR_REGISTER dwarf_get_fde_info_for_reg3_c
#define INFO_FOR_FRAME dwarf_get_fde_info_for_cfa_reg3_c
#define RELEVANT_AND_BLOCK               \
    Dwarf_Unsigned relevant = 0, of = 0; \
    Dwarf_Block block
#else
#define INFO_FOR_REGISTER dwarf_get_fde_info_for_reg3_b
#define INFO_FOR_FRAME dwarf_get_fde_info_for_cfa_reg3_b
#define RELEVANT_AND_BLOCK             \
    Dwarf_Signed relevant = 0, of = 0; \
    Dwarf_Ptr block = NULL
#endif

static bool open_frames(ompp_structure_t *structure)
{
    ompp_dwarf_t *dwarf = &structure->dwarf;

    if (!structure->has_lines || dwarf->frames_read) return dwarf->nfdes > 0;
    dwarf->frames_read = true;
    if (!ompp_die_ok(dwarf, dwarf_get_fde_list_eh(dwarf->debug, &dwarf->cies, &dwarf->ncies, &dwarf->fdes,
                                                  &dwarf->nfdes, &dwarf->error)))
        dwarf->nfdes = 0;
    return dwarf->nfdes > 0;
}

static Dwarf_Fde frame_at(ompp_structure_t *structure, uint64_t code)
{
    ompp_dwarf_t *dwarf = &structure->dwarf;
    Dwarf_Addr low = 0, high = 0;
    Dwarf_Fde fde = NULL;

    if (!open_frames(structure)) return NULL;
    return ompp_die_ok(dwarf, dwarf_get_fde_at_pc(dwarf->fdes, code, &fde, &low, &high, &dwarf->error)) ? fde : NULL;
}

/* ---- Results of calls -------------------------------------------------------------------------------------------- */

enum { PLAIN_STEPS = 8 }; /* instructions behind a call: a parameter that gets its result later is one of many */

typedef struct {
    ompp_structure_t *structure;
    double deadline;
    ompp_local_t *found;
    int64_t place; /* where the call has stored its result; 0 = it returns it */
    uint64_t address;
    bool returned;
    bool is, any; /* found: the one to be told; another one */
} result_t;

/* See ompp_follow_frame_t. */
static int64_t frame_of(uint64_t code, unsigned *reg, void *data)
{
    const result_t *r = data;
    ompp_dwarf_t *dwarf = &r->structure->dwarf;
    const Dwarf_Fde fde = frame_at(r->structure, code);
    Dwarf_Small kind = 0;
    Dwarf_Signed offset = 0;
    RELEVANT_AND_BLOCK;
    Dwarf_Addr row = 0, next = 0;
    Dwarf_Bool more = 0;

    if (!fde || !ompp_die_ok(dwarf, INFO_FOR_FRAME(fde, code, &kind, &relevant, &of, &offset, &block, &row, &more,
                                                   &next, &dwarf->error)))
        return 0;
    *reg = (unsigned)of;
    return kind == DW_EXPR_OFFSET && relevant ? offset : 0;
}

/* What implementations of languages and libraries call their own gives the result on. */
static bool is_of_program(const ompp_local_t *found) { return strncmp(found->name, "__", 2) != 0; }

/* Whether the variable at a place is one to be told, which points to the block. One that gives it on is told where
 * there is no other. */
static bool is_told(result_t *r, const ompp_follow_t *at, ompp_local_place_t place)
{
    ompp_local_t all[3];
    char part[200];
    uint64_t target;
    const size_t n = ompp_local_find(r->structure, &place, all, place.in_register ? 1 : 3);

    if (!n || !is_of_program(&all[n - 1])) return false;
    ompp_local_t found = all[n - 1]; /* of several that share a place in the frame, the one of the inner block */
    const bool is_this = strcmp(found.name, "this") == 0; /* of a constructor: who has the object comes later */
    if (at->step > PLAIN_STEPS && (found.parameter || is_this)) return false;
    if (!place.in_register) found.low -= place.low;
    if (found.low > 0 ||
        !ompp_local_points(r->structure, &found, (uint64_t)-found.low, part, sizeof part, &target, r->deadline))
        return false;
    if (found.fortran && !target) found.given_on = true; /* a C_PTR: the program makes a pointer to data of it */
    if (!r->any) *r->found = found;
    r->any = true;
    if (!found.given_on && !is_this) *r->found = found;
    return !found.given_on && !is_this;
}

/* At places that have just got the result, any variable; at others, one that is there from this instruction on. Large
 * functions have many to be asked. */
static bool look(const ompp_follow_t *at, void *data)
{
    result_t *r = data;

    if (at->returned || (at->step && ompp_clock_seconds() >= r->deadline)) return true;
    if (r->place && (r->address = at->address)) return true; /* the place was the compiler's own */
    for (unsigned reg = 0; reg < 16 && !r->is; reg++)
        if (at->registers >> reg & 1)
            r->is = is_told(r, at,
                            (ompp_local_place_t){.code = at->code,
                                                 .now = true,
                                                 .in_register = true,
                                                 .reg = reg,
                                                 .begins = !(at->new_ones >> reg & 1)});
    for (unsigned i = 0; i < at->nplaces && !r->is; i++)
        r->is = is_told(r, at,
                        (ompp_local_place_t){.code = at->code,
                                             .now = true,
                                             .low = at->places[i],
                                             .high = at->places[i] + 8,
                                             .frame = (uint64_t)at->frame,
                                             .begins = !(at->new_place && i + 1 == at->nplaces)});
    return r->is;
}

bool ompp_local_result(ompp_structure_t *structure, uint64_t code, int64_t place, double deadline, ompp_local_t *found)
{
    result_t r = {.structure = structure, .deadline = deadline, .found = found, .place = place};

    ompp_follow_result(&structure->elf, code, place, frame_of, look, &r);
    return r.any;
}

static bool look_stored(const ompp_follow_t *at, void *data)
{
    result_t *r = data;

    r->address = at->address;
    return at->address || at->step >= PLAIN_STEPS;
}

uint64_t ompp_local_stored(ompp_structure_t *structure, uint64_t code, int64_t place, double deadline)
{
    ompp_local_t found;
    result_t r = {.structure = structure, .deadline = deadline, .found = &found, .place = place};

    ompp_follow_result(&structure->elf, code, place, frame_of, place ? look : look_stored, &r);
    return r.address;
}

static bool look_returned(const ompp_follow_t *at, void *data)
{
    result_t *r = data;

    r->returned = at->returned;
    return at->step && ompp_clock_seconds() >= r->deadline;
}

bool ompp_local_returned(ompp_structure_t *structure, uint64_t code, int64_t place, double deadline)
{
    result_t r = {.structure = structure, .deadline = deadline};

    ompp_follow_result(&structure->elf, code, place, frame_of, look_returned, &r);
    return r.returned;
}

/* ---- Registers that are kept ------------------------------------------------------------------------------------- */

static const unsigned callee_saved[] = {3, OMPP_LOCAL_RBP, 12, 13, 14, 15};

/* Bytes below the canonical frame address where a register of the callers is; 0 = it is still in the register. */
static int64_t kept_at(ompp_dwarf_t *dwarf, Dwarf_Fde fde, uint64_t code, unsigned reg)
{
    Dwarf_Small kind = 0;
    Dwarf_Signed offset = 0;
    RELEVANT_AND_BLOCK;
    Dwarf_Addr row = 0, next = 0;
    Dwarf_Bool more = 0;

    if (!ompp_die_ok(dwarf, INFO_FOR_REGISTER(fde, (Dwarf_Half)reg, code, &kind, &relevant, &of, &offset, &block, &row,
                                              &more, &next, &dwarf->error)))
        return 0;
    return kind == DW_EXPR_OFFSET && relevant && offset < 0 ? -offset : 0;
}

int ompp_local_kept(ompp_structure_t *structure, uint64_t code, int64_t below)
{
    const Dwarf_Fde fde = frame_at(structure, code);

    for (size_t i = 0; fde && i < sizeof callee_saved / sizeof callee_saved[0]; i++)
        if (kept_at(&structure->dwarf, fde, code, callee_saved[i]) == below) return (int)callee_saved[i];
    return -1;
}

bool ompp_local_keeps(ompp_structure_t *structure, uint64_t code, unsigned reg)
{
    const Dwarf_Fde fde = frame_at(structure, code);

    return fde && kept_at(&structure->dwarf, fde, code, reg) > 0;
}
