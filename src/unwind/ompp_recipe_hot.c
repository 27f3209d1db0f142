/*
 * Makes recipes: what is known of an address, from the surest source to the least.
 */
#include "unwind/ompp_cache_priv.h"
#include "unwind/ompp_unwind_priv.h"

#include <limits.h>

/* ---- Rows to recipes --------------------------------------------------------------------------------------------- */

/* What an expression computes is found out by evaluating it twice, with registers and memory that are made up: when it
 * is a register or a word of the stack plus a number, the number is the same both times. */
typedef struct {
    ompp_walk_t walk;
    unsigned reads;
    uint64_t read_at, word;
} trial_t;

static bool read_trial(ompp_walk_t *walk, uintptr_t at, uint64_t *value)
{
    trial_t *trial = (trial_t *)walk; /* its first member */

    trial->read_at = at;
    trial->reads++;
    *value = trial->word;
    return true;
}

static bool try_expression(trial_t *trial, const uint8_t *bytes, const uint64_t *push, uintptr_t rip, uint64_t seed,
                           uint64_t *value)
{
    for (unsigned i = 0; i < OMPP_REGISTERS; i++) trial->walk.reg[i] = seed * (i + 3) + 0x123456789u * i * i;
    trial->walk.reg[OMPP_RIP] = rip;
    trial->walk.known = (1u << OMPP_REGISTERS) - 1;
    trial->reads = 0;
    trial->word = seed * 41 + 0x77;
    return ompp_expression_evaluate(bytes, &trial->walk, push, read_trial, value) && trial->reads <= 1;
}

typedef struct {
    bool is_read; /* the value is a word of memory at (reg + offset), plus a number */
    unsigned reg; /* RSP, RBP */
    int64_t offset, plus;
} shape_t;

static bool find_shape(const uint8_t *bytes, const uint64_t *push, uintptr_t rip, shape_t *shape)
{
    trial_t a, b;
    uint64_t x, y;

    if (!try_expression(&a, bytes, push, rip, 0x10001000100000u, &x) ||
        !try_expression(&b, bytes, push, rip, 0x33307770555000u, &y) || a.reads != b.reads)
        return false;
    shape->is_read = a.reads;
    shape->plus = 0;
    if (shape->is_read) {
        if (x - a.word != y - b.word) return false;
        shape->plus = (int64_t)(x - a.word);
        x = a.read_at;
        y = b.read_at;
    }
    for (shape->reg = OMPP_RBP; shape->reg <= OMPP_RSP; shape->reg++) {
        shape->offset = (int64_t)(x - a.walk.reg[shape->reg]);
        if (y - b.walk.reg[shape->reg] == (uint64_t)shape->offset) return true;
    }
    return false;
}

static bool set_offset(ompp_recipe_t *recipe, int64_t offset)
{
    recipe->offset = (int32_t)offset;
    return offset >= INT32_MIN && offset <= INT32_MAX;
}

static bool set_rbp(ompp_recipe_t *recipe, ompp_rbp_rule_t rule, int64_t offset)
{
    recipe->rbp_rule = rule;
    recipe->rbp = (int16_t)(offset / 8);
    return offset % 8 == 0 && offset / 8 >= INT16_MIN && offset / 8 <= INT16_MAX;
}

static bool shorten_cfa(const ompp_cfi_row_t *row, uintptr_t rip, ompp_recipe_t *recipe)
{
    shape_t shape = {.reg = (unsigned)row->value[OMPP_REGISTERS], .offset = row->cfa_offset};

    if (row->rule[OMPP_REGISTERS] != OMPP_RULE_REGISTER &&
        !find_shape((const uint8_t *)row->value[OMPP_REGISTERS], NULL, rip, &shape))
        return false;
    if (shape.plus % 8 || shape.plus < 8 * -64 || shape.plus >= 8 * 64) return false;
    recipe->plus = (int8_t)(shape.plus / 8);
    recipe->kind = shape.reg == OMPP_RSP ? (shape.is_read ? OMPP_RECIPE_AT_RSP : OMPP_RECIPE_RSP)
                                         : (shape.is_read ? OMPP_RECIPE_AT_RBP : OMPP_RECIPE_RBP);
    return (shape.reg == OMPP_RSP || shape.reg == OMPP_RBP) && set_offset(recipe, shape.offset);
}

static bool shorten_rbp(const ompp_cfi_row_t *row, uintptr_t rip, ompp_recipe_t *recipe)
{
    const uint64_t some = 0;
    shape_t shape;

    switch (row->rule[OMPP_RBP]) {
    case OMPP_RULE_SAME:
    case OMPP_RULE_UNDEFINED: return set_rbp(recipe, OMPP_RBP_SAME, 0);
    case OMPP_RULE_OFFSET: return set_rbp(recipe, OMPP_RBP_AT_CFA, row->value[OMPP_RBP]);
    case OMPP_RULE_EXPRESSION:
        if (!find_shape((const uint8_t *)row->value[OMPP_RBP], &some, rip, &shape) || shape.is_read) return false;
        return set_rbp(recipe, shape.reg == OMPP_RSP ? OMPP_RBP_AT_RSP : OMPP_RBP_AT_RBP, shape.offset);
    default: return false;
    }
}

ompp_recipe_t ompp_recipe_of_row(const ompp_cfi_t *cfi, uintptr_t address)
{
    const ompp_cfi_row_t *row = &cfi->row;
    ompp_recipe_t recipe = {.kind = OMPP_RECIPE_NONE};

    if (row->rule[OMPP_RIP] == OMPP_RULE_UNDEFINED) return (ompp_recipe_t){.kind = OMPP_RECIPE_ROOT};
    if (cfi->is_signal || row->rule[OMPP_RIP] != OMPP_RULE_OFFSET || row->value[OMPP_RIP] != -8 ||
        row->rule[OMPP_RSP] != OMPP_RULE_SAME || !shorten_cfa(row, address, &recipe) ||
        !shorten_rbp(row, address, &recipe))
        return (ompp_recipe_t){.kind = OMPP_RECIPE_FULL};
    return recipe;
}

/* ---- Steps by a whole row ---------------------------------------------------------------------------------------- */

static bool find_row(const ompp_walk_t *walk, ompp_cfi_t *cfi)
{
    const uintptr_t address = walk->reg[OMPP_RIP] - !walk->is_exact;
    ompp_image_map_t image;

    return ompp_image_map_find(address, &image) && ompp_cfi_row(&image, address, cfi) == OMPP_CFI_FOUND;
}

/* The registers that an expression needs may be those that are not known. */
static ompp_unwind_end_t why_not(const ompp_walk_t *walk)
{
    return walk->known == (1u << OMPP_REGISTERS) - 1 ? OMPP_UNWIND_EXPRESSION : OMPP_UNWIND_REGISTER;
}

static ompp_unwind_end_t row_cfa(ompp_walk_t *walk, const ompp_cfi_row_t *row, uint64_t *cfa)
{
    const int64_t value = row->value[OMPP_REGISTERS];

    if (row->rule[OMPP_REGISTERS] != OMPP_RULE_REGISTER)
        return ompp_expression_evaluate((const uint8_t *)value, walk, NULL, ompp_walk_read, cfa) ? OMPP_UNWIND_ROOT
                                                                                                 : why_not(walk);
    if (value < 0 || value >= OMPP_REGISTERS) return OMPP_UNWIND_EXPRESSION;
    if (!(walk->known >> value & 1)) return OMPP_UNWIND_REGISTER;
    *cfa = walk->reg[value] + (uint64_t)row->cfa_offset;
    return OMPP_UNWIND_ROOT;
}

static bool row_register(ompp_walk_t *walk, const ompp_cfi_row_t *row, unsigned reg, uint64_t cfa, uint64_t *result)
{
    const int64_t value = row->value[reg];
    uint64_t at;

    switch (row->rule[reg]) {
    case OMPP_RULE_SAME: *result = walk->reg[reg]; return walk->known >> reg & 1 && OMPP_CALLEE_SAVED >> reg & 1;
    case OMPP_RULE_OFFSET: return ompp_walk_read(walk, cfa + (uint64_t)value, result);
    case OMPP_RULE_VALUE: *result = cfa + (uint64_t)value; return true;
    case OMPP_RULE_REGISTER:
        if (value < 0 || value >= OMPP_REGISTERS || !(walk->known >> value & 1)) return false;
        *result = walk->reg[value];
        return true;
    case OMPP_RULE_EXPRESSION:
        return ompp_expression_evaluate((const uint8_t *)value, walk, &cfa, ompp_walk_read, &at) &&
               ompp_walk_read(walk, at, result);
    case OMPP_RULE_VALUE_EXPRESSION:
        return ompp_expression_evaluate((const uint8_t *)value, walk, &cfa, ompp_walk_read, result);
    default: return false;
    }
}

ompp_unwind_end_t ompp_step_full(ompp_walk_t *walk, uint64_t *cfa)
{
    ompp_walk_t caller = *walk;
    ompp_cfi_t cfi;

    if (!find_row(walk, &cfi)) return OMPP_UNWIND_NO_RECIPE;
    const ompp_unwind_end_t end = row_cfa(walk, &cfi.row, cfa);
    if (end != OMPP_UNWIND_ROOT) return end;
    caller.known = 0;
    for (unsigned i = 0; i < OMPP_REGISTERS; i++)
        if (row_register(walk, &cfi.row, i, *cfa, &caller.reg[i])) caller.known |= 1u << i;
    if (cfi.row.rule[OMPP_RSP] == OMPP_RULE_SAME) {
        caller.reg[OMPP_RSP] = *cfa;
        caller.known |= 1u << OMPP_RSP;
    }
    if (!(caller.known >> OMPP_RIP & 1))
        return cfi.row.rule[OMPP_RIP] == OMPP_RULE_OFFSET ? OMPP_UNWIND_UNREADABLE : why_not(walk);
    if (!(caller.known >> OMPP_RSP & 1)) return why_not(walk);
    /* In longjmp() the caller is where it leads, and the stack pointer may be there already. */
    const bool is_next = cfi.row.rule[OMPP_RSP] == OMPP_RULE_SAME;
    if (caller.reg[OMPP_RSP] < walk->reg[OMPP_RSP] + is_next && !cfi.is_signal) return OMPP_UNWIND_BAD_CFA;
    caller.is_exact = cfi.is_signal;
    caller.low = walk->low;
    caller.high = walk->high;
    *walk = caller;
    return OMPP_UNWIND_ROOT;
}

/* ---- What is known of an address --------------------------------------------------------------------------------- */

#define ENTRY_BYTES 64u /* of the code at which the system starts a program */

static ompp_recipe_t first_recipe(ompp_walk_t *walk, const ompp_image_map_t *image, uintptr_t *start)
{
    const uintptr_t rip = walk->reg[OMPP_RIP], address = rip - !walk->is_exact;
    ompp_recipe_t recipe = {.kind = OMPP_RECIPE_NONE};
    ompp_cfi_t cfi;

    if (ompp_code_is_sigreturn(image, rip)) return (ompp_recipe_t){.kind = OMPP_RECIPE_SIGNAL};
    const ompp_cfi_result_t result = ompp_cfi_row(image, address, &cfi);
    if (result != OMPP_CFI_NONE) *start = cfi.low;
    if (walk->is_exact && ompp_code_epilogue(image, rip, &recipe)) return recipe;
    if (result == OMPP_CFI_FOUND) return ompp_recipe_of_row(&cfi, address);
    if (address - image->entry < ENTRY_BYTES) return (ompp_recipe_t){.kind = OMPP_RECIPE_ROOT};
    if (ompp_place_second(walk, &recipe)) {
        walk->inferred++;
        return recipe;
    }
    return ompp_no_recipe(result == OMPP_CFI_BAD ? OMPP_UNWIND_EXPRESSION : OMPP_UNWIND_NO_RECIPE);
}

ompp_place_t ompp_place_make(ompp_walk_t *walk)
{
    const uintptr_t rip = walk->reg[OMPP_RIP];
    ompp_place_t place = {ompp_no_recipe(OMPP_UNWIND_NO_CODE), 0, 0};
    ompp_image_map_t image;

    if (!ompp_image_map_find(rip - !walk->is_exact, &image) || !ompp_image_map_end(&image, rip - !walk->is_exact, true))
        return place;
    place.recipe = first_recipe(walk, &image, &place.start);
    const ompp_unwind_decoder_t *decoder = ompp_unwind_decoder_get();
    uintptr_t high;
    if (!place.start && decoder && !decoder->known(&image, rip - !walk->is_exact, &place.start, &high)) place.start = 0;
    if (!walk->is_exact) place.recipe.call = ompp_code_call_before(&image, rip, &place.target) & 3;
    return place;
}

/* Does a recipe lead, from the frame of the walk, to an address that a call precedes? */
static bool is_accepted(void *context, ompp_recipe_t recipe)
{
    ompp_walk_t walk = *(const ompp_walk_t *)context;
    uint64_t cfa, rip, rbp;
    ompp_image_map_t image;
    uintptr_t target;

    if (ompp_recipe_apply(&walk, recipe, &cfa, &rip, &rbp) != OMPP_UNWIND_ROOT || !ompp_image_map_find(rip - 1, &image))
        return false;
    return ompp_code_is_sigreturn(&image, rip) || ompp_code_call_before(&image, rip, &target) != OMPP_CALL_NONE;
}

static bool is_known(void *context, uintptr_t address, ompp_recipe_t *recipe)
{
    const ompp_walk_t *walk = context;
    ompp_place_t place;

    /* Not itself: the search may be for something better. */
    if ((walk->is_exact && address == walk->reg[OMPP_RIP]) || !ompp_cache_get(ompp_cache_key(address, true), &place))
        return false;
    *recipe = place.recipe;
    return true;
}

/* Where there is unwind information, the recipe by it is no worse. */
static void publish(void *context, uintptr_t address, ompp_recipe_t recipe)
{
    const ompp_unwind_decoder_t *decoder = ompp_unwind_decoder_get();
    ompp_place_t place;
    ompp_image_map_t image;
    uintptr_t high;

    (void)context;
    if (ompp_cache_get(ompp_cache_key(address, true), &place) || !ompp_image_map_find(address, &image) ||
        ompp_cfi_procedure(&image, address, &place.start, &high))
        return;
    if (!decoder || !decoder->known(&image, address, &place.start, &high)) place.start = 0;
    place.target = 0;
    place.recipe = recipe;
    ompp_cache_put(ompp_cache_key(address, true), &place);
}

bool ompp_place_second(ompp_walk_t *walk, ompp_recipe_t *recipe)
{
    const ompp_unwind_decoder_t *decoder = ompp_unwind_decoder_get();
    const uintptr_t rip = walk->reg[OMPP_RIP];
    const ompp_infer_help_t help = {is_accepted, is_known, publish, walk};
    const unsigned call = recipe->call;
    ompp_image_map_t image;

    if (!decoder || !ompp_image_map_find(rip - !walk->is_exact, &image) ||
        !decoder->infer(&image, rip, (int64_t)(walk->reg[OMPP_RBP] - walk->reg[OMPP_RSP]), &help, recipe))
        return false;
    recipe->call = call & 3;
    return true;
}
