/*
 * Taking records apart. A field is read only after it is known to lie within the record, and a record only within the
 * ring.
 */
#include "perf/ompp_perf_record.h"

#include <linux/perf_event.h>
#include <string.h>

/* Bytes of one record that have not been read yet. */
typedef struct {
    const ompp_perf_ring_t *ring;
    uint64_t at, end; /* running offsets */
    bool short_of;    /* a field was not there */
} cursor_t;

static void copy(const ompp_perf_ring_t *ring, uint64_t at, void *to, size_t n)
{
    uint64_t begin = at & (ring->size - 1), first = ring->size - begin < n ? ring->size - begin : n;

    memcpy(to, ring->data + begin, first);
    memcpy((unsigned char *)to + first, ring->data, n - first);
}

static bool take(cursor_t *c, void *to, size_t n)
{
    if (c->end - c->at < n) {
        c->short_of = true;
        c->at = c->end;
        return false;
    }
    copy(c->ring, c->at, to, n);
    c->at += n;
    return true;
}

static uint64_t take64(cursor_t *c)
{
    uint64_t value = 0;

    take(c, &value, sizeof value);
    return value;
}

/* ---- Where the data came from ------------------------------------------------------------------------------------ */

/* Newer kernels' number of the level; its names in linux/perf_event.h differ with the version. */
static ompp_level_t level_of_number(unsigned number)
{
    switch (number) {
    case 1: return OMPP_LEVEL_L1;
    case 2: return OMPP_LEVEL_L2;
    case 3:
    case 4: return OMPP_LEVEL_L3;       /* L4 is beside the memory, but no memory */
    case 0x8:                           /* uncached */
    case 0x9:                           /* CXL */
    case 0xd:                           /* RAM */
    case 0xe: return OMPP_LEVEL_MEMORY; /* persistent */
    default: return OMPP_LEVEL_UNKNOWN; /* fill buffers: on the way, from an unknown place */
    }
}

static ompp_level_t level_of_bits(uint64_t bits)
{
    if (bits & (PERF_MEM_LVL_LOC_RAM | PERF_MEM_LVL_REM_RAM1 | PERF_MEM_LVL_REM_RAM2 | PERF_MEM_LVL_UNC))
        return OMPP_LEVEL_MEMORY;
    if (bits & (PERF_MEM_LVL_REM_CCE1 | PERF_MEM_LVL_REM_CCE2)) return OMPP_LEVEL_L3; /* of another processor */
    if (bits & PERF_MEM_LVL_L3) return bits & PERF_MEM_LVL_MISS ? OMPP_LEVEL_MEMORY : OMPP_LEVEL_L3;
    if (bits & PERF_MEM_LVL_L2) return bits & PERF_MEM_LVL_MISS ? OMPP_LEVEL_UNKNOWN : OMPP_LEVEL_L2;
    if (bits & PERF_MEM_LVL_L1) return bits & PERF_MEM_LVL_MISS ? OMPP_LEVEL_UNKNOWN : OMPP_LEVEL_L1;
    return OMPP_LEVEL_UNKNOWN;
}

static void read_source(uint64_t value, ompp_perf_record_t *record)
{
    const union perf_mem_data_src source = {.val = value};

    record->load = source.mem_op & PERF_MEM_OP_LOAD;
    record->store = source.mem_op & PERF_MEM_OP_STORE;
    record->level = level_of_number(source.mem_lvl_num);
    if (record->level == OMPP_LEVEL_UNKNOWN) record->level = level_of_bits(source.mem_lvl);
}

/* AMD's registers as they stand behind the size of the raw part: 32 bits of capabilities, then these of 64 bits. */
enum { IBS_OP_CTL, IBS_OP_RIP, IBS_OP_DATA, IBS_OP_DATA2, IBS_OP_DATA3, IBS_DC_LIN_AD, IBS_REGISTERS };
#define IBS_LOAD 1u
#define IBS_STORE 2u
#define IBS_L1_MISS (1u << 7)
#define IBS_ADDRESS_VALID (1u << 17)
#define IBS_L2_MISS (1u << 20)

static void read_ibs(cursor_t raw, ompp_perf_record_t *record)
{
    uint64_t registers[IBS_REGISTERS];
    uint32_t capabilities;

    if (!take(&raw, &capabilities, sizeof capabilities) || !take(&raw, registers, sizeof registers)) return;
    const uint64_t data = registers[IBS_OP_DATA3];
    record->load = data & IBS_LOAD;
    record->store = data & IBS_STORE;
    record->addr = data & IBS_ADDRESS_VALID ? registers[IBS_DC_LIN_AD] : 0;
    record->level = !(data & IBS_L1_MISS) ? OMPP_LEVEL_L1 : !(data & IBS_L2_MISS) ? OMPP_LEVEL_L2 : OMPP_LEVEL_UNKNOWN;
    if (record->load && data & IBS_L1_MISS) record->weight = data >> 32 & 0xffff;
    /* 2: another cache near by; 3: memory; 7: far away. */
    const unsigned from = registers[IBS_OP_DATA2] & 7;
    if (data & IBS_L2_MISS && record->load)
        record->level = from == 1 || from == 2 ? OMPP_LEVEL_L3 : from == 3 ? OMPP_LEVEL_MEMORY : OMPP_LEVEL_UNKNOWN;
}

/* ---- Samples ----------------------------------------------------------------------------------------------------- */

/* The raw part, which is passed over as a whole whatever is in it. */
static cursor_t take_raw(cursor_t *c)
{
    uint32_t n = 0;
    cursor_t raw = *c;

    take(c, &n, sizeof n);
    if (c->end - c->at < n) c->short_of = true;
    raw.at = c->at;
    c->at = raw.end = c->short_of ? c->end : c->at + n;
    return raw;
}

/* Fields stand in this order. */
static bool read_sample(cursor_t c, uint64_t type, ompp_perf_record_t *record)
{
    uint32_t ids[2] = {0, 0};
    cursor_t raw = {0};

    if (type & PERF_SAMPLE_IDENTIFIER) take64(&c);
    if (type & PERF_SAMPLE_IP) record->ip = take64(&c);
    if (type & PERF_SAMPLE_TID) take(&c, ids, sizeof ids);
    if (type & PERF_SAMPLE_TIME) record->time = take64(&c);
    if (type & PERF_SAMPLE_ADDR) record->addr = take64(&c);
    if (type & PERF_SAMPLE_ID) take64(&c);
    if (type & PERF_SAMPLE_STREAM_ID) take64(&c);
    if (type & PERF_SAMPLE_CPU) take64(&c);
    if (type & PERF_SAMPLE_PERIOD) record->period = take64(&c);
    if (type & PERF_SAMPLE_RAW) raw = take_raw(&c);
    if (type & PERF_SAMPLE_WEIGHT) record->weight = take64(&c);
    if (type & PERF_SAMPLE_DATA_SRC) read_source(take64(&c), record);
    if (type & OMPP_PERF_PAGE_SIZE) record->page_bytes = take64(&c);
    record->pid = ids[0];
    record->tid = ids[1];
    if (c.short_of) return false;
    if (type & PERF_SAMPLE_RAW && !record->load && !record->store) read_ibs(raw, record);
    return true;
}

static ompp_perf_kind_t read_lost(cursor_t c, ompp_perf_record_t *record)
{
    take64(&c); /* the event */
    record->lost = take64(&c);
    return c.short_of ? OMPP_PERF_BROKEN : OMPP_PERF_LOST;
}

static ompp_perf_kind_t read_mapped(cursor_t c, ompp_perf_record_t *record)
{
    uint32_t ids[2] = {0, 0};

    take(&c, ids, sizeof ids);
    record->addr = take64(&c);
    record->length = take64(&c);
    return c.short_of ? OMPP_PERF_BROKEN : OMPP_PERF_MAPPED;
}

static ompp_perf_kind_t read_record(cursor_t c, unsigned type, uint64_t sample_type, ompp_perf_record_t *record)
{
    switch (type) {
    case PERF_RECORD_SAMPLE:
        if (read_sample(c, sample_type, record)) return OMPP_PERF_SAMPLE;
        *record = (ompp_perf_record_t){0};
        return OMPP_PERF_BROKEN;
    case PERF_RECORD_LOST: return read_lost(c, record);
    case PERF_RECORD_LOST_SAMPLES: record->lost = take64(&c); return c.short_of ? OMPP_PERF_BROKEN : OMPP_PERF_LOST;
    case PERF_RECORD_MMAP: return read_mapped(c, record);
    case PERF_RECORD_THROTTLE: return OMPP_PERF_THROTTLE;
    case PERF_RECORD_UNTHROTTLE: return OMPP_PERF_UNTHROTTLE;
    default: return OMPP_PERF_OTHER;
    }
}

ompp_perf_kind_t ompp_perf_next(ompp_perf_ring_t *ring, ompp_perf_record_t *record)
{
    struct perf_event_header header;
    uint64_t left = ring->head - ring->tail;

    *record = (ompp_perf_record_t){0};
    if (left == 0) return record->kind = OMPP_PERF_END;
    if (left <= ring->size && left >= sizeof header) copy(ring, ring->tail, &header, sizeof header);
    else header.size = 0;
    if (header.size < sizeof header || header.size > left) {
        ring->tail = ring->head;
        return record->kind = OMPP_PERF_BROKEN;
    }
    const cursor_t body = {ring, ring->tail + sizeof header, ring->tail + header.size, false};
    ring->tail += header.size;
    record->kind = read_record(body, header.type, ring->sample_type, record);
    return record->kind;
}

bool ompp_perf_count_loss(const ompp_perf_record_t *record, uint64_t *losses)
{
    switch (record->kind) {
    case OMPP_PERF_LOST: losses[OMPP_LOSS_LOST] += record->lost; return true;
    case OMPP_PERF_BROKEN: losses[OMPP_LOSS_LOST]++; return true;
    case OMPP_PERF_THROTTLE: losses[OMPP_LOSS_THROTTLED]++; return true;
    case OMPP_PERF_UNTHROTTLE: losses[OMPP_LOSS_UNTHROTTLED]++; return true;
    default: return false;
    }
}
