/*
 * Variables that get what a call returns, by the instructions behind it; and registers of its callers that a function
 * has kept in its frame.
 */
#include "structure/ompp_local_call.h"

#include "structure/ompp_local_priv.h"
#include "structure/ompp_structure_priv.h"
#include "structure/ompp_type_priv.h"

#include <string.h>

/* ---- Results of calls -------------------------------------------------------------------------------------------- */

/* Instructions behind a call, of x86-64: what becomes of rax. */
typedef enum { OTHER, NO_CHANGE, TO_REGISTER, TO_FRAME, TO_MEMORY } step_t;

/* \return bytes of the instruction; 0 = it is none of those that are known. */
static unsigned decode(const unsigned char *c, step_t *step, unsigned *reg, int64_t *offset, unsigned *base)
{
    static const unsigned char dwarf_of[16] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
    const bool wide = c[0] == 0x48 || c[0] == 0x49;

    *step = NO_CHANGE;
    if (wide && c[1] == 0x85 && c[2] == 0xc0) return 3; /* test rax, rax */
    if (c[0] == 0x74 || c[0] == 0x75) return 2;         /* je, jne: what follows is taken */
    if (c[0] == 0x0f && (c[1] == 0x84 || c[1] == 0x85)) return 6;
    if (!wide || c[1] != 0x89 || (c[2] & 0x38) != 0) return 0; /* mov of rax */
    if (c[2] >> 6 == 3) {
        *step = TO_REGISTER;
        *reg = dwarf_of[(c[2] & 7) + (c[0] & 1) * 8];
        return 3;
    }
    const unsigned mode = c[2] >> 6, rm = c[2] & 7, bytes = mode == 1 ? 1 : 4, at = rm == 4 ? 4 : 3;
    int32_t far = 0;
    if (c[0] == 0x48 && mode == 0 && rm == 5) { /* from the next instruction on */
        memcpy(&far, c + 3, sizeof far);
        *step = TO_MEMORY;
        *offset = far;
        return 7;
    }
    if (c[0] != 0x48 || (mode != 1 && mode != 2) || (rm != 5 && (rm != 4 || c[3] != 0x24))) return 0;
    memcpy(&far, c + at, sizeof far);
    *step = TO_FRAME;
    *base = rm == 5 ? OMPP_LOCAL_RBP : OMPP_LOCAL_RSP;
    *offset = bytes == 1 ? (signed char)c[at] : far;
    return at + bytes;
}

static bool in_register(ompp_structure_t *structure, uint64_t code, unsigned reg, ompp_local_t *found)
{
    const ompp_local_place_t place = {.code = code, .now = true, .in_register = true, .reg = reg};

    found->low = 0;
    return ompp_local_find(structure, &place, found, 1) == 1;
}

/* Only where a frame begins with rbp is its canonical frame address known from the code alone. */
static bool in_frame(ompp_structure_t *structure, uint64_t code, unsigned base, int64_t offset, ompp_local_t *found)
{
    const ompp_local_place_t place = {
        .code = code, .low = offset - OMPP_LOCAL_BELOW_RBP, .high = offset - OMPP_LOCAL_BELOW_RBP + 8, .now = true};

    if (base != OMPP_LOCAL_RBP || ompp_local_find(structure, &place, found, 1) != 1 || found->low > place.low)
        return false;
    found->low -= place.low;
    return true;
}

enum { STEPS = 8, LONGEST = 16 };

static void read_code(ompp_structure_t *structure, uint64_t code, unsigned char bytes[STEPS * LONGEST])
{
    memset(bytes, 0, STEPS * LONGEST);
    for (size_t n = STEPS * LONGEST; n >= LONGEST && !ompp_elf_read(&structure->elf, code, bytes, n); n /= 2) continue;
}

uint64_t ompp_local_stored(ompp_structure_t *structure, uint64_t code)
{
    unsigned char bytes[STEPS * LONGEST];
    unsigned reg = 0, base = 0, at = 0;
    int64_t offset = 0;
    step_t step = OTHER;

    read_code(structure, code, bytes);
    for (unsigned i = 0; i < STEPS; i++) {
        const unsigned length = decode(bytes + at, &step, &reg, &offset, &base);
        if (!length) return 0;
        at += length;
        if (step == TO_MEMORY) return code + at + (uint64_t)offset;
    }
    return 0;
}

bool ompp_local_result(ompp_structure_t *structure, uint64_t code, ompp_local_t *found)
{
    unsigned char bytes[STEPS * LONGEST];
    unsigned reg = 0, base = 0, at = 0;
    int64_t offset = 0;
    step_t step = OTHER;

    if (in_register(structure, code, OMPP_LOCAL_RESULT, found)) return true;
    read_code(structure, code, bytes);
    for (unsigned i = 0; i < STEPS; i++) {
        const unsigned length = decode(bytes + at, &step, &reg, &offset, &base);
        if (!length) return false;
        at += length;
        if (step == TO_REGISTER && in_register(structure, code + at, reg, found)) return true;
        if (step == TO_FRAME && in_frame(structure, code + at, base, offset, found)) return true;
        if (in_register(structure, code + at, OMPP_LOCAL_RESULT, found)) return true;
    }
    return false;
}

/* ---- Registers that are kept ------------------------------------------------------------------------------------- */

static const unsigned callee_saved[] = {3, OMPP_LOCAL_RBP, 12, 13, 14, 15};

/* Bytes below the canonical frame address where a register of the callers is; 0 = it is still in the register. */
static int64_t kept_at(ompp_dwarf_t *dwarf, Dwarf_Fde fde, uint64_t code, unsigned reg)
{
    Dwarf_Small kind = 0;
    Dwarf_Signed offset = 0;
#ifdef OMPP_DWARF_INIT_PATH_SHORT
#define INFO_FOR_REGISTER dwarf_get_fde_info_for_reg3_c
    Dwarf_Unsigned relevant = 0, of = 0;
    Dwarf_Block block;
#else
#define INFO_FOR_REGISTER dwarf_get_fde_info_for_reg3_b
    Dwarf_Signed relevant = 0, of = 0;
    Dwarf_Ptr block = NULL;
#endif
    Dwarf_Addr row = 0, next = 0;
    Dwarf_Bool more = 0;

    if (!ompp_die_ok(dwarf, INFO_FOR_REGISTER(fde, (Dwarf_Half)reg, code, &kind, &relevant, &of, &offset, &block, &row,
                                              &more, &next, &dwarf->error)))
        return 0;
    return kind == DW_EXPR_OFFSET && relevant && offset < 0 ? -offset : 0;
}

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
