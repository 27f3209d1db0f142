/*
 * Jump tables as compilers write them: jmp *table(,reg,8), and tables of offsets from their own begin, which are added
 * to it.
 */
#include "structure/ompp_flow_priv.h"

#include "base/ompp_vector.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOW = 40 /* instructions before the jump */, MOST_CASES = 8192, PIECE = 256 /* entries read at once */ };

/* Instructions before the jump, the nearest first. */
typedef struct {
    ompp_code_map_t *m;
    unsigned n;
    uint32_t at[WINDOW];
    uint32_t bound; /* entries, by a comparison; 0 = none was found */
} before_t;

typedef struct {
    ZydisDecodedInstruction i;
    ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
} decoded_t;

static bool decode_at(const ompp_code_map_t *m, uint32_t at, decoded_t *d)
{
    return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&m->full, m->code + at, m->size - at, &d->i, d->o));
}

static void look_back(before_t *b, uint32_t at)
{
    while (at-- > 0 && b->n < WINDOW)
        if (b->m->marks[at] & OMPP_MARK_START) b->at[b->n++] = at;
}

/* Number of a register as it is encoded; -1: no general one. */
static int number_of(ZydisRegister reg)
{
    const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

    return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15 ? (int)(whole - ZYDIS_REGISTER_RAX) : -1;
}

/* The nearest comparison with a number, and the jump behind it, tell how many entries there are. */
static void find_bound(before_t *b)
{
    decoded_t d;

    for (unsigned k = 0; k < b->n; k++) {
        if (!decode_at(b->m, b->at[k], &d)) continue;
        if (d.i.mnemonic != ZYDIS_MNEMONIC_CMP || d.o[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE) continue;
        const uint64_t number = d.o[1].imm.value.u;
        if (k == 0 || number >= MOST_CASES || !decode_at(b->m, b->at[k - 1], &d)) return;
        if (d.i.mnemonic == ZYDIS_MNEMONIC_JNBE || d.i.mnemonic == ZYDIS_MNEMONIC_JBE) b->bound = (uint32_t)number + 1;
        if (d.i.mnemonic == ZYDIS_MNEMONIC_JNB || d.i.mnemonic == ZYDIS_MNEMONIC_JB) b->bound = (uint32_t)number;
        return;
    }
}

/* ---- Entries ----------------------------------------------------------------------------------------------------- */

static bool add_case(ompp_code_map_t *m, ompp_branch_t *branch, uint64_t target)
{
    const uint32_t to = ompp_code_map_place(m, target);

    if (to == OMPP_NO_PLACE || !(m->marks[to] & OMPP_MARK_START)) return false;
    uint32_t *item = ompp_vector_push(&m->cases, &m->ncases, &m->acases, sizeof *item);
    if (!item) {
        m->no_memory = true;
        return false;
    }
    *item = to;
    branch->ncases++;
    return true;
}

/* Where the next thing is that the code takes the address of: a table does not reach beyond it. */
static uint64_t next_target(const ompp_code_map_t *m, uint64_t table)
{
    uint64_t next = UINT64_MAX;

    for (size_t i = 0; i < m->nleas; i++)
        if (m->leas[i].target > table && m->leas[i].target < next) next = m->leas[i].target;
    return next;
}

static int compare_places(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* Each once. */
static void sort_cases(ompp_code_map_t *m, ompp_branch_t *branch)
{
    uint32_t n = 0;

    if (branch->ncases == 0) return;
    uint32_t *cases = m->cases + branch->first_case;
    qsort(cases, branch->ncases, sizeof *cases, compare_places);
    for (uint32_t i = 0; i < branch->ncases; i++)
        if (i == 0 || cases[i] != cases[n - 1]) cases[n++] = cases[i];
    m->ncases = branch->first_case + n;
    branch->ncases = n;
}

static bool read_entries(const before_t *b, ompp_branch_t *branch, uint64_t table, bool relative)
{
    ompp_code_map_t *m = b->m;
    const size_t size = relative ? sizeof(int32_t) : sizeof(uint64_t);
    uint64_t most = (next_target(m, table) - table) / size;
    uint8_t piece[PIECE * sizeof(uint64_t)];

    if (most > MOST_CASES) most = MOST_CASES;
    if (b->bound && most > b->bound) most = b->bound;
    branch->first_case = (uint32_t)m->ncases;
    branch->ncases = 0;
    for (uint64_t i = 0; i < most; i++) {
        const uint64_t in = i % PIECE, left = most - i < PIECE ? most - i : PIECE;
        uint64_t target = 0;
        int32_t offset;
        if (in == 0 && !m->file->read(m->file->context, table + i * size, piece, (size_t)left * size)) {
            if (b->bound) break;
            most = i + 1; /* near the end of a section: one by one */
            if (!m->file->read(m->file->context, table + i * size, piece, size)) break;
        }
        memcpy(&offset, piece + in * size, sizeof offset);
        if (!relative) memcpy(&target, piece + in * size, sizeof target);
        if (!add_case(m, branch, relative ? table + (uint64_t)(int64_t)offset : target)) break;
    }
    sort_cases(m, branch);
    return branch->ncases > 0;
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

/* Tables whose address the register may hold: what it got last before the jump, else anywhere. */
static bool try_register(const before_t *b, ompp_branch_t *branch, int reg)
{
    const ompp_code_map_t *m = b->m;
    size_t last = m->nleas;

    while (last > 0 && m->leas[last - 1].at > branch->at) last--;
    for (size_t i = last, tried = 0; i-- > 0 && tried < 8;)
        if (m->leas[i].reg == reg) {
            tried++;
            if (read_entries(b, branch, m->leas[i].target, true)) return true;
        }
    for (size_t i = last, tried = 0; i < m->nleas && tried < 8; i++)
        if (m->leas[i].reg == reg) {
            tried++;
            if (read_entries(b, branch, m->leas[i].target, true)) return true;
        }
    return false;
}

static bool is_load_of_offset(const decoded_t *d)
{
    return (d->i.mnemonic == ZYDIS_MNEMONIC_MOVSXD || d->i.mnemonic == ZYDIS_MNEMONIC_MOV) &&
           d->o[1].type == ZYDIS_OPERAND_TYPE_MEMORY && d->o[1].size == 32 &&
           d->o[1].mem.index != ZYDIS_REGISTER_NONE && d->o[1].mem.base != ZYDIS_REGISTER_RIP;
}

static bool is_load_of_address(const decoded_t *d)
{
    return d->i.mnemonic == ZYDIS_MNEMONIC_MOV && d->o[1].type == ZYDIS_OPERAND_TYPE_MEMORY && d->o[1].size == 64 &&
           d->o[1].mem.base == ZYDIS_REGISTER_NONE && d->o[1].mem.disp.value != 0;
}

bool ompp_flow_table(ompp_code_map_t *m, ompp_branch_t *branch)
{
    before_t b = {.m = m};
    decoded_t d;

    if (!decode_at(m, branch->at, &d)) return false;
    look_back(&b, branch->at);
    find_bound(&b);
    if (d.o[0].type == ZYDIS_OPERAND_TYPE_MEMORY)
        return d.o[0].mem.base == ZYDIS_REGISTER_NONE && d.o[0].mem.index != ZYDIS_REGISTER_NONE &&
               read_entries(&b, branch, (uint64_t)d.o[0].mem.disp.value, false);
    for (unsigned k = 0; k < b.n; k++) {
        if (!decode_at(m, b.at[k], &d)) continue;
        if (d.i.mnemonic == ZYDIS_MNEMONIC_JMP || d.i.mnemonic == ZYDIS_MNEMONIC_RET) break;
        if (is_load_of_address(&d)) return read_entries(&b, branch, (uint64_t)d.o[1].mem.disp.value, false);
        if (!is_load_of_offset(&d)) continue;
        const int base = number_of(d.o[1].mem.base), index = number_of(d.o[1].mem.index);
        if (base >= 0 && try_register(&b, branch, base)) return true;
        if (d.o[1].mem.scale == 1 && index >= 0 && try_register(&b, branch, index)) return true;
    }
    return false;
}
