/* Parts of src/unwind: expressions, calls before return addresses, last instructions, damaged files; walks. */
#define _GNU_SOURCE
#include "unwind/ompp_unwind.h"
#include "unwind/ompp_unwind_priv.h"

#include "base/ompp_error.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cmocka.h>

static ompp_unwind_thread_t thread;

static uint64_t value_of(const uint8_t *bytes, ompp_walk_t *walk)
{
    uint64_t result = 0;

    assert_true(ompp_expression_evaluate(bytes, walk, NULL, ompp_walk_read, &result));
    return result;
}

static void expressions(void **state)
{
    uint64_t word = 4711, result;
    ompp_walk_t walk = {.known = 1u << OMPP_RSP | 1u << OMPP_RIP};
    /* As linkers write it for the procedure linkage table: rsp + 8 + (((rip & 15) >= 11) << 3). */
    const uint8_t plt[] = {11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};
    const uint8_t deref[] = {5, 0x77, 0x78, 0x06, 0x23, 8}, unknown[] = {2, 0x70, 0}, endless[] = {3, 0x2f, 0xfd, 0xff};
    const uint8_t few[] = {1, 0x22}, zero[] = {3, 0x31, 0x30, 0x1b};

    (void)state;
    walk.reg[OMPP_RSP] = (uintptr_t)&word + 8;
    walk.reg[OMPP_RIP] = 0x100a;
    assert_int_equal(value_of(plt, &walk), walk.reg[OMPP_RSP] + 8);
    walk.reg[OMPP_RIP] = 0x100b;
    assert_int_equal(value_of(plt, &walk), walk.reg[OMPP_RSP] + 16);
    assert_int_equal(value_of(deref, &walk), word + 8);
    assert_false(ompp_expression_evaluate(unknown, &walk, NULL, ompp_walk_read, &result));
    assert_false(ompp_expression_evaluate(endless, &walk, NULL, ompp_walk_read, &result));
    assert_false(ompp_expression_evaluate(few, &walk, NULL, ompp_walk_read, &result));
    assert_false(ompp_expression_evaluate(zero, &walk, NULL, ompp_walk_read, &result));
}

/* Code that is never run, only read. */
static ompp_image_map_t image_of(const uint8_t *code, size_t n)
{
    const uintptr_t low = (uintptr_t)code;

    return (ompp_image_map_t){.low = low, .high = low + n, .segment = {{low, low + n, 5}}, .nsegments = 1};
}

static void calls(void **state)
{
    static const uint8_t code[] = {
        0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xe8, 1,    0,    0,    0,    0x90, /* call 13 */
        0xff, 0xd0,                                                                   /* call *%rax */
        0x41, 0xff, 0x54, 0x24, 0x10,                                                 /* call *16(%r12) */
        0x90, 0xff, 0xe0, 0xe8, 0xff, 0xff, 0xff, 0x7f, 0x90, 0x90, 0x90, 0x90, 0x90,
        0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90};
    const ompp_image_map_t image = image_of(code, sizeof code);
    uintptr_t target;

    (void)state;
    assert_int_equal(ompp_code_call_before(&image, (uintptr_t)code + 12, &target), OMPP_CALL_DIRECT);
    assert_int_equal(target, (uintptr_t)code + 13);
    assert_int_equal(ompp_code_call_before(&image, (uintptr_t)code + 15, &target), OMPP_CALL_INDIRECT);
    assert_int_equal(ompp_code_call_before(&image, (uintptr_t)code + 20, &target), OMPP_CALL_INDIRECT);
    assert_int_equal(ompp_code_call_before(&image, (uintptr_t)code + 13, &target), OMPP_CALL_NONE);
    assert_int_equal(ompp_code_call_before(&image, (uintptr_t)code + 23, &target), OMPP_CALL_NONE); /* a jump */
    assert_int_equal(ompp_code_call_before(&image, (uintptr_t)code + 28, &target), OMPP_CALL_NONE); /* to no code */
    assert_int_equal(ompp_code_call_before(&image, (uintptr_t)code, &target), OMPP_CALL_NONE);
}

static void last_instructions(void **state)
{
    /* lea -40(%rbp),%rsp; pop %rbx; pop %r12; pop %rbp; ret */
    static const uint8_t by_rbp[] = {0x48, 0x8d, 0x65, 0xf0, 0x5b, 0x41, 0x5c, 0x5d, 0xc3};
    static const uint8_t by_rsp[] = {0x48, 0x83, 0xc4, 0x18, 0x5d, 0xc3}, jumps[] = {0x5d, 0xeb, 0x10, 0xc3},
                         cut[] = {0x48, 0x83};
    ompp_image_map_t image = image_of(by_rbp, sizeof by_rbp);
    ompp_recipe_t recipe;

    (void)state;
    assert_true(ompp_code_epilogue(&image, (uintptr_t)by_rbp, &recipe));
    assert_int_equal(recipe.kind, OMPP_RECIPE_RBP);
    assert_int_equal(recipe.offset, 16);
    assert_int_equal(recipe.rbp_rule, OMPP_RBP_AT_RBP);
    assert_int_equal(recipe.rbp, 0);
    image = image_of(by_rsp, sizeof by_rsp);
    assert_true(ompp_code_epilogue(&image, (uintptr_t)by_rsp, &recipe));
    assert_int_equal(recipe.kind, OMPP_RECIPE_RSP);
    assert_int_equal(recipe.offset, 40);
    assert_int_equal(recipe.rbp_rule, OMPP_RBP_AT_RSP);
    assert_int_equal(recipe.rbp, 3);
    image = image_of(jumps, sizeof jumps);
    assert_false(ompp_code_epilogue(&image, (uintptr_t)jumps, &recipe));
    image = image_of(cut, sizeof cut);
    assert_false(ompp_code_epilogue(&image, (uintptr_t)cut, &recipe));
}

static void readable(void **state)
{
    char *two = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ompp_walk_t walk = {.known = 0};
    uint64_t value;

    (void)state;
    mprotect(two + 4096, 4096, PROT_NONE);
    memset(two, 1, 4096);
    assert_true(ompp_is_readable((uintptr_t)two));
    assert_false(ompp_is_readable((uintptr_t)two + 4096));
    assert_false(ompp_is_readable(8));
    assert_true(ompp_walk_read(&walk, (uintptr_t)two + 4088, &value));
    assert_int_equal(value, 0x0101010101010101);
    assert_false(ompp_walk_read(&walk, (uintptr_t)two + 4089, &value));
    assert_false(ompp_walk_read(&walk, UINTPTR_MAX - 3, &value));
    munmap(two, 8192);
}

/* A copy of this program's unwind information with bytes changed: no row that is read from it may fault. */
static void damaged(void **state)
{
    ompp_image_map_t image, copy;
    ompp_cfi_t cfi;
    unsigned random = 1;

    (void)state;
    assert_true(ompp_image_map_find((uintptr_t)damaged, &image));
    assert_int_equal(ompp_cfi_row(&image, (uintptr_t)damaged, &cfi), OMPP_CFI_FOUND);
    const uintptr_t end = ompp_image_map_end(&image, image.eh_frame_hdr, false), low = image.eh_frame_hdr;
    const size_t bytes = end - low, page = 4096, rounded = (bytes + page - 1) / page * page;
    char *memory = mmap(NULL, rounded + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *at = memory + rounded - bytes; /* what is read beyond its end faults */
    mprotect(memory + rounded, page, PROT_NONE);
    copy = image;
    copy.eh_frame_hdr = (uintptr_t)at;
    copy.nsegments = 1;
    copy.segment[0].low = (uintptr_t)at;
    copy.segment[0].high = (uintptr_t)at + bytes;
    for (unsigned i = 0; i < 3000; i++) {
        memcpy(at, (const void *)low, bytes);
        for (unsigned k = 0; k < 1 + i % 40; k++) {
            random = random * 1103515245 + 12345;
            at[(i % 3 ? random >> 4 : random % 64) % bytes] = (char)(random >> 16);
        }
        for (unsigned k = 0; k < 8; k++)
            ompp_cfi_row(&copy, (uintptr_t)at + (random >> k) % (bytes + 64) - 0x1000 * k, &cfi);
    }
    munmap(memory, rounded + page);
}

/* ---- Walks ------------------------------------------------------------------------------------------------------- */

static ompp_unwind_frame_t frames[256];
static size_t nframes;
static uintptr_t callers[3];

static __attribute__((noinline)) void third(void)
{
    callers[0] = (uintptr_t)__builtin_return_address(0);
    nframes = ompp_unwind_here(&thread, NULL, frames, 256);
}

static __attribute__((noinline)) void second(int n)
{
    volatile char *room = __builtin_alloca((size_t)n);

    callers[1] = (uintptr_t)__builtin_return_address(0);
    room[0] = 1;
    third();
    room[1] = 2;
}

static __attribute__((noinline)) void first(void)
{
    callers[2] = (uintptr_t)__builtin_return_address(0);
    second(1000);
    __asm__ volatile("");
}

static void from_here(void **state)
{
    const int result = ompp_unwind_start();

    (void)state;
    assert_true(result == 0 || result == -OMPP_E_OPEN);
    assert_true((result == 0) == !ompp_unwind_why_simple());
    ompp_unwind_thread_begin(&thread);
    assert_true(thread.stack_low < (uintptr_t)&result && (uintptr_t)&result < thread.stack_high);
    first();
    assert_int_equal(thread.end, OMPP_UNWIND_ROOT);
    assert_true(nframes > 5);
    size_t i = 0;
    while (i < nframes && frames[i].address != callers[0]) i++;
    assert_true(i + 2 < nframes);
    assert_int_equal(frames[i + 1].address, callers[1]);
    assert_int_equal(frames[i + 2].address, callers[2]);
    for (size_t k = i; k <= i + 1; k++) assert_int_equal(frames[k].verdict, OMPP_UNWIND_VALID);
    assert_int_equal(thread.frames[OMPP_UNWIND_INVALID], 0);
    const size_t all = nframes;
    nframes = ompp_unwind_here(&thread, NULL, frames, 4);
    assert_int_equal(nframes, 4);
    assert_int_equal(thread.end, OMPP_UNWIND_TRUNCATED);
    assert_int_equal(ompp_unwind_here(&thread, NULL, frames, 0), 0);
    uint64_t made = 0;
    for (volatile int k = 0; k < 3; k++) { /* one place of the call */
        if (k == 2) made = thread.recipes;
        first();
        assert_int_equal(nframes, all);
    }
    assert_int_equal(thread.recipes, made); /* all in the cache */
}

/* ---- A path that is the same as before --------------------------------------------------------------------------- */

/* Callers that look alike: the same depth and size of their frames, and what earlier ones have left on the stack. */
static ompp_unwind_memo_t memo;
static ompp_unwind_frame_t kept[256];
static size_t nkept;
static unsigned nsame, chance = 1;

static unsigned draw(unsigned n)
{
    return (chance = chance * 1103515245 + 12345) >> 16 & 0x7fff ? (chance >> 16) % n : 0;
}

static __attribute__((noinline)) void leaf(void)
{
    const bool same = ompp_unwind_same(&memo);

    nsame += same;
    if (!same) nkept = ompp_unwind_here(&thread, &memo, kept, 256);
    assert_int_equal(ompp_unwind_here(&thread, NULL, frames, 256), nkept);
    for (size_t i = 2; i < nkept; i++) { /* but those in ompp_unwind_here() and the leaf */
        assert_int_equal(frames[i].address, kept[i].address);
        assert_int_equal(frames[i].cfa, kept[i].cfa);
    }
}

static void below(unsigned depth);

#define CALLER(name, before)                                    \
    static __attribute__((noinline)) void name(unsigned depth)  \
    {                                                           \
        before;                                                 \
        below(depth);                                           \
        __asm__ volatile("" ::: "rbx", "r12", "r13", "memory"); \
    }
CALLER(plain, (void)0)
CALLER(alike, (void)0)
CALLER(with_room, volatile char *room = __builtin_alloca(16 + 16 * draw(3)); room[0] = 1)
CALLER(alike_with_room, volatile char *room = __builtin_alloca(16 + 16 * draw(3)); room[0] = 1)
CALLER(aligned, char room[64] __attribute__((aligned(64))); __asm__ volatile("" ::"r"(room) : "memory"))

static void below(unsigned depth)
{
    static void (*const callers_of[])(unsigned) = {plain, alike, with_room, alike_with_room, aligned};

    if (depth == 0) leaf();
    else if (draw(4) == 0) below(depth - 1);
    else callers_of[draw(5)](depth - 1);
}

static void same_path(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 100000; i++) {
        const unsigned again = chance;
        for (volatile unsigned k = 0; k < 2; k++) {
            chance = again;
            below(i % 5);
        }
    }
    assert_in_range(nsame, 40000, 190000);
}

static volatile sig_atomic_t handled;

static void on_signal(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info;
    nframes = ompp_unwind_context(&thread, context, frames, 256);
    third(); /* through the frame that the system has made, and from another stack */
    handled++;
}

static void from_signals(void **state)
{
    static char other[1 << 16];
    const stack_t stack = {.ss_sp = other, .ss_size = sizeof other};
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};

    (void)state;
    action.sa_sigaction = on_signal;
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    assert_int_equal(handled, 1);
    assert_int_equal(thread.end, OMPP_UNWIND_ROOT);
    bool exact = false;
    for (size_t i = 1; i < nframes; i++) exact |= frames[i].is_exact;
    assert_true(exact);
    assert_int_equal(thread.frames[OMPP_UNWIND_INVALID], 0);
}

/* Registers that make no sense end a walk. */
static void senseless(void **state)
{
    ucontext_t context;

    (void)state;
    getcontext(&context);
    const ucontext_t good = context;
    for (long low = 0; low <= 0x1000; low += 8) { /* page 0 is that of NULL, which system calls take for none */
        context.uc_mcontext.gregs[REG_RSP] = low;
        assert_int_equal(ompp_unwind_context(&thread, &context, frames, 256), 1);
        assert_true(thread.end != OMPP_UNWIND_ROOT);
    }
    context = good;
    context.uc_mcontext.gregs[REG_RIP] = 0x1234;
    assert_int_equal(ompp_unwind_context(&thread, &context, frames, 256), 1);
    assert_int_equal(thread.end, OMPP_UNWIND_NO_CODE);
    for (unsigned e = 0; e < OMPP_UNWIND_ENDS; e++)
        assert_true(ompp_unwind_end_name(e)[0] && ompp_unwind_end_meaning(e)[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions), cmocka_unit_test(calls),        cmocka_unit_test(last_instructions),
        cmocka_unit_test(readable),    cmocka_unit_test(damaged),      cmocka_unit_test(from_here),
        cmocka_unit_test(same_path),   cmocka_unit_test(from_signals), cmocka_unit_test(senseless)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
