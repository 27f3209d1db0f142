/*
 * Unwind information: .eh_frame_hdr and .eh_frame as the Linux Standard Base and DWARF 5, section 6.4, describe them.
 * Every offset in the file is checked: a damaged one gives no row, and no fault.
 */
#include "unwind/ompp_reader_priv.h"
#include "unwind/ompp_unwind_priv.h"

/* How a pointer is encoded: the format in the lower half, what it is relative to above. */
enum { PE_ABS = 0, PE_ULEB = 1, PE_U2 = 2, PE_U4 = 3, PE_U8 = 4, PE_SLEB = 9, PE_S2 = 10, PE_S4 = 11, PE_S8 = 12 };
enum { PE_PCREL = 0x10, PE_DATAREL = 0x30, PE_ALIGNED = 0x50, PE_INDIRECT = 0x80, PE_OMIT = 0xff };

/* Call frame instructions. */
enum {
    CFA_NOP,
    CFA_SET_LOC,
    CFA_ADVANCE1,
    CFA_ADVANCE2,
    CFA_ADVANCE4,
    CFA_OFFSET_EXTENDED,
    CFA_RESTORE_EXTENDED,
    CFA_UNDEFINED,
    CFA_SAME,
    CFA_REGISTER,
    CFA_REMEMBER,
    CFA_RESTORE_STATE,
    CFA_DEF,
    CFA_DEF_REGISTER,
    CFA_DEF_OFFSET,
    CFA_DEF_EXPRESSION,
    CFA_EXPRESSION,
    CFA_OFFSET_EXTENDED_SF,
    CFA_DEF_SF,
    CFA_DEF_OFFSET_SF,
    CFA_VAL_OFFSET,
    CFA_VAL_OFFSET_SF,
    CFA_VAL_EXPRESSION,
    CFA_GNU_ARGS_SIZE = 0x2e,
    CFA_GNU_NEGATIVE_OFFSET = 0x2f,
    CFA_ADVANCE = 0x40,
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0
};

#define REMEMBERED 6u

static uint64_t read_pointer(ompp_reader_t *r, uint8_t encoding, uintptr_t data)
{
    const uintptr_t here = (uintptr_t)r->at;
    uint64_t value;

    switch (encoding & 0x0f) {
    case PE_ABS:
    case PE_U8:
    case PE_S8: value = ompp_read_fixed(r, 8); break;
    case PE_ULEB: value = ompp_read_uleb(r); break;
    case PE_SLEB: value = (uint64_t)ompp_read_sleb(r); break;
    case PE_U2: value = ompp_read_fixed(r, 2); break;
    case PE_S2: value = (uint64_t)(int16_t)ompp_read_fixed(r, 2); break;
    case PE_U4: value = ompp_read_fixed(r, 4); break;
    case PE_S4: value = (uint64_t)(int32_t)ompp_read_fixed(r, 4); break;
    default: return r->is_bad = true, 0;
    }
    switch (encoding & 0x70) {
    case 0: break;
    case PE_PCREL: value += here; break;
    case PE_DATAREL: value += data; break;
    default: r->is_bad = true;
    }
    return value; /* what is indirect is a personality routine, which is not looked at */
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

typedef struct {
    ompp_reader_t program;
    uint64_t code_align;
    int64_t data_align;
    unsigned return_column;
    uint8_t encoding;
    bool has_augmentation, is_signal;
} cie_t;

/* The record at r: r becomes what is behind its length. \return false: the end, or damaged. */
static bool enter_record(ompp_reader_t *r, ompp_reader_t *next)
{
    uint64_t length = ompp_read_fixed(r, 4);

    if (length == 0xffffffff) length = ompp_read_fixed(r, 8);
    if (r->is_bad || !length || length > (uintptr_t)(r->end - r->at)) return false;
    if (next) *next = (ompp_reader_t){r->at + length, r->end, false};
    r->end = r->at + length;
    return true;
}

static bool read_cie(ompp_reader_t r, cie_t *cie)
{
    *cie = (cie_t){.encoding = PE_ABS};
    if (!enter_record(&r, NULL) || ompp_read_fixed(&r, 4) != 0) return false;
    const uint64_t version = ompp_read_fixed(&r, 1);
    if (version != 1 && version != 3) return false;
    const char *augmentation = (const char *)r.at;
    while (ompp_read_fixed(&r, 1) != 0) {
    }
    if (r.is_bad) return false;
    cie->code_align = ompp_read_uleb(&r);
    cie->data_align = ompp_read_sleb(&r);
    cie->return_column = (unsigned)(version == 1 ? ompp_read_fixed(&r, 1) : ompp_read_uleb(&r));
    cie->has_augmentation = *augmentation == 'z';
    const uint64_t bytes = cie->has_augmentation ? ompp_read_uleb(&r) : 0;
    const uint8_t *data = r.at;
    for (const char *a = augmentation + (cie->has_augmentation ? 1 : 0); *a; a++) {
        if (*a == 'R') cie->encoding = (uint8_t)ompp_read_fixed(&r, 1);
        else if (*a == 'L') ompp_read_fixed(&r, 1);
        else if (*a == 'P') read_pointer(&r, (uint8_t)ompp_read_fixed(&r, 1), 0);
        else if (*a == 'S') cie->is_signal = true;
        else if (*a != 'B' && !cie->has_augmentation) return false;
    }
    if (cie->has_augmentation) {
        r.at = data;
        ompp_read_skip(&r, bytes);
    }
    cie->program = r;
    return !r.is_bad && cie->return_column == OMPP_RIP;
}

/* The record of a procedure. \param[out] program  its instructions. */
static bool read_fde(const ompp_image_map_t *image, ompp_reader_t r, cie_t *cie, ompp_reader_t *program, uintptr_t *low,
                     uintptr_t *high)
{
    if (!enter_record(&r, NULL)) return false;
    const uintptr_t here = (uintptr_t)r.at, back = ompp_read_fixed(&r, 4), at = here - back;
    const uintptr_t cie_end = ompp_image_map_end(image, at, false);
    if (r.is_bad || !back || !cie_end ||
        !read_cie((ompp_reader_t){(const uint8_t *)at, (const uint8_t *)cie_end, false}, cie))
        return false;
    *low = read_pointer(&r, cie->encoding, image->eh_frame_hdr);
    *high = *low + read_pointer(&r, cie->encoding & 0x0f, 0);
    if (cie->has_augmentation) ompp_read_skip(&r, ompp_read_uleb(&r));
    *program = r;
    return !r.is_bad;
}

/* ---- The search -------------------------------------------------------------------------------------------------- */

/* A file whose table cannot be searched, record by record. */
static const uint8_t *find_in_order(const ompp_image_map_t *image, uintptr_t eh_frame, uintptr_t address)
{
    const uintptr_t end = ompp_image_map_end(image, eh_frame, false);
    ompp_reader_t r = {(const uint8_t *)eh_frame, (const uint8_t *)end, false}, next, program;
    uintptr_t low, high;
    cie_t cie;

    if (!end) return NULL;
    for (;; r = next) {
        const ompp_reader_t at = r;
        if (!enter_record(&r, &next)) return NULL;
        if (read_fde(image, at, &cie, &program, &low, &high) && address >= low && address < high) return at.at;
    }
}

/* The last record whose procedure begins at or before the address. */
static const uint8_t *find_record(const ompp_image_map_t *image, uintptr_t address)
{
    const uintptr_t hdr = image->eh_frame_hdr, end = hdr ? ompp_image_map_end(image, hdr, false) : 0;
    ompp_reader_t r = {(const uint8_t *)hdr, (const uint8_t *)end, false};

    if (!end || ompp_read_fixed(&r, 1) != 1) return NULL;
    const uint8_t of_frame = (uint8_t)ompp_read_fixed(&r, 1), of_count = (uint8_t)ompp_read_fixed(&r, 1),
                  of_table = (uint8_t)ompp_read_fixed(&r, 1);
    const uintptr_t eh_frame = read_pointer(&r, of_frame, hdr);
    if (r.is_bad) return NULL;
    if (of_count == PE_OMIT || of_table != (PE_DATAREL | PE_S4)) return find_in_order(image, eh_frame, address);
    const uint64_t n = read_pointer(&r, of_count, hdr);
    if (r.is_bad || n > (uint64_t)(r.end - r.at) / 8) return NULL;
    const uint8_t *table = r.at;
    size_t low = 0, high = n;
    int32_t pair[2];
    while (low < high) {
        const size_t middle = (low + high) / 2;
        memcpy(pair, table + 8 * middle, sizeof pair);
        if (hdr + (uintptr_t)(intptr_t)pair[0] <= address) low = middle + 1;
        else high = middle;
    }
    if (!low) return NULL;
    memcpy(pair, table + 8 * (low - 1), sizeof pair);
    const uintptr_t at = hdr + (uintptr_t)(intptr_t)pair[1];
    return ompp_image_map_end(image, at, false) ? (const uint8_t *)at : NULL;
}

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

typedef struct {
    const cie_t *cie;
    const ompp_cfi_row_t *initial; /* that of the CIE; NULL: this is it */
    ompp_cfi_row_t *row;
    ompp_cfi_row_t remembered[REMEMBERED];
    unsigned nremembered;
    uintptr_t at;
} machine_t;

static void set_rule(machine_t *m, uint64_t reg, ompp_rule_t rule, int64_t value)
{
    if (reg >= OMPP_REGISTERS) return; /* of vectors, say */
    m->row->rule[reg] = (uint8_t)rule;
    m->row->value[reg] = value;
}

static void set_cfa(machine_t *m, uint64_t reg, int64_t offset)
{
    m->row->rule[OMPP_REGISTERS] = OMPP_RULE_REGISTER;
    m->row->value[OMPP_REGISTERS] = (int64_t)reg;
    m->row->cfa_offset = offset;
}

static void restore_rule(machine_t *m, uint64_t reg)
{
    if (reg < OMPP_REGISTERS)
        set_rule(m, reg, m->initial ? m->initial->rule[reg] : OMPP_RULE_SAME, m->initial ? m->initial->value[reg] : 0);
}

/* An expression: its place is kept, and it is left out. */
static int64_t take_expression(ompp_reader_t *r)
{
    const uint8_t *at = r->at;

    ompp_read_skip(r, ompp_read_uleb(r));
    return (int64_t)(intptr_t)at;
}

/* Instructions about one register. \return false: none of these. */
static bool run_register(machine_t *m, unsigned op, ompp_reader_t *r)
{
    const int64_t align = m->cie->data_align;

    if (op < CFA_OFFSET_EXTENDED ||
        (op > CFA_REGISTER && op != CFA_EXPRESSION && op != CFA_OFFSET_EXTENDED_SF && op != CFA_VAL_OFFSET &&
         op != CFA_VAL_OFFSET_SF && op != CFA_VAL_EXPRESSION && op != CFA_GNU_NEGATIVE_OFFSET))
        return false;
    const uint64_t reg = ompp_read_uleb(r);
    switch (op) {
    case CFA_OFFSET_EXTENDED: set_rule(m, reg, OMPP_RULE_OFFSET, (int64_t)ompp_read_uleb(r) * align); break;
    case CFA_GNU_NEGATIVE_OFFSET: set_rule(m, reg, OMPP_RULE_OFFSET, -(int64_t)ompp_read_uleb(r) * align); break;
    case CFA_OFFSET_EXTENDED_SF: set_rule(m, reg, OMPP_RULE_OFFSET, ompp_read_sleb(r) * align); break;
    case CFA_VAL_OFFSET: set_rule(m, reg, OMPP_RULE_VALUE, (int64_t)ompp_read_uleb(r) * align); break;
    case CFA_VAL_OFFSET_SF: set_rule(m, reg, OMPP_RULE_VALUE, ompp_read_sleb(r) * align); break;
    case CFA_REGISTER: set_rule(m, reg, OMPP_RULE_REGISTER, (int64_t)ompp_read_uleb(r)); break;
    case CFA_EXPRESSION: set_rule(m, reg, OMPP_RULE_EXPRESSION, take_expression(r)); break;
    case CFA_VAL_EXPRESSION: set_rule(m, reg, OMPP_RULE_VALUE_EXPRESSION, take_expression(r)); break;
    case CFA_UNDEFINED: set_rule(m, reg, OMPP_RULE_UNDEFINED, 0); break;
    case CFA_SAME: set_rule(m, reg, OMPP_RULE_SAME, 0); break;
    default: restore_rule(m, reg); break;
    }
    return true;
}

/* Instructions about the CFA and the whole row. \return false: none of these. */
static bool run_frame(machine_t *m, unsigned op, ompp_reader_t *r)
{
    uint64_t reg;

    switch (op) {
    case CFA_NOP: return true;
    case CFA_GNU_ARGS_SIZE: ompp_read_uleb(r); return true;
    case CFA_DEF:
        reg = ompp_read_uleb(r);
        set_cfa(m, reg, (int64_t)ompp_read_uleb(r));
        return true;
    case CFA_DEF_SF:
        reg = ompp_read_uleb(r);
        set_cfa(m, reg, ompp_read_sleb(r) * m->cie->data_align);
        return true;
    case CFA_DEF_REGISTER: set_cfa(m, ompp_read_uleb(r), m->row->cfa_offset); return true;
    case CFA_DEF_OFFSET: m->row->cfa_offset = (int64_t)ompp_read_uleb(r); return true;
    case CFA_DEF_OFFSET_SF: m->row->cfa_offset = ompp_read_sleb(r) * m->cie->data_align; return true;
    case CFA_DEF_EXPRESSION:
        m->row->rule[OMPP_REGISTERS] = OMPP_RULE_VALUE_EXPRESSION;
        m->row->value[OMPP_REGISTERS] = take_expression(r);
        return true;
    case CFA_REMEMBER:
        if (m->nremembered == REMEMBERED) return false;
        m->remembered[m->nremembered++] = *m->row;
        return true;
    case CFA_RESTORE_STATE:
        if (!m->nremembered) return false;
        *m->row = m->remembered[--m->nremembered];
        return true;
    default: return false;
    }
}

/* Until the row of the address. \return false: damaged, or an instruction that is not known. */
static bool run(machine_t *m, ompp_reader_t r, uintptr_t address)
{
    while (r.at < r.end && !r.is_bad) {
        const unsigned op = (unsigned)ompp_read_fixed(&r, 1);
        uintptr_t next = m->at;
        switch (op & 0xc0) {
        case CFA_ADVANCE: next += (op & 0x3f) * m->cie->code_align; break;
        case CFA_OFFSET:
            set_rule(m, op & 0x3f, OMPP_RULE_OFFSET, (int64_t)ompp_read_uleb(&r) * m->cie->data_align);
            break;
        case CFA_RESTORE: restore_rule(m, op & 0x3f); break;
        default:
            if (op == CFA_SET_LOC) next = read_pointer(&r, m->cie->encoding, 0);
            else if (op >= CFA_ADVANCE1 && op <= CFA_ADVANCE4)
                next += ompp_read_fixed(&r, 1u << (op - CFA_ADVANCE1)) * m->cie->code_align;
            else if (!run_register(m, op, &r) && !run_frame(m, op, &r)) return false;
        }
        if (next > address) return true;
        m->at = next;
    }
    return !r.is_bad;
}

ompp_cfi_result_t ompp_cfi_row(const ompp_image_map_t *image, uintptr_t address, ompp_cfi_t *cfi)
{
    const uint8_t *record = find_record(image, address);
    ompp_reader_t program;
    cie_t cie;

    cfi->low = cfi->high = 0;
    if (!record) return OMPP_CFI_NONE;
    const uintptr_t end = ompp_image_map_end(image, (uintptr_t)record, false);
    if (!read_fde(image, (ompp_reader_t){record, (const uint8_t *)end, false}, &cie, &program, &cfi->low, &cfi->high))
        return OMPP_CFI_BAD;
    if (address < cfi->low || address >= cfi->high) {
        cfi->low = cfi->high = 0;
        return OMPP_CFI_NONE;
    }
    cfi->is_signal = cie.is_signal;
    machine_t m;
    m.cie = &cie;
    m.initial = NULL;
    m.row = &cfi->row;
    m.nremembered = 0;
    m.at = 0;
    memset(&cfi->row, 0, sizeof cfi->row);
    if (!run(&m, cie.program, UINTPTR_MAX)) return OMPP_CFI_BAD;
    const ompp_cfi_row_t initial = cfi->row;
    m.initial = &initial;
    m.at = cfi->low;
    return run(&m, program, address) ? OMPP_CFI_FOUND : OMPP_CFI_BAD;
}

bool ompp_cfi_procedure(const ompp_image_map_t *image, uintptr_t address, uintptr_t *low, uintptr_t *high)
{
    const uint8_t *record = find_record(image, address);
    ompp_reader_t program;
    cie_t cie;

    if (!record) return false;
    const uintptr_t end = ompp_image_map_end(image, (uintptr_t)record, false);
    return read_fde(image, (ompp_reader_t){record, (const uint8_t *)end, false}, &cie, &program, low, high) &&
           address >= *low && address < *high;
}
