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

/* An index that may be OMPP_NONE, which becomes 0. */
static void put_index(writer_t *w, uint32_t index) { put(w, (uint32_t)(index + 1)); }

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

static void put_run(writer_t *w, const ompp_profile_t *p)
{
    put(w, p->nstrings);
    for (size_t i = 0; i < p->nstrings; i++) {
        size_t n = strlen(p->strings[i]);
        put(w, n);
        put_bytes(w, p->strings[i], n);
    }
    put(w, p->app);
    put(w, p->version);
    put(w, p->build_date);
    put(w, p->source);
    put(w, p->mpi);
    put(w, p->nranks);
    put(w, p->nslots);
    put(w, p->nrest);
    put(w, p->rest_duration_max_ns);
    put(w, p->rest_wall_threads_ns);
    put(w, p->rest_user_ns);
    put(w, p->rest_system_ns);
    put_index(w, p->rest_first_rank);
}

static void put_ranks(writer_t *w, const ompp_profile_t *p)
{
    put(w, p->nranks_kept);
    for (size_t i = 0; i < p->nranks_kept; i++) {
        const ompp_rank_t *rank = &p->ranks[i];
        put(w, rank->rank);
        put(w, rank->pid);
        put(w, rank->nthreads);
        put(w, rank->end);
        put(w, rank->host);
        put(w, rank->clock);
        put(w, rank->job);
        put(w, rank->launch);
        put_index(w, rank->launcher_rank);
        put(w, rank->start_ticks);
        put(w, rank->pid_space);
        put(w, rank->begin_epoch_ns);
        put(w, rank->duration_ns);
        put(w, rank->user_ns);
        put(w, rank->system_ns);
    }
    put(w, p->nlocations);
    for (size_t i = 0; i < p->nlocations; i++) {
        const ompp_location_t *l = &p->locations[i];
        put_index(w, l->rank);
        put_index(w, l->tid);
        put(w, l->kind);
        put(w, l->begin_ns);
        put(w, l->end_ns);
    }
}

static void put_regions(writer_t *w, const ompp_profile_t *p)
{
    put(w, p->nmodules);
    for (size_t i = 0; i < p->nmodules; i++) {
        put(w, p->modules[i].path);
        put(w, p->modules[i].id);
        put(w, p->modules[i].base);
    }
    put(w, p->nregions);
    for (size_t i = 0; i < p->nregions; i++) {
        const ompp_region_t *r = &p->regions[i];
        put(w, r->construct);
        put(w, r->flags);
        put(w, r->file);
        put(w, r->name);
        put(w, r->function);
        put(w, r->begin);
        put(w, r->end);
        put_index(w, r->module);
        put(w, r->addr);
        put(w, r->addr_end);
        put(w, r->key);
        put_index(w, r->number);
    }
}

static void put_whatif_clock(writer_t *w, const ompp_whatif_clock_t *clock)
{
    put(w, clock->time_ns);
    put(w, clock->saved_ns);
    put(w, clock->paid_ns);
    put(w, clock->work_ns);
    put(w, clock->observations);
    put(w, clock->nblocks);
    for (uint32_t i = 0; i < clock->nblocks; i++) {
        const ompp_whatif_block_t *b = &clock->blocks[i];
        put(w, b->number);
        put(w, b->visits);
        put(w, b->time_ns);
        put(w, b->paid_ns);
        put(w, (uint64_t)b->saved_ns << 1 ^ (uint64_t)(b->saved_ns >> 63)); /* small numbers of either sign are short */
        put(w, b->work_ns);
    }
}

static void put_whatif(writer_t *w, const ompp_whatif_t *x)
{
    put(w, x->mode);
    if (x->mode == OMPP_WHATIF_OFF) return;
    put(w, x->why);
    put(w, x->time_ns);
    put(w, x->paid_ns);
    put(w, x->events);
    put(w, x->cost_ns);
    put(w, x->lost);
    put(w, x->lost_ns);
    put(w, x->worked_ns);
    put(w, x->outside_ns);
    put(w, x->suspended_ns);
    put(w, x->replayed);
    put(w, x->kept);
    put(w, x->passed_ns);
    put_whatif_clock(w, &x->control);
    put(w, x->nregions);
    for (size_t i = 0; i < x->nregions; i++) {
        put_index(w, x->regions[i].region);
        put(w, x->regions[i].flags);
        put(w, x->regions[i].work_ns);
        put(w, x->regions[i].followed_ns);
        put(w, x->regions[i].total_ns);
        put(w, x->regions[i].visits);
        put_index(w, x->regions[i].point);
        for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++) {
            put(w, x->regions[i].clocks[k].permille);
            if (x->regions[i].clocks[k].permille) put_whatif_clock(w, &x->regions[i].clocks[k]);
        }
    }
    put(w, x->npoints);
    for (size_t i = 0; i < x->npoints; i++) {
        put(w, x->points[i].name);
        put(w, x->points[i].kind);
        put(w, x->points[i].automatic);
        put_index(w, x->points[i].region);
        put(w, x->points[i].visits);
        put(w, x->points[i].begins);
        put(w, x->points[i].in_flight_ns);
    }
}

static void put_notes(writer_t *w, const ompp_profile_t *p)
{
    put(w, p->nmetrics);
    for (size_t i = 0; i < p->nmetrics; i++) {
        const ompp_metric_t *m = &p->metrics[i];
        put(w, m->name);
        put(w, m->source);
        put(w, m->meaning);
        put(w, m->set);
        put(w, m->index);
        put(w, m->unit);
        put(w, m->quality);
        put(w, m->reduce_threads);
        put(w, m->reduce_ranks);
        put(w, m->use);
    }
    put(w, p->nobjects);
    for (size_t i = 0; i < p->nobjects; i++) {
        const ompp_object_t *o = &p->objects[i];
        put(w, o->name);
        put(w, o->origin);
        put(w, o->address);
        put(w, o->size);
        put(w, o->start_offset);
        put(w, o->end_offset);
        put(w, o->nranges);
        put(w, o->rank);
    }
    put(w, p->ncoverage);
    for (size_t i = 0; i < p->ncoverage; i++) {
        put(w, p->coverage[i].kind);
        put(w, p->coverage[i].subject);
        put(w, p->coverage[i].reason);
        put(w, p->coverage[i].count);
        put(w, p->coverage[i].nranks);
    }
    put(w, p->nsettings);
    for (size_t i = 0; i < p->nsettings; i++) {
        put(w, p->settings[i].name);
        put(w, p->settings[i].value);
    }
    put_whatif(w, &p->whatif);
}

static void put_spread(writer_t *w, const ompp_spread_t *s)
{
    put(w, s->count);
    if (!s->count) return;
    put(w, s->sum);
    put(w, s->min);
    put(w, s->max);
    put(w, s->min_rank);
    put(w, s->min_tid);
    put(w, s->max_rank);
    put(w, s->max_tid);
    put_double(w, s->mean);
    put_double(w, s->m2);
}

static void put_nodes(writer_t *w, const ompp_profile_t *p)
{
    put(w, p->nnodes);
    for (size_t i = 0; i < p->nnodes; i++) {
        const ompp_node_t *node = &p->nodes[i];
        put_index(w, node->region);
        put_index(w, node->parent);
        put(w, node->first_ns);
        put_index(w, node->first_rank);
        put_spread(w, &node->over_threads);
        put_spread(w, &node->over_ranks);
        put(w, node->nblocks);
        for (uint32_t k = 0; k < node->nblocks; k++) {
            const ompp_block_t *b = &node->blocks[k];
            put(w, b->location);
            put(w, b->set);
            put(w, b->object);
            put(w, b->nvalues);
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
    put_run(&w, profile);
    put_ranks(&w, profile);
    put_regions(&w, profile);
    put_notes(&w, profile);
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
    if (close(fd) == 0 && !done) errno = error;
    else if (done) done = ompp_new_file_commit(&file, replace) == 0;
    ompp_new_file_abandon(&file);
    free(data);
    return done ? 0 : -OMPP_E_IO;
}
