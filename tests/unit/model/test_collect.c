/*
 * Damaged memory of a run: lists that run in a circle, and offsets that point anywhere, are read to an end, in little
 * time. The file of a process that died may be cut off or half written.
 */
#include "model/ompp_collect.h"
#include "model/ompp_layout.h"
#include "model/ompp_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { SIZE = 8 << 20, NODES = 2000, SECONDS = 20 };

/* Offsets of what can be damaged. */
static struct {
    char *base;
    ompp_off_t free, thread, region, coverage, setting, root, nodes[NODES], block, stack;
} arena;

static void *at(ompp_off_t off) { return arena.base + off; }

static ompp_off_t take(size_t bytes)
{
    const ompp_off_t off = arena.free;

    arena.free += (bytes + 7) / 8 * 8;
    return off;
}

static ompp_off_t take_text(const char *text)
{
    const ompp_off_t off = take(sizeof(ompp_a_string_t) + strlen(text) + 1);
    ompp_a_string_t *s = at(off);

    s->length = (uint32_t)strlen(text);
    strcpy(s->text, text);
    return off;
}

static ompp_off_t take_node(ompp_off_t next, ompp_off_t region, ompp_off_t parent)
{
    const ompp_off_t off = take(sizeof(ompp_a_node_t) + sizeof(ompp_a_slot_t));
    ompp_a_node_t *n = at(off);

    *n = (ompp_a_node_t){.next = next,
                         .region = region,
                         .parent = parent,
                         .construct = OMPP_CONSTRUCT_USER_REGION,
                         .nphases = 1,
                         .visits = 1};
    n->slot[0] = (ompp_a_slot_t){.time = 10, .count = 1};
    return off;
}

/* A process with one thread, a chain of NODES calls, a counter's block, one of each other list. */
static void build(void)
{
    arena.base = calloc(1, SIZE);
    assert_non_null(arena.base);
    arena.free = OMPP_LAYOUT_HEADER;
    ompp_a_header_t *h = at(take(sizeof *h));
    h->layout = OMPP_LAYOUT_VERSION;
    h->endian = OMPP_LAYOUT_ENDIAN;
    h->rank = -1;
    h->size = 1;
    h->end_ns = 1000000;
    h->app = h->host = h->version = take_text("damaged");
    arena.region = take(sizeof(ompp_a_region_t));
    *(ompp_a_region_t *)at(arena.region) =
        (ompp_a_region_t){.construct = OMPP_CONSTRUCT_USER_REGION, .nphases = 1, .name = h->app};
    arena.coverage = take(sizeof(ompp_a_coverage_t));
    *(ompp_a_coverage_t *)at(arena.coverage) =
        (ompp_a_coverage_t){.kind = OMPP_COVERAGE_NOTE, .subject = h->app, .count = 1};
    arena.setting = take(sizeof(ompp_a_setting_t));
    *(ompp_a_setting_t *)at(arena.setting) = (ompp_a_setting_t){.name = h->app, .value = h->app};
    ompp_off_t last = arena.root = take_node(0, 0, 0);
    for (int i = 0; i < NODES; i++)
        last = arena.nodes[i] = take_node(last, arena.region, i ? arena.nodes[i - 1] : arena.root);
    arena.block = take(sizeof(ompp_a_block_t) + 8);
    *(ompp_a_block_t *)at(arena.block) = (ompp_a_block_t){.set = OMPP_SET_PHASES + 1, .nvalues = 1};
    ((ompp_a_node_t *)at(arena.nodes[0]))->sets = arena.block;
    arena.stack = take(sizeof(ompp_a_stack_t) + sizeof(ompp_a_frame_t));
    ompp_a_stack_t *stack = at(arena.stack);
    stack->capacity = 1;
    stack->frames[0] = (ompp_a_frame_t){.node = arena.root, .flags = OMPP_FRAME_F_BASE};
    arena.thread = take(sizeof(ompp_a_thread_t));
    *(ompp_a_thread_t *)at(arena.thread) = (ompp_a_thread_t){.root = arena.root, .nodes = last, .stack = arena.stack};
    h->regions = arena.region;
    h->coverage = arena.coverage;
    h->settings = arena.setting;
    h->threads = arena.thread;
    memcpy(h->magic, OMPP_LAYOUT_MAGIC, sizeof h->magic);
}

/* In a process of its own, which has a time limit. \return whether it came to an end. */
static void expect_end(const char *what)
{
    int status = 0;
    const pid_t pid = fork();

    if (pid == 0) {
        alarm(SECONDS);
        ompp_profile_free(ompp_collect(arena.base, SIZE, 1000000, OMPP_END_INCOMPLETE));
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (status) print_error("%s: status %x\n", what, (unsigned)status);
    assert_int_equal(status, 0);
}

static void whole(void **state)
{
    (void)state;
    build();
    ompp_profile_t *profile = ompp_collect(arena.base, SIZE, 1000000, OMPP_END_INCOMPLETE);
    assert_non_null(profile);
    assert_int_equal(profile->nnodes, NODES + 1);
    ompp_profile_free(profile);
    free(arena.base);
}

/* Each link of the arena, made to point back and anywhere. */
static void damaged_links(void **state)
{
    build();
    ompp_a_stack_t *stack = at(arena.stack);
    const struct {
        const char *what;
        void *link;
        ompp_off_t back;
    } links[] = {
        {"nodes, first", &((ompp_a_node_t *)at(arena.root))->next, arena.nodes[NODES - 1]},
        {"nodes, self", &((ompp_a_node_t *)at(arena.nodes[7]))->next, arena.nodes[7]},
        {"parents", &((ompp_a_node_t *)at(arena.nodes[0]))->parent, arena.nodes[NODES - 1]},
        {"blocks", &((ompp_a_block_t *)at(arena.block))->next, arena.block},
        {"regions", &((ompp_a_region_t *)at(arena.region))->next, arena.region},
        {"coverage", &((ompp_a_coverage_t *)at(arena.coverage))->next, arena.coverage},
        {"settings", &((ompp_a_setting_t *)at(arena.setting))->next, arena.setting},
        {"threads", &((ompp_a_thread_t *)at(arena.thread))->next, arena.thread},
        {"stacks", &stack->under, arena.stack},
    };
    const ompp_off_t anywhere[] = {8, SIZE - 8, SIZE, ~(ompp_off_t)7, ~(ompp_off_t)7 - SIZE, 1};

    (void)state;
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        const ompp_off_t was = *(ompp_off_t *)links[i].link;
        *(ompp_off_t *)links[i].link = links[i].back;
        expect_end(links[i].what);
        for (size_t k = 0; k < sizeof anywhere / sizeof anywhere[0]; k++) {
            *(ompp_off_t *)links[i].link = anywhere[k];
            expect_end(links[i].what);
        }
        *(ompp_off_t *)links[i].link = was;
    }
    free(arena.base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whole), cmocka_unit_test(damaged_links)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
