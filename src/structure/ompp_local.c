/*
 * Variables of functions, by where they are. Of a procedure all variables are looked at, those of calls inlined there
 * too.
 */
#include "structure/ompp_local.h"

#include "structure/ompp_local_priv.h"
#include "structure/ompp_structure_priv.h"
#include "structure/ompp_type_priv.h"

#include "base/ompp_hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_DEPTH 64
#define PIECES 8
#define MOST_DECLARED 4 /* types inside one another that are only declared */

typedef struct {
    unsigned n; /* operations */
    bool deref; /* and what is there is the variable's address: arrays of Fortran that the compiler allocates */
    bool piece; /* 8 bytes of the variable alone, so far behind its begin: */
    int64_t offset;
    Dwarf_Small op;
    Dwarf_Unsigned first, second;
} expression_t;

/* Where a variable of a procedure is, in code from low to high. */
typedef struct {
    uint64_t low, high;      /* 0, UINT64_MAX: everywhere */
    size_t block, block_end; /* of the ranges of blocks: those of the innermost block around it; none: the procedure */
    Dwarf_Off die;
    const char *function; /* that it is inlined from, or the procedure */
    uint64_t returns;     /* the type that the inlined function returns; 0 = none, or it is the procedure's */
    expression_t expression;
} location_t;

/* What debug information says of a procedure's variables. */
typedef struct {
    const ompp_unit_t *unit; /* NULL = of none yet */
    Dwarf_Off die;
    bool fortran;
    expression_t base; /* of DW_OP_fbreg; no operations: not known */
    size_t n, room;
    location_t *locations;
    ompp_ranges_t blocks; /* addresses of lexical blocks and inlined calls */
} procedure_t;

#define PROCEDURES 64

/* Those that were asked for last: many places of few procedures are. */
struct ompp_locals {
    procedure_t procedures[PROCEDURES];
};

typedef struct {
    procedure_t *procedure;
    const ompp_unit_t *unit;
    const char *function;
    uint64_t returns;        /* as in location_t */
    Dwarf_Addr low;          /* of the unit */
    size_t block, block_end; /* as in location_t */
    int depth;
} reader_t;

typedef struct {
    ompp_structure_t *structure;
    const ompp_local_place_t *place;
    ompp_local_t *found;
    size_t max, n;
    bool fortran, has_base;
    const ompp_unit_t *unit;
    int64_t base;  /* of DW_OP_fbreg, from the canonical frame address */
    int64_t frame; /* from the stack pointer to that */
} search_t;

static Dwarf_Half tag_of(ompp_dwarf_t *dwarf, Dwarf_Die die)
{
    Dwarf_Half tag = 0;

    return ompp_die_ok(dwarf, dwarf_tag(die, &tag, &dwarf->error)) ? tag : 0;
}

/* ---- Locations --------------------------------------------------------------------------------------------------- */

/* The canonical frame address and a number: the base of frames that clang has aligned. */
static bool is_cfa_plus(ompp_dwarf_t *dwarf, Dwarf_Locdesc_c where, Dwarf_Unsigned n, Dwarf_Unsigned *number)
{
    static const Dwarf_Small wanted[] = {DW_OP_call_frame_cfa, DW_OP_consts, DW_OP_plus};
    Dwarf_Unsigned a = 0, b = 0, c = 0, branch = 0;
    Dwarf_Small op = 0;

    for (Dwarf_Unsigned i = 0; n == 3 && i < 3; i++) {
        if (!ompp_die_ok(dwarf, dwarf_get_location_op_value_c(where, i, &op, &a, &b, &c, &branch, &dwarf->error)) ||
            op != wanted[i])
            return false;
        if (op == DW_OP_consts) *number = a;
    }
    return n == 3;
}

static bool read_expression(ompp_dwarf_t *dwarf, Dwarf_Locdesc_c where, Dwarf_Unsigned n, expression_t *e)
{
    Dwarf_Unsigned third = 0, branch = 0, number = 0;

    Dwarf_Unsigned a = 0, b = 0;
    Dwarf_Small next = 0;

    *e = (expression_t){.n = (unsigned)n};
    if (is_cfa_plus(dwarf, where, n, &number)) {
        *e = (expression_t){.n = 1, .op = DW_OP_call_frame_cfa, .first = number};
        return true;
    }
    if (n == 2 &&
        ompp_die_ok(dwarf, dwarf_get_location_op_value_c(where, 1, &next, &a, &b, &third, &branch, &dwarf->error)) &&
        next == DW_OP_deref) {
        e->n = 1;
        e->deref = true;
    }
    return n > 0 && ompp_die_ok(dwarf, dwarf_get_location_op_value_c(where, 0, &e->op, &e->first, &e->second, &third,
                                                                     &branch, &dwarf->error));
}

/* Of a variable in several pieces, those of 8 bytes that one operation tells: the address in a descriptor, pointers in
 * a structure. \return their number; 0 = it is in one piece. */
static size_t read_pieces(ompp_dwarf_t *dwarf, Dwarf_Locdesc_c where, Dwarf_Unsigned n, expression_t pieces[PIECES])
{
    expression_t now = {.piece = true};
    size_t found = 0;

    for (Dwarf_Unsigned i = 0; i < n; i++) {
        Dwarf_Unsigned first = 0, second = 0, third = 0, branch = 0;
        Dwarf_Small op = 0;
        if (!ompp_die_ok(dwarf,
                         dwarf_get_location_op_value_c(where, i, &op, &first, &second, &third, &branch, &dwarf->error)))
            return found;
        if (op != DW_OP_piece) {
            now.n++;
            now.op = op;
            now.first = first;
            now.second = second;
            continue;
        }
        if (now.n == 1 && first == sizeof(void *) && found < PIECES) pieces[found++] = now;
        now.n = 0;
        now.offset += (int64_t)first;
    }
    return found;
}

static void add_location(procedure_t *p, const location_t *location)
{
    if (p->n == p->room) {
        const size_t room = p->room ? 2 * p->room : 64;
        location_t *more = realloc(p->locations, room * sizeof *more);
        if (!more) return;
        p->locations = more;
        p->room = room;
    }
    p->locations[p->n++] = *location;
}

/* Each expression of a location. */
static void read_locations(ompp_dwarf_t *dwarf, reader_t *r, Dwarf_Die die, Dwarf_Half name)
{
    location_t location = {
        .function = r->function, .returns = r->returns, .block = r->block, .block_end = r->block_end};
    Dwarf_Attribute attribute = NULL;
    Dwarf_Loc_Head_c head = NULL;
    Dwarf_Unsigned n = 0;

    if (!ompp_die_ok(dwarf, dwarf_attr(die, name, &attribute, &dwarf->error))) return;
    if (!ompp_die_ok(dwarf, dwarf_dieoffset(die, &location.die, &dwarf->error)) ||
        !ompp_die_has_locations(dwarf, attribute, r->unit) ||
        !ompp_die_ok(dwarf, dwarf_get_loclist_c(attribute, &head, &n, &dwarf->error)))
        n = 0;
    for (Dwarf_Unsigned i = 0; i < n; i++) {
        Dwarf_Small kind = 0, source = 0;
        Dwarf_Unsigned raw_low = 0, raw_high = 0, nops = 0, offset = 0, at = 0;
        Dwarf_Bool missing = 0;
        Dwarf_Addr low = 0, high = 0;
        Dwarf_Locdesc_c where = NULL;
        if (!ompp_die_ok(dwarf, dwarf_get_locdesc_entry_d(head, i, &kind, &raw_low, &raw_high, &missing, &low, &high,
                                                          &nops, &where, &source, &offset, &at, &dwarf->error)))
            break;
        location.low = source == 0 ? 0 : low;
        location.high = source == 0 ? UINT64_MAX : high;
        expression_t pieces[PIECES];
        const size_t npieces = read_pieces(dwarf, where, nops, pieces);
        for (size_t k = 0; k < npieces; k++) {
            location.expression = pieces[k];
            add_location(r->procedure, &location);
        }
        if (npieces || !read_expression(dwarf, where, nops, &location.expression)) continue;
        if (name == DW_AT_frame_base) r->procedure->base = location.expression;
        else add_location(r->procedure, &location);
        if (name == DW_AT_frame_base) break;
    }
    if (head) dwarf_loc_head_c_dealloc(head);
    dwarf_dealloc_attribute(attribute);
}

static void take_base(search_t *s, const expression_t *e)
{
    s->has_base = true;
    if (e->n == 1 && e->op == DW_OP_call_frame_cfa) {
        s->base = (int64_t)e->first;
        if (s->base < 0) s->frame = -s->base; /* clang tells places by the stack pointer before arguments are pushed */
    } else if (e->n == 1 &&
               (e->op == DW_OP_reg0 + OMPP_LOCAL_RBP || (e->op == DW_OP_breg0 + OMPP_LOCAL_RBP && !e->first)))
        s->base = -OMPP_LOCAL_BELOW_RBP;
    else if (e->n == 1 && e->op == DW_OP_reg0 + OMPP_LOCAL_RSP && s->frame) s->base = -s->frame;
    else s->has_base = false;
}

/* Whether the register that is asked for has a variable, or its address. */
static bool is_in_register(const search_t *s, const expression_t *e, bool *is_address)
{
    const unsigned reg = s->place->reg;

    *is_address = reg != OMPP_LOCAL_RSP && e->op == DW_OP_breg0 + reg && !e->first;
    return e->n == 1 && !e->deref && (*is_address || e->op == DW_OP_reg0 + reg);
}

/* Where an expression says that the variable lies, or its address. */
static bool place_of(const search_t *s, const expression_t *e, int64_t *low)
{
    if (e->n != 1 || (e->deref && !s->place->now)) return false;
    if (e->op == DW_OP_fbreg && s->has_base) *low = s->base + (int64_t)e->first;
    else if (e->op == DW_OP_breg0 + OMPP_LOCAL_RBP) *low = (int64_t)e->first - OMPP_LOCAL_BELOW_RBP;
    else if (e->op == DW_OP_breg0 + OMPP_LOCAL_RSP && s->frame) *low = (int64_t)e->first - s->frame;
    else return false;
    return true;
}

static const char *name_of(ompp_dwarf_t *dwarf, Dwarf_Die die, uint64_t *type, int depth)
{
    char *name = NULL;

    if (!*type) *type = ompp_type_of(dwarf, die);
    if (!ompp_die_ok(dwarf, dwarf_diename(die, &name, &dwarf->error))) name = NULL;
    Dwarf_Die origin = (name && *type) || depth == 4 ? NULL : ompp_die_referred(dwarf, die, DW_AT_abstract_origin);
    if (!origin) return name;
    const char *said = name_of(dwarf, origin, type, depth + 1);
    dwarf_dealloc_die(origin);
    return name ? name : said;
}

/* An allocatable array or a variable whose size is not known is its first word. */
static uint64_t bytes_of(const search_t *s, uint64_t type)
{
    const uint64_t size = ompp_type_size(&s->structure->dwarf, type, s->fortran);

    return size ? size : 8;
}

/* OPARI2's own variables share places with those of the program, and are nobody's data. */
static bool is_oparis(const char *name) { return strncasecmp(name, "pomp2_", strlen("pomp2_")) == 0; }

static bool take(search_t *s, const location_t *at)
{
    ompp_dwarf_t *dwarf = ompp_unit_dwarf(&s->structure->dwarf, s->unit);
    const expression_t *e = &at->expression;
    ompp_local_t local = {.function = at->function, .fortran = s->fortran, .listed = at->high != UINT64_MAX};
    const ompp_local_place_t *p = s->place;

    if (p->in_register ? !is_in_register(s, e, &local.is_address) : !place_of(s, e, &local.low)) return false;
    if (!p->in_register) local.is_address = e->deref;
    if (!p->in_register && local.low >= p->high) return false;
    Dwarf_Die die = ompp_die_at(dwarf, at->die);
    if (die) local.name = name_of(dwarf, die, &local.type, 0);
    if (die) local.parameter = tag_of(dwarf, die) == DW_TAG_formal_parameter;
    local.given_on = at->returns && ompp_type_is_pointer(dwarf, at->returns);
    if (die) dwarf_dealloc_die(die);
    if (!local.name || !*local.name || is_oparis(local.name)) return false;
    const int64_t bytes = local.is_address || e->piece ? 8 : (int64_t)bytes_of(s, local.type);
    if (!p->in_register && local.low + bytes <= p->low) return false;
    local.low -= e->offset;
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->found[i].name, local.name) == 0 && strcmp(s->found[i].function, local.function) == 0) return true;
    if (s->n < s->max) s->found[s->n++] = local;
    return true;
}

/* ---- Procedures -------------------------------------------------------------------------------------------------- */

static bool visit(ompp_dwarf_t *dwarf, Dwarf_Die die, void *context)
{
    reader_t *r = context;
    const Dwarf_Half tag = tag_of(dwarf, die);
    uint64_t type = 0;

    if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) {
        read_locations(dwarf, r, die, DW_AT_location);
    } else if (tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_try_block ||
               tag == DW_TAG_catch_block) {
        reader_t inner = *r;
        const char *name = tag == DW_TAG_inlined_subroutine ? name_of(dwarf, die, &type, 0) : NULL;
        if (name) inner.function = name;
        if (tag == DW_TAG_inlined_subroutine) inner.returns = type;
        const size_t n = r->procedure->blocks.n;
        ompp_die_ranges(dwarf, die, r->unit->version, r->low, 0, &r->procedure->blocks);
        if (r->procedure->blocks.n > n) {
            inner.block = n;
            inner.block_end = r->procedure->blocks.n;
        }
        if (++inner.depth < MAX_DEPTH) ompp_die_each_child(dwarf, die, visit, &inner);
    }
    return true;
}

static const ompp_function_t *procedure_of(ompp_structure_t *structure, uint64_t code, const ompp_unit_t **unit)
{
    const uint32_t of = structure->has_lines ? ompp_dwarf_unit_of(&structure->dwarf, code) : OMPP_NO_FUNCTION;

    *unit = of == OMPP_NO_FUNCTION ? NULL : ompp_dwarf_unit(&structure->dwarf, of);
    const uint32_t f = *unit ? ompp_unit_function(*unit, code) : OMPP_NO_FUNCTION;
    return f == OMPP_NO_FUNCTION ? NULL : &(*unit)->functions[f];
}

const char *ompp_local_function(ompp_structure_t *structure, uint64_t code)
{
    const ompp_unit_t *unit;
    const ompp_function_t *f = procedure_of(structure, code, &unit);

    return f ? f->name : NULL;
}

bool ompp_local_returns_pointer(ompp_structure_t *structure, uint64_t code, uint64_t *target)
{
    const ompp_unit_t *unit;
    const ompp_function_t *f = procedure_of(structure, code, &unit);
    bool is = false;

    if (!f || !f->die) return false;
    ompp_dwarf_t *dwarf = ompp_unit_dwarf(&structure->dwarf, unit);
    Dwarf_Die die = ompp_die_at(dwarf, f->die);
    if (!die) return false;
    uint64_t type = 0;
    name_of(dwarf, die, &type, 0); /* what gcc makes of a function says what it is made of */
    if (type && ompp_type_is_pointer(dwarf, type)) {
        char text[8];
        uint64_t offset = 0;
        is = ompp_type_pointer(dwarf, type, &offset, false, text, sizeof text, target);
        if (!is) *target = 0;
    }
    dwarf_dealloc_die(die);
    return is;
}

static bool is_fortran(Dwarf_Unsigned language)
{
    return language == DW_LANG_Fortran77 || language == DW_LANG_Fortran90 || language == DW_LANG_Fortran95 ||
           language == 0x22 /* 2003 */ || language == 0x23 /* 2008 */ || language == 0x2d /* 2018 */;
}

static void free_locals(struct ompp_locals *locals)
{
    for (size_t i = 0; i < PROCEDURES; i++) {
        free(locals->procedures[i].locations);
        free(locals->procedures[i].blocks.items);
    }
    free(locals);
}

static void read_procedure(ompp_structure_t *structure, procedure_t *p, const ompp_function_t *f)
{
    ompp_dwarf_t *dwarf = ompp_unit_dwarf(&structure->dwarf, p->unit);
    reader_t r = {.procedure = p, .unit = p->unit, .function = f->name ? f->name : ""};
    Dwarf_Unsigned language = 0;
    Dwarf_Die die = ompp_die_at(dwarf, p->unit->die);

    if (die) {
        if (ompp_die_number(dwarf, die, DW_AT_language, &language)) p->fortran = is_fortran(language);
        dwarf_dealloc_die(die);
    }
    die = ompp_die_at(&structure->dwarf, p->unit->head);
    if (die) {
        if (!ompp_die_ok(dwarf, dwarf_lowpc(die, &r.low, &dwarf->error))) r.low = 0;
        dwarf_dealloc_die(die);
    }
    die = ompp_die_at(dwarf, f->die);
    if (!die) return;
    read_locations(dwarf, &r, die, DW_AT_frame_base);
    ompp_die_each_child(dwarf, die, visit, &r);
    dwarf_dealloc_die(die);
}

/* \return what is known of a procedure, until another one is asked for; NULL: no memory. */
static const procedure_t *known_procedure(ompp_structure_t *structure, const ompp_unit_t *unit,
                                          const ompp_function_t *f)
{
    if (!structure->locals) {
        structure->locals = calloc(1, sizeof *structure->locals);
        structure->free_locals = free_locals;
    }
    if (!structure->locals) return NULL;
    procedure_t *p = &structure->locals->procedures[ompp_hash_mix(f->die) % PROCEDURES];
    if (p->unit == unit && p->die == f->die) return p;
    free(p->blocks.items);
    *p = (procedure_t){.unit = unit, .die = f->die, .room = p->room, .locations = p->locations};
    read_procedure(structure, p, f);
    return p;
}

unsigned ompp_local_pointers_to(ompp_structure_t *structure, uint64_t code, uint64_t target)
{
    const ompp_unit_t *unit;
    const ompp_function_t *f = procedure_of(structure, code, &unit);
    const procedure_t *p = f && f->die ? known_procedure(structure, unit, f) : NULL;
    ompp_dwarf_t *dwarf = p ? ompp_unit_dwarf(&structure->dwarf, unit) : NULL;
    unsigned n = 0;

    for (size_t i = 0; p && i < p->n; i++) {
        Dwarf_Die die =
            i && p->locations[i].die == p->locations[i - 1].die ? NULL : ompp_die_at(dwarf, p->locations[i].die);
        uint64_t type = 0, points_to = 0, offset = 0;
        char text[8];
        if (!die) continue;
        name_of(dwarf, die, &type, 0);
        n += type && ompp_type_pointer(dwarf, type, &offset, p->fortran, text, sizeof text, &points_to) &&
             points_to == target;
        dwarf_dealloc_die(die);
    }
    return n;
}

/* Variables of different blocks may have one place in the frame: those count in whose block the code is. */
static bool is_in_block(const procedure_t *p, const location_t *at, uint64_t code)
{
    bool is = at->block == at->block_end;

    for (size_t i = at->block; i < at->block_end && !is; i++)
        is = code >= p->blocks.items[i].low && code < p->blocks.items[i].high;
    return is;
}

size_t ompp_local_find(ompp_structure_t *structure, const ompp_local_place_t *place, ompp_local_t *found, size_t max)
{
    const ompp_unit_t *unit;
    const ompp_function_t *f = procedure_of(structure, place->code, &unit);
    const procedure_t *p = f && f->die ? known_procedure(structure, unit, f) : NULL;
    const uint64_t code = place->now ? place->code : 0;

    if (!p) return 0;
    search_t s = {.structure = structure,
                  .place = place,
                  .found = found,
                  .max = max,
                  .fortran = p->fortran,
                  .unit = unit,
                  .frame = (int64_t)place->frame};
    if (p->base.n) take_base(&s, &p->base);
    for (size_t i = 0, taken = p->n; i < p->n; i++) {
        const location_t *at = &p->locations[i];
        const bool same = taken < p->n && p->locations[taken].die == at->die; /* a variable is found once */
        if (same || (code && !place->ever && (code < at->low || code >= at->high))) continue;
        if (place->begins && code != at->low) continue;
        if (code && !place->in_register && !is_in_block(p, at, code)) continue;
        if (take(&s, at)) taken = i;
    }
    return s.n;
}

/* ---- Pointers ---------------------------------------------------------------------------------------------------- */

uint64_t ompp_local_size(ompp_structure_t *structure, uint64_t type, bool fortran)
{
    return ompp_type_size(&structure->dwarf, type, fortran);
}

void ompp_local_part(ompp_structure_t *structure, uint64_t type, uint64_t offset, bool fortran, char *text, size_t size)
{
    ompp_type_part(&structure->dwarf, type, offset, fortran, NULL, text, size);
}

/* A member whose type is only declared in its unit goes on in the definition of that. */
static bool is_pointer(ompp_structure_t *structure, uint64_t type, uint64_t offset, bool fortran, char *text,
                       size_t size, uint64_t *target, double deadline)
{
    for (unsigned depth = 0; depth < MOST_DECLARED && *target != type; depth++) {
        const size_t n = strlen(text);
        if (ompp_type_pointer(&structure->dwarf, type, &offset, fortran, text + n, size - n, target)) return true;
        type = *target ? ompp_local_defined(structure, *target, deadline) : 0;
    }
    *target = 0;
    return false;
}

ompp_local_kind_t ompp_local_pointer(ompp_structure_t *structure, uint64_t type, uint64_t offset, bool fortran,
                                     char *text, size_t size, uint64_t *target, double deadline)
{
    /* members that only the implementations of the C++ library know */
    static const char *const own[] = {"._M_", ".__begin_", ".__ptr_", ".__tree_", ".__table_"};
    ompp_local_kind_t kind = OMPP_LOCAL_NO_POINTER;

    text[0] = '\0';
    *target = 0;
    if (is_pointer(structure, type, offset, fortran, text, size, target, deadline)) kind = OMPP_LOCAL_POINTER;
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        char *at = strstr(text, own[i]);
        if (!at) continue;
        *at = '\0';
        if (kind) kind = OMPP_LOCAL_CONTAINER;
    }
    return kind;
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

static bool add_line(const ompp_unit_t *unit, uint32_t file, uint32_t line, ompp_line_t *lines, size_t *n, size_t max)
{
    if (*n == max || !line || file >= unit->nfiles || !unit->files[file]) return false;
    lines[(*n)++] = (ompp_line_t){unit->files[file], line};
    return true;
}

size_t ompp_local_lines(ompp_structure_t *structure, uint64_t code, ompp_line_t *lines, size_t max)
{
    const ompp_unit_t *unit;
    const ompp_function_t *procedure = procedure_of(structure, code, &unit);
    const ompp_row_t *row = unit ? ompp_unit_row(unit, code) : NULL;
    uint32_t file, line;
    size_t n = 0;

    if (!row || !add_line(unit, row->file, row->line, lines, &n, max) || !procedure) return n;
    const uint32_t first = (uint32_t)(procedure - unit->functions);
    uint32_t f = ompp_unit_innermost(unit, code, first, procedure->last);
    for (; f != OMPP_NO_FUNCTION && f != first && unit->functions[f].inlined; f = unit->functions[f].outer)
        if (ompp_dwarf_call_site(&structure->dwarf, unit, &unit->functions[f], &file, &line))
            add_line(unit, file, line, lines, &n, max);
    return n;
}

ompp_local_kind_t ompp_local_points(ompp_structure_t *structure, const ompp_local_t *found, uint64_t offset, char *text,
                                    size_t size, uint64_t *target, double deadline)
{
    if (!found->is_address)
        return ompp_local_pointer(structure, found->type, offset, found->fortran, text, size, target, deadline);
    text[0] = '\0';
    *target = found->type;
    return offset == 0 ? OMPP_LOCAL_POINTER : OMPP_LOCAL_NO_POINTER;
}
