/*
 * Walks along the stack of a thread, and the cache of recipes. Called from events and from signal handlers.
 */
#define _GNU_SOURCE
#include "unwind/ompp_unwind.h"
#include "unwind/ompp_unwind_priv.h"

#include "unwind/ompp_cache_priv.h"

#include <stdatomic.h>
#include <ucontext.h>

#if defined(__x86_64__)

/* ---- Recipes ----------------------------------------------------------------------------------------------------- */

/* Nothing is kept of an address that is in no file: some other may be mapped there later. */
static bool is_kept(const ompp_place_t *place)
{
    return place->recipe.kind != OMPP_RECIPE_NONE || place->recipe.offset != OMPP_UNWIND_NO_CODE;
}

static __attribute__((noinline)) void make_slow(ompp_walk_t *walk, ompp_place_t *place)
{
    walk->recipes++;
    *place = ompp_place_make(walk);
    if (is_kept(place)) ompp_cache_put(ompp_cache_key(walk->reg[OMPP_RIP], walk->is_exact), place);
}

static inline void look_up(ompp_walk_t *walk, ompp_place_t *place)
{
    if (__builtin_expect(!ompp_cache_get(ompp_cache_key(walk->reg[OMPP_RIP], walk->is_exact), place), 0))
        make_slow(walk, place);
}

/* ---- One step ---------------------------------------------------------------------------------------------------- */

static inline ompp_unwind_verdict_t judge(const ompp_place_t *caller, uintptr_t address, uintptr_t callee)
{
    if (caller->recipe.call == OMPP_CALL_NONE) return OMPP_UNWIND_INVALID;
    if (callee && caller->target == callee) return OMPP_UNWIND_VALID;
    if (caller->recipe.call == OMPP_CALL_INDIRECT || !callee) return OMPP_UNWIND_LIKELY;
    return ompp_code_reaches(address, caller->target, callee);
}

const uint8_t ompp_greg[OMPP_REGISTERS] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                           REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                           REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};

/* The context that a signal handler returns to lies at rsp. */
static bool leave_signal(ompp_walk_t *walk)
{
    const ucontext_t *context = (const ucontext_t *)walk->reg[OMPP_RSP];
    ompp_walk_t before = *walk;

    for (int i = 0; i < OMPP_REGISTERS; i++)
        if (!ompp_walk_read(&before, (uintptr_t)&context->uc_mcontext.gregs[ompp_greg[i]], &walk->reg[i])) return false;
    walk->known = (1u << OMPP_REGISTERS) - 1;
    walk->is_exact = true;
    return true;
}

/* What is known of a caller's frame after the short form of a recipe. */
static inline void enter_caller(ompp_walk_t *walk, uint64_t cfa, uint64_t rip, uint64_t rbp)
{
    walk->reg[OMPP_RSP] = cfa;
    walk->reg[OMPP_RIP] = rip;
    walk->reg[OMPP_RBP] = rbp;
    walk->known = 1u << OMPP_RSP | 1u << OMPP_RIP | 1u << OMPP_RBP;
    walk->is_exact = false;
}

typedef struct {
    ompp_walk_t walk;
    uintptr_t stack_low, stack_high;
    ompp_unwind_memo_t *memo; /* being made; NULL = none, or what the walk depends on is not kept */
    uintptr_t rbp_at;         /* where rbp was read that is not in the memo; 0 = nowhere */
    bool rbp_kept;
    bool is_thorough; /* all registers are followed */
    bool is_again;    /* they have to be: begin once more */
    bool has_stack;   /* the stack pointer is that of a call that goes on: what is above it can be read */
    bool keeps;       /* so far all frames are of helpers, see step_rare() */
} path_t;

/* Where reading is known to be safe: from the stack pointer to the end of the stack. */
static void choose_window(path_t *path, bool is_running)
{
    const uintptr_t rsp = path->walk.reg[OMPP_RSP];
    const bool inside = rsp >= path->stack_low && rsp < path->stack_high && (is_running || ompp_is_readable(rsp));

    path->walk.low = inside ? rsp : 0;
    path->walk.high = inside ? path->stack_high : 0;
}

static __attribute__((noinline)) ompp_unwind_end_t step_rare(path_t *path, ompp_recipe_t recipe, uint64_t *cfa)
{
    ompp_walk_t *walk = &path->walk;
    uint64_t rip, rbp;

    if (recipe.kind == OMPP_RECIPE_SIGNAL) {
        *cfa = walk->reg[OMPP_RSP];
        if (!leave_signal(walk)) return OMPP_UNWIND_UNREADABLE;
        choose_window(path, false);
        path->keeps = true;
        return OMPP_UNWIND_ROOT;
    }
    if (recipe.kind == OMPP_RECIPE_FULL) {
        path->keeps = false;
        const ompp_unwind_end_t end = ompp_step_full(walk, cfa);
        path->is_again = end == OMPP_UNWIND_REGISTER && !path->is_thorough;
        return end;
    }
    const ompp_walk_t before = *walk;
    const ompp_unwind_end_t end = ompp_recipe_apply(walk, recipe, cfa, &rip, &rbp);
    if (end == OMPP_UNWIND_REGISTER) path->is_again = !path->is_thorough;
    if (end != OMPP_UNWIND_ROOT) return end;
    uint64_t by_row;
    if (path->is_thorough && ompp_step_full(walk, &by_row) == OMPP_UNWIND_ROOT && by_row == *cfa) {
        path->keeps = false;
        return OMPP_UNWIND_ROOT;
    }
    *walk = before;
    enter_caller(walk, *cfa, rip, rbp);
    /* Helpers of assembly, without unwind information, leave what their callers need to find their frames. */
    path->keeps = path->keeps && path->is_thorough && recipe.kind == OMPP_RECIPE_RSP;
    if (path->keeps) walk->known |= before.known & ~(1u << OMPP_RAX | 1u << OMPP_RDX);
    return OMPP_UNWIND_ROOT;
}

static inline ompp_unwind_end_t step(path_t *path, ompp_recipe_t recipe, uint64_t *cfa)
{
    uint64_t rip, rbp;

    if (__builtin_expect(path->is_thorough || recipe.kind >= OMPP_RECIPE_FULL, 0)) return step_rare(path, recipe, cfa);
    const ompp_unwind_end_t end = ompp_recipe_apply(&path->walk, recipe, cfa, &rip, &rbp);
    if (end == OMPP_UNWIND_ROOT) enter_caller(&path->walk, *cfa, rip, rbp);
    return end;
}

/* From a frame to its caller's: walk and place become those, cfa that of the frame left. */
static inline ompp_unwind_end_t advance(path_t *path, ompp_place_t *place, uint64_t *cfa,
                                        ompp_unwind_verdict_t *verdict)
{
    const uintptr_t callee = place->start;
    const ompp_unwind_end_t end = step(path, place->recipe, cfa);

    *verdict = OMPP_UNWIND_VALID;
    if (end != OMPP_UNWIND_ROOT || !path->walk.reg[OMPP_RIP]) return end;
    look_up(&path->walk, place);
    if (path->walk.is_exact || place->recipe.kind == OMPP_RECIPE_SIGNAL) return OMPP_UNWIND_ROOT;
    *verdict = judge(place, path->walk.reg[OMPP_RIP], callee);
    if (*verdict != OMPP_UNWIND_INVALID || place->recipe.call != OMPP_CALL_NONE) return OMPP_UNWIND_ROOT;
    return is_kept(place) ? OMPP_UNWIND_NO_CALL : OMPP_UNWIND_NO_CODE;
}

/* The recipe led nowhere, or to an address that no call of the callee precedes. It may be that of a file that is
 * unloaded by now, else a second one is asked for. What is found stays in the cache. */
static __attribute__((noinline)) ompp_unwind_end_t advance_again(path_t *path, const ompp_walk_t *before,
                                                                 ompp_place_t *place, uint64_t *cfa,
                                                                 ompp_unwind_verdict_t *verdict, ompp_unwind_end_t end)
{
    const ompp_unwind_verdict_t first_verdict = *verdict;
    const ompp_walk_t first_walk = path->walk;
    const ompp_place_t first_place = *place;
    const uint64_t first_cfa = *cfa, key = ompp_cache_key(before->reg[OMPP_RIP], before->is_exact);
    ompp_place_t kept;

    path->walk = *before;
    look_up(&path->walk, &kept);
    if (!is_kept(&kept) || kept.recipe.is_settled) goto first;
    ompp_place_t now = ompp_place_make(&path->walk);
    if (memcmp(&now.recipe, &kept.recipe, sizeof now.recipe) == 0) {
        if (!ompp_place_second(&path->walk, &now.recipe)) {
            now.recipe.is_settled = true;
            ompp_cache_put(key, &now);
            goto first;
        }
        path->walk.inferred++;
    }
    *place = now;
    const ompp_unwind_end_t second = advance(path, place, cfa, verdict);
    if (second == OMPP_UNWIND_ROOT && (end != OMPP_UNWIND_ROOT || *verdict > first_verdict)) {
        ompp_cache_put(key, &now);
        return second;
    }
    kept.recipe.is_settled = true;
    ompp_cache_put(key, &kept);
first:
    path->walk = first_walk;
    *place = first_place;
    *cfa = first_cfa;
    *verdict = first_verdict;
    return end;
}

/* ---- What a walk depends on -------------------------------------------------------------------------------------- */

/* What lies below has come after ompp_unwind_same(), whose caller's frame is where it was if the stack pointer is. */
static void keep(path_t *path, uintptr_t at, uint64_t value)
{
    ompp_unwind_memo_t *memo = path->memo;

    if (at < memo->rsp) return;
    if (memo->n == OMPP_UNWIND_WORDS) {
        memo->n = 0;
        path->memo = NULL;
    } else {
        memo->words[memo->n] = memo->words[memo->n + 1] = (ompp_unwind_word_t){at, value};
        memo->n++;
    }
}

static bool uses_rbp(ompp_recipe_t recipe)
{
    return recipe.kind == OMPP_RECIPE_RBP || recipe.kind == OMPP_RECIPE_AT_RBP || recipe.rbp_rule == OMPP_RBP_AT_RBP;
}

/* Of a step by a recipe of the short form from (rsp, rbp): the word of rbp only when rbp is used. */
static void keep_step(path_t *path, ompp_recipe_t recipe, uint64_t rsp, uint64_t rbp, uint64_t cfa)
{
    if (path->is_thorough || recipe.kind < OMPP_RECIPE_RSP || recipe.kind > OMPP_RECIPE_AT_RBP) {
        path->memo->n = 0;
        path->memo = NULL;
        return;
    }
    if (uses_rbp(recipe) && !path->rbp_kept) {
        if (path->rbp_at >= path->memo->rsp) keep(path, path->rbp_at, rbp);
        else path->memo->needs_rbp = true, path->memo->rbp = rbp;
        path->rbp_kept = true;
    }
    if (path->memo && recipe.kind == OMPP_RECIPE_AT_RSP)
        keep(path, rsp + (uint64_t)(int64_t)recipe.offset, cfa - 8 * (uint64_t)(int64_t)recipe.plus);
    if (path->memo && recipe.kind == OMPP_RECIPE_AT_RBP)
        keep(path, rbp + (uint64_t)(int64_t)recipe.offset, cfa - 8 * (uint64_t)(int64_t)recipe.plus);
    if (path->memo) keep(path, cfa - 8, path->walk.reg[OMPP_RIP]);
    if (recipe.rbp_rule == OMPP_RBP_SAME) return;
    path->rbp_kept = false;
    path->rbp_at = (recipe.rbp_rule == OMPP_RBP_AT_CFA   ? cfa
                    : recipe.rbp_rule == OMPP_RBP_AT_RBP ? rbp
                                                         : rsp) +
                   8 * (uint64_t)(int64_t)recipe.rbp;
}

/* None was found with the registers that are followed always; all others may lead to one. */
static bool needs_more(ompp_recipe_t recipe)
{
    return recipe.kind == OMPP_RECIPE_NONE && recipe.offset == OMPP_UNWIND_NO_RECIPE && !recipe.is_settled;
}

/* ---- The walk ---------------------------------------------------------------------------------------------------- */

#define STEPS_BESIDE 64u /* frames of ours, that are left out */

static size_t walk_frames(path_t *path, bool skips_ours, ompp_unwind_frame_t *frames, size_t room,
                          ompp_unwind_end_t *end)
{
    ompp_walk_t *walk = &path->walk;
    ompp_unwind_verdict_t verdict = OMPP_UNWIND_VALID;
    uint64_t cfa = walk->reg[OMPP_RSP];
    size_t n = 0, skipped = 0;
    ompp_place_t place;

    look_up(walk, &place);
    for (;;) {
        if (__builtin_expect(skips_ours && n == 0 && ompp_unwind_owner(walk->reg[OMPP_RIP]) == OMPP_OWNER_OURS, 0)) {
            if (skipped++ > STEPS_BESIDE) return *end = OMPP_UNWIND_TRUNCATED, n;
        } else if (n < room) {
            frames[n++] = (ompp_unwind_frame_t){walk->reg[OMPP_RIP], cfa, verdict, walk->is_exact};
        } else {
            return *end = OMPP_UNWIND_TRUNCATED, n;
        }
        if (place.recipe.kind == OMPP_RECIPE_ROOT) return *end = OMPP_UNWIND_ROOT, n;
        const struct {
            uint64_t rsp, rbp, rip;
            uint32_t known;
            bool is_exact;
        } was = {walk->reg[OMPP_RSP], walk->reg[OMPP_RBP], walk->reg[OMPP_RIP], walk->known, walk->is_exact};
        const ompp_recipe_t recipe = place.recipe;
        *end = advance(path, &place, &cfa, &verdict);
        if (__builtin_expect(*end != OMPP_UNWIND_ROOT || verdict == OMPP_UNWIND_INVALID, 0)) {
            if (path->memo) path->memo->n = 0;
            path->memo = NULL;
            path->is_again |= !path->is_thorough && !was.is_exact && needs_more(recipe);
            if (path->is_again) return n;
            ompp_walk_t before = *walk;
            before.reg[OMPP_RSP] = was.rsp;
            before.reg[OMPP_RBP] = was.rbp;
            before.reg[OMPP_RIP] = was.rip;
            before.known = was.known;
            before.is_exact = was.is_exact;
            *end = advance_again(path, &before, &place, &cfa, &verdict, *end);
        }
        if (*end != OMPP_UNWIND_ROOT) return n;
        if (path->memo) keep_step(path, recipe, was.rsp, was.rbp, cfa);
        if (!walk->reg[OMPP_RIP]) return n;
    }
}

static size_t walk_stack(ompp_unwind_thread_t *thread, path_t *path, bool is_running, ompp_unwind_frame_t *frames,
                         size_t room)
{
    ompp_unwind_end_t end = OMPP_UNWIND_OFF;
    size_t n = 0;

    path->is_thorough = path->is_again = path->rbp_kept = false;
    path->keeps = true;
    path->rbp_at = 0;
    path->stack_low = thread->stack_low;
    path->stack_high = thread->stack_high;
    if (room && atomic_load_explicit(&ompp_cache_entries, memory_order_acquire)) {
        choose_window(path, is_running || path->has_stack);
        const path_t start = *path;
        n = walk_frames(path, is_running, frames, room, &end);
        if (__builtin_expect(path->is_again, 0)) {
            *path = start;
            path->is_thorough = true;
            if (path->memo) path->memo->n = 0;
            path->memo = NULL;
            n = walk_frames(path, is_running, frames, room, &end);
        }
    }
    for (size_t i = 0; i < n; i++) thread->frames[frames[i].verdict]++;
    thread->paths[end]++;
    thread->recipes += path->walk.recipes;
    thread->inferred += path->walk.inferred;
    thread->end = end;
    return n;
}

size_t ompp_unwind_context(ompp_unwind_thread_t *thread, const void *context, ompp_unwind_frame_t *frames, size_t room)
{
    const ucontext_t *c = context;
    path_t path;

    for (int i = 0; i < OMPP_REGISTERS; i++) path.walk.reg[i] = (uint64_t)c->uc_mcontext.gregs[ompp_greg[i]];
    path.walk.known = (1u << OMPP_REGISTERS) - 1;
    path.walk.is_exact = true;
    path.walk.recipes = path.walk.inferred = 0;
    path.memo = NULL;
    path.has_stack = false;
    return walk_stack(thread, &path, false, frames, room);
}

size_t ompp_unwind_from(ompp_unwind_thread_t *thread, uintptr_t code, uintptr_t rsp, uintptr_t rbp,
                        ompp_unwind_frame_t *frames, size_t room)
{
    path_t path;

    memset(path.walk.reg, 0, sizeof path.walk.reg);
    path.walk.reg[OMPP_RIP] = code;
    path.walk.reg[OMPP_RSP] = rsp;
    path.walk.reg[OMPP_RBP] = rbp;
    path.walk.known = 1u << OMPP_RIP | 1u << OMPP_RSP | 1u << OMPP_RBP;
    path.walk.is_exact = true;
    path.walk.recipes = path.walk.inferred = 0;
    path.has_stack = true;
    path.memo = NULL;
    return walk_stack(thread, &path, false, frames, room);
}

size_t ompp_unwind_here(ompp_unwind_thread_t *thread, ompp_unwind_memo_t *memo, ompp_unwind_frame_t *frames,
                        size_t room)
{
    path_t path;

    /* What this function itself was called with: the walk begins in it. */
    __asm__ volatile("leaq 0f(%%rip), %%rax\n\t"
                     "movq %%rax, 128(%0)\n\t"
                     "movq %%rbx, 24(%0)\n\t"
                     "movq %%rbp, 48(%0)\n\t"
                     "movq %%rsp, 56(%0)\n\t"
                     "movq %%r12, 96(%0)\n\t"
                     "movq %%r13, 104(%0)\n\t"
                     "movq %%r14, 112(%0)\n\t"
                     "movq %%r15, 120(%0)\n"
                     "0:"
                     :
                     : "r"(path.walk.reg)
                     : "rax", "memory");
    path.walk.known = OMPP_CALLEE_SAVED | 1u << OMPP_RIP;
    path.walk.is_exact = true;
    path.walk.recipes = path.walk.inferred = 0;
    path.has_stack = false;
    path.memo = memo;
    if (memo) {
        memo->n = 0;
        memo->needs_rbp = false;
        memo->generation = atomic_load_explicit(&ompp_unwind_generation, memory_order_relaxed);
    }
    const size_t n = walk_stack(thread, &path, true, frames, room);
    if (memo && (!memo->n || thread->end != OMPP_UNWIND_ROOT)) memo->rsp = 0;
    return n;
}
#else /* no other processor yet */

size_t ompp_unwind_context(ompp_unwind_thread_t *thread, const void *context, ompp_unwind_frame_t *frames, size_t room)
{
    (void)context, (void)frames, (void)room;
    thread->paths[thread->end = OMPP_UNWIND_OFF]++;
    return 0;
}

size_t ompp_unwind_here(ompp_unwind_thread_t *thread, ompp_unwind_memo_t *memo, ompp_unwind_frame_t *frames,
                        size_t room)
{
    (void)memo;
    return ompp_unwind_context(thread, NULL, frames, room);
}

size_t ompp_unwind_from(ompp_unwind_thread_t *thread, uintptr_t code, uintptr_t rsp, uintptr_t rbp,
                        ompp_unwind_frame_t *frames, size_t room)
{
    (void)code, (void)rsp, (void)rbp;
    return ompp_unwind_context(thread, NULL, frames, room);
}
#endif
