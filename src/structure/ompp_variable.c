#define _GNU_SOURCE
/*
 * Reads all variables of a module at the first question: unlike code, data has no table that says which unit an address
 * is in.
 */
#include "structure/ompp_variable.h"

#include "base/ompp_clock.h"
#include "base/ompp_vector.h"
#include "structure/ompp_name.h"
#include "structure/ompp_structure_priv.h"
#include "structure/ompp_type_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_DEPTH 256 /* of nested scopes */
#define MAX_ORIGINS 4
#define OP_ADDRX 0xa1 /* DW_OP_addrx and DW_OP_GNU_addr_index, which old headers do not name */
#define OP_GNU_ADDRX 0xfb

typedef struct ompp_variables {
    bool read;
    size_t n, allocated;
    ompp_variable_t *items; /* ascending by address when read */
    size_t nstrings, astrings;
    char **strings; /* owned */
} ompp_variables_t;

/* Where the reader is in a unit. */
typedef struct {
    ompp_structure_t *structure;
    ompp_dwarf_t *dwarf; /* that has the unit's entries */
    Dwarf_Die unit;
    Dwarf_Half version;
    bool fortran;
    char **files; /* of libdwarf */
    Dwarf_Signed nfiles;
    const char *scope; /* "geo::" of namespaces, "shapes::" of modules, "/work/" of common blocks; "" = none */
    const char *function;
    int depth;
} reader_t;

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* Takes over a string; NULL when there is no memory. */
static const char *keep(ompp_variables_t *variables, char *text)
{
    char **to =
        text ? ompp_vector_push(&variables->strings, &variables->nstrings, &variables->astrings, sizeof text) : NULL;

    if (to) return *to = text;
    free(text);
    return NULL;
}

static char *joined(const char *a, const char *b, const char *c)
{
    size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
    char *text = malloc(size);

    if (text) snprintf(text, size, "%s%s%s", a, b, c);
    return text;
}

void ompp_variables_free(ompp_variables_t *variables)
{
    if (!variables) return;
    for (size_t i = 0; i < variables->nstrings; i++) free(variables->strings[i]);
    free(variables->strings);
    free(variables->items);
    free(variables);
}

/* ---- One variable ------------------------------------------------------------------------------------------------ */

static const char *name_of(ompp_dwarf_t *dwarf, Dwarf_Die die)
{
    char *name = NULL;

    return ompp_die_ok(dwarf, dwarf_diename(die, &name, &dwarf->error)) ? name : NULL;
}

static uint64_t leb128(const unsigned char **p, const unsigned char *end)
{
    uint64_t value = 0;

    for (unsigned shift = 0; *p < end; shift += 7) {
        unsigned char byte = *(*p)++;
        if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) break;
    }
    return value;
}

/* A location that is an address, perhaps plus an offset (members of common blocks). */
static bool fixed_address(reader_t *r, const unsigned char *p, const unsigned char *end, uint64_t *addr)
{
    if (p == end) return false;
    if (*p == DW_OP_addr && (size_t)(end - p) > sizeof *addr) {
        memcpy(addr, p + 1, sizeof *addr);
        p += 1 + sizeof *addr;
    } else if (*p == OP_ADDRX || *p == OP_GNU_ADDRX) {
        p++;
        if (!ompp_die_indexed(r->dwarf, r->unit, leb128(&p, end), addr)) return false;
    } else {
        return false;
    }
    if (p < end && *p == DW_OP_plus_uconst) {
        p++;
        *addr += leb128(&p, end);
    }
    return p == end && *addr != 0; /* 0: thrown away by the linker */
}

static bool location_of(reader_t *r, Dwarf_Die die, uint64_t *addr)
{
    ompp_dwarf_t *dwarf = r->dwarf;
    Dwarf_Attribute attribute = NULL;
    Dwarf_Unsigned length = 0;
    Dwarf_Ptr block = NULL;

    if (!ompp_die_ok(dwarf, dwarf_attr(die, DW_AT_location, &attribute, &dwarf->error))) return false;
    bool found = ompp_die_ok(dwarf, dwarf_formexprloc(attribute, &length, &block, &dwarf->error)) &&
                 fixed_address(r, block, (const unsigned char *)block + length, addr);
    dwarf_dealloc_attribute(attribute);
    return found;
}

/* Name, place and type; from the declaration what the entry itself does not say. */
typedef struct {
    const char *name, *linkage;
    Dwarf_Unsigned line, file;
    bool has_file;
    uint64_t type;
} declared_t;

static void read_declared(ompp_dwarf_t *dwarf, Dwarf_Die die, declared_t *d, int depth)
{
    if (!d->name) d->name = name_of(dwarf, die);
    if (!d->linkage) d->linkage = ompp_die_linkage_name(dwarf, die);
    if (!d->type) d->type = ompp_type_of(dwarf, die);
    if (!d->line) ompp_die_number(dwarf, die, DW_AT_decl_line, &d->line);
    if (!d->has_file) d->has_file = ompp_die_number(dwarf, die, DW_AT_decl_file, &d->file);
    if (depth == MAX_ORIGINS) return;
    Dwarf_Die origin = ompp_die_referred(dwarf, die, DW_AT_specification);
    if (!origin) origin = ompp_die_referred(dwarf, die, DW_AT_abstract_origin);
    if (!origin) return;
    read_declared(dwarf, origin, d, depth + 1);
    dwarf_dealloc_die(origin);
}

/* Before DWARF 5 file numbers begin with 1. */
static const char *file_of(reader_t *r, Dwarf_Unsigned number)
{
    Dwarf_Unsigned index = number - (r->version < 5);

    return r->files && index < (Dwarf_Unsigned)r->nfiles ? r->files[index] : NULL;
}

/* The symbol of a variable when that says class or namespace, which the entry need not be in. */
static const char *qualified_symbol(ompp_structure_t *structure, const declared_t *d, uint64_t addr)
{
    const ompp_elf_symbol_t *symbol = ompp_elf_object(&structure->elf, addr);

    if (d->linkage && ompp_name_is_qualified(d->linkage)) return d->linkage;
    return symbol && symbol->low == addr && ompp_name_is_qualified(symbol->name) ? symbol->name : NULL;
}

/* Owned; NULL = none. clang drops the name of a function that is inlined everywhere, but not from the symbol
 * "function.variable". */
static char *function_of(reader_t *r, uint64_t addr)
{
    const ompp_elf_symbol_t *symbol = r->function && !*r->function ? ompp_elf_object(&r->structure->elf, addr) : NULL;
    const char *dot = symbol && symbol->low == addr ? strchr(symbol->name, '.') : NULL;

    if (r->function && *r->function) return strdup(r->function);
    return dot ? strndup(symbol->name, (size_t)(dot - symbol->name)) : NULL;
}

static void add_variable(reader_t *r, Dwarf_Die die)
{
    ompp_variables_t *all = r->structure->variables;
    ompp_dwarf_t *dwarf = r->dwarf;
    declared_t d = {0};
    uint64_t addr = 0;

    if (!location_of(r, die, &addr)) return;
    read_declared(dwarf, die, &d, 0);
    if (!d.name || !ompp_vector_reserve(&all->items, &all->allocated, all->n + 1, sizeof *all->items)) return;
    const char *symbol = r->function || *r->scope == '/' ? NULL : qualified_symbol(r->structure, &d, addr);
    const char *name = keep(all, symbol ? ompp_name_of_symbol(symbol, true) : joined(r->scope, d.name, ""));
    const char *file = d.has_file ? file_of(r, d.file) : NULL;
    if (!name) return;
    all->items[all->n++] = (ompp_variable_t){.name = name,
                                             .function = keep(all, function_of(r, addr)),
                                             .file = file ? keep(all, strdup(file)) : NULL,
                                             .line = (uint32_t)d.line,
                                             .addr = addr,
                                             .size = ompp_type_size(dwarf, d.type, r->fortran),
                                             .type = d.type,
                                             .fortran = r->fortran};
}

/* ---- Units ------------------------------------------------------------------------------------------------------- */

static bool visit(ompp_dwarf_t *dwarf, Dwarf_Die die, void *context);

static void inside(reader_t *r, ompp_dwarf_t *dwarf, Dwarf_Die die, const char *scope, const char *function)
{
    reader_t inner = *r;

    inner.depth++;
    inner.scope = scope;
    inner.function = function;
    if (inner.depth < MAX_DEPTH) ompp_die_each_child(dwarf, die, visit, &inner);
}

static void inside_named(reader_t *r, ompp_dwarf_t *dwarf, Dwarf_Die die, const char *before, const char *behind)
{
    const char *name = name_of(dwarf, die);
    char *scope = joined(before, name ? name : "(anonymous namespace)", behind);

    if (scope) inside(r, dwarf, die, scope, r->function);
    free(scope);
}

static void inside_function(reader_t *r, ompp_dwarf_t *dwarf, Dwarf_Die die)
{
    declared_t d = {0};

    read_declared(dwarf, die, &d, 0);
    char *name = d.linkage && ompp_name_is_qualified(d.linkage) ? ompp_name_of_symbol(d.linkage, true) : NULL;
    inside(r, dwarf, die, "", name ? name : d.name ? d.name : "");
    free(name);
}

static bool visit(ompp_dwarf_t *dwarf, Dwarf_Die die, void *context)
{
    reader_t *r = context;
    Dwarf_Half tag = 0;

    if (!ompp_die_ok(dwarf, dwarf_tag(die, &tag, &dwarf->error))) return true;
    switch (tag) {
    case DW_TAG_variable: add_variable(r, die); break;
    case DW_TAG_namespace:
    case DW_TAG_module: inside_named(r, dwarf, die, r->scope, "::"); break;
    case DW_TAG_common_block: inside_named(r, dwarf, die, "/", "/"); break;
    case DW_TAG_subprogram: inside_function(r, dwarf, die); break;
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block: inside(r, dwarf, die, r->scope, r->function); break;
    default: break;
    }
    return true;
}

static bool is_fortran(Dwarf_Unsigned language)
{
    return language == DW_LANG_Fortran77 || language == DW_LANG_Fortran90 || language == DW_LANG_Fortran95 ||
           language == 0x22 /* 2003 */ || language == 0x23 /* 2008 */ || language == 0x2d /* 2018 */;
}

static void read_unit(ompp_structure_t *structure, ompp_unit_t *unit)
{
    ompp_dwarf_t *dwarf = &structure->dwarf;
    reader_t r = {.structure = structure, .version = unit->version, .scope = ""};
    Dwarf_Unsigned language = 0;

    ompp_split_open(dwarf, unit);
    r.dwarf = ompp_unit_dwarf(dwarf, unit);
    r.unit = ompp_die_at(r.dwarf, unit->die);
    if (!r.unit) return;
    if (ompp_die_number(r.dwarf, r.unit, DW_AT_language, &language)) r.fortran = is_fortran(language);
    const Dwarf_Die lines = unit->split ? unit->split->head : r.unit;
    if (!ompp_die_ok(dwarf, dwarf_srcfiles(lines, &r.files, &r.nfiles, &dwarf->error))) r.files = NULL;
    ompp_die_each_child(r.dwarf, r.unit, visit, &r);
    for (Dwarf_Signed i = 0; r.files && i < r.nfiles; i++) dwarf_dealloc(dwarf->debug, r.files[i], DW_DLA_STRING);
    if (r.files) dwarf_dealloc(dwarf->debug, r.files, DW_DLA_LIST);
    dwarf_dealloc_die(r.unit);
}

/* ---- Symbols ----------------------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const ompp_variable_t *x = a, *y = b;

    if (x->addr != y->addr) return x->addr < y->addr ? -1 : 1;
    return (x->size < y->size) - (x->size > y->size); /* the larger one first */
}

/* Largest index of one that begins at or before an address, plus 1. */
static size_t upto(const ompp_variables_t *all, size_t n, uint64_t addr)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all->items[middle].addr <= addr) low = middle + 1;
        else high = middle;
    }
    return low;
}

static bool known(const ompp_variables_t *all, size_t n, uint64_t addr)
{
    size_t i = upto(all, n, addr);

    return i > 0 && (all->items[i - 1].addr == addr || addr - all->items[i - 1].addr < all->items[i - 1].size);
}

/* "count.3" is gcc's for a static variable of a function, "function.count" clang's. */
static ompp_variable_t from_symbol(ompp_variables_t *all, const ompp_elf_symbol_t *s)
{
    ompp_variable_t v = {.addr = s->low, .size = s->high - s->low};
    const char *dot = ompp_name_is_qualified(s->name) ? NULL : strchr(s->name, '.');

    if (dot && dot > s->name && dot[1] && !strchr("0123456789", dot[1])) {
        v.function = keep(all, strndup(s->name, (size_t)(dot - s->name)));
        v.name = keep(all, ompp_name_of_symbol(dot + 1, true));
    } else {
        v.name = keep(all, ompp_name_of_symbol(s->name, true));
    }
    return v;
}

/* Symbols of what the debug information has not. They also say the size of what it does not know one of. */
static void add_symbols(ompp_variables_t *all, ompp_elf_t *elf)
{
    const ompp_elf_symbols_t *symbols = ompp_elf_objects(elf);
    size_t n = all->n;

    for (size_t i = 0; i < symbols->n; i++) {
        const ompp_elf_symbol_t *s = &symbols->items[i];
        size_t at = upto(all, n, s->low);
        if (at > 0 && all->items[at - 1].addr == s->low && all->items[at - 1].size == 0)
            all->items[at - 1].size = s->high - s->low;
        if (s->low == 0 || known(all, n, s->low) || (i > 0 && symbols->items[i - 1].low == s->low)) continue;
        if (!ompp_vector_reserve(&all->items, &all->allocated, all->n + 1, sizeof *all->items)) return;
        ompp_variable_t v = from_symbol(all, s);
        if (v.name) all->items[all->n++] = v;
    }
}

static void sort(ompp_variables_t *all)
{
    if (all->n > 1) qsort(all->items, all->n, sizeof *all->items, compare);
}

static ompp_variables_t *read_all(ompp_structure_t *structure, double deadline)
{
    ompp_variables_t *all = structure->variables;

    if (!all) all = structure->variables = calloc(1, sizeof *all);
    if (!all || all->read) return all;
    all->read = true;
    for (size_t i = 0; structure->has_lines && i < structure->dwarf.nunits && ompp_clock_seconds() < deadline; i++)
        read_unit(structure, &structure->dwarf.units[i]);
    sort(all);
    add_symbols(all, &structure->elf);
    sort(all);
    if (structure->debug.fd >= 0) add_symbols(all, &structure->debug);
    sort(all);
    return all;
}

/* ---- Answers ----------------------------------------------------------------------------------------------------- */

const ompp_variable_t *ompp_variable_at(ompp_structure_t *structure, uint64_t addr, double deadline)
{
    const ompp_variables_t *all = read_all(structure, deadline);

    for (size_t i = all ? upto(all, all->n, addr) : 0; i > 0; i--) {
        const ompp_variable_t *v = &all->items[i - 1];
        bool last = i == 1 || all->items[i - 2].addr != v->addr;
        if (addr - v->addr < v->size || (v->size == 0 && addr == v->addr)) {
            /* the largest of those that begin there */
            while (i > 1 && all->items[i - 2].addr == v->addr) v = &all->items[--i - 1];
            return v;
        }
        if (last) break;
    }
    return NULL;
}

static bool same(const char *a, const char *b, bool fortran)
{
    return fortran ? strcasecmp(a, b) == 0 : strcmp(a, b) == 0;
}

/* Behind the last "::" or "/". */
const char *ompp_variable_last_part(const char *name)
{
    const char *part = name;

    for (const char *p = name; *p; p++)
        if (*p == '/' || (*p == ':' && p > name && p[-1] == ':')) part = p + 1;
    return part;
}

static bool is_named(const ompp_variable_t *v, const char *name)
{
    size_t n = v->function ? strlen(v->function) : 0;

    if (same(v->name, name, v->fortran) || same(ompp_variable_last_part(v->name), name, v->fortran)) return true;
    return n > 0 && strncmp(name, v->function, n) == 0 && strncmp(name + n, "::", 2) == 0 &&
           same(v->name, name + n + 2, v->fortran);
}

size_t ompp_variable_named(ompp_structure_t *structure, const char *name, double deadline,
                           const ompp_variable_t **found, size_t max)
{
    const ompp_variables_t *all = read_all(structure, deadline);
    size_t n = 0;

    for (size_t i = 0; all && i < all->n; i++) {
        const ompp_variable_t *v = &all->items[i];
        if (!is_named(v, name) || (i > 0 && all->items[i - 1].addr == v->addr && is_named(&all->items[i - 1], name)))
            continue;
        if (n < max) found[n] = v;
        n++;
    }
    return n;
}

void ompp_variable_part(ompp_structure_t *structure, const ompp_variable_t *variable, uint64_t offset,
                        const char *const whole[], char *text, size_t size)
{
    ompp_type_part(&structure->dwarf, variable->type, offset, variable->fortran, whole, text, size);
}

const ompp_variable_t *ompp_variable_all(ompp_structure_t *structure, double deadline, size_t *n)
{
    const ompp_variables_t *all = read_all(structure, deadline);

    *n = all ? all->n : 0;
    return all ? all->items : NULL;
}

/* "solve", "solve_" of Fortran, "_ZN3geo5solveEv" for "geo::solve". */
static bool is_symbol_of(const char *symbol, const char *name)
{
    size_t n = strlen(name);

    if (strncmp(symbol, name, n) == 0 && (!symbol[n] || strcmp(symbol + n, "_") == 0 || symbol[n] == '@')) return true;
    if (strncmp(symbol, "_Z", 2) != 0 || !strstr(symbol, ompp_variable_last_part(name))) return false;
    char *whole = ompp_name_of_symbol(symbol, true);
    const char *last = whole ? ompp_variable_last_part(whole) : NULL;
    bool is = whole && (strcmp(whole, name) == 0 || strcmp(last, name) == 0);
    free(whole);
    return is;
}

bool ompp_variable_is_function(ompp_structure_t *structure, const char *name)
{
    const ompp_elf_symbols_t *all = ompp_elf_functions(&structure->elf);

    for (size_t i = 0; *name && i < all->n; i++)
        if (is_symbol_of(all->items[i].name, name)) return true;
    return false;
}

bool ompp_variable_is_imported(ompp_structure_t *structure, const char *name)
{
    return ompp_elf_holds(&structure->elf, ".dynstr", name) > 0;
}

/* ---- Before it is read ------------------------------------------------------------------------------------------- */

static bool symbol_has(ompp_elf_t *elf, const char *word)
{
    const ompp_elf_symbols_t *all = ompp_elf_objects(elf);
    bool has = false;

    for (size_t i = 0; i < all->n && !has; i++) has = strcasestr(all->items[i].name, word) != NULL;
    return has;
}

/* As it is written, and as compilers of Fortran write it. */
static bool debug_has(const ompp_elf_t *elf, const char *word, bool compressed)
{
    static const char *const sections[] = {".debug_str", ".debug_info"};
    char *forms[3] = {strdup(word), strdup(word), strdup(word)};
    int has = ompp_elf_has(elf, ".zdebug_info") ? -1 : 0;

    for (char *p = forms[1]; p && *p; p++) *p = (char)tolower((unsigned char)*p);
    for (char *p = forms[2]; p && *p; p++) *p = (char)toupper((unsigned char)*p);
    for (size_t i = 0; i < 6 && has == 0; i++)
        if (forms[i / 2]) has = ompp_elf_holds(elf, sections[i % 2], forms[i / 2]);
    for (size_t i = 0; i < 3; i++) free(forms[i]);
    return has < 0 ? compressed : has > 0;
}

bool ompp_variable_may_be(ompp_structure_t *structure, const char *word, bool compressed)
{
    const bool apart = structure->debug.fd >= 0;

    if (!*word || strpbrk(word, "<>()")) return true; /* a template's name has parts that are nowhere as a text */
    if (symbol_has(&structure->elf, word) || (apart && symbol_has(&structure->debug, word))) return true;
    return debug_has(apart ? &structure->debug : &structure->elf, word, compressed);
}

const char *ompp_variable_symbol(ompp_structure_t *structure, uint64_t addr, uint64_t *size)
{
    const ompp_elf_symbol_t *symbol = ompp_elf_object(&structure->elf, addr);

    if (!symbol && structure->debug.fd >= 0) symbol = ompp_elf_object(&structure->debug, addr);
    if (!symbol || symbol->low != addr) return NULL;
    *size = symbol->high - symbol->low;
    return symbol->name;
}

const char *ompp_variable_select(ompp_structure_t *structure, const ompp_variable_t *variable, const char *part,
                                 uint64_t *offset, uint64_t *size)
{
    return ompp_type_select(&structure->dwarf, variable->type, part, variable->fortran, offset, size);
}

ompp_variable_kind_t ompp_variable_kind(ompp_structure_t *structure, const ompp_variable_t *variable)
{
    if (ompp_type_is_pointer(&structure->dwarf, variable->type)) return OMPP_VARIABLE_POINTER;
    if (ompp_type_is_descriptor(&structure->dwarf, variable->type)) return OMPP_VARIABLE_DESCRIPTOR;
    return ompp_type_is_container(&structure->dwarf, variable->type) ? OMPP_VARIABLE_CONTAINER : OMPP_VARIABLE_DATA;
}
