/*
 * Where code in the program goes for what it does not count by itself: all registers are kept but two, and what is rare
 * is in ompp_found_hot.c and its neighbours.
 */
#include "hooks/ompp_feed_priv.h"

#if defined(__x86_64__)
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

/* What KNOWN, LOCAL and LINE know of the thread's feed. */
_Static_assert(offsetof(ompp_feed_t, by_line) == 5 && offsetof(ompp_feed_t, always) == 6, "kinds");
_Static_assert(offsetof(ompp_feed_t, shift) == 8, "shift");
_Static_assert(offsetof(ompp_feed_t, mask) == 12, "mask");
_Static_assert(offsetof(ompp_feed_t, last) == 16 && offsetof(ompp_fed_t, again) == 16, "last");
_Static_assert(offsetof(ompp_feed_t, structures) == 24, "structures");
_Static_assert(offsetof(ompp_feed_t, latest) == 32, "latest");
_Static_assert(offsetof(ompp_feed_t, latest[0].found) == 40 && sizeof(((ompp_feed_t *)0)->latest[0]) == 16, "latest");
#define SELF TEXT(OMPP_INLINE_SELF)
#define FEED TEXT(OMPP_INLINE_FEED)
#define LOCALS TEXT(OMPP_INLINE_LOCALS)
#define CELLS TEXT(OMPP_INLINE_CELLS)
#define COUNT TEXT(OMPP_INLINE_COUNT)

/*
 * Does what ompp_feed_known() does, for the address in rdi and the feed in rdx: jumps to 2 with the result in rax,
 * after `then`; goes on where it knows nothing.
 */
#define KNOWN(always, then)                       \
    "    pushq %rcx\n"                            \
    "    .cfi_adjust_cfa_offset 8\n"              \
    "    movl 8(%rdx), %ecx\n"                    \
    "    movq %rdi, %rax\n"                       \
    "    shrq %cl, %rax\n"                        \
    "    movl %eax, %ecx\n"                       \
    "    andl 12(%rdx), %ecx\n"                   \
    "    shlq $4, %rcx\n"                         \
    "    cmpq %rax, 32(%rdx,%rcx)\n"              \
    "    jne 6f\n"                                \
    "    cmpb $0, " #always "(%rdx)\n"            \
    "    jne 6f\n"                                \
    "    movq 40(%rdx,%rcx), %rax\n"              \
    "    movl ompp_feed_structures(%rip), %ecx\n" \
    "    cmpl %ecx, 24(%rdx)\n"                   \
    "    jne 6f\n"                                \
    "    testq %rax, %rax\n"                      \
    "    jz 6f\n"                                 \
    "    movq 16(%rdx), %rdx\n"                   \
    "    incq 16(%rdx)\n" then "    popq %rcx\n"  \
    "    .cfi_adjust_cfa_offset -8\n"             \
    "    jmp 2f\n"                                \
    "    .cfi_adjust_cfa_offset 8\n"              \
    "6:  popq %rcx\n"                             \
    "    .cfi_adjust_cfa_offset -8\n"

/* What NEARBY knows of a page's entry, as ompp_map_grain() does: whose it is, and where its accesses are counted. */
_Static_assert(OMPP_INLINE_STACK == 0x3ffff && OMPP_MAP_LOW == 0x3ffff && OMPP_MAP_SAMPLED == 0xfffc0000, "owner");
_Static_assert(OMPP_INLINE_LEADS == 0x20000 && OMPP_MAP_GRAIN_BITS == 4 && OMPP_MAP_GRAINS == 32, "leads");
_Static_assert(offsetof(ompp_counter_t, own) == 80, "own");
#define PAGES TEXT(OMPP_INLINE_PAGES)
#define MASK TEXT(OMPP_INLINE_MASK)
#define PAGE_BITS TEXT(OMPP_INLINE_PAGE_BITS)
#define EDGES TEXT(OMPP_INLINE_EDGES)
#define TABLE_BITS TEXT(OMPP_INLINE_TABLE_BITS)
#define COUNT_BITS TEXT(OMPP_INLINE_COUNT_BITS)
#define FAR TEXT(OMPP_INLINE_FAR)
#define NEAR TEXT(OMPP_INLINE_NEAR)
#define USED "96"
#define USED_WORD "2048"
_Static_assert(offsetof(ompp_counter_t, used) == 96 && offsetof(ompp_used_t, word) == 2048, "used");
_Static_assert(OMPP_MAP_GRAINS_SHARED - 1 == 0x3ffffff && sizeof *ompp_map_byte == 64 && OMPP_MAP_BYTES == 16, "bytes");
_Static_assert(OMPP_DATA_MAX == 0xfffff && sizeof(((ompp_used_t *)0)->word[0]) == 8, "used");
#define FOREIGN_load COUNT " + " TEXT(OMPP_INLINE_FOREIGN)
#define FOREIGN_store FOREIGN_load " + 8"

/*
 * A page of several structures, or another thread's, where the structure is near, or noted as used; the address in rdi,
 * the counter in rax: jumps to 2 with the result in rax, counted as foreign if it is. Goes on for all others.
 */
#define NEARBY(kind)                                             \
    "    movq %rdi, %rdx\n"                                      \
    "    shrq $" PAGE_BITS ", %rdx\n"                            \
    "    andq " MASK "(%rax), %rdx\n"                            \
    "    pushq %rcx\n"                                           \
    "    .cfi_adjust_cfa_offset 8\n"                             \
    "    pushq %rsi\n"                                           \
    "    .cfi_adjust_cfa_offset 8\n"                             \
    "    movq " PAGES "(%rax), %rcx\n"                           \
    "    movl (%rcx,%rdx,4), %edx\n"                             \
    "    movl %edx, %ecx\n"                                      \
    "    movl %edx, %esi\n"                                      \
    "    xorl 80(%rax), %esi\n"                                  \
    "    andl $0xfffc0000, %ecx\n"                               \
    "    jz 7f\n"                                                \
    "    cmpl $0xfffc0000, %ecx\n"                               \
    "    je 7f\n"                                                \
    "    testl $0x20000, %edx\n"                                 \
    "    jnz 8f\n"                                               \
    "    andl $0x1ffff, %edx\n"                                  \
    "    jmp 12f\n"                                              \
    "8:  andl $" FAR ", %edx\n"                                  \
    "    cmpl $" FAR ", %edx\n"                                  \
    "    je 10f\n"                                               \
    "    shlq $" TABLE_BITS ", %rdx\n"                           \
    "    addq " EDGES "(%rax), %rdx\n"                           \
    "    movl %edi, %ecx\n"                                      \
    "    shrl $2, %ecx\n"                                        \
    "    andl $124, %ecx\n"                                      \
    "    movl (%rdx,%rcx), %edx\n"                               \
    "    cmpl $" NEAR ", %edx\n"                                 \
    "    jbe 11f\n"                                              \
    "    testl %edx, %edx\n"                                     \
    "    jns 9f\n"                                               \
    "    andl $0x3ffffff, %edx\n"                                \
    "    shlq $6, %rdx\n"                                        \
    "    addq ompp_map_byte(%rip), %rdx\n"                       \
    "    movl %edi, %ecx\n"                                      \
    "    andl $15, %ecx\n"                                       \
    "    movl (%rdx,%rcx,4), %edx\n"                             \
    "    cmpl $" NEAR ", %edx\n"                                 \
    "    jbe 11f\n"                                              \
    "    jmp 9f\n"                                               \
    "10: movq %rdi, %rdx\n"                                      \
    "    shrq $" PAGE_BITS ", %rdx\n"                            \
    "    andq " MASK "(%rax), %rdx\n"                            \
    "    movq ompp_map_far(%rip), %rcx\n"                        \
    "    movl (%rcx,%rdx,4), %edx\n"                             \
    "9:  cmpl $0xfffff, %edx\n"                                  \
    "    jae 7f\n"                                               \
    "    movl %edx, %ecx\n"                                      \
    "    shrl $6, %ecx\n"                                        \
    "    shll $3, %ecx\n"                                        \
    "    addq " USED "(%rax), %rcx\n"                            \
    "    movq " USED_WORD "(%rcx), %rcx\n"                       \
    "    btq %rdx, %rcx\n"                                       \
    "    jnc 7f\n"                                               \
    "11: shll $" COUNT_BITS ", %edx\n"                           \
    "12: addq %rdx, %rax\n"                                      \
    "    shrl $18, %esi\n"                                       \
    "    jz 13f\n"                                               \
    "    incq " FOREIGN_##kind "(%rax)\n"                        \
                               "13: popq %rsi\n"                 \
                               "    .cfi_adjust_cfa_offset -8\n" \
                               "    popq %rcx\n"                 \
                               "    .cfi_adjust_cfa_offset -8\n" \
                               "    jmp 2f\n"                    \
                               "    .cfi_adjust_cfa_offset 16\n" \
                               "7:  popq %rsi\n"                 \
                               "    .cfi_adjust_cfa_offset -8\n" \
                               "    popq %rcx\n"                 \
                               "    .cfi_adjust_cfa_offset -8\n"

/*
 * What is most of it, the address in rdi: another thread's pages; where all data is told apart, accesses to the
 * thread's own stack; where accesses are told of, those to a line of before, and other ones.
 */
#define QUICK(kind, always)                                                               \
    "    movq " SELF "@GOTTPOFF(%rip), %rax\n"                                            \
    "    movq %fs:(%rax), %rax\n"                                                         \
    "    movq " FEED "(%rax), %rdx\n"                                                     \
    "    testq %rdx, %rdx\n"                                                              \
    "    jnz 3f\n" NEARBY(kind) "    cmpl $0, " LOCALS "(%rax)\n"                         \
                                "    je 5f\n"                                             \
                                "    call ompp_frame_at\n"                                \
                                "    jmp 4f\n"                                            \
                                "3:\n" KNOWN(always, "") "    call ompp_told_" #kind "\n" \
                                                         "4:  testq %rax, %rax\n"         \
                                                         "    jnz 2f\n"                   \
                                                         "5:\n"

/*
 * What is most of it of a local variable where accesses are told of: one to a line of before, on a page of the stack
 * that is the thread's own. Its cell tells where it is counted; the distance to that stands in front of where the
 * program goes on.
 */
#define LOCAL(always)                          \
    "    movq " SELF "@GOTTPOFF(%rip), %rax\n" \
    "    movq %fs:(%rax), %rax\n"              \
    "    movq " FEED "(%rax), %rdx\n"          \
    "    testq %rdx, %rdx\n"                   \
    "    jz 5f\n"                              \
    "    cmpb $0, " #always "(%rdx)\n"         \
    "    jne 5f\n"                             \
    "    pushq %rcx\n"                         \
    "    .cfi_adjust_cfa_offset 8\n"           \
    "    pushq %rsi\n"                         \
    "    .cfi_adjust_cfa_offset 8\n"           \
    "    movl 8(%rdx), %ecx\n"                 \
    "    movq %rdi, %rsi\n"                    \
    "    shrq %cl, %rsi\n"                     \
    "    movl %esi, %ecx\n"                    \
    "    andl 12(%rdx), %ecx\n"                \
    "    shlq $4, %rcx\n"                      \
    "    cmpq %rsi, 32(%rdx,%rcx)\n"           \
    "    jne 6f\n"                             \
    "    movq %rdi, %rcx\n"                    \
    "    shrq $" PAGE_BITS ", %rcx\n"          \
    "    andq " MASK "(%rax), %rcx\n"          \
    "    movq " PAGES "(%rax), %rsi\n"         \
    "    movl (%rsi,%rcx,4), %ecx\n"           \
    "    xorl 80(%rax), %ecx\n"                \
    "    cmpl $0x3ffff, %ecx\n"                \
    "    jne 6f\n"                             \
    "    movq 24(%rsp), %rsi\n"                \
    "    movslq -4(%rsi), %rcx\n"              \
    "    movl (%rsi,%rcx), %ecx\n"             \
    "    andl " CELLS "(%rax), %ecx\n"         \
    "    jz 6f\n"                              \
    "    addq %rcx, %rax\n"                    \
    "    movq 16(%rdx), %rdx\n"                \
    "    incq 16(%rdx)\n"                      \
    "    popq %rsi\n"                          \
    "    .cfi_adjust_cfa_offset -8\n"          \
    "    popq %rcx\n"                          \
    "    .cfi_adjust_cfa_offset -8\n"          \
    "    jmp 2f\n"                             \
    "    .cfi_adjust_cfa_offset 16\n"          \
    "6:  popq %rsi\n"                          \
    "    .cfi_adjust_cfa_offset -8\n"          \
    "    popq %rcx\n"                          \
    "    .cfi_adjust_cfa_offset -8\n"          \
    "5:\n"

/* The same of code that keeps what it finds. */
#define BASE(kind)                             \
    "    movq " SELF "@GOTTPOFF(%rip), %rax\n" \
    "    movq %fs:(%rax), %rax\n"              \
    "    cmpq $0, " FEED "(%rax)\n"            \
    "    jne 5f\n" NEARBY(kind) "5:\n"

/*
 * What is most of it where code counts in registers: the next line, where lines are told of; else an access to a line
 * of before, whose result is good for this access alone (FOR_ACCESS).
 */
_Static_assert(OMPP_INLINE_FOR_ACCESS == 0, "nothing to be added");
#define LINE(kind, always)                     \
    "    movq " SELF "@GOTTPOFF(%rip), %rax\n" \
    "    movq %fs:(%rax), %rax\n"              \
    "    movq " FEED "(%rax), %rdx\n"          \
    "    testq %rdx, %rdx\n"                   \
    "    jz 5f\n"                              \
    "    cmpb $0, 5(%rdx)\n"                   \
    "    jz 3f\n"                              \
    "    call ompp_line_" #kind "\n"           \
    "    testq %rax, %rax\n"                   \
    "    jnz 2f\n"                             \
    "    jmp 5f\n"                             \
    "3:\n" KNOWN(always, "    addq $" COUNT ", %rax\n") "5:\n"

#define KEPT(name, function, before)                                                     \
    __asm__(".text\n" BEGIN(                                                             \
        TEXT(name)) "    movq %rax, %rdi\n" before "    call ompp_usual_" #function "\n" \
                    "    testq %rax, %rax\n"                                             \
                    "    jz 1f\n"                                                        \
                    "2:\n" END "1:\n" CALL("    movq %rbp, %rsi\n",                      \
                                           "ompp_found_" #function) "    jmp 2b\n"       \
                                                                    "    .cfi_endproc\n" \
                                                                    "    .size " TEXT(name) ", . - " TEXT(name) "\n");
KEPT(OMPP_INLINE_AT_LOAD, at_load, QUICK(load, 6))
KEPT(OMPP_INLINE_AT_STORE, at_store, QUICK(store, 7))
KEPT(OMPP_INLINE_BASE_LOAD, base_load, BASE(load))
KEPT(OMPP_INLINE_BASE_STORE, base_store, BASE(store))
KEPT(OMPP_INLINE_LOCAL_LOAD, local_load, LOCAL(6))
KEPT(OMPP_INLINE_LOCAL_STORE, local_store, LOCAL(7))
KEPT(OMPP_INLINE_TURN_LOCAL_LOAD, turn_local_load, "")
KEPT(OMPP_INLINE_TURN_LOCAL_STORE, turn_local_store, "")
KEPT(OMPP_INLINE_TURN_LOAD, turn_load, LINE(load, 6))
KEPT(OMPP_INLINE_TURN_STORE, turn_store, LINE(store, 7))

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
#endif
