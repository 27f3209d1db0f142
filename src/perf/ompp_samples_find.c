/*
 * Events that sample memory accesses, from the descriptions in sysfs: Intel's mem-loads and mem-stores, AMD's ibs_op.
 */
#define _GNU_SOURCE
#include "perf/ompp_samples_priv.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TEXT 256
#define SAMPLE \
    (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC)
#define PRECISE 2 /* the address is that of the instruction sampled */

/* First line of DEVICES/device/file. */
static bool read_line(const char *devices, const char *device, const char *file, char text[MAX_TEXT])
{
    char path[4200];

    snprintf(path, sizeof path, "%s/%s/%s", devices, device, file);
    FILE *in = fopen(path, "re");
    bool got = in && fgets(text, MAX_TEXT, in);
    if (in) fclose(in);
    if (got) text[strcspn(text, "\n")] = '\0';
    return got;
}

/* Value into the bits of a format, "config:0-7" or "config1:0-15"; pieces are separated by commas,
 * "config:0-7,32-35". */
static bool put_bits(struct perf_event_attr *attr, const char *format, uint64_t value)
{
    uint64_t config[3] = {0};
    unsigned word = 0, low, high;
    int used = 0;

    if (strncmp(format, "config", 6) != 0) return false;
    format += 6;
    if (*format == '1' || *format == '2') word = (unsigned)(*format++ - '0');
    if (*format++ != ':') return false;
    for (; sscanf(format, "%u%n", &low, &used) == 1 && low < 64; format += *format == ',') {
        format += used;
        high = low;
        if (*format == '-' && sscanf(format, "-%u%n", &high, &used) == 1) format += used;
        if (high < low || high > 63) return false;
        const uint64_t mask = high - low == 63 ? UINT64_MAX : (1ull << (high - low + 1)) - 1;
        config[word] |= (value & mask) << low;
        value = high - low == 63 ? 0 : value >> (high - low + 1);
        if (*format != ',') break;
    }
    attr->config |= config[0];
    attr->config1 |= config[1];
    attr->config2 |= config[2];
    return *format == '\0';
}

/* "event=0xcd,umask=0x1,ldlat=3" by the formats of the device. */
static bool put_event(const char *devices, const char *device, char *event, struct perf_event_attr *attr)
{
    char name[MAX_TEXT + 16], format[MAX_TEXT];

    for (char *term; (term = strsep(&event, ","));) {
        char *equals = strchr(term, '=');
        if (equals) *equals = '\0';
        snprintf(name, sizeof name, "format/%s", term);
        if (!read_line(devices, device, name, format)) return false;
        if (!put_bits(attr, format, equals ? strtoull(equals + 1, NULL, 0) : 1)) return false;
    }
    return true;
}

static bool put_type(const char *devices, const char *device, struct perf_event_attr *attr)
{
    char text[MAX_TEXT];

    if (!read_line(devices, device, "type", text)) return false;
    attr->type = (uint32_t)strtoul(text, NULL, 10);
    return true;
}

static bool intel_event(const char *devices, const char *device, const char *event, struct perf_event_attr *attr)
{
    char text[MAX_TEXT], name[80];

    snprintf(name, sizeof name, "events/%s", event);
    *attr = (struct perf_event_attr){.exclude_kernel = 1, .exclude_hv = 1};
    return read_line(devices, device, name, text) && put_type(devices, device, attr) &&
           put_event(devices, device, text, attr);
}

static bool find_intel(const char *devices, const char *device, unsigned long period, ompp_samples_events_t *events)
{
    if (!intel_event(devices, device, "mem-loads", &events->attr[0])) return false;
    events->kind = "PEBS";
    events->nevents = 1 + intel_event(devices, device, "mem-stores", &events->attr[1]);
    events->has_leader = intel_event(devices, device, "mem-loads-aux", &events->leader);
    for (unsigned i = 0; i < events->nevents; i++) {
        events->attr[i].sample_period = period;
        events->attr[i].sample_type = SAMPLE;
        events->attr[i].precise_ip = PRECISE;
    }
    return true;
}

/* All operations are sampled; those that are no access have no address. The period is a multiple of 16. */
static bool find_amd(const char *devices, unsigned long period, ompp_samples_events_t *events)
{
    char format[MAX_TEXT];

    events->attr[0] =
        (struct perf_event_attr){.sample_period = period & ~15ul, .sample_type = SAMPLE | PERF_SAMPLE_RAW};
    if (!put_type(devices, "ibs_op", &events->attr[0])) return false;
    /* operations, not cycles */
    if (read_line(devices, "ibs_op", "format/cnt_ctl", format)) put_bits(&events->attr[0], format, 1);
    events->kind = "IBS";
    events->nevents = 1;
    events->has_leader = false;
    return true;
}

bool ompp_samples_find(const char *devices, unsigned long period, ompp_samples_events_t *events)
{
    static const char *const intel[] = {"cpu", "cpu_core"}; /* cpu_core: beside slower ones, which count elsewhere */

    *events = (ompp_samples_events_t){.nevents = 0};
    for (size_t i = 0; i < sizeof intel / sizeof intel[0]; i++)
        if (find_intel(devices, intel[i], period, events)) return true;
    return find_amd(devices, period, events);
}

bool ompp_samples_judge(const ompp_samples_trial_t *t, char *why, size_t n)
{
    const unsigned long loads = t->load_samples * t->period, stores = t->store_samples * t->period;
    const unsigned long all = t->load_samples + t->store_samples + t->elsewhere + t->without_address;

    snprintf(
        why, n,
        "untested on this processor, and its self-check fails: of %lu loads and %lu stores, samples say %lu and %lu; "
        "%lu of %lu samples lie elsewhere, %lu have no address",
        t->loads, t->stores, loads, stores, t->elsewhere, all, t->without_address);
    if (loads < t->loads / 2 || loads > 2 * t->loads) return false;
    if (t->store_samples && (stores < t->stores / 2 || stores > 2 * t->stores)) return false;
    return t->elsewhere <= (t->load_samples + t->store_samples) / 4;
}
