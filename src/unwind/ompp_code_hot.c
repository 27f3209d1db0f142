/*
 * What the bytes of the code say without decoding all of it: the call before a return address, stubs, the end of a
 * procedure, jumps to other procedures.
 */
#include "unwind/ompp_unwind_priv.h"

#include "base/ompp_hash.h"

#include <elf.h>
#include <stdatomic.h>

static int32_t number_at(const uint8_t *at)
{
    int32_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

/* Code from an address on: how many bytes can be read. */
static size_t code_bytes(const ompp_image_map_t *image, uintptr_t address)
{
    const uintptr_t end = ompp_image_map_end(image, address, true);

    return end ? end - address : 0;
}

bool ompp_code_is_sigreturn(const ompp_image_map_t *image, uintptr_t address)
{
    static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}; /* mov $15, %rax; syscall */

    return code_bytes(image, address) >= sizeof code && memcmp((const void *)address, code, sizeof code) == 0;
}

/* ---- Stubs ------------------------------------------------------------------------------------------------------- */

static size_t endbr(const uint8_t *code)
{
    return code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa ? 4 : 0;
}

/* A stub whose address is not bound yet jumps to code that pushes its number. */
static bool is_unbound(const ompp_image_map_t *image, uintptr_t to)
{
    const uint8_t *code = (const uint8_t *)to;

    return code_bytes(image, to) >= 16 && code[endbr(code)] == 0x68;
}

static uintptr_t behind_one(uintptr_t address)
{
    ompp_image_map_t image;

    if (!ompp_image_map_find(address, &image) || code_bytes(&image, address) < 16) return address;
    const uint8_t *code = (const uint8_t *)address;
    code += endbr(code);
    if (*code == 0xe9) return (uintptr_t)code + 5 + (uintptr_t)(intptr_t)number_at(code + 1);
    if (*code == 0xf2) code++;
    if (code[0] != 0xff || code[1] != 0x25) return address;
    const uintptr_t slot = (uintptr_t)code + 6 + (uintptr_t)(intptr_t)number_at(code + 2);
    const uintptr_t end = ompp_image_map_end(&image, slot, false);
    if (!end || end - slot < 8) return address;
    uint64_t to;
    memcpy(&to, (const void *)slot, sizeof to);
    return to && !is_unbound(&image, to) ? to : address;
}

uintptr_t ompp_code_behind_stub(uintptr_t address)
{
    for (int i = 0; i < 4; i++) {
        const uintptr_t next = behind_one(address);
        if (next == address) break;
        address = next;
    }
    return address;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

/* Bytes of an operand in a register or in memory, that one included which tells its kind. */
static unsigned operand_length(uint8_t modrm, uint8_t sib)
{
    const unsigned mode = modrm >> 6, base = modrm & 7;

    if (mode == 3) return 1;
    if (mode == 1) return base == 4 ? 3 : 2;
    if (mode == 2) return base == 4 ? 6 : 5;
    if (base == 5) return 5;
    return base == 4 ? ((sib & 7) == 5 ? 6 : 2) : 1;
}

/* Bytes of "call *..." whose second byte is this one. */
static unsigned indirect_length(uint8_t modrm, uint8_t sib)
{
    return (modrm >> 3 & 7) == 2 ? 1 + operand_length(modrm, sib) : 0;
}

ompp_call_t ompp_code_call_before(const ompp_image_map_t *image, uintptr_t address, uintptr_t *target)
{
    static const uint8_t lengths[] = {2, 3, 4, 6, 7};
    const uint8_t *code = (const uint8_t *)address;
    bool is_indirect = false;

    *target = 0;
    if (!code_bytes(image, address - 1) || !code_bytes(image, address - 7)) return OMPP_CALL_NONE;
    for (size_t i = 0; i < sizeof lengths && !is_indirect; i++) {
        const uint8_t *at = code - lengths[i];
        if (*at != 0xff || indirect_length(at[1], lengths[i] > 2 ? at[2] : 0) != lengths[i]) continue;
        is_indirect = true;
        const uintptr_t slot = address + (uintptr_t)(intptr_t)number_at(code - 4),
                        end = ompp_image_map_end(image, slot, false);
        if (at[1] == 0x15 && end && end - slot >= 8) memcpy(target, (const void *)slot, sizeof *target);
    }
    const uintptr_t direct = address + (uintptr_t)(intptr_t)number_at(code - 4);
    if (code[-5] == 0xe8 && code_bytes(image, direct)) {
        *target = ompp_code_behind_stub(direct);
        return is_indirect ? OMPP_CALL_INDIRECT : OMPP_CALL_DIRECT;
    }
    if (*target) *target = ompp_code_behind_stub(*target);
    return is_indirect ? OMPP_CALL_INDIRECT : OMPP_CALL_NONE;
}

/* ---- The last instructions --------------------------------------------------------------------------------------- */

#define EPILOGUE 16u /* instructions */

typedef struct {
    const uint8_t *at, *end;
    bool by_rbp, rbp_is_lost; /* the stack pointer is relative to rbp; rbp has been loaded */
    int64_t offset;           /* of the stack pointer */
    ompp_recipe_t recipe;
} tail_t;

static bool tail_pop(tail_t *t, bool is_rbp)
{
    if (is_rbp) {
        t->recipe.rbp_rule = t->by_rbp ? OMPP_RBP_AT_RBP : OMPP_RBP_AT_RSP;
        t->recipe.rbp = (int16_t)(t->offset / 8);
        if (t->offset % 8 || t->offset / 8 != t->recipe.rbp) return false;
        t->rbp_is_lost = true;
    }
    t->offset += 8;
    return true;
}

static bool tail_from_rbp(tail_t *t, int64_t offset)
{
    t->by_rbp = true;
    t->offset = offset;
    return !t->rbp_is_lost;
}

/* One instruction. \return its bytes; 0: none that belongs here, -1: it returns. */
static int tail_step(tail_t *t)
{
    const uint8_t *c = t->at;
    const size_t room = (size_t)(t->end - c);

    if (c[0] == 0xc3 || ((c[0] == 0xf3 || c[0] == 0xf2) && room > 1 && c[1] == 0xc3)) return -1;
    if (c[0] >= 0x58 && c[0] <= 0x5f && c[0] != 0x5c) return tail_pop(t, c[0] == 0x5d) ? 1 : 0;
    if (c[0] == 0xc9) return tail_from_rbp(t, 0) && tail_pop(t, true) ? 1 : 0;
    if (room < 3) return 0;
    if (c[0] == 0x41 && c[1] >= 0x58 && c[1] <= 0x5f) return tail_pop(t, false) ? 2 : 0;
    if (c[0] == 0xc5 && c[1] == 0xf8 && c[2] == 0x77) return 3; /* vzeroupper */
    if (c[0] != 0x48) return 0;
    if (c[1] == 0x89 && c[2] == 0xec) return tail_from_rbp(t, 0) ? 3 : 0;
    if (room < 4) return 0;
    if (c[1] == 0x83 && c[2] == 0xc4) return t->offset += (int8_t)c[3], 4;
    if (c[1] == 0x8d && c[2] == 0x65) return tail_from_rbp(t, (int8_t)c[3]) ? 4 : 0;
    if (room < 7) return 0;
    if (c[1] == 0x81 && c[2] == 0xc4) return t->offset += number_at(c + 3), 7;
    if (c[1] == 0x8d && c[2] == 0xa5) return tail_from_rbp(t, number_at(c + 3)) ? 7 : 0;
    return 0;
}

bool ompp_code_epilogue(const ompp_image_map_t *image, uintptr_t address, ompp_recipe_t *recipe)
{
    tail_t t = {.at = (const uint8_t *)address, .recipe = {.rbp_rule = OMPP_RBP_SAME}};

    t.end = t.at + code_bytes(image, address);
    for (unsigned i = 0; i < EPILOGUE && t.at < t.end; i++) {
        const int bytes = tail_step(&t);
        if (bytes == 0) return false;
        if (bytes < 0) {
            t.recipe.kind = t.by_rbp ? OMPP_RECIPE_RBP : OMPP_RECIPE_RSP;
            t.recipe.offset = (int32_t)t.offset + 8;
            t.recipe.is_settled = true;
            *recipe = t.recipe;
            return true;
        }
        t.at += bytes;
    }
    return false;
}

/* ---- Jumps to other procedures ----------------------------------------------------------------------------------- */

#define PAIRS_BITS 10u
#define DEPTH 3u                   /* jumps from one procedure to the next */
#define BUDGET ((size_t)256 << 10) /* bytes to look at for one pair */

static _Atomic uint64_t
    pairs[1u << PAIRS_BITS]; /* hash of return address and procedure, with the verdict in its last bits */

typedef struct {
    uintptr_t low, high; /* the callee */
    size_t budget;
} search_t;

/* Does the procedure around an address jump there? Bytes that look like a jump count as one: a call is refuted only
 * where there is none. */
static bool jumps_to(search_t *search, uintptr_t address, unsigned depth)
{
    ompp_image_map_t image;
    uintptr_t low, high;

    if (!ompp_image_map_find(address, &image) || !ompp_cfi_procedure(&image, address, &low, &high)) return true;
    if (!code_bytes(&image, low) || code_bytes(&image, low) < high - low) return true;
    if (low <= search->low && search->low < high) return true;
    for (const uint8_t *at = (const uint8_t *)low; (uintptr_t)at + 2 <= high; at++) {
        if (!search->budget--) return search->budget = 0, true;
        const uintptr_t room = high - (uintptr_t)at;
        uintptr_t to;
        if (at[0] == 0xeb) to = (uintptr_t)at + 2 + (uintptr_t)(intptr_t)(int8_t)at[1];
        else if (at[0] == 0xe9 && room >= 5) to = (uintptr_t)at + 5 + (uintptr_t)(intptr_t)number_at(at + 1);
        else if (at[0] == 0x0f && (at[1] & 0xf0) == 0x80 && room >= 6)
            to = (uintptr_t)at + 6 + (uintptr_t)(intptr_t)number_at(at + 2);
        else if (at[0] == 0xff && (at[1] >> 3 & 7) == 4) return true;
        else continue;
        if (to >= search->low && to < search->high) return true;
        if ((to >= low && to < high) || !code_bytes(&image, to) || at[0] == 0xeb) continue;
        to = ompp_code_behind_stub(to);
        if ((to >= search->low && to < search->high) || (depth && jumps_to(search, to, depth - 1))) return true;
    }
    return false;
}

/* Is this the dynamic linker's function that binds the stubs of a file? */
static bool is_resolver(const ompp_image_map_t *image, const search_t *callee)
{
    const uintptr_t end = image->dynamic ? ompp_image_map_end(image, image->dynamic, false) : 0;
    uint64_t pair[2], resolver;

    for (uintptr_t at = image->dynamic; at + sizeof pair <= end; at += sizeof pair) {
        memcpy(pair, (const void *)at, sizeof pair);
        if (pair[0] == DT_NULL) break;
        if (pair[0] != DT_PLTGOT) continue;
        const uintptr_t got = pair[1] >= image->low ? pair[1] : image->base + pair[1];
        const uintptr_t got_end = ompp_image_map_end(image, got, false);
        if (!got_end || got_end - got < 24) break;
        memcpy(&resolver, (const void *)(got + 16), sizeof resolver);
        return resolver >= callee->low && resolver < callee->high;
    }
    return false;
}

static ompp_unwind_verdict_t reaches_slow(uintptr_t caller, uintptr_t target, uintptr_t start)
{
    const uintptr_t called = caller + (uintptr_t)(intptr_t)number_at((const uint8_t *)caller - 4);
    search_t search = {.budget = BUDGET};
    ompp_image_map_t image;
    uintptr_t low, high;

    if (!ompp_image_map_find(start, &image) || !ompp_cfi_procedure(&image, start, &search.low, &search.high))
        return OMPP_UNWIND_LIKELY;
    target = ompp_code_behind_stub(target);
    if ((target >= search.low && target < search.high) || (called >= search.low && called < search.high))
        return OMPP_UNWIND_VALID;
    if (!ompp_image_map_find(target, &image) || !ompp_cfi_procedure(&image, target, &low, &high))
        return OMPP_UNWIND_LIKELY;
    if (jumps_to(&search, target, DEPTH)) return OMPP_UNWIND_LIKELY;
    return ompp_image_map_find(called, &image) && is_resolver(&image, &search) ? OMPP_UNWIND_LIKELY
                                                                               : OMPP_UNWIND_INVALID;
}

static uint64_t hash_of_pair(uintptr_t a, uintptr_t b)
{
    return ompp_hash_join(ompp_hash_join(atomic_load_explicit(&ompp_unwind_generation, memory_order_relaxed), a), b);
}

ompp_unwind_verdict_t ompp_code_reaches(uintptr_t caller, uintptr_t target, uintptr_t start)
{
    const uint64_t hash = hash_of_pair(caller, start);
    _Atomic uint64_t *pair = &pairs[ompp_hash_place(hash, PAIRS_BITS)];
    const uint64_t known = atomic_load_explicit(pair, memory_order_relaxed);

    if (known && (known ^ hash) < 4) return (known ^ hash) & 3;
    const ompp_unwind_verdict_t verdict = reaches_slow(caller, target, start);
    atomic_store_explicit(pair, hash ^ verdict, memory_order_relaxed);
    return verdict;
}

/* ---- What is called next ----------------------------------------------------------------------------------------- */

#define BETWEEN 64u    /* instructions */
#define LONGEST 16     /* bytes of one, and one more */
#define MAX_PREFIXES 4 /* of one */

/* Bytes of an instruction that only loads, clears or spills a register, or gives stack back. 0 = another one. */
static size_t idle_length(const uint8_t *at)
{
    tail_t tail = {.at = at, .end = at + LONGEST};
    const int bytes = tail_step(&tail);
    const uint8_t *c = at;

    if (bytes) return bytes > 0 ? (size_t)bytes : 0;
    while (c < at + MAX_PREFIXES && (*c == 0x66 || *c == 0xf2 || *c == 0xf3 || *c == 0x2e)) c++;
    if ((*c & 0xf0) == 0x40) c++;
    const bool two = *c == 0x0f;
    c += two;
    switch (two << 8 | *c++) {
    case 0x90: return (size_t)(c - at);
    case 0x89:
    case 0x111:
    case 0x129: /* to a register, or to the stack */
        if (*c >> 6 != 3 && ((*c & 7) != 4 || c[1] != 0x24)) return 0;
        return (size_t)(c - at) + operand_length(c[0], c[1]);
    case 0x31:
    case 0x33:
    case 0x157:
    case 0x1ef: /* between registers only */
        if (*c >> 6 != 3) return 0;
        /* fall through */
    case 0x63:
    case 0x8b:
    case 0x8d:
    case 0x110:
    case 0x112:
    case 0x116:
    case 0x11f:
    case 0x128:
    case 0x16f:
    case 0x1b6:
    case 0x1b7:
    case 0x1be:
    case 0x1bf: return (size_t)(c - at) + operand_length(c[0], c[1]);
    default: return 0;
    }
}

/* Bytes of a comparison, of whatever. 0 = none. */
static size_t compare_length(const uint8_t *at)
{
    const uint8_t *c = at + (at[0] == 0x66);

    c += (*c & 0xf0) == 0x40;
    const unsigned reg = c[1] >> 3 & 7;
    const size_t bytes = (size_t)(c - at) + 1, operand = operand_length(c[1], c[2]);
    switch (*c) {
    case 0x38:
    case 0x39:
    case 0x3a:
    case 0x3b:
    case 0x84:
    case 0x85: return bytes + operand;
    case 0x3c:
    case 0xa8: return bytes + 1;
    case 0x80:
    case 0x83: return reg == 7 ? bytes + operand + 1 : 0;
    case 0xf6: return reg == 0 ? bytes + operand + 1 : 0;
    default: return 0;
    }
}

/* What is behind a call that has given back false in %al. */
typedef struct {
    const ompp_image_map_t *image;
    uintptr_t callee; /* who is to be called next */
    unsigned budget;  /* instructions */
} next_t;

/* What the flags tell. */
typedef enum { NOTHING, ZERO_IF_FALSE, ZERO_IF_TRUE } told_t;

/* Do all ways from here lead to that call? unknown: the result has not decided yet. */
static bool leads_there(next_t *n, const uint8_t *at, bool unknown)
{
    told_t told = NOTHING;
    size_t bytes;

    for (; n->budget && code_bytes(n->image, (uintptr_t)at) >= LONGEST; n->budget--, at += bytes) {
        const bool is_long = at[0] == 0x0f && (at[1] & 0xf0) == 0x80;
        const size_t call = at[0] == 0xe8                                                          ? 5
                            : (at[0] == 0x67 && at[1] == 0xe8) || (at[0] == 0xff && at[1] == 0x15) ? 6
                                                                                                   : 0;
        if (call) {
            uintptr_t target;
            ompp_code_call_before(n->image, (uintptr_t)at + call, &target);
            return target == n->callee;
        }
        if (ompp_code_behind_stub((uintptr_t)at) == n->callee) return true;
        if (is_long || (at[0] & 0xf0) == 0x70) {
            const uint8_t *behind = at + (is_long ? 6 : 2);
            const uint8_t *target = behind + (is_long ? number_at(at + 2) : (int8_t)at[1]);
            const unsigned condition = (is_long ? at[1] : at[0]) & 15; /* 4: zero, 5: not */
            if (told == NOTHING || condition >> 1 != 2) {
                if (!leads_there(n, target, unknown)) return false;
                at = behind;
            } else {
                at = (condition == 4) == (told == ZERO_IF_FALSE) ? target : behind;
                unknown = false;
            }
            told = NOTHING;
            bytes = 0;
        } else if (at[0] == 0xeb || at[0] == 0xe9) {
            at += at[0] == 0xeb ? 2 + (int8_t)at[1] : 5 + number_at(at + 1);
            bytes = 0;
        } else if ((bytes = compare_length(at))) {
            const bool test = at[0] == 0x84 && at[1] == 0xc0, compare = at[0] == 0x3c && at[1] <= 1;
            told = !unknown || !(test || compare) ? NOTHING : test || at[1] == 0 ? ZERO_IF_FALSE : ZERO_IF_TRUE;
        } else if (!(bytes = idle_length(at))) {
            break;
        }
    }
    return false;
}

static bool calls_next(uintptr_t back, uintptr_t callee)
{
    ompp_image_map_t image;
    next_t next = {&image, callee, BETWEEN};

    return ompp_image_map_find(back, &image) && leads_there(&next, (const uint8_t *)back, true);
}

bool ompp_unwind_calls_next(uintptr_t back, uintptr_t callee)
{
    enum { NO = 1, YES = 2 };
    const uint64_t hash = hash_of_pair(back, callee);
    _Atomic uint64_t *pair = &pairs[ompp_hash_place(hash, PAIRS_BITS)];
    const uint64_t known = atomic_load_explicit(pair, memory_order_relaxed);

    if (known && (known ^ hash) < 4) return (known ^ hash) == YES;
    const bool does = calls_next(back, callee);
    atomic_store_explicit(pair, hash ^ (does ? YES : NO), memory_order_relaxed);
    return does;
}
