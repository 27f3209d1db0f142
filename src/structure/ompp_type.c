#include "structure/ompp_type_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_DEPTH 64 /* of types in types; damaged data could go round */
#define MAX_DIMENSIONS 15

/* dwarf is the one that has the type. */
static Dwarf_Die open_die(ompp_dwarf_t *dwarf, uint64_t type)
{
    return type ? ompp_die_at(dwarf, type & (((uint64_t)1 << OMPP_ID_SHIFT) - 1)) : NULL;
}

static Dwarf_Half tag_of(ompp_dwarf_t *dwarf, Dwarf_Die die)
{
    Dwarf_Half tag = 0;

    return ompp_die_ok(dwarf, dwarf_tag(die, &tag, &dwarf->error)) ? tag : 0;
}

static const char *name_of(ompp_dwarf_t *dwarf, Dwarf_Die die)
{
    char *name = NULL;

    return ompp_die_ok(dwarf, dwarf_diename(die, &name, &dwarf->error)) ? name : NULL;
}

uint64_t ompp_type_of(ompp_dwarf_t *dwarf, Dwarf_Die die)
{
    Dwarf_Die type = ompp_die_referred(dwarf, die, DW_AT_type);
    Dwarf_Off offset = 0;

    if (!type) return 0;
    if (!ompp_die_ok(dwarf, dwarf_dieoffset(type, &offset, &dwarf->error))) offset = 0;
    dwarf_dealloc_die(type);
    return offset ? offset | dwarf->id : 0;
}

/* Another name for a type, or a type with qualifiers. */
static bool is_alias(Dwarf_Half tag)
{
    return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
           tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

/* The type behind other names for it. */
static uint64_t without_aliases(ompp_dwarf_t *dwarf, uint64_t type)
{
    for (int depth = 0; type && depth < MAX_DEPTH; depth++) {
        Dwarf_Die die = open_die(dwarf, type);
        if (!die) return 0;
        bool alias = is_alias(tag_of(dwarf, die));
        uint64_t next = alias ? ompp_type_of(dwarf, die) : type;
        dwarf_dealloc_die(die);
        if (!alias) return type;
        type = next;
    }
    return 0;
}

static bool is_address(Dwarf_Half tag)
{
    return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

/* ---- Arrays ------------------------------------------------------------------------------------------------------ */

typedef struct {
    bool fortran, fixed; /* fixed: all bounds are constant */
    unsigned n;
    int64_t low[MAX_DIMENSIONS];
    uint64_t count[MAX_DIMENSIONS];
} dimensions_t;

/* A bound, which may be negative. */
static bool bound(ompp_dwarf_t *dwarf, Dwarf_Die die, Dwarf_Half name, int64_t *value)
{
    Dwarf_Attribute attribute = NULL;
    Dwarf_Half form = 0;
    Dwarf_Signed number = 0;
    Dwarf_Unsigned natural = 0;

    if (!ompp_die_ok(dwarf, dwarf_attr(die, name, &attribute, &dwarf->error))) return false;
    bool is_signed = ompp_die_ok(dwarf, dwarf_whatform(attribute, &form, &dwarf->error)) &&
                     (form == DW_FORM_sdata || form == DW_FORM_implicit_const);
    bool found = !is_signed && ompp_die_ok(dwarf, dwarf_formudata(attribute, &natural, &dwarf->error));
    *value = (int64_t)natural;
    if (!found) {
        found = ompp_die_ok(dwarf, dwarf_formsdata(attribute, &number, &dwarf->error));
        *value = number;
    }
    dwarf_dealloc_attribute(attribute);
    return found;
}

static bool read_dimension(ompp_dwarf_t *dwarf, Dwarf_Die die, void *context)
{
    dimensions_t *d = context;
    int64_t low = d->fortran, high = 0, count = 0;

    if (tag_of(dwarf, die) != DW_TAG_subrange_type) return true;
    if (d->n == MAX_DIMENSIONS) {
        d->fixed = false;
        return false;
    }
    bound(dwarf, die, DW_AT_lower_bound, &low);
    if (!bound(dwarf, die, DW_AT_count, &count))
        count = bound(dwarf, die, DW_AT_upper_bound, &high) ? high - low + 1 : 0;
    if (count <= 0) d->fixed = false;
    d->low[d->n] = low;
    d->count[d->n++] = count > 0 ? (uint64_t)count : 0;
    return true;
}

static dimensions_t dimensions_of(ompp_dwarf_t *dwarf, Dwarf_Die array, bool fortran)
{
    dimensions_t d = {.fortran = fortran, .fixed = true};

    ompp_die_each_child(dwarf, array, read_dimension, &d);
    if (d.n == 0) d.fixed = false;
    return d;
}

/* ---- Sizes ------------------------------------------------------------------------------------------------------- */

static uint64_t size_of(ompp_dwarf_t *dwarf, uint64_t type, bool fortran, int depth)
{
    Dwarf_Die die = depth < MAX_DEPTH ? open_die(dwarf, type) : NULL;
    Dwarf_Unsigned size = 0;

    if (!die) return 0;
    Dwarf_Half tag = tag_of(dwarf, die);
    if (is_alias(tag)) {
        size = size_of(dwarf, ompp_type_of(dwarf, die), fortran, depth + 1);
    } else if (!ompp_die_number(dwarf, die, DW_AT_byte_size, &size) && tag == DW_TAG_array_type) {
        dimensions_t d = dimensions_of(dwarf, die, fortran);
        size = d.fixed ? size_of(dwarf, ompp_type_of(dwarf, die), fortran, depth + 1) : 0;
        for (unsigned i = 0; i < d.n; i++)
            if (__builtin_mul_overflow(size, d.count[i], &size)) size = 0;
    } else if (!size && is_address(tag)) {
        size = sizeof(void *); /* clang leaves it out */
    }
    dwarf_dealloc_die(die);
    return size;
}

uint64_t ompp_type_size(ompp_dwarf_t *dwarf, uint64_t type, bool fortran)
{
    return size_of(ompp_type_dwarf(dwarf, type), type, fortran, 0);
}

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

typedef struct {
    uint64_t offset; /* within the current type */
    bool fortran;
    const char *const *whole;
    char *text;
    size_t size, used;
} part_t;

static void append(part_t *p, const char *text)
{
    int n = snprintf(p->text + p->used, p->size - p->used, "%s", text);

    p->used = n > 0 && (size_t)n < p->size - p->used ? p->used + (size_t)n : p->size - 1;
}

static bool is_whole(const part_t *p, const char *name)
{
    for (const char *const *w = p->whole; w && *w && name; w++)
        if (strcmp(*w, name) == 0) return true;
    return false;
}

/* "[2][3]" with the last index running fastest; Fortran's "(3,2)" has the first one. Offset becomes that in the
 * element. */
static void append_indices(part_t *p, const dimensions_t *d, uint64_t element)
{
    uint64_t rest = p->offset / element, index[MAX_DIMENSIONS];
    char text[32];

    p->offset %= element;
    for (unsigned k = 0; k < d->n; k++) {
        unsigned i = d->fortran ? k : d->n - 1 - k;
        index[i] = rest % d->count[i];
        rest /= d->count[i];
    }
    for (unsigned i = 0; i < d->n; i++) {
        snprintf(text, sizeof text, "%s%" PRId64 "%s", d->fortran ? (i ? "," : "(") : "[",
                 d->low[i] + (int64_t)index[i], d->fortran ? (i + 1 < d->n ? "" : ")") : "]");
        append(p, text);
    }
}

/* The member that holds the offset: of those that begin last, the first. */
typedef struct {
    uint64_t offset, begin, type;
    const char *name;
    bool fortran;
} member_t;

static bool find_member(ompp_dwarf_t *dwarf, Dwarf_Die die, void *context)
{
    member_t *m = context;
    Dwarf_Half tag = tag_of(dwarf, die);
    Dwarf_Unsigned begin = 0;

    if (tag != DW_TAG_member && tag != DW_TAG_inheritance) return true;
    ompp_die_number(dwarf, die, DW_AT_data_member_location, &begin);
    uint64_t type = ompp_type_of(dwarf, die), size = size_of(dwarf, type, m->fortran, 0);
    /* of a descriptor the size is not told; the first word says where the data lie */
    if (tag == DW_TAG_inheritance && size <= 1) return true; /* an empty class */
    if (m->offset < begin || (m->offset - begin >= size && (size || m->offset != begin))) return true;
    m->begin = begin;
    m->type = type;
    m->name = tag == DW_TAG_member ? name_of(dwarf, die) : NULL;
    return false;
}

/* One step into a type. \return the type of the part, 0 = it has none that holds the offset. */
static uint64_t step(ompp_dwarf_t *dwarf, Dwarf_Die die, Dwarf_Half tag, part_t *p)
{
    if (is_alias(tag)) return ompp_type_of(dwarf, die);
    if (tag == DW_TAG_array_type) {
        dimensions_t d = dimensions_of(dwarf, die, p->fortran);
        uint64_t type = ompp_type_of(dwarf, die), element = d.fixed ? size_of(dwarf, type, p->fortran, 0) : 0;
        if (element == 0) return 0;
        append_indices(p, &d, element);
        return type;
    }
    if (tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type) {
        member_t m = {.offset = p->offset, .fortran = p->fortran};
        ompp_die_each_child(dwarf, die, find_member, &m);
        if (!m.type) return 0;
        if (m.name) append(p, p->fortran ? "%" : ".");
        if (m.name) append(p, m.name);
        p->offset -= m.begin;
        return m.type;
    }
    return 0;
}

/* Goes down to the scalar, or the descriptor. \return the type there, 0 = none. */
static uint64_t descend(ompp_dwarf_t *dwarf, uint64_t type, part_t *p)
{
    for (int depth = 0; type && depth < MAX_DEPTH; depth++) {
        Dwarf_Die die = open_die(dwarf, type);
        if (!die) return 0;
        const Dwarf_Half tag = tag_of(dwarf, die);
        const bool ends = is_whole(p, name_of(dwarf, die));
        const uint64_t next = ends ? 0 : step(dwarf, die, tag, p);
        dwarf_dealloc_die(die);
        if (!next) return type;
        type = next;
    }
    return 0;
}

bool ompp_type_pointer(ompp_dwarf_t *dwarf, uint64_t type, uint64_t *offset, bool fortran, char *text, size_t size,
                       uint64_t *target)
{
    part_t p = {.offset = *offset, .fortran = fortran, .text = text, .size = size};
    Dwarf_Die die;

    dwarf = ompp_type_dwarf(dwarf, type);
    text[0] = '\0';
    const uint64_t leaf = descend(dwarf, type, &p);
    const bool is = p.offset == 0 && (ompp_type_is_pointer(dwarf, leaf) || ompp_type_is_descriptor(dwarf, leaf));
    *offset = p.offset;
    *target = is ? 0 : leaf;
    if (is && (die = open_die(dwarf, without_aliases(dwarf, leaf)))) {
        *target = ompp_type_of(dwarf, die);
        dwarf_dealloc_die(die);
    }
    return is;
}

void ompp_type_part(ompp_dwarf_t *dwarf, uint64_t type, uint64_t offset, bool fortran, const char *const whole[],
                    char *text, size_t size)
{
    part_t p = {.offset = offset, .fortran = fortran, .whole = whole, .text = text, .size = size};
    char rest[24];

    text[0] = '\0';
    descend(ompp_type_dwarf(dwarf, type), type, &p);
    if (p.offset == 0) return;
    snprintf(rest, sizeof rest, "+0x%" PRIx64, p.offset);
    append(&p, rest);
}

/* ---- Parts that the user names ----------------------------------------------------------------------------------- */

/* Where the selection has come to. error: a sentence, NULL while all is well. */
typedef struct {
    ompp_dwarf_t *dwarf;
    const char *text;      /* what is left of it */
    bool fortran, section; /* section: several elements, of which nothing more can be named */
    uint64_t type, offset, size;
    const char *error;
} select_t;

static Dwarf_Half kind_of(ompp_dwarf_t *dwarf, uint64_t type)
{
    Dwarf_Die die = open_die(dwarf, type);
    Dwarf_Half tag = die ? tag_of(dwarf, die) : 0;

    if (die) dwarf_dealloc_die(die);
    return tag;
}

bool ompp_type_is_pointer(ompp_dwarf_t *dwarf, uint64_t type)
{
    dwarf = ompp_type_dwarf(dwarf, type);
    return is_address(kind_of(dwarf, without_aliases(dwarf, type)));
}

bool ompp_type_is_descriptor(ompp_dwarf_t *dwarf, uint64_t type)
{
    Dwarf_Bool has = 0;

    dwarf = ompp_type_dwarf(dwarf, type);
    Dwarf_Die die = open_die(dwarf, without_aliases(dwarf, type));
    if (!die) return false;
    if (!ompp_die_ok(dwarf, dwarf_hasattr(die, DW_AT_data_location, &has, &dwarf->error))) has = 0;
    dwarf_dealloc_die(die);
    return has != 0;
}

bool ompp_type_is_container(ompp_dwarf_t *dwarf, uint64_t type)
{
    static const char *const names[] = {"vector<",   "deque<",      "list<",      "forward_list<", "map<",
                                        "multimap<", "set<",        "multiset<",  "unordered_",    "basic_string<",
                                        "valarray<", "unique_ptr<", "shared_ptr<"};

    dwarf = ompp_type_dwarf(dwarf, type);
    Dwarf_Die die = open_die(dwarf, without_aliases(dwarf, type));
    const char *name = die ? name_of(dwarf, die) : NULL;
    bool is = false;

    for (size_t i = 0; name && i < sizeof names / sizeof names[0]; i++)
        is |= strncmp(name, names[i], strlen(names[i])) == 0;
    if (die) dwarf_dealloc_die(die);
    return is;
}

/* A member by its name, also one of a base class, or of a structure or union that has no name. */
typedef struct {
    const char *name;
    size_t length;
    bool fortran, found;
    int depth;
    uint64_t begin, type;
} wanted_t;

static bool is_wanted(const wanted_t *w, const char *name)
{
    if (!name || strlen(name) != w->length) return false;
    return (w->fortran ? strncasecmp : strncmp)(name, w->name, w->length) == 0;
}

static bool find_wanted(ompp_dwarf_t *dwarf, Dwarf_Die die, void *context)
{
    wanted_t *w = context;
    Dwarf_Half tag = tag_of(dwarf, die);
    Dwarf_Unsigned begin = 0;

    if (tag != DW_TAG_member && tag != DW_TAG_inheritance) return true;
    const char *name = tag == DW_TAG_member ? name_of(dwarf, die) : NULL;
    ompp_die_number(dwarf, die, DW_AT_data_member_location, &begin);
    uint64_t type = ompp_type_of(dwarf, die);
    if (is_wanted(w, name)) {
        w->found = true;
        w->begin += begin;
        w->type = type;
        return false;
    }
    Dwarf_Die inner = name || w->depth == MAX_DEPTH ? NULL : open_die(dwarf, without_aliases(dwarf, type));
    if (!inner) return true;
    w->depth++;
    w->begin += begin;
    ompp_die_each_child(dwarf, inner, find_wanted, w);
    if (!w->found) w->begin -= begin;
    w->depth--;
    dwarf_dealloc_die(inner);
    return !w->found;
}

static void select_member(select_t *s)
{
    Dwarf_Half tag = kind_of(s->dwarf, s->type);
    wanted_t w = {.name = s->text + 1, .fortran = s->fortran};

    while (w.name[w.length] && !strchr(".%[( ", w.name[w.length])) w.length++;
    if (tag != DW_TAG_structure_type && tag != DW_TAG_class_type && tag != DW_TAG_union_type) {
        s->error = tag != DW_TAG_array_type ? "it has no members"
                   : s->fortran             ? "it is an array: a member needs an index, a(i)%x"
                                            : "it is an array: a member needs an index, a[i].x";
        return;
    }
    Dwarf_Die die = open_die(s->dwarf, s->type);
    if (die) ompp_die_each_child(s->dwarf, die, find_wanted, &w);
    if (die) dwarf_dealloc_die(die);
    if (!w.found) s->error = "it has no such member";
    s->text = w.name + w.length;
    s->offset += w.begin;
    s->type = without_aliases(s->dwarf, w.type);
    s->size = ompp_type_size(s->dwarf, w.type, s->fortran);
}

static bool read_number(const char **text, int64_t *value)
{
    char *end;

    *value = strtoll(*text, &end, 10);
    bool any = end != *text;
    *text = end;
    return any;
}

/* One index: "3", "1:4" or ":"; what it does not say is that of the whole dimension. \return false: not understood. */
static bool read_index(const char **text, const dimensions_t *d, unsigned k, int64_t *first, uint64_t *count)
{
    int64_t second;

    *first = d->low[k];
    *count = d->count[k];
    bool any = read_number(text, first);
    if (**text != ':') {
        *count = 1;
        return any;
    }
    ++*text;
    uint64_t before = (uint64_t)(*first - d->low[k]);
    *count = before < d->count[k] ? d->count[k] - before : 0;
    if (read_number(text, &second)) *count = (uint64_t)(d->fortran ? second - *first + 1 : second);
    return true;
}

/* "[2][1:3]" or "(1:5,2)"; in C the last dimensions may be left out. \return number of indices read, 0 = not
 * understood. */
static unsigned read_indices(select_t *s, const dimensions_t *d, int64_t *first, uint64_t *count)
{
    unsigned n = 0;

    for (unsigned k = 0; k < d->n; k++) {
        first[k] = d->low[k];
        count[k] = d->count[k];
    }
    while (n < d->n && *s->text == (s->fortran && n > 0 ? ',' : s->fortran ? '(' : '[')) {
        s->text++;
        if (!read_index(&s->text, d, n, &first[n], &count[n])) return 0;
        n++;
        if (!s->fortran && *s->text++ != ']') return 0;
    }
    if (s->fortran && (n < d->n || *s->text++ != ')')) return 0;
    return n;
}

/* In memory one piece: from the fastest dimension on whole ones, then perhaps a part of one, then single elements. */
static void select_elements(select_t *s)
{
    int64_t first[MAX_DIMENSIONS];
    uint64_t count[MAX_DIMENSIONS], stride;
    Dwarf_Die die = kind_of(s->dwarf, s->type) == DW_TAG_array_type ? open_die(s->dwarf, s->type) : NULL;

    s->error = "it is no array of fixed size";
    if (!die) return;
    dimensions_t d = dimensions_of(s->dwarf, die, s->fortran);
    uint64_t element = ompp_type_of(s->dwarf, die);
    dwarf_dealloc_die(die);
    s->size = stride = d.fixed ? size_of(s->dwarf, element, s->fortran, 0) : 0;
    if (stride == 0) return;
    s->error = "the indices are not understood";
    if (read_indices(s, &d, first, count) == 0) return;
    bool part = false;
    for (unsigned i = 0; i < d.n; i++) {
        unsigned k = s->fortran ? i : d.n - 1 - i;
        uint64_t begin = (uint64_t)(first[k] - d.low[k]);
        s->error = "the indices are out of bounds";
        if (count[k] == 0 || begin >= d.count[k] || count[k] > d.count[k] - begin) return;
        s->error = "the elements do not lie in one piece";
        if (part && count[k] > 1) return;
        part |= count[k] < d.count[k];
        s->section |= count[k] > 1;
        s->offset += begin * stride;
        s->size *= count[k];
        stride *= d.count[k];
    }
    s->error = NULL;
    s->type = without_aliases(s->dwarf, element);
}

const char *ompp_type_select(ompp_dwarf_t *dwarf, uint64_t type, const char *part, bool fortran, uint64_t *offset,
                             uint64_t *size)
{
    select_t s = {.dwarf = ompp_type_dwarf(dwarf, type), .text = part, .fortran = fortran};

    s.type = without_aliases(s.dwarf, type);
    s.size = ompp_type_size(s.dwarf, type, fortran);
    if (!s.type) return "its type is not known, for there is no debug information (-g)";
    while (*s.text && !s.error) {
        if (s.section) s.error = "of several elements nothing more can be named";
        else if (*s.text == '.' || *s.text == '%') select_member(&s);
        else if (*s.text == '[' || *s.text == '(') select_elements(&s);
        else s.error = "what follows the name is not understood";
    }
    if (!s.error && s.size == 0) s.error = "its size is not known";
    *offset = s.offset;
    *size = s.size;
    return s.error;
}
