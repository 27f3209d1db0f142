/**
 * \file
 * Programs and libraries, whole, damaged and cut: every question that ompp asks of a file is asked, and each gets an
 * answer in time. Scopes of a procedure are nested, its pieces ascend.
 */
#include "fuzz_file.h"

#include "base/ompp_clock.h"
#include "structure/ompp_code.h"
#include "structure/ompp_local_call.h"
#include "structure/ompp_scope.h"
#include "structure/ompp_variable.h"

#include <elf.h>
#include <string.h>

#define SECONDS 2.0 /* of one file */
#define MOST 400u   /* addresses that are asked for */

/* ---- Questions --------------------------------------------------------------------------------------------------- */

static void look_at(const ompp_procedure_t *p)
{
    FUZZ_REQUIRE(p->nscopes > 0 && p->scopes[0].kind == OMPP_SCOPE_PROCEDURE && !p->scopes[0].outer, "a procedure");
    for (size_t i = 1; i < p->nscopes; i++)
        FUZZ_REQUIRE(p->scopes[i].outer >= p->scopes && p->scopes[i].outer < &p->scopes[i], "scopes are nested");
    for (size_t i = 0; i < p->npieces; i++) {
        FUZZ_REQUIRE(p->pieces[i].scope < p->nscopes, "a piece's scope");
        FUZZ_REQUIRE(p->pieces[i].low < p->pieces[i].high, "a piece has code");
        FUZZ_REQUIRE(i == 0 || p->pieces[i].low >= p->pieces[i - 1].low, "pieces ascend");
    }
}

static size_t ask_scopes(ompp_structure_t *structure, double deadline, uint64_t at[MOST])
{
    const ompp_procedure_t *procedure;
    uint64_t *addresses;
    size_t n, kept = 0;

    ompp_scope_addresses(structure, deadline, &addresses, &n);
    for (size_t i = 0; i < n; i++) {
        if (ompp_scope_procedure(structure, addresses[i], deadline, &procedure) == 0) look_at(procedure);
        if (kept < MOST) at[kept++] = addresses[i] + i % 7;
    }
    free(addresses);
    return kept;
}

static void ask_lines(ompp_structure_t *structure, double deadline, const uint64_t *at, size_t n)
{
    ompp_query_t *queries = calloc(n + 1, sizeof *queries);

    FUZZ_REQUIRE(queries, "memory for questions");
    for (size_t i = 0; i < n; i++)
        queries[i] = (ompp_query_t){.addr = at[i],
                                    .addr_end = i % 3 ? at[i] + 40 : 0,
                                    .extent = (ompp_extent_t)(i % (OMPP_EXTENT_FUNCTION + 1)),
                                    .callee = i % 5 == 0 ? "GOMP_barrier" : NULL,
                                    .callee_end = i % 5 == 1 ? "GOMP" : NULL};
    ompp_structure_lookup(structure, queries, n, deadline);
    for (size_t i = 0; i < n; i++)
        FUZZ_REQUIRE(!queries[i].line || queries[i].line_end >= queries[i].line,
                     "the last line is not before the first");
    free(queries);
}

static void ask_variables(ompp_structure_t *structure, double deadline)
{
    static const char *const whole[] = {NULL};
    size_t n;
    const ompp_variable_t *all = ompp_variable_all(structure, deadline, &n);
    uint64_t offset, size;
    char text[100];

    for (size_t i = 0; i < n && i < MOST; i++) {
        ompp_variable_part(structure, &all[i], i * 12, whole, text, sizeof text);
        ompp_variable_kind(structure, &all[i]);
        ompp_variable_select(structure, &all[i], all[i].fortran ? "(1)%x" : "[0].x", &offset, &size);
    }
}

static void ask_frames(ompp_structure_t *structure, double deadline, const uint64_t *at, size_t n)
{
    ompp_local_t found[4];
    ompp_line_t lines[8];
    uint64_t target, size;
    ompp_code_t code[4];
    uint32_t nearest = 0;
    char text[100];

    for (size_t i = 0; i < n && i < 60 && ompp_clock_seconds() < deadline; i++) {
        const ompp_local_place_t place = {.code = at[i] + 8,
                                          .low = -64,
                                          .frame = 96,
                                          .now = i % 2,
                                          .in_register = i % 4 == 3,
                                          .reg = (unsigned)i % 17};
        const size_t m = ompp_local_find(structure, &place, found, 4);
        for (size_t k = 0; k < m; k++) {
            ompp_local_pointer(structure, found[k].type, 8, found[k].fortran, text, sizeof text, &target, deadline);
            ompp_local_size(structure, found[k].type, found[k].fortran);
        }
        ompp_local_result(structure, at[i] + 20, i % 3 ? 0 : -24, deadline, found);
        ompp_local_kept(structure, at[i] + 8, -16);
        ompp_local_keeps(structure, at[i] + 8, 3);
        ompp_local_lines(structure, at[i], lines, 8);
        ompp_variable_symbol(structure, at[i], &size);
    }
    ompp_code_of_line(structure, "t.c", 12, deadline, code, 4, &nearest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t at[MOST];
    char path[64];
    const int fd = fuzz_file(data, size, path);
    ompp_structure_t *structure;

    ompp_clock_start("gettime");
    const double deadline = ompp_clock_seconds() + SECONDS;
    if (ompp_structure_open(path, NULL, &structure) == 0) {
        const size_t n = ask_scopes(structure, deadline, at);
        ask_lines(structure, deadline, at, n);
        ask_variables(structure, deadline);
        ask_frames(structure, deadline, at, n);
        ompp_structure_close(structure);
    }
    close(fd);
    FUZZ_REQUIRE(ompp_clock_seconds() < deadline + 15, "an answer in time");
    return 0;
}

/* ---- Damage ------------------------------------------------------------------------------------------------------ */

/* Most bytes of a file are code or names: damage goes to a section of its own choice, whose size and place stay, or to
 * any bytes. Also without libFuzzer: replay.c. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

static unsigned next_random(unsigned *seed, size_t below)
{
    *seed ^= *seed << 13, *seed ^= *seed >> 17, *seed ^= *seed << 5;
    return below ? *seed % (unsigned)below : 0;
}

/* \return where it is, and of how many bytes. false: the headers are damaged, or the file does not have it. */
static bool find_section(const uint8_t *data, size_t size, unsigned which, size_t *at, size_t *n)
{
    Elf64_Ehdr header;
    Elf64_Shdr section;

    if (size < sizeof header) return false;
    memcpy(&header, data, sizeof header);
    if (header.e_shnum == 0 || header.e_shoff > size || (size - header.e_shoff) / sizeof section < header.e_shnum)
        return false;
    *at = header.e_shoff;
    *n = header.e_shnum * sizeof section;
    which %= header.e_shnum + 1u;
    if (which == header.e_shnum) return true; /* the headers themselves */
    memcpy(&section, data + header.e_shoff + which * sizeof section, sizeof section);
    *at = section.sh_offset;
    *n = section.sh_size;
    return section.sh_type != SHT_NOBITS && *n > 0 && *at < size && *n <= size - *at;
}

static void damage(uint8_t *data, size_t at, size_t n, unsigned *seed)
{
    static const uint8_t interesting[] = {0, 1, 4, 8, 0x3f, 0x7f, 0x80, 0xfe, 0xff};

    for (unsigned edits = 1 + next_random(seed, 4); edits > 0; edits--) {
        uint8_t *to = data + at + next_random(seed, n);
        const size_t room = data + at + n - to;
        switch (next_random(seed, 4)) {
        case 0: *to ^= (uint8_t)(1u << next_random(seed, 8)); break;
        case 1: *to = interesting[next_random(seed, sizeof interesting)]; break;
        case 2: memset(to, interesting[next_random(seed, sizeof interesting)], room < 4 ? room : 4); break;
        default: memmove(to, data + at + next_random(seed, n - room + 1), room < 8 ? room : 8); break;
        }
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    size_t at, n;

    seed = seed * 2654435761u + 1;
    const unsigned how = next_random(&seed, 16);
    if (how == 0 && size) return next_random(&seed, size); /* cut */
    if (how < 3 && LLVMFuzzerMutate) return LLVMFuzzerMutate(data, size, room);
    if (!find_section(data, size, next_random(&seed, 1u << 16), &at, &n)) at = 0, n = size;
    if (n) damage(data, at, n, &seed);
    return size;
}
