/*
 * Recipes without unwind information: the code is followed from an address to where its procedure returns, and what
 * happens to the stack pointer and to rbp on the way is added up. No bounds of procedures are needed: jumps to other
 * procedures, and parts that the compiler has split off, are followed like all others. Part of libompp-unwind.so;
 * called in signal handlers.
 */
#include "unwind/ompp_infer_priv.h"

#include <Zydis/Zydis.h>
#include <stdatomic.h>

#define INSTRUCTIONS 20000u /* for one recipe: some 4 ms; what is passed on the way is not followed again */
#define POINT_EVERY 64u     /* instructions */
#define FAR_APART INT64_C(0x100000000000)

static ZydisDecoder decoder;

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* Below the stack pointer where the search began. */
static bool is_own(const ompp_infer_state_t *s, ompp_infer_value_t address)
{
    return address.reg == OMPP_INFER_ALIGNED || (ompp_infer_is_on_stack(address) && ompp_infer_place(s, address) < 0);
}

static ompp_infer_value_t load(const ompp_infer_state_t *s, ompp_infer_value_t address)
{
    if (address.form == OMPP_INFER_MEMORY)
        return (ompp_infer_value_t){OMPP_INFER_INDIRECT, address.reg, address.offset, address.plus};
    if (address.form != OMPP_INFER_REGISTER) return (ompp_infer_value_t){.form = OMPP_INFER_UNKNOWN};
    for (unsigned i = 0; i < OMPP_INFER_STORES; i++)
        if (ompp_infer_same_place(s, s->store[i].address, address)) return s->store[i].value;
    if (is_own(s, address)) return (ompp_infer_value_t){.form = OMPP_INFER_UNKNOWN}; /* not written yet */
    return (ompp_infer_value_t){OMPP_INFER_MEMORY, address.reg, address.offset, 0};
}

static void store(ompp_infer_state_t *s, ompp_infer_value_t address, ompp_infer_value_t value)
{
    if (address.form != OMPP_INFER_REGISTER) return;
    for (unsigned i = 0; i < OMPP_INFER_STORES; i++)
        if (ompp_infer_same_place(s, s->store[i].address, address)) {
            s->store[i].value = value;
            return;
        }
    if (value.form == OMPP_INFER_UNKNOWN && is_own(s, address)) return; /* load() says the same of it */
    s->store[s->next_store].address = address;
    s->store[s->next_store].value = value;
    s->next_store = (s->next_store + 1) % OMPP_INFER_STORES;
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

static ompp_infer_value_t address_of(const ompp_infer_state_t *s, const ZydisDecodedOperand *o)
{
    const int base = number_of(o->mem.base);

    if (base < 0 || o->mem.index != ZYDIS_REGISTER_NONE || o->mem.segment == ZYDIS_REGISTER_FS)
        return (ompp_infer_value_t){.form = OMPP_INFER_UNKNOWN};
    return ompp_infer_add(s->reg[base], o->mem.disp.has_displacement ? o->mem.disp.value : 0);
}

static ompp_infer_value_t value_of(const ompp_infer_state_t *s, const ZydisDecodedOperand *o)
{
    if (o->size == 64 && o->type == ZYDIS_OPERAND_TYPE_REGISTER && number_of(o->reg.value) >= 0)
        return s->reg[number_of(o->reg.value)];
    if (o->size == 64 && o->type == ZYDIS_OPERAND_TYPE_MEMORY) return load(s, address_of(s, o));
    return (ompp_infer_value_t){.form = OMPP_INFER_UNKNOWN};
}

static void assign(ompp_infer_state_t *s, const ZydisDecodedOperand *o, ompp_infer_value_t value)
{
    if (o->type == ZYDIS_OPERAND_TYPE_REGISTER && number_of(o->reg.value) >= 0) s->reg[number_of(o->reg.value)] = value;
    if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) store(s, address_of(s, o), value);
}

/* Whatever an instruction does: what it writes is not known any more. */
static void forget_written(ompp_infer_state_t *s, const ZydisDecodedInstruction *i, const ZydisDecodedOperand *o)
{
    for (unsigned n = 0; n < i->operand_count; n++)
        if (o[n].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
            assign(s, &o[n], (ompp_infer_value_t){.form = OMPP_INFER_UNKNOWN});
}

/* ---- One instruction --------------------------------------------------------------------------------------------- */

static void push(ompp_infer_state_t *s, ompp_infer_value_t value)
{
    s->reg[OMPP_RSP] = ompp_infer_add(s->reg[OMPP_RSP], -8);
    store(s, s->reg[OMPP_RSP], value);
}

static ompp_infer_value_t pop(ompp_infer_state_t *s)
{
    const ompp_infer_value_t value = load(s, s->reg[OMPP_RSP]);

    s->reg[OMPP_RSP] = ompp_infer_add(s->reg[OMPP_RSP], 8);
    return value;
}

static bool is_by_rip(const ZydisDecodedOperand *o)
{
    return o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.base == ZYDIS_REGISTER_RIP;
}

static void compute(const ompp_image_map_t *image, ompp_infer_state_t *s, const ZydisDecodedInstruction *i,
                    const ZydisDecodedOperand *o)
{
    ompp_infer_value_t value;

    switch (i->mnemonic) {
    case ZYDIS_MNEMONIC_PUSH: push(s, value_of(s, &o[0])); return;
    case ZYDIS_MNEMONIC_PUSHFQ: push(s, (ompp_infer_value_t){.form = OMPP_INFER_UNKNOWN}); return;
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
            value = (ompp_infer_value_t){OMPP_INFER_ADDRESS, 0, 0, 0};
            assign(s, &o[0], ompp_infer_add(value, (int64_t)(s->at - image->low) + o[1].mem.disp.value));
            return;
        }
        assign(s, &o[0], o[0].size == 64 ? address_of(s, &o[1]) : (ompp_infer_value_t){.form = OMPP_INFER_UNKNOWN});
        return;
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
        if (o[0].type != ZYDIS_OPERAND_TYPE_REGISTER || o[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE) break;
        assign(s, &o[0],
               ompp_infer_add(value_of(s, &o[0]),
                              i->mnemonic == ZYDIS_MNEMONIC_ADD ? o[1].imm.value.s : -o[1].imm.value.s));
        return;
    case ZYDIS_MNEMONIC_AND:
        if (o[0].type != ZYDIS_OPERAND_TYPE_REGISTER || o[0].reg.value != ZYDIS_REGISTER_RSP) break;
        s->reg[OMPP_RSP] = (ompp_infer_value_t){OMPP_INFER_REGISTER, OMPP_INFER_ALIGNED, 0, 0};
        return;
    default: break;
    }
    forget_written(s, i, o);
}

/* ---- The search -------------------------------------------------------------------------------------------------- */

/* \return whether the address was there before. */
static bool visit(ompp_infer_search_t *search, uintptr_t at)
{
    const uint32_t mark = (uint32_t)(at - search->image->low) + 1;

    for (unsigned i = mark * 0x9e3779b9u >> (32 - OMPP_INFER_VISITED_BITS);;
         i = (i + 1) & ((1u << OMPP_INFER_VISITED_BITS) - 1)) {
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

static fate_t branch(ompp_infer_search_t *search, ompp_infer_state_t *s, const ZydisDecodedInstruction *i,
                     const ZydisDecodedOperand *o, uintptr_t next)
{
    if (o[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        const uintptr_t to = next + (uintptr_t)o[0].imm.value.s;
        if (!ompp_image_map_end(search->image, to, true)) return i->mnemonic == ZYDIS_MNEMONIC_JMP ? DEAD : GOES_ON;
        if (i->mnemonic == ZYDIS_MNEMONIC_JMP) {
            s->at = to;
        } else if (search->npending < OMPP_INFER_PENDING) {
            search->pending[search->npending] = *s;
            search->pending[search->npending++].at = to;
        }
        return GOES_ON;
    }
    if (is_by_rip(&o[0])) { /* as in the procedure linkage table */
        if (follows_push(search->image, next - i->length)) s->reg[OMPP_RSP] = ompp_infer_add(s->reg[OMPP_RSP], 16);
        return !search->goal && ompp_infer_ends(search, s) ? DONE : DEAD;
    }
    const int by = o[0].type == ZYDIS_OPERAND_TYPE_REGISTER ? number_of(o[0].reg.value) : -1;
    if (by >= 0 && s->reg[by].form == OMPP_INFER_ADDRESS) {
        s->at = search->image->low + (uintptr_t)(intptr_t)s->reg[by].offset;
        return GOES_ON;
    }
    search->jump = *s;
    if (!search->was_jump) search->first_jump = *s;
    search->has_jump = search->was_jump = true;
    return DEAD;
}

static ompp_infer_point_t point_of(const ompp_infer_state_t *s)
{
    const ompp_infer_value_t rsp = s->reg[OMPP_RSP];
    ompp_infer_point_t point = {
        .at = s->at, .down = rsp.offset, .is_rsp_known = rsp.form == OMPP_INFER_REGISTER && rsp.reg == OMPP_RSP};

    for (unsigned r = 0; r < 16; r++)
        if (s->reg[r].form == OMPP_INFER_REGISTER && s->reg[r].reg == r && s->reg[r].offset == 0)
            point.unchanged |= (uint16_t)(1u << r);
    return point;
}

/* A recipe of one address becomes that of another of the same frame, whose stack pointer is that much higher. */
static bool translate(ompp_recipe_t *recipe, const ompp_infer_point_t *point, int64_t up)
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
static bool is_known(ompp_infer_search_t *search, const ompp_infer_state_t *s)
{
    const ompp_infer_point_t point = point_of(s);
    ompp_recipe_t recipe;

    if (!search->help->known(search->help->context, s->at, &recipe) ||
        !translate(&recipe, &point, -(int64_t)point.down) || !search->help->accept(search->help->context, recipe))
        return false;
    *search->recipe = recipe;
    return true;
}

/* For those that come by one of the points later. */
static void publish(const ompp_infer_search_t *search)
{
    for (unsigned i = 0; i < search->npoints; i++) {
        ompp_recipe_t recipe = *search->recipe;
        if (translate(&recipe, &search->points[i], search->points[i].down))
            search->help->publish(search->help->context, search->points[i].at, recipe);
    }
}

static fate_t advance(ompp_infer_search_t *search)
{
    ompp_infer_state_t *s = &search->now;
    ZydisDecodedInstruction i;
    ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
    const uintptr_t end = ompp_image_map_end(search->image, s->at, true);

    if (search->goal && s->at == search->goal) return ompp_infer_reaches_goal(search, s) ? DONE : DEAD;
    if (!end || visit(search, s->at)) return DEAD;
    if (!search->goal && is_known(search, s)) return DONE;
    if (search->count % POINT_EVERY == 0 && search->npoints < OMPP_INFER_POINTS)
        search->points[search->npoints++] = point_of(s);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, (const void *)s->at, end - s->at, &i, o))) return DEAD;
    const uintptr_t next = s->at + i.length;
    s->at = next;
    switch (i.meta.category) {
    case ZYDIS_CATEGORY_RET: return !search->goal && ompp_infer_ends(search, s) ? DONE : DEAD;
    case ZYDIS_CATEGORY_CALL:
        /* Compilers never use what a callee may have changed; assembly knows its own helpers. */
        s->reg[OMPP_RAX].form = s->reg[OMPP_RDX].form = OMPP_INFER_UNKNOWN;
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

static bool follow(ompp_infer_search_t *search, uintptr_t address, uintptr_t goal, int64_t apart)
{
    search->goal = goal;
    memset(&search->now, 0, sizeof search->now);
    memset(search->visited, 0, sizeof search->visited);
    search->count = search->npending = search->npoints = 0;
    search->has_jump = search->was_jump = false;
    search->weak.kind = OMPP_RECIPE_NONE;
    search->now.at = address;
    search->now.apart = apart;
    for (unsigned r = 0; r < 16; r++) search->now.reg[r] = (ompp_infer_value_t){OMPP_INFER_REGISTER, (uint8_t)r, 0, 0};
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
    if (!goal && search->was_jump && ompp_infer_ends(search, &search->first_jump)) return true;
    /* An interpreter's, or a large switch's: all cases have the frame that their jump has. */
    if (goal && search->was_jump && ompp_infer_reaches_goal(search, &search->first_jump)) return true;
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
    ompp_infer_search_t search;
} spaces[SPACES] = {{ATOMIC_FLAG_INIT, {0}}, {ATOMIC_FLAG_INIT, {0}}};

bool ompp_infer(const ompp_image_map_t *image, uintptr_t address, int64_t apart, const ompp_infer_help_t *help,
                ompp_recipe_t *recipe)
{
    uintptr_t low, high;

    for (unsigned i = 0; i < SPACES; i++) {
        if (atomic_flag_test_and_set_explicit(&spaces[i].in_use, memory_order_acquire)) continue;
        ompp_infer_search_t *search = &spaces[i].search;
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
