/**
 * \file
 * What of MPI the program calls that the wrappers do not see: functions imported by the loaded modules, by their
 * relocations, that this library does not wrap.
 */
#define _GNU_SOURCE
#include "mpi-wrap/mpi_wrap_priv.h"

#include "base/ompp_path.h"
#include "model/ompp_profile.h"

#include <ctype.h>
#include <elf.h>
#include <link.h>
#include <string.h>

#define MAX_NAMES 64 /* said one by one */

typedef struct {
    const ompp_mpi_names_t *wrapped; /* ompp_mpi_wrapped */
    const char *names[MAX_NAMES];    /* of modules that stay loaded while this runs */
    unsigned count;
} found_t;

/* MPI_Xx.. and MPIX_Xx..: constants of mpi.h that are data symbols are all upper case. */
static bool is_mpi_function(const char *name)
{
    const size_t prefix = !strncmp(name, "MPIX_", 5) ? 5 : 4;

    if (strncmp(name, "MPI_", 4) && prefix == 4) return false;
    return isupper((unsigned char)name[prefix]) && islower((unsigned char)name[prefix + 1]);
}

static bool ends_in(const char *name, const char *end)
{
    const size_t length = strlen(name), n = strlen(end);

    return length >= n && !strcmp(name + length - n, end);
}

/* mpi_send_, mpi_send__, mpi_send_f08_, MPI_SEND; not what is no call: sizes of variables, callbacks, constants. */
static bool is_fortran_function(const char *name)
{
    if (strncmp(name, "mpi_", 4) || !islower((unsigned char)name[4]) || !ends_in(name, "_")) return false;
    return strncmp(name, "mpi_sizeof_", 11) && strncmp(name, "mpi_fortran_", 12) &&
           strncmp(name, "mpi_conversion_fn_", 18) && !ends_in(name, "_fn_") && !ends_in(name, "_fn__");
}

static bool is_wrapped(const found_t *found, const char *name)
{
    for (int i = 0; i < 2; i++)
        for (ompp_mpi_names_t wrapped = found->wrapped[i]; *wrapped; wrapped++)
            if (!strcmp(*wrapped, name)) return true;
    return false;
}

static void note(found_t *found, const char *name)
{
    if (found->count == MAX_NAMES || !(is_fortran_function(name) || is_mpi_function(name))) return;
    if (is_wrapped(found, name)) return;
    for (unsigned i = 0; i < found->count; i++)
        if (!strcmp(found->names[i], name)) return;
    found->names[found->count++] = name;
}

/* Entries of the dynamic section are addresses, made absolute by glibc but not in every module. */
static const void *address(const struct dl_phdr_info *module, ElfW(Addr) value)
{
    return (const void *)(value < module->dlpi_addr ? value + module->dlpi_addr : value);
}

typedef struct {
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Rela) * relocations[2]; /* data and GOT, PLT */
    size_t count[2];
} imports_t;

static void read_dynamic(const struct dl_phdr_info *module, const ElfW(Dyn) * d, imports_t *im)
{
    for (; d->d_tag != DT_NULL; d++) {
        switch (d->d_tag) {
        case DT_SYMTAB: im->symbols = address(module, d->d_un.d_ptr); break;
        case DT_STRTAB: im->strings = address(module, d->d_un.d_ptr); break;
        case DT_RELA: im->relocations[0] = address(module, d->d_un.d_ptr); break;
        case DT_RELASZ: im->count[0] = d->d_un.d_val / sizeof(ElfW(Rela)); break;
        case DT_JMPREL: im->relocations[1] = address(module, d->d_un.d_ptr); break;
        case DT_PLTRELSZ: im->count[1] = d->d_un.d_val / sizeof(ElfW(Rela)); break;
        default: break;
        }
    }
}

static void note_imports(const imports_t *im, found_t *found)
{
    if (!im->symbols || !im->strings) return;
    for (int part = 0; part < 2; part++) {
        for (size_t i = 0; im->relocations[part] && i < im->count[part]; i++) {
            const ElfW(Sym) *s = &im->symbols[ELF64_R_SYM(im->relocations[part][i].r_info)];
            if (s->st_shndx == SHN_UNDEF) note(found, im->strings + s->st_name);
        }
    }
}

/* MPI's own libraries call each other; only the program and its libraries are of interest. */
static bool belongs_to_mpi(const char *path)
{
    static const char *const prefixes[] = {"libmpi", "libpmpi", "libompp", "mca_", "libopen-", "linux-vdso"};
    const char *name = ompp_path_last(path);

    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (!strncmp(name, prefixes[i], strlen(prefixes[i]))) return true;
    return false;
}

static int visit_module(struct dl_phdr_info *module, size_t size, void *data)
{
    (void)size;
    if (belongs_to_mpi(module->dlpi_name)) return 0;
    for (int i = 0; i < module->dlpi_phnum; i++) {
        if (module->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
        imports_t im = {0};
        read_dynamic(module, (const void *)(module->dlpi_addr + module->dlpi_phdr[i].p_vaddr), &im);
        note_imports(&im, data);
    }
    return 0;
}

void ompp_mpi_coverage(const ompp_mpi_names_t wrapped[2])
{
    found_t found = {.wrapped = wrapped};

    dl_iterate_phdr(visit_module, &found);
    for (unsigned i = 0; i < found.count; i++) ompp_event_coverage(OMPP_COVERAGE_MPI_UNWRAPPED, found.names[i], NULL);
}
