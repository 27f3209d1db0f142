/*
 * Lists of locations, entry by entry: whether one ends inside of its section. libdwarf 20210528 reads on behind the end
 * of a damaged one.
 */
#include "structure/ompp_dwarf_priv.h"

#include <string.h>

#define MOST_BYTES ((uint64_t)1 << 24) /* of a list */

typedef struct {
    const ompp_elf_t *elf;
    const char *section;
    uint64_t at, end; /* of the section; end: behind what may be read */
    uint64_t low;     /* of what is in the buffer */
    size_t n;
    bool failed;
    unsigned char buffer[512];
} reader_t;

static unsigned read_byte(reader_t *r)
{
    if (r->at >= r->end || r->failed) {
        r->failed = true;
        return 0;
    }
    if (r->at < r->low || r->at >= r->low + r->n) {
        r->low = r->at;
        r->n = r->end - r->at < sizeof r->buffer ? (size_t)(r->end - r->at) : sizeof r->buffer;
        if (!ompp_elf_section_read(r->elf, r->section, r->at, r->buffer, r->n)) return r->failed = true, 0;
    }
    return r->buffer[r->at++ - r->low];
}

static uint64_t read_fixed(reader_t *r, unsigned bytes)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < bytes; i++) value |= (uint64_t)read_byte(r) << 8 * i;
    return value;
}

static uint64_t read_uleb(reader_t *r)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 70; shift += 7) {
        const unsigned byte = read_byte(r);
        if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return value;
    }
    r->failed = true;
    return 0;
}

static void skip(reader_t *r, uint64_t bytes)
{
    if (bytes > r->end - r->at) r->failed = true;
    else r->at += bytes;
}

/* \return false: it was the last one, or is damaged. */
static bool entry_from_5(reader_t *r)
{
    const unsigned kind = read_byte(r);

    switch (kind) {
    case DW_LLE_end_of_list: return false;
    case DW_LLE_base_addressx: read_uleb(r); return true;
    case DW_LLE_base_address: skip(r, sizeof(uint64_t)); return true;
    case DW_LLE_startx_endx:
    case DW_LLE_startx_length:
    case DW_LLE_offset_pair:
        read_uleb(r);
        read_uleb(r);
        break;
    case DW_LLE_default_location: break;
    case DW_LLE_start_end: skip(r, 2 * sizeof(uint64_t)); break;
    case DW_LLE_start_length:
        skip(r, sizeof(uint64_t));
        read_uleb(r);
        break;
    default: r->failed = true; return false;
    }
    skip(r, read_uleb(r));
    return true;
}

static bool entry_before_5(reader_t *r)
{
    const uint64_t low = read_fixed(r, sizeof low), high = read_fixed(r, sizeof high);

    if (low == 0 && high == 0) return false;
    if (low != UINT64_MAX) skip(r, read_fixed(r, 2));
    return true;
}

static const char *section_of(bool from_5) { return from_5 ? ".debug_loclists" : ".debug_loc"; }

static bool ends(const ompp_elf_t *elf, bool from_5, uint64_t offset)
{
    reader_t r = {.elf = elf, .section = section_of(from_5), .at = offset};

    if (!ompp_elf_section_size(elf, r.section, &r.end)) return false;
    if (r.end > offset && r.end - offset > MOST_BYTES) r.end = offset + MOST_BYTES;
    while (!r.failed && (from_5 ? entry_from_5(&r) : entry_before_5(&r))) {
    }
    return !r.failed;
}

/* Where a list is that is named by its index; base: of the unit. 32-bit form. */
static bool indexed(const ompp_elf_t *elf, uint64_t base, uint64_t index, uint64_t *offset)
{
    uint64_t size;
    uint32_t value;

    if (!ompp_elf_section_size(elf, ".debug_loclists", &size) || index > size / sizeof value ||
        !ompp_elf_section_read(elf, ".debug_loclists", base + index * sizeof value, &value, sizeof value))
        return false;
    *offset = base + value;
    return true;
}

/* Of an index: where the unit says that lists begin, and the list. */
static bool offset_of_index(ompp_dwarf_t *dwarf, const ompp_unit_t *unit, Dwarf_Attribute attribute, uint64_t *where)
{
    Dwarf_Unsigned index = 0;
    Dwarf_Off base = 0;

    if (!ompp_die_ok(dwarf, dwarf_formudata(attribute, &index, &dwarf->error))) return false;
    Dwarf_Die die = ompp_die_at(dwarf, unit->die);
    if (!die) return false;
    const bool known = ompp_die_offset(dwarf, die, DW_AT_loclists_base, &base);
    dwarf_dealloc_die(die);
    return known && indexed(dwarf->elf, base, index, where);
}

bool ompp_die_has_locations(ompp_dwarf_t *dwarf, Dwarf_Attribute attribute, const ompp_unit_t *unit)
{
    const bool from_5 = unit->version >= 5;
    Dwarf_Half form = 0;
    Dwarf_Off at = 0;
    uint64_t where = 0, size;

    if (!ompp_die_ok(dwarf, dwarf_whatform(attribute, &form, &dwarf->error))) return false;
    if (dwarf->main) return form == DW_FORM_exprloc; /* lists of .dwo files are not read */
    if (!ompp_elf_section_size(dwarf->elf, section_of(from_5), &size))
        return true; /* compressed: a checksum guards it */
    if (form == DW_FORM_loclistx && !offset_of_index(dwarf, unit, attribute, &where)) return false;
    if (form != DW_FORM_loclistx) {
        if (form != DW_FORM_sec_offset && form != DW_FORM_data4 && form != DW_FORM_data8) return true;
        if (!ompp_die_ok(dwarf, dwarf_global_formref(attribute, &at, &dwarf->error))) return false;
        where = at;
    }
    return where < size && ends(dwarf->elf, from_5, where);
}
