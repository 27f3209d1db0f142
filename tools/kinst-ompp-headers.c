/**
 * \file
 * OPARI2 reads one file and does not preprocess: OpenMP directives in headers and in _Pragma are not instrumented. This part finds
 * them, without a preprocessor as well, so that the report can say so. It only reads, and gives up rather than take long.
 */
#include "tools/kinst-ompp.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { MAX_FILES = 2000, MAX_BYTES = 64 << 20, MAX_NS = 1000000000 };

/** A file that is to be searched, or was. */
typedef struct {
    char *path;
    dev_t device;
    ino_t inode;
    off_t size;
} file_t;

typedef struct {
    kinst_list_t quote, angle; /* directories of -iquote, of -I */
    file_t files[MAX_FILES];
    size_t nfiles;
    off_t bytes;
    struct timespec begin;
    const char *why; /* it gave up, NULL = it did not */
} search_t;

static bool given_up(search_t *s)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if ((now.tv_sec - s->begin.tv_sec) * 1000000000LL + now.tv_nsec - s->begin.tv_nsec > MAX_NS) s->why = "it took longer than 1 s";
    return s->why;
}

/* ---- Which files ----------------------------------------------------------------------------------------------------- */

/* The compiler ignores -I of these. */
static bool is_system(const char *dir)
{
    char *real = realpath(dir, NULL);
    bool system = real && (strcmp(real, "/usr/include") == 0 || strcmp(real, "/usr/local/include") == 0);

    free(real);
    return system;
}

/* Notes a file once. \return false when it does not exist. */
static bool add_file(search_t *s, char *path)
{
    struct stat st;

    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) {
        free(path);
        return false;
    }
    for (size_t i = 0; i < s->nfiles; i++)
        if (s->files[i].inode == st.st_ino && s->files[i].device == st.st_dev) return true;
    if (s->nfiles == MAX_FILES || st.st_size > MAX_BYTES - s->bytes) {
        s->why = "there are too many";
        return true;
    }
    s->bytes += st.st_size;
    s->files[s->nfiles++] = (file_t){path, st.st_dev, st.st_ino, st.st_size};
    return true;
}

/* A name from #include "name" or <name>; from: path of the file that has it, NULL = the command. */
static void add_header(search_t *s, const char *name, bool quoted, const char *from)
{
    const char *slash = from ? strrchr(from, '/') : NULL;
    const kinst_list_t *lists[] = {&s->quote, &s->angle};

    if (*name == '/') {
        add_file(s, kinst_text("%s", name));
        return;
    }
    if (quoted && add_file(s, kinst_text("%.*s%s", slash ? (int)(slash - from + 1) : 0, slash ? from : "", name))) return;
    for (size_t k = quoted ? 0 : 1; k < 2; k++)
        for (size_t i = 0; i < lists[k]->n; i++)
            if (add_file(s, kinst_text("%s/%s", lists[k]->v[i], name))) return;
}

/* The argument of an option that is joined to it or the next word. */
static const char *argument(const kinst_command_t *c, size_t i, const char *option)
{
    size_t length = strlen(option);

    if (c->kinds[i] != KINST_WORD_OPTION || strncmp(c->words.v[i], option, length) != 0) return NULL;
    return c->words.v[i][length] ? c->words.v[i] + length : c->words.v[i + 1];
}

static void read_command(search_t *s, const kinst_command_t *c)
{
    const char *word;

    for (size_t i = c->ncompiler; i < c->words.n; i++) {
        if ((word = argument(c, i, "-I")) && !is_system(word)) kinst_add(&s->angle, word);
        if ((word = argument(c, i, "-iquote"))) kinst_add(&s->quote, word);
    }
    for (size_t i = c->ncompiler; i + 1 < c->words.n; i++)
        if (strcmp(c->words.v[i], "-include") == 0) add_header(s, c->words.v[i + 1], true, NULL);
}

/* ---- What is in a file ----------------------------------------------------------------------------------------------- */

/* Where the walk through a file is. */
typedef struct {
    const char *path;
    unsigned off; /* #if inside #if 0, the outer one included; 0 = not in one */
    bool pragma;  /* directives in #pragma count: not in a source, where OPARI2 sees them */
    bool found;
} walk_t;

/* p stands behind "omp": a directive that would have been measured? */
static bool is_measured(const char *p)
{
    static const char *const others[] = {"declare", "simd", "threadprivate", "requires", "atomic", "flush", "end", "begin", "inst"};

    if (!isalpha((unsigned char)*p)) return false;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const char *rest = p;
        if (kinst_take(&rest, others[i])) return false;
    }
    return true;
}

/* Blanks and joined lines. */
static const char *skip_space(const char *p)
{
    for (;; p++) {
        bool join = *p == '\\' && (p[1] == '\n' || (p[1] == '\r' && p[2] == '\n'));
        if (join) p += p[1] == '\r' ? 2 : 1;
        if (!join && *p != ' ' && *p != '\t') return p;
    }
}

static bool omp_at(const char *p)
{
    p = skip_space(p);
    return strncmp(p, "omp", 3) == 0 && (p[3] == ' ' || p[3] == '\t' || p[3] == '\\') && is_measured(skip_space(p + 3));
}

/* _Pragma("omp ...") */
static bool is_operator(const char *p)
{
    if (strncmp(p, "_Pragma", 7) != 0) return false;
    p = skip_space(p + 7);
    if (*p != '(') return false;
    p = skip_space(p + 1);
    return *p == '"' && omp_at(p + 1);
}

static void include(search_t *s, const walk_t *w, const char *p)
{
    char close = *p == '"' ? '"' : '>';
    size_t length = *p == '"' || *p == '<' ? strcspn(p + 1, "\"<>\n") : 0;

    if (length == 0 || p[1 + length] != close || given_up(s)) return;
    char *name = kinst_text("%.*s", (int)length, p + 1);
    add_header(s, name, *p == '"', w->path);
    free(name);
}

/* Inside #if 0 only its end matters. */
static void condition(walk_t *w, const char *p)
{
    if (strncmp(p, "if", 2) == 0)
        w->off++;
    else if (strncmp(p, "endif", 5) == 0 || (w->off == 1 && strncmp(p, "el", 2) == 0))
        w->off--;
}

/* A directive; hash stands at '#'. \return where to go on: what a macro stands for is read as code. */
static const char *directive(search_t *s, walk_t *w, const char *hash, const char *end)
{
    const char *p = skip_space(hash + 1);

    if (w->off) {
        condition(w, p);
    } else if (kinst_take(&p, "define")) {
        return p;
    } else if (kinst_take(&p, "include")) {
        include(s, w, p);
    } else if (kinst_take(&p, "if")) {
        w->off = *p == '0' && isspace((unsigned char)p[1]);
    } else if (kinst_take(&p, "pragma")) {
        if (w->pragma && omp_at(p)) w->found = true;
    }
    return kinst_end_of_directive(hash, end);
}

/* The next character or string of code; p stands at neither blank, comment nor directive. */
static const char *code(walk_t *w, const char *text, const char *p, const char *end)
{
    char before = p > text ? p[-1] : ' ';

    if (*p == '"') return before == 'R' ? kinst_behind_raw(p, end) : kinst_behind_quotes(p, end);
    if (*p == '\'' && !isxdigit((unsigned char)before)) return kinst_behind_quotes(p, end);
    /* "(omp parallel": the argument of a macro that makes a _Pragma of it. */
    if (!w->off && ((*p == '_' && is_operator(p)) || (*p == '(' && omp_at(p + 1)))) w->found = true;
    return p + 1;
}

static void walk(search_t *s, walk_t *w, const char *text, size_t size)
{
    const char *p = text, *end = text + size;
    bool at_line_start = true;

    while (p < end) {
        if (*p == '\n') {
            at_line_start = true;
            p++;
        } else if (*p == '/' && p[1] == '*') {
            p = kinst_behind_comment(p, end);
        } else if (*p == '/' && p[1] == '/') {
            p = kinst_end_of_line(p, end);
        } else if (isspace((unsigned char)*p)) {
            p++;
        } else if (*p == '\\') {
            const char *next = skip_space(p);
            p = next > p ? next : p + 1;
        } else if (*p == '#' && at_line_start) {
            p = directive(s, w, p, end);
            at_line_start = false;
        } else {
            at_line_start = false;
            p = code(w, text, p, end);
        }
    }
}

void kinst_headers_search(const kinst_command_t *command, kinst_source_t *source, const char *text, size_t size)
{
    search_t *s = calloc(1, sizeof *s);
    walk_t w = {.path = source->path};
    struct stat st;

    if (!s) return;
    clock_gettime(CLOCK_MONOTONIC, &s->begin);
    /* The source has the first place, so that a file that includes itself is not its own header. */
    if (stat(source->path, &st) == 0) s->files[s->nfiles++] = (file_t){NULL, st.st_dev, st.st_ino, 0};
    read_command(s, command);
    walk(s, &w, text, size);
    source->unseen_here = w.found;
    for (size_t i = 1; i < s->nfiles && !given_up(s); i++) {
        walk_t in = {.path = s->files[i].path, .pragma = true};
        char *header = kinst_file_read(in.path, &size);
        if (header) walk(s, &in, header, strlen(header));
        if (in.found) {
            char *real = realpath(in.path, NULL);
            kinst_say("%s has OpenMP directives that OPARI2 does not see", in.path);
            kinst_add(&source->unseen, real ? real : in.path);
        }
        free(header);
    }
    source->unsearched = s->why;
    free(s);
}
