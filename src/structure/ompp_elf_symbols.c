/*
 * Symbols of an ELF file: functions, variables, and functions of other files.
 */
#define _GNU_SOURCE
#include "structure/ompp_elf_priv.h"

#include <stdlib.h>
#include <string.h>

/* Of several names of a function the last one is taken: clock_gettime and not __clock_gettime. */
static int compare_names(const char *a, const char *b)
{
    const size_t x = strspn(a, "_"), y = strspn(b, "_");

    return x != y ? (x > y ? -1 : 1) : strcmp(a, b);
}

static int compare_symbols(const void *a, const void *b)
{
    const ompp_elf_symbol_t *x = a, *y = b;

    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->high != y->high) return x->high > y->high ? -1 : 1; /* one with a size before one without */
    return compare_names(x->name, y->name);
}

static bool is_function(unsigned kind) { return kind == STT_FUNC || kind == STT_GNU_IFUNC; }

static bool is_thread_object(unsigned kind) { return kind == STT_TLS; }

static bool is_object(unsigned kind) { return kind == STT_OBJECT || kind == STT_COMMON; }

/* Symbols of a kind in one symbol table, appended. */
static void add_symbols(const ompp_elf_t *elf, unsigned type, bool (*wanted)(unsigned), ompp_elf_symbols_t *to,
                        unsigned which)
{
    for (size_t i = 0; i < elf->nsections; i++) {
        const Elf64_Shdr *section = ompp_elf_section_at(elf, i);
        if (section->sh_type != type || section->sh_link >= elf->nsections || section->sh_size > elf->size) continue;
        const Elf64_Shdr *strings = ompp_elf_section_at(elf, section->sh_link);
        size_t n = section->sh_size / sizeof(Elf64_Sym);
        char *table = ompp_elf_section_contents(elf, section), *names = ompp_elf_section_contents(elf, strings);
        ompp_elf_symbol_t *symbols = realloc(to->items, (to->n + n + 1) * sizeof *symbols);
        if (symbols) to->items = symbols;
        for (size_t k = 0; table && names && symbols && k < n; k++) {
            Elf64_Sym symbol;
            memcpy(&symbol, table + k * sizeof symbol, sizeof symbol);
            if (!wanted(ELF64_ST_TYPE(symbol.st_info)) || symbol.st_shndx == SHN_UNDEF) continue;
            if (symbol.st_name >= strings->sh_size || symbol.st_value + symbol.st_size < symbol.st_value) continue;
            symbols[to->n++] =
                (ompp_elf_symbol_t){symbol.st_value, symbol.st_value + symbol.st_size, names + symbol.st_name};
        }
        free(table);
        to->names[which] = names;
        return; /* a file has one table of each type */
    }
}

/* A symbol without size does not reach into another section: there may be code without a symbol (.plt). */
static uint64_t end_of(const ompp_elf_t *elf, uint64_t low, uint64_t next)
{
    const Elf64_Shdr *s = ompp_elf_section_of(elf, low);

    return s && s->sh_addr + s->sh_size > low && s->sh_addr + s->sh_size < next ? s->sh_addr + s->sh_size : next;
}

static void read_symbols(const ompp_elf_t *elf, bool (*wanted)(unsigned), ompp_elf_symbols_t *to)
{
    if (to->read) return;
    to->read = true;
    add_symbols(elf, SHT_SYMTAB, wanted, to, 0);
    if (to->n == 0) add_symbols(elf, SHT_DYNSYM, wanted, to, 1);
    if (to->n > 1) qsort(to->items, to->n, sizeof *to->items, compare_symbols);
    for (size_t i = 0; i + 1 < to->n; i++)
        if (to->items[i].high == to->items[i].low)
            to->items[i].high = end_of(elf, to->items[i].low, to->items[i + 1].low);
}

static const ompp_elf_symbol_t *symbol_at(const ompp_elf_symbols_t *symbols, uint64_t address)
{
    size_t low = 0, high = symbols->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (symbols->items[middle].low <= address) low = middle + 1;
        else high = middle;
    }
    /* Several symbols may begin at one place; the first of them that reaches far enough. */
    while (low > 0) {
        const ompp_elf_symbol_t *symbol = &symbols->items[--low];
        if (address < symbol->high) return symbol;
        if (low == 0 || symbols->items[low - 1].low != symbol->low) break;
    }
    return NULL;
}

const ompp_elf_symbol_t *ompp_elf_symbol(ompp_elf_t *elf, uint64_t address)
{
    read_symbols(elf, is_function, &elf->functions);
    return symbol_at(&elf->functions, address);
}

const ompp_elf_symbol_t *ompp_elf_object(ompp_elf_t *elf, uint64_t address)
{
    read_symbols(elf, is_object, &elf->objects);
    return symbol_at(&elf->objects, address);
}

const ompp_elf_symbols_t *ompp_elf_functions(ompp_elf_t *elf)
{
    read_symbols(elf, is_function, &elf->functions);
    return &elf->functions;
}

const ompp_elf_symbols_t *ompp_elf_objects(ompp_elf_t *elf)
{
    read_symbols(elf, is_object, &elf->objects);
    return &elf->objects;
}

const ompp_elf_symbols_t *ompp_elf_thread_objects(ompp_elf_t *elf)
{
    read_symbols(elf, is_thread_object, &elf->thread_objects);
    return &elf->thread_objects;
}

/* ---- Functions of other files ------------------------------------------------------------------------------------ */

static void add_imports(ompp_elf_t *elf, const Elf64_Shdr *section, const char *symbols, size_t nsymbols,
                        size_t names_size)
{
    ompp_elf_symbols_t *to = &elf->imports;
    const size_t n = section->sh_size / sizeof(Elf64_Rela);
    char *table = ompp_elf_section_contents(elf, section);
    ompp_elf_symbol_t *items = table ? reallocarray(to->items, to->n + n + 1, sizeof *items) : NULL;

    if (items) to->items = items;
    for (size_t i = 0; items && i < n; i++) {
        Elf64_Rela entry;
        Elf64_Sym symbol;
        memcpy(&entry, table + i * sizeof entry, sizeof entry);
        const unsigned type = ELF64_R_TYPE(entry.r_info);
        if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) || ELF64_R_SYM(entry.r_info) >= nsymbols)
            continue;
        memcpy(&symbol, symbols + ELF64_R_SYM(entry.r_info) * sizeof symbol, sizeof symbol);
        if (symbol.st_name < names_size && entry.r_offset < UINT64_MAX - 8)
            items[to->n++] = (ompp_elf_symbol_t){entry.r_offset, entry.r_offset + 8, to->names[0] + symbol.st_name};
    }
    free(table);
}

static void read_imports(ompp_elf_t *elf)
{
    const Elf64_Shdr *dynsym = ompp_elf_section_named(elf, ".dynsym");
    uint64_t room = elf->size; /* sections that lie side by side */

    elf->imports.read = true;
    if (!dynsym || dynsym->sh_link >= elf->nsections) return;
    const Elf64_Shdr *names = ompp_elf_section_at(elf, dynsym->sh_link);
    char *symbols = ompp_elf_section_contents(elf, dynsym);
    elf->imports.names[0] = ompp_elf_section_contents(elf, names);
    for (size_t i = 0; symbols && elf->imports.names[0] && i < elf->nsections; i++) {
        const Elf64_Shdr *s = ompp_elf_section_at(elf, i);
        if (s->sh_type != SHT_RELA || !(s->sh_flags & SHF_ALLOC)) continue;
        if (s->sh_size > room) break;
        room -= s->sh_size;
        add_imports(elf, s, symbols, dynsym->sh_size / sizeof(Elf64_Sym), names->sh_size);
    }
    free(symbols);
    if (elf->imports.n > 1) qsort(elf->imports.items, elf->imports.n, sizeof *elf->imports.items, compare_symbols);
}

const char *ompp_elf_import(ompp_elf_t *elf, uint64_t address)
{
    if (!elf->imports.read) read_imports(elf);
    const ompp_elf_symbol_t *symbol = symbol_at(&elf->imports, address);
    return symbol && symbol->low == address ? symbol->name : NULL;
}
