/*
 * Calls of functions that keep no vector registers, for callers that need them: all are saved meanwhile.
 */
#if defined(__x86_64__)
#include <cpuid.h>

/* The system saves, and so the processor has, registers that only xsave knows. The instruction that tells is slow on
 * virtual machines. */
__attribute__((used)) int ompp_found_has_xsave(void);
int ompp_found_has_xsave(void)
{
    static int has = -1; /* a virtual machine takes microseconds to say so */
    unsigned a, b, c = 0, d;

    if (__builtin_expect(has < 0, 0)) has = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE);
    return has;
}

/* Once per thread, and seldom. The area holds all that compilers put values into: up to AVX-512's registers, behind
 * 512 + 64 bytes of its own. */
__asm__("    .hidden ompp_found_kept\n"
        "    .globl ompp_found_kept\n"
        "    .type ompp_found_kept, @function\n"
        "    .p2align 4\n"
        "ompp_found_kept:\n"
        "    .cfi_startproc\n"
        "    pushq %rbp\n"
        "    .cfi_def_cfa_offset 16\n"
        "    .cfi_offset rbp, -16\n"
        "    movq %rsp, %rbp\n"
        "    .cfi_def_cfa_register rbp\n"
        "    pushq %rbx\n"
        "    .cfi_offset rbx, -24\n"
        "    pushq %rdi\n"
        "    pushq %rsi\n"
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
        "2:  movq -24(%rbp), %rdi\n"
        "    call *-16(%rbp)\n"
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
        "    .size ompp_found_kept, . - ompp_found_kept\n");
#endif
