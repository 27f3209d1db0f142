/**
 * \file
 * Samples as the kernel leaves them: a ring of any bytes, read from any place. First 16 bytes: fields of the samples,
 * and where the ring's tail is. Reading ends, and never leaves the ring.
 */
#include "fuzz.h"

#include "perf/ompp_perf_record.h"

#include <linux/perf_event.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t head[2], room = 64;
    ompp_perf_record_t record;

    if (size < sizeof head) return 0;
    memcpy(head, data, sizeof head);
    size -= sizeof head;
    while (room < size) room *= 2;
    unsigned char *bytes = calloc(1, room);
    FUZZ_REQUIRE(bytes, "memory for the ring");
    const uint64_t begin = head[1] & (room - 1);
    for (size_t i = 0; i < size; i++) bytes[(begin + i) & (room - 1)] = data[sizeof head + i];
    ompp_perf_ring_t ring = {
        .data = bytes, .size = room, .tail = begin, .head = begin + size, .sample_type = head[0] & OMPP_PERF_KNOWN};
    for (size_t n = 0; ompp_perf_next(&ring, &record) != OMPP_PERF_END; n++) {
        FUZZ_REQUIRE(n <= size, "an end");
        FUZZ_REQUIRE(ring.tail <= ring.head, "nothing is read behind the head");
    }
    free(bytes);
    return 0;
}
