#include "structure/ompp_flow.h"

#include "base/ompp_error.h"

#include <stdlib.h>
#include <string.h>

void ompp_flow_free(ompp_flow_t *flow)
{
    free(flow->blocks);
    free(flow->padding);
    free(flow->graph.first);
    free(flow->graph.to);
    free(flow->outside);
    memset(flow, 0, sizeof *flow);
}

#ifndef OMPP_HAVE_ZYDIS

int ompp_flow_build(const ompp_part_t *parts, size_t n, const ompp_flow_file_t *file, double deadline,
                    ompp_flow_t *flow)
{
    (void)parts, (void)n, (void)file, (void)deadline;
    memset(flow, 0, sizeof *flow);
    return -OMPP_E_UNSUPPORTED;
}

#else

#include "base/ompp_clock.h"
#include "base/ompp_vector.h"
#include "structure/ompp_flow_priv.h"

#define CHECK_EVERY 65536u /* bytes decoded between two looks at the clock */

static void *push(ompp_code_map_t *m, void *array, size_t *n, size_t *allocated, size_t size)
{
    void *item = ompp_vector_push(array, n, allocated, size);

    if (!item) m->no_memory = true;
    return item;
}

/* ---- Decoding ---------------------------------------------------------------------------------------------------- */

static bool is_conditional(ZydisMnemonic mnemonic)
{
    return (mnemonic >= ZYDIS_MNEMONIC_JB && mnemonic <= ZYDIS_MNEMONIC_JZ) || mnemonic == ZYDIS_MNEMONIC_LOOP ||
           mnemonic == ZYDIS_MNEMONIC_LOOPE || mnemonic == ZYDIS_MNEMONIC_LOOPNE || mnemonic == ZYDIS_MNEMONIC_XBEGIN;
}

static void add_branch(ompp_code_map_t *m, uint32_t at, uint32_t next, ompp_branch_kind_t kind, uint64_t target)
{
    ompp_branch_t *branch = push(m, &m->branches, &m->nbranches, &m->abranches, sizeof *branch);

    if (branch) *branch = (ompp_branch_t){.at = at, .next = next, .kind = kind, .target = target};
}

/* lea of an address relative to the next instruction: of a jump table, perhaps. */
static void note_lea(ompp_code_map_t *m, const ZydisDecodedInstruction *i, uint32_t at, uint64_t next)
{
    if (i->raw.modrm.mod != 0 || i->raw.modrm.rm != 5) return;
    ompp_lea_t *lea = push(m, &m->leas, &m->nleas, &m->aleas, sizeof *lea);
    if (lea)
        *lea = (ompp_lea_t){at, (uint8_t)(i->raw.modrm.reg | i->raw.rex.R << 3), next + (uint64_t)i->raw.disp.value};
}

static void take_call(ompp_code_map_t *m, const ZydisDecodedInstruction *i, uint32_t at, uint64_t next)
{
    if (i->raw.imm[0].is_relative && m->file->never_returns(m->file->context, next + (uint64_t)i->raw.imm[0].value.s))
        add_branch(m, at, at + i->length, OMPP_BRANCH_STOP, 0);
}

static void take_instruction(ompp_code_map_t *m, const ZydisDecodedInstruction *i, uint32_t at, uint64_t next)
{
    const uint64_t target = i->raw.imm[0].is_relative ? next + (uint64_t)i->raw.imm[0].value.s : 0;
    uint8_t mark = OMPP_MARK_START;

    switch (i->mnemonic) {
    case ZYDIS_MNEMONIC_NOP:
    case ZYDIS_MNEMONIC_INT3: break;
    case ZYDIS_MNEMONIC_JMP:
        add_branch(m, at, at + i->length, target ? OMPP_BRANCH_JUMP : OMPP_BRANCH_TABLE, target);
        mark |= OMPP_MARK_REAL;
        break;
    case ZYDIS_MNEMONIC_RET:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
        add_branch(m, at, at + i->length, OMPP_BRANCH_STOP, 0);
        mark |= OMPP_MARK_REAL;
        break;
    case ZYDIS_MNEMONIC_CALL:
        take_call(m, i, at, next);
        mark |= OMPP_MARK_REAL;
        break;
    case ZYDIS_MNEMONIC_LEA:
        note_lea(m, i, at, next);
        mark |= OMPP_MARK_REAL;
        break;
    default:
        if (target && is_conditional(i->mnemonic)) add_branch(m, at, at + i->length, OMPP_BRANCH_EITHER, target);
        mark |= OMPP_MARK_REAL;
    }
    m->marks[at] |= mark;
}

/* Bytes that are no instruction count as one of a byte. */
static int decode(ompp_code_map_t *m, const ompp_code_part_t *part, double deadline)
{
    const uint32_t end = part->at + (uint32_t)(part->high - part->low);
    uint32_t look = part->at;
    ZydisDecodedInstruction i;

    for (uint32_t at = part->at; at < end && !m->no_memory;) {
        if (at >= look) {
            if (ompp_clock_seconds() >= deadline) return -OMPP_E_TIMEOUT;
            look += CHECK_EVERY;
        }
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&m->quick, NULL, m->code + at, end - at, &i))) {
            m->marks[at++] |= OMPP_MARK_START | OMPP_MARK_REAL;
            continue;
        }
        take_instruction(m, &i, at, part->low + (at - part->at) + i.length);
        at += i.length;
    }
    return m->no_memory ? -OMPP_E_NOMEM : 0;
}

uint32_t ompp_code_map_place(const ompp_code_map_t *m, uint64_t address)
{
    for (size_t i = 0; i < m->nparts; i++)
        if (address >= m->parts[i].low && address < m->parts[i].high)
            return m->parts[i].at + (uint32_t)(address - m->parts[i].low);
    return OMPP_NO_PLACE;
}

uint64_t ompp_code_map_address(const ompp_code_map_t *m, uint32_t at)
{
    size_t i = m->nparts;

    while (i > 1 && m->parts[i - 1].at > at) i--;
    return m->parts[i - 1].low + (at - m->parts[i - 1].at);
}

static int read_parts(ompp_code_map_t *m, const ompp_part_t *parts, size_t n)
{
    uint64_t size = 0;

    for (size_t i = 0; i < n; i++) {
        if (parts[i].high <= parts[i].low) return -OMPP_E_FORMAT;
        if (parts[i].high - parts[i].low > OMPP_FLOW_MAX_BYTES) return -OMPP_E_LIMIT;
        m->parts[m->nparts++] = (ompp_code_part_t){parts[i].low, parts[i].high, (uint32_t)size};
        size += parts[i].high - parts[i].low;
        if (size > OMPP_FLOW_MAX_BYTES) return -OMPP_E_LIMIT;
    }
    m->size = (uint32_t)size;
    m->code = malloc(size + 1);
    m->marks = calloc(1, size + 1);
    if (!m->code || !m->marks) return -OMPP_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        if (!m->file->read(m->file->context, parts[i].low, m->code + m->parts[i].at, parts[i].high - parts[i].low))
            return -OMPP_E_FORMAT;
    return size ? 0 : -OMPP_E_FORMAT;
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* A jump may lead behind the prefix of an instruction: its block is that of the instruction. */
static uint32_t begin_of(const ompp_code_map_t *m, uint32_t at)
{
    while (at > 0 && !(m->marks[at] & OMPP_MARK_START)) at--;
    return at;
}

static void note_outside(ompp_code_map_t *m, ompp_flow_t *flow, uint64_t target)
{
    uint64_t *to = push(m, &flow->outside, &flow->noutside, &m->aoutside, sizeof *to);

    if (to) *to = target;
}

static void mark_leaders(ompp_code_map_t *m, ompp_flow_t *flow)
{
    for (size_t i = 0; i < m->nparts; i++) m->marks[m->parts[i].at] |= OMPP_MARK_LEADER;
    for (size_t b = 0; b < m->nbranches; b++) {
        ompp_branch_t *branch = &m->branches[b];
        m->marks[branch->next] |= OMPP_MARK_LEADER; /* marks has one more */
        branch->to = OMPP_NO_PLACE;
        if (branch->kind == OMPP_BRANCH_TABLE && !ompp_flow_table(m, branch)) flow->unknown++;
        if (branch->kind != OMPP_BRANCH_JUMP && branch->kind != OMPP_BRANCH_EITHER) continue;
        const uint32_t to = ompp_code_map_place(m, branch->target);
        if (to == OMPP_NO_PLACE) {
            note_outside(m, flow, branch->target);
            continue;
        }
        branch->to = begin_of(m, to);
        m->marks[branch->to] |= OMPP_MARK_LEADER;
    }
    for (size_t c = 0; c < m->ncases; c++) m->marks[m->cases[c]] |= OMPP_MARK_LEADER;
}

static bool add_block(ompp_code_map_t *m, ompp_flow_t *flow, uint32_t low, uint32_t last, uint32_t high, bool padding)
{
    const uint64_t address = ompp_code_map_address(m, low);
    ompp_block_t *block = push(m, &flow->blocks, &m->nblocks, &m->ablocks, sizeof *block);
    uint32_t *at = push(m, &m->at, &m->nat, &m->aat, sizeof *at);
    bool *is_padding = push(m, &flow->padding, &m->npadding, &m->apadding, sizeof *is_padding);

    if (!block || !at || !is_padding) return false;
    *block = (ompp_block_t){address, address + (high - low), address + (last - low)};
    *at = low;
    *is_padding = padding;
    return true;
}

static bool make_blocks(ompp_code_map_t *m, ompp_flow_t *flow)
{
    uint32_t low = 0, last = 0;
    bool real = false;

    for (uint32_t at = 0; at < m->size; at++) {
        if (m->marks[at] & OMPP_MARK_LEADER && at > low) {
            if (!add_block(m, flow, low, last, at, !real)) return false;
            low = at;
            real = false;
        }
        if (m->marks[at] & OMPP_MARK_START) last = at;
        real = real || m->marks[at] & OMPP_MARK_REAL;
    }
    return add_block(m, flow, low, last, m->size, !real);
}

/* ---- Edges ------------------------------------------------------------------------------------------------------- */

static uint32_t block_at(const ompp_code_map_t *m, uint32_t at)
{
    size_t low = 0, high = m->nat;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (m->at[middle] <= at) low = middle + 1;
        else high = middle;
    }
    return (uint32_t)low - 1;
}

static void add_edge(ompp_code_map_t *m, ompp_flow_t *flow, uint32_t from_edge, uint32_t to)
{
    for (size_t e = from_edge; e < m->nedges && e < from_edge + 4; e++)
        if (flow->graph.to[e] == to) return;
    uint32_t *edge = push(m, &flow->graph.to, &m->nedges, &m->aedges, sizeof *edge);
    if (edge) *edge = to;
}

static bool begins_part(const ompp_code_map_t *m, uint32_t at)
{
    for (size_t i = 0; i < m->nparts; i++)
        if (m->parts[i].at == at) return true;
    return at >= m->size;
}

static bool make_edges(ompp_code_map_t *m, ompp_flow_t *flow)
{
    const uint32_t n = (uint32_t)m->nblocks;
    size_t b = 0;

    flow->graph.n = n;
    flow->graph.first = calloc(n + 1, sizeof *flow->graph.first);
    if (!flow->graph.first || !ompp_vector_reserve(&flow->graph.to, &m->aedges, 2 * (size_t)n + 1, sizeof(uint32_t)))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t end = i + 1 < n ? m->at[i + 1] : m->size, from = (uint32_t)m->nedges;
        flow->graph.first[i] = from;
        while (b < m->nbranches && m->branches[b].next < end) b++;
        const ompp_branch_t *branch = b < m->nbranches && m->branches[b].next == end ? &m->branches[b] : NULL;
        const bool goes_on = !branch || branch->kind == OMPP_BRANCH_EITHER;
        if (goes_on && !begins_part(m, end)) add_edge(m, flow, from, i + 1);
        if (!branch) continue;
        if (branch->to != OMPP_NO_PLACE) add_edge(m, flow, from, block_at(m, branch->to));
        for (uint32_t c = 0; c < branch->ncases; c++)
            add_edge(m, flow, from, block_at(m, m->cases[branch->first_case + c]));
    }
    flow->graph.first[n] = (uint32_t)m->nedges;
    return !m->no_memory;
}

int ompp_flow_build(const ompp_part_t *parts, size_t n, const ompp_flow_file_t *file, double deadline,
                    ompp_flow_t *flow)
{
    ompp_code_map_t m = {.file = file, .parts = calloc(n + 1, sizeof *m.parts)};
    int rc = m.parts ? read_parts(&m, parts, n) : -OMPP_E_NOMEM;

    memset(flow, 0, sizeof *flow);
    ZydisDecoderInit(&m.full, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    m.quick = m.full;
    ZydisDecoderEnableMode(&m.quick, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
    for (size_t i = 0; i < m.nparts && rc == 0; i++) rc = decode(&m, &m.parts[i], deadline);
    if (rc == 0) {
        mark_leaders(&m, flow);
        if (!make_blocks(&m, flow) || !make_edges(&m, flow) || m.no_memory) rc = -OMPP_E_NOMEM;
    }
    void *const all[] = {m.parts, m.code, m.marks, m.branches, m.leas, m.cases, m.at};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
    return rc;
}

#endif
