#include "model/ompp_pack.h"

#include "base/ompp_error.h"
#include "base/ompp_hash.h"
#include "base/ompp_new_file.h"
#include "base/ompp_vector.h"
#include "model/ompp_pack_priv.h"

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

static void put_double(writer_t *w, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    put_fixed(w, bits);
}

static void put_record(writer_t *w, const void *record, const ompp_packed_t *packed)
{
    for (const ompp_packed_field_t *f = packed->fields; f < packed->fields + packed->n; f++) {
        const void *at = (const char *)record + f->offset;
        if (f->kind == OMPP_PACKED_DOUBLE) {
            put_double(w, *(const double *)at);
            continue;
        }
        uint64_t value = f->bytes == 8   ? *(const uint64_t *)at
                         : f->bytes == 4 ? *(const uint32_t *)at
                                         : *(const bool *)at;
        if (f->kind == OMPP_PACKED_INDEX) value = (uint32_t)(value + 1);
        /* small numbers of either sign are short */
        if (f->kind == OMPP_PACKED_SIGNED) value = value << 1 ^ (uint64_t)((int64_t)value >> 63);
        put(w, value);
    }
}

static void put_list(writer_t *w, const void *records, size_t n, const ompp_packed_t *packed)
{
    put(w, n);
    for (size_t i = 0; i < n; i++) put_record(w, (const char *)records + i * packed->bytes, packed);
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
    put_record(w, clock, &ompp_packed_whatif_clock);
    for (uint32_t i = 0; i < clock->nblocks; i++) put_record(w, &clock->blocks[i], &ompp_packed_whatif_block);
}

static void put_whatif_region(writer_t *w, const ompp_whatif_region_t *region)
{
    put_record(w, region, &ompp_packed_whatif_region);
    for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++) {
        put(w, region->clocks[k].permille);
        if (region->clocks[k].permille) put_whatif_clock(w, &region->clocks[k]);
    }
}

static void put_whatif(writer_t *w, const ompp_whatif_t *x)
{
    put(w, x->mode);
    if (x->mode == OMPP_WHATIF_OFF) return;
    put_record(w, x, &ompp_packed_whatif);
    put_whatif_clock(w, &x->control);
    put_whatif_region(w, &x->ideal);
    put(w, x->nregions);
    for (size_t i = 0; i < x->nregions; i++) put_whatif_region(w, &x->regions[i]);
    put_list(w, x->points, x->npoints, &ompp_packed_whatif_point);
}

static void put_spread(writer_t *w, const ompp_spread_t *s)
{
    put(w, s->count);
    if (s->count) put_record(w, s, &ompp_packed_spread);
}

static void put_nodes(writer_t *w, const ompp_profile_t *p)
{
    put(w, p->nnodes);
    for (size_t i = 0; i < p->nnodes; i++) {
        const ompp_node_t *node = &p->nodes[i];
        put_record(w, node, &ompp_packed_node);
        put_spread(w, &node->over_threads);
        put_spread(w, &node->over_ranks);
        put(w, node->nblocks);
        for (uint32_t k = 0; k < node->nblocks; k++) {
            const ompp_block_t *b = &node->blocks[k];
            put_record(w, b, &ompp_packed_block);
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
    put_record(&w, profile, &ompp_packed_profile);
    put_list(&w, profile->ranks, profile->nranks_kept, &ompp_packed_rank);
    put_list(&w, profile->locations, profile->nlocations, &ompp_packed_location);
    put_list(&w, profile->modules, profile->nmodules, &ompp_packed_module);
    put_list(&w, profile->regions, profile->nregions, &ompp_packed_region);
    put_list(&w, profile->metrics, profile->nmetrics, &ompp_packed_metric);
    put_list(&w, profile->objects, profile->nobjects, &ompp_packed_object);
    put_list(&w, profile->coverage, profile->ncoverage, &ompp_packed_coverage);
    put_list(&w, profile->settings, profile->nsettings, &ompp_packed_setting);
    put_list(&w, profile->messages, profile->nmessages, &ompp_packed_message);
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
