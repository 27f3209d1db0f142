/*
 * Writes what a process of ompp might have left, but for its lists: they run in circles, or through records that lie over
 * each other, so that each is bounded and all together are without end. Usage: hostile FILE KIND BYTES. KIND is one of those
 * below, self:LINK or circle:LINK, of a link that hostile without arguments prints, or a number: links bent by chance.
 */
#include "hostile_arena.h"

#include "model/ompp_layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILLER 8192u /* from here to the end: what the lists share */

static char *base;

static void *at(ompp_off_t off) { return base + off; }

static ompp_off_t text(ompp_off_t off, const char *from)
{
    ompp_a_string_t *s = at(off);

    s->length = (uint32_t)strlen(from);
    strcpy(s->text, from);
    return off;
}

static int print_links(void)
{
    static char small[HOSTILE_LEAST];

    hostile_build(small, sizeof small, 0);
    for (unsigned i = 0; i < hostile.nlinks; i++) printf("%s\n", hostile.links[i].name);
    return 0;
}

static void bend(const char *kind)
{
    const char *name = strchr(kind, ':');

    if (!name) hostile_mutate(strtoull(kind, NULL, 10));
    for (unsigned i = 0; name && i < hostile.nlinks; i++)
        if (strcmp(hostile.links[i].name, name + 1) == 0)
            hostile_bend(&hostile.links[i], *kind == 's' ? HOSTILE_SELF : HOSTILE_CIRCLE);
}

static int write_file(const char *path, uint32_t size)
{
    FILE *out = fopen(path, "w");

    return out && fwrite(base, 1, size, out) == size && fclose(out) == 0 ? 0 : 3;
}

int main(int argc, char **argv)
{
    const char *kind = argc > 3 ? argv[2] : "";
    const uint32_t size = argc > 3 ? (uint32_t)atol(argv[3]) : 0;
    char host[256] = "";

    if (argc == 1) return print_links();
    if (size < 2 * FILLER || !(base = malloc(size))) return 2;
    if (strchr("sc0123456789", *kind) && strcmp(kind, "coverage") != 0 && strcmp(kind, "circle") != 0) {
        hostile_build(base, size, 'x');
        bend(kind);
        return write_file(argv[1], size);
    }
    memset(base, 0, FILLER);
    memset(at(FILLER), 'x', size - FILLER);
    ompp_a_header_t *h = at(OMPP_LAYOUT_HEADER);
    memcpy(h->magic, OMPP_LAYOUT_MAGIC, sizeof h->magic);
    h->layout = OMPP_LAYOUT_VERSION;
    h->endian = OMPP_LAYOUT_ENDIAN;
    h->pid = 1;
    h->rank = -1;
    h->size = 1;
    gethostname(host, sizeof host - 1);
    h->host = text(1024, host);
    h->app = text(1536, "evil");
    ompp_a_thread_t *t = at(2048);
    h->threads = t->next = 2048;
    t->ordinal = OMPP_LAYOUT_ENDIAN % 9000000;
    t->nodes = t->root = 3072;
    ompp_a_node_t *n = at(3072);
    n->next = 3072;
    if (strcmp(kind, "nodes") == 0) { /* one thread, nodes of which each is another, all over the filler */
        n->next = FILLER;
        for (uint32_t off = FILLER; off + 256 < size; off += 8) ((ompp_a_node_t *)at(off))->next = off + 8;
    }
    if (strcmp(kind, "blocks") == 0) { /* a chain that lies over itself, each of as many values as there is room */
        n->sets = FILLER;
        for (uint32_t off = FILLER; off + 32 < size; off += 32)
            *(ompp_a_block_t *)at(off) =
                (ompp_a_block_t){off + 64 < size ? off + 32 : FILLER, 1, 0, (size - off - 16) / 8};
    }
    if (strcmp(kind, "order") == 0) { /* the last comes first */
        n->sets = FILLER;
        for (uint32_t off = FILLER; off + 64 < size; off += 24)
            *(ompp_a_block_t *)at(off) = (ompp_a_block_t){off + 24, off, 0, 1};
    }
    if (strcmp(kind, "coverage") == 0) {
        ompp_a_string_t *long_one = at(FILLER);
        long_one->length = size - FILLER - 8;
        ((char *)at(size))[-4] = '\0';
        ompp_a_coverage_t *v = at(4096);
        h->coverage = v->next = 4096;
        v->subject = v->reason = FILLER;
    }
    if (strcmp(kind, "pages") == 0) { /* counts that were not handed over, in a circle of pages that are all the file */
        ompp_a_pending_t *p = at(4096);
        h->pending = p->next = 4096;
        p->node = 3072;
        ompp_a_page_t *page = at(6144);
        p->pages = page->next = 6144;
        page->kind = OMPP_A_PAGE_COUNTS;
        page->items = FILLER;
        page->n = (size - FILLER) / sizeof(ompp_counted_t);
    }
    return write_file(argv[1], size);
}
