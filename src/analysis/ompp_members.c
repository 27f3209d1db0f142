#include "analysis/ompp_members.h"

#include "model/ompp_profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 24         /* members that are told apart */
#define LOOKED_AT 1024u /* bytes of an element */
#define NAME 100
#define ALL 10000

typedef struct {
    char name[NAME];
    uint64_t bytes, references, misses[3];
} member_t;

typedef struct {
    const ompp_whole_t *whole;
    size_t n;
    uint64_t bytes, references, misses[3];
    member_t members[MOST];
} members_t;

/* "u" of "[3].u", "body%x" of "(2)%body%x(1)". */
static void strip(char *name)
{
    size_t used = 0;
    int depth = 0;

    for (const char *c = name; *c; c++) {
        depth += *c == '[' || *c == '(';
        if (depth == 0 && (used || (*c != '.' && *c != '%'))) name[used++] = *c;
        depth -= *c == ']' || *c == ')';
    }
    name[used] = '\0';
}

static void name_of(const ompp_whole_t *w, uint64_t offset, char name[NAME])
{
    char part[NAME];
    const ompp_variable_t *v = w->addr ? ompp_variable_at(w->structure, w->addr + offset, w->deadline) : NULL;

    name[0] = '\0';
    if (w->addr && (!v || !v->type)) return;
    if (v) ompp_variable_part(w->structure, v, w->addr + offset - v->addr, NULL, part, sizeof part);
    else ompp_local_part(w->structure, w->type, offset, w->fortran, part, sizeof part);
    strip(part);
    char *padding = strstr(part, "+0x");
    if (padding) *padding = '\0';
    const bool of_block = v && v->name[0] == '/'; /* a common block's */
    snprintf(name, NAME, "%.40s%s%.50s", of_block ? ompp_variable_last_part(v->name) : "", of_block && *part ? "%" : "",
             part);
    for (char *c = name; *c; c++)
        if (*c == ' ' || *c == ';') *c = '_';
}

static member_t *member_at(members_t *m, uint64_t offset)
{
    char name[NAME];

    name_of(m->whole, offset, name);
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->members[i].name, name) == 0) return &m->members[i];
    if (!*name || m->n == MOST) return NULL;
    member_t *next = &m->members[m->n++];
    *next = (member_t){.bytes = 0};
    snprintf(next->name, sizeof next->name, "%s", name);
    return next;
}

/* All there are, also those that nobody uses. */
static void find(members_t *m)
{
    const uint64_t size = m->whole->size < LOOKED_AT ? m->whole->size : LOOKED_AT;

    for (uint64_t offset = 0; offset < size; offset++) {
        member_t *member = member_at(m, offset);
        if (member) member->bytes++;
    }
    m->bytes = size;
}

static void add(members_t *m, const uint64_t *said)
{
    member_t *member = member_at(m, m->whole->addr ? said[0] : said[0] % m->whole->size);

    m->references += said[1] + said[2];
    for (unsigned i = 0; i < 3; i++) m->misses[i] += said[3 + i];
    if (!member) return;
    member->references += said[1] + said[2];
    for (unsigned i = 0; i < 3; i++) member->misses[i] += said[3 + i];
}

static uint64_t share(uint64_t part, uint64_t whole)
{
    const uint64_t of = whole ? part * ALL / whole : 0;

    return of < ALL ? of : ALL;
}

static int by_references(const void *a, const void *b)
{
    const member_t *x = a, *y = b;

    return x->references != y->references ? (x->references > y->references ? -1 : 1) : strcmp(x->name, y->name);
}

char *ompp_members_of(const ompp_whole_t *whole, const char *origin)
{
    members_t *m = whole->structure && whole->size ? calloc(1, sizeof *m) : NULL;
    char *text = NULL;
    size_t size = 0;

    if (!m) return NULL;
    m->whole = whole;
    find(m);
    for (const char *says = strstr(origin, ";m "); m->n > 1 && says; says = strstr(says + 1, ";m ")) {
        uint64_t said[6] = {0};
        char *end = (char *)says + 2;
        for (unsigned i = 0; i < 6; i++) said[i] = strtoull(end, &end, 16);
        add(m, said);
    }
    FILE *out = m->references ? open_memstream(&text, &size) : NULL;
    if (out) {
        qsort(m->members, m->n, sizeof m->members[0], by_references);
        fputs(OMPP_OBJECT_ALL, out);
        for (size_t i = 0; i < m->n; i++) {
            const member_t *k = &m->members[i];
            fprintf(out, ";%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, k->name,
                    share(k->bytes, m->bytes), share(k->references, m->references), share(k->misses[0], m->misses[0]),
                    share(k->misses[1], m->misses[1]), share(k->misses[2], m->misses[2]));
        }
        fclose(out);
    }
    free(m);
    return text;
}

bool ompp_members_next(const char **rest, ompp_member_share_t *member)
{
    const char *at = strchr(*rest, ';');
    const int length = at ? (int)strcspn(at + 1, " ;") : 0;

    if (!at || at[1 + length] != ' ') return false;
    char *end = (char *)at + 1 + length;
    *member = (ompp_member_share_t){.name = at + 1, .name_length = length};
    member->bytes = (uint32_t)strtoul(end, &end, 10);
    member->references = (uint32_t)strtoul(end, &end, 10);
    for (unsigned i = 0; i < 3; i++) member->misses[i] = (uint32_t)strtoul(end, &end, 10);
    *rest = end;
    return true;
}
