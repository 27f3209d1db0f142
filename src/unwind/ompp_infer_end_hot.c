/*
 * Recipes without unwind information, where a path through the code ends: what is known there of the stack pointer and
 * of rbp becomes the recipe. Part of libompp-unwind.so; called in signal handlers.
 */
#include "unwind/ompp_infer_priv.h"

/* cfa: where the frame ends, once it is known. */
static bool rbp_rule(ompp_infer_value_t rbp, ompp_infer_value_t cfa, ompp_recipe_t *recipe)
{
    int64_t at = rbp.offset;

    recipe->rbp_rule = OMPP_RBP_SAME;
    if (rbp.form == OMPP_INFER_REGISTER) return rbp.reg == OMPP_RBP && rbp.offset == 0;
    if (rbp.form == OMPP_INFER_INDIRECT && cfa.form == OMPP_INFER_MEMORY && rbp.reg == cfa.reg &&
        rbp.offset == cfa.offset) {
        /* The stack pointer was kept in the frame: the caller's rbp lies where that points to. */
        recipe->rbp_rule = OMPP_RBP_AT_CFA;
        at = (int64_t)rbp.plus - cfa.plus;
    } else if (rbp.form != OMPP_INFER_MEMORY || rbp.plus) {
        return false;
    } else if (cfa.form == OMPP_INFER_REGISTER && cfa.reg == rbp.reg) {
        recipe->rbp_rule = OMPP_RBP_AT_CFA;
        at -= cfa.offset;
    } else if (ompp_infer_is_on_stack(rbp)) {
        recipe->rbp_rule = rbp.reg == OMPP_RSP ? OMPP_RBP_AT_RSP : OMPP_RBP_AT_RBP;
    } else {
        return false;
    }
    recipe->rbp = (int16_t)(at / 8);
    return at % 8 == 0 && recipe->rbp == at / 8;
}

bool ompp_infer_ends(ompp_infer_search_t *search, const ompp_infer_state_t *s)
{
    ompp_infer_value_t cfa = s->reg[OMPP_RSP];
    ompp_recipe_t recipe = {.kind = OMPP_RECIPE_NONE};

    if (cfa.form == OMPP_INFER_UNKNOWN || cfa.form == OMPP_INFER_INDIRECT || cfa.form == OMPP_INFER_ADDRESS ||
        cfa.reg == OMPP_INFER_ALIGNED)
        return false;
    cfa = ompp_infer_add(cfa, 8);
    if (!rbp_rule(s->reg[OMPP_RBP], cfa, &recipe)) {
        if (cfa.form == OMPP_INFER_REGISTER && cfa.reg == OMPP_RSP)
            search->weak = (ompp_recipe_t){.kind = OMPP_RECIPE_RSP, .offset = cfa.offset};
        return false;
    }
    recipe.offset = cfa.offset;
    if (cfa.form == OMPP_INFER_MEMORY) {
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
static bool cfa_from(ompp_infer_value_t value, ompp_recipe_kind_t kind, ompp_recipe_t *recipe)
{
    if (value.form != OMPP_INFER_REGISTER || value.reg != OMPP_RSP) return false;
    recipe->kind = kind & 15;
    recipe->offset = 8 - value.offset;
    return true;
}

/* A word of a frame that was aligned holds where the procedure began: the CFA is by that word. */
static bool cfa_at(const ompp_infer_state_t *s, ompp_infer_value_t value, ompp_recipe_kind_t kind,
                   ompp_recipe_t *recipe)
{
    for (unsigned i = 0; value.form == OMPP_INFER_REGISTER && value.reg == OMPP_INFER_ALIGNED && i < OMPP_INFER_STORES;
         i++) {
        const ompp_infer_value_t at = s->store[i].address, kept = s->store[i].value;
        if (at.form != OMPP_INFER_REGISTER || at.reg != OMPP_INFER_ALIGNED || kept.form != OMPP_INFER_REGISTER ||
            kept.reg != OMPP_RSP)
            continue;
        if (kept.offset % 8 || kept.offset < -256 || kept.offset > 256) continue;
        recipe->kind = kind & 15;
        recipe->offset = at.offset - value.offset;
        recipe->plus = (int8_t)((8 - kept.offset) / 8);
        return true;
    }
    return false;
}

/* A register holds it, until it is kept. */
static bool cfa_by(const ompp_infer_state_t *s, ompp_recipe_t *recipe)
{
    for (unsigned r = 0; r < 16; r++)
        if (r != OMPP_RSP && cfa_from(s->reg[r], OMPP_RECIPE_REGISTER, recipe)) {
            recipe->plus = (int8_t)r;
            return true;
        }
    return false;
}

/* Where the caller's rbp was kept: relative to the CFA, or in a frame that was aligned. */
static bool rbp_kept(const ompp_infer_state_t *s, ompp_recipe_t *recipe)
{
    const ompp_infer_value_t callers = {OMPP_INFER_REGISTER, OMPP_RBP, 0, 0}, rbp = s->reg[OMPP_RBP],
                             rsp = s->reg[OMPP_RSP];

    for (unsigned i = 0; i < OMPP_INFER_STORES; i++) {
        const ompp_infer_value_t at = s->store[i].address;
        if (at.form != OMPP_INFER_REGISTER || !ompp_infer_same_place(s, s->store[i].value, callers)) continue;
        const ompp_infer_value_t base = at.reg == OMPP_RSP ? (ompp_infer_value_t){OMPP_INFER_REGISTER, OMPP_RSP, 8, 0}
                                        : at.reg != OMPP_INFER_ALIGNED
                                            ? (ompp_infer_value_t){.form = OMPP_INFER_UNKNOWN}
                                        : rbp.reg == OMPP_INFER_ALIGNED ? rbp
                                                                        : rsp;
        if (base.form != OMPP_INFER_REGISTER || base.reg != at.reg || (at.offset - base.offset) % 8) continue;
        recipe->rbp_rule = at.reg == OMPP_RSP              ? OMPP_RBP_AT_CFA
                           : rbp.reg == OMPP_INFER_ALIGNED ? OMPP_RBP_AT_RBP
                                                           : OMPP_RBP_AT_RSP;
        recipe->rbp = (int16_t)((at.offset - base.offset) / 8);
    }
    return recipe->rbp_rule != OMPP_RBP_SAME;
}

bool ompp_infer_reaches_goal(ompp_infer_search_t *search, const ompp_infer_state_t *s)
{
    ompp_recipe_t recipe = {.kind = OMPP_RECIPE_NONE};
    const ompp_infer_value_t rsp = s->reg[OMPP_RSP], rbp = s->reg[OMPP_RBP];

    if (!cfa_from(rsp, OMPP_RECIPE_RSP, &recipe) && !cfa_from(rbp, OMPP_RECIPE_RBP, &recipe) &&
        !cfa_at(s, rbp, OMPP_RECIPE_AT_RBP, &recipe) && !cfa_at(s, rsp, OMPP_RECIPE_AT_RSP, &recipe) &&
        !cfa_by(s, &recipe))
        return false;
    const bool same = rbp.form == OMPP_INFER_REGISTER && rbp.reg == OMPP_RBP && rbp.offset == 0;
    if ((!same && !rbp_kept(s, &recipe)) || !search->help->accept(search->help->context, recipe)) return false;
    *search->recipe = recipe;
    return true;
}
