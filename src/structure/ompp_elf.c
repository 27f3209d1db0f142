#define _GNU_SOURCE
#include "structure/ompp_elf_priv.h"

#include "base/ompp_error.h"
#include "base/ompp_regular.h"

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

char *ompp_elf_section_contents(const ompp_elf_t *elf, const Elf64_Shdr *section)
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

const Elf64_Shdr *ompp_elf_section_named(const ompp_elf_t *elf, const char *name)
{
    for (size_t i = 0; i < elf->nsections; i++)
        if (strcmp(section_name(elf, ompp_elf_section_at(elf, i)), name) == 0) return ompp_elf_section_at(elf, i);
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
    elf->names = ompp_elf_section_contents(elf, ompp_elf_section_at(elf, names));
    if (!elf->names) return -OMPP_E_FORMAT;
    elf->names_size = ompp_elf_section_at(elf, names)->sh_size;
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
    const Elf64_Shdr *section = ompp_elf_section_named(elf, name);

    return section && section->sh_type != SHT_NOBITS && section->sh_size > 0;
}

bool ompp_elf_section_size(const ompp_elf_t *elf, const char *name, uint64_t *size)
{
    const Elf64_Shdr *section = ompp_elf_section_named(elf, name);

    *size = section && section->sh_type != SHT_NOBITS ? section->sh_size : 0;
    return !section || !(section->sh_flags & SHF_COMPRESSED);
}

bool ompp_elf_section_read(const ompp_elf_t *elf, const char *name, uint64_t offset, void *buffer, size_t size)
{
    const Elf64_Shdr *section = ompp_elf_section_named(elf, name);

    return section && section->sh_type != SHT_NOBITS && !(section->sh_flags & SHF_COMPRESSED) &&
           offset <= section->sh_size && size <= section->sh_size - offset &&
           read_at(elf, section->sh_offset + offset, buffer, size);
}

int ompp_elf_holds(const ompp_elf_t *elf, const char *name, const char *text)
{
    const Elf64_Shdr *section = ompp_elf_section_named(elf, name);
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
        const Elf64_Shdr *section = ompp_elf_section_named(elf, names[i]);
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
        const Elf64_Shdr *section = ompp_elf_section_at(elf, i);
        if (section->sh_type != SHT_NOTE || section->sh_size > MAX_NOTE) continue;
        char *notes = ompp_elf_section_contents(elf, section);
        found = notes && id_in_notes(notes, section->sh_size, text);
        free(notes);
    }
    return found;
}

bool ompp_elf_debug_link(const ompp_elf_t *elf, char **name, uint32_t *crc)
{
    const Elf64_Shdr *section = ompp_elf_section_named(elf, ".gnu_debuglink");
    char *contents = section && section->sh_size <= MAX_NOTE ? ompp_elf_section_contents(elf, section) : NULL;

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

const Elf64_Shdr *ompp_elf_section_of(const ompp_elf_t *elf, uint64_t address)
{
    for (size_t i = 0; i < elf->nsections; i++) {
        const Elf64_Shdr *s = ompp_elf_section_at(elf, i);
        if (s->sh_flags & SHF_ALLOC && s->sh_type != SHT_NOBITS && !(s->sh_flags & SHF_TLS) && address >= s->sh_addr &&
            address - s->sh_addr < s->sh_size)
            return s;
    }
    return NULL;
}

/* ---- Procedures -------------------------------------------------------------------------------------------------- */

/* .eh_frame_hdr as linkers write it: version, encodings, the address of .eh_frame, a count; then pairs of 4 bytes each,
 * ascending: where a procedure begins, and its description, both relative to the section. */
enum { HDR_BEFORE = 12, HDR_PAIR = 8, HDR_VERSION = 1, HDR_COUNT = 0x03, HDR_TABLE = 0x3b, HDR_SIZE_MASK = 0x07 };

static void read_starts(ompp_elf_t *elf)
{
    const Elf64_Shdr *section = ompp_elf_section_named(elf, ".eh_frame_hdr");
    unsigned char *hdr;
    uint32_t n;

    elf->starts_read = true;
    if (!section || section->sh_size < HDR_BEFORE) return;
    hdr = (unsigned char *)ompp_elf_section_contents(elf, section);
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
    const Elf64_Shdr *s = ompp_elf_section_of(elf, address);

    return s && size <= s->sh_size - (address - s->sh_addr) &&
           read_at(elf, s->sh_offset + (address - s->sh_addr), buffer, size);
}

bool ompp_elf_links(const ompp_elf_t *elf, uint64_t address)
{
    const Elf64_Shdr *s = ompp_elf_section_of(elf, address);

    return s && strncmp(section_name(elf, s), ".plt", 4) == 0;
}

bool ompp_elf_code(const ompp_elf_t *elf, uint64_t address, uint64_t *high)
{
    const Elf64_Shdr *s = ompp_elf_section_of(elf, address);

    if (!s || !(s->sh_flags & SHF_EXECINSTR)) return false;
    *high = s->sh_addr + s->sh_size;
    return *high > address; /* the numbers of a damaged file may not fit */
}
