/*
 * Accesses that the code in the program does not count by itself: to pages that are another thread's, or not one
 * structure's alone, or touched for the first time; and blocks. This file uses no vector registers (its compiler is
 * told so, see Makefile.inc.am), so that code which has its values in them need not save them.
 */
#include "hooks/ompp_whose.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* ---- Whose a page is --------------------------------------------------------------------------------------------- */

/* Gives an entry without an owner this one; none changes nothing. \return the entry as it is then. */
static uint32_t own(uint32_t *entry, uint32_t owner)
{
    uint32_t value = __atomic_load_n(entry, __ATOMIC_ACQUIRE);

    while (!(value & ~OMPP_MAP_LOW) && owner)
        if (__atomic_compare_exchange_n(entry, &value, value | owner, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
            return value | owner;
    return value;
}

/* ompp_whose_paint() and ompp_whose_frame(), which keep no vector registers, for callers that need them. */
typedef struct {
    ompp_counter_t *counter;
    uintptr_t address;
    ompp_accessor_t by;
    uint32_t object;
} asked_t;

__attribute__((used)) void ompp_found_frame(asked_t *asked);
void ompp_found_frame(asked_t *asked) { asked->object = ompp_whose_frame(asked->counter, asked->address, asked->by); }

#if defined(__x86_64__)
void ompp_whose_paint_kept(uintptr_t address) __attribute__((visibility("hidden")));
void ompp_found_frame_kept(asked_t *asked) __attribute__((visibility("hidden")));
#else
#define ompp_whose_paint_kept ompp_whose_paint
#define ompp_found_frame_kept ompp_found_frame
#endif

/* The structure that an object of the map stands for. */
static inline uint32_t whose(ompp_counter_t *counter, uint32_t object, uintptr_t address, ompp_accessor_t by)
{
    if (__builtin_expect(object != OMPP_WHOSE_STACK, 1)) return object;
    asked_t asked = {counter, address, by, ompp_whose_again(counter, address, by)};
    if (__builtin_expect(!asked.object, 0)) ompp_found_frame_kept(&asked);
    return asked.object;
}

/* \return false: it could not be found now; the next access tries again. */
static bool has_structure(uintptr_t address)
{
    const uint32_t *entry = ompp_map_entry(address);

    if (!(__atomic_load_n(entry, __ATOMIC_ACQUIRE) & OMPP_MAP_LOW)) ompp_whose_paint_kept(address);
    return __atomic_load_n(entry, __ATOMIC_ACQUIRE) & OMPP_MAP_LOW;
}

/*
 * The entry of the page of an address after an access by this thread, which owns the page when nobody did: the first
 * entry of the system's page says whose all of it is.
 */
static uint32_t touch(const ompp_counter_t *counter, uintptr_t address)
{
    uint32_t *entry = ompp_map_entry(address),
             *first = ompp_map_entry(address >> OMPP_MAP_TOUCH_BITS << OMPP_MAP_TOUCH_BITS);
    uint32_t value = __atomic_load_n(entry, __ATOMIC_ACQUIRE);

    if (value & ~OMPP_MAP_LOW && (value & OMPP_MAP_LOW || !ompp_whose_all)) return value;
    if (ompp_whose_all) {
        /* an entry with an owner and without a structure would not be asked for again */
        if (!has_structure(address) || !has_structure(address >> OMPP_MAP_TOUCH_BITS << OMPP_MAP_TOUCH_BITS))
            return __atomic_load_n(entry, __ATOMIC_ACQUIRE);
        value = __atomic_load_n(entry, __ATOMIC_ACQUIRE);
    }
    return value & ~OMPP_MAP_LOW ? value : own(entry, own(first, counter->tag) & ~OMPP_MAP_LOW);
}

/* ompp_counter_get(), which keeps no vector registers, for callers that need them. */
#if defined(__x86_64__)
ompp_counter_t *ompp_counter_get_kept(void) __attribute__((visibility("hidden")));
#else
#define ompp_counter_get_kept ompp_counter_get
#endif

static ompp_counter_t *seen(void)
{
    ompp_counter_t *counter = ompp_counter_self;

    return __builtin_expect(counter->tag != OMPP_COUNT_UNSEEN, 1) ? counter : ompp_counter_get_kept();
}

/* ---- One access -------------------------------------------------------------------------------------------------- */

/* A page that nobody has touched, or a thread that is new. */
static ompp_found_t find_slow(uintptr_t address, unsigned kind, ompp_accessor_t by)
{
    ompp_counter_t *counter = seen();
    uint32_t entry = touch(counter, address);
    const uint32_t object = whose(counter, ompp_map_in_page(entry, address), address, by);
    uint64_t at = (uint64_t)ompp_count_note(counter, object) << OMPP_INLINE_COUNT_BITS;

    ompp_count_at(counter, at)->foreign[kind] += (entry & ~OMPP_MAP_LOW) != counter->tag;
    return (ompp_found_t){counter, at};
}

static inline ompp_found_t find(uintptr_t address, unsigned kind, ompp_accessor_t by)
{
    ompp_counter_t *counter = ompp_counter_self;
    uint32_t entry = ompp_count_entry(counter, address), owner = entry & ~OMPP_MAP_LOW;
    uint64_t at = entry & OMPP_MAP_LOW;

    if (__builtin_expect(!owner, 0)) return find_slow(address, kind, by);
    if (at & OMPP_MAP_PAGE_LEADS)
        at = (uint64_t)ompp_count_note(counter, whose(counter, ompp_map_in_edge(entry, address), address, by))
             << OMPP_INLINE_COUNT_BITS;
    if (owner != counter->tag) ompp_count_at(counter, at)->foreign[kind]++;
    return (ompp_found_t){counter, at};
}

/* Who calls the function that this stands in, whose frame begins with its caller's base pointer. */
static inline ompp_accessor_t caller(const void *code, const uintptr_t *frame)
{
    return (ompp_accessor_t){(uintptr_t)code, (uintptr_t)(frame + 2), frame[0]};
}

#define CALLER caller(__builtin_return_address(0), __builtin_frame_address(0))

ompp_found_t ompp_count_find_load(uintptr_t address) { return find(address, OMPP_LOAD, CALLER); }

ompp_found_t ompp_count_find_store(uintptr_t address) { return find(address, OMPP_STORE, CALLER); }

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* Bytes from address on, within the page, that belong to the same object. */
static size_t run_length(uintptr_t address, size_t size, uint32_t entry, uint32_t object)
{
    size_t in_page = (1ul << OMPP_MAP_PAGE_BITS) - (address & ((1ul << OMPP_MAP_PAGE_BITS) - 1));
    size_t limit = size < in_page ? size : in_page, n = 1;

    if (!(entry & OMPP_MAP_PAGE_LEADS)) return limit;
    while (n < limit && ompp_map_in_edge(entry, address + n) == object) n++;
    return n;
}

void ompp_count_block(ompp_counter_t *counter, uintptr_t address, size_t size, unsigned kind)
{
    uint32_t last = UINT32_MAX;
    bool block = size > OMPP_COUNT_SCALAR;

    for (size_t n; size > 0; address += n, size -= n) {
        uint32_t entry = touch(counter, address), object = ompp_map_in_page(entry, address);
        const uint32_t structure = ompp_whose(counter, object, address, (ompp_accessor_t){.code = 0});
        uint32_t slot = ompp_count_note(counter, structure);
        ompp_count_t *c = ompp_count_at(counter, (uint64_t)slot << OMPP_INLINE_COUNT_BITS);
        n = run_length(address, size, entry, object);
        c->other_bytes[kind] += n;
        if (structure == last) continue;
        c->others[kind]++;
        counter->blocks[slot][kind] += block;
        c->foreign[kind] += (entry & ~OMPP_MAP_LOW) != counter->tag;
        last = structure;
    }
}

/* ---- For code that keeps its registers: ompp_gcc.cc -------------------------------------------------------------- */

#if defined(__x86_64__)
#define COUNTS (offsetof(ompp_counter_t, count) + offsetof(ompp_count_t, scalars)) /* in the counter */

#define FOREIGN (1ull << OMPP_INLINE_FOREIGN_BIT)

/* The counter, so many bytes further as the structure's count is from the first one. */
static inline uintptr_t at(uintptr_t address, unsigned kind, ompp_accessor_t by)
{
    ompp_found_t found = find(address, kind, by);

    return (uintptr_t)found.counter + found.at;
}

/*
 * What is usual of it keeps all registers but rax by itself, and has a result of 0 for what is not: pages that nobody
 * has touched, structures above NEAR, 16 bytes that several share.
 */
#define KEEPS __attribute__((used, no_caller_saved_registers))

static inline uintptr_t at_usual(uintptr_t address, unsigned kind)
{
    ompp_counter_t *counter = ompp_counter_self;
    uint32_t entry = ompp_count_entry(counter, address), owner = entry & ~OMPP_MAP_LOW, object;
    uint64_t at = entry & OMPP_MAP_LOW;

    if (!owner) return 0;
    if (at & OMPP_MAP_PAGE_LEADS) {
        object = ompp_map_grain(entry, address);
        if (object > OMPP_MAP_NEAR) return 0;
        at = object << OMPP_INLINE_COUNT_BITS;
    }
    if (owner != counter->tag) ompp_count_at(counter, at)->foreign[kind]++;
    return (uintptr_t)counter + at;
}

/*
 * The counts for all accesses to the page, with FOREIGN when those are to be added to the foreign ones, too; 1 more
 * when they are for the access at address alone.
 */
static inline uintptr_t turn_usual(uintptr_t address, unsigned kind)
{
    ompp_counter_t *counter = ompp_counter_self;
    uint32_t entry = ompp_count_entry(counter, address), owner = entry & ~OMPP_MAP_LOW, low = entry & OMPP_MAP_LOW;
    uintptr_t found;

    if (low & OMPP_MAP_PAGE_LEADS) return (found = at_usual(address, kind)) ? found + COUNTS + 1 : 0;
    if (!owner && counter->tag) return 0;
    return (uintptr_t)ompp_count_at(counter, low)->scalars | (owner == counter->tag ? 0 : FOREIGN);
}

static inline uintptr_t turn(uintptr_t address, unsigned kind, ompp_accessor_t by)
{
    ompp_counter_t *counter = seen();
    uint32_t entry = ompp_count_entry(counter, address);
    uintptr_t found;

    if (counter->tag && !(entry & ~OMPP_MAP_LOW)) touch(counter, address);
    found = turn_usual(address, kind);
    return found ? found : at(address, kind, by) + COUNTS + 1;
}

/* Behind CALL's rbp: that of the program, rdi, where the program goes on, 128 bytes below its stack pointer. */
static inline ompp_accessor_t accessor(const uintptr_t *saved)
{
    return (ompp_accessor_t){saved[2], (uintptr_t)(saved + 3) + 128, saved[0]};
}

#define FOUND(name, function, kind, usual)                                                        \
    __attribute__((used)) uintptr_t ompp_found_##name(uintptr_t address, const uintptr_t *saved); \
    uintptr_t ompp_found_##name(uintptr_t address, const uintptr_t *saved)                        \
    {                                                                                             \
        return function(address, kind, accessor(saved));                                          \
    }                                                                                             \
    KEEPS uintptr_t ompp_usual_##name(uintptr_t address);                                         \
    KEEPS uintptr_t ompp_usual_##name(uintptr_t address) { return usual; }

FOUND(at_load, at, OMPP_LOAD, at_usual(address, OMPP_LOAD))
FOUND(at_store, at, OMPP_STORE, at_usual(address, OMPP_STORE))
FOUND(turn_load, turn, OMPP_LOAD, turn_usual(address, OMPP_LOAD))
FOUND(turn_store, turn, OMPP_STORE, turn_usual(address, OMPP_STORE))

/* ---- Sequences of accesses: ompp_clang.cc ------------------------------------------------------------------------ */

/* Of accesses from an address on, step bytes apart, how many are on its page; per_byte is 2^20 / step, or somewhat
 * more. */
static inline uint64_t on_page(uintptr_t address, int64_t step, uint64_t number, uint32_t per_byte)
{
    const uint32_t page = 1u << OMPP_MAP_PAGE_BITS, offset = address & (page - 1);
    const uint32_t room = step < 0 ? offset : page - 1 - offset;
    const uint64_t most = ((room * (uint64_t)per_byte) >> 20) + 1;

    return most < number ? most : number;
}

/*
 * Counts them, slot bytes behind their structures' first counts. What is usual of it keeps all registers but rax.
 * \return how many are left, the last ones.
 */
static inline uint64_t run_usual(uintptr_t address, int64_t step, uint64_t number, uint64_t slot)
{
    ompp_counter_t *counter = ompp_counter_self;
    const unsigned kind = slot >= OMPP_INLINE_KIND;
    const uint64_t bytes = step < 0 ? -(uint64_t)step : (uint64_t)step;
    const bool stays = bytes == 0, far = bytes >> OMPP_MAP_PAGE_BITS;
    const uint32_t per_byte = far || number < 2 || stays ? 0 : (1u << 20) / (uint32_t)bytes + 1;

    while (number) {
        uint64_t here = stays ? number : on_page(address, step, number, per_byte), at;
        uint32_t entry = ompp_count_entry(counter, address), owner = entry & ~OMPP_MAP_LOW;
        if (!owner && counter->tag) break;
        if (entry & OMPP_MAP_PAGE_LEADS) {
            uint32_t object = ompp_map_grain(entry, address);
            if (object > OMPP_MAP_NEAR) break;
            at = (uint64_t)object << OMPP_INLINE_COUNT_BITS;
            here = stays ? number : 1;
        } else at = entry & OMPP_MAP_LOW;
        ompp_count_t *count = ompp_count_at(counter, at);
        *(uint64_t *)((char *)count->scalars + slot) += here;
        if (owner != counter->tag) count->foreign[kind] += here;
        address += here * (uint64_t)step;
        number -= here;
    }
    return number;
}

static inline void run(uintptr_t address, int64_t step, uint64_t number, uint64_t slot, uint64_t left,
                       ompp_accessor_t by)
{
    while (left) {
        address += (number - left) * (uint64_t)step;
        *(uint64_t *)(at(address, slot >= OMPP_INLINE_KIND, by) + COUNTS + slot) += 1;
        address += (uint64_t)step;
        number = left - 1;
        left = run_usual(address, step, number, slot);
    }
}

__attribute__((used)) void ompp_found_run(uintptr_t address, int64_t step, uint64_t number, uint64_t slot,
                                          uint64_t left, const uintptr_t *saved);
void ompp_found_run(uintptr_t address, int64_t step, uint64_t number, uint64_t slot, uint64_t left,
                    const uintptr_t *saved)
{
    run(address, step, number, slot, left, accessor(saved));
}

KEEPS uint64_t ompp_usual_run(uintptr_t address, int64_t step, uint64_t number, uint64_t slot);
KEEPS uint64_t ompp_usual_run(uintptr_t address, int64_t step, uint64_t number, uint64_t slot)
{
    return run_usual(address, step, number, slot);
}

/* The system saves, and so the processor has, registers that only xsave knows. */
__attribute__((used)) int ompp_found_has_xsave(void);
int ompp_found_has_xsave(void)
{
    static int has = -1; /* a virtual machine takes microseconds to say so */
    unsigned a, b, c = 0, d;

    if (__builtin_expect(has < 0, 0)) has = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE);
    return has;
}

/*
 * Code in the program jumps here: the address in rax, which becomes the result; rdx leads back, all else is kept. Its
 * function may have values in the 128 bytes below the stack pointer. What is told of the frames (.cfi) is right at each
 * instruction.
 */
#define BEGIN(name)                   \
    "    .globl " name "\n"           \
    "    .type " name ", @function\n" \
    "    .p2align 4\n" name ":\n"     \
    "    .cfi_startproc\n"            \
    "    .cfi_def_cfa rsp, 0\n"       \
    "    .cfi_register rip, rdx\n"    \
    "    leaq -128(%rsp), %rsp\n"     \
    "    .cfi_def_cfa_offset 128\n"   \
    "    pushq %rdx\n"                \
    "    .cfi_def_cfa_offset 136\n"   \
    "    .cfi_offset rip, -136\n"     \
    "    pushq %rdi\n"                \
    "    .cfi_def_cfa_offset 144\n"

/* rdi is what it was. */
#define END                         \
    "    popq %rdi\n"               \
    "    .cfi_def_cfa_offset 136\n" \
    "    popq %rdx\n"               \
    "    .cfi_def_cfa_offset 128\n" \
    "    .cfi_register rip, rdx\n"  \
    "    leaq 128(%rsp), %rsp\n"    \
    "    .cfi_def_cfa_offset 0\n"   \
    "    jmp *%rdx\n"               \
    "    .cfi_def_cfa_offset 144\n" \
    "    .cfi_offset rip, -136\n"

#define CALL(prepare, function)                               \
    "    pushq %rbp\n"                                        \
    "    .cfi_def_cfa_offset 152\n"                           \
    "    .cfi_offset rbp, -152\n"                             \
    "    movq %rsp, %rbp\n"                                   \
    "    .cfi_def_cfa_register rbp\n"                         \
    "    pushq %rcx\n"                                        \
    "    pushq %rsi\n"                                        \
    "    pushq %r8\n"                                         \
    "    pushq %r9\n"                                         \
    "    pushq %r10\n"                                        \
    "    pushq %r11\n"                                        \
    "    andq $-16, %rsp\n" prepare "    call " function "\n" \
    "    leaq -48(%rbp), %rsp\n"                              \
    "    popq %r11\n"                                         \
    "    popq %r10\n"                                         \
    "    popq %r9\n"                                          \
    "    popq %r8\n"                                          \
    "    popq %rsi\n"                                         \
    "    popq %rcx\n"                                         \
    "    popq %rbp\n"                                         \
    "    .cfi_restore rbp\n"                                  \
    "    .cfi_def_cfa rsp, 144\n"

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)
#define KEPT(name, function)                                                             \
    __asm__(".text\n" BEGIN(                                                             \
        TEXT(name)) "    movq %rax, %rdi\n"                                              \
                    "    call ompp_usual_" #function "\n"                                \
                    "    testq %rax, %rax\n"                                             \
                    "    jz 1f\n"                                                        \
                    "2:\n" END "1:\n" CALL("    movq %rbp, %rsi\n",                      \
                                           "ompp_found_" #function) "    jmp 2b\n"       \
                                                                    "    .cfi_endproc\n" \
                                                                    "    .size " TEXT(name) ", . - " TEXT(name) "\n");
KEPT(OMPP_INLINE_AT_LOAD, at_load)
KEPT(OMPP_INLINE_AT_STORE, at_store)
KEPT(OMPP_INLINE_TURN_LOAD, turn_load)
KEPT(OMPP_INLINE_TURN_STORE, turn_store)

/* The first address is in rdi, the step in rsi, the number in rax, which is lost, the slot in rcx. */
__asm__(".text\n" BEGIN(TEXT(OMPP_INLINE_RUN)) "    movq %rax, %rdx\n"
                                               "    call ompp_usual_run\n"
                                               "    testq %rax, %rax\n"
                                               "    jnz 1f\n"
                                               "2:\n" END "1:\n" CALL(
                                                   "    movq %rax, %r8\n    movq %rbp, %r9\n",
                                                   "ompp_found_run") "    jmp 2b\n"
                                                                     "    .cfi_endproc\n"
                                                                     "    .size " TEXT(OMPP_INLINE_RUN) ", . - " TEXT(
                                                                         OMPP_INLINE_RUN) "\n");

/* Rare. The area holds all that compilers put values into: up to AVX-512's registers, behind 512 + 64 bytes. */
#define KEPT_ALL(name, function)              \
    __asm__("    .hidden " name "\n"          \
            "    .globl " name "\n"           \
            "    .type " name ", @function\n" \
            "    .p2align 4\n" name ":\n"     \
            "    .cfi_startproc\n"            \
            "    pushq %rbp\n"                \
            "    .cfi_def_cfa_offset 16\n"    \
            "    .cfi_offset rbp, -16\n"      \
            "    movq %rsp, %rbp\n"           \
            "    .cfi_def_cfa_register rbp\n" \
            "    pushq %rbx\n"                \
            "    .cfi_offset rbx, -24\n"      \
            "    pushq %r12\n"                \
            "    .cfi_offset r12, -32\n"      \
            "    movq %rdi, %r12\n"           \
            "    subq $2752, %rsp\n"          \
            "    andq $-64, %rsp\n"           \
            "    call ompp_found_has_xsave\n" \
            "    movl %eax, %ebx\n"           \
            "    testl %ebx, %ebx\n"          \
            "    jz 1f\n"                     \
            "    xorl %eax, %eax\n"           \
            "    movq %rax, 512(%rsp)\n"      \
            "    movq %rax, 520(%rsp)\n"      \
            "    movq %rax, 528(%rsp)\n"      \
            "    movq %rax, 536(%rsp)\n"      \
            "    movq %rax, 544(%rsp)\n"      \
            "    movq %rax, 552(%rsp)\n"      \
            "    movq %rax, 560(%rsp)\n"      \
            "    movq %rax, 568(%rsp)\n"      \
            "    movl $0xe7, %eax\n"          \
            "    xorl %edx, %edx\n"           \
            "    xsave64 (%rsp)\n"            \
            "    jmp 2f\n"                    \
            "1:  fxsave64 (%rsp)\n"           \
            "2:  movq %r12, %rdi\n"           \
            "    call " function "\n"         \
            "    movq %rax, %r12\n"           \
            "    testl %ebx, %ebx\n"          \
            "    jz 1f\n"                     \
            "    movl $0xe7, %eax\n"          \
            "    xorl %edx, %edx\n"           \
            "    xrstor64 (%rsp)\n"           \
            "    jmp 2f\n"                    \
            "1:  fxrstor64 (%rsp)\n"          \
            "2:  movq %r12, %rax\n"           \
            "    movq -8(%rbp), %rbx\n"       \
            "    .cfi_restore rbx\n"          \
            "    movq -16(%rbp), %r12\n"      \
            "    .cfi_restore r12\n"          \
            "    leave\n"                     \
            "    .cfi_def_cfa rsp, 8\n"       \
            "    .cfi_restore rbp\n"          \
            "    ret\n"                       \
            "    .cfi_endproc\n"              \
            "    .size " name ", . - " name "\n")

KEPT_ALL("ompp_counter_get_kept", "ompp_counter_get");
KEPT_ALL("ompp_whose_paint_kept", "ompp_whose_paint");
KEPT_ALL("ompp_found_frame_kept", "ompp_found_frame");
#endif
