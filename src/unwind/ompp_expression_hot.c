/*
 * Expressions of DWARF in unwind information (DWARF 5, section 2.5; those that section 6.4.2 permits there).
 */
#include "unwind/ompp_reader_priv.h"
#include "unwind/ompp_unwind_priv.h"

enum {
    OP_ADDR = 0x03,
    OP_DEREF = 0x06,
    OP_CONST1U = 0x08,
    OP_CONST1S,
    OP_CONST2U,
    OP_CONST2S,
    OP_CONST4U,
    OP_CONST4S,
    OP_CONST8U,
    OP_CONST8S,
    OP_CONSTU,
    OP_CONSTS,
    OP_DUP,
    OP_DROP,
    OP_OVER,
    OP_PICK,
    OP_SWAP,
    OP_ROT,
    OP_ABS = 0x19,
    OP_AND,
    OP_DIV,
    OP_MINUS,
    OP_MOD,
    OP_MUL,
    OP_NEG,
    OP_NOT,
    OP_OR,
    OP_PLUS,
    OP_PLUS_UCONST,
    OP_SHL,
    OP_SHR,
    OP_SHRA,
    OP_XOR,
    OP_BRA,
    OP_EQ,
    OP_GE,
    OP_GT,
    OP_LE,
    OP_LT,
    OP_NE,
    OP_SKIP,
    OP_LIT0 = 0x30,
    OP_REG0 = 0x50,
    OP_BREG0 = 0x70,
    OP_BREGX = 0x92,
    OP_DEREF_SIZE = 0x94,
    OP_NOP = 0x96
};

#define DEPTH 32u
#define OPERATIONS 1000u /* an expression may jump back */

/* Two operands, the second on top. \return false: none of these, or division by 0. */
static bool compute(unsigned op, uint64_t a, uint64_t b, uint64_t *result)
{
    const int64_t x = (int64_t)a, y = (int64_t)b;

    switch (op) {
    case OP_AND: *result = a & b; return true;
    case OP_MINUS: *result = a - b; return true;
    case OP_MUL: *result = a * b; return true;
    case OP_OR: *result = a | b; return true;
    case OP_PLUS: *result = a + b; return true;
    case OP_SHL: *result = b < 64 ? a << b : 0; return true;
    case OP_SHR: *result = b < 64 ? a >> b : 0; return true;
    case OP_SHRA: *result = (uint64_t)(x >> (b < 64 ? b : 63)); return true;
    case OP_XOR: *result = a ^ b; return true;
    case OP_EQ: *result = x == y; return true;
    case OP_GE: *result = x >= y; return true;
    case OP_GT: *result = x > y; return true;
    case OP_LE: *result = x <= y; return true;
    case OP_LT: *result = x < y; return true;
    case OP_NE: *result = x != y; return true;
    case OP_DIV:
        if (y == 0 || (y == -1 && x == INT64_MIN)) return false;
        *result = (uint64_t)(x / y);
        return true;
    case OP_MOD:
        if (b == 0) return false;
        *result = a % b;
        return true;
    default: return false;
    }
}

/* What an operation pushes by itself. \return false: none of these. */
static bool literal(unsigned op, ompp_reader_t *r, const ompp_walk_t *walk, uint64_t *value)
{
    unsigned reg = op - OP_BREG0;

    if (op >= OP_LIT0 && op < OP_REG0) return *value = op - OP_LIT0, true;
    if (op == OP_BREGX) reg = (unsigned)ompp_read_uleb(r);
    if ((op >= OP_BREG0 && op < OP_BREG0 + 32) || op == OP_BREGX) {
        const int64_t offset = ompp_read_sleb(r);
        if (reg >= OMPP_REGISTERS || !(walk->known >> reg & 1)) return r->is_bad = true, false;
        return *value = walk->reg[reg] + (uint64_t)offset, true;
    }
    switch (op) {
    case OP_ADDR:
    case OP_CONST8U:
    case OP_CONST8S: *value = ompp_read_fixed(r, 8); return true;
    case OP_CONST1U: *value = ompp_read_fixed(r, 1); return true;
    case OP_CONST1S: *value = (uint64_t)(int8_t)ompp_read_fixed(r, 1); return true;
    case OP_CONST2U: *value = ompp_read_fixed(r, 2); return true;
    case OP_CONST2S: *value = (uint64_t)(int16_t)ompp_read_fixed(r, 2); return true;
    case OP_CONST4U: *value = ompp_read_fixed(r, 4); return true;
    case OP_CONST4S: *value = (uint64_t)(int32_t)ompp_read_fixed(r, 4); return true;
    case OP_CONSTU: *value = ompp_read_uleb(r); return true;
    case OP_CONSTS: *value = (uint64_t)ompp_read_sleb(r); return true;
    default: return false;
    }
}

typedef struct {
    uint64_t item[DEPTH];
    unsigned n;
} values_t;

/* What changes the order of the stack, or one value on it. \return false: none of these, or too few values. */
static bool rearrange(unsigned op, ompp_reader_t *r, values_t *s)
{
    static const uint8_t needs[] = {[OP_DUP] = 1, [OP_DROP] = 1, [OP_OVER] = 2, [OP_PICK] = 1, [OP_SWAP] = 2,
                                    [OP_ROT] = 3, [OP_ABS] = 1,  [OP_NEG] = 1,  [OP_NOT] = 1,  [OP_PLUS_UCONST] = 1};
    uint64_t *top = s->item + s->n;

    if (op >= sizeof needs || !needs[op] || s->n < needs[op] || s->n == DEPTH) return false;
    uint64_t last = top[-1];
    switch (op) {
    case OP_DUP: s->item[s->n++] = last; break;
    case OP_DROP: s->n--; break;
    case OP_OVER: s->item[s->n++] = top[-2]; break;
    case OP_PICK: {
        const uint64_t i = ompp_read_fixed(r, 1);
        if (i >= s->n) return false;
        s->item[s->n] = s->item[s->n - 1 - i];
        s->n++;
        break;
    }
    case OP_SWAP: top[-1] = top[-2], top[-2] = last; break;
    case OP_ROT: top[-1] = top[-2], top[-2] = top[-3], top[-3] = last; break;
    case OP_ABS: top[-1] = (int64_t)last < 0 ? -last : last; break;
    case OP_NEG: top[-1] = -last; break;
    case OP_NOT: top[-1] = ~last; break;
    default: top[-1] = last + ompp_read_uleb(r); break;
    }
    return true;
}

bool ompp_expression_evaluate(const uint8_t *bytes, ompp_walk_t *walk, const uint64_t *push,
                              bool (*read)(ompp_walk_t *, uintptr_t, uint64_t *), uint64_t *result)
{
    ompp_reader_t r = {.at = bytes, .end = bytes + 10};
    values_t s = {.n = 0};
    uint64_t value;

    const uint64_t length = ompp_read_uleb(&r);
    const uint8_t *begin = r.at;
    r.end = begin + length;
    if (push) s.item[s.n++] = *push;
    for (unsigned count = 0; r.at < r.end && !r.is_bad; count++) {
        const unsigned op = (unsigned)ompp_read_fixed(&r, 1);
        if (count > OPERATIONS) return false;
        if (op == OP_NOP) continue;
        if (literal(op, &r, walk, &value)) {
            if (s.n == DEPTH) return false;
            s.item[s.n++] = value;
        } else if (op == OP_DEREF || op == OP_DEREF_SIZE) {
            const uint64_t size = op == OP_DEREF ? 8 : ompp_read_fixed(&r, 1);
            if (!s.n || !size || size > 8 || !read(walk, s.item[s.n - 1], &value)) return false;
            s.item[s.n - 1] = size == 8 ? value : value & ((UINT64_C(1) << 8 * size) - 1);
        } else if (op == OP_SKIP || op == OP_BRA) {
            const int16_t by = (int16_t)ompp_read_fixed(&r, 2);
            if (op == OP_BRA && !s.n) return false;
            if (op == OP_BRA && !s.item[--s.n]) continue;
            if (by < begin - r.at || by > r.end - r.at) return false;
            r.at += by;
        } else if (!rearrange(op, &r, &s)) {
            if (s.n < 2 || !compute(op, s.item[s.n - 2], s.item[s.n - 1], &s.item[s.n - 2])) return false;
            s.n--;
        }
    }
    if (r.is_bad || !s.n) return false;
    *result = s.item[s.n - 1];
    return true;
}
