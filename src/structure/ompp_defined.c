/*
 * Types that a unit has only declared (class Mesh;), and another one defines. They are found by their names, which say
 * nothing of what is around them: a name that several types have, or a type inside of another one, stays unknown.
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
#define MOST_ALIASES 8

struct ompp_definitions {
    ompp_table_t by_name; /* hash of the name: the type, or SEVERAL */
    bool complete;        /* all units were read */
};

typedef struct {
    struct ompp_definitions *all;
    bool in_namespace, in_type;
} reader_t;

static Dwarf_Half tag_of(ompp_dwarf_t *dwarf, Dwarf_Die die)
{
    Dwarf_Half tag = 0;

    return ompp_die_ok(dwarf, dwarf_tag(die, &tag, &dwarf->error)) ? tag : 0;
}

static bool is_aggregate(Dwarf_Half tag)
{
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

static bool is_alias(Dwarf_Half tag)
{
    return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type;
}

static bool is_declared(ompp_dwarf_t *dwarf, Dwarf_Die die)
{
    Dwarf_Bool has = 0;

    return ompp_die_ok(dwarf, dwarf_hasattr(die, DW_AT_declaration, &has, &dwarf->error)) && has;
}

static const char *name_of(ompp_dwarf_t *dwarf, Dwarf_Die die)
{
    char *name = NULL;

    return ompp_die_ok(dwarf, dwarf_diename(die, &name, &dwarf->error)) ? name : NULL;
}

static uint64_t hash_of(const char *name) { return ompp_hash_bytes(OMPP_HASH_START, name, strlen(name)); }

static Dwarf_Die open_type(ompp_dwarf_t *dwarf, uint64_t type)
{
    return type ? ompp_die_at(dwarf, type & (((uint64_t)1 << OMPP_ID_SHIFT) - 1)) : NULL;
}

static bool add_name(ompp_dwarf_t *dwarf, Dwarf_Die die, void *context)
{
    uint64_t *hash = context;
    const char *name = tag_of(dwarf, die) == DW_TAG_member ? name_of(dwarf, die) : NULL;

    if (name) *hash = ompp_hash_join(*hash, hash_of(name));
    return true;
}

/* What a definition of one header is in all units: its kind, size, line and members. The file's number is another in
 * each. */
static uint64_t shape_of(ompp_dwarf_t *dwarf, Dwarf_Die die)
{
    Dwarf_Unsigned size = 0, line = 0;

    ompp_die_number(dwarf, die, DW_AT_byte_size, &size);
    ompp_die_number(dwarf, die, DW_AT_decl_line, &line);
    uint64_t hash = ompp_hash_join(ompp_hash_pair((uint32_t)line, tag_of(dwarf, die) == DW_TAG_union_type), size);
    ompp_die_each_child(dwarf, die, add_name, &hash);
    return hash;
}

static bool is_same(ompp_dwarf_t *dwarf, uint64_t known, Dwarf_Die die)
{
    ompp_dwarf_t *of = ompp_type_dwarf(dwarf, known);
    Dwarf_Die other = open_type(of, known);
    const bool same = other && shape_of(of, other) == shape_of(dwarf, die);

    if (other) dwarf_dealloc_die(other);
    return same;
}

static void add(reader_t *r, ompp_dwarf_t *dwarf, Dwarf_Die die, const char *name)
{
    const uint64_t key = hash_of(name), known = ompp_table_get(&r->all->by_name, key);
    Dwarf_Off offset = 0;

    if (known == SEVERAL || !ompp_die_ok(dwarf, dwarf_dieoffset(die, &offset, &dwarf->error))) return;
    if (r->in_type) ompp_table_set(&r->all->by_name, key, SEVERAL);
    else if (!known && !is_declared(dwarf, die)) ompp_table_set(&r->all->by_name, key, offset | dwarf->id);
    else if (known && !is_declared(dwarf, die) && !is_same(dwarf, known, die))
        ompp_table_set(&r->all->by_name, key, SEVERAL);
}

static bool visit(ompp_dwarf_t *dwarf, Dwarf_Die die, void *context)
{
    reader_t *r = context, inner = *r;
    const Dwarf_Half tag = tag_of(dwarf, die);
    const char *name = is_aggregate(tag) ? name_of(dwarf, die) : NULL;

    if (name) add(r, dwarf, die, name);
    inner.in_type |= is_aggregate(tag);
    inner.in_namespace |= tag == DW_TAG_namespace;
    /* deeper ones are implementations' */
    const bool enters = (is_aggregate(tag) && !r->in_type) || (tag == DW_TAG_namespace && !r->in_namespace);
    if (enters) ompp_die_each_child(dwarf, die, visit, &inner);
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
    size_t i = 0;

    if (all) return all;
    all = structure->definitions = calloc(1, sizeof *all);
    structure->free_definitions = free_all;
    for (; all && i < structure->dwarf.nunits && ompp_clock_seconds() < deadline; i++) {
        ompp_unit_t *unit = &structure->dwarf.units[i];
        ompp_split_open(&structure->dwarf, unit);
        ompp_dwarf_t *dwarf = ompp_unit_dwarf(&structure->dwarf, unit);
        Dwarf_Die die = ompp_die_at(dwarf, unit->die);
        reader_t r = {.all = all};
        if (!die) continue;
        ompp_die_each_child(dwarf, die, visit, &r);
        dwarf_dealloc_die(die);
    }
    if (all) all->complete = i == structure->dwarf.nunits;
    return all;
}

/* The definition of a declaration; 0 = none. */
static uint64_t definition_of(ompp_structure_t *structure, ompp_dwarf_t *dwarf, Dwarf_Die die, double deadline)
{
    const char *name = is_declared(dwarf, die) ? name_of(dwarf, die) : NULL;
    const struct ompp_definitions *all = name ? read_all(structure, deadline) : NULL;
    const uint64_t found = all && all->complete ? ompp_table_get(&all->by_name, hash_of(name)) : 0;
    Dwarf_Die other = NULL;

    if (found == SEVERAL || !(other = open_type(ompp_type_dwarf(dwarf, found), found))) return 0;
    const bool is_union = tag_of(ompp_type_dwarf(dwarf, found), other) == DW_TAG_union_type;
    dwarf_dealloc_die(other);
    return is_union == (tag_of(dwarf, die) == DW_TAG_union_type) ? found : 0;
}

uint64_t ompp_local_defined(ompp_structure_t *structure, uint64_t type, double deadline)
{
    uint64_t at = type, found = 0;

    for (unsigned i = 0; at && i < MOST_ALIASES; i++) {
        ompp_dwarf_t *dwarf = ompp_type_dwarf(&structure->dwarf, at);
        Dwarf_Die die = open_type(dwarf, at);
        if (!die) break;
        const Dwarf_Half tag = tag_of(dwarf, die);
        if (is_aggregate(tag)) found = definition_of(structure, dwarf, die, deadline);
        at = is_alias(tag) ? ompp_type_of(dwarf, die) : 0;
        dwarf_dealloc_die(die);
    }
    return found ? found : type;
}
