#include "tools/ompp-elf.h"

#include "base/ompp_env.h"

#include <elf.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_LIBRARIES = 1024 };

typedef struct {
    const unsigned char *data; /* mapped */
    size_t size;
} image_t;

typedef struct {
    char *seen[MAX_LIBRARIES];
    char *path[MAX_LIBRARIES]; /* where it was found; NULL = nowhere */
    unsigned nseen;
    char *system_dirs; /* joined with ':' */
    char *program_path; /* the program's DT_RPATH, which holds for its libraries as well; NULL = none */
    char *program_origin;
    ompp_elf_visit_t visit;
    void *data;
} walk_t;

static bool map_file(const char *path, image_t *image)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    void *data = MAP_FAILED;

    if (fd < 0) return false;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        data = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (data == MAP_FAILED) return false;
    *image = (image_t){data, st.st_size};
    return true;
}

static bool is_elf_here(const image_t *image)
{
    const ElfW(Ehdr) *h = (const void *)image->data;
    const ElfW(Half) machine =
#if defined(__x86_64__)
        EM_X86_64;
#elif defined(__aarch64__)
        EM_AARCH64;
#elif defined(__powerpc64__)
        EM_PPC64;
#else
        h->e_machine;
#endif

    return image->size >= sizeof *h && memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 &&
           h->e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) && h->e_machine == machine &&
           h->e_phentsize == sizeof(ElfW(Phdr)) && h->e_phoff <= image->size &&
           h->e_phnum <= (image->size - h->e_phoff) / sizeof(ElfW(Phdr));
}

static const ElfW(Phdr) *find_header(const image_t *image, ElfW(Word) type)
{
    const ElfW(Ehdr) *h = (const void *)image->data;
    const ElfW(Phdr) *p = (const void *)(image->data + h->e_phoff);

    for (unsigned i = 0; i < h->e_phnum; i++)
        if (p[i].p_type == type) return &p[i];
    return NULL;
}

ompp_elf_kind_t ompp_elf_kind(const char *path)
{
    ompp_elf_kind_t kind = OMPP_ELF_FOREIGN;
    image_t image;

    if (!map_file(path, &image)) return OMPP_ELF_UNREADABLE;
    if (image.size > 2 && image.data[0] == '#' && image.data[1] == '!')
        kind = OMPP_ELF_SCRIPT;
    else if (is_elf_here(&image))
        kind = find_header(&image, PT_INTERP) ? OMPP_ELF_DYNAMIC : OMPP_ELF_STATIC;
    munmap((void *)image.data, image.size);
    return kind;
}

/* The section of a name; NULL when there is none. */
static const ElfW(Shdr) *find_section(const image_t *image, const char *name)
{
    const ElfW(Ehdr) *h = (const void *)image->data;
    const ElfW(Shdr) *s = (const void *)(image->data + h->e_shoff);

    if (!h->e_shnum || h->e_shentsize != sizeof *s || h->e_shoff > image->size || h->e_shstrndx >= h->e_shnum ||
        h->e_shnum > (image->size - h->e_shoff) / sizeof *s || s[h->e_shstrndx].sh_offset > image->size)
        return NULL;
    const char *names = (const char *)image->data + s[h->e_shstrndx].sh_offset;
    size_t size = image->size - s[h->e_shstrndx].sh_offset, length = strlen(name) + 1;
    for (unsigned i = 0; i < h->e_shnum; i++)
        if (s[i].sh_name < size && length <= size - s[i].sh_name && memcmp(names + s[i].sh_name, name, length) == 0) return &s[i];
    return NULL;
}

/* Debug information that a package puts aside: /usr/lib/debug/.build-id/ab/cdef....debug */
static bool has_separate(const image_t *image)
{
    const ElfW(Shdr) *note = find_section(image, ".note.gnu.build-id");
    char path[200] = "/usr/lib/debug/.build-id/";
    size_t n = strlen(path), head = sizeof(ElfW(Nhdr)) + 4;

    if (!note || note->sh_size <= head || note->sh_size > head + 64 || note->sh_offset > image->size ||
        note->sh_size > image->size - note->sh_offset)
        return false;
    for (size_t i = head; i < note->sh_size; i++)
        n += (size_t)snprintf(path + n, sizeof path - n, i == head ? "%02x/" : "%02x", image->data[note->sh_offset + i]);
    snprintf(path + n, sizeof path - n, ".debug");
    return access(path, R_OK) == 0;
}

/* Beside the program, in .debug there, or under /usr/lib/debug, by the name that the program gives it. */
static bool has_linked(const image_t *image, const char *program)
{
    const ElfW(Shdr) *link = find_section(image, ".gnu_debuglink");
    const char *const forms[] = {"%s/%s", "%s/.debug/%s", "/usr/lib/debug%s/%s"};
    char dir[PATH_MAX], path[2 * PATH_MAX];
    bool found = false;

    if (!link || link->sh_offset > image->size || link->sh_size > image->size - link->sh_offset || !realpath(program, dir)) return false;
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
    image_t image;

    if (!map_file(path, &image)) return found;
    if (is_elf_here(&image) && (find_section(&image, ".debug_line") || find_section(&image, ".zdebug_line")))
        found = OMPP_ELF_LINES;
    else if (is_elf_here(&image) && (has_separate(&image) || has_linked(&image, path)))
        found = OMPP_ELF_SEPARATE;
    munmap((void *)image.data, image.size);
    return found;
}

bool ompp_elf_names_debug_file(const char *path)
{
    image_t image;
    bool names = false;

    if (!map_file(path, &image)) return false;
    names = is_elf_here(&image) && find_section(&image, ".gnu_debuglink");
    munmap((void *)image.data, image.size);
    return names;
}

/* Offset in the file of an address, or 0. */
static size_t file_offset(const image_t *image, ElfW(Addr) address)
{
    const ElfW(Ehdr) *h = (const void *)image->data;
    const ElfW(Phdr) *p = (const void *)(image->data + h->e_phoff);

    for (unsigned i = 0; i < h->e_phnum; i++)
        if (p[i].p_type == PT_LOAD && address >= p[i].p_vaddr && address - p[i].p_vaddr < p[i].p_filesz)
            return address - p[i].p_vaddr + p[i].p_offset;
    return 0;
}

/* A string of the dynamic section; "" when it lies outside the file. */
static const char *text_at(const image_t *image, size_t table, ElfW(Xword) index)
{
    if (table == 0 || table >= image->size || index >= image->size - table) return "";
    const char *text = (const char *)image->data + table + index;
    return memchr(text, '\0', image->size - table - index) ? text : "";
}

/* First directory of the list that has the library; $ORIGIN is the directory of the file that asks. */
static bool search(const char *list, const char *origin, const char *name, char path[PATH_MAX])
{
    while (list && *list) {
        size_t length = strcspn(list, ":");
        const char *rest = list, *prefix = "";
        size_t skip = 0;
        if (strncmp(list, "$ORIGIN", 7) == 0) prefix = origin, skip = 7;
        if (strncmp(list, "${ORIGIN}", 9) == 0) prefix = origin, skip = 9;
        if (skip <= length && snprintf(path, PATH_MAX, "%s%.*s/%s", prefix, (int)(length - skip), rest + skip, name) < PATH_MAX &&
            access(path, R_OK) == 0)
            return true;
        list += length + (list[length] == ':');
    }
    return false;
}

static void add_dir(walk_t *walk, const char *dir)
{
    char *joined = NULL;

    if (asprintf(&joined, "%s%s%s", walk->system_dirs ? walk->system_dirs : "", walk->system_dirs ? ":" : "", dir) < 0) return;
    free(walk->system_dirs);
    walk->system_dirs = joined;
}

static void read_conf(walk_t *walk, const char *path, unsigned depth)
{
    FILE *file = depth < 8 ? fopen(path, "r") : NULL;
    char line[PATH_MAX];
    glob_t found;

    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "#\r\n")] = '\0';
        if (strncmp(line, "include ", 8) == 0 && glob(line + 8, 0, NULL, &found) == 0) {
            for (size_t i = 0; i < found.gl_pathc; i++) read_conf(walk, found.gl_pathv[i], depth + 1);
            globfree(&found);
        } else if (*line == '/') {
            add_dir(walk, line);
        }
    }
    if (file) fclose(file);
}

static bool first_time(walk_t *walk, const char *name)
{
    for (unsigned i = 0; i < walk->nseen; i++)
        if (strcmp(walk->seen[i], name) == 0) return false;
    if (walk->nseen == MAX_LIBRARIES) return false;
    walk->seen[walk->nseen] = strdup(name);
    return walk->seen[walk->nseen] && ++walk->nseen;
}

static bool search_system(const walk_t *walk, const char *name, char path[PATH_MAX])
{
    return search(ompp_env_foreign("LD_LIBRARY_PATH"), "", name, path) || search(walk->system_dirs, "", name, path);
}

static void needed(walk_t *walk, const char *name, const char *run_path, const char *origin)
{
    char found[PATH_MAX];

    if (!*name || !first_time(walk, name)) return;
    walk->visit(name, walk->data);
    if (strchr(name, '/'))
        walk->path[walk->nseen - 1] = strdup(name);
    else if (search(run_path, origin, name, found) || search(walk->program_path, walk->program_origin, name, found) ||
             search_system(walk, name, found))
        walk->path[walk->nseen - 1] = strdup(found);
}

static void follow_image(walk_t *walk, const image_t *image, const char *path)
{
    const ElfW(Phdr) *header = find_header(image, PT_DYNAMIC);
    char origin[PATH_MAX];
    const char *run_path = "";
    size_t n, table = 0;

    if (!header || header->p_offset > image->size || header->p_filesz > image->size - header->p_offset) return;
    if (!realpath(path, origin)) return;
    *strrchr(origin, '/') = '\0';
    const ElfW(Dyn) *d = (const void *)(image->data + header->p_offset);
    n = header->p_filesz / sizeof *d;
    for (size_t i = 0; i < n && d[i].d_tag != DT_NULL; i++)
        if (d[i].d_tag == DT_STRTAB) table = file_offset(image, d[i].d_un.d_ptr);
    for (size_t i = 0; i < n && d[i].d_tag != DT_NULL; i++)
        if (d[i].d_tag == DT_RUNPATH || (d[i].d_tag == DT_RPATH && !*run_path)) run_path = text_at(image, table, d[i].d_un.d_val);
    for (size_t i = 0; i < n && d[i].d_tag != DT_NULL && walk->nseen == 0; i++)
        if (d[i].d_tag == DT_RPATH && !walk->program_path) {
            walk->program_path = strdup(text_at(image, table, d[i].d_un.d_val));
            walk->program_origin = strdup(origin);
        }
    for (size_t i = 0; i < n && d[i].d_tag != DT_NULL; i++)
        if (d[i].d_tag == DT_NEEDED) needed(walk, text_at(image, table, d[i].d_un.d_val), run_path, origin);
}

static void follow(walk_t *walk, const char *path)
{
    image_t image;

    if (!map_file(path, &image)) return;
    if (is_elf_here(&image)) follow_image(walk, &image, path);
    munmap((void *)image.data, image.size);
}

static void read_dirs(walk_t *walk)
{
    read_conf(walk, "/etc/ld.so.conf", 0);
    add_dir(walk, "/lib64:/usr/lib64:/lib:/usr/lib:/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu");
}

static void visit_nothing(const char *soname, void *data)
{
    (void)soname;
    (void)data;
}

/* names, files: one of them is visited; NULL = not. */
static void walk_all(const char *path, ompp_elf_visit_t names, ompp_elf_visit_t files, void *data)
{
    walk_t walk = {.visit = names ? names : visit_nothing, .data = data};

    read_dirs(&walk);
    follow(&walk, path);
    for (unsigned i = 0; i < walk.nseen; i++)
        if (walk.path[i]) follow(&walk, walk.path[i]);
    for (unsigned i = 0; files && i < walk.nseen; i++)
        if (walk.path[i]) files(walk.path[i], data);
    for (unsigned i = 0; i < walk.nseen; i++) free(walk.seen[i]), free(walk.path[i]);
    free(walk.program_path);
    free(walk.program_origin);
    free(walk.system_dirs);
}

void ompp_elf_needed(const char *path, ompp_elf_visit_t visit, void *data)
{
    walk_all(path, visit, NULL, data);
}

void ompp_elf_libraries(const char *path, ompp_elf_visit_t visit, void *data)
{
    walk_all(path, NULL, visit, data);
}

bool ompp_elf_find(const char *soname, char *path)
{
    walk_t walk = {0};

    read_dirs(&walk);
    bool found = search_system(&walk, soname, path);
    free(walk.system_dirs);
    return found;
}
