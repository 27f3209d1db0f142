#include "model/ompp_pack.h"

#include "base/ompp_error.h"
#include "base/ompp_hash.h"
#include "base/ompp_vector.h"
#include "model/ompp_merge.h"
#include "model/ompp_pack_priv.h"
#include "model/ompp_record.h"

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

static uint64_t get_fixed(reader_t *r)
{
    uint64_t value = 0;

    if (left(r) < 8) return fail(r);
    for (unsigned i = 0; i < 8; i++) value |= (uint64_t)*r->at++ << (8 * i);
    return value;
}

/* A number of elements, each of which takes a byte at least: more than can follow is wrong, so nobody can order much
 * memory. */
static size_t get_count(reader_t *r)
{
    uint64_t n = get(r);

    return n <= left(r) && n < UINT32_MAX ? (size_t)n : (size_t)fail(r);
}

static void get_strings(reader_t *r, ompp_profile_t *p)
{
    size_t n = get_count(r);

    for (size_t i = 0; i < n && !r->bad; i++) {
        size_t length = get_count(r);
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

static void get_record(reader_t *r, const ompp_record_t *record, void *data)
{
    for (const ompp_field_t *f = record->fields; f->type; f++) {
        uint64_t value = ompp_field_is_real(f) ? get_fixed(r) : f->bytes == 8 ? get(r) : get32(r);
        double real;
        if (f->type == OMPP_FIELD_INDEX) value--;
        if (f->type == OMPP_FIELD_I64) value = value >> 1 ^ -(value & 1);
        memcpy(&real, &value, sizeof real);
        if (ompp_field_is_real(f) && real - real != 0) value = fail(r); /* infinite or not a number */
        ompp_field_set(f, data, value);
    }
}

static void get_list(reader_t *r, ompp_profile_t *p, const ompp_record_t *record)
{
    void *const item = calloc(1, record->bytes);

    if (!item) p->failed = true;
    for (size_t n = get_count(r); n > 0 && !r->bad && !p->failed; n--) {
        get_record(r, record, item);
        ompp_profile_append(p, record, item);
    }
    free(item);
}

static void get_whatif_clock(reader_t *r, ompp_whatif_clock_t *clock)
{
    get_record(r, &ompp_record_whatif_clock, clock);
    if (clock->nblocks > OMPP_WHATIF_BLOCKS) fail(r);
    for (uint32_t i = 0; !r->bad && i < clock->nblocks; i++)
        get_record(r, &ompp_record_whatif_block, &clock->blocks[i]);
}

static void get_whatif_region(reader_t *r, ompp_whatif_region_t *region)
{
    get_record(r, &ompp_record_whatif_region, region);
    for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++) get_whatif_clock(r, &region->clocks[k]);
}

static void get_whatif(reader_t *r, ompp_profile_t *p)
{
    get_record(r, &ompp_record_whatif, &p->whatif);
    get_whatif_clock(r, &p->whatif.control);
    get_whatif_region(r, &p->whatif.ideal);
    for (size_t n = get_count(r); n > 0 && !r->bad && !p->failed; n--) {
        ompp_whatif_region_t region = {0};
        get_whatif_region(r, &region);
        ompp_profile_add_whatif_region(p, &region);
    }
}

static void get_spread(reader_t *r, ompp_spread_t *s)
{
    if (get(r)) get_record(r, &ompp_record_spread, s);
}

static void get_block(reader_t *r, ompp_profile_t *p, uint32_t node)
{
    ompp_block_t block = {0};
    const ompp_node_t *n = &p->nodes[node];

    get_record(r, &ompp_record_block, &block);
    /* As many values follow. Blocks are in order, so that each goes to the end and none is there twice. */
    if (block.nvalues > left(r)) fail(r);
    if (n->nblocks && ompp_block_compare(&n->blocks[n->nblocks - 1], &block) >= 0) fail(r);
    if (r->bad) return;
    uint64_t *values = ompp_profile_block(p, node, block.location, block.set, block.object, block.nvalues);
    for (uint32_t v = 0; values && v < block.nvalues; v++) values[v] = get(r);
}

static void get_nodes(reader_t *r, ompp_profile_t *p)
{
    size_t n = get_count(r);

    for (size_t i = 0; i < n && !r->bad && !p->failed; i++) {
        ompp_node_t read = {0};
        uint32_t node = 0;
        get_record(r, &ompp_record_node, &read);
        if (i > 0) node = ompp_profile_add_node(p, read.region, read.parent, read.first_ns, read.first_rank);
        if (i == 0 && (read.region != OMPP_NONE || read.parent != OMPP_NONE)) fail(r);
        p->nodes[node].first_ns = read.first_ns;
        p->nodes[node].first_rank = read.first_rank;
        get_spread(r, &p->nodes[node].over_threads);
        get_spread(r, &p->nodes[node].over_ranks);
        size_t nblocks = get_count(r);
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
    get_strings(&r, p);
    get_record(&r, &ompp_record_profile, p);
    for (size_t i = 0; i < OMPP_RECORD_LISTS; i++) get_list(&r, p, ompp_record_lists[i]);
    get_whatif(&r, p);
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
