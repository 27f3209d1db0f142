/*
 * Plugin for clang and clang++: turns calls of load/store hooks into code that counts where it stands. It does so in
 * the second of the two steps in which kinst-ompp has clang make an object, on what the first one has optimised and put
 * hooks into. In the first it sees to it that each access gets a hook: loops that the source wants vectorised are not,
 * and sizes that clang has no hooks for get some.
 *
 * In innermost loops without calls, an access whose address advances by the same step each turn is no code of its own:
 * the turns are counted, and from the last address, the step and their number the library's function counts all
 * accesses, page by page, when the loop is left, and after MOST_HELD accesses. Other accesses look their page up; those
 * of one basic block that are near each other do so together.
 *
 * Which addresses are counted where is as in ompp_count_priv.h; offsets and names are those of ompp_inline_priv.h.
 * Without optimisation calls stay calls, of clang's copy of ompp_inline.c. Code here runs inside of the compiler, not
 * in the program.
 */
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

#include <map>
#include <optional>

#include "data/ompp_map_layout.h"

using namespace llvm;

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

static const unsigned MOST_HELD = 4096; /* accesses of a loop: then they are handed over, see docs/data-hooks.md */
/* of a loop, when their number is known: else accesses are counted each by itself */
static const unsigned LEAST_TURNS = 4;
static const unsigned MOST_RUNS = 16;    /* sequences of a loop, each of which is handed over by code of its own */
static const unsigned MOST_ALIKE = 64;   /* accesses of a loop that are looked through for those of one sequence */
static const unsigned MOST_GROUPS = 16;  /* of accesses that are near each other, of a block, that are looked through */
static const size_t MOST_IN_EDGE = 4;    /* accesses of a group that are looked up in a table by code of their own */
static const uint32_t LEAVES = 1u << 31; /* of the entry of a group's page: it is not on that page alone */
static const int64_t PAGE = 1 << OMPP_INLINE_PAGE_BITS;

namespace
{

/* A hook that the compiler has put in. */
struct hook_t {
    CallInst *call;
    bool store;
    unsigned slot; /* its count, from a structure's first one */
    Value *address() const { return call->getArgOperand(0); }
};

/* Accesses of one block, so many bytes from the first. */
struct group_t {
    std::vector<std::pair<hook_t, int64_t>> members;
    int64_t low, high;
};

/* Accesses of a loop that are one sequence of addresses: in each turn as many as there are hooks. */
struct run_t {
    std::vector<hook_t> hooks; /* of one block, kind and size */
    Value *last;               /* address of a turn's last access */
    int64_t step;              /* bytes from one access to the next */
    std::vector<bool> passed;  /* shape [exit]: is before it, in the last turn */
    PHINode *before;           /* what last was in the turn before; NULL = of no use */
};

/* What becomes of a loop. */
struct plan_t {
    BasicBlock *header, *preheader, *latch;
    SmallVector<std::pair<BasicBlock *, BasicBlock *>, 4> exits;
    std::vector<run_t> runs;
    unsigned turns; /* with as many it has made MOST_HELD accesses; 0 = there are never so many */
};

/* Of a pointer that the function gets, in one call of it: how far the count of the variable is that it points to, and
 * what the page was, and the epoch of the thread's counter that this is of; as in ompp_gcc.cc. */
struct lead_t {
    size_t accesses; /* those in loops count twice */
    AllocaInst *distance, *page, *epoch;
};

class counting_t
{
    Function &in;
    DominatorTree &dominators;
    LoopInfo &loops;
    ScalarEvolution &evolution;
    LLVMContext &context;
    IntegerType *word, *half;
    MDNode *own; /* what counters and the map are: no data of the program shares it */
    std::vector<plan_t> plans;
    std::vector<group_t> groups;
    SmallPtrSet<const Instruction *, 16> taken;           /* hooks of plans */
    std::map<const AllocaInst *, GlobalVariable *> cells; /* of the function's variables */
    std::map<const Argument *, lead_t> leads;

    MDNode *own_data();
    bool is_quiet(const Instruction &instruction) const;
    bool is_quiet(const Loop &loop) const;
    CallInst *call_library(IRBuilder<> &code, const char *text, ArrayRef<Value *> values, const char *constraints);
    LoadInst *load(IRBuilder<> &code, Type *type, Value *from, uint64_t offset);
    void add(IRBuilder<> &code, Value *base, uint64_t offset, uint64_t number);
    GlobalVariable *cell_of(const hook_t &hook);
    void find_leads();
    lead_t *lead_of(const hook_t &hook);
    void count_one(IRBuilder<> &code, Value *address, unsigned slot, GlobalVariable *cell);
    Value *find_in_edge(IRBuilder<> &code, const char *text, Value *address, Value *counter, Value *lead);
    void count_in_edge(IRBuilder<> &code, Value *address, Value *counter, Value *lead, unsigned slot);
    void count_known(IRBuilder<> &code, const group_t &group, Value *counter, Value *lead);
    Instruction *count_where(Instruction *before, Value *is_known, const group_t &group, Value *counter, Value *where);
    Instruction *count_by_cell(Instruction *before, const group_t &group, Value *counter, Value *lead,
                               GlobalVariable *cell);
    Value *is_page(IRBuilder<> &code, Value *lead, Value *leaves, lead_t &kept);
    Instruction *count_by_lead(Instruction *before, const group_t &group, Value *counter, Value *lead, Value *leaves,
                               lead_t &kept);
    Value *count_first(IRBuilder<> &code, const hook_t &hook, Value *address, Value *counter, Value *unusual,
                       Value *lead, lead_t &kept);
    void count_run(IRBuilder<> &code, Value *first, int64_t step, Value *number, unsigned slot);
    void count_seldom(IRBuilder<> &code, const group_t &group, Value *address, GlobalVariable *cell);
    std::optional<int64_t> constant(const SCEV *value);
    std::optional<int64_t> distance(Value *from, Value *to);
    bool joins(size_t from, const hook_t &hook);
    void find_groups(BasicBlock &block);
    void count(group_t &group);
    std::optional<int64_t> step_of(const Loop &loop, const hook_t &hook);
    std::vector<run_t> runs_of(const Loop &loop);
    std::optional<int64_t> between(const run_t &from, const run_t &to);
    bool merge_some(std::vector<run_t> &runs, std::vector<std::pair<int64_t, size_t>> &alike, int64_t step);
    void merge(std::vector<run_t> &runs);
    bool has_turns(Loop &loop);
    void plan(Loop &loop);
    void hand_over(Instruction *before, const run_t &run, Value *last, Value *turns);
    Value *most(IRBuilder<> &code, const plan_t &plan);
    std::pair<Value *, Value *> bound(const plan_t &plan, Value *turns, Value *most, BasicBlock **back);
    void count(plan_t &plan);

  public:
    counting_t(Function &in, FunctionAnalysisManager &manager)
        : in(in), dominators(manager.getResult<DominatorTreeAnalysis>(in)), loops(manager.getResult<LoopAnalysis>(in)),
          evolution(manager.getResult<ScalarEvolutionAnalysis>(in)), context(in.getContext()),
          word(Type::getInt64Ty(context)), half(Type::getInt32Ty(context)), own(own_data())
    {
    }
    bool run();
};

/* ---- What stands in the function --------------------------------------------------------------------------------- */

bool is_hook(const Instruction &instruction, hook_t *hook)
{
    const CallInst *call = dyn_cast<CallInst>(&instruction);
    const Function *callee = call ? call->getCalledFunction() : NULL;
    StringRef name = callee ? callee->getName() : "";
    unsigned size;

    if (!name.consume_front("__sanitizer_cov_")) return false;
    hook->store = name.consume_front("store");
    if ((!hook->store && !name.consume_front("load")) || name.getAsInteger(10, size) || size > 16) return false;
    hook->call = const_cast<CallInst *>(call);
    hook->slot = hook->store * OMPP_INLINE_KIND + 8 * Log2_32(size);
    return true;
}

/* Nothing that could look at counts, change what belongs to whom, or wait for another thread that does. */
bool counting_t::is_quiet(const Instruction &instruction) const
{
    const CallBase *call = dyn_cast<CallBase>(&instruction);
    hook_t hook;

    if (isa<DbgInfoIntrinsic>(instruction) || isa<LifetimeIntrinsic>(instruction) || isa<AssumeInst>(instruction))
        return true;
    if (call && is_hook(instruction, &hook)) return true;
    if (call) return call->doesNotAccessMemory() && call->doesNotThrow() && call->willReturn() && !call->isInlineAsm();
    return !instruction.isAtomic() && !instruction.isVolatile() && !instruction.isEHPad();
}

bool counting_t::is_quiet(const Loop &loop) const
{
    for (BasicBlock *block : loop.blocks())
        for (const Instruction &instruction : *block)
            if (!is_quiet(instruction)) return false;
    return true;
}

/* ---- Code that counts -------------------------------------------------------------------------------------------- */

/* As a kind of data that is beside all those of the language, where these are told apart. */
MDNode *counting_t::own_data()
{
    for (const Instruction &instruction : instructions(in)) {
        const MDNode *tag = instruction.getMetadata(LLVMContext::MD_tbaa);
        const MDNode *type = tag && tag->getNumOperands() > 1 ? dyn_cast<MDNode>(tag->getOperand(1)) : NULL;
        while (type && type->getNumOperands() > 1 && isa<MDNode>(type->getOperand(1)))
            type = cast<MDNode>(type->getOperand(1));
        if (!type) continue;
        MDBuilder builder(context);
        MDNode *kind = builder.createTBAAScalarTypeNode("ompp", const_cast<MDNode *>(type));
        return builder.createTBAAStructTagNode(kind, kind, 0);
    }
    return NULL;
}

/* The library's functions for what is rare: rax is an argument and the result, rdx leads back; all else is kept. */
#define ELSEWHERE(name) ELSEWHERE_WITH(name, "")
#define ELSEWHERE_WITH(name, more) "leaq 1f(%rip), %rdx\n\tjmp *" TEXT(name) "@GOTPCREL(%rip)\n" more "1:"
/* An instruction that is never reached, as in ompp_gcc.cc: it addresses the cell of the variable. */
#define CELL(operand) "\tleaq " operand "(%rip), %rdx\n"

CallInst *counting_t::call_library(IRBuilder<> &code, const char *text, ArrayRef<Value *> values,
                                   const char *constraints)
{
    std::vector<Type *> types;
    for (Value *value : values) types.push_back(value->getType());
    InlineAsm *assembly = InlineAsm::get(FunctionType::get(word, types, false), text, constraints, true);
    CallInst *call = code.CreateCall(assembly, values);

    call->setDoesNotThrow();
    return call;
}

LoadInst *counting_t::load(IRBuilder<> &code, Type *type, Value *from, uint64_t offset)
{
    LoadInst *value = code.CreateLoad(type, code.CreateConstInBoundsGEP1_64(code.getInt8Ty(), from, offset));

    value->setMetadata(LLVMContext::MD_tbaa, own);
    return value;
}

/* Where accesses to a variable of the function are counted, in all of its calls: 4 bytes. NULL = it is no variable. */
GlobalVariable *counting_t::cell_of(const hook_t &hook)
{
    const AllocaInst *variable = dyn_cast<AllocaInst>(getUnderlyingObject(hook.address()));

    if (!variable || !variable->isStaticAlloca()) return NULL;
    GlobalVariable *&cell = cells[variable];
    if (!cell)
        cell = new GlobalVariable(*in.getParent(), half, false, GlobalValue::InternalLinkage, ConstantInt::get(half, 0),
                                  "ompp_cell");
    cell->setExternallyInitialized(true); /* not what the compiler sees */
    return cell;
}

/* Worth it with more than one access. */
void counting_t::find_leads()
{
    if (in.callsFunctionThatReturnsTwice()) return;
    for (group_t &group : groups) {
        const hook_t &first = group.members[0].first;
        const Argument *pointer = dyn_cast<Argument>(getUnderlyingObject(first.address()));
        if (pointer)
            leads[pointer].accesses += group.members.size() * (loops.getLoopFor(first.call->getParent()) ? 2 : 1);
    }
    IRBuilder<> code(&in.getEntryBlock(), in.getEntryBlock().begin());
    for (auto &[pointer, lead] : leads) {
        if (lead.accesses < 2) continue;
        lead.distance = code.CreateAlloca(half, NULL, "ompp_distance");
        lead.page = code.CreateAlloca(half, NULL, "ompp_page");
        lead.epoch = code.CreateAlloca(half, NULL, "ompp_epoch");
    }
    for (auto &[pointer, lead] : leads) {
        if (!lead.epoch) continue;
        code.CreateStore(ConstantInt::get(half, 0), lead.distance);
        code.CreateStore(ConstantInt::get(half, 0), lead.page);
        code.CreateStore(ConstantInt::get(half, 0), lead.epoch);
    }
}

/* NULL = there is none. */
lead_t *counting_t::lead_of(const hook_t &hook)
{
    const Argument *pointer = dyn_cast<Argument>(getUnderlyingObject(hook.address()));
    const auto found = pointer ? leads.find(pointer) : leads.end();

    return found != leads.end() && found->second.epoch ? &found->second : NULL;
}

#define BY_KIND(slot, text, name) ((slot) >= OMPP_INLINE_KIND ? text(name##_STORE) : text(name##_LOAD))

/* One access, of which nothing is known but the address. */
#define ONE_OF_CELL(name) ELSEWHERE_WITH(name, CELL("${2:c}"))

void counting_t::count_one(IRBuilder<> &code, Value *address, unsigned slot, GlobalVariable *cell)
{
    const char *text = cell ? BY_KIND(slot, ONE_OF_CELL, OMPP_INLINE_LOCAL) : BY_KIND(slot, ELSEWHERE, OMPP_INLINE_AT);
    Value *found =
        cell ? call_library(code, text, {address, cell}, "={ax},{ax},i,~{rdx},~{memory},~{dirflag},~{fpsr},~{flags}")
             : call_library(code, text, {address}, "={ax},{ax},~{rdx},~{memory},~{dirflag},~{fpsr},~{flags}");

    add(code, code.CreateIntToPtr(found, code.getPtrTy()), OMPP_INLINE_COUNT + slot, 1);
}

/* The same, of which the entry of its page, xored with the tag, is known, as in ompp_gcc.cc; more, when it is not. */
/* clang-format off */
#define IN_EDGE(name) \
    "subl $$" TEXT(OMPP_INLINE_LEADS) ", %eax\n\tcmpl $$" TEXT(OMPP_INLINE_FAR) ", %eax\n\tjae 2f\n\t" \
    "shlq $$" TEXT(OMPP_INLINE_TABLE_BITS) ", %rax\n\taddq " TEXT(OMPP_INLINE_EDGES) "($3), %rax\n\t" \
    "movl ${2:k}, %edx\n\tshrl $$2, %edx\n\tandl $$124, %edx\n\tmovl (%rax,%rdx), %eax\n\t" \
    "cmpl $$" TEXT(OMPP_INLINE_NEAR) ", %eax\n\tjbe 3f\n2:\tmovq $2, %rax\n\t" ELSEWHERE(name) \
    "\tjmp 4f\n3:\tshll $$" TEXT(OMPP_INLINE_COUNT_BITS) ", %eax\n\taddq $3, %rax\n4:"
/* clang-format on */

Value *counting_t::find_in_edge(IRBuilder<> &code, const char *text, Value *address, Value *counter, Value *lead)
{
    return call_library(code, text, {code.CreateZExt(lead, word), address, code.CreatePtrToInt(counter, word)},
                        "=&{ax},0,r,r,~{rdx},~{memory},~{dirflag},~{fpsr},~{flags}");
}

void counting_t::count_in_edge(IRBuilder<> &code, Value *address, Value *counter, Value *lead, unsigned slot)
{
    Value *found = find_in_edge(code, BY_KIND(slot, IN_EDGE, OMPP_INLINE_AT), address, counter, lead);

    add(code, code.CreateIntToPtr(found, code.getPtrTy()), OMPP_INLINE_COUNT + slot, 1);
}

/* A sequence of accesses. */
void counting_t::count_run(IRBuilder<> &code, Value *first, int64_t step, Value *number, unsigned slot)
{
    call_library(code, ELSEWHERE(OMPP_INLINE_RUN),
                 {number, first, ConstantInt::getSigned(word, step), ConstantInt::get(word, slot)},
                 "={ax},{ax},{di},{si},{cx},~{rdx},~{memory},~{dirflag},~{fpsr},~{flags}");
}

void counting_t::add(IRBuilder<> &code, Value *base, uint64_t offset, uint64_t number)
{
    LoadInst *value = load(code, word, base, offset);
    StoreInst *more =
        code.CreateStore(code.CreateAdd(value, ConstantInt::get(word, number)), value->getPointerOperand());

    more->setMetadata(LLVMContext::MD_tbaa, own);
}

Value *self_variable(Module &module)
{
    static const char name[] = TEXT(OMPP_INLINE_SELF);

    if (GlobalVariable *known = module.getNamedGlobal(name)) return known;
    return new GlobalVariable(module, PointerType::getUnqual(module.getContext()), false, GlobalValue::ExternalLinkage,
                              NULL, name, NULL, GlobalValue::InitialExecTLSModel);
}

/* ---- Accesses that are looked up --------------------------------------------------------------------------------- */

/* All at one structure's counts, which are so far from the counter's first ones. */
void counting_t::count_known(IRBuilder<> &code, const group_t &group, Value *counter, Value *lead)
{
    Value *counts = code.CreateInBoundsGEP(code.getInt8Ty(), counter, code.CreateZExt(lead, word));
    std::map<unsigned, unsigned> numbers;

    for (auto &member : group.members) numbers[member.first.slot]++;
    for (auto &[slot, number] : numbers) add(code, counts, OMPP_INLINE_COUNT + slot, number);
}

/* Where that is known. \return where code for the others goes. */
Instruction *counting_t::count_where(Instruction *before, Value *is_known, const group_t &group, Value *counter,
                                     Value *where)
{
    Instruction *known, *others;

    SplitBlockAndInsertIfThenElse(is_known, before, &known, &others, MDBuilder(context).createBranchWeights(2000, 1));
    IRBuilder<> code(known);
    count_known(code, group, counter, where);
    return others;
}

/* Whether a page is one of the stack, and the thread's own. lead: its entry, xored with the tag; more, when the group
 * is on another page, too. */
#define IS_STACK(code, lead) (code).CreateICmpEQ(lead, ConstantInt::get(half, OMPP_INLINE_STACK))

/* Of a variable of the function: its cell tells. */
Instruction *counting_t::count_by_cell(Instruction *before, const group_t &group, Value *counter, Value *lead,
                                       GlobalVariable *cell)
{
    IRBuilder<> code(before);
    LoadInst *told = code.CreateAlignedLoad(half, cell, Align(4));
    told->setAtomic(AtomicOrdering::Monotonic); /* the library writes it */
    Value *where = code.CreateAnd(told, load(code, half, counter, OMPP_INLINE_CELLS));

    return count_where(before, code.CreateAnd(IS_STACK(code, lead), code.CreateIsNotNull(where)), group, counter,
                       where);
}

/* Whether the group is on one page, and that is as the one that was kept. */
Value *counting_t::is_page(IRBuilder<> &code, Value *lead, Value *leaves, lead_t &kept)
{
    Value *is = code.CreateICmpEQ(lead, code.CreateLoad(half, kept.page));

    return leaves ? code.CreateAnd(is, code.CreateIsNull(leaves)) : is;
}

/* What a pointer that the function gets points to: as it was found before in this call. */
Instruction *counting_t::count_by_lead(Instruction *before, const group_t &group, Value *counter, Value *lead,
                                       Value *leaves, lead_t &kept)
{
    IRBuilder<> code(before);
    Value *is_same = code.CreateICmpEQ(code.CreateLoad(half, kept.epoch), load(code, half, counter, OMPP_INLINE_EPOCH));

    return count_where(before, code.CreateAnd(is_page(code, lead, leaves, kept), is_same), group, counter,
                       code.CreateLoad(half, kept.distance));
}

/* One access, and what is found of it is kept, when it is in a stack. None is kept that is more than 32
 * bits: the thread's first accesses are counted far from what the code took for its counter. \return whether it is. */
Value *counting_t::count_first(IRBuilder<> &code, const hook_t &hook, Value *address, Value *counter, Value *unusual,
                               Value *lead, lead_t &kept)
{
    Value *found = find_in_edge(code, BY_KIND(hook.slot, IN_EDGE, OMPP_INLINE_BASE), address, counter, unusual);
    Value *at = code.CreateAnd(found, ConstantInt::get(word, ~(1ull << OMPP_INLINE_BASE_STACK)));
    Value *distance = code.CreateSub(at, code.CreatePtrToInt(counter, word));
    Value *is_kept = code.CreateAnd(code.CreateICmpSLT(found, ConstantInt::get(word, 0)),
                                    code.CreateIsNull(code.CreateLShr(distance, 32)));

    add(code, code.CreateIntToPtr(at, code.getPtrTy()), OMPP_INLINE_COUNT + hook.slot, 1);
    code.CreateStore(code.CreateTrunc(distance, half), kept.distance);
    code.CreateStore(lead, kept.page);
    code.CreateStore(
        code.CreateSelect(is_kept, load(code, half, counter, OMPP_INLINE_EPOCH), ConstantInt::get(half, 0)),
        kept.epoch);
    return is_kept;
}

/* Behind the first, which all of them can be before: nothing is called between them. */
void counting_t::count(group_t &group)
{
    const hook_t first = group.members[0].first;
    IRBuilder<> code(first.call);
    Value *address = code.CreatePtrToInt(first.address(), word);
    Value *low = code.CreateAdd(address, ConstantInt::getSigned(word, group.low));
    Value *counter = load(code, code.getPtrTy(), self_variable(*in.getParent()), 0);
    Value *mask = load(code, word, counter, OMPP_INLINE_MASK),
          *pages = load(code, code.getPtrTy(), counter, OMPP_INLINE_PAGES);
    Value *tag = load(code, half, counter, OMPP_INLINE_TAG);
    Value *page = code.CreateAnd(code.CreateLShr(low, OMPP_INLINE_PAGE_BITS), mask);
    LoadInst *owner = code.CreateAlignedLoad(half, code.CreateInBoundsGEP(half, pages, page), Align(4));
    owner->setAtomic(AtomicOrdering::Monotonic); /* each time: another thread may register a structure there */
    Value *lead = code.CreateXor(owner, tag), *unusual = lead, *leaves = NULL;
    if (group.low != group.high) {
        Value *high = code.CreateAdd(address, ConstantInt::getSigned(word, group.high));
        leaves = code.CreateAnd(code.CreateTrunc(code.CreateXor(low, high), half), PAGE);
        unusual = code.CreateOr(lead, code.CreateMul(leaves, ConstantInt::get(half, LEAVES / PAGE)));
    }
    Value *seldom = code.CreateICmpUGE(unusual, ConstantInt::get(half, OMPP_INLINE_LEADS));
    Instruction *otherwise, *usual;
    SplitBlockAndInsertIfThenElse(seldom, first.call, &otherwise, &usual,
                                  MDBuilder(context).createBranchWeights(1, 2000));

    code.SetInsertPoint(usual);
    count_known(code, group, counter, lead);
    GlobalVariable *cell = cell_of(first);
    lead_t *kept = lead_of(first);
    code.SetInsertPoint(cell   ? count_by_cell(otherwise, group, counter, unusual, cell)
                        : kept ? count_by_lead(otherwise, group, counter, lead, leaves, *kept)
                               : otherwise);
    const std::vector<std::pair<hook_t, int64_t>> all = group.members;
    if (kept) {
        Value *is_kept = count_first(code, first, address, counter, unusual, lead, *kept);
        group.members.erase(group.members.begin());
        Value *is_known = code.CreateAnd(is_page(code, lead, leaves, *kept), is_kept),
              *where = code.CreateLoad(half, kept->distance);
        if (!group.members.empty())
            code.SetInsertPoint(count_where(&*code.GetInsertPoint(), is_known, group, counter, where));
    }
    if (cell || group.members.size() > MOST_IN_EDGE) count_seldom(code, group, address, cell);
    else
        for (auto &[hook, offset] : group.members)
            count_in_edge(code, code.CreateAdd(address, ConstantInt::getSigned(word, offset)), counter, unusual,
                          hook.slot);
    for (auto &member : all) member.first.call->eraseFromParent();
}

/* As sequences of accesses, where they are some: as few calls as can be. Those of a variable each by itself, as the
 * variable's. */
void counting_t::count_seldom(IRBuilder<> &code, const group_t &group, Value *address, GlobalVariable *cell)
{
    std::vector<std::pair<unsigned, int64_t>> all; /* slot, offset */

    for (auto &[hook, offset] : group.members) all.push_back({hook.slot, offset});
    std::sort(all.begin(), all.end());
    for (size_t n = 0, number; n < all.size(); n += number) {
        const auto [slot, offset] = all[n];
        const int64_t step = n + 1 < all.size() && all[n + 1].first == slot ? all[n + 1].second - offset : 0;
        const size_t most = cell ? 1 : all.size() - n;
        for (number = 1; number < most && all[n + number] == std::pair(slot, offset + (int64_t)number * step);)
            number++;
        Value *first = code.CreateAdd(address, ConstantInt::getSigned(word, offset));
        if (number > 1) count_run(code, first, step, ConstantInt::get(word, number), slot);
        else count_one(code, first, slot, cell);
    }
}

std::optional<int64_t> counting_t::constant(const SCEV *value)
{
    const SCEVConstant *known = dyn_cast<SCEVConstant>(value);

    if (!known || known->getAPInt().getSignificantBits() > 32) return {};
    return known->getAPInt().getSExtValue();
}

std::optional<int64_t> counting_t::distance(Value *from, Value *to)
{
    return constant(evolution.getMinusSCEV(evolution.getSCEV(to), evolution.getSCEV(from)));
}

/* Puts a hook to one of those groups that it is near to, as seen by where addresses come from. */
bool counting_t::joins(size_t from, const hook_t &hook)
{
    for (size_t n = groups.size(); n-- > from && groups.size() - n <= MOST_GROUPS;) {
        group_t &group = groups[n];
        const std::optional<int64_t> bytes = distance(group.members[0].first.address(), hook.address());
        if (!bytes) continue;
        const int64_t low = std::min(group.low, *bytes), high = std::max(group.high, *bytes);
        if (high - low >= PAGE) continue;
        group.low = low, group.high = high;
        group.members.push_back({hook, *bytes});
        return true;
    }
    return false;
}

void counting_t::find_groups(BasicBlock &block)
{
    size_t from = groups.size();
    hook_t hook;

    for (Instruction &instruction : block)
        if (!is_quiet(instruction)) from = groups.size();
        else if (is_hook(instruction, &hook) && !taken.contains(&instruction) && !joins(from, hook))
            groups.push_back({{{hook, 0}}, 0, 0});
}

/* ---- Accesses of loops ------------------------------------------------------------------------------------------- */

/* The step of addresses, 0 for one address; none when they do not advance so, or leave the page each time. */
std::optional<int64_t> counting_t::step_of(const Loop &loop, const hook_t &hook)
{
    const SCEV *address = evolution.getSCEV(hook.address());
    const SCEVAddRecExpr *advances = dyn_cast<SCEVAddRecExpr>(address);

    if (evolution.isLoopInvariant(address, &loop)) return 0;
    if (!advances || advances->getLoop() != &loop || !advances->isAffine()) return {};
    std::optional<int64_t> step = constant(advances->getStepRecurrence(evolution));
    return step && std::abs(*step) < PAGE ? step : std::nullopt;
}

/* What the loop has of hooks that are passed each turn. */
std::vector<run_t> counting_t::runs_of(const Loop &loop)
{
    std::vector<run_t> runs;
    hook_t hook;

    for (BasicBlock *block : loop.blocks())
        for (Instruction &instruction : *block)
            if (is_hook(instruction, &hook) && dominators.dominates(block, loop.getLoopLatch()))
                if (auto step = step_of(loop, hook)) runs.push_back({{hook}, hook.address(), *step, {}, NULL});
    return runs;
}

/* From the access of one run to that of another, when they are of one kind and size, and passed equally often. */
std::optional<int64_t> counting_t::between(const run_t &from, const run_t &to)
{
    const hook_t &a = from.hooks[0], &b = to.hooks[0];

    if (from.step != to.step || a.slot != b.slot || a.call->getParent() != b.call->getParent()) return {};
    return distance(from.last, to.last);
}

/* What an unrolled loop does in a turn becomes a sequence of smaller steps: so many of these runs, which are the same
 * but for distances. */
bool counting_t::merge_some(std::vector<run_t> &runs, std::vector<std::pair<int64_t, size_t>> &alike, int64_t step)
{
    for (size_t number = alike.size(); number > 1; number--) {
        if (step % (int64_t)number) continue;
        const int64_t small = step / (int64_t)number; /* as the step is: forwards or backwards */
        for (auto &[begin, first] : alike) {
            std::vector<size_t> found;
            for (int64_t offset = begin; found.size() < number; offset += small) {
                auto at = std::find_if(alike.begin(), alike.end(), [=](auto &pair) { return pair.first == offset; });
                if (at == alike.end()) break;
                found.push_back(at - alike.begin());
            }
            if (found.size() < number) continue;
            run_t &into = runs[alike[found[0]].second], &last = runs[alike[found.back()].second];
            into.last = last.last;
            into.step = small;
            for (size_t n = 1; n < number; n++) {
                run_t &other = runs[alike[found[n]].second];
                into.hooks.push_back(other.hooks[0]);
                other.hooks.clear();
            }
            std::sort(found.rbegin(), found.rend());
            for (size_t n : found) alike.erase(alike.begin() + n);
            return true;
        }
    }
    return false;
}

void counting_t::merge(std::vector<run_t> &runs)
{
    std::vector<bool> seen(runs.size());

    for (size_t n = 0; n < runs.size(); n++) {
        std::vector<std::pair<int64_t, size_t>> alike;
        const int64_t step = runs[n].step;
        if (seen[n] || step == 0) continue;
        for (size_t other = n; other < runs.size() && other < n + MOST_ALIKE; other++)
            if (auto bytes = seen[other] ? std::nullopt : between(runs[n], runs[other])) {
                alike.push_back({*bytes, other});
                seen[other] = true;
            }
        while (merge_some(runs, alike, step)) continue;
    }
    std::stable_sort(runs.begin(), runs.end(),
                     [](const run_t &a, const run_t &b) { return a.hooks.size() > b.hooks.size(); });
    while (runs.size() > MOST_RUNS || (!runs.empty() && runs.back().hooks.empty())) runs.pop_back();
}

/* Whether turns of a loop can be counted: it has one way in, one way back, and ways out that code can stand on. */
bool counting_t::has_turns(Loop &loop)
{
    const unsigned known = evolution.getSmallConstantTripCount(&loop);
    SmallVector<BasicBlock *, 4> from;

    if (!loop.isInnermost() || !loop.getLoopPreheader() || !loop.getLoopLatch() || (known && known < LEAST_TURNS) ||
        !is_quiet(loop))
        return false;
    loop.getExitingBlocks(from);
    for (BasicBlock *block : from)
        if (!isa<BranchInst>(block->getTerminator()) && !isa<SwitchInst>(block->getTerminator())) return false;
    return isa<BranchInst>(loop.getLoopLatch()->getTerminator());
}

/* All that the analyses know of a loop, before anything changes. */
void counting_t::plan(Loop &loop)
{
    plan_t plan{loop.getHeader(), loop.getLoopPreheader(), loop.getLoopLatch(), {}, runs_of(loop), 0};
    const unsigned most = evolution.getSmallConstantMaxTripCount(&loop), before = taken.size();

    merge(plan.runs);
    if (plan.runs.empty()) return;
    loop.getExitEdges(plan.exits);
    for (run_t &run : plan.runs) {
        for (auto &[from, to] : plan.exits)
            run.passed.push_back(dominators.dominates(run.hooks[0].call->getParent(), from));
        for (hook_t &hook : run.hooks) taken.insert(hook.call);
    }
    const unsigned accesses = taken.size() - before, turns = std::max(1u, MOST_HELD / accesses);
    plan.turns = most && most < turns ? 0 : turns;
    plans.push_back(std::move(plan));
}

void counting_t::hand_over(Instruction *before, const run_t &run, Value *last, Value *turns)
{
    IRBuilder<> code(before);
    const uint64_t each = run.hooks.size();
    Value *number = each > 1 ? code.CreateMul(turns, ConstantInt::get(word, each)) : turns;
    Value *step = ConstantInt::getSigned(word, run.step),
          *back = code.CreateMul(code.CreateSub(number, ConstantInt::get(word, 1)), step);

    count_run(code, code.CreateSub(code.CreatePtrToInt(last, word), back), run.step, number, run.hooks[0].slot);
}

/* The number of turns that may be held back: MOST_HELD accesses, or fewer when the thread's counter says so. */
Value *counting_t::most(IRBuilder<> &code, const plan_t &plan)
{
    Value *counter = load(code, code.getPtrTy(), self_variable(*in.getParent()), 0);
    Value *wanted = load(code, half, counter, OMPP_INLINE_MOST);

    if (!plan.turns) return code.CreateZExt(wanted, word);
    return code.CreateZExt(code.CreateBinaryIntrinsic(Intrinsic::umin, wanted, ConstantInt::get(half, plan.turns)),
                           word);
}

/* On the way back to the loop's begin: what is held has a bound. \return the number of turns and the bound there, in
 * the block that it is set to. */
std::pair<Value *, Value *> counting_t::bound(const plan_t &plan, Value *turns, Value *bound, BasicBlock **back)
{
    IRBuilder<> code((*back)->getTerminator());
    Value *more = code.CreateAdd(turns, ConstantInt::get(word, 1));
    Value *much = code.CreateICmpUGE(more, bound);
    Instruction *then = SplitBlockAndInsertIfThen(much, (*back)->getTerminator(), false,
                                                  MDBuilder(context).createBranchWeights(1, 2000));
    for (const run_t &run : plan.runs) hand_over(then, run, run.last, more);
    code.SetInsertPoint(then);
    Value *again = most(code, plan);
    BasicBlock *tail = then->getSuccessor(0);
    code.SetInsertPoint(tail, tail->begin());
    PHINode *next = code.CreatePHI(word, 2), *next_bound = code.CreatePHI(word, 2);
    next->addIncoming(more, *back);
    next->addIncoming(ConstantInt::get(word, 0), then->getParent());
    next_bound->addIncoming(bound, *back);
    next_bound->addIncoming(again, then->getParent());
    *back = tail;
    return {next, next_bound};
}

/* Before the loop nothing was counted; behind it, what was is handed over. */
void counting_t::count(plan_t &plan)
{
    std::vector<Instruction *> ends;
    for (auto &[from, to] : plan.exits) ends.push_back(SplitEdge(from, to)->getTerminator());
    BasicBlock *back = SplitEdge(plan.latch, plan.header);
    IRBuilder<> code(plan.header, plan.header->begin());
    PHINode *turns = code.CreatePHI(word, 2, "ompp_turns"), *held = code.CreatePHI(word, 2, "ompp_held");

    for (run_t &run : plan.runs)
        if (!all_of(run.passed, [](bool passed) { return passed; }))
            run.before = code.CreatePHI(run.last->getType(), 2, "ompp_before");
    for (size_t n = 0; n < ends.size(); n++) {
        code.SetInsertPoint(ends[n]);
        Value *more = code.CreateAdd(turns, ConstantInt::get(word, 1));
        for (const run_t &run : plan.runs)
            hand_over(ends[n], run, run.passed[n] ? run.last : run.before, run.passed[n] ? more : turns);
    }
    IRBuilder<> before(plan.preheader->getTerminator());
    held->addIncoming(most(before, plan), plan.preheader);
    const auto [next, next_held] = bound(plan, turns, held, &back);
    turns->addIncoming(ConstantInt::get(word, 0), plan.preheader);
    turns->addIncoming(next, back);
    held->addIncoming(next_held, back);
    for (run_t &run : plan.runs) {
        if (run.before) run.before->addIncoming(Constant::getNullValue(run.before->getType()), plan.preheader);
        if (run.before) run.before->addIncoming(run.last, back);
        for (hook_t &hook : run.hooks) hook.call->eraseFromParent();
    }
}

/* ---- The pass ---------------------------------------------------------------------------------------------------- */

bool counting_t::run()
{
    const ReversePostOrderTraversal<const Function *> order(&in);

    /* whose turns are no loop's */
    if (!in.callsFunctionThatReturnsTwice() && !containsIrreducibleCFG<const BasicBlock *>(order, loops))
        for (Loop *loop : loops.getLoopsInPreorder())
            if (has_turns(*loop)) plan(*loop);
    for (BasicBlock &block : in)
        if (dominators.isReachableFromEntry(&block)) find_groups(block);
    find_leads();
    for (plan_t &plan : plans) count(plan);
    for (group_t &group : groups) count(group);
    return !plans.empty() || !groups.empty();
}

struct pass_t : PassInfoMixin<pass_t> {
    PreservedAnalyses run(Function &in, FunctionAnalysisManager &manager)
    {
        return counting_t(in, manager).run() ? PreservedAnalyses::none() : PreservedAnalyses::all();
    }
};

/* ---- Before hooks are put in ------------------------------------------------------------------------------------- */

const char FIRST[] = "ompp.first"; /* named metadata of a module that has no hooks yet */

/* Elements are counted: what asks for vectors (omp simd, simdlen) makes accesses of several, for which there may be no
 * hook. */
struct elements_t : PassInfoMixin<elements_t> {
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
    {
        const bool second = module.getFunction("__sanitizer_cov_trace_pc_guard");
        /* also: an accelerator */
        if (second || !StringRef(module.getTargetTriple()).starts_with("x86_64")) return PreservedAnalyses::all();
        module.getOrInsertNamedMetadata(FIRST);
        for (Function &in : module)
            for (BasicBlock &block : in)
                if (MDNode *loop = block.getTerminator()->getMetadata(LLVMContext::MD_loop))
                    block.getTerminator()->setMetadata(
                        LLVMContext::MD_loop,
                        makePostTransformationMetadata(module.getContext(), loop,
                                                       {"llvm.loop.vectorize.", "llvm.loop.interleave."}, {}));
        return PreservedAnalyses::none();
    }
    static bool isRequired() { return true; }
};

/* Sizes that the compiler has no hook for: vectors of 32 and 64 bytes, long double, integers of any width. */
struct sizes_t : PassInfoMixin<sizes_t> {
    static bool gets_hooks(Function &in)
    {
        return !in.empty() && !in.hasAvailableExternallyLinkage() &&
               !in.hasFnAttribute(Attribute::NoSanitizeCoverage) &&
               !in.hasFnAttribute(Attribute::DisableSanitizerInstrumentation) &&
               !isa<UnreachableInst>(in.getEntryBlock().getTerminator());
    }

    static void add_hook(Module &module, Instruction &access)
    {
        Type *type = getLoadStoreType(&access);
        const TypeSize size = module.getDataLayout().getTypeStoreSize(type);
        const bool store = isa<StoreInst>(access), known = !size.isScalable() && size <= 16 && isPowerOf2_64(size);

        if (known || size.isScalable() || getLoadStoreAddressSpace(&access) ||
            access.hasMetadata(LLVMContext::MD_nosanitize))
            return;
        IRBuilder<> code(&access);
        const char *name = store ? "__sanitizer_cov_store16" : "__sanitizer_cov_load16";
        std::vector<Type *> types = {code.getPtrTy()};
        std::vector<Value *> values = {getLoadStorePointerOperand(&access)};
        if (!type->isX86_FP80Ty()) { /* which is 16 bytes of memory */
            name = store ? "__tsan_write_range" : "__tsan_read_range";
            types.push_back(code.getInt64Ty());
            values.push_back(code.getInt64(size));
        }
        code.CreateCall(module.getOrInsertFunction(name, FunctionType::get(code.getVoidTy(), types, false)), values)
            ->setDoesNotThrow();
    }

    PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
    {
        NamedMDNode *first = module.getNamedMetadata(FIRST);

        if (!first) return PreservedAnalyses::all();
        module.eraseNamedMetadata(first);
        for (Function &in : module)
            for (Instruction &instruction : instructions(in))
                if ((isa<LoadInst>(instruction) || isa<StoreInst>(instruction)) && gets_hooks(in))
                    add_hook(module, instruction);
        return PreservedAnalyses::none();
    }
    static bool isRequired() { return true; }
};

/* ---- Where passes stand ------------------------------------------------------------------------------------------ */

void add_first(ModulePassManager &passes, OptimizationLevel level)
{
    FunctionPassManager each;

    passes.addPass(elements_t());
    if (level == OptimizationLevel::O0) return;
    each.addPass(LoopSimplifyPass());
    each.addPass(pass_t());
    passes.addPass(createModuleToFunctionPassAdaptor(std::move(each)));
}

/* Before the compiler's own hooks, which come at the same point. */
void add_last(ModulePassManager &passes, OptimizationLevel) { passes.addPass(sizes_t()); }

} // namespace

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo()
{
    return {LLVM_PLUGIN_API_VERSION, "ompp", "1", [](PassBuilder &builder) {
                builder.registerPipelineStartEPCallback(add_first);
                builder.registerOptimizerLastEPCallback(add_last);
            }};
}
