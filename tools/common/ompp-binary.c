#include "tools/common/ompp-binary.h"

#include "base/ompp_path.h"
#include "image/ompp_image.h"

#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Dynamic linkers of other C libraries are known by their names: musl's, uClibc's, Android's. */
static ompp_elf_kind_t kind_of_dynamic(const ompp_image_t *image, const ElfW(Phdr) * interp)
{
    const char *name = (const char *)image->data + interp->p_offset;

    if (interp->p_offset > image->size || interp->p_filesz > image->size - interp->p_offset ||
        !memchr(name, '\0', interp->p_filesz))
        return OMPP_ELF_FOREIGN;
    name = ompp_path_last(name);
    return strncmp(name, "ld-musl", 7) == 0 || strncmp(name, "ld-uClibc", 9) == 0 || strncmp(name, "linker", 6) == 0
               ? OMPP_ELF_OTHER_LIBC
               : OMPP_ELF_DYNAMIC;
}

ompp_elf_kind_t ompp_elf_kind(const char *path)
{
    ompp_elf_kind_t kind = OMPP_ELF_FOREIGN;
    ompp_image_t image;

    if (!ompp_image_open(path, &image)) return OMPP_ELF_UNREADABLE;
    if (image.size > 2 && image.data[0] == '#' && image.data[1] == '!') kind = OMPP_ELF_SCRIPT;
    else if (ompp_image_runs_here(&image)) {
        const ElfW(Phdr) *interp = ompp_image_header(&image, PT_INTERP);
        kind = interp ? kind_of_dynamic(&image, interp) : OMPP_ELF_STATIC;
    }
    ompp_image_close(&image);
    return kind;
}

/* The section of a name; NULL when there is none. */
static const ElfW(Shdr) * find_section(const ompp_image_t *image, const char *name)
{
    const ElfW(Ehdr) *h = (const void *)image->data;
    const ElfW(Shdr) *s = (const void *)(image->data + h->e_shoff);

    if (!h->e_shnum || h->e_shentsize != sizeof *s || h->e_shoff > image->size || h->e_shstrndx >= h->e_shnum ||
        h->e_shnum > (image->size - h->e_shoff) / sizeof *s || s[h->e_shstrndx].sh_offset > image->size)
        return NULL;
    const char *names = (const char *)image->data + s[h->e_shstrndx].sh_offset;
    size_t size = image->size - s[h->e_shstrndx].sh_offset, length = strlen(name) + 1;
    for (unsigned i = 0; i < h->e_shnum; i++)
        if (s[i].sh_name < size && length <= size - s[i].sh_name && memcmp(names + s[i].sh_name, name, length) == 0)
            return &s[i];
    return NULL;
}

/* Debug information that a package puts aside: /usr/lib/debug/.build-id/ab/cdef....debug */
static bool has_separate(const ompp_image_t *image)
{
    const ElfW(Shdr) *note = find_section(image, ".note.gnu.build-id");
    char path[200] = "/usr/lib/debug/.build-id/";
    size_t n = strlen(path), head = sizeof(ElfW(Nhdr)) + 4;

    if (!note || note->sh_size <= head || note->sh_size > head + 64 || note->sh_offset > image->size ||
        note->sh_size > image->size - note->sh_offset)
        return false;
    for (size_t i = head; i < note->sh_size; i++)
        n +=
            (size_t)snprintf(path + n, sizeof path - n, i == head ? "%02x/" : "%02x", image->data[note->sh_offset + i]);
    snprintf(path + n, sizeof path - n, ".debug");
    return access(path, R_OK) == 0;
}

/* Beside the program, in .debug there, or under /usr/lib/debug, by the name that the program gives it. */
static bool has_linked(const ompp_image_t *image, const char *program)
{
    const ElfW(Shdr) *link = find_section(image, ".gnu_debuglink");
    const char *const forms[] = {"%s/%s", "%s/.debug/%s", "/usr/lib/debug%s/%s"};
    char dir[PATH_MAX], path[2 * PATH_MAX];
    bool found = false;

    if (!link || link->sh_offset > image->size || link->sh_size > image->size - link->sh_offset ||
        !realpath(program, dir))
        return false;
    const char *name = (const char *)image->data + link->sh_offset;
    if (!memchr(name, '\0', link->sh_size) || !*name || strchr(name, '/')) return false;
    *strrchr(dir, '/') = '\0';
    for (size_t i = 0; i < sizeof forms / sizeof forms[0] && !found; i++) {
        snprintf(path, sizeof path, forms[i], dir, name);
        found = access(path, R_OK) == 0;
    }
    return found;
}

ompp_elf_debug_t ompp_elf_debug(const char *path)
{
    ompp_elf_debug_t found = OMPP_ELF_NO_LINES;
    ompp_image_t image;

    if (!ompp_image_open(path, &image)) return found;
    if (ompp_image_runs_here(&image) && (find_section(&image, ".debug_line") || find_section(&image, ".zdebug_line")))
        found = OMPP_ELF_LINES;
    else if (ompp_image_runs_here(&image) && (has_separate(&image) || has_linked(&image, path)))
        found = OMPP_ELF_SEPARATE;
    ompp_image_close(&image);
    return found;
}

bool ompp_elf_names_debug_file(const char *path)
{
    ompp_image_t image;
    bool names = false;

    if (!ompp_image_open(path, &image)) return false;
    names = ompp_image_runs_here(&image) && find_section(&image, ".gnu_debuglink");
    ompp_image_close(&image);
    return names;
}
