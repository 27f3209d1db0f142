/*
 * The decoder of samples, on streams made from the kernel's struct definitions, as a ring would hold them; and the
 * search for events and the judgement of the self-check on descriptions of processors that are not here.
 */
#include "perf/ompp_perf_record.h"
#include "perf/ompp_samples_priv.h"

#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define SIZE 4096u
#define INTEL \
    (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC)

/* ---- Generator --------------------------------------------------------------------------------------------------- */

typedef struct {
    unsigned char data[SIZE];
    ompp_perf_ring_t ring;
} stream_t;

static void begin(stream_t *s, uint64_t sample_type, uint64_t at)
{
    memset(s->data, 0xee, sizeof s->data);
    s->ring = (ompp_perf_ring_t){.data = s->data, .size = SIZE, .head = at, .tail = at, .sample_type = sample_type};
}

static void put(stream_t *s, const void *from, size_t n)
{
    for (size_t i = 0; i < n; i++) s->data[s->ring.head++ & (SIZE - 1)] = ((const unsigned char *)from)[i];
}

static void put_record(stream_t *s, uint32_t type, const void *body, size_t n)
{
    const struct perf_event_header header = {
        .type = type, .misc = PERF_RECORD_MISC_USER, .size = (uint16_t)(sizeof header + n)};

    put(s, &header, sizeof header);
    put(s, body, n);
}

typedef struct {
    uint64_t ip;
    uint32_t pid, tid;
    uint64_t time, addr, weight, data_src;
} intel_t;

static uint64_t source(unsigned op, unsigned level, unsigned number)
{
    const union perf_mem_data_src src = {.mem_op = op, .mem_lvl = level, .mem_lvl_num = number};

    return src.val;
}

static void put_intel(stream_t *s, uint64_t addr, uint64_t data_src)
{
    const intel_t body = {0x401000, 7, 8, 1000, addr, 33, data_src};

    put_record(s, PERF_RECORD_SAMPLE, &body, sizeof body);
}

/* ---- Samples ----------------------------------------------------------------------------------------------------- */

static void fields_of_intel(void **state)
{
    stream_t s;
    ompp_perf_record_t r;

    (void)state;
    begin(&s, INTEL, 0);
    put_intel(&s, 0x7f0012345678, source(PERF_MEM_OP_LOAD, PERF_MEM_LVL_HIT | PERF_MEM_LVL_L3, 3));
    put_intel(&s, 0x10, source(PERF_MEM_OP_STORE, PERF_MEM_LVL_HIT | PERF_MEM_LVL_L1, 0xf));
    assert_int_equal(ompp_perf_next(&s.ring, &r), OMPP_PERF_SAMPLE);
    assert_int_equal(r.ip, 0x401000);
    assert_int_equal(r.pid, 7);
    assert_int_equal(r.tid, 8);
    assert_int_equal(r.time, 1000);
    assert_int_equal(r.addr, 0x7f0012345678);
    assert_int_equal(r.weight, 33);
    assert_true(r.load);
    assert_false(r.store);
    assert_int_equal(r.level, OMPP_LEVEL_L3);
    assert_int_equal(ompp_perf_next(&s.ring, &r), OMPP_PERF_SAMPLE);
    assert_true(r.store && !r.load);
    assert_int_equal(r.level, OMPP_LEVEL_L1);
    assert_int_equal(ompp_perf_next(&s.ring, &r), OMPP_PERF_END);
}

static void levels(void **state)
{
    static const struct {
        unsigned bits, number;
        ompp_level_t level;
    } cases[] = {
        {0, 1, OMPP_LEVEL_L1},
        {0, 2, OMPP_LEVEL_L2},
        {0, 3, OMPP_LEVEL_L3},
        {0, 0xd, OMPP_LEVEL_MEMORY},
        {0, 0xe, OMPP_LEVEL_MEMORY},
        {0, 0xc, OMPP_LEVEL_UNKNOWN}, /* fill buffer */
        {PERF_MEM_LVL_HIT | PERF_MEM_LVL_L2, 0, OMPP_LEVEL_L2},
        {PERF_MEM_LVL_HIT | PERF_MEM_LVL_LOC_RAM, 0, OMPP_LEVEL_MEMORY},
        {PERF_MEM_LVL_HIT | PERF_MEM_LVL_REM_RAM1, 0xf, OMPP_LEVEL_MEMORY},
        {PERF_MEM_LVL_MISS | PERF_MEM_LVL_L3, 0, OMPP_LEVEL_MEMORY},
        {PERF_MEM_LVL_HIT | PERF_MEM_LVL_REM_CCE1, 0, OMPP_LEVEL_L3},
        {PERF_MEM_LVL_MISS | PERF_MEM_LVL_L1, 0, OMPP_LEVEL_UNKNOWN},
        {PERF_MEM_LVL_NA, 0xf, OMPP_LEVEL_UNKNOWN},
    };
    stream_t s;
    ompp_perf_record_t r;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin(&s, INTEL, 0);
        put_intel(&s, 8, source(PERF_MEM_OP_LOAD, cases[i].bits, cases[i].number));
        assert_int_equal(ompp_perf_next(&s.ring, &r), OMPP_PERF_SAMPLE);
        if (r.level != cases[i].level) fail_msg("case %zu: level %d", i, r.level);
    }
}

/* Every field that may stand in a sample, in the kernel's order. */
static void all_fields(void **state)
{
    struct {
        uint64_t identifier, ip;
        uint32_t pid, tid;
        uint64_t time, addr, id, stream;
        uint32_t cpu, reserved;
        uint64_t period;
        uint32_t raw_size;
        char raw[12];
        uint64_t weight, data_src, page_bytes;
    } body = {1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 10, sizeof body.raw, "raw bytes", 11, 0, 12};
    stream_t s;
    ompp_perf_record_t r;

    (void)state;
    body.data_src = source(PERF_MEM_OP_LOAD, 0, 2);
    begin(&s, OMPP_PERF_KNOWN, 0);
    put_record(&s, PERF_RECORD_SAMPLE, &body, sizeof body);
    assert_int_equal(ompp_perf_next(&s.ring, &r), OMPP_PERF_SAMPLE);
    assert_int_equal(r.ip, 2);
    assert_int_equal(r.tid, 4);
    assert_int_equal(r.addr, 6);
    assert_int_equal(r.period, 10);
    assert_int_equal(r.weight, 11);
    assert_int_equal(r.level, OMPP_LEVEL_L2);
    assert_int_equal(r.page_bytes, 12);
}

typedef struct {
    uint64_t ip;
    uint32_t pid, tid;
    uint64_t time, addr;
    uint32_t raw_size, capabilities;
    uint64_t ctl, rip, data, data2, data3, address, physical;
    uint32_t pad;
} __attribute__((packed)) ibs_t;

static ompp_perf_record_t ibs(uint64_t data2, uint64_t data3, uint64_t address)
{
    ibs_t body = {.ip = 1,
                  .pid = 2,
                  .tid = 3,
                  .time = 4,
                  .addr = 0,
                  .raw_size = 4 + 7 * 8 + 4,
                  .data2 = data2,
                  .data3 = data3,
                  .address = address};
    stream_t s;
    ompp_perf_record_t r;

    begin(&s, PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_RAW, 64);
    put_record(&s, PERF_RECORD_SAMPLE, &body, sizeof body);
    assert_int_equal(ompp_perf_next(&s.ring, &r), OMPP_PERF_SAMPLE);
    return r;
}

static void raw_ibs(void **state)
{
    const uint64_t load = 1, store = 2, l1_miss = 1 << 7, valid = 1 << 17, l2_miss = 1 << 20, latency = 200ull << 32;
    ompp_perf_record_t r;

    (void)state;
    r = ibs(0, load | valid, 0x7f00aabbccd0);
    assert_true(r.load && !r.store);
    assert_int_equal(r.addr, 0x7f00aabbccd0);
    assert_int_equal(r.level, OMPP_LEVEL_L1);
    assert_int_equal(r.weight, 0);
    r = ibs(3, load | valid | l1_miss | l2_miss | latency, 0x10);
    assert_int_equal(r.level, OMPP_LEVEL_MEMORY);
    assert_int_equal(r.weight, 200);
    r = ibs(1, load | valid | l1_miss | l2_miss, 0x10);
    assert_int_equal(r.level, OMPP_LEVEL_L3);
    r = ibs(0, load | valid | l1_miss, 0x10);
    assert_int_equal(r.level, OMPP_LEVEL_L2);
    r = ibs(0, store | valid, 0x20);
    assert_true(r.store && !r.load);
    r = ibs(0, load, 0x30); /* the processor did not see the address */
    assert_int_equal(r.addr, 0);
    r = ibs(0, 0, 0x30); /* another operation */
    assert_false(r.load || r.store);
}

/* Kernels from 6.1 on fill the fields themselves, and the raw part stands there all the same. */
static void ibs_of_newer_kernels(void **state)
{
    struct {
        uint64_t ip;
        uint32_t pid, tid;
        uint64_t time, addr;
        uint32_t raw_size, raw[15];
        uint64_t weight, data_src;
    } body = {.ip = 1, .addr = 0x55, .raw_size = 60, .weight = 77, .data_src = source(PERF_MEM_OP_LOAD, 0, 0xd)};
    stream_t s;
    ompp_perf_record_t r;

    (void)state;
    begin(&s, INTEL | PERF_SAMPLE_RAW, 0);
    put_record(&s, PERF_RECORD_SAMPLE, &body, sizeof body);
    assert_int_equal(ompp_perf_next(&s.ring, &r), OMPP_PERF_SAMPLE);
    assert_true(r.load);
    assert_int_equal(r.addr, 0x55);
    assert_int_equal(r.weight, 77);
    assert_int_equal(r.level, OMPP_LEVEL_MEMORY);
}

/* ---- The ring ---------------------------------------------------------------------------------------------------- */

/* A record may begin at each multiple of 8 before the end of the ring, and go on at its beginning. */
static void wraps_around(void **state)
{
    stream_t s;
    ompp_perf_record_t r;

    (void)state;
    for (uint64_t at = 5 * SIZE - 96; at <= 5 * SIZE; at += 8) {
        begin(&s, INTEL, at);
        put_intel(&s, 0x1122334455, source(PERF_MEM_OP_LOAD, 0, 1));
        put_intel(&s, 0x66, source(PERF_MEM_OP_STORE, 0, 1));
        assert_int_equal(ompp_perf_next(&s.ring, &r), OMPP_PERF_SAMPLE);
        assert_int_equal(r.addr, 0x1122334455);
        assert_int_equal(ompp_perf_next(&s.ring, &r), OMPP_PERF_SAMPLE);
        assert_int_equal(r.addr, 0x66);
        assert_int_equal(ompp_perf_next(&s.ring, &r), OMPP_PERF_END);
        assert_int_equal(s.ring.tail, s.ring.head);
    }
}

/* Of what is missing: 42 records lost, 5 samples lost, sampling switched off and on. */
static void put_missing(stream_t *s, uint32_t type)
{
    static const uint64_t lost[2] = {3, 42}, lost_samples = 5, throttle[3] = {1, 2, 3};

    if (type == PERF_RECORD_LOST) put_record(s, type, lost, sizeof lost);
    else if (type == PERF_RECORD_LOST_SAMPLES) put_record(s, type, &lost_samples, sizeof lost_samples);
    else put_record(s, type, throttle, sizeof throttle);
}

static void other_records(void **state)
{
    stream_t s;
    ompp_perf_record_t r;

    (void)state;
    begin(&s, INTEL, 0);
    put_missing(&s, PERF_RECORD_LOST);
    put_missing(&s, PERF_RECORD_THROTTLE);
    put_missing(&s, PERF_RECORD_UNTHROTTLE);
    put_missing(&s, 4711); /* of a later kernel */
    put_missing(&s, PERF_RECORD_LOST_SAMPLES);
    put_intel(&s, 0x77, 0);
    assert_int_equal(ompp_perf_next(&s.ring, &r), OMPP_PERF_LOST);
    assert_int_equal(r.lost, 42);
    assert_int_equal(ompp_perf_next(&s.ring, &r), OMPP_PERF_THROTTLE);
    assert_int_equal(ompp_perf_next(&s.ring, &r), OMPP_PERF_UNTHROTTLE);
    assert_int_equal(ompp_perf_next(&s.ring, &r), OMPP_PERF_OTHER);
    assert_int_equal(ompp_perf_next(&s.ring, &r), OMPP_PERF_LOST);
    assert_int_equal(r.lost, 5);
    assert_int_equal(ompp_perf_next(&s.ring, &r), OMPP_PERF_SAMPLE);
    assert_int_equal(r.addr, 0x77);
    assert_false(r.load || r.store);
}

/* Memory that was mapped: where, and how much; one that is cut off says nothing. */
static void mapped_memory(void **state)
{
    const struct {
        uint32_t pid, tid;
        uint64_t addr, length, offset;
        char name[8];
    } body = {7, 8, 0x7f0000000000, 0x3000, 0, "//anon"};
    stream_t s;
    ompp_perf_record_t r;

    (void)state;
    begin(&s, PERF_SAMPLE_ADDR, 0);
    put_record(&s, PERF_RECORD_MMAP, &body, sizeof body);
    put_record(&s, PERF_RECORD_MMAP, &body, 16);
    assert_int_equal(ompp_perf_next(&s.ring, &r), OMPP_PERF_MAPPED);
    assert_int_equal(r.addr, 0x7f0000000000);
    assert_int_equal(r.length, 0x3000);
    assert_int_equal(ompp_perf_next(&s.ring, &r), OMPP_PERF_BROKEN);
}

/* What a stream tells of samples that are missing adds up; samples say nothing of it. */
static void losses(void **state)
{
    const uint32_t cut_off = 3;
    uint64_t found[OMPP_LOSS_NUM] = {0};
    stream_t s;
    ompp_perf_record_t r;

    (void)state;
    begin(&s, INTEL, 0);
    put_missing(&s, PERF_RECORD_LOST);
    put_missing(&s, PERF_RECORD_THROTTLE);
    put_intel(&s, 0x77, 0);
    put_missing(&s, PERF_RECORD_UNTHROTTLE);
    put_missing(&s, PERF_RECORD_THROTTLE);
    put_missing(&s, PERF_RECORD_LOST_SAMPLES);
    put_record(&s, PERF_RECORD_LOST, &cut_off, sizeof cut_off); /* one record, of what cannot be read */
    while (ompp_perf_next(&s.ring, &r) != OMPP_PERF_END)
        assert_int_equal(ompp_perf_count_loss(&r, found), r.kind != OMPP_PERF_SAMPLE);
    assert_int_equal(found[OMPP_LOSS_LOST], 48);
    assert_int_equal(found[OMPP_LOSS_THROTTLED], 2);
    assert_int_equal(found[OMPP_LOSS_UNTHROTTLED], 1);
}

/* A sample that is too short is none; those behind it are read. */
static void truncated_samples(void **state)
{
    const intel_t body = {.addr = 1};
    stream_t s;
    ompp_perf_record_t r;

    (void)state;
    for (size_t n = 0; n < sizeof body; n++) {
        begin(&s, INTEL, 0);
        put_record(&s, PERF_RECORD_SAMPLE, &body, n);
        put_intel(&s, 0x99, 0);
        assert_int_equal(ompp_perf_next(&s.ring, &r), OMPP_PERF_BROKEN);
        assert_int_equal(ompp_perf_next(&s.ring, &r), OMPP_PERF_SAMPLE);
        assert_int_equal(r.addr, 0x99);
    }
}

/* A size that is none, or a record that ends behind the head: the rest is given up, and the reader ends. */
static void broken_streams(void **state)
{
    const struct perf_event_header none = {.type = PERF_RECORD_SAMPLE, .size = 4},
                                   beyond = {.type = PERF_RECORD_SAMPLE, .size = 4000};
    stream_t s;
    ompp_perf_record_t r;

    (void)state;
    begin(&s, INTEL, 0);
    put(&s, &none, sizeof none);
    put_intel(&s, 1, 0);
    assert_int_equal(ompp_perf_next(&s.ring, &r), OMPP_PERF_BROKEN);
    assert_int_equal(ompp_perf_next(&s.ring, &r), OMPP_PERF_END);
    begin(&s, INTEL, 0);
    put(&s, &beyond, sizeof beyond);
    put(&s, "1234", 4);
    assert_int_equal(ompp_perf_next(&s.ring, &r), OMPP_PERF_BROKEN);
    assert_int_equal(ompp_perf_next(&s.ring, &r), OMPP_PERF_END);
    begin(&s, INTEL, 0);
    put(&s, &beyond, 5); /* not even a header */
    assert_int_equal(ompp_perf_next(&s.ring, &r), OMPP_PERF_BROKEN);
    assert_int_equal(ompp_perf_next(&s.ring, &r), OMPP_PERF_END);
    begin(&s, INTEL, 0);
    s.ring.head = 10 * SIZE; /* overrun */
    assert_int_equal(ompp_perf_next(&s.ring, &r), OMPP_PERF_BROKEN);
    assert_int_equal(ompp_perf_next(&s.ring, &r), OMPP_PERF_END);
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static void put_file(const char *root, const char *name, const char *text)
{
    char path[400];

    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *out = fopen(path, "we");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static void make_root(char root[64])
{
    snprintf(root, 64, "/tmp/ompp-events-XXXXXX");
    assert_non_null(mkdtemp(root));
}

static void remove_root(const char *root)
{
    char command[100];

    snprintf(command, sizeof command, "rm -rf '%s'", root);
    assert_int_equal(system(command), 0);
}

static void events_of_intel(void **state)
{
    ompp_samples_events_t events;
    char root[64];

    (void)state;
    make_root(root);
    put_file(root, "cpu/type", "4\n");
    put_file(root, "cpu/format/event", "config:0-7\n");
    put_file(root, "cpu/format/umask", "config:8-15\n");
    put_file(root, "cpu/format/ldlat", "config1:0-15\n");
    put_file(root, "cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
    put_file(root, "cpu/events/mem-stores", "event=0xd0,umask=0x82\n");
    assert_true(ompp_samples_find(root, 1009, &events));
    assert_string_equal(events.kind, "PEBS");
    assert_int_equal(events.nevents, 2);
    assert_false(events.has_leader);
    assert_int_equal(events.attr[0].type, 4);
    assert_int_equal(events.attr[0].config, 0x1cd);
    assert_int_equal(events.attr[0].config1, 3);
    assert_int_equal(events.attr[0].precise_ip, 2);
    assert_int_equal(events.attr[0].sample_period, 1009);
    assert_int_equal(events.attr[1].config, 0x82d0);
    assert_int_equal(events.attr[0].sample_type & ~OMPP_PERF_KNOWN, 0);
    put_file(root, "cpu/events/mem-loads-aux", "event=0x03,umask=0x82\n");
    assert_true(ompp_samples_find(root, 1009, &events));
    assert_true(events.has_leader);
    assert_int_equal(events.leader.config, 0x8203);
    put_file(root, "cpu/events/mem-loads", "event=0xcd,strange=1\n"); /* no such format */
    assert_false(ompp_samples_find(root, 1009, &events));
    remove_root(root);
}

static void events_of_amd(void **state)
{
    ompp_samples_events_t events;
    char root[64];

    (void)state;
    make_root(root);
    assert_false(ompp_samples_find(root, 1009, &events));
    put_file(root, "ibs_op/type", "9\n");
    put_file(root, "ibs_op/format/cnt_ctl", "config:19\n");
    assert_true(ompp_samples_find(root, 1009, &events));
    assert_string_equal(events.kind, "IBS");
    assert_int_equal(events.attr[0].type, 9);
    assert_int_equal(events.attr[0].config, 1 << 19);
    assert_int_equal(events.attr[0].sample_period % 16, 0);
    assert_int_equal(events.attr[0].sample_type & PERF_SAMPLE_RAW, PERF_SAMPLE_RAW);
    remove_root(root);
}

static void judgement(void **state)
{
    const ompp_samples_trial_t ok = {
        .period = 1000, .loads = 1000000, .stores = 1000000, .load_samples = 900, .store_samples = 1100};
    ompp_samples_trial_t trial = ok;
    char why[400];

    (void)state;
    assert_true(ompp_samples_judge(&trial, why, sizeof why));
    trial.store_samples = 0; /* a processor that samples loads alone */
    assert_true(ompp_samples_judge(&trial, why, sizeof why));
    trial.load_samples = 0;
    assert_false(ompp_samples_judge(&trial, why, sizeof why));
    assert_non_null(strstr(why, "untested on this processor"));
    trial = ok;
    trial.load_samples = 3000;
    assert_false(ompp_samples_judge(&trial, why, sizeof why));
    trial = ok;
    trial.store_samples = 3;
    assert_false(ompp_samples_judge(&trial, why, sizeof why));
    trial = ok;
    trial.elsewhere = 5000; /* addresses that cannot be right */
    assert_false(ompp_samples_judge(&trial, why, sizeof why));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_of_intel),
        cmocka_unit_test(levels),
        cmocka_unit_test(all_fields),
        cmocka_unit_test(raw_ibs),
        cmocka_unit_test(ibs_of_newer_kernels),
        cmocka_unit_test(wraps_around),
        cmocka_unit_test(other_records),
        cmocka_unit_test(mapped_memory),
        cmocka_unit_test(losses),
        cmocka_unit_test(truncated_samples),
        cmocka_unit_test(broken_streams),
        cmocka_unit_test(events_of_intel),
        cmocka_unit_test(events_of_amd),
        cmocka_unit_test(judgement),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
