/**
 * \file
 * What the files of src/unwind share. All that is declared here is async-signal-safe, if not said otherwise.
 */
#ifndef OMPP_UNWIND_PRIV_H
#define OMPP_UNWIND_PRIV_H

#include "unwind/ompp_unwind.h"

#include <string.h>

/** Registers by their DWARF numbers on x86-64. */
enum {
    OMPP_RAX,
    OMPP_RDX,
    OMPP_RCX,
    OMPP_RBX,
    OMPP_RSI,
    OMPP_RDI,
    OMPP_RBP,
    OMPP_RSP,
    OMPP_R8,
    OMPP_RIP = 16,
    OMPP_REGISTERS
};

/** Those that a callee has to leave as they were: rbx, rbp, rsp, r12 to r15. */
#define OMPP_CALLEE_SAVED 0xf0c8u

/* ---- Recipes ----------------------------------------------------------------------------------------------------- */

/** Where the caller's frame is. The return address lies at cfa - 8 in all of them but ROOT, SIGNAL and FULL. */
typedef enum {
    OMPP_RECIPE_NONE,     /* offset: an ompp_unwind_end_t, why there is none */
    OMPP_RECIPE_RSP,      /* cfa = rsp + offset */
    OMPP_RECIPE_RBP,      /* cfa = rbp + offset */
    OMPP_RECIPE_AT_RSP,   /* cfa = *(rsp + offset) + 8 * plus */
    OMPP_RECIPE_AT_RBP,   /* cfa = *(rbp + offset) + 8 * plus */
    OMPP_RECIPE_FULL,     /* by the whole row of .eh_frame, see ompp_cfi_row() */
    OMPP_RECIPE_ROOT,     /* there is no caller */
    OMPP_RECIPE_SIGNAL,   /* rsp is the address of the interrupted context */
    OMPP_RECIPE_REGISTER, /* cfa = register number plus, + offset: of what a signal interrupted */
} ompp_recipe_kind_t;

/** Where the caller's rbp is, from 8 * rbp. */
typedef enum { OMPP_RBP_SAME, OMPP_RBP_AT_CFA, OMPP_RBP_AT_RBP, OMPP_RBP_AT_RSP } ompp_rbp_rule_t;

/** What precedes a return address. */
typedef enum { OMPP_CALL_NONE, OMPP_CALL_INDIRECT, OMPP_CALL_DIRECT } ompp_call_t;

typedef struct {
    int32_t offset;
    int16_t rbp;
    int8_t plus : 7;
    uint8_t is_settled : 1; /* no other recipe is to be looked for, when this one leads nowhere */
    uint8_t kind : 4, rbp_rule : 2, call : 2;
} ompp_recipe_t;
_Static_assert(sizeof(ompp_recipe_t) == 8, "one word of the cache");

/** What is known of an address; 0 = not known. */
typedef struct {
    ompp_recipe_t recipe;
    uintptr_t start;  /* of its procedure */
    uintptr_t target; /* of the direct call before it, behind stubs */
} ompp_place_t;

static inline ompp_recipe_t ompp_no_recipe(ompp_unwind_end_t why)
{
    return (ompp_recipe_t){.kind = OMPP_RECIPE_NONE, .offset = why};
}

/* ---- The walk's state -------------------------------------------------------------------------------------------- */

typedef struct {
    uint64_t reg[OMPP_REGISTERS];
    uint32_t known;      /* a bit for each register whose value is that of this frame */
    bool is_exact;       /* reg[RIP] is to run; else it is a return address */
    uintptr_t low, high; /* memory that can be read: [low, high) */
    uint32_t recipes, inferred;
} ompp_walk_t;

/** \brief Reads 8 bytes; what is outside of [low, high) is asked of the system. \return false: not readable. */
bool ompp_walk_read_slow(ompp_walk_t *walk, uintptr_t at, uint64_t *value);

static inline bool ompp_walk_read(ompp_walk_t *walk, uintptr_t at, uint64_t *value)
{
    if (__builtin_expect(at < walk->low || at + 8 > walk->high || at + 8 < at, 0))
        return ompp_walk_read_slow(walk, at, value);
    memcpy(value, (const void *)at, sizeof *value);
    return true;
}

/** \brief Whether a page of memory can be read; some 100 ns. */
bool ompp_is_readable(uintptr_t at);

/** This process, when a copy of memory tells whether it can be read: valgrind complains of the usual way. Else 0. */
extern int ompp_probe_pid;

/* ---- Loaded files ------------------------------------------------------------------------------------------------ */

#define OMPP_IMAGE_SEGMENTS 8

/** A loaded file, as its program headers describe it. */
typedef struct {
    uintptr_t low, high; /* all of it */
    struct {
        uintptr_t low, high;
        uint32_t flags;
    } segment[OMPP_IMAGE_SEGMENTS]; /* readable ones; flags: PF_* */
    unsigned nsegments;
    uintptr_t base, entry, eh_frame_hdr; /* run-time addresses; eh_frame_hdr 0 = none */
    uintptr_t dynamic;
} ompp_image_map_t;

/** \brief The file that an address lies in. \return false: in none. */
bool ompp_image_map_find(uintptr_t address, ompp_image_map_t *image);

/** \brief The end of the readable part of a file around an address; code: it is executed. \return 0: none. */
static inline uintptr_t ompp_image_map_end(const ompp_image_map_t *image, uintptr_t address, bool code)
{
    for (unsigned i = 0; i < image->nsegments; i++)
        if (address >= image->segment[i].low && address < image->segment[i].high &&
            (!code || image->segment[i].flags & 1))
            return image->segment[i].high;
    return 0;
}

/** Registers as ucontext_t numbers them. */
extern const uint8_t ompp_greg[OMPP_REGISTERS];

/* ---- .eh_frame --------------------------------------------------------------------------------------------------- */

typedef enum {
    OMPP_RULE_SAME,
    OMPP_RULE_UNDEFINED,
    OMPP_RULE_OFFSET,     /* at cfa + value */
    OMPP_RULE_VALUE,      /* is cfa + value */
    OMPP_RULE_REGISTER,   /* is in register value */
    OMPP_RULE_EXPRESSION, /* at the address that the expression gives */
    OMPP_RULE_VALUE_EXPRESSION
} ompp_rule_t;

/** Of an expression: address of its bytes in .eh_frame, length as ULEB128, then operations; in one readable segment. */
typedef struct {
    uint8_t
        rule[OMPP_REGISTERS + 1]; /* the last: of the CFA, which is OMPP_RULE_REGISTER + cfa_offset or an expression */
    int64_t value[OMPP_REGISTERS + 1];
    int64_t cfa_offset;
} ompp_cfi_row_t;

typedef struct {
    ompp_cfi_row_t row;
    uintptr_t low, high; /* of the procedure */
    bool is_signal;      /* a frame that the system has made */
} ompp_cfi_t;

typedef enum { OMPP_CFI_FOUND, OMPP_CFI_NONE, OMPP_CFI_BAD } ompp_cfi_result_t;

/** \brief What .eh_frame says of an address; of a return address: of the one before. */
ompp_cfi_result_t ompp_cfi_row(const ompp_image_map_t *image, uintptr_t address, ompp_cfi_t *cfi);

/** \brief Bounds of the procedure only. */
bool ompp_cfi_procedure(const ompp_image_map_t *image, uintptr_t address, uintptr_t *low, uintptr_t *high);

/**
 * \brief Evaluates an expression of DWARF.
 * \param[in] bytes  as in ompp_cfi_row_t.
 * \param[in] push   the CFA, on the stack at its begin; NULL = none.
 * \param[in] read   reads 8 bytes for it.
 * \return false: an operation that is not known, a register that is not, or memory that cannot be read.
 */
bool ompp_expression_evaluate(const uint8_t *bytes, ompp_walk_t *walk, const uint64_t *push,
                              bool (*read)(ompp_walk_t *, uintptr_t, uint64_t *), uint64_t *result);

/** \brief The short form of a row for an address. FULL when there is none. */
ompp_recipe_t ompp_recipe_of_row(const ompp_cfi_t *cfi, uintptr_t address);

/** \brief One step by a whole row. \return OMPP_UNWIND_ROOT when done, else why not. */
ompp_unwind_end_t ompp_step_full(ompp_walk_t *walk, uint64_t *cfa);

/* ---- Code -------------------------------------------------------------------------------------------------------- */

/** \brief The call before a return address. \param[out] target  of a direct one, behind stubs; else 0. */
ompp_call_t ompp_code_call_before(const ompp_image_map_t *image, uintptr_t address, uintptr_t *target);

/** \brief A recipe from the last instructions of a procedure, when they are the next: they are certain. */
bool ompp_code_epilogue(const ompp_image_map_t *image, uintptr_t address, ompp_recipe_t *recipe);

/** \brief Whether the bytes there are those by which a signal handler returns to the system. */
bool ompp_code_is_sigreturn(const ompp_image_map_t *image, uintptr_t address);

/** \brief Where a stub that is one jump leads; the address itself when there is none, or it is not bound yet. */
uintptr_t ompp_code_behind_stub(uintptr_t address);

/**
 * \brief Whether the direct call before an address, of target, can lead to the procedure that starts at start, as far
 *        as jumps tell.
 */
ompp_unwind_verdict_t ompp_code_reaches(uintptr_t caller, uintptr_t target, uintptr_t start);

/* ---- Making recipes ---------------------------------------------------------------------------------------------- */

/** \brief All that can be found out of an address. Not cached. */
ompp_place_t ompp_place_make(ompp_walk_t *walk);

/** \brief Another recipe for walk's frame, after the first has led to no return address. \return false: none. */
bool ompp_place_second(ompp_walk_t *walk, ompp_recipe_t *recipe);

/** \brief What a recipe says of walk's frame: its cfa, where it returns to, rbp there. \return ROOT, else why not. */
static inline ompp_unwind_end_t ompp_recipe_apply(ompp_walk_t *walk, ompp_recipe_t recipe, uint64_t *cfa, uint64_t *rip,
                                                  uint64_t *rbp)
{
    const uint64_t rsp = walk->reg[OMPP_RSP], old = walk->reg[OMPP_RBP];

    switch (recipe.kind) {
    case OMPP_RECIPE_RSP: *cfa = rsp + (int64_t)recipe.offset; break;
    case OMPP_RECIPE_RBP: *cfa = old + (int64_t)recipe.offset; break;
    case OMPP_RECIPE_AT_RSP:
    case OMPP_RECIPE_AT_RBP:
        if (!ompp_walk_read(walk, (recipe.kind == OMPP_RECIPE_AT_RSP ? rsp : old) + (int64_t)recipe.offset, cfa))
            return OMPP_UNWIND_UNREADABLE;
        *cfa += 8 * (int64_t)recipe.plus;
        break;
    case OMPP_RECIPE_REGISTER:
        if (!(walk->known >> recipe.plus & 1)) return OMPP_UNWIND_REGISTER;
        *cfa = walk->reg[recipe.plus] + (int64_t)recipe.offset;
        break;
    default: return (ompp_unwind_end_t)recipe.offset;
    }
    if (*cfa <= rsp) return OMPP_UNWIND_BAD_CFA;
    if (!ompp_walk_read(walk, *cfa - 8, rip)) return OMPP_UNWIND_UNREADABLE;
    *rbp = old;
    if (recipe.rbp_rule == OMPP_RBP_SAME) return OMPP_UNWIND_ROOT;
    const uint64_t from = recipe.rbp_rule == OMPP_RBP_AT_CFA ? *cfa : recipe.rbp_rule == OMPP_RBP_AT_RBP ? old : rsp;
    return ompp_walk_read(walk, from + 8 * (int64_t)recipe.rbp, rbp) ? OMPP_UNWIND_ROOT : OMPP_UNWIND_UNREADABLE;
}

/* ---- libompp-unwind.so ------------------------------------------------------------------------------------------- */

/** What the search for a recipe asks of the walk. */
typedef struct {
    /** Whether a recipe leads, from the frame of the walk, to an address that a call precedes. */
    bool (*accept)(void *context, ompp_recipe_t recipe);
    /** A recipe of an instruction that is in the cache. \return false: none. */
    bool (*known)(void *context, uintptr_t address, ompp_recipe_t *recipe);
    /** One that was found by the way. */
    void (*publish)(void *context, uintptr_t address, ompp_recipe_t recipe);
    void *context;
} ompp_infer_help_t;

/** What libompp-unwind.so offers, under the name ompp_unwind_decoder. */
typedef struct {
    unsigned version; /* OMPP_UNWIND_DECODER */
    /**
     * \brief Infers a recipe by following the code from an address to where its procedure returns.
     * \param[in] apart  rbp - rsp of the frame.
     * \return false: no path there was found whose recipe is accepted.
     * \note Async-signal-safe.
     */
    bool (*infer)(const ompp_image_map_t *image, uintptr_t address, int64_t apart, const ompp_infer_help_t *help,
                  ompp_recipe_t *recipe);
    /** \brief Binds and touches what it needs, so that no handler does. Not in a handler. */
    void (*warm)(void);
    /** \brief Procedures of a file without symbols for all: bounds of the one around an address. Not in a handler. */
    bool (*procedure)(const ompp_image_map_t *image, uintptr_t address, uintptr_t *low, uintptr_t *high);
    /** \brief The same of a file that is prepared; async-signal-safe. */
    bool (*known)(const ompp_image_map_t *image, uintptr_t address, uintptr_t *low, uintptr_t *high);
    /** \brief Finds the procedures of a file, some 200 ns for each instruction. Not in a handler. */
    void (*prepare)(const ompp_image_map_t *image);
} ompp_unwind_decoder_t;

#define OMPP_UNWIND_DECODER 1u

extern _Atomic(const ompp_unwind_decoder_t *) ompp_decoder; /* set by ompp_unwind_start() */

/** \return that of libompp-unwind.so; NULL = there is none. */
const ompp_unwind_decoder_t *ompp_unwind_decoder_get(void);

#endif
