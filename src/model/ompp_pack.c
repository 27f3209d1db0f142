#include "model/ompp_pack.h"

#include "base/ompp_error.h"
#include "base/ompp_hash.h"
#include "base/ompp_new_file.h"
#include "base/ompp_vector.h"
#include "model/ompp_pack_priv.h"
#include "model/ompp_record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* A growing buffer; after a failed allocation nothing more is added. */
typedef struct {
    unsigned char *data;
    size_t used, allocated;
    bool failed;
} writer_t;

static uint64_t join(uint64_t h, const char *text) { return ompp_hash_bytes(h, text, strlen(text) + 1); }

uint64_t ompp_pack_fingerprint(void)
{
    uint64_t h = OMPP_HASH_START;

    for (unsigned c = 0; c < OMPP_CONSTRUCT_NUM; c++) {
        h = join(h, ompp_constructs[c].full);
        for (unsigned s = 0; s < ompp_constructs[c].nphases; s++)
            h = join(h, ompp_phase_name[ompp_constructs[c].phases[s]]);
    }
    for (unsigned i = 0; i < OMPP_METRIC_MPI_NUM; i++) h = join(h, ompp_mpi_metrics[i].name);
    for (unsigned i = 0; i < OMPP_COVERAGE_NUM; i++) h = join(h, ompp_coverage_rows[i].name);
    return h;
}

static void put_bytes(writer_t *w, const void *data, size_t n)
{
    if (!ompp_vector_reserve(&w->data, &w->allocated, w->used + n, 1)) w->failed = true;
    if (w->failed) return;
    memcpy(w->data + w->used, data, n);
    w->used += n;
}

static void put(writer_t *w, uint64_t value)
{
    unsigned char bytes[10];
    unsigned n = 0;

    for (; value >= 0x80; value >>= 7) bytes[n++] = (unsigned char)(value | 0x80);
    bytes[n++] = (unsigned char)value;
    put_bytes(w, bytes, n);
}

static void put_fixed(writer_t *w, uint64_t value)
{
    unsigned char bytes[8];

    for (unsigned i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(value >> (8 * i));
    put_bytes(w, bytes, sizeof bytes);
}

static void put_record(writer_t *w, const ompp_record_t *record, const void *data)
{
    for (const ompp_field_t *f = record->fields; f->type; f++) {
        uint64_t value = ompp_field_get(f, data);
        if (f->type == OMPP_FIELD_INDEX) value = (uint32_t)(value + 1);
        /* small numbers of either sign are short */
        if (f->type == OMPP_FIELD_I64) value = value << 1 ^ (uint64_t)((int64_t)value >> 63);
        if (ompp_field_is_real(f)) put_fixed(w, value);
        else put(w, value);
    }
}

static void put_list(writer_t *w, const ompp_profile_t *p, const ompp_record_t *record)
{
    const size_t n = ompp_record_count(p, record);

    put(w, n);
    for (size_t i = 0; i < n; i++) put_record(w, record, ompp_record_at(p, record, i));
}

static void put_strings(writer_t *w, const ompp_profile_t *p)
{
    put(w, p->nstrings);
    for (size_t i = 0; i < p->nstrings; i++) {
        size_t n = strlen(p->strings[i]);
        put(w, n);
        put_bytes(w, p->strings[i], n);
    }
}

static void put_whatif_clock(writer_t *w, const ompp_whatif_clock_t *clock)
{
    put_record(w, &ompp_record_whatif_clock, clock);
    for (uint32_t i = 0; i < clock->nblocks; i++) put_record(w, &ompp_record_whatif_block, &clock->blocks[i]);
}

static void put_whatif_region(writer_t *w, const ompp_whatif_region_t *region)
{
    put_record(w, &ompp_record_whatif_region, region);
    for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++) put_whatif_clock(w, &region->clocks[k]);
}

static void put_whatif(writer_t *w, const ompp_whatif_t *x)
{
    put_record(w, &ompp_record_whatif, x);
    put_whatif_clock(w, &x->control);
    put_whatif_region(w, &x->ideal);
    put(w, x->nregions);
    for (size_t i = 0; i < x->nregions; i++) put_whatif_region(w, &x->regions[i]);
}

static void put_spread(writer_t *w, const ompp_spread_t *s)
{
    put(w, s->count != 0);
    if (s->count) put_record(w, &ompp_record_spread, s);
}

static void put_nodes(writer_t *w, const ompp_profile_t *p)
{
    put(w, p->nnodes);
    for (size_t i = 0; i < p->nnodes; i++) {
        const ompp_node_t *node = &p->nodes[i];
        put_record(w, &ompp_record_node, node);
        put_spread(w, &node->over_threads);
        put_spread(w, &node->over_ranks);
        put(w, node->nblocks);
        for (uint32_t k = 0; k < node->nblocks; k++) {
            const ompp_block_t *b = &node->blocks[k];
            put_record(w, &ompp_record_block, b);
            for (uint32_t v = 0; v < b->nvalues; v++) put(w, b->values[v]);
        }
    }
}

int ompp_pack(const ompp_profile_t *profile, void **data, uint64_t *bytes)
{
    writer_t w = {0};

    put_bytes(&w, OMPP_PACK_MAGIC, OMPP_PACK_MAGIC_BYTES);
    put(&w, OMPP_PACK_VERSION);
    put_fixed(&w, ompp_pack_fingerprint());
    put_strings(&w, profile);
    put_record(&w, &ompp_record_profile, profile);
    for (size_t i = 0; i < OMPP_RECORD_LISTS; i++) put_list(&w, profile, ompp_record_lists[i]);
    put_whatif(&w, &profile->whatif);
    put_nodes(&w, profile);
    if (!w.failed) put_fixed(&w, ompp_hash_bytes(OMPP_HASH_START, w.data, w.used));
    if (w.failed) {
        free(w.data);
        w = (writer_t){0};
    }
    *data = w.data;
    *bytes = w.used;
    return w.data ? 0 : -OMPP_E_NOMEM;
}

/* Writing beyond RLIMIT_FSIZE would raise SIGXFSZ in the user's program, so the limit is asked first. */
static bool within_limit(uint64_t bytes)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur) return true;
    errno = EFBIG;
    return false;
}

int ompp_pack_write_file(const char *path, const ompp_profile_t *profile, bool replace)
{
    ompp_new_file_t file;
    void *data;
    uint64_t bytes;
    const int rc = ompp_pack(profile, &data, &bytes), fd = rc ? -1 : ompp_new_file_open(&file, path, 0666);

    if (rc) return rc;
    if (fd < 0) {
        free(data);
        return -OMPP_E_OPEN;
    }
    bool done = within_limit(bytes) && ompp_new_file_write(fd, data, bytes) == 0;
    const int error = errno;
    /* What cannot be written may be known no earlier: over quota, on a file system of another node. */
    if (close(fd) != 0) done = false;
    else if (done) done = ompp_new_file_commit(&file, replace) == 0;
    else errno = error;
    ompp_new_file_abandon(&file);
    free(data);
    return done ? 0 : -OMPP_E_IO;
}
