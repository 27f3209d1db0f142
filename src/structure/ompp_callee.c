#include "structure/ompp_callee.h"

#include <string.h>

bool ompp_callee_never_returns(const char *symbol)
{
    static const char *const names[] = {
        "abort",
        "exit",
        "_exit",
        "_Exit",
        "quick_exit",
        "longjmp",
        "siglongjmp",
        "_longjmp",
        "__longjmp_chk",
        "pthread_exit",
        "err",
        "errx",
        "__assert_fail",
        "__assert_perror_fail",
        "__assert",
        "__stack_chk_fail",
        "__chk_fail",
        "__fortify_fail",
        "_Unwind_Resume",
        "__cxa_throw",
        "__cxa_rethrow",
        "__cxa_bad_cast",
        "__cxa_bad_typeid",
        "__cxa_throw_bad_array_new_length",
        "__cxa_throw_bad_array_length",
        "__cxa_call_unexpected",
        "__cxa_call_terminate",
        "__clang_call_terminate",
        "__cxa_pure_virtual",
        "_ZSt9terminatev",
        "_gfortran_stop_string",
        "_gfortran_stop_numeric",
        "_gfortran_error_stop_string",
        "_gfortran_error_stop_numeric",
        "_gfortran_runtime_error",
        "_gfortran_runtime_error_at",
        "_gfortran_os_error",
        "_gfortran_os_error_at",
    };

    if (strncmp(symbol, "_ZSt", 4) == 0 && strstr(symbol, "__throw_")) return true; /* std::__throw_length_error(..) */
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(symbol, names[i]) == 0) return true;
    return false;
}

/* jmp *offset(%rip), with what may stand before it. \return where the address is, 0 = it is something else. */
static uint64_t slot_of(const ompp_elf_t *elf, uint64_t address)
{
    static const unsigned char endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
    unsigned char code[11];
    size_t at = 0;
    int32_t offset;

    if (!ompp_elf_read(elf, address, code, sizeof code)) return 0;
    if (memcmp(code, endbr, sizeof endbr) == 0) at += sizeof endbr;
    if (code[at] == 0xf2) at++;
    if (at > 5 || code[at] != 0xff || code[at + 1] != 0x25) return 0;
    memcpy(&offset, code + at + 2, sizeof offset);
    return address + at + 6 + (uint64_t)(int64_t)offset;
}

const char *ompp_callee_name(ompp_elf_t *elf, uint64_t address)
{
    const ompp_elf_symbol_t *symbol = ompp_elf_symbol(elf, address);

    if (symbol && symbol->low == address) return symbol->name;
    const uint64_t slot = slot_of(elf, address);
    return slot ? ompp_elf_import(elf, slot) : NULL;
}
