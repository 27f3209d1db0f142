/*
 * Accesses that the code in the program does not count by itself: to pages that are another thread's, or not one structure's alone, or
 * touched for the first time. This file uses no vector registers (its compiler is told so, see Makefile.inc.am), so that code which
 * has its values in them need not save them.
 */
#include "memory/ompp_count_priv.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* ---- Whose a page is ---------------------------------------------------------------------------------------------------- */

/* Gives an entry without an owner this one; none changes nothing. \return the entry as it is then. */
static uint32_t own(uint32_t *entry, uint32_t owner)
{
    uint32_t value = __atomic_load_n(entry, __ATOMIC_ACQUIRE);

    while (!(value & ~OMPP_MAP_LOW) && owner)
        if (__atomic_compare_exchange_n(entry, &value, value | owner, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) return value | owner;
    return value;
}

uint32_t ompp_count_touch(const ompp_counter_t *counter, uintptr_t address)
{
    uint32_t *entry = ompp_map_entry(address), *first = ompp_map_entry(address >> OMPP_MAP_TOUCH_BITS << OMPP_MAP_TOUCH_BITS);
    uint32_t value = __atomic_load_n(entry, __ATOMIC_ACQUIRE);

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

/* ---- One access --------------------------------------------------------------------------------------------------------- */

/* A page that nobody has touched, or a thread that is new. */
static ompp_found_t find_slow(uintptr_t address, unsigned kind)
{
    ompp_counter_t *counter = seen();
    uint32_t entry = ompp_count_touch(counter, address);
    uint64_t at = (uint64_t)ompp_count_note(counter, ompp_map_in_page(entry, address)) << OMPP_INLINE_COUNT_BITS;

    ompp_count_at(counter, at)->foreign[kind] += (entry & ~OMPP_MAP_LOW) != counter->tag;
    return (ompp_found_t){counter, at};
}

static inline ompp_found_t find(uintptr_t address, unsigned kind)
{
    ompp_counter_t *counter = ompp_counter_self;
    uint32_t entry = ompp_count_entry(counter, address), owner = entry & ~OMPP_MAP_LOW;
    uint64_t at = entry & OMPP_MAP_LOW;

    if (__builtin_expect(!owner, 0)) return find_slow(address, kind);
    if (at & OMPP_MAP_PAGE_LEADS)
        at = (uint64_t)ompp_count_note(counter, ompp_map_in_edge(entry, address)) << OMPP_INLINE_COUNT_BITS;
    if (owner != counter->tag) ompp_count_at(counter, at)->foreign[kind]++;
    return (ompp_found_t){counter, at};
}

ompp_found_t ompp_count_find_load(uintptr_t address)
{
    return find(address, OMPP_LOAD);
}

ompp_found_t ompp_count_find_store(uintptr_t address)
{
    return find(address, OMPP_STORE);
}

/* ---- For code that keeps its registers: ompp_gcc.cc ---------------------------------------------------------------------- */

#if defined(__x86_64__)
#define COUNTS (offsetof(ompp_counter_t, count) + offsetof(ompp_count_t, scalars)) /* in the counter */

#define FOREIGN (1ull << OMPP_INLINE_FOREIGN_BIT)

/* The counter, so many bytes further as the structure's count is from the first one. */
static inline uintptr_t at(uintptr_t address, unsigned kind)
{
    ompp_found_t found = find(address, kind);

    return (uintptr_t)found.counter + found.at;
}

/*
 * What is usual of it keeps all registers but rax by itself, and has a result of 0 for what is not: pages that nobody has touched,
 * structures above NEAR, 16 bytes that several share.
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
 * The counts for all accesses to the page, with FOREIGN when those are to be added to the foreign ones, too; 1 more when they are for the
 * access at address alone.
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

static inline uintptr_t turn(uintptr_t address, unsigned kind)
{
    ompp_counter_t *counter = seen();
    uint32_t entry = ompp_count_entry(counter, address);
    uintptr_t found;

    if (counter->tag && !(entry & ~OMPP_MAP_LOW)) ompp_count_touch(counter, address);
    found = turn_usual(address, kind);
    return found ? found : at(address, kind) + COUNTS + 1;
}

#define FOUND(name, function, kind, usual)                                                                             \
    __attribute__((used)) uintptr_t ompp_found_##name(uintptr_t address);                                              \
    uintptr_t ompp_found_##name(uintptr_t address)                                                                     \
    {                                                                                                                  \
        return function(address, kind);                                                                                \
    }                                                                                                                  \
    KEEPS uintptr_t ompp_usual_##name(uintptr_t address);                                                              \
    KEEPS uintptr_t ompp_usual_##name(uintptr_t address)                                                               \
    {                                                                                                                  \
        return usual;                                                                                                  \
    }

FOUND(at_load, at, OMPP_LOAD, at_usual(address, OMPP_LOAD))
FOUND(at_store, at, OMPP_STORE, at_usual(address, OMPP_STORE))
FOUND(turn_load, turn, OMPP_LOAD, turn_usual(address, OMPP_LOAD))
FOUND(turn_store, turn, OMPP_STORE, turn_usual(address, OMPP_STORE))

/* The system saves, and so the processor has, registers that only xsave knows. */
__attribute__((used)) int ompp_found_has_xsave(void);
int ompp_found_has_xsave(void)
{
    unsigned a, b, c = 0, d;

    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE);
}

/*
 * Code in the program jumps here: the address in rax, which becomes the result; rdx leads back, all else is kept. Its function may
 * have values in the 128 bytes below the stack pointer. What is told of the frames (.cfi) is right at each instruction.
 */
__asm__(".macro ompp_kept name, usual, function\n"
        "    .globl \\name\n"
        "    .type \\name, @function\n"
        "    .p2align 4\n"
        "\\name:\n"
        "    .cfi_startproc\n"
        "    .cfi_def_cfa rsp, 0\n"
        "    .cfi_register rip, rdx\n"
        "    leaq -128(%rsp), %rsp\n"
        "    .cfi_def_cfa_offset 128\n"
        "    pushq %rdx\n"
        "    .cfi_def_cfa_offset 136\n"
        "    .cfi_offset rip, -136\n"
        "    pushq %rdi\n"
        "    .cfi_def_cfa_offset 144\n"
        "    movq %rax, %rdi\n"
        "    call \\usual\n"
        "    testq %rax, %rax\n"
        "    jz 1f\n"
        "2:  popq %rdi\n"
        "    .cfi_def_cfa_offset 136\n"
        "    popq %rdx\n"
        "    .cfi_def_cfa_offset 128\n"
        "    .cfi_register rip, rdx\n"
        "    leaq 128(%rsp), %rsp\n"
        "    .cfi_def_cfa_offset 0\n"
        "    jmp *%rdx\n"
        "1:  .cfi_def_cfa_offset 144\n"
        "    .cfi_offset rip, -136\n"
        "    pushq %rbp\n"
        "    .cfi_def_cfa_offset 152\n"
        "    .cfi_offset rbp, -152\n"
        "    movq %rsp, %rbp\n"
        "    .cfi_def_cfa_register rbp\n"
        "    pushq %rcx\n"
        "    pushq %rsi\n"
        "    pushq %r8\n"
        "    pushq %r9\n"
        "    pushq %r10\n"
        "    pushq %r11\n"
        "    andq $-16, %rsp\n"
        "    call \\function\n"
        "    leaq -48(%rbp), %rsp\n"
        "    popq %r11\n"
        "    popq %r10\n"
        "    popq %r9\n"
        "    popq %r8\n"
        "    popq %rsi\n"
        "    popq %rcx\n"
        "    popq %rbp\n"
        "    .cfi_restore rbp\n"
        "    .cfi_def_cfa rsp, 144\n"
        "    jmp 2b\n"
        "    .cfi_endproc\n"
        "    .size \\name, . - \\name\n"
        ".endm\n"
        ".text\n");
#define TEXT_OF(name) #name
#define KEPT(name, function) __asm__("ompp_kept " TEXT_OF(name) ", ompp_usual_" #function ", ompp_found_" #function);
KEPT(OMPP_INLINE_AT_LOAD, at_load)
KEPT(OMPP_INLINE_AT_STORE, at_store)
KEPT(OMPP_INLINE_TURN_LOAD, turn_load)
KEPT(OMPP_INLINE_TURN_STORE, turn_store)

/* Once per thread. The area holds all that compilers put values into: up to AVX-512's registers, behind 512 + 64 bytes of its own. */
__asm__("    .hidden ompp_counter_get_kept\n"
        "    .globl ompp_counter_get_kept\n"
        "    .type ompp_counter_get_kept, @function\n"
        "    .p2align 4\n"
        "ompp_counter_get_kept:\n"
        "    .cfi_startproc\n"
        "    pushq %rbp\n"
        "    .cfi_def_cfa_offset 16\n"
        "    .cfi_offset rbp, -16\n"
        "    movq %rsp, %rbp\n"
        "    .cfi_def_cfa_register rbp\n"
        "    pushq %rbx\n"
        "    .cfi_offset rbx, -24\n"
        "    subq $2760, %rsp\n"
        "    andq $-64, %rsp\n"
        "    call ompp_found_has_xsave\n"
        "    movl %eax, %ebx\n"
        "    testl %ebx, %ebx\n"
        "    jz 1f\n"
        "    xorl %eax, %eax\n"
        "    movq %rax, 512(%rsp)\n"
        "    movq %rax, 520(%rsp)\n"
        "    movq %rax, 528(%rsp)\n"
        "    movq %rax, 536(%rsp)\n"
        "    movq %rax, 544(%rsp)\n"
        "    movq %rax, 552(%rsp)\n"
        "    movq %rax, 560(%rsp)\n"
        "    movq %rax, 568(%rsp)\n"
        "    movl $0xe7, %eax\n"
        "    xorl %edx, %edx\n"
        "    xsave64 (%rsp)\n"
        "    jmp 2f\n"
        "1:  fxsave64 (%rsp)\n"
        "2:  call ompp_counter_get\n"
        "    movq %rax, %rcx\n"
        "    testl %ebx, %ebx\n"
        "    jz 1f\n"
        "    movl $0xe7, %eax\n"
        "    xorl %edx, %edx\n"
        "    xrstor64 (%rsp)\n"
        "    jmp 2f\n"
        "1:  fxrstor64 (%rsp)\n"
        "2:  movq %rcx, %rax\n"
        "    movq -8(%rbp), %rbx\n"
        "    .cfi_restore rbx\n"
        "    leave\n"
        "    .cfi_def_cfa rsp, 8\n"
        "    .cfi_restore rbp\n"
        "    ret\n"
        "    .cfi_endproc\n"
        "    .size ompp_counter_get_kept, . - ompp_counter_get_kept\n");
#endif
