#define _GNU_SOURCE
#include "image/ompp_needed.h"

#include "base/ompp_env.h"
#include "image/ompp_image.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_LIBRARIES = 1024 };

typedef struct {
    char *seen[MAX_LIBRARIES];
    char *path[MAX_LIBRARIES]; /* where it was found; NULL = nowhere */
    unsigned nseen;
    char *system_dirs;  /* joined with ':' */
    char *program_path; /* the program's DT_RPATH, which holds for its libraries as well; NULL = none */
    char *program_origin;
    ompp_needed_visit_t visit;
    void *data;
} walk_t;

/* Offset in the file of an address, or 0. */
static size_t file_offset(const ompp_image_t *image, ElfW(Addr) address)
{
    const ElfW(Ehdr) *h = (const void *)image->data;
    const ElfW(Phdr) *p = (const void *)(image->data + h->e_phoff);

    for (unsigned i = 0; i < h->e_phnum; i++)
        if (p[i].p_type == PT_LOAD && address >= p[i].p_vaddr && address - p[i].p_vaddr < p[i].p_filesz)
            return address - p[i].p_vaddr + p[i].p_offset;
    return 0;
}

/* A string of the dynamic section; "" when it lies outside the file. */
static const char *text_at(const ompp_image_t *image, size_t table, ElfW(Xword) index)
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
        if (skip <= length &&
            snprintf(path, PATH_MAX, "%s%.*s/%s", prefix, (int)(length - skip), rest + skip, name) < PATH_MAX &&
            access(path, R_OK) == 0)
            return true;
        list += length + (list[length] == ':');
    }
    return false;
}

static void add_dir(walk_t *walk, const char *dir)
{
    char *joined = NULL;

    if (asprintf(&joined, "%s%s%s", walk->system_dirs ? walk->system_dirs : "", walk->system_dirs ? ":" : "", dir) < 0)
        return;
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
    if (strchr(name, '/')) walk->path[walk->nseen - 1] = strdup(name);
    else if (search(run_path, origin, name, found) || search(walk->program_path, walk->program_origin, name, found) ||
             search_system(walk, name, found))
        walk->path[walk->nseen - 1] = strdup(found);
}

/* Of a file whose dynamic section is d, [n]; the table of its strings. */
static const char *run_path_of(const ompp_image_t *image, const ElfW(Dyn) * d, size_t n, size_t *table)
{
    const char *run_path = "";

    *table = 0;
    for (size_t i = 0; i < n && d[i].d_tag != DT_NULL; i++)
        if (d[i].d_tag == DT_STRTAB) *table = file_offset(image, d[i].d_un.d_ptr);
    for (size_t i = 0; i < n && d[i].d_tag != DT_NULL; i++)
        if (d[i].d_tag == DT_RUNPATH || (d[i].d_tag == DT_RPATH && !*run_path))
            run_path = text_at(image, *table, d[i].d_un.d_val);
    return run_path;
}

/* The dynamic section, its length, and the directory of the file. */
static const ElfW(Dyn) * dynamic_of(const ompp_image_t *image, const char *path, size_t *n, char origin[PATH_MAX])
{
    const ElfW(Phdr) *header = ompp_image_header(image, PT_DYNAMIC);

    if (!header || header->p_offset > image->size || header->p_filesz > image->size - header->p_offset) return NULL;
    if (!realpath(path, origin)) return NULL;
    *strrchr(origin, '/') = '\0';
    *n = header->p_filesz / sizeof(ElfW(Dyn));
    return (const void *)(image->data + header->p_offset);
}

static void follow_image(walk_t *walk, const ompp_image_t *image, const char *path)
{
    char origin[PATH_MAX];
    size_t n, table;
    const ElfW(Dyn) *d = dynamic_of(image, path, &n, origin);

    if (!d) return;
    const char *run_path = run_path_of(image, d, n, &table);
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
    ompp_image_t image;

    if (!ompp_image_open(path, &image)) return;
    if (ompp_image_runs_here(&image)) follow_image(walk, &image, path);
    ompp_image_close(&image);
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
static void walk_all(const char *path, ompp_needed_visit_t names, ompp_needed_visit_t files, void *data)
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

void ompp_needed_names(const char *path, ompp_needed_visit_t visit, void *data) { walk_all(path, visit, NULL, data); }

void ompp_needed_files(const char *path, ompp_needed_visit_t visit, void *data) { walk_all(path, NULL, visit, data); }

static bool find_by_run_path(const char *soname, const char *asker, char *path)
{
    ompp_image_t image;
    char origin[PATH_MAX];
    size_t n, table;
    bool found = false;

    if (!ompp_image_open(asker, &image)) return false;
    const ElfW(Dyn) *d = ompp_image_runs_here(&image) ? dynamic_of(&image, asker, &n, origin) : NULL;
    if (d) found = search(run_path_of(&image, d, n, &table), origin, soname, path);
    ompp_image_close(&image);
    return found;
}

bool ompp_needed_find(const char *soname, const char *asker, char *path)
{
    walk_t walk = {0};

    if (asker && find_by_run_path(soname, asker, path)) return true;
    read_dirs(&walk);
    bool found = search_system(&walk, soname, path);
    free(walk.system_dirs);
    return found;
}
