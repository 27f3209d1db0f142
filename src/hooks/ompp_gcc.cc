/*
 * Plugin for gcc, g++ and gfortran: turns calls of load/store hooks, right after the compiler has put them in, into
 * code that counts where it stands. What calls would cost beside the counting, registers kept in memory around each, is
 * then no more. In innermost loops without calls, accesses that advance by small steps are counted in a register as
 * long as they stay on a page of the map; the count goes to memory when the page changes, when the loop nest is left,
 * so before anything of this thread that could look at it, and after MOST_HELD accesses, so that others (an end of the
 * process, a registration) find it soon.
 *
 * Which addresses are counted where is as in ompp_count_priv.h; offsets and names are those of ompp_inline_priv.h.
 * Without optimisation calls stay calls. Code here runs inside of the compiler, not in the program.
 */
/* The order matters: gcc's headers do not include what they need. */
/* clang-format off */
#include <string>
#include <vector>

#include "gcc-plugin.h"
#include "plugin-version.h"

#include "tree.h"
#include "gimple.h"
#include "tree-pass.h"
#include "ssa.h"
#include "cfghooks.h"
#include "cfgloop.h"
#include "fold-const.h"
#include "gimple-iterator.h"
#include "gimple-fold.h" /* of gcc 14: wants the one before */
#include "gimplify-me.h"
#include "stringpool.h"
#include "attribs.h"
#include "tree-cfg.h"
#include "tree-into-ssa.h"
#include "tree-ssa-loop.h"
#include "tree-scalar-evolution.h"
#include "varasm.h"
#include "cgraph.h"
#include "context.h"
/* clang-format on */

#include "data/ompp_map_layout.h"

__attribute__((visibility("default"))) int plugin_is_GPL_compatible;

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

static const int MOST_STEP = 64; /* bytes: of a page, so many accesses are counted in a register at least */
/* of a loop, when their number is known: else each one begins with a page of its own */
static const int LEAST_TURNS = 16;
static const unsigned MOST_HELD = 4096; /* accesses: more are handed over at the next one, see docs/data-hooks.md */
/* turns of a loop that need no look at their number: as many as a page has bytes */
static const unsigned MOST_FREE = 512;
static const unsigned MOST_IN_LOOP = 8; /* accesses with registers of their own, of a loop nest */

/*
 * Of a pointer that may be one into a stack: how far the count of what it points to is, what the page was, the epoch of
 * the thread's counter that this is of, and the pointer's value then, where it is not always the same in a call.
 * NULL_TREE = there is none. What is made of a pointer by adding stays in one variable.
 */
struct lead_t {
    tree pointer, distance, page, epoch, value;
};

/* A hook that the compiler has put in. */
struct hook_t {
    gcall *call;
    bool store;
    unsigned log2;    /* of its size */
    class loop *nest; /* where it is counted in registers, NULL = nowhere */
    bool stays;       /* its innermost loop does not leave the page by itself */
    tree cell;        /* of a local variable that it is about, NULL_TREE = of none; see elsewhere() */
    lead_t lead;      /* of the pointer that it goes through */
    /* then: page of the last access, address of its count, what is to be added to that, bits of an address that tell
     * pages apart */
    tree page, slot, number, width;
};

/* ---- What stands in the function --------------------------------------------------------------------------------- */

static tree builtin_of(const gimple *statement)
{
    tree function = is_gimple_call(statement) ? gimple_call_fndecl(statement) : NULL_TREE;

    return function && fndecl_built_in_p(function, BUILT_IN_NORMAL) ? function : NULL_TREE;
}

static bool is_hook(const gimple *statement, hook_t *hook)
{
    static const built_in_function loads[] = {BUILT_IN_TSAN_READ1, BUILT_IN_TSAN_READ2, BUILT_IN_TSAN_READ4,
                                              BUILT_IN_TSAN_READ8, BUILT_IN_TSAN_READ16};
    static const built_in_function stores[] = {BUILT_IN_TSAN_WRITE1, BUILT_IN_TSAN_WRITE2, BUILT_IN_TSAN_WRITE4,
                                               BUILT_IN_TSAN_WRITE8, BUILT_IN_TSAN_WRITE16};
    tree function = builtin_of(statement);

    for (unsigned n = 0; function && n < sizeof loads / sizeof loads[0]; n++) {
        hook->store = DECL_FUNCTION_CODE(function) == stores[n];
        hook->log2 = n;
        if (hook->store || DECL_FUNCTION_CODE(function) == loads[n]) return true;
    }
    return false;
}

static bool is_function_hook(const gimple *statement)
{
    tree function = builtin_of(statement);

    return function && (DECL_FUNCTION_CODE(function) == BUILT_IN_TSAN_FUNC_ENTRY ||
                        DECL_FUNCTION_CODE(function) == BUILT_IN_TSAN_FUNC_EXIT);
}

/* A call of a function that gets memory, of the program's own, too, as far as the compiler knows; none of the function
 * itself. */
static bool allocates(const gimple *statement)
{
    static const char *const others[] = {"realloc", "reallocarray", "posix_memalign", "mmap", "mmap64", "mremap"};
    tree function = is_gimple_call(statement) ? gimple_call_fndecl(statement) : NULL_TREE;

    if (!function || function == current_function_decl || !DECL_NAME(function)) return false;
    for (const char *other : others)
        if (strcmp(IDENTIFIER_POINTER(DECL_NAME(function)), other) == 0) return true;
    return gimple_call_flags(statement) & ECF_MALLOC;
}

/* Nothing that could look at counts, change what belongs to whom, or wait for another thread that does. */
static bool is_quiet(const gimple *statement)
{
    hook_t hook;

    if (gimple_clobber_p(statement)) return true; /* the end of a variable's life */
    if (gimple_has_volatile_ops(statement) || gimple_code(statement) == GIMPLE_ASM) return false;
    if (!is_gimple_call(statement) || is_hook(statement, &hook)) return true;
    return builtin_of(statement) && (gimple_call_flags(statement) & (ECF_CONST | ECF_PURE));
}

static bool is_quiet(class loop *loop)
{
    basic_block *blocks = get_loop_body(loop);
    auto_vec<edge> exits = get_loop_exit_edges(loop, blocks);
    bool quiet = exits.length() > 0;
    edge exit;
    unsigned n;

    FOR_EACH_VEC_ELT(exits, n, exit) quiet = quiet && !(exit->flags & EDGE_COMPLEX);
    for (n = 0; quiet && n < loop->num_nodes; n++) {
        quiet = !(blocks[n]->flags & BB_IRREDUCIBLE_LOOP); /* its turns are no loop's */
        for (gimple_stmt_iterator at = gsi_start_bb(blocks[n]); quiet && !gsi_end_p(at); gsi_next(&at))
            quiet = is_quiet(gsi_stmt(at));
    }
    free(blocks);
    return quiet;
}

/* Whether the number of a loop's turns is known and less. */
static bool turns_below(class loop *loop, unsigned HOST_WIDE_INT most)
{
    tree turns = number_of_latch_executions(loop);

    return turns && tree_fits_uhwi_p(turns) && tree_to_uhwi(turns) < most;
}

/* Whether an address of an innermost loop advances by a small step, or by none, many times. */
static bool is_near(class loop *loop, tree address, bool *stays)
{
    affine_iv iv;

    *stays = !turns_below(loop, MOST_FREE);
    if (is_gimple_min_invariant(address)) return true;
    if (turns_below(loop, LEAST_TURNS)) return false;
    if (!simple_iv(loop, loop, address, &iv, false) || !tree_fits_shwi_p(iv.step)) return false;
    *stays = *stays && integer_zerop(iv.step);
    return IN_RANGE(tree_to_shwi(iv.step), -MOST_STEP, MOST_STEP);
}

/* The largest nest around a hook in which it may be counted in registers, NULL = none. */
static class loop *nest_of(hook_t *hook, vec<char> &quiet)
{
    class loop *nest = NULL, *loop = gimple_bb(hook->call)->loop_father;

    if (loop->inner || loop_depth(loop) == 0 || !is_near(loop, gimple_call_arg(hook->call, 0), &hook->stays))
        return NULL;
    for (; loop_depth(loop) > 0; loop = loop_outer(loop)) {
        char &known = quiet[loop->num];
        if (!known) known = is_quiet(loop) ? 'y' : 'n';
        if (known == 'n') break;
        nest = loop;
    }
    return nest;
}

/* ---- Code that counts -------------------------------------------------------------------------------------------- */

static tree word_type, half_type; /* of counters and the map: 8 and 4 bytes, which no data of the program shares */

static tree own_type(tree like)
{
    tree type = build_distinct_type_copy(like);

    TYPE_ALIAS_SET(type) = new_alias_set();
    return type;
}

static tree variable; /* the thread's counter, as the library has it */

static tree self_variable(void)
{
    if (variable) return variable;
    variable = build_decl(UNKNOWN_LOCATION, VAR_DECL, get_identifier(TEXT(OMPP_INLINE_SELF)), word_type);
    TREE_PUBLIC(variable) = DECL_EXTERNAL(variable) = DECL_ARTIFICIAL(variable) = TREE_USED(variable) = 1;
    SET_DECL_ASSEMBLER_NAME(variable, DECL_NAME(variable));
    set_decl_tls_model(variable, TLS_MODEL_INITIAL_EXEC);
    return variable;
}

static tree put(gimple_seq *code, tree type, tree_code operation, tree a, tree b)
{
    return gimple_build(code, operation, type, a, b);
}

static tree put_load(gimple_seq *code, tree from)
{
    tree value = make_ssa_name(TREE_TYPE(from));

    gimple_seq_add_stmt(code, gimple_build_assign(value, from));
    return value;
}

/* What stands at so many bytes from an address that is always good. */
static tree memory_at(tree type, tree base, unsigned offset)
{
    tree memory = build2(MEM_REF, type, base, build_int_cst(build_pointer_type(type), offset));

    TREE_THIS_NOTRAP(memory) = 1;
    return memory;
}

static tree as_pointer(gimple_seq *code, tree word) { return gimple_convert(code, ptr_type_node, word); }

static void add_operand(vec<tree, va_gc> **operands, const char *constraint, tree value)
{
    tree text = build_tree_list(NULL_TREE, build_string(strlen(constraint) + 1, constraint));

    vec_safe_push(*operands, build_tree_list(text, value));
}

struct assembly_t {
    vec<tree, va_gc> *outputs = NULL, *inputs = NULL, *lost = NULL;

    assembly_t &out(const char *constraint, tree value) { return add_operand(&outputs, constraint, value), *this; }
    assembly_t &in(const char *constraint, tree value) { return add_operand(&inputs, constraint, value), *this; }
    assembly_t &loses(const char *name)
    {
        vec_safe_push(lost, build_tree_list(NULL_TREE, build_string(strlen(name) + 1, name)));
        return *this;
    }
    gasm *statement(const char *text)
    {
        gasm *made = gimple_build_asm_vec(text, inputs, outputs, lost, NULL);

        gimple_asm_set_volatile(made, true);
        return made;
    }
};

/*
 * The library's functions for what is rare: rax is the address and becomes the result, rdx leads back; all else is
 * kept. Of accesses to one local variable, an instruction in front of where it leads back, which is never reached,
 * addresses the variable's cell.
 */
static std::string elsewhere(const hook_t *hook, bool turns)
{
    static const char *const names[2][2][3] = {
        {{TEXT(OMPP_INLINE_AT_LOAD), TEXT(OMPP_INLINE_LOCAL_LOAD), TEXT(OMPP_INLINE_BASE_LOAD)},
         {TEXT(OMPP_INLINE_AT_STORE), TEXT(OMPP_INLINE_LOCAL_STORE), TEXT(OMPP_INLINE_BASE_STORE)}},
        {{TEXT(OMPP_INLINE_TURN_LOAD), TEXT(OMPP_INLINE_TURN_LOCAL_LOAD), TEXT(OMPP_INLINE_TURN_LOAD)},
         {TEXT(OMPP_INLINE_TURN_STORE), TEXT(OMPP_INLINE_TURN_LOCAL_STORE), TEXT(OMPP_INLINE_TURN_STORE)}}};
    std::string text = "leaq 1f(%%rip), %%rdx\n\tjmp *";

    text += std::string(names[turns][hook->store][hook->cell ? 1 : hook->lead.epoch ? 2 : 0]) + "@GOTPCREL(%%rip)\n\t";
    if (hook->cell)
        text += std::string("leaq ") + IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(hook->cell)) + "(%%rip), %%rdx\n";
    return text + "1:\t";
}

static tree constant(unsigned HOST_WIDE_INT value) { return build_int_cst(word_type, value); }

static unsigned slot_of(const hook_t *hook) { return hook->store * OMPP_INLINE_KIND + 8 * hook->log2; }

/* From its count to the foreign ones. */
static tree foreign_of(const hook_t *hook) { return constant(OMPP_INLINE_FOREIGN + 8 * hook->store - slot_of(hook)); }

/* What is done at the hook when a is not b, and seldom: code that is not in the hook's way. Ends the hook's block
 * before it. */
static gimple_stmt_iterator put_seldom(const hook_t *hook, tree_code comparison, tree a, tree b)
{
    gimple_stmt_iterator at = gsi_for_stmt(hook->call);
    gcond *condition = gimple_build_cond(comparison, a, b, NULL_TREE, NULL_TREE);

    gimple_set_location(condition, gimple_location(hook->call));
    gsi_insert_before(&at, condition, GSI_SAME_STMT);
    edge usual = split_block(gimple_bb(condition), condition);
    basic_block from = usual->src, to = usual->dest, seldom = create_empty_bb(from);
    add_bb_to_loop(seldom, from->loop_father);
    usual->flags = (usual->flags & ~EDGE_FALLTHRU) | EDGE_FALSE_VALUE;
    usual->probability = profile_probability::very_likely();
    edge enter = make_edge(from, seldom, EDGE_TRUE_VALUE);
    enter->probability = profile_probability::very_unlikely();
    seldom->count = enter->count();
    make_single_succ_edge(seldom, to, EDGE_FALLTHRU);
    if (dom_info_available_p(CDI_DOMINATORS)) set_immediate_dominator(CDI_DOMINATORS, seldom, from);
    return gsi_last_bb(seldom);
}

static void put_before(const hook_t *hook, gimple_seq code)
{
    gimple_stmt_iterator at = gsi_for_stmt(hook->call);

    annotate_all_with_location(code, gimple_location(hook->call));
    gsi_insert_seq_before(&at, code, GSI_SAME_STMT);
}

static void put_seldom_statement(gimple_stmt_iterator at, const hook_t *hook, gimple *statement)
{
    gimple_set_location(statement, gimple_location(hook->call));
    gsi_insert_after(&at, statement, GSI_NEW_STMT);
}

static void remove(gimple *statement)
{
    gimple_stmt_iterator at = gsi_for_stmt(statement);

    unlink_stmt_vdef(statement);
    gsi_remove(&at, true);
    release_defs(statement);
}

/* A call that something comes behind is no jump: the function's frame is there, by which the line that allocates is
 * found. */
static void keep_frame(gimple *call)
{
    gimple_stmt_iterator at = gsi_for_stmt(call);
    assembly_t nothing;

    if (stmt_ends_bb_p(call)) return;
    gsi_insert_after(&at, nothing.statement(""), GSI_SAME_STMT);
}

/* ---- Each access by itself --------------------------------------------------------------------------------------- */

/*
 * Of an access to a page that is the thread's, and several structures': %0, the entry xored with the tag, becomes the
 * distance of the structure's count; %1 is the address, %2 the counter.
 */
static std::string in_edge(const hook_t *hook)
{
    static const char before[] = "subl $" TEXT(OMPP_INLINE_LEADS) ", %k0\n\tcmpl $" TEXT(
        OMPP_INLINE_FAR) ", %k0\n\tjae 2f\n\t"
                         "shlq $" TEXT(OMPP_INLINE_TABLE_BITS) ", %0\n\taddq " TEXT(
                             OMPP_INLINE_EDGES) "(%2), %0\n\t"
                                                "movl %k1, %%edx\n\tshrl $2, %%edx\n\tandl $124, %%edx\n\tmovl "
                                                "(%0,%%rdx), %k0\n\t"
                                                "cmpl $" TEXT(OMPP_INLINE_NEAR) ", %k0\n\tjbe 3f\n2:\t";
    /* %4 is the lead's distance, %5 its epoch, %6 the page's, %7 its value, %8 the pointer. What %0 is here tells of
     * the page whether it is the thread's. */
    const bool varies = hook->lead.value != NULL_TREE;
    const std::string led =
        std::string(
            "cmpl %k0, %6\n\tjne 5f\n\tmovl " TEXT(OMPP_INLINE_EPOCH) "(%2), %%edx\n\tcmpl %%edx, %5\n\tjne 5f\n\t") +
        (varies ? "cmpq %8, %7\n\tjne 5f\n\t" : "") + "movl %4, %k0\n\tjmp 4f\n5:\tmovl $0, %5\n\tmovl %k0, %6\n\t" +
        (varies ? "movq %8, %7\n\t" : "");
    /* None is kept that is more than 32 bits: the thread's first accesses are counted far from what the code took for
     * its counter. The epoch comes last: a handler may leave by siglongjmp(). */
    static const char leads[] = "btrq $" TEXT(
        OMPP_INLINE_BASE_STACK) ", %0\n\tjc 6f\n\tsubq %2, %0\n\tjmp 4f\n"
                                "6:\tsubq %2, %0\n\tmovl %k0, %%edx\n\tcmpq %%rdx, %0\n\tjne 4f\n\tmovl %%edx, %4\n\t"
                                "movl " TEXT(OMPP_INLINE_EPOCH) "(%2), %%edx\n\tmovl %%edx, %5";

    return before + (hook->lead.epoch ? led : "") + "movq %1, %0\n\t" + elsewhere(hook, false) +
           (hook->lead.epoch ? leads : "subq %2, %0") +
           "\n\tjmp 4f\n3:\tshll $" TEXT(OMPP_INLINE_COUNT_BITS) ", %k0\n4:";
}

/* Of a local variable whose cell tells nothing, or not all: what count() does otherwise, and its cell again where no
 * more than the structure is asked for. */
static std::string by_map(const hook_t *hook)
{
    /* clang-format off */
    static const char entry[] =
        "movq %1, %%rdx\n\tshrq $" TEXT(OMPP_INLINE_PAGE_BITS) ", %%rdx\n\t"
        "andq " TEXT(OMPP_INLINE_MASK) "(%2), %%rdx\n\tmovq " TEXT(OMPP_INLINE_PAGES) "(%2), %0\n\t"
        "movl (%0,%%rdx,4), %k0\n\txorl " TEXT(OMPP_INLINE_TAG) "(%2), %k0\n\t"
        "cmpl $" TEXT(OMPP_INLINE_LEADS) ", %k0\n\tjb 4f\n\t"
        "cmpl $" TEXT(OMPP_INLINE_STACK) ", %k0\n\tjne 5f\n\t";
    /* clang-format on */
    const std::string cell = std::string("movl ") + IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(hook->cell)) +
                             "(%%rip), %%edx\n\tandl " TEXT(OMPP_INLINE_CELLS) "(%2), %%edx\n\tjz 5f\n\t" +
                             "movl %%edx, %k0\n\tjmp 4f\n5:\t";

    return entry + cell + in_edge(hook);
}

/* How far the count is from the counter, which is self; where this is not usual, an assembly of this text knows. */
static tree put_lead(const hook_t *hook, tree self, tree address, gimple_seq code)
{
    tree lead = create_tmp_reg(word_type, "ompp_lead"), counter = as_pointer(&code, self), value, most;
    tree_code unusual = hook->cell ? EQ_EXPR : GT_EXPR;

    if (hook->cell) {
        tree locals = put_load(&code, memory_at(half_type, counter, OMPP_INLINE_LOCALS));
        value = put(&code, half_type, BIT_AND_EXPR, put_load(&code, hook->cell), locals);
        most = build_int_cst(half_type, 0);
    } else {
        tree mask = put_load(&code, memory_at(word_type, counter, OMPP_INLINE_MASK));
        tree pages = put_load(&code, memory_at(word_type, counter, OMPP_INLINE_PAGES));
        tree tag = put_load(&code, memory_at(half_type, counter, OMPP_INLINE_TAG));
        tree page =
            put(&code, word_type, RSHIFT_EXPR, address, build_int_cst(unsigned_type_node, OMPP_INLINE_PAGE_BITS));
        page = put(&code, word_type, LSHIFT_EXPR, put(&code, word_type, BIT_AND_EXPR, page, mask),
                   build_int_cst(unsigned_type_node, 2));
        tree owner = memory_at(half_type, as_pointer(&code, put(&code, word_type, PLUS_EXPR, pages, page)), 0);
        TREE_THIS_VOLATILE(owner) = 1; /* each time: another thread may register a structure there */
        value = put(&code, half_type, BIT_XOR_EXPR, put_load(&code, owner), tag);
        most = build_int_cst(half_type, OMPP_INLINE_LEADS - 1);
    }
    gimple_seq_add_stmt(&code, gimple_build_assign(lead, NOP_EXPR, value));
    put_before(hook, code);
    gimple_stmt_iterator seldom = put_seldom(hook, unusual, value, most);
    assembly_t found;
    found.out("=&a", lead).in("r", address).in("r", self).in("0", lead).loses("rdx");
    if (hook->lead.epoch) found.in("m", hook->lead.distance).in("m", hook->lead.epoch).in("m", hook->lead.page);
    if (hook->lead.value) found.in("m", hook->lead.value).in("r", hook->lead.pointer);
    put_seldom_statement(seldom, hook, found.statement((hook->cell ? by_map(hook) : in_edge(hook)).c_str()));
    return lead;
}

static void count(const hook_t *hook)
{
    gimple_seq code = NULL;
    tree address = gimple_convert(&code, word_type, gimple_call_arg(hook->call, 0));
    tree self = put_load(&code, self_variable()), lead = put_lead(hook, self, address, code);
    assembly_t more;

    more.in("r", self).in("r", lead).in("i", constant(OMPP_INLINE_COUNT + slot_of(hook)));
    code = NULL;
    gimple_seq_add_stmt(&code, more.statement("incq %c2(%0,%1)"));
    put_before(hook, code);
}

/* ---- In registers ------------------------------------------------------------------------------------------------ */

/* Adds the number to the count in slot, and to the one that is foreign bytes further when slot says so. */
#define HAND_OVER(number, slot, foreign)                                                                \
    "btrq $" TEXT(OMPP_INLINE_FOREIGN_BIT) ", " slot "\n\tjnc 2f\n\taddq " number ", " foreign "(" slot \
                                           ")\n2:\taddq " number ", (" slot ")"

/* The width may be another one then: that of the thread's counter, or a narrower one. */
static std::string turn_text(const hook_t *hook)
{
    static const char
        before[] = "movq %5, %0\n\t" HAND_OVER("%2", "%0", "%c8") "\n\txorl %k2, %k2\n\tmovq %6, %%rax\n\t",
        behind[] = "movl %%eax, %%edx\n\tandq $-8, %%rax\n\tandl $" TEXT(
            OMPP_INLINE_FOR) ", %%edx\n\t"
                             "movq " TEXT(
                                 OMPP_INLINE_SELF) "@GOTTPOFF(%%rip), %3\n\tmovq %%fs:(%3), %3\n\t"
                                                   "movq " TEXT(
                                                       OMPP_INLINE_WIDTHS) "(%3,%%rdx,8), %3\n\tcmpl $1, %%edx\n\t"
                                                                           "sbbq %1, %1\n\tmovq %6, %%rdx\n\tandq %3, "
                                                                           "%%rdx\n\torq %%rdx, %1\n\t"
                                                                           "addq %7, %%rax";

    return before + elsewhere(hook, true) + behind;
}

static const unsigned HOST_WIDE_INT NO_PAGE = HOST_WIDE_INT_M1U; /* no address lies there */

static void count_in_registers(hook_t *hook)
{
    gimple_seq code = NULL;
    tree address = gimple_convert(&code, word_type, gimple_call_arg(hook->call, 0));
    tree page = put(&code, word_type, BIT_AND_EXPR, address, hook->width);
    put_before(hook, code);

    gimple_stmt_iterator seldom = put_seldom(hook, NE_EXPR, page, hook->page);
    assembly_t turn;
    turn.out("=&a", hook->slot).out("=&r", hook->page).out("=&r", hook->number).out("=&r", hook->width);
    turn.in("2", hook->number).in("r", hook->slot).in("r", address).in("i", constant(slot_of(hook)));
    turn.in("i", foreign_of(hook)).loses("rdx");
    put_seldom_statement(seldom, hook, turn.statement(turn_text(hook).c_str()));
    code = NULL;
    gimple_seq_add_stmt(&code, gimple_build_assign(hook->number, PLUS_EXPR, hook->number, constant(1)));
    put_before(hook, code);
    if (!hook->stays) return;
    seldom = put_seldom(hook, GE_EXPR, hook->number, constant(MOST_HELD));
    put_seldom_statement(seldom, hook, gimple_build_assign(hook->page, constant(NO_PAGE)));
}

/* Behind each turn of a loop around the hook's: when much is held, its next access is one of a page that is new. */
static void bound(hook_t *hook, class loop *around)
{
    gimple_seq code = NULL;
    tree much = make_ssa_name(boolean_type_node);

    gimple_seq_add_stmt(&code, gimple_build_assign(much, GE_EXPR, hook->number, constant(MOST_HELD)));
    gimple_seq_add_stmt(&code, gimple_build_assign(hook->page, COND_EXPR, much, constant(NO_PAGE), hook->page));
    gsi_insert_seq_on_edge(loop_latch_edge(around), code);
}

/* Before the nest nothing was counted; behind it, what was is handed over; in between, what is held has a bound. */
static void surround(hook_t *hook)
{
    gimple_seq code = NULL;
    auto_vec<edge> exits = get_loop_exit_edges(hook->nest);
    edge exit;
    unsigned n;

    hook->page = create_tmp_reg(word_type, "ompp_page");
    hook->slot = create_tmp_reg(word_type, "ompp_slot");
    hook->number = create_tmp_reg(word_type, "ompp_number");
    hook->width = create_tmp_reg(word_type, "ompp_width");
    tree self = put_load(&code, self_variable());
    gimple_seq_add_stmt(&code,
                        gimple_build_assign(hook->width, memory_at(word_type, as_pointer(&code, self),
                                                                   OMPP_INLINE_WIDTHS + 8 * OMPP_INLINE_FOR_PAGE)));
    gimple_seq_add_stmt(&code,
                        gimple_build_assign(hook->slot, PLUS_EXPR, self, constant(OMPP_INLINE_COUNT + slot_of(hook))));
    gimple_seq_add_stmt(&code, gimple_build_assign(hook->page, constant(NO_PAGE)));
    gimple_seq_add_stmt(&code, gimple_build_assign(hook->number, constant(0)));
    gsi_insert_seq_on_edge(loop_preheader_edge(hook->nest), code);
    FOR_EACH_VEC_ELT(exits, n, exit)
    {
        assembly_t add;
        add.out("=&r", hook->slot).in("r", hook->number).in("0", hook->slot).in("i", foreign_of(hook));
        gsi_insert_on_edge(exit, add.statement(HAND_OVER("%1", "%0", "%c3")));
    }
    for (class loop *loop = gimple_bb(hook->call)->loop_father; loop != hook->nest;)
        bound(hook, loop = loop_outer(loop));
}

/* ---- Local variables --------------------------------------------------------------------------------------------- */

/* What an address is made of by adding: a variable, or a pointer that comes from elsewhere; NULL_TREE = not known. */
static tree origin_of(tree address)
{
    for (unsigned steps = 0; steps < 16; steps++) { /* loops of pointers that go on are no chains */
        if (TREE_CODE(address) == ADDR_EXPR || TREE_CODE(address) == MEM_REF) {
            tree base = TREE_CODE(address) == MEM_REF ? address : get_base_address(TREE_OPERAND(address, 0));
            if (!base || TREE_CODE(base) != MEM_REF) return base;
            address = TREE_OPERAND(base, 0);
            continue;
        }
        if (TREE_CODE(address) != SSA_NAME) return NULL_TREE;
        gimple *made = SSA_NAME_DEF_STMT(address);
        if (!is_gimple_assign(made)) return address;
        const tree_code code = gimple_assign_rhs_code(made);
        if (code != ADDR_EXPR && code != POINTER_PLUS_EXPR && code != SSA_NAME && !CONVERT_EXPR_CODE_P(code))
            return address;
        address = gimple_assign_rhs1(made);
    }
    return NULL_TREE;
}

/* The variable of the function that an address is in, as the compiler knows; NULL_TREE = it does not. */
static tree local_of(tree address)
{
    tree base = origin_of(address);
    const bool is_own = base && VAR_P(base) && auto_var_in_fn_p(base, current_function_decl);

    return is_own && !DECL_HAS_VALUE_EXPR_P(base) && !DECL_HARD_REGISTER(base) ? base : NULL_TREE;
}

/* Of a variable, 4 bytes for all calls of the function: where it is counted. Assembly names it. */
static tree new_cell(void)
{
    static unsigned number;
    char name[40];

    snprintf(name, sizeof name, "ompp_cell.%u", number++);
    tree cell = build_decl(UNKNOWN_LOCATION, VAR_DECL, get_identifier(name), half_type);
    TREE_STATIC(cell) = DECL_ARTIFICIAL(cell) = DECL_IGNORED_P(cell) = TREE_USED(cell) = TREE_ADDRESSABLE(cell) = 1;
    TREE_THIS_VOLATILE(cell) = DECL_PRESERVE_P(cell) = 1;
    SET_DECL_ASSEMBLER_NAME(cell, DECL_NAME(cell));
    varpool_node::finalize_decl(cell);
    return cell;
}

static void find_locals(vec<hook_t> &hooks)
{
    hash_map<tree, tree> cells;

    for (hook_t &hook : hooks) {
        tree local = local_of(gimple_call_arg(hook.call, 0));
        if (!local) continue;
        tree &cell = cells.get_or_insert(local);
        if (!cell) cell = new_cell();
        hook.cell = cell;
    }
}

/* ---- Pointers into stacks ---------------------------------------------------------------------------------------- */

/* None to the frame of the function around a nested one, which has several variables. */
static bool is_parameter(tree pointer)
{
    tree variable = SSA_NAME_IS_DEFAULT_DEF(pointer) ? SSA_NAME_VAR(pointer) : NULL_TREE;

    return variable && TREE_CODE(variable) == PARM_DECL && variable != cfun->static_chain_decl;
}

/* The parameter of a function that is an OpenMP region. */
static bool is_captures(tree parameter)
{
    tree name = parameter ? DECL_NAME(parameter) : NULL_TREE;

    return name && strcmp(IDENTIFIER_POINTER(name), ".omp_data_i") == 0;
}

/* Where the compiler has put a pointer to a variable of the function around an OpenMP region, or what a region has of
 * it: behind the region's only parameter; NULL_TREE = it is not from there. */
static tree captured(gimple *made)
{
    tree from = gimple_assign_load_p(made) ? gimple_assign_rhs1(made) : NULL_TREE;
    tree base = from ? get_base_address(from) : NULL_TREE;
    tree region = base && TREE_CODE(base) == MEM_REF ? TREE_OPERAND(base, 0) : NULL_TREE;

    if (!region || TREE_CODE(region) != SSA_NAME || !is_parameter(region)) return NULL_TREE;
    return is_captures(SSA_NAME_VAR(region)) ? from : NULL_TREE;
}

/* The pointer that an address is made of by adding: one that the function gets, or that is captured; NULL_TREE = there
 * is none. */
static tree pointer_of(tree address)
{
    tree pointer = origin_of(address);

    if (!pointer || TREE_CODE(pointer) != SSA_NAME) return NULL_TREE;
    return is_parameter(pointer) || captured(SSA_NAME_DEF_STMT(pointer)) ? pointer : NULL_TREE;
}

/* Of this call of the function, in its frame; assembly alone uses it, and the compiler is not told what that writes. */
static tree new_word(tree type, const char *name)
{
    tree word = create_tmp_var(type, name);

    TREE_ADDRESSABLE(word) = TREE_THIS_VOLATILE(word) = 1;
    return word;
}

/* A lead for all pointers that are the same: one that the function gets, or those that are read from one place. */
struct pointers_t {
    tree from;
    unsigned accesses; /* those in loops count twice */
    lead_t lead;
};

static pointers_t *same_pointers(vec<pointers_t> &all, tree pointer)
{
    tree from = is_parameter(pointer) ? pointer : captured(SSA_NAME_DEF_STMT(pointer));

    for (pointers_t &one : all)
        if (operand_equal_p(one.from, from, 0)) return &one;
    all.safe_push({from, 0, {}});
    return &all.last();
}

static bool is_nothing_at_return(gimple *statement)
{
    return is_gimple_debug(statement) || gimple_clobber_p(statement) || gimple_code(statement) == GIMPLE_RETURN ||
           gimple_code(statement) == GIMPLE_LABEL || gimple_assign_ssa_name_copy_p(statement);
}

/* A word in the frame whose address is told would keep the compiler from a tail call. Of an OpenMP region that is a
 * call of the runtime, which comes back. */
static bool may_tail_call(function *in)
{
    auto_vec<basic_block> blocks;
    auto_bitmap seen;
    edge e;
    edge_iterator i;

    blocks.safe_push(EXIT_BLOCK_PTR_FOR_FN(in));
    while (!blocks.is_empty()) {
        basic_block block = blocks.pop();
        gimple_stmt_iterator at = gsi_last_bb(block);
        while (!gsi_end_p(at) && is_nothing_at_return(gsi_stmt(at))) gsi_prev(&at);
        if (!gsi_end_p(at) && is_gimple_call(gsi_stmt(at))) return true;
        if (!gsi_end_p(at)) continue;
        FOR_EACH_EDGE(e, i, block->preds)
        if (bitmap_set_bit(seen, e->src->index)) blocks.safe_push(e->src);
    }
    return false;
}

/* Where it is worth it: with more than one access. */
static void find_leads(function *in, vec<hook_t> &hooks)
{
    if (!is_captures(DECL_ARGUMENTS(in->decl)) && may_tail_call(in)) return;
    auto_vec<pointers_t> all;
    gimple_seq code = NULL;

    for (hook_t &hook : hooks) {
        hook.lead.pointer = hook.cell || hook.nest ? NULL_TREE : pointer_of(gimple_call_arg(hook.call, 0));
        if (hook.lead.pointer)
            same_pointers(all, hook.lead.pointer)->accesses += gimple_bb(hook.call)->loop_father->num ? 2 : 1;
    }
    for (hook_t &hook : hooks) {
        pointers_t *pointers = hook.lead.pointer ? same_pointers(all, hook.lead.pointer) : NULL;
        if (!pointers || pointers->accesses < 2) continue;
        lead_t &lead = pointers->lead;
        if (!lead.epoch) {
            lead = {NULL_TREE, new_word(half_type, "ompp_distance"), new_word(half_type, "ompp_page"),
                    new_word(half_type, "ompp_epoch"), NULL_TREE};
            if (!is_parameter(hook.lead.pointer)) lead.value = new_word(word_type, "ompp_pointer");
            gimple_seq_add_stmt(&code, gimple_build_assign(lead.epoch, build_int_cst(half_type, 0)));
        }
        lead.pointer = hook.lead.pointer;
        hook.lead = lead;
    }
    if (code) gsi_insert_seq_on_edge(single_succ_edge(ENTRY_BLOCK_PTR_FOR_FN(in)), code);
}

/* ---- The pass ---------------------------------------------------------------------------------------------------- */

static void choose_nests(function *in, vec<hook_t> &hooks)
{
    auto_vec<char> quiet;
    auto_vec<unsigned> taken;

    if (in->calls_setjmp || number_of_loops(in) <= 1) return;
    quiet.safe_grow_cleared(number_of_loops(in));
    taken.safe_grow_cleared(number_of_loops(in));
    scev_initialize();
    for (hook_t &hook : hooks) {
        class loop *nest = nest_of(&hook, quiet);
        if (nest && taken[nest->num]++ < MOST_IN_LOOP) hook.nest = nest;
    }
    scev_finalize();
}

static unsigned replace(function *in)
{
    auto_vec<hook_t> hooks;
    auto_vec<gimple *> others, allocations;
    basic_block block;

    FOR_EACH_BB_FN(block, in)
    for (gimple_stmt_iterator at = gsi_start_bb(block); !gsi_end_p(at); gsi_next(&at)) {
        hook_t hook = {};
        if (is_hook(gsi_stmt(at), &hook)) {
            hook.call = as_a<gcall *>(gsi_stmt(at));
            hooks.safe_push(hook);
        } else if (is_function_hook(gsi_stmt(at))) others.safe_push(gsi_stmt(at));
        else if (allocates(gsi_stmt(at))) allocations.safe_push(gsi_stmt(at));
    }
    if (!others.is_empty()) /* the function is of those that get hooks */
        for (gimple *call : allocations) keep_frame(call);
    for (gimple *other : others) remove(other);
    if (hooks.is_empty()) return 0;
    loop_optimizer_init(LOOPS_NORMAL | LOOPS_HAVE_RECORDED_EXITS);
    choose_nests(in, hooks);
    find_locals(hooks);
    find_leads(in, hooks);
    release_recorded_exits(in);
    for (hook_t &hook : hooks)
        if (hook.nest) surround(&hook);
    gsi_commit_edge_inserts();
    for (hook_t &hook : hooks) {
        if (hook.nest) count_in_registers(&hook);
        else count(&hook);
        remove(hook.call);
    }
    loop_optimizer_finalize();
    free_dominance_info(CDI_POST_DOMINATORS);
    mark_virtual_operands_for_renaming(in);
    return TODO_update_ssa | TODO_cleanup_cfg;
}

/*
 * The compiler puts no hook at variables in memory whose address stays in the function: other threads cannot reach
 * them. For its pass alone they seem to be known elsewhere. What is known of pointers is as before behind it, so that
 * calls at the end of a function stay jumps.
 */
static auto_vec<unsigned> shown; /* their bits */

static void show(function *in, tree variable)
{
    pt_solution *escaped = &in->gimple_df->escaped;

    if (is_global_var(variable) || is_gimple_reg(variable) || DECL_HARD_REGISTER(variable)) return;
    TREE_ADDRESSABLE(variable) = 1;
    if (!escaped->vars) escaped->vars = BITMAP_GGC_ALLOC();
    if (bitmap_set_bit(escaped->vars, DECL_PT_UID(variable))) shown.safe_push(DECL_PT_UID(variable));
}

static unsigned show_all(function *in)
{
    unsigned i;
    tree variable;

    shown.truncate(0);
    FOR_EACH_LOCAL_DECL(in, i, variable)
    if (VAR_P(variable)) show(in, variable);
    for (tree p = DECL_ARGUMENTS(in->decl); p; p = DECL_CHAIN(p)) show(in, p);
    return 0;
}

static unsigned hide(function *in)
{
    for (unsigned bit : shown) bitmap_clear_bit(in->gimple_df->escaped.vars, bit);
    shown.truncate(0);
    return 0;
}

static unsigned hide_and_replace(function *in)
{
    hide(in);
    return replace(in);
}

/* ---- Functions without hooks ------------------------------------------------------------------------------------- */

/* The dynamic linker calls what decides which function an ifunc is, before hooks have their addresses. */
static std::vector<std::string> resolvers;

static bool is_named(tree function, const std::string &name)
{
    return name == IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(function));
}

static void leave_out(tree function)
{
    DECL_ATTRIBUTES(function) = tree_cons(
        get_identifier("no_sanitize"), build_int_cst(unsigned_type_node, SANITIZE_THREAD), DECL_ATTRIBUTES(function));
}

static void meet_declaration(void *declaration, void *)
{
    tree decl = static_cast<tree>(declaration);
    tree ifunc = TREE_CODE(decl) == FUNCTION_DECL ? lookup_attribute("ifunc", DECL_ATTRIBUTES(decl)) : NULL_TREE;
    cgraph_node *node;

    if (!ifunc) return;
    resolvers.push_back(TREE_STRING_POINTER(TREE_VALUE(TREE_VALUE(ifunc))));
    FOR_EACH_FUNCTION(node)
    if (is_named(node->decl, resolvers.back())) leave_out(node->decl);
}

static void meet_function(void *function, void *)
{
    for (const std::string &name : resolvers)
        if (is_named(static_cast<tree>(function), name)) leave_out(static_cast<tree>(function));
}

/* ---- The plugin -------------------------------------------------------------------------------------------------- */

static const pass_data about = {GIMPLE_PASS, "ompp", OPTGROUP_NONE, TV_NONE, PROP_ssa | PROP_cfg, 0, 0, 0, 0};

typedef unsigned work_t(function *in);

class pass : public gimple_opt_pass
{
  public:
    pass(gcc::context *context, work_t *work) : gimple_opt_pass(about, context), work(work) {}
    opt_pass *clone() final override { return new pass(m_ctxt, work); }
    unsigned execute(function *in) final override { return work(in); }

  private:
    work_t *const work;
};

static void prepare(void *, void *)
{
    word_type = own_type(long_unsigned_type_node);
    half_type = own_type(unsigned_type_node);
}

__attribute__((visibility("default"))) int plugin_init(plugin_name_args *plugin, plugin_gcc_version *version)
{
    static const ggc_root_tab roots[] = {{&word_type, 1, sizeof word_type, &gt_ggc_mx_tree_node, NULL},
                                         {&half_type, 1, sizeof half_type, &gt_ggc_mx_tree_node, NULL},
                                         {&variable, 1, sizeof variable, &gt_ggc_mx_tree_node, NULL},
                                         LAST_GGC_ROOT_TAB};
    register_pass_info before = {new pass(g, show_all), "tsan", 0, PASS_POS_INSERT_BEFORE},
                       where = {new pass(g, hide_and_replace), "tsan", 0, PASS_POS_INSERT_AFTER},
                       /* without optimization hooks stay calls */
        before_O0 = {new pass(g, show_all), "tsan0", 0, PASS_POS_INSERT_BEFORE},
                       behind_O0 = {new pass(g, hide), "tsan0", 0, PASS_POS_INSERT_AFTER};

    if (!plugin_default_version_check(version, &gcc_version)) return 1;
    register_callback(plugin->base_name, PLUGIN_START_UNIT, prepare, NULL);
    register_callback(plugin->base_name, PLUGIN_FINISH_DECL, meet_declaration, NULL);
    register_callback(plugin->base_name, PLUGIN_PRE_GENERICIZE, meet_function, NULL);
    register_callback(plugin->base_name, PLUGIN_REGISTER_GGC_ROOTS, NULL, const_cast<ggc_root_tab *>(roots));
    register_callback(plugin->base_name, PLUGIN_PASS_MANAGER_SETUP, NULL, &before);
    register_callback(plugin->base_name, PLUGIN_PASS_MANAGER_SETUP, NULL, &where);
    register_callback(plugin->base_name, PLUGIN_PASS_MANAGER_SETUP, NULL, &before_O0);
    register_callback(plugin->base_name, PLUGIN_PASS_MANAGER_SETUP, NULL, &behind_O0);
    return 0;
}
