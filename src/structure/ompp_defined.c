/*
 * Types that a unit has only declared (class Mesh;), and another one defines. They are found by their names: one whose
 * name several different types have stays unknown.
 */
#include "structure/ompp_local.h"
#include "structure/ompp_structure_priv.h"
#include "structure/ompp_type_priv.h"

#include "base/ompp_clock.h"
#include "base/ompp_hash.h"
#include "base/ompp_table.h"

#include <stdlib.h>
#include <string.h>

#define SEVERAL UINT64_MAX

struct ompp_definitions {
    ompp_table_t by_name; /* hash of the name: the type, or SEVERAL */
};

typedef struct {
    struct ompp_definitions *all;
    ompp_dwarf_t *dwarf;
    bool in_namespace;
} reader_t;

static bool is_aggregate(Dwarf_Half tag)
{
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* \return the name; NULL = it has none, or is not of the wanted sort. */
static const char *name_of(ompp_dwarf_t *dwarf, Dwarf_Die die, bool declared)
{
    Dwarf_Bool has = 0;
    Dwarf_Half tag = 0;
    char *name = NULL;

    if (!ompp_die_ok(dwarf, dwarf_tag(die, &tag, &dwarf->error)) || !is_aggregate(tag)) return NULL;
    if (!ompp_die_ok(dwarf, dwarf_hasattr(die, DW_AT_declaration, &has, &dwarf->error))) return NULL;
    if ((has != 0) != declared) return NULL;
    return ompp_die_ok(dwarf, dwarf_diename(die, &name, &dwarf->error)) ? name : NULL;
}

static uint64_t hash_of(const char *name) { return ompp_hash_bytes(OMPP_HASH_START, name, strlen(name)); }

static void add(reader_t *r, Dwarf_Die die, const char *name)
{
    Dwarf_Off offset = 0;

    if (!ompp_die_ok(r->dwarf, dwarf_dieoffset(die, &offset, &r->dwarf->error))) return;
    const uint64_t type = offset | r->dwarf->id, key = hash_of(name), known = ompp_table_get(&r->all->by_name, key);
    if (known == SEVERAL) return;
    const bool same = !known || ompp_type_size(r->dwarf, known, false) == ompp_type_size(r->dwarf, type, false);
    if (!known || !same) ompp_table_set(&r->all->by_name, key, same ? type : SEVERAL);
}

static bool visit(ompp_dwarf_t *dwarf, Dwarf_Die die, void *context)
{
    reader_t *r = context, inner = *r;
    const char *name = name_of(dwarf, die, false);
    Dwarf_Half tag = 0;

    if (name) add(r, die, name);
    if (name || !ompp_die_ok(dwarf, dwarf_tag(die, &tag, &dwarf->error)) || tag != DW_TAG_namespace) return true;
    if (r->in_namespace) return true; /* in two of them: it is an implementation's */
    inner.in_namespace = true;
    ompp_die_each_child(dwarf, die, visit, &inner);
    return true;
}

static void free_all(struct ompp_definitions *all)
{
    ompp_table_fini(&all->by_name);
    free(all);
}

static struct ompp_definitions *read_all(ompp_structure_t *structure, double deadline)
{
    struct ompp_definitions *all = structure->definitions;

    if (all) return all;
    all = structure->definitions = calloc(1, sizeof *all);
    structure->free_definitions = free_all;
    for (size_t i = 0; all && i < structure->dwarf.nunits && ompp_clock_seconds() < deadline; i++) {
        ompp_unit_t *unit = &structure->dwarf.units[i];
        ompp_split_open(&structure->dwarf, unit);
        reader_t r = {.all = all, .dwarf = ompp_unit_dwarf(&structure->dwarf, unit)};
        Dwarf_Die die = ompp_die_at(r.dwarf, unit->die);
        if (!die) continue;
        ompp_die_each_child(r.dwarf, die, visit, &r);
        dwarf_dealloc_die(die);
    }
    return all;
}

uint64_t ompp_local_defined(ompp_structure_t *structure, uint64_t type, double deadline)
{
    ompp_dwarf_t *dwarf = ompp_type_dwarf(&structure->dwarf, type);
    Dwarf_Die die = type ? ompp_die_at(dwarf, type & (((uint64_t)1 << OMPP_ID_SHIFT) - 1)) : NULL;
    const char *name = die ? name_of(dwarf, die, true) : NULL;
    const struct ompp_definitions *all = name ? read_all(structure, deadline) : NULL;
    const uint64_t found = all ? ompp_table_get(&all->by_name, hash_of(name)) : 0;

    if (die) dwarf_dealloc_die(die);
    return found && found != SEVERAL ? found : type;
}
