/*
 * Addresses of entries. Entries of a .dwo file hold numbers of addresses, which stand in the program's file. libdwarf
 * 20210528 finds them there for some units only, so that they are looked up here.
 */
#include "structure/ompp_dwarf_priv.h"

#include "base/ompp_vector.h"
#include "config.h"

bool ompp_die_indexed(ompp_dwarf_t *dwarf, Dwarf_Die die, uint64_t index, uint64_t *address)
{
    ompp_dwarf_t *in = dwarf->main ? dwarf->main : dwarf;
    Dwarf_Addr found = 0;

    if (!ompp_die_ok(in, dwarf_debug_addr_index_to_addr(dwarf->main ? dwarf->head : die, index, &found, &in->error)))
        return false;
    *address = found;
    return true;
}

bool ompp_die_address(ompp_dwarf_t *dwarf, Dwarf_Die die, Dwarf_Half name, uint64_t *address)
{
    Dwarf_Attribute attribute = NULL;
    Dwarf_Unsigned index = 0;
    Dwarf_Addr value = 0;
    Dwarf_Half form = 0;
    bool found;

    if (!ompp_die_ok(dwarf, dwarf_attr(die, name, &attribute, &dwarf->error))) return false;
    const bool is_index = dwarf->main && ompp_die_ok(dwarf, dwarf_whatform(attribute, &form, &dwarf->error)) &&
                          dwarf_addr_form_is_indexed(form);
    if (is_index)
        found = ompp_die_ok(dwarf, dwarf_get_debug_addr_index(attribute, &index, &dwarf->error)) &&
                ompp_die_indexed(dwarf, die, index, address);
    else if ((found = ompp_die_ok(dwarf, dwarf_formaddr(attribute, &value, &dwarf->error)))) *address = value;
    dwarf_dealloc_attribute(attribute);
    return found;
}

static void add_range(ompp_ranges_t *ranges, uint64_t low, uint64_t high, uint32_t unit)
{
    if (low == 0 || low >= high) return; /* 0: code that the linker has thrown away */
    ompp_range_t *range = ompp_vector_push(&ranges->items, &ranges->n, &ranges->allocated, sizeof *range);
    if (range) *range = (ompp_range_t){low, high, unit};
}

static void ranges_before_5(ompp_dwarf_t *dwarf, Dwarf_Die die, Dwarf_Off offset, uint64_t base, uint32_t unit,
                            ompp_ranges_t *to)
{
    Dwarf_Ranges *entries = NULL;
    Dwarf_Signed n = 0;
    Dwarf_Off real = 0;
    Dwarf_Unsigned bytes = 0;

    if (!ompp_die_ok(dwarf, dwarf_get_ranges_b(dwarf->debug, offset, die, &real, &entries, &n, &bytes, &dwarf->error)))
        return;
    for (Dwarf_Signed i = 0; i < n && entries[i].dwr_type != DW_RANGES_END; i++) {
        if (entries[i].dwr_type == DW_RANGES_ADDRESS_SELECTION) base = entries[i].dwr_addr2;
        else add_range(to, base + entries[i].dwr_addr1, base + entries[i].dwr_addr2, unit);
    }
#ifdef OMPP_DWARF_INIT_PATH_SHORT
    dwarf_dealloc_ranges(dwarf->debug, entries, n);
#else
    dwarf_ranges_dealloc(dwarf->debug, entries, n);
#endif
}

static void ranges_from_5(ompp_dwarf_t *dwarf, Dwarf_Attribute attribute, Dwarf_Half form, Dwarf_Unsigned where,
                          uint32_t unit, ompp_ranges_t *to)
{
    Dwarf_Rnglists_Head head = NULL;
    Dwarf_Unsigned n = 0, offset = 0;

    if (form != DW_FORM_rnglistx && where >= dwarf->lists_size) return; /* libdwarf would read there */
    if (!ompp_die_ok(dwarf, dwarf_rnglists_get_rle_head(attribute, form, where, &head, &n, &offset, &dwarf->error)))
        return;
    for (Dwarf_Unsigned i = 0; i < n; i++) {
        unsigned length = 0, kind = 0;
        Dwarf_Unsigned raw1 = 0, raw2 = 0, low = 0, high = 0;
        Dwarf_Bool unavailable = 0;
        if (!ompp_die_ok(dwarf, dwarf_get_rnglists_entry_fields_a(head, i, &length, &kind, &raw1, &raw2, &unavailable,
                                                                  &low, &high, &dwarf->error)))
            break;
        if (kind == DW_RLE_end_of_list) break;
        if (unavailable || kind == DW_RLE_base_address || kind == DW_RLE_base_addressx) continue;
        add_range(to, low, high, unit);
    }
    dwarf_dealloc_rnglists_head(head);
}

/* ---- Of a .dwo file ---------------------------------------------------------------------------------------------- */

/* An entry of a list. \return false: it is the last one, or not understood. */
static bool add_listed(ompp_dwarf_t *dwarf, unsigned kind, uint64_t a, uint64_t b, uint64_t *base, ompp_ranges_t *to)
{
    uint64_t low = a, high = b;
    bool known = true;

    switch (kind) {
    case DW_RLE_base_address: *base = a; return true;
    case DW_RLE_base_addressx:
        if (!ompp_die_indexed(dwarf, NULL, a, base)) *base = 0;
        return true;
    case DW_RLE_startx_endx:
        known = ompp_die_indexed(dwarf, NULL, a, &low) && ompp_die_indexed(dwarf, NULL, b, &high);
        break;
    case DW_RLE_startx_length:
        known = ompp_die_indexed(dwarf, NULL, a, &low);
        high = low + b;
        break;
    case DW_RLE_offset_pair: low += *base, high += *base; break;
    case DW_RLE_start_end: break;
    case DW_RLE_start_length: high += low; break;
    default: return false;
    }
    if (known) add_range(to, low, high, 0);
    return true;
}

static void split_from_5(ompp_dwarf_t *dwarf, Dwarf_Half form, Dwarf_Unsigned where, uint64_t base, ompp_ranges_t *to)
{
    Dwarf_Unsigned at = where + dwarf->lists_at, begin = 0, end = 0, a = 0, b = 0;
    Dwarf_Small sizes[4];
    unsigned length = 0, kind = 0;

    if (form == DW_FORM_rnglistx &&
        !ompp_die_ok(dwarf,
                     dwarf_get_rnglist_offset_index_value(dwarf->debug, dwarf->lists, where, NULL, &at, &dwarf->error)))
        return;
    if (!ompp_die_ok(dwarf,
                     dwarf_get_rnglist_context_basics(dwarf->debug, dwarf->lists, NULL, &sizes[0], &sizes[1], &kind,
                                                      &sizes[2], &sizes[3], NULL, NULL, &begin, &end, &dwarf->error)))
        return;
    for (; at >= begin && at < end; at += length)
        if (!ompp_die_ok(dwarf, dwarf_get_rnglist_rle(dwarf->debug, dwarf->lists, at, end, &length, &kind, &a, &b,
                                                      &dwarf->error)) ||
            length == 0 || !add_listed(dwarf, kind, a, b, &base, to))
            break;
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

static bool bounds_of(ompp_dwarf_t *dwarf, Dwarf_Die die, uint64_t *low, uint64_t *high)
{
    Dwarf_Addr value = 0;
    Dwarf_Half form = 0;
    enum Dwarf_Form_Class class = DW_FORM_CLASS_UNKNOWN;

    if (!dwarf->main) {
        if (!ompp_die_ok(dwarf, dwarf_lowpc(die, &value, &dwarf->error))) return false;
        *low = value;
    } else if (!ompp_die_address(dwarf, die, DW_AT_low_pc, low)) {
        return false;
    }
    if (dwarf->main && ompp_die_address(dwarf, die, DW_AT_high_pc, high)) return true;
    if (!ompp_die_ok(dwarf, dwarf_highpc_b(die, &value, &form, &class, &dwarf->error))) return false;
    *high = class == DW_FORM_CLASS_CONSTANT ? *low + value : value;
    return true;
}

void ompp_die_ranges(ompp_dwarf_t *dwarf, Dwarf_Die die, Dwarf_Half version, uint64_t base, uint32_t unit,
                     ompp_ranges_t *to)
{
    uint64_t low = 0, high = 0;
    Dwarf_Half form = 0;
    Dwarf_Attribute attribute = NULL;
    Dwarf_Unsigned where = 0;

    if (bounds_of(dwarf, die, &low, &high)) {
        add_range(to, low, high, unit);
        return;
    }
    if (!ompp_die_ok(dwarf, dwarf_attr(die, DW_AT_ranges, &attribute, &dwarf->error))) return;
    bool found = ompp_die_ok(dwarf, dwarf_whatform(attribute, &form, &dwarf->error));
    if (found && form == DW_FORM_rnglistx)
        found = ompp_die_ok(dwarf, dwarf_formudata(attribute, &where, &dwarf->error));
    else if (found) found = ompp_die_ok(dwarf, dwarf_global_formref(attribute, &where, &dwarf->error));
    if (found && dwarf->main && version >= 5) split_from_5(dwarf, form, where, base, to);
    else if (found && dwarf->main) ranges_before_5(dwarf->main, NULL, dwarf->lists_at + where, base, unit, to);
    else if (found && version >= 5) ranges_from_5(dwarf, attribute, form, where, unit, to);
    else if (found) ranges_before_5(dwarf, die, where, base, unit, to);
    dwarf_dealloc_attribute(attribute);
}
