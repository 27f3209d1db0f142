#define _GNU_SOURCE
#include "structure/ompp_elf.h"

#include "base/ompp_error.h"
#include "base/ompp_regular.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is read of a file at a time: its size may be that of a hole. */
#define MAX_SECTION ((uint64_t)1 << 30)
#define MAX_SUMMED ((uint64_t)4 << 30)
#define MAX_SECTIONS 1000000u
#define MAX_NOTE 65536u
#define MAX_TEXT 512u /* that is searched for */

/* size bytes at offset, or false; also false when the file is too short. */
static bool read_at(const ompp_elf_t *elf, uint64_t offset, void *buffer, uint64_t size)
{
    char *to = buffer;

    if (offset > elf->size || size > elf->size - offset) return false;
    while (size > 0) {
        ssize_t n = pread(elf->fd, to, size, (off_t)offset);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        to += n;
        offset += (uint64_t)n;
        size -= (uint64_t)n;
    }
    return true;
}

static const Elf64_Shdr *section_at(const ompp_elf_t *elf, size_t i) { return (const Elf64_Shdr *)elf->sections + i; }

/* Contents of a section plus a terminating zero; NULL when it has none in this file, is damaged or compressed.
 * Owned. */
static char *read_section(const ompp_elf_t *elf, const Elf64_Shdr *section)
{
    if (section->sh_type == SHT_NOBITS || section->sh_flags & SHF_COMPRESSED) return NULL;
    if (section->sh_offset > elf->size || section->sh_size > elf->size - section->sh_offset) return NULL;
    if (section->sh_size > MAX_SECTION) return NULL;
    char *contents = malloc(section->sh_size + 1);
    if (!contents) return NULL;
    contents[section->sh_size] = '\0';
    if (read_at(elf, section->sh_offset, contents, section->sh_size)) return contents;
    free(contents);
    return NULL;
}

static const char *section_name(const ompp_elf_t *elf, const Elf64_Shdr *section)
{
    return section->sh_name < elf->names_size ? elf->names + section->sh_name : "";
}

static const Elf64_Shdr *find_section(const ompp_elf_t *elf, const char *name)
{
    for (size_t i = 0; i < elf->nsections; i++)
        if (strcmp(section_name(elf, section_at(elf, i)), name) == 0) return section_at(elf, i);
    return NULL;
}

static bool is_native(const unsigned char *ident)
{
    unsigned char data = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;

    return memcmp(ident, ELFMAG, SELFMAG) == 0 && ident[EI_CLASS] == ELFCLASS64 && ident[EI_DATA] == data;
}

static int read_sections(ompp_elf_t *elf)
{
    Elf64_Ehdr header;
    Elf64_Shdr first;

    if (!read_at(elf, 0, &header, sizeof header) || !is_native(header.e_ident)) return -OMPP_E_FORMAT;
    if (header.e_shoff == 0) return 0;
    if (header.e_shentsize != sizeof first || !read_at(elf, header.e_shoff, &first, sizeof first))
        return -OMPP_E_FORMAT;
    /* More sections than the header's fields can hold: the first section says how many, and where the names are. */
    uint64_t n = header.e_shnum ? header.e_shnum : first.sh_size;
    uint64_t names = header.e_shstrndx == SHN_XINDEX ? first.sh_link : header.e_shstrndx;
    if (n > MAX_SECTIONS || names >= n) return -OMPP_E_FORMAT;
    elf->sections = malloc(n * sizeof first);
    if (!elf->sections) return -OMPP_E_NOMEM;
    if (!read_at(elf, header.e_shoff, elf->sections, n * sizeof first)) return -OMPP_E_FORMAT;
    elf->nsections = n;
    elf->names = read_section(elf, section_at(elf, names));
    if (!elf->names) return -OMPP_E_FORMAT;
    elf->names_size = section_at(elf, names)->sh_size;
    return 0;
}

static bool is_trusted(const struct stat *status, const ompp_elf_t *module)
{
    if (!module || status->st_uid == 0 || status->st_uid == geteuid() || status->st_uid == module->owner) return true;
    errno = EPERM;
    return false;
}

int ompp_elf_open(ompp_elf_t *elf, const char *path, const ompp_elf_t *module)
{
    struct stat status;

    memset(elf, 0, sizeof *elf);
    elf->fd = ompp_regular_open(path);
    if (elf->fd < 0) return -OMPP_E_OPEN;
    elf->path = strdup(path);
    if (fstat(elf->fd, &status) != 0 || !is_trusted(&status, module)) {
        const int error = errno;
        free(elf->path);
        close(elf->fd);
        errno = error;
        return -OMPP_E_OPEN;
    }
    elf->owner = status.st_uid;
    elf->size = (uint64_t)status.st_size;
    elf->mtime = status.st_mtime;
    int rc = elf->path ? read_sections(elf) : -OMPP_E_NOMEM;
    if (rc != 0) ompp_elf_close(elf);
    return rc;
}

static void free_symbols(ompp_elf_symbols_t *symbols)
{
    free(symbols->items);
    free(symbols->names[0]);
    free(symbols->names[1]);
}

void ompp_elf_close(ompp_elf_t *elf)
{
    free(elf->path);
    free(elf->sections);
    free(elf->names);
    free(elf->starts);
    free_symbols(&elf->functions);
    free_symbols(&elf->objects);
    free_symbols(&elf->thread_objects);
    free_symbols(&elf->imports);
    close(elf->fd);
    memset(elf, 0, sizeof *elf);
    elf->fd = -1;
}

bool ompp_elf_has(const ompp_elf_t *elf, const char *name)
{
    const Elf64_Shdr *section = find_section(elf, name);

    return section && section->sh_type != SHT_NOBITS && section->sh_size > 0;
}

bool ompp_elf_section_size(const ompp_elf_t *elf, const char *name, uint64_t *size)
{
    const Elf64_Shdr *section = find_section(elf, name);

    *size = section && section->sh_type != SHT_NOBITS ? section->sh_size : 0;
    return !section || !(section->sh_flags & SHF_COMPRESSED);
}

bool ompp_elf_section_read(const ompp_elf_t *elf, const char *name, uint64_t offset, void *buffer, size_t size)
{
    const Elf64_Shdr *section = find_section(elf, name);

    return section && section->sh_type != SHT_NOBITS && !(section->sh_flags & SHF_COMPRESSED) &&
           offset <= section->sh_size && size <= section->sh_size - offset &&
           read_at(elf, section->sh_offset + offset, buffer, size);
}

int ompp_elf_holds(const ompp_elf_t *elf, const char *name, const char *text)
{
    const Elf64_Shdr *section = find_section(elf, name);
    const size_t n = strlen(text) + 1;
    char buffer[65536];
    bool found = false;

    if (!section || section->sh_type == SHT_NOBITS || n > MAX_TEXT) return 0;
    if (section->sh_flags & SHF_COMPRESSED) return -1;
    /* pieces overlap by what may be cut */
    for (uint64_t at = 0; at < section->sh_size && !found; at += sizeof buffer - n) {
        const uint64_t left = section->sh_size - at, size = left < sizeof buffer ? left : sizeof buffer;
        if (!read_at(elf, section->sh_offset + at, buffer, size)) return 0;
        found = memmem(buffer, size, text, n) != NULL;
    }
    return found;
}

/* Header of a list table with 32-bit offsets, behind its length: version, sizes, number of offsets. */
typedef struct {
    uint16_t version;
    uint8_t address_size, segment_size;
    uint32_t noffsets;
} list_header_t;

/* Offsets of lists, from where the offsets begin, lead into the table. */
static bool offsets_sound(const ompp_elf_t *elf, uint64_t at, uint32_t n, unsigned size, uint64_t left)
{
    unsigned char piece[4096];
    uint32_t in = 0;

    for (uint32_t i = 0; i < n; i++, in = (in + 1) % (sizeof piece / size)) {
        const uint64_t rest = (uint64_t)(n - i) * size;
        uint64_t offset = 0;
        if (in == 0 && !read_at(elf, at + (uint64_t)i * size, piece, rest < sizeof piece ? rest : sizeof piece))
            return false;
        memcpy(&offset, piece + (size_t)in * size, size); /* little-endian, as this machine */
        if (offset >= left) return false;
    }
    return true;
}

/* Tables follow each other to the end of the section: length, header, offsets, lists. */
static bool lists_sound(const ompp_elf_t *elf, const Elf64_Shdr *section)
{
    uint64_t at = section->sh_offset, end = at + section->sh_size;

    if (section->sh_flags & SHF_COMPRESSED) return true; /* the checksum of the compression guards it */
    if (end < at || end > elf->size) return false;
    while (at < end) {
        uint32_t length = 0;
        uint64_t long_length = 0, left;
        unsigned offset_size = 4;
        list_header_t header;
        if (end - at < sizeof length || !read_at(elf, at, &length, sizeof length)) return false;
        at += sizeof length;
        long_length = length;
        if (length == 0xffffffffu) { /* 64-bit form */
            if (end - at < sizeof long_length || !read_at(elf, at, &long_length, sizeof long_length)) return false;
            at += sizeof long_length;
            offset_size = 8;
        }
        left = long_length;
        if (left > end - at || left < sizeof header || !read_at(elf, at, &header, sizeof header)) return false;
        if (header.version != 5 || header.address_size != sizeof(Elf64_Addr) || header.segment_size != 0) return false;
        if (header.noffsets > (left - sizeof header) / offset_size ||
            !offsets_sound(elf, at + sizeof header, header.noffsets, offset_size, left - sizeof header))
            return false;
        at += left;
    }
    return true;
}

bool ompp_elf_lists_sound(const ompp_elf_t *elf)
{
    static const char *const names[] = {".debug_rnglists", ".debug_loclists", ".debug_rnglists.dwo",
                                        ".debug_loclists.dwo"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const Elf64_Shdr *section = find_section(elf, names[i]);
        if (section && section->sh_type != SHT_NOBITS && !lists_sound(elf, section)) return false;
    }
    return true;
}

/* Build id among the notes of a section, as hex. */
static bool id_in_notes(const char *notes, size_t size, char *text)
{
    size_t at = 0;

    while (size - at >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr note;
        memcpy(&note, notes + at, sizeof note);
        size_t name = at + sizeof note, id = name + ((note.n_namesz + (size_t)3) & ~(size_t)3);
        size_t next = id + ((note.n_descsz + (size_t)3) & ~(size_t)3);
        if (id > size || note.n_descsz > size - id) return false;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(notes + name, "GNU", 4) == 0) {
            size_t n = note.n_descsz < (OMPP_BUILD_ID_TEXT - 1) / 2 ? note.n_descsz : (OMPP_BUILD_ID_TEXT - 1) / 2;
            for (size_t i = 0; i < n; i++) {
                unsigned char byte = (unsigned char)notes[id + i];
                text[2 * i] = "0123456789abcdef"[byte >> 4];
                text[2 * i + 1] = "0123456789abcdef"[byte & 15];
            }
            text[2 * n] = '\0';
            return n > 0;
        }
        if (next >= size) return false;
        at = next;
    }
    return false;
}

bool ompp_elf_build_id(const ompp_elf_t *elf, char text[OMPP_BUILD_ID_TEXT])
{
    bool found = false;

    text[0] = '\0';
    for (size_t i = 0; i < elf->nsections && !found; i++) {
        const Elf64_Shdr *section = section_at(elf, i);
        if (section->sh_type != SHT_NOTE || section->sh_size > MAX_NOTE) continue;
        char *notes = read_section(elf, section);
        found = notes && id_in_notes(notes, section->sh_size, text);
        free(notes);
    }
    return found;
}

bool ompp_elf_debug_link(const ompp_elf_t *elf, char **name, uint32_t *crc)
{
    const Elf64_Shdr *section = find_section(elf, ".gnu_debuglink");
    char *contents = section && section->sh_size <= MAX_NOTE ? read_section(elf, section) : NULL;

    if (!contents) return false;
    size_t after = (strlen(contents) + 4) & ~(size_t)3; /* the checksum stands aligned behind the name */
    if (contents[0] == '\0' || strchr(contents, '/') || after + sizeof *crc > section->sh_size) {
        free(contents);
        return false;
    }
    memcpy(crc, contents + after, sizeof *crc);
    *name = contents;
    return true;
}

bool ompp_elf_crc(const ompp_elf_t *elf, uint32_t *crc)
{
    uint32_t table[256], c = 0xffffffffu;
    unsigned char buffer[65536];

    if (elf->size > MAX_SUMMED) return false;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++) table[i] = table[i] & 1 ? 0xedb88320u ^ (table[i] >> 1) : table[i] >> 1;
    }
    for (uint64_t at = 0; at < elf->size;) {
        size_t n = elf->size - at < sizeof buffer ? (size_t)(elf->size - at) : sizeof buffer;
        if (!read_at(elf, at, buffer, n)) return false;
        for (size_t i = 0; i < n; i++) c = table[(c ^ buffer[i]) & 0xff] ^ (c >> 8);
        at += n;
    }
    *crc = ~c;
    return true;
}

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
        const Elf64_Shdr *section = section_at(elf, i);
        if (section->sh_type != type || section->sh_link >= elf->nsections || section->sh_size > elf->size) continue;
        const Elf64_Shdr *strings = section_at(elf, section->sh_link);
        size_t n = section->sh_size / sizeof(Elf64_Sym);
        char *table = read_section(elf, section), *names = read_section(elf, strings);
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

static const Elf64_Shdr *section_of(const ompp_elf_t *elf, uint64_t address)
{
    for (size_t i = 0; i < elf->nsections; i++) {
        const Elf64_Shdr *s = section_at(elf, i);
        if (s->sh_flags & SHF_ALLOC && s->sh_type != SHT_NOBITS && !(s->sh_flags & SHF_TLS) && address >= s->sh_addr &&
            address - s->sh_addr < s->sh_size)
            return s;
    }
    return NULL;
}

/* A symbol without size does not reach into another section: there may be code without a symbol (.plt). */
static uint64_t end_of(const ompp_elf_t *elf, uint64_t low, uint64_t next)
{
    const Elf64_Shdr *s = section_of(elf, low);

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

/* ---- Procedures -------------------------------------------------------------------------------------------------- */

/* .eh_frame_hdr as linkers write it: version, encodings, the address of .eh_frame, a count; then pairs of 4 bytes each,
 * ascending: where a procedure begins, and its description, both relative to the section. */
enum { HDR_BEFORE = 12, HDR_PAIR = 8, HDR_VERSION = 1, HDR_COUNT = 0x03, HDR_TABLE = 0x3b, HDR_SIZE_MASK = 0x07 };

static void read_starts(ompp_elf_t *elf)
{
    const Elf64_Shdr *section = find_section(elf, ".eh_frame_hdr");
    unsigned char *hdr;
    uint32_t n;

    elf->starts_read = true;
    if (!section || section->sh_size < HDR_BEFORE) return;
    hdr = (unsigned char *)read_section(elf, section);
    if (!hdr) return;
    memcpy(&n, hdr + 8, sizeof n);
    if (hdr[0] != HDR_VERSION || (hdr[1] & HDR_SIZE_MASK) != 3 || hdr[2] != HDR_COUNT || hdr[3] != HDR_TABLE ||
        n > (section->sh_size - HDR_BEFORE) / HDR_PAIR) {
        free(hdr);
        return;
    }
    elf->starts = (char *)hdr;
    elf->starts_at = section->sh_addr;
    elf->nstarts = n;
}

static uint64_t start_of(const ompp_elf_t *elf, uint32_t i)
{
    int32_t offset;

    memcpy(&offset, elf->starts + HDR_BEFORE + (size_t)i * HDR_PAIR, sizeof offset);
    return elf->starts_at + (uint64_t)(int64_t)offset;
}

uint32_t ompp_elf_procedures(ompp_elf_t *elf)
{
    if (!elf->starts_read) read_starts(elf);
    return elf->nstarts;
}

uint64_t ompp_elf_procedure_low(const ompp_elf_t *elf, uint32_t i) { return start_of(elf, i); }

bool ompp_elf_procedure(ompp_elf_t *elf, uint64_t address, uint64_t *low, uint64_t *high)
{
    uint32_t begin = 0, end = ompp_elf_procedures(elf);
    uint64_t code;

    while (begin < end) {
        const uint32_t middle = begin + (end - begin) / 2;
        if (start_of(elf, middle) <= address) begin = middle + 1;
        else end = middle;
    }
    if (begin == 0) return false;
    *low = start_of(elf, begin - 1);
    if (!high) return true;
    *high = begin < elf->nstarts ? start_of(elf, begin) : UINT64_MAX;
    if (ompp_elf_code(elf, address, &code) && code < *high) *high = code;
    return *high != UINT64_MAX;
}

/* ---- Contents ---------------------------------------------------------------------------------------------------- */

bool ompp_elf_read(const ompp_elf_t *elf, uint64_t address, void *buffer, size_t size)
{
    const Elf64_Shdr *s = section_of(elf, address);

    return s && size <= s->sh_size - (address - s->sh_addr) &&
           read_at(elf, s->sh_offset + (address - s->sh_addr), buffer, size);
}

bool ompp_elf_links(const ompp_elf_t *elf, uint64_t address)
{
    const Elf64_Shdr *s = section_of(elf, address);

    return s && strncmp(section_name(elf, s), ".plt", 4) == 0;
}

bool ompp_elf_code(const ompp_elf_t *elf, uint64_t address, uint64_t *high)
{
    const Elf64_Shdr *s = section_of(elf, address);

    if (!s || !(s->sh_flags & SHF_EXECINSTR)) return false;
    *high = s->sh_addr + s->sh_size;
    return *high > address; /* the numbers of a damaged file may not fit */
}

/* ---- Functions of other files ------------------------------------------------------------------------------------ */

static void add_imports(ompp_elf_t *elf, const Elf64_Shdr *section, const char *symbols, size_t nsymbols,
                        size_t names_size)
{
    ompp_elf_symbols_t *to = &elf->imports;
    const size_t n = section->sh_size / sizeof(Elf64_Rela);
    char *table = read_section(elf, section);
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
    const Elf64_Shdr *dynsym = find_section(elf, ".dynsym");
    uint64_t room = elf->size; /* sections that lie side by side */

    elf->imports.read = true;
    if (!dynsym || dynsym->sh_link >= elf->nsections) return;
    const Elf64_Shdr *names = section_at(elf, dynsym->sh_link);
    char *symbols = read_section(elf, dynsym);
    elf->imports.names[0] = read_section(elf, names);
    for (size_t i = 0; symbols && elf->imports.names[0] && i < elf->nsections; i++) {
        const Elf64_Shdr *s = section_at(elf, i);
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
