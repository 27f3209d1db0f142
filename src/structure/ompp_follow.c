#include "structure/ompp_follow.h"

#include "structure/ompp_local_priv.h"

static ompp_follow_t begin_at(uint64_t code, int64_t place)
{
    const uint32_t returned = place ? 0 : 1u << OMPP_LOCAL_RESULT;

    return (ompp_follow_t){.code = code,
                           .registers = returned,
                           .new_ones = returned,
                           .nplaces = place != 0,
                           .places = {place},
                           .new_place = place != 0};
}

#ifdef OMPP_HAVE_ZYDIS
#include <Zydis/Zydis.h>

#include <string.h>

enum { STEPS = 400, LONGEST = 15, WINDOW = 512 };

/* Stands for the canonical frame address where that is not known. No real frame is so large: a place relative to the
 * stack pointer then never equals one that is relative to the frame. */
#define NO_FRAME (1 << 24)

typedef struct {
    const ompp_elf_t *elf;
    ompp_follow_frame_t *frame;
    void *data;
    ZydisDecoder decoder;
    ZydisDecodedInstruction i;
    ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
    unsigned char bytes[WINDOW];
    uint64_t begin; /* of bytes */
    size_t n;       /* of them */
    int64_t below_rbp;
    uint32_t vectors; /* registers whose low 8 bytes hold the result */
    ompp_follow_t at;
} follower_t;

/* ---- Instructions ------------------------------------------------------------------------------------------------ */

static bool read_code(follower_t *f, uint64_t code)
{
    if (code >= f->begin && code + LONGEST <= f->begin + f->n) return true;
    f->begin = code;
    for (f->n = sizeof f->bytes; f->n >= LONGEST && !ompp_elf_read(f->elf, code, f->bytes, f->n);) f->n /= 2;
    if (f->n < LONGEST) f->n = 0;
    return f->n != 0;
}

static bool decode(follower_t *f)
{
    return read_code(f, f->at.code) &&
           ZYAN_SUCCESS(ZydisDecoderDecodeFull(&f->decoder, f->bytes + (f->at.code - f->begin),
                                               f->n - (size_t)(f->at.code - f->begin), &f->i, f->o));
}

/* DWARF's number of a general register, or of the one that it is a part of; -1: it is none. */
static int number_of(ZydisRegister reg)
{
    static const signed char dwarf_of[16] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
    const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

    return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15 ? dwarf_of[whole - ZYDIS_REGISTER_RAX] : -1;
}

static int vector_of(ZydisRegister reg)
{
    const int id = reg >= ZYDIS_REGISTER_XMM0 && reg <= ZYDIS_REGISTER_ZMM31 ? ZydisRegisterGetId(reg) : -1;

    return id < 32 ? id : -1;
}

/* Whether an operand has all of the result. */
static bool holds(const follower_t *f, const ZydisDecodedOperand *o)
{
    if (o->type != ZYDIS_OPERAND_TYPE_REGISTER) return false;
    const int general = number_of(o->reg.value), vector = vector_of(o->reg.value);

    if (vector >= 0) return f->vectors >> vector & 1;
    return general >= 0 && o->size == 64 && f->at.registers >> general & 1;
}

/* ---- Places of the frame ----------------------------------------------------------------------------------------- */

/* \return false: the operand is none of the frame. */
static bool place_of(const follower_t *f, const ZydisDecodedOperand *o, int64_t *place)
{
    if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || o->mem.index != ZYDIS_REGISTER_NONE) return false;
    if (o->mem.base == ZYDIS_REGISTER_RSP) *place = o->mem.disp.value - f->at.frame;
    else if (o->mem.base == ZYDIS_REGISTER_RBP && f->below_rbp) *place = o->mem.disp.value - f->below_rbp;
    else return false;
    return true;
}

static bool in_place(const follower_t *f, int64_t place)
{
    for (unsigned i = 0; i < f->at.nplaces; i++)
        if (f->at.places[i] == place) return true;
    return false;
}

/* What is written over holds it no longer. */
static void lose_places(ompp_follow_t *at, int64_t low, int64_t high)
{
    unsigned n = 0;

    for (unsigned i = 0; i < at->nplaces; i++)
        if (at->places[i] >= high || at->places[i] + 8 <= low) at->places[n++] = at->places[i];
    at->nplaces = n;
}

static void add_place(ompp_follow_t *at, int64_t place)
{
    if (at->nplaces == OMPP_FOLLOW_PLACES) return;
    at->places[at->nplaces++] = place;
    at->new_place = true;
}

/* ---- One instruction --------------------------------------------------------------------------------------------- */

/* Two operands, or three, of which the low half of the one before the last stays what it is. */
static bool keeps_low(ZydisMnemonic mnemonic)
{
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_PUNPCKLQDQ:
    case ZYDIS_MNEMONIC_VPUNPCKLQDQ:
    case ZYDIS_MNEMONIC_UNPCKLPD:
    case ZYDIS_MNEMONIC_VUNPCKLPD:
    case ZYDIS_MNEMONIC_MOVLHPS:
    case ZYDIS_MNEMONIC_VMOVLHPS:
    case ZYDIS_MNEMONIC_MOVHPS:
    case ZYDIS_MNEMONIC_VMOVHPS:
    case ZYDIS_MNEMONIC_MOVHPD:
    case ZYDIS_MNEMONIC_VMOVHPD: return true;
    default: return false;
    }
}

static bool is_move(ZydisMnemonic mnemonic)
{
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVQ:
    case ZYDIS_MNEMONIC_VMOVQ:
    case ZYDIS_MNEMONIC_MOVAPS:
    case ZYDIS_MNEMONIC_MOVUPS:
    case ZYDIS_MNEMONIC_MOVAPD:
    case ZYDIS_MNEMONIC_MOVUPD:
    case ZYDIS_MNEMONIC_MOVDQA:
    case ZYDIS_MNEMONIC_MOVDQU:
    case ZYDIS_MNEMONIC_VMOVAPS:
    case ZYDIS_MNEMONIC_VMOVUPS:
    case ZYDIS_MNEMONIC_VMOVAPD:
    case ZYDIS_MNEMONIC_VMOVUPD:
    case ZYDIS_MNEMONIC_VMOVDQA:
    case ZYDIS_MNEMONIC_VMOVDQU: return true;
    default: return false;
    }
}

/* Whether the instruction makes its first operand what the result is, in its low 8 bytes. */
static bool gives(const follower_t *f)
{
    int64_t place;

    if (f->i.operand_count_visible < 2) return false;
    if (keeps_low(f->i.mnemonic)) return holds(f, &f->o[f->i.operand_count_visible == 3 ? 1 : 0]);
    if (!is_move(f->i.mnemonic) || f->o[0].size < 64) return false;
    return holds(f, &f->o[1]) || (f->o[1].size >= 64 && place_of(f, &f->o[1], &place) && in_place(f, place));
}

static void lose(follower_t *f, const ZydisDecodedOperand *o)
{
    const int general = o->type == ZYDIS_OPERAND_TYPE_REGISTER ? number_of(o->reg.value) : -1,
              vector = o->type == ZYDIS_OPERAND_TYPE_REGISTER ? vector_of(o->reg.value) : -1;
    int64_t place;

    if (general >= 0) f->at.registers &= ~(1u << general);
    if (vector >= 0) f->vectors &= ~(1u << vector);
    if (place_of(f, o, &place)) lose_places(&f->at, place, place + o->size / 8);
}

static void give(follower_t *f)
{
    const ZydisDecodedOperand *o = &f->o[0];
    int64_t place;

    if (o->type == ZYDIS_OPERAND_TYPE_REGISTER) {
        const int general = number_of(o->reg.value), vector = vector_of(o->reg.value);
        if (general >= 0) f->at.registers |= f->at.new_ones = 1u << general;
        if (vector >= 0) f->vectors |= 1u << vector;
    } else if (place_of(f, o, &place)) {
        add_place(&f->at, place);
    } else if (o->mem.base == ZYDIS_REGISTER_RIP) {
        f->at.address = f->at.code + f->i.length + (uint64_t)o->mem.disp.value;
    }
}

/* rax, rcx, rdx, rsi, rdi, r8 to r11, and vectors. */
static void lose_by_call(follower_t *f)
{
    f->at.registers &= ~0xf37u;
    f->vectors = 0;
}

/* \return false: there is no next one. */
static bool step(follower_t *f)
{
    const uint64_t next = f->at.code + f->i.length;
    const bool given = gives(f), relative = f->i.raw.imm[0].is_relative;

    f->at.new_ones = 0;
    f->at.new_place = false;
    f->at.address = 0;
    f->at.returned = f->i.mnemonic == ZYDIS_MNEMONIC_RET && f->at.registers >> OMPP_LOCAL_RESULT & 1;
    if (f->i.mnemonic == ZYDIS_MNEMONIC_RET || f->i.mnemonic == ZYDIS_MNEMONIC_UD2 ||
        f->i.mnemonic == ZYDIS_MNEMONIC_HLT || (f->i.mnemonic == ZYDIS_MNEMONIC_JMP && !relative))
        return false;
    for (unsigned k = 0; k < f->i.operand_count; k++)
        if (f->o[k].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) lose(f, &f->o[k]);
    if (f->i.mnemonic == ZYDIS_MNEMONIC_CALL) lose_by_call(f);
    if (given) give(f);
    f->at.code = f->i.mnemonic == ZYDIS_MNEMONIC_JMP ? next + (uint64_t)f->i.raw.imm[0].value.s : next;
    return f->at.registers || f->vectors || f->at.nplaces;
}

/* What is known of the frame before the next instruction. */
static void find_frame(follower_t *f)
{
    unsigned reg = 0;
    const int64_t bytes = f->frame(f->at.code, &reg, f->data);

    f->at.frame = bytes && reg == OMPP_LOCAL_RSP ? bytes : NO_FRAME;
    f->below_rbp = bytes && reg == OMPP_LOCAL_RBP ? bytes : 0;
}

void ompp_follow_result(const ompp_elf_t *elf, uint64_t code, int64_t place, ompp_follow_frame_t *frame,
                        ompp_follow_visit_t *visit, void *data)
{
    follower_t f = {.elf = elf, .frame = frame, .data = data};

    f.at = begin_at(code, place);
    if (!ZYAN_SUCCESS(ZydisDecoderInit(&f.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64))) return;
    find_frame(&f);
    while (!visit(&f.at, data) && f.at.step++ < STEPS && decode(&f) && step(&f)) find_frame(&f);
    if (f.at.returned) visit(&f.at, data);
}
#else
void ompp_follow_result(const ompp_elf_t *elf, uint64_t code, int64_t place, ompp_follow_frame_t *frame,
                        ompp_follow_visit_t *visit, void *data)
{
    ompp_follow_t at = begin_at(code, place);

    at.frame = 1;
    (void)elf, (void)frame;
    visit(&at, data);
}
#endif
