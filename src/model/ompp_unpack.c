#include "model/ompp_pack.h"

#include "base/ompp_error.h"
#include "base/ompp_hash.h"
#include "base/ompp_vector.h"
#include "model/ompp_merge.h"
#include "model/ompp_pack_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is left to read. After the first thing that is wrong every read gives 0, so that loops end and one test at the
 * end does. */
typedef struct {
    const unsigned char *at, *end;
    bool bad;
} reader_t;

static size_t left(const reader_t *r) { return r->bad ? 0 : (size_t)(r->end - r->at); }

static uint64_t fail(reader_t *r)
{
    r->bad = true;
    return 0;
}

static uint64_t get(reader_t *r)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (left(r) == 0) return fail(r);
        uint64_t byte = *r->at++;
        if (shift == 63 && byte > 1) return fail(r); /* more than 64 bits */
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80) return value;
    }
    return fail(r);
}

static uint32_t get32(reader_t *r)
{
    uint64_t value = get(r);

    return value <= UINT32_MAX ? (uint32_t)value : (uint32_t)fail(r);
}

static uint32_t get_index(reader_t *r) { return get32(r) - 1; }

static uint64_t get_fixed(reader_t *r)
{
    uint64_t value = 0;

    if (left(r) < 8) return fail(r);
    for (unsigned i = 0; i < 8; i++) value |= (uint64_t)*r->at++ << (8 * i);
    return value;
}

static double get_double(reader_t *r)
{
    uint64_t bits = get_fixed(r);
    double value;

    memcpy(&value, &bits, sizeof value);
    if (value - value != 0) return (double)fail(r); /* infinite or not a number */
    return value;
}

/* A number of elements that take at least `least` bytes each: more than can follow is wrong, so nobody can order much
 * memory. */
static size_t get_count(reader_t *r, size_t least)
{
    uint64_t n = get(r);

    return n <= left(r) / least && n < UINT32_MAX ? (size_t)n : (size_t)fail(r);
}

static void get_strings(reader_t *r, ompp_profile_t *p)
{
    size_t n = get_count(r, 1);

    for (size_t i = 0; i < n && !r->bad; i++) {
        size_t length = get_count(r, 1);
        char *text = malloc(length + 1);
        if (!text) {
            p->failed = true;
            fail(r);
            return;
        }
        memcpy(text, r->at, length);
        text[length] = '\0';
        r->at += length;
        /* Each only once, so that its index is the one it had. */
        if (strlen(text) != length || ompp_profile_string(p, text) != i) fail(r);
        free(text);
    }
}

static void get_run(reader_t *r, ompp_profile_t *p)
{
    get_strings(r, p);
    p->app = get32(r);
    p->version = get32(r);
    p->build_date = get32(r);
    p->source = get32(r);
    p->mpi = get32(r) != 0;
    p->nranks = get32(r);
    p->nslots = get32(r);
    p->nrest = get32(r);
    p->rest_duration_max_ns = get(r);
    p->rest_wall_threads_ns = get(r);
    p->rest_user_ns = get(r);
    p->rest_system_ns = get(r);
    p->rest_first_rank = get_index(r);
}

static void get_ranks(reader_t *r, ompp_profile_t *p)
{
    size_t n = get_count(r, 10);

    for (size_t i = 0; i < n && !r->bad; i++) {
        ompp_rank_t rank = {0};
        rank.rank = get32(r);
        rank.pid = get32(r);
        rank.nthreads = get32(r);
        rank.end = get32(r);
        rank.host = get32(r);
        rank.clock = get32(r);
        rank.job = get32(r);
        rank.launch = get32(r);
        rank.launcher_rank = get_index(r);
        rank.start_ticks = get(r);
        rank.pid_space = get(r);
        rank.begin_epoch_ns = get(r);
        rank.duration_ns = get(r);
        rank.user_ns = get(r);
        rank.system_ns = get(r);
        ompp_profile_add_rank(p, &rank);
    }
    n = get_count(r, 5);
    for (size_t i = 0; i < n && !r->bad; i++) {
        ompp_location_t l = {0};
        l.rank = get_index(r);
        l.tid = get_index(r);
        l.kind = get32(r);
        l.begin_ns = get(r);
        l.end_ns = get(r);
        ompp_profile_add_location(p, &l);
    }
}

static void get_regions(reader_t *r, ompp_profile_t *p)
{
    size_t n = get_count(r, 3);

    for (size_t i = 0; i < n && !r->bad; i++) {
        ompp_module_t module = {0};
        module.path = get32(r);
        module.id = get32(r);
        module.base = get(r);
        ompp_profile_add_module(p, &module);
    }
    n = get_count(r, 12);
    for (size_t i = 0; i < n && !r->bad; i++) {
        ompp_region_t region = {0};
        region.construct = get32(r);
        region.flags = get32(r);
        region.file = get32(r);
        region.name = get32(r);
        region.function = get32(r);
        region.begin = get32(r);
        region.end = get32(r);
        region.module = get_index(r);
        region.addr = get(r);
        region.addr_end = get(r);
        region.key = get(r);
        region.number = get_index(r);
        ompp_profile_add_region(p, &region);
    }
}

/* Coverage lines go in as they are: adding them one by one would look each up among all. */
static void get_coverage(reader_t *r, ompp_profile_t *p)
{
    size_t n = get_count(r, 5);

    p->coverage = calloc(n + 1, sizeof *p->coverage);
    if (!p->coverage) p->failed = true;
    if (!p->coverage) return;
    p->acoverage = n + 1;
    for (; p->ncoverage < n && !r->bad; p->ncoverage++) {
        ompp_coverage_t *line = &p->coverage[p->ncoverage];
        line->kind = get32(r);
        line->subject = get32(r);
        line->reason = get32(r);
        line->count = get(r);
        line->nranks = get32(r);
    }
}

static void get_whatif_clock(reader_t *r, ompp_whatif_clock_t *clock)
{
    clock->time_ns = get(r);
    clock->saved_ns = get(r);
    clock->paid_ns = get(r);
    clock->work_ns = get(r);
    clock->observations = get(r);
    clock->nblocks = get32(r);
    if (clock->nblocks > OMPP_WHATIF_BLOCKS) fail(r);
    for (uint32_t i = 0; !r->bad && i < clock->nblocks; i++) {
        ompp_whatif_block_t *b = &clock->blocks[i];
        b->number = get32(r);
        b->visits = get32(r);
        b->time_ns = get(r);
        b->paid_ns = get(r);
        const uint64_t saved = get(r);
        b->saved_ns = (int64_t)(saved >> 1) ^ -(int64_t)(saved & 1);
        b->work_ns = get(r);
    }
}

static void get_whatif(reader_t *r, ompp_profile_t *p)
{
    ompp_whatif_t *x = &p->whatif;

    x->mode = get32(r);
    if (x->mode == OMPP_WHATIF_OFF) return;
    x->why = get32(r);
    x->time_ns = get(r);
    x->paid_ns = get(r);
    x->events = get(r);
    x->cost_ns = get(r);
    x->lost = get(r);
    x->lost_ns = get(r);
    x->worked_ns = get(r);
    x->outside_ns = get(r);
    x->suspended_ns = get(r);
    x->replayed = get(r);
    x->kept = get(r);
    x->passed_ns = get(r);
    get_whatif_clock(r, &x->control);
    size_t n = get_count(r, 4);
    for (size_t i = 0; i < n && !r->bad; i++) {
        ompp_whatif_region_t region = {0};
        region.region = get_index(r);
        region.flags = get32(r);
        region.work_ns = get(r);
        region.followed_ns = get(r);
        region.total_ns = get(r);
        region.visits = get(r);
        region.point = get_index(r);
        for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++) {
            region.clocks[k].permille = get32(r);
            if (region.clocks[k].permille) get_whatif_clock(r, &region.clocks[k]);
        }
        ompp_profile_add_whatif_region(p, &region);
    }
    n = get_count(r, 7);
    for (size_t i = 0; i < n && !r->bad; i++) {
        ompp_whatif_point_t point = {0};
        point.name = get32(r);
        point.kind = get32(r);
        point.automatic = get32(r);
        point.region = get_index(r);
        point.visits = get(r);
        point.begins = get(r);
        point.in_flight_ns = get(r);
        ompp_profile_add_whatif_point(p, &point);
    }
}

static void get_notes(reader_t *r, ompp_profile_t *p)
{
    size_t n = get_count(r, 10);

    for (size_t i = 0; i < n && !r->bad; i++) {
        ompp_metric_t metric = {0};
        metric.name = get32(r);
        metric.source = get32(r);
        metric.meaning = get32(r);
        metric.set = get32(r);
        metric.index = get32(r);
        metric.unit = get32(r);
        metric.quality = get32(r);
        metric.reduce_threads = get32(r);
        metric.reduce_ranks = get32(r);
        metric.use = get32(r);
        ompp_profile_add_metric(p, &metric);
    }
    n = get_count(r, 8);
    for (size_t i = 0; i < n && !r->bad; i++) {
        ompp_object_t object = {0};
        object.name = get32(r);
        object.origin = get32(r);
        object.address = get(r);
        object.size = get(r);
        object.start_offset = get(r);
        object.end_offset = get(r);
        object.nranges = get32(r);
        object.rank = get32(r);
        ompp_profile_add_object(p, &object);
    }
    get_coverage(r, p);
    n = get_count(r, 2);
    for (size_t i = 0; i < n && !r->bad; i++) {
        uint32_t name = get32(r), value = get32(r);
        if (name >= p->nstrings || value >= p->nstrings) fail(r);
        if (!r->bad) ompp_profile_add_setting(p, p->strings[name], p->strings[value]);
    }
    get_whatif(r, p);
}

static void get_spread(reader_t *r, ompp_spread_t *s)
{
    s->count = get(r);
    if (!s->count) return;
    s->sum = get(r);
    s->min = get(r);
    s->max = get(r);
    s->min_rank = get32(r);
    s->min_tid = get32(r);
    s->max_rank = get32(r);
    s->max_tid = get32(r);
    s->mean = get_double(r);
    s->m2 = get_double(r);
}

static void get_block(reader_t *r, ompp_profile_t *p, uint32_t node)
{
    ompp_block_t block = {0};
    const ompp_node_t *n = &p->nodes[node];

    block.location = get32(r);
    block.set = get32(r);
    block.object = get32(r);
    block.nvalues = get_count(r, 1);
    /* In order, so that each goes to the end and none is there twice. */
    if (n->nblocks && ompp_block_compare(&n->blocks[n->nblocks - 1], &block) >= 0) fail(r);
    if (r->bad) return;
    uint64_t *values = ompp_profile_block(p, node, block.location, block.set, block.object, block.nvalues);
    for (uint32_t v = 0; values && v < block.nvalues; v++) values[v] = get(r);
}

static void get_nodes(reader_t *r, ompp_profile_t *p)
{
    size_t n = get_count(r, 7);

    for (size_t i = 0; i < n && !r->bad && !p->failed; i++) {
        uint32_t region = get_index(r), parent = get_index(r);
        uint64_t first_ns = get(r);
        uint32_t first_rank = get_index(r), node = 0;
        if (i > 0) node = ompp_profile_add_node(p, region, parent, first_ns, first_rank);
        if (i == 0 && (region != OMPP_NONE || parent != OMPP_NONE)) fail(r);
        p->nodes[node].first_ns = first_ns;
        p->nodes[node].first_rank = first_rank;
        get_spread(r, &p->nodes[node].over_threads);
        get_spread(r, &p->nodes[node].over_ranks);
        size_t nblocks = get_count(r, 4);
        for (size_t k = 0; k < nblocks && !r->bad && !p->failed; k++) get_block(r, p, node);
    }
}

static int open_frame(reader_t *r, const void *data, uint64_t bytes)
{
    const size_t around = OMPP_PACK_MAGIC_BYTES + 1 + 8 + OMPP_PACK_CHECKSUM_BYTES;
    reader_t sum;

    if (bytes < around || memcmp(data, OMPP_PACK_MAGIC, OMPP_PACK_MAGIC_BYTES) != 0) return -OMPP_E_FORMAT;
    r->at = (const unsigned char *)data + OMPP_PACK_MAGIC_BYTES;
    r->end = (const unsigned char *)data + bytes - OMPP_PACK_CHECKSUM_BYTES;
    r->bad = false;
    sum = (reader_t){r->end, r->end + OMPP_PACK_CHECKSUM_BYTES, false};
    if (get_fixed(&sum) != ompp_hash_bytes(OMPP_HASH_START, data, bytes - OMPP_PACK_CHECKSUM_BYTES))
        return -OMPP_E_FORMAT;
    if (get(r) != OMPP_PACK_VERSION) return r->bad ? -OMPP_E_FORMAT : -OMPP_E_VERSION;
    return get_fixed(r) != ompp_pack_fingerprint() ? -OMPP_E_VERSION : 0;
}

int ompp_unpack(const void *data, uint64_t bytes, ompp_profile_t **profile)
{
    reader_t r;
    int rc = open_frame(&r, data, bytes);

    *profile = NULL;
    if (rc != 0) return rc;
    ompp_profile_t *p = ompp_profile_new();
    if (!p) return -OMPP_E_NOMEM;
    get_run(&r, p);
    get_ranks(&r, p);
    get_regions(&r, p);
    get_notes(&r, p);
    get_nodes(&r, p);
    if (p->failed) rc = -OMPP_E_NOMEM;
    else rc = r.bad || left(&r) != 0 ? -OMPP_E_FORMAT : ompp_profile_check(p, NULL, 0);
    if (rc == 0) *profile = p;
    else ompp_profile_free(p);
    return rc;
}

#define MOST ((uint64_t)1 << 30) /* bytes of a file, which may have no end */
#define PATIENCE 10000           /* ms, for a pipe in which nothing comes */

/* All of a file, also of one that does not know its length; of one that begins in another way only the beginning. */
static int read_all(int fd, char **data, uint64_t *bytes)
{
    struct pollfd more = {.fd = fd, .events = POLLIN};
    size_t allocated = 0;

    *data = NULL;
    for (*bytes = 0;;) {
        if (!ompp_vector_reserve(data, &allocated, *bytes + 65536, 1)) return -OMPP_E_NOMEM;
        ssize_t n = read(fd, *data + *bytes, allocated - *bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN && poll(&more, 1, PATIENCE) > 0) continue;
        if (n < 0) return -OMPP_E_IO;
        if (n == 0) return 0;
        *bytes += (uint64_t)n;
        if (*bytes > MOST) return -OMPP_E_FORMAT;
        if (memcmp(*data, OMPP_PACK_MAGIC, *bytes < OMPP_PACK_MAGIC_BYTES ? *bytes : OMPP_PACK_MAGIC_BYTES) != 0)
            return 0;
    }
}

int ompp_pack_read_fd(int fd, ompp_profile_t **profile)
{
    char *data;
    uint64_t bytes;

    *profile = NULL;
    lseek(fd, 0, SEEK_SET); /* a pipe has no other place */
    int rc = read_all(fd, &data, &bytes), error = errno;
    if (rc == 0) rc = ompp_unpack(data, bytes, profile);
    free(data);
    errno = error;
    return rc;
}

int ompp_pack_read_file(const char *path, ompp_profile_t **profile)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    *profile = NULL;
    if (fd < 0) return -OMPP_E_OPEN;
    const int rc = ompp_pack_read_fd(fd, profile), error = errno;
    close(fd);
    errno = error;
    return rc;
}
