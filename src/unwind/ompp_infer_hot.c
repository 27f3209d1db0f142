/*
 * Recipes without unwind information: the code is followed from an address to where its procedure returns, and what
 * happens to the stack pointer and to rbp on the way is added up. No bounds of procedures are needed: jumps to other
 * procedures, and parts that the compiler has split off, are followed like all others. Part of libompp-unwind.so;
 * called in signal handlers.
 */
#include "unwind/ompp_decoder_priv.h"

#include <Zydis/Zydis.h>
#include <stdatomic.h>

#define INSTRUCTIONS 20000u /* for one recipe: some 4 ms; what is passed on the way is not followed again */
#define POINTS 256u
#define POINT_EVERY 64u /* instructions */
#define PENDING 32u     /* branches that are still to be followed */
#define STORES 24u      /* words of the stack, written on the way */
#define VISITED_BITS 15u
#define ALIGNED 16u /* number of a register that there is not: the stack pointer after it was aligned */
#define FAR_APART INT64_C(0x100000000000)

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* In terms of the registers at the address where the search begins. */
typedef struct {
    enum {
        UNKNOWN,
        REGISTER,
        MEMORY,
        INDIRECT,
        ADDRESS
    } form : 8; /* reg + offset; *(reg + offset) + plus; *(*(reg + offset) + plus); begin of the file + offset */
    uint8_t reg;
    int32_t offset, plus;
} value_t;

typedef struct {
    uintptr_t at;
    value_t reg[16];
    struct {
        value_t address, value; /* address.form REGISTER, or UNKNOWN: none */
    } store[STORES];
    unsigned next_store;
    int64_t apart; /* rbp - rsp, as they were where the search began */
} state_t;

/* An address on the way. */
typedef struct {
    uintptr_t at;
    int32_t down; /* its stack pointer less the one at the begin */
    bool is_rsp_known;
    uint16_t unchanged; /* registers that have their values of the begin */
} point_t;

typedef struct {
    const ompp_image_map_t *image;
    const ompp_infer_help_t *help;
    ompp_recipe_t *recipe;
    unsigned npoints;
    point_t points[POINTS];
    ompp_recipe_t weak; /* of a return where rbp was not known any more; kind NONE: there was none */
    uintptr_t goal;     /* not 0: the search begins where the procedure does, and ends here */
    unsigned count, npending;
    /* By a register: to a case of a switch, or to another procedure. */
    bool has_jump, was_jump;
    state_t now, jump, first_jump, pending[PENDING];
    uint32_t visited[1u << VISITED_BITS];
} search_t;

static ZydisDecoder decoder;

static value_t add(value_t value, int64_t n)
{
    const int64_t sum = (value.form == MEMORY ? value.plus : value.offset) + n;

    if (sum != (int32_t)sum || (value.form == INDIRECT && n)) value.form = UNKNOWN;
    if (value.form == MEMORY) value.plus = (int32_t)sum;
    if (value.form == REGISTER || value.form == ADDRESS) value.offset = (int32_t)sum;
    return value;
}

/* Relative to the stack pointer, where rbp is known to point to the stack. */
static int64_t place_of(const state_t *s, value_t address)
{
    return address.offset + (address.reg == OMPP_RBP ? s->apart : 0);
}

static bool is_on_stack(value_t address) { return address.reg == OMPP_RSP || address.reg == OMPP_RBP; }

static bool same_place(const state_t *s, value_t a, value_t b)
{
    if (a.form != REGISTER || b.form != REGISTER) return false;
    if (a.reg == b.reg) return a.offset == b.offset;
    return is_on_stack(a) && is_on_stack(b) && place_of(s, a) == place_of(s, b);
}

/* Below the stack pointer where the search began. */
static bool is_own(const state_t *s, value_t address)
{
    return address.reg == ALIGNED || (is_on_stack(address) && place_of(s, address) < 0);
}

static value_t load(const state_t *s, value_t address)
{
    if (address.form == MEMORY) return (value_t){INDIRECT, address.reg, address.offset, address.plus};
    if (address.form != REGISTER) return (value_t){.form = UNKNOWN};
    for (unsigned i = 0; i < STORES; i++)
        if (same_place(s, s->store[i].address, address)) return s->store[i].value;
    if (is_own(s, address)) return (value_t){.form = UNKNOWN}; /* not written yet */
    return (value_t){MEMORY, address.reg, address.offset, 0};
}

static void store(state_t *s, value_t address, value_t value)
{
    if (address.form != REGISTER) return;
    for (unsigned i = 0; i < STORES; i++)
        if (same_place(s, s->store[i].address, address)) {
            s->store[i].value = value;
            return;
        }
    if (value.form == UNKNOWN && is_own(s, address)) return; /* load() says the same of it */
    s->store[s->next_store].address = address;
    s->store[s->next_store].value = value;
    s->next_store = (s->next_store + 1) % STORES;
}

/* ---- Operands ---------------------------------------------------------------------------------------------------- */

/* DWARF number of a register or of the one it is part of; -1: no general one. */
static int number_of(ZydisRegister reg)
{
    static const int8_t numbers[16] = {OMPP_RAX, OMPP_RCX, OMPP_RDX, OMPP_RBX, OMPP_RSP, OMPP_RBP, OMPP_RSI, OMPP_RDI,
                                       8,        9,        10,       11,       12,       13,       14,       15};
    const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

    return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15 ? numbers[whole - ZYDIS_REGISTER_RAX] : -1;
}

static value_t address_of(const state_t *s, const ZydisDecodedOperand *o)
{
    const int base = number_of(o->mem.base);

    if (base < 0 || o->mem.index != ZYDIS_REGISTER_NONE || o->mem.segment == ZYDIS_REGISTER_FS)
        return (value_t){.form = UNKNOWN};
    return add(s->reg[base], o->mem.disp.has_displacement ? o->mem.disp.value : 0);
}

static value_t value_of(const state_t *s, const ZydisDecodedOperand *o)
{
    if (o->size == 64 && o->type == ZYDIS_OPERAND_TYPE_REGISTER && number_of(o->reg.value) >= 0)
        return s->reg[number_of(o->reg.value)];
    if (o->size == 64 && o->type == ZYDIS_OPERAND_TYPE_MEMORY) return load(s, address_of(s, o));
    return (value_t){.form = UNKNOWN};
}

static void assign(state_t *s, const ZydisDecodedOperand *o, value_t value)
{
    if (o->type == ZYDIS_OPERAND_TYPE_REGISTER && number_of(o->reg.value) >= 0) s->reg[number_of(o->reg.value)] = value;
    if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) store(s, address_of(s, o), value);
}

/* Whatever an instruction does: what it writes is not known any more. */
static void forget_written(state_t *s, const ZydisDecodedInstruction *i, const ZydisDecodedOperand *o)
{
    for (unsigned n = 0; n < i->operand_count; n++)
        if (o[n].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) assign(s, &o[n], (value_t){.form = UNKNOWN});
}

/* ---- One instruction --------------------------------------------------------------------------------------------- */

static void push(state_t *s, value_t value)
{
    s->reg[OMPP_RSP] = add(s->reg[OMPP_RSP], -8);
    store(s, s->reg[OMPP_RSP], value);
}

static value_t pop(state_t *s)
{
    const value_t value = load(s, s->reg[OMPP_RSP]);

    s->reg[OMPP_RSP] = add(s->reg[OMPP_RSP], 8);
    return value;
}

static bool is_by_rip(const ZydisDecodedOperand *o)
{
    return o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.base == ZYDIS_REGISTER_RIP;
}

static void compute(const ompp_image_map_t *image, state_t *s, const ZydisDecodedInstruction *i,
                    const ZydisDecodedOperand *o)
{
    value_t value;

    switch (i->mnemonic) {
    case ZYDIS_MNEMONIC_PUSH: push(s, value_of(s, &o[0])); return;
    case ZYDIS_MNEMONIC_PUSHFQ: push(s, (value_t){.form = UNKNOWN}); return;
    case ZYDIS_MNEMONIC_POP:
        value = pop(s);
        assign(s, &o[0], value);
        return;
    case ZYDIS_MNEMONIC_POPFQ: pop(s); return;
    case ZYDIS_MNEMONIC_LEAVE:
        s->reg[OMPP_RSP] = s->reg[OMPP_RBP];
        s->reg[OMPP_RBP] = pop(s);
        return;
    case ZYDIS_MNEMONIC_MOV: assign(s, &o[0], value_of(s, &o[1])); return;
    case ZYDIS_MNEMONIC_LEA:
        if (is_by_rip(&o[1])) { /* of code that is jumped to later, say */
            value = (value_t){ADDRESS, 0, 0, 0};
            assign(s, &o[0], add(value, (int64_t)(s->at - image->low) + o[1].mem.disp.value));
            return;
        }
        assign(s, &o[0], o[0].size == 64 ? address_of(s, &o[1]) : (value_t){.form = UNKNOWN});
        return;
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
        if (o[0].type != ZYDIS_OPERAND_TYPE_REGISTER || o[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE) break;
        assign(s, &o[0],
               add(value_of(s, &o[0]), i->mnemonic == ZYDIS_MNEMONIC_ADD ? o[1].imm.value.s : -o[1].imm.value.s));
        return;
    case ZYDIS_MNEMONIC_AND:
        if (o[0].type != ZYDIS_OPERAND_TYPE_REGISTER || o[0].reg.value != ZYDIS_REGISTER_RSP) break;
        s->reg[OMPP_RSP] = (value_t){REGISTER, ALIGNED, 0, 0};
        return;
    default: break;
    }
    forget_written(s, i, o);
}

/* ---- Where a path ends ------------------------------------------------------------------------------------------- */

/* cfa: where the frame ends, once it is known. */
static bool rbp_rule(value_t rbp, value_t cfa, ompp_recipe_t *recipe)
{
    int64_t at = rbp.offset;

    recipe->rbp_rule = OMPP_RBP_SAME;
    if (rbp.form == REGISTER) return rbp.reg == OMPP_RBP && rbp.offset == 0;
    if (rbp.form == INDIRECT && cfa.form == MEMORY && rbp.reg == cfa.reg && rbp.offset == cfa.offset) {
        /* The stack pointer was kept in the frame: the caller's rbp lies where that points to. */
        recipe->rbp_rule = OMPP_RBP_AT_CFA;
        at = (int64_t)rbp.plus - cfa.plus;
    } else if (rbp.form != MEMORY || rbp.plus) {
        return false;
    } else if (cfa.form == REGISTER && cfa.reg == rbp.reg) {
        recipe->rbp_rule = OMPP_RBP_AT_CFA;
        at -= cfa.offset;
    } else if (is_on_stack(rbp)) {
        recipe->rbp_rule = rbp.reg == OMPP_RSP ? OMPP_RBP_AT_RSP : OMPP_RBP_AT_RBP;
    } else {
        return false;
    }
    recipe->rbp = (int16_t)(at / 8);
    return at % 8 == 0 && recipe->rbp == at / 8;
}

/* The return address is on top of the stack. */
static bool ends_here(search_t *search, const state_t *s)
{
    value_t cfa = s->reg[OMPP_RSP];
    ompp_recipe_t recipe = {.kind = OMPP_RECIPE_NONE};

    if (cfa.form == UNKNOWN || cfa.form == INDIRECT || cfa.form == ADDRESS || cfa.reg == ALIGNED) return false;
    cfa = add(cfa, 8);
    if (!rbp_rule(s->reg[OMPP_RBP], cfa, &recipe)) {
        if (cfa.form == REGISTER && cfa.reg == OMPP_RSP)
            search->weak = (ompp_recipe_t){.kind = OMPP_RECIPE_RSP, .offset = cfa.offset};
        return false;
    }
    recipe.offset = cfa.offset;
    if (cfa.form == MEMORY) {
        if (cfa.plus % 8 || cfa.plus / 8 > 63 || cfa.plus / 8 < -64 || (cfa.reg != OMPP_RSP && cfa.reg != OMPP_RBP))
            return false;
        recipe.kind = cfa.reg == OMPP_RSP ? OMPP_RECIPE_AT_RSP : OMPP_RECIPE_AT_RBP;
        recipe.plus = (int8_t)(cfa.plus / 8);
    } else {
        recipe.kind = cfa.reg == OMPP_RSP   ? OMPP_RECIPE_RSP
                      : cfa.reg == OMPP_RBP ? OMPP_RECIPE_RBP
                                            : OMPP_RECIPE_REGISTER;
        if (recipe.kind == OMPP_RECIPE_REGISTER) recipe.plus = (int8_t)cfa.reg;
    }
    if (!search->help->accept(search->help->context, recipe)) return false;
    *search->recipe = recipe;
    return true;
}

/* The value that the stack pointer has where a procedure begins is the address of the return address. */
static bool cfa_from(value_t value, ompp_recipe_kind_t kind, ompp_recipe_t *recipe)
{
    if (value.form != REGISTER || value.reg != OMPP_RSP) return false;
    recipe->kind = kind & 15;
    recipe->offset = 8 - value.offset;
    return true;
}

/* A word of a frame that was aligned holds where the procedure began: the CFA is by that word. */
static bool cfa_at(const state_t *s, value_t value, ompp_recipe_kind_t kind, ompp_recipe_t *recipe)
{
    for (unsigned i = 0; value.form == REGISTER && value.reg == ALIGNED && i < STORES; i++) {
        const value_t at = s->store[i].address, kept = s->store[i].value;
        if (at.form != REGISTER || at.reg != ALIGNED || kept.form != REGISTER || kept.reg != OMPP_RSP) continue;
        if (kept.offset % 8 || kept.offset < -256 || kept.offset > 256) continue;
        recipe->kind = kind & 15;
        recipe->offset = at.offset - value.offset;
        recipe->plus = (int8_t)((8 - kept.offset) / 8);
        return true;
    }
    return false;
}

/* A register holds it, until it is kept. */
static bool cfa_by(const state_t *s, ompp_recipe_t *recipe)
{
    for (unsigned r = 0; r < 16; r++)
        if (r != OMPP_RSP && cfa_from(s->reg[r], OMPP_RECIPE_REGISTER, recipe)) {
            recipe->plus = (int8_t)r;
            return true;
        }
    return false;
}

/* Where the caller's rbp was kept: relative to the CFA, or in a frame that was aligned. */
static bool rbp_kept(const state_t *s, ompp_recipe_t *recipe)
{
    const value_t callers = {REGISTER, OMPP_RBP, 0, 0}, rbp = s->reg[OMPP_RBP], rsp = s->reg[OMPP_RSP];

    for (unsigned i = 0; i < STORES; i++) {
        const value_t at = s->store[i].address;
        if (at.form != REGISTER || !same_place(s, s->store[i].value, callers)) continue;
        const value_t base = at.reg == OMPP_RSP   ? (value_t){REGISTER, OMPP_RSP, 8, 0}
                             : at.reg != ALIGNED  ? (value_t){.form = UNKNOWN}
                             : rbp.reg == ALIGNED ? rbp
                                                  : rsp;
        if (base.form != REGISTER || base.reg != at.reg || (at.offset - base.offset) % 8) continue;
        recipe->rbp_rule = at.reg == OMPP_RSP   ? OMPP_RBP_AT_CFA
                           : rbp.reg == ALIGNED ? OMPP_RBP_AT_RBP
                                                : OMPP_RBP_AT_RSP;
        recipe->rbp = (int16_t)((at.offset - base.offset) / 8);
    }
    return recipe->rbp_rule != OMPP_RBP_SAME;
}

/* The search has begun where the procedure does: what it knows here is turned round. */
static bool reaches_goal(search_t *search, const state_t *s)
{
    ompp_recipe_t recipe = {.kind = OMPP_RECIPE_NONE};
    const value_t rsp = s->reg[OMPP_RSP], rbp = s->reg[OMPP_RBP];

    if (!cfa_from(rsp, OMPP_RECIPE_RSP, &recipe) && !cfa_from(rbp, OMPP_RECIPE_RBP, &recipe) &&
        !cfa_at(s, rbp, OMPP_RECIPE_AT_RBP, &recipe) && !cfa_at(s, rsp, OMPP_RECIPE_AT_RSP, &recipe) &&
        !cfa_by(s, &recipe))
        return false;
    const bool same = rbp.form == REGISTER && rbp.reg == OMPP_RBP && rbp.offset == 0;
    if ((!same && !rbp_kept(s, &recipe)) || !search->help->accept(search->help->context, recipe)) return false;
    *search->recipe = recipe;
    return true;
}

/* ---- The search -------------------------------------------------------------------------------------------------- */

/* \return whether the address was there before. */
static bool visit(search_t *search, uintptr_t at)
{
    const uint32_t mark = (uint32_t)(at - search->image->low) + 1;

    for (unsigned i = mark * 0x9e3779b9u >> (32 - VISITED_BITS);; i = (i + 1) & ((1u << VISITED_BITS) - 1)) {
        if (search->visited[i] == mark) return true;
        if (search->visited[i]) continue;
        search->visited[i] = mark;
        return false;
    }
}

/* Code that nobody reaches follows: the call before does not return. */
static bool is_padding(const uint8_t *code, size_t room)
{
    static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
    unsigned prefixes = 0;

    if (room >= sizeof endbr && memcmp(code, endbr, sizeof endbr) == 0) return true;
    while (prefixes < room && (code[prefixes] == 0x66 || code[prefixes] == 0x2e)) prefixes++;
    code += prefixes;
    room -= prefixes;
    return room < 2 || *code == 0xcc || *code == 0x90 || *code == 0xf4 ||
           (code[0] == 0x0f && (code[1] == 0x0b || code[1] == 0x1f));
}

/* In the first entry of the procedure linkage table, the instruction before has pushed the second of two words that the
 * dynamic linker takes from the stack. */
static bool follows_push(const ompp_image_map_t *image, uintptr_t at)
{
    const uint8_t *before = (const uint8_t *)at - 6;

    return ompp_image_map_end(image, at - 6, true) && before[0] == 0xff && before[1] == 0x35;
}

typedef enum { GOES_ON, DEAD, DONE } fate_t;

static fate_t branch(search_t *search, state_t *s, const ZydisDecodedInstruction *i, const ZydisDecodedOperand *o,
                     uintptr_t next)
{
    if (o[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        const uintptr_t to = next + (uintptr_t)o[0].imm.value.s;
        if (!ompp_image_map_end(search->image, to, true)) return i->mnemonic == ZYDIS_MNEMONIC_JMP ? DEAD : GOES_ON;
        if (i->mnemonic == ZYDIS_MNEMONIC_JMP) {
            s->at = to;
        } else if (search->npending < PENDING) {
            search->pending[search->npending] = *s;
            search->pending[search->npending++].at = to;
        }
        return GOES_ON;
    }
    if (is_by_rip(&o[0])) { /* as in the procedure linkage table */
        if (follows_push(search->image, next - i->length)) s->reg[OMPP_RSP] = add(s->reg[OMPP_RSP], 16);
        return !search->goal && ends_here(search, s) ? DONE : DEAD;
    }
    const int by = o[0].type == ZYDIS_OPERAND_TYPE_REGISTER ? number_of(o[0].reg.value) : -1;
    if (by >= 0 && s->reg[by].form == ADDRESS) {
        s->at = search->image->low + (uintptr_t)(intptr_t)s->reg[by].offset;
        return GOES_ON;
    }
    search->jump = *s;
    if (!search->was_jump) search->first_jump = *s;
    search->has_jump = search->was_jump = true;
    return DEAD;
}

static point_t point_of(const state_t *s)
{
    const value_t rsp = s->reg[OMPP_RSP];
    point_t point = {.at = s->at, .down = rsp.offset, .is_rsp_known = rsp.form == REGISTER && rsp.reg == OMPP_RSP};

    for (unsigned r = 0; r < 16; r++)
        if (s->reg[r].form == REGISTER && s->reg[r].reg == r && s->reg[r].offset == 0)
            point.unchanged |= (uint16_t)(1u << r);
    return point;
}

/* A recipe of one address becomes that of another of the same frame, whose stack pointer is that much higher. */
static bool translate(ompp_recipe_t *recipe, const point_t *point, int64_t up)
{
    const bool by_rsp = recipe->kind == OMPP_RECIPE_RSP || recipe->kind == OMPP_RECIPE_AT_RSP;
    const unsigned reg = by_rsp                                                                  ? OMPP_RSP
                         : recipe->kind == OMPP_RECIPE_RBP || recipe->kind == OMPP_RECIPE_AT_RBP ? OMPP_RBP
                         : recipe->kind == OMPP_RECIPE_REGISTER ? (unsigned)recipe->plus
                                                                : 16;
    if (reg >= 16 || (by_rsp ? !point->is_rsp_known : !(point->unchanged >> reg & 1))) return false;
    if (by_rsp) recipe->offset -= (int32_t)up;
    if (recipe->rbp_rule == OMPP_RBP_AT_RSP) {
        if (!point->is_rsp_known || up % 8) return false;
        recipe->rbp = (int16_t)(recipe->rbp - up / 8);
    }
    /* A word below the stack pointer is not written yet. */
    if ((recipe->rbp_rule == OMPP_RBP_AT_RSP && recipe->rbp < 0) ||
        (recipe->rbp_rule == OMPP_RBP_AT_CFA && recipe->kind == OMPP_RECIPE_RSP &&
         recipe->offset + 8 * recipe->rbp < 0)) {
        recipe->rbp_rule = OMPP_RBP_SAME;
        recipe->rbp = 0;
    }
    return recipe->rbp_rule == OMPP_RBP_AT_RSP || recipe->rbp_rule == OMPP_RBP_AT_CFA ||
           point->unchanged >> OMPP_RBP & 1;
}

/* Has a recipe been made for an address on the way? */
static bool is_known(search_t *search, const state_t *s)
{
    const point_t point = point_of(s);
    ompp_recipe_t recipe;

    if (!search->help->known(search->help->context, s->at, &recipe) ||
        !translate(&recipe, &point, -(int64_t)point.down) || !search->help->accept(search->help->context, recipe))
        return false;
    *search->recipe = recipe;
    return true;
}

/* For those that come by one of the points later. */
static void publish(const search_t *search)
{
    for (unsigned i = 0; i < search->npoints; i++) {
        ompp_recipe_t recipe = *search->recipe;
        if (translate(&recipe, &search->points[i], search->points[i].down))
            search->help->publish(search->help->context, search->points[i].at, recipe);
    }
}

static fate_t advance(search_t *search)
{
    state_t *s = &search->now;
    ZydisDecodedInstruction i;
    ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
    const uintptr_t end = ompp_image_map_end(search->image, s->at, true);

    if (search->goal && s->at == search->goal) return reaches_goal(search, s) ? DONE : DEAD;
    if (!end || visit(search, s->at)) return DEAD;
    if (!search->goal && is_known(search, s)) return DONE;
    if (search->count % POINT_EVERY == 0 && search->npoints < POINTS) search->points[search->npoints++] = point_of(s);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, (const void *)s->at, end - s->at, &i, o))) return DEAD;
    const uintptr_t next = s->at + i.length;
    s->at = next;
    switch (i.meta.category) {
    case ZYDIS_CATEGORY_RET: return !search->goal && ends_here(search, s) ? DONE : DEAD;
    case ZYDIS_CATEGORY_CALL:
        /* Compilers never use what a callee may have changed; assembly knows its own helpers. */
        s->reg[OMPP_RAX].form = s->reg[OMPP_RDX].form = UNKNOWN;
        return next != search->goal && is_padding((const uint8_t *)next, end - next) ? DEAD : GOES_ON;
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_COND_BR: return branch(search, s, &i, o, next);
    default: break;
    }
    if (i.mnemonic == ZYDIS_MNEMONIC_UD2 || i.mnemonic == ZYDIS_MNEMONIC_HLT || i.mnemonic == ZYDIS_MNEMONIC_INT3)
        return DEAD;
    compute(search->image, s, &i, o);
    return GOES_ON;
}

static bool follow(search_t *search, uintptr_t address, uintptr_t goal, int64_t apart)
{
    search->goal = goal;
    memset(&search->now, 0, sizeof search->now);
    memset(search->visited, 0, sizeof search->visited);
    search->count = search->npending = search->npoints = 0;
    search->has_jump = search->was_jump = false;
    search->weak.kind = OMPP_RECIPE_NONE;
    search->now.at = address;
    search->now.apart = apart;
    for (unsigned r = 0; r < 16; r++) search->now.reg[r] = (value_t){REGISTER, (uint8_t)r, 0, 0};
    while (search->count++ < INSTRUCTIONS) {
        const fate_t fate = advance(search);
        if (fate == DONE) return true;
        if (fate == GOES_ON) continue;
        if (search->npending) {
            search->now = search->pending[--search->npending];
        } else if (search->has_jump) {
            /* No other way: cases of a switch follow its jump, mostly. */
            search->now = search->jump;
            search->has_jump = false;
        } else {
            break;
        }
    }
    if (!goal && search->was_jump && ends_here(search, &search->first_jump)) return true;
    /* An interpreter's, or a large switch's: all cases have the frame that their jump has. */
    if (goal && search->was_jump && reaches_goal(search, &search->first_jump)) return true;
    /* Helpers of assembly change rbp, which their callers, who know it, restore by the stack pointer. */
    if (search->weak.kind == OMPP_RECIPE_NONE || !search->help->accept(search->help->context, search->weak))
        return false;
    *search->recipe = search->weak;
    return true;
}

/* ---- Memory for it ----------------------------------------------------------------------------------------------- */

/* Taken by one search at a time; where all are in use, there is no recipe this time. */
#define SPACES 2u

static struct {
    atomic_flag in_use;
    search_t search;
} spaces[SPACES] = {{ATOMIC_FLAG_INIT, {0}}, {ATOMIC_FLAG_INIT, {0}}};

bool ompp_infer(const ompp_image_map_t *image, uintptr_t address, int64_t apart, const ompp_infer_help_t *help,
                ompp_recipe_t *recipe)
{
    uintptr_t low, high;

    for (unsigned i = 0; i < SPACES; i++) {
        if (atomic_flag_test_and_set_explicit(&spaces[i].in_use, memory_order_acquire)) continue;
        search_t *search = &spaces[i].search;
        search->image = image;
        search->help = help;
        search->recipe = recipe;
        /* From here on; else, what never returns, from its begin. Its last instruction may be a call that does not
         * return. */
        bool found = follow(search, address, 0, apart);
        for (int before = 1; !found && before >= 0; before--)
            found = ompp_bounds_known(image, address - (uintptr_t)before, &low, &high) &&
                    follow(search, low, address, FAR_APART);
        if (found && !search->goal) publish(search);
        atomic_flag_clear_explicit(&spaces[i].in_use, memory_order_release);
        return found;
    }
    return false;
}

static bool never(void *context, ompp_recipe_t recipe)
{
    (void)context, (void)recipe;
    return false;
}

static bool never_known(void *context, uintptr_t address, ompp_recipe_t *recipe)
{
    (void)context, (void)address, (void)recipe;
    return false;
}

void ompp_infer_warm(void)
{
    static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3}; /* a small procedure */
    const uintptr_t low = (uintptr_t)code;
    ompp_image_map_t image = {
        .low = low, .high = low + sizeof code, .segment = {{low, low + sizeof code, 5}}, .nsegments = 1};
    const ompp_infer_help_t help = {.accept = never, .known = never_known};
    ompp_recipe_t recipe;

    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    for (unsigned i = 0; i < SPACES; i++) memset(&spaces[i].search, 0, sizeof spaces[i].search);
    ompp_infer(&image, low, FAR_APART, &help, &recipe);
}
