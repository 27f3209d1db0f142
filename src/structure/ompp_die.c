/* Entries of debug information, their attributes. Every call gets an error object: without one the library would abort
 * the process. */
#include "structure/ompp_dwarf_priv.h"

#include "config.h"

#ifndef DW_DLC_READ
#define DW_DLC_READ 0
#endif

#define MAX_ORIGINS 4 /* abstract origin of a specification of ... */

bool ompp_die_ok(ompp_dwarf_t *dwarf, int rc)
{
    if (rc == DW_DLV_ERROR && dwarf->error) dwarf_dealloc_error(dwarf->debug, dwarf->error);
    dwarf->error = NULL;
    return rc == DW_DLV_OK;
}

bool ompp_die_open(ompp_dwarf_t *dwarf, const ompp_elf_t *elf, unsigned group)
{
#ifdef OMPP_DWARF_INIT_PATH_SHORT
    const int rc = dwarf_init_b(elf->fd, group, NULL, NULL, &dwarf->debug, &dwarf->error);
#else
    const int rc = dwarf_init_b(elf->fd, DW_DLC_READ, group, NULL, NULL, &dwarf->debug, &dwarf->error);
#endif
    dwarf->elf = elf;
    return ompp_die_ok(dwarf, rc);
}

void ompp_die_close(ompp_dwarf_t *dwarf)
{
    if (!dwarf->debug) return;
#ifdef OMPP_DWARF_INIT_PATH_SHORT
    dwarf_finish(dwarf->debug);
#else
    dwarf_finish(dwarf->debug, &dwarf->error);
#endif
}

bool ompp_die_number(ompp_dwarf_t *dwarf, Dwarf_Die die, Dwarf_Half name, Dwarf_Unsigned *value)
{
    Dwarf_Attribute attribute = NULL;
    Dwarf_Signed negative = 0;

    if (!ompp_die_ok(dwarf, dwarf_attr(die, name, &attribute, &dwarf->error))) return false;
    bool found = ompp_die_ok(dwarf, dwarf_formudata(attribute, value, &dwarf->error));
    if (!found && ompp_die_ok(dwarf, dwarf_formsdata(attribute, &negative, &dwarf->error))) {
        found = negative >= 0;
        *value = (Dwarf_Unsigned)negative;
    }
    dwarf_dealloc_attribute(attribute);
    return found;
}

bool ompp_die_offset(ompp_dwarf_t *dwarf, Dwarf_Die die, Dwarf_Half name, Dwarf_Off *offset)
{
    Dwarf_Attribute attribute = NULL;

    if (!ompp_die_ok(dwarf, dwarf_attr(die, name, &attribute, &dwarf->error))) return false;
    const bool found = ompp_die_ok(dwarf, dwarf_global_formref(attribute, offset, &dwarf->error));
    dwarf_dealloc_attribute(attribute);
    return found;
}

const char *ompp_die_text(ompp_dwarf_t *dwarf, Dwarf_Die die, Dwarf_Half name)
{
    Dwarf_Attribute attribute = NULL;
    char *text = NULL;

    if (!ompp_die_ok(dwarf, dwarf_attr(die, name, &attribute, &dwarf->error))) return NULL;
    if (!ompp_die_ok(dwarf, dwarf_formstring(attribute, &text, &dwarf->error))) text = NULL;
    dwarf_dealloc_attribute(attribute);
    return text;
}

const char *ompp_die_linkage_name(ompp_dwarf_t *dwarf, Dwarf_Die die)
{
    return ompp_die_text(dwarf, die, DW_AT_linkage_name);
}

Dwarf_Die ompp_die_at(ompp_dwarf_t *dwarf, Dwarf_Off offset)
{
    Dwarf_Die die = NULL;

    return ompp_die_ok(dwarf, dwarf_offdie_b(dwarf->debug, offset, 1, &die, &dwarf->error)) ? die : NULL;
}

Dwarf_Die ompp_die_referred(ompp_dwarf_t *dwarf, Dwarf_Die die, Dwarf_Half name)
{
    Dwarf_Off offset = 0;

    return ompp_die_offset(dwarf, die, name, &offset) ? ompp_die_at(dwarf, offset) : NULL;
}

static void describe(ompp_dwarf_t *dwarf, Dwarf_Die die, ompp_function_t *function, int depth)
{
    char *name = NULL;
    Dwarf_Unsigned value = 0;

    if (!function->name && ompp_die_ok(dwarf, dwarf_diename(die, &name, &dwarf->error))) function->name = name;
    if (!function->decl_line && ompp_die_number(dwarf, die, DW_AT_decl_line, &value))
        function->decl_line = (uint32_t)value;
    if (!function->has_file && ompp_die_number(dwarf, die, DW_AT_decl_file, &value)) {
        function->decl_file = (uint32_t)value;
        function->has_file = true; /* gcc leaves it out where it is that of the declaration in the class */
    }
    if ((function->name && function->decl_line && function->has_file) || depth == MAX_ORIGINS) return;
    Dwarf_Die origin = ompp_die_referred(dwarf, die, DW_AT_abstract_origin);
    if (!origin) origin = ompp_die_referred(dwarf, die, DW_AT_specification);
    if (origin) {
        describe(dwarf, origin, function, depth + 1);
        dwarf_dealloc_die(origin);
    }
    if (!function->name) function->name = ompp_die_linkage_name(dwarf, die); /* clang's tasks have no other */
}

void ompp_die_describe(ompp_dwarf_t *dwarf, Dwarf_Die die, ompp_function_t *function)
{
    describe(dwarf, die, function, 0);
}

void ompp_die_each_child(ompp_dwarf_t *dwarf, Dwarf_Die parent, ompp_die_visit_t *visit, void *context)
{
    Dwarf_Die die = NULL, next = NULL;
    Dwarf_Off at = 0, last = 0;
    bool go_on = true;

    if (!ompp_die_ok(dwarf, dwarf_child(parent, &die, &dwarf->error))) return;
    for (; die; die = next, next = NULL) {
        go_on = go_on && visit(dwarf, die, context);
        /* damaged data could lead back */
        bool forward = ompp_die_ok(dwarf, dwarf_dieoffset(die, &at, &dwarf->error)) && at > last;
        last = at;
        if (!go_on || !forward || !ompp_die_ok(dwarf, dwarf_siblingof_b(dwarf->debug, die, 1, &next, &dwarf->error)))
            next = NULL;
        dwarf_dealloc_die(die);
    }
}
