/*
 * Hooks that count where they stand. The build runs this through the C preprocessor (memory-hooks.s), and kinst-ompp --memory has the GNU
 * assembler read it before what gcc, g++ or gfortran has made of a source: there, calls of hooks become what ompp_count() does. To the
 * compiler they are calls: the registers used here are its to lose. Other calls stay what they are; callq is no name of a macro.
 */
#include "data/ompp_map_layout.h"

    .macro ompp_count slot, find
    movq OMPP_INLINE_SELF@GOTTPOFF(%rip), %rax
    movq %rdi, %rdx
    movq %fs:(%rax), %rax
    shrq $OMPP_INLINE_PAGE_BITS, %rdx
    movq OMPP_INLINE_PAGES(%rax), %rcx
    andq OMPP_INLINE_MASK(%rax), %rdx
    movl (%rcx,%rdx,4), %edx
    xorl OMPP_INLINE_TAG(%rax), %edx
    cmpl $(OMPP_INLINE_LEADS - 1), %edx
    jbe .Lompp_found\@
    callq \find
.Lompp_found\@:
    incq OMPP_INLINE_COUNT + \slot(%rax,%rdx)
    .endm

    /* Ends the macro that it stands in when that is about a call of this function. */
#define INLINE(function, ...)                                                                                                        \
    .ifc \target,function;                                                                                                           \
    __VA_ARGS__;                                                                                                                     \
    .exitm;                                                                                                                          \
    .endif;

    /* With position-independent code, without, and with -fno-plt. */
#define EACH(function, ...)                                                                                                          \
    INLINE(function@PLT, __VA_ARGS__)                                                                                                \
    INLINE(function, __VA_ARGS__)                                                                                                    \
    INLINE(*function@GOTPCREL(%rip), __VA_ARGS__)

#define SIZE(bytes, log2)                                                                                                            \
    EACH(__tsan_read##bytes, ompp_count 8*log2, OMPP_INLINE_LOAD@PLT)                                                               \
    EACH(__tsan_write##bytes, ompp_count OMPP_INLINE_KIND+8*log2, OMPP_INLINE_STORE@PLT)

    .macro call target:vararg
    SIZE(8, 3)
    SIZE(4, 2)
    SIZE(1, 0)
    SIZE(2, 1)
    SIZE(16, 4)
    EACH(__tsan_func_entry,)
    EACH(__tsan_func_exit,)
    callq \target
    .endm
