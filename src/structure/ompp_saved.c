/* Procedures as one block of bytes: numbers of this machine, indices in place of pointers, and a checksum over all. */
#define _GNU_SOURCE
#include "structure/ompp_saved.h"

#include "base/ompp_env.h"
#include "base/ompp_new_file.h"
#include "base/ompp_table.h"
#include "base/ompp_vector.h"
#include "config.h"
#include "structure/ompp_structure_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".structure"
#define NONE UINT32_MAX

/* What makes what is kept that of a file, and of this version. */
typedef struct {
    char magic[8], version[88];
    char id[OMPP_BUILD_ID_TEXT + 7]; /* build id; the rest is 0 */
    uint64_t size, debug_size;       /* bytes of the file and of its debug file; 0 = there is none */
    int64_t mtime, debug_mtime;
    uint64_t form; /* 1 with debug information, 2 with a decoder of instructions */
} owner_t;

typedef struct {
    owner_t owner;
    uint64_t checksum; /* of all that follows */
    uint64_t naddresses, nprocedures, nparts, nscopes, npieces, ntext;
} head_t;

/* In this order, each as often as the head says; then the texts, each with its end. */
typedef struct {
    uint64_t address;
    uint32_t procedure, unused; /* NONE */
} address_t;
typedef struct {
    uint32_t nparts, nscopes, npieces, unknown_jumps;
    int32_t loops_rc;
    uint32_t unused;
} item_t;
typedef struct {
    uint64_t low, bytes;
    uint32_t outer, kind, line, line_end, copies, flags;
    uint32_t function, file; /* offset of the text; NONE */
} scope_t;
typedef struct {
    uint64_t low, high;
    uint32_t scope, line, file, unused;
} piece_t;

enum { IRREDUCIBLE = 1, MADE = 2 };

/* ---- Where ------------------------------------------------------------------------------------------------------- */

bool ompp_saved_directory(char path[OMPP_SAVED_PATH])
{
    const char *cache = ompp_env_foreign("XDG_CACHE_HOME"), *home = ompp_env_foreign("HOME");
    int n = -1;

    if (cache && *cache == '/') n = snprintf(path, OMPP_SAVED_PATH, "%s/ompp", cache);
    else if (home && *home == '/') n = snprintf(path, OMPP_SAVED_PATH, "%s/.cache/ompp", home);
    return ompp_env_is_trusted() && n > 0 && n < OMPP_SAVED_PATH;
}

/* It is this user's, and nobody else writes to it. */
static bool is_own(int fd, mode_t type, struct stat *is)
{
    return fstat(fd, is) == 0 && (is->st_mode & S_IFMT) == type && is->st_uid == geteuid() && !(is->st_mode & 022);
}

static int open_directory(const char *path)
{
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat is;

    if (fd >= 0 && is_own(fd, S_IFDIR, &is)) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

/* With the one that it is in. */
static int make_directory(const char *path)
{
    char around[OMPP_SAVED_PATH];

    if (mkdir(path, 0700) != 0 && errno == ENOENT && snprintf(around, sizeof around, "%s", path) < (int)sizeof around) {
        *strrchr(around, '/') = '\0';
        if (mkdir(around, 0700) == 0) mkdir(path, 0700);
    }
    return open_directory(path);
}

/* ---- Whose ------------------------------------------------------------------------------------------------------- */

/* Of the command that this is a part of: what another build of it has found may differ. */
static void find_version(char *version, size_t size)
{
    char id[OMPP_BUILD_ID_TEXT] = "";
    ompp_elf_t own;

    if (ompp_elf_open(&own, "/proc/self/exe", NULL) == 0) {
        ompp_elf_build_id(&own, id);
        ompp_elf_close(&own);
    }
    snprintf(version, size, "1 %s %.48s", PACKAGE_VERSION, id);
}

/* \return false: it has no build id. */
static bool find_owner(ompp_structure_t *structure, owner_t *owner)
{
    const ompp_elf_t *debug = structure->debug.fd >= 0 ? &structure->debug : NULL;

    memset(owner, 0, sizeof *owner);
    if (!ompp_elf_build_id(&structure->elf, owner->id) || strlen(owner->id) < 16) return false;
    memset(owner->id + strlen(owner->id), 0, sizeof owner->id - strlen(owner->id));
    memcpy(owner->magic, "ompploop", sizeof owner->magic);
    find_version(owner->version, sizeof owner->version);
    owner->size = structure->elf.size;
    owner->mtime = structure->elf.mtime;
    owner->debug_size = debug ? debug->size : 0;
    owner->debug_mtime = debug ? debug->mtime : 0;
    owner->form = structure->has_lines;
#ifdef OMPP_HAVE_ZYDIS
    owner->form |= 2;
#endif
    return true;
}

static bool name_file(char *path, size_t size, const char *directory, const owner_t *owner)
{
    return snprintf(path, size, "%s%s%s" SUFFIX, directory, *directory ? "/" : "", owner->id) < (int)size;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* What was read, with the procedures in it. */
typedef struct {
    char *data;
    ompp_procedure_t *procedures;
    ompp_part_t *parts;
    ompp_scope_t *scopes;
    ompp_piece_t *pieces;
} kept_t;

/* The parts of the block. */
typedef struct {
    head_t head;
    const address_t *addresses;
    const item_t *items;
    const ompp_part_t *parts;
    const scope_t *scopes;
    const piece_t *pieces;
    const char *text;
} view_t;

static char *read_file(int directory, const char *name, uint64_t *size)
{
    const int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat is;
    char *data = NULL;
    uint64_t done = 0;

    if (fd < 0) return NULL;
    if (is_own(fd, S_IFREG, &is) && (uint64_t)is.st_size <= OMPP_SAVED_FILE_BYTES)
        data = malloc((size_t)is.st_size + 1);
    for (ssize_t n; data && done < (uint64_t)is.st_size; done += (uint64_t)n)
        if ((n = read(fd, data + done, (size_t)is.st_size - done)) <= 0) break;
    *size = done;
    if (data) futimens(fd, NULL); /* the oldest ones are removed first */
    close(fd);
    return data;
}

/* A part of the block. \return NULL: it is too small. */
static const void *take(const char *data, uint64_t size, uint64_t *at, uint64_t n, size_t each)
{
    const void *part = data + *at;

    if (n > (size - *at) / each) return NULL;
    *at += n * each;
    return part;
}

static bool view_of(const char *data, uint64_t size, const owner_t *owner, view_t *v)
{
    uint64_t at = sizeof v->head;

    if (size < sizeof v->head) return false;
    memcpy(&v->head, data, sizeof v->head);
    const head_t *h = &v->head;
    if (memcmp(&h->owner, owner, sizeof *owner) != 0 ||
        h->checksum !=
            ompp_hash_bytes(OMPP_HASH_START, data + offsetof(head_t, naddresses), size - offsetof(head_t, naddresses)))
        return false;
    v->addresses = take(data, size, &at, h->naddresses, sizeof *v->addresses);
    v->items = v->addresses ? take(data, size, &at, h->nprocedures, sizeof *v->items) : NULL;
    v->parts = v->items ? take(data, size, &at, h->nparts, sizeof *v->parts) : NULL;
    v->scopes = v->parts ? take(data, size, &at, h->nscopes, sizeof *v->scopes) : NULL;
    v->pieces = v->scopes ? take(data, size, &at, h->npieces, sizeof *v->pieces) : NULL;
    v->text = v->pieces ? take(data, size, &at, h->ntext, 1) : NULL;
    return v->text && at == size && (h->ntext == 0 || v->text[h->ntext - 1] == '\0');
}

static bool text_at(const view_t *v, uint32_t offset, const char **text)
{
    *text = offset == NONE ? NULL : v->text + offset;
    return offset == NONE || offset < v->head.ntext;
}

static bool read_scopes(const view_t *v, const scope_t *from, uint32_t n, ompp_scope_t *to)
{
    for (uint32_t i = 0; i < n; i++) {
        const scope_t *s = &from[i];
        if (s->kind > OMPP_SCOPE_LOOP || (i ? s->outer >= i : s->outer != NONE)) return false;
        to[i] = (ompp_scope_t){.outer = i ? &to[s->outer] : NULL,
                               .kind = (ompp_scope_kind_t)s->kind,
                               .line = s->line,
                               .line_end = s->line_end,
                               .copies = s->copies,
                               .irreducible = s->flags & IRREDUCIBLE,
                               .made = s->flags & MADE,
                               .low = s->low,
                               .bytes = s->bytes};
        if (!text_at(v, s->function, &to[i].function) || !text_at(v, s->file, &to[i].file)) return false;
    }
    return n > 0;
}

static bool read_pieces(const view_t *v, const piece_t *from, uint32_t n, uint32_t nscopes, ompp_piece_t *to)
{
    for (uint32_t i = 0; i < n; i++) {
        to[i] = (ompp_piece_t){from[i].low, from[i].high, from[i].scope, from[i].line, NULL};
        if (from[i].scope >= nscopes || !text_at(v, from[i].file, &to[i].file)) return false;
    }
    return true;
}

static bool read_procedures(const view_t *v, kept_t *k)
{
    uint64_t part = 0, scope = 0, piece = 0;

    for (uint64_t i = 0; i < v->head.nprocedures; i++) {
        const item_t *item = &v->items[i];
        if (item->nparts > v->head.nparts - part || item->nscopes > v->head.nscopes - scope ||
            item->npieces > v->head.npieces - piece)
            return false;
        k->procedures[i] =
            (ompp_procedure_t){item->nparts,      item->nscopes,     item->npieces,  k->parts + part,
                               k->scopes + scope, k->pieces + piece, item->loops_rc, item->unknown_jumps};
        if (!read_scopes(v, v->scopes + scope, item->nscopes, k->scopes + scope) ||
            !read_pieces(v, v->pieces + piece, item->npieces, item->nscopes, k->pieces + piece))
            return false;
        part += item->nparts;
        scope += item->nscopes;
        piece += item->npieces;
    }
    memcpy(k->parts, v->parts, part * sizeof *k->parts);
    return part == v->head.nparts && scope == v->head.nscopes && piece == v->head.npieces;
}

static bool read_all(const view_t *v, kept_t *k, ompp_saved_t *all)
{
    const head_t *h = &v->head;

    k->procedures = calloc(h->nprocedures + 1, sizeof *k->procedures);
    k->parts = calloc(h->nparts + 1, sizeof *k->parts);
    k->scopes = calloc(h->nscopes + 1, sizeof *k->scopes);
    k->pieces = calloc(h->npieces + 1, sizeof *k->pieces);
    all->addresses = calloc(h->naddresses + 1, sizeof *all->addresses);
    all->procedures = calloc(h->naddresses + 1, sizeof *all->procedures);
    if (!k->procedures || !k->parts || !k->scopes || !k->pieces || !all->addresses || !all->procedures ||
        !read_procedures(v, k))
        return false;
    for (uint64_t i = 0; i < h->naddresses; i++) {
        const uint32_t p = v->addresses[i].procedure;
        if (p != NONE && p >= h->nprocedures) return false;
        all->addresses[i] = v->addresses[i].address;
        all->procedures[i] = p == NONE ? NULL : &k->procedures[p];
    }
    all->n = h->naddresses;
    return true;
}

bool ompp_saved_load(const char *directory, ompp_structure_t *structure, ompp_saved_t *all)
{
    const int fd = open_directory(directory);
    char name[OMPP_BUILD_ID_TEXT + sizeof SUFFIX];
    uint64_t size = 0;
    owner_t owner;
    view_t view;

    *all = (ompp_saved_t){0};
    if (fd < 0) return false;
    kept_t *k = find_owner(structure, &owner) && name_file(name, sizeof name, "", &owner) ? calloc(1, sizeof *k) : NULL;
    if (k) k->data = read_file(fd, name, &size);
    close(fd);
    all->kept = k;
    return k && k->data && view_of(k->data, size, &owner, &view) && read_all(&view, k, all);
}

void ompp_saved_fini(ompp_saved_t *all)
{
    kept_t *k = all->kept;

    free(all->addresses);
    free(all->procedures);
    if (k) {
        free(k->data);
        free(k->procedures);
        free(k->parts);
        free(k->scopes);
        free(k->pieces);
        free(k);
    }
    *all = (ompp_saved_t){0};
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* A part of the block that grows. */
typedef struct {
    char *data;
    size_t n, allocated;
} bytes_t;

typedef struct {
    bytes_t addresses, items, parts, scopes, pieces, text;
    ompp_table_t texts, known; /* offset + 1 by text; index + 1 by procedure */
    const char *last;          /* text that was added, and where */
    uint32_t last_at;
    uint64_t nprocedures;
    bool failed;
} block_t;

static void *add(block_t *b, bytes_t *to, size_t size)
{
    if (!ompp_vector_reserve(&to->data, &to->allocated, to->n + size, 1)) {
        b->failed = true;
        return NULL;
    }
    to->n += size;
    return memset(to->data + to->n - size, 0, size);
}

static bool is_same_text(const void *text, uint64_t value, const void *wanted)
{
    return strcmp((const char *)text + value - 1, wanted) == 0;
}

static uint32_t add_text(block_t *b, const char *text)
{
    if (!text || text == b->last) return text ? b->last_at : NONE;
    uint64_t hash = ompp_hash_text(OMPP_HASH_START, text);
    const uint64_t found = ompp_table_search(&b->texts, &hash, is_same_text, b->text.data, text);
    b->last = text;
    if (found) return b->last_at = (uint32_t)(found - 1);
    const size_t at = b->text.n, size = strlen(text) + 1;
    char *to = at + size < NONE ? add(b, &b->text, size) : NULL;
    if (!to || !ompp_table_set(&b->texts, hash, at + 1)) return b->failed = true, NONE;
    memcpy(to, text, size);
    return b->last_at = (uint32_t)at;
}

static void add_procedure(block_t *b, const ompp_procedure_t *p)
{
    item_t *item = add(b, &b->items, sizeof *item);
    void *parts = add(b, &b->parts, p->nparts * sizeof *p->parts);

    if (item)
        *item =
            (item_t){(uint32_t)p->nparts, (uint32_t)p->nscopes, (uint32_t)p->npieces, p->unknown_jumps, p->loops_rc, 0};
    if (parts && p->nparts) memcpy(parts, p->parts, p->nparts * sizeof *p->parts);
    for (size_t i = 0; i < p->nscopes && !b->failed; i++) {
        const ompp_scope_t *s = &p->scopes[i];
        const uint32_t function = add_text(b, s->function), file = add_text(b, s->file);
        scope_t *to = add(b, &b->scopes, sizeof *to);
        if (!to) return;
        *to = (scope_t){.low = s->low,
                        .bytes = s->bytes,
                        .outer = s->outer ? (uint32_t)(s->outer - p->scopes) : NONE,
                        .kind = s->kind,
                        .line = s->line,
                        .line_end = s->line_end,
                        .copies = s->copies,
                        .flags = (s->irreducible ? IRREDUCIBLE : 0u) | (s->made ? MADE : 0u),
                        .function = function,
                        .file = file};
    }
    for (size_t i = 0; i < p->npieces && !b->failed; i++) {
        const ompp_piece_t *piece = &p->pieces[i];
        const uint32_t file = add_text(b, piece->file);
        piece_t *to = add(b, &b->pieces, sizeof *to);
        if (to) *to = (piece_t){piece->low, piece->high, piece->scope, piece->line, file, 0};
    }
}

static void add_all(block_t *b, const ompp_saved_t *all)
{
    for (size_t i = 0; i < all->n && !b->failed; i++) {
        const ompp_procedure_t *p = all->procedures[i];
        uint64_t index = p ? ompp_table_get(&b->known, (uintptr_t)p) : 0;
        if (p && !index) {
            index = ++b->nprocedures;
            b->failed |= !ompp_table_set(&b->known, (uintptr_t)p, index);
            add_procedure(b, p);
        }
        address_t *to = add(b, &b->addresses, sizeof *to);
        if (to) *to = (address_t){all->addresses[i], p ? (uint32_t)(index - 1) : NONE, 0};
    }
}

/* \return the whole block, owned; NULL: out of memory, or too large. */
static char *join(block_t *b, const owner_t *owner, size_t *size)
{
    const bytes_t *const parts[] = {&b->addresses, &b->items, &b->parts, &b->scopes, &b->pieces, &b->text};
    head_t head = {.owner = *owner,
                   .naddresses = b->addresses.n / sizeof(address_t),
                   .nprocedures = b->nprocedures,
                   .nparts = b->parts.n / sizeof(ompp_part_t),
                   .nscopes = b->scopes.n / sizeof(scope_t),
                   .npieces = b->pieces.n / sizeof(piece_t),
                   .ntext = b->text.n};
    size_t at = sizeof head;

    *size = at;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) *size += parts[i]->n;
    char *data = b->failed || *size > OMPP_SAVED_FILE_BYTES ? NULL : malloc(*size);
    for (size_t i = 0; data && i < sizeof parts / sizeof parts[0]; i++) {
        if (parts[i]->n) memcpy(data + at, parts[i]->data, parts[i]->n);
        at += parts[i]->n;
    }
    if (!data) return NULL;
    memcpy(data, &head, sizeof head);
    head.checksum =
        ompp_hash_bytes(OMPP_HASH_START, data + offsetof(head_t, naddresses), *size - offsetof(head_t, naddresses));
    memcpy(data, &head, sizeof head);
    return data;
}

static void clear(block_t *b)
{
    bytes_t *const parts[] = {&b->addresses, &b->items, &b->parts, &b->scopes, &b->pieces, &b->text};

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) free(parts[i]->data);
    ompp_table_fini(&b->texts);
    ompp_table_fini(&b->known);
}

/* The oldest of them. \return its size; 0 = there is none. \param[out] sum  bytes of all. */
static uint64_t oldest(int directory, const char *but, char *name, size_t size, uint64_t *sum)
{
    const int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    struct timespec first = {0};
    uint64_t found = 0;
    struct stat is;

    *sum = 0;
    if (!dir && fd >= 0) close(fd);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        const size_t n = strlen(e->d_name);
        if (n < sizeof SUFFIX || n >= size || strcmp(e->d_name + n - (sizeof SUFFIX - 1), SUFFIX) != 0 ||
            fstatat(directory, e->d_name, &is, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(is.st_mode))
            continue;
        *sum += (uint64_t)is.st_size;
        const bool older = is.st_mtim.tv_sec < first.tv_sec ||
                           (is.st_mtim.tv_sec == first.tv_sec && is.st_mtim.tv_nsec < first.tv_nsec);
        if (strcmp(e->d_name, but) == 0 || (found && !older)) continue;
        first = is.st_mtim;
        found = (uint64_t)is.st_size + 1;
        memcpy(name, e->d_name, n + 1);
    }
    if (dir) closedir(dir);
    return found;
}

static void make_room(int directory, const char *but)
{
    char name[256];
    uint64_t sum;

    while (oldest(directory, but, name, sizeof name, &sum) && sum > OMPP_SAVED_ALL_BYTES)
        if (unlinkat(directory, name, 0) != 0) break;
}

static bool write_file(const char *path, const char *data, size_t size)
{
    ompp_new_file_t file;
    struct stat is;

    if (lstat(path, &is) == 0 && !S_ISREG(is.st_mode)) unlink(path); /* a link would be followed */
    const int fd = ompp_new_file_open(&file, path, 0600);

    if (fd < 0) return false;
    bool ok = !file.special && ompp_new_file_write(fd, data, size) == 0;
    if (close(fd) != 0) ok = false;
    ok = ok && ompp_new_file_commit(&file, true) == 0;
    if (!ok) ompp_new_file_abandon(&file);
    return ok;
}

bool ompp_saved_store(const char *directory, ompp_structure_t *structure, const ompp_saved_t *all)
{
    const int fd = make_directory(directory);
    char path[OMPP_SAVED_PATH + OMPP_BUILD_ID_TEXT + sizeof SUFFIX];
    block_t block = {0};
    owner_t owner;
    size_t size;
    bool ok = false;

    if (fd < 0) return false;
    if (find_owner(structure, &owner) && name_file(path, sizeof path, directory, &owner)) {
        add_all(&block, all);
        char *data = join(&block, &owner, &size);
        ok = data && write_file(path, data, size);
        if (ok) make_room(fd, path + strlen(directory) + 1);
        free(data);
        clear(&block);
    }
    close(fd);
    return ok;
}
