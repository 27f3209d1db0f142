/* The compact form: what goes in comes out; whatever else comes in is refused without harm (run it under
 * sanitizers). */
#include "profile_tools.h"

#include "base/ompp_error.h"
#include "model/ompp_merge.h"
#include "model/ompp_pack.h"
#include "model/ompp_record.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static ompp_profile_t *sample(uint64_t seed)
{
    ompp_profile_t *p = tools_rank_profile(seed, 0), *q = tools_rank_profile(seed, 1),
                   *rest = tools_rank_profile(seed, 2);

    assert_int_equal(ompp_profile_fold_rest(rest), 0);
    assert_int_equal(ompp_profile_merge(p, q), 0);
    assert_int_equal(ompp_profile_merge(p, rest), 0);
    ompp_profile_free(q);
    ompp_profile_free(rest);
    return p;
}

static void round_trip(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        ompp_profile_t *p = sample(seed), *q;
        void *data, *again;
        uint64_t bytes, bytes_again;
        p->nodes[1].first_ns = UINT64_MAX;
        p->regions[0].number = 3;
        assert_int_equal(ompp_pack(p, &data, &bytes), 0);
        assert_int_equal(ompp_unpack(data, bytes, &q), 0);
        tools_assert_equal(p, q);
        assert_int_equal(ompp_pack(q, &again, &bytes_again), 0);
        assert_int_equal(bytes, bytes_again);
        assert_memory_equal(data, again, bytes);
        free(data);
        free(again);
        ompp_profile_free(p);
        ompp_profile_free(q);
    }
}

/* Unpacks a copy of exactly this length, so that a sanitizer sees every byte read beyond it. */
static int unpack_copy(const unsigned char *data, uint64_t bytes)
{
    unsigned char *copy = malloc(bytes ? bytes : 1);
    ompp_profile_t *p;

    memcpy(copy, data, bytes);
    int rc = ompp_unpack(copy, bytes, &p);
    assert_true((rc == 0) == (p != NULL));
    if (p) tools_assert_valid(p);
    ompp_profile_free(p);
    free(copy);
    return rc;
}

/* The checksum made right again (FNV-1a, low byte first), so that what is behind it gets tested. */
static void seal(unsigned char *data, uint64_t bytes)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (uint64_t i = 0; i + 8 < bytes; i++) h = (h ^ data[i]) * 0x100000001b3u;
    for (unsigned i = 0; i < 8; i++) data[bytes - 8 + i] = (unsigned char)(h >> (8 * i));
}

/* Two threads on one rank and a few nodes: small, so that each of its bytes can be tried. */
static void small_pack(unsigned char **data, uint64_t *bytes)
{
    ompp_profile_t *p = tools_rank_profile(4, 0);

    for (size_t i = 4; i < p->nnodes; i++) {
        for (uint32_t k = 0; k < p->nodes[i].nblocks; k++) free(p->nodes[i].blocks[k].values);
        free(p->nodes[i].blocks);
    }
    p->nnodes = 4;
    assert_int_equal(ompp_profile_fold_rest(p), 0);
    ompp_profile_t *q = tools_rank_profile(4, 1);
    for (size_t i = 4; i < q->nnodes; i++) {
        for (uint32_t k = 0; k < q->nodes[i].nblocks; k++) free(q->nodes[i].blocks[k].values);
        free(q->nodes[i].blocks);
    }
    q->nnodes = 4;
    assert_int_equal(ompp_profile_merge(p, q), 0);
    assert_int_equal(ompp_pack(p, (void **)data, bytes), 0);
    ompp_profile_free(p);
    ompp_profile_free(q);
}

static void truncated(void **state)
{
    unsigned char *data, *cut;
    uint64_t bytes;

    (void)state;
    small_pack(&data, &bytes);
    cut = malloc(bytes);
    for (uint64_t n = 0; n < bytes; n++) {
        assert_int_equal(unpack_copy(data, n), -OMPP_E_FORMAT);
        if (n < 16) continue;
        memcpy(cut, data, n); /* once more with a right checksum: the reader itself must notice */
        seal(cut, n);
        assert_int_not_equal(unpack_copy(cut, n), 0);
    }
    free(cut);
    free(data);
}

static void flipped_bits(void **state)
{
    unsigned char *data;
    uint64_t bytes;

    (void)state;
    small_pack(&data, &bytes);
    for (uint64_t i = 0; i < bytes; i++) {
        data[i] ^= 1u << (i % 8);
        assert_int_equal(unpack_copy(data, bytes), -OMPP_E_FORMAT);
        data[i] ^= 1u << (i % 8);
    }
    free(data);
}

/* With a right checksum: most are refused, some are another valid profile; none does harm. */
static void flipped_and_sealed(void **state)
{
    unsigned char *data, *bad;
    uint64_t bytes;
    random_t r = {12345};

    (void)state;
    small_pack(&data, &bytes);
    bad = malloc(bytes);
    for (uint64_t i = 0; i < 8 * bytes; i++) {
        memcpy(bad, data, bytes);
        bad[i / 8] ^= 1u << (i % 8);
        for (unsigned more = random_below(&r, 3); more > 0; more--)
            bad[random_below(&r, bytes)] = (unsigned char)random_next(&r);
        seal(bad, bytes);
        unpack_copy(bad, bytes);
    }
    free(bad);
    free(data);
}

static void rubbish(void **state)
{
    unsigned char data[512];
    random_t r = {99};

    (void)state;
    for (unsigned round = 0; round < 2000; round++) {
        uint64_t n = random_below(&r, sizeof data);
        for (uint64_t i = 0; i < n; i++) data[i] = (unsigned char)random_next(&r);
        assert_int_equal(unpack_copy(data, n), -OMPP_E_FORMAT);
    }
}

static void other_version(void **state)
{
    unsigned char *data;
    uint64_t bytes;

    (void)state;
    small_pack(&data, &bytes);
    data[8]++;
    seal(data, bytes);
    assert_int_equal(unpack_copy(data, bytes), -OMPP_E_VERSION);
    data[8]--;
    data[9]++; /* other tables */
    seal(data, bytes);
    assert_int_equal(unpack_copy(data, bytes), -OMPP_E_VERSION);
    free(data);
}

/*
 * A file that announces very many strings: refused within the little memory the child may have. The sanitizer needs
 * addresses of its own, so under it only the refusal is tested.
 */
static void hostile_count(void **state)
{
    unsigned char *data;
    uint64_t bytes;
    const unsigned char huge[] = {0xff, 0xff, 0xff, 0xff, 0x0f};

    (void)state;
    small_pack(&data, &bytes);
    for (uint64_t at = 17; at + 20 < bytes; at++) {
        unsigned char *bad = malloc(bytes);
        memcpy(bad, data, bytes);
        memcpy(bad + at, huge, sizeof huge);
        seal(bad, bytes);
        pid_t pid = fork();
        if (pid == 0) {
#ifndef __SANITIZE_ADDRESS__
            struct rlimit limit = {256u << 20, 256u << 20};
            setrlimit(RLIMIT_AS, &limit);
#endif
            ompp_profile_t *p;
            _exit(ompp_unpack(bad, bytes, &p) == -OMPP_E_NOMEM);
        }
        int status;
        waitpid(pid, &status, 0);
        assert_int_equal(status, 0);
        free(bad);
        if (at > 200) at += 40;
    }
    free(data);
}

/* Each member of a record has a row in ompp_record.def: between the rows there is only padding. */
static void assert_complete(const ompp_record_t *record)
{
    char *covered = calloc(1, record->bytes);

    for (const ompp_field_t *f = record->fields; f->type; f++) memset(covered + f->offset, 1, f->bytes);
    for (size_t i = 0, gap; i < record->bytes; i += gap + 1) {
        for (gap = 0; i + gap < record->bytes && !covered[i + gap];) gap++;
        if (gap >= 8 || (gap && (i + gap) % 8))
            fail_msg("<%s>: bytes %zu to %zu are no field", record->element, i, i + gap);
    }
    free(covered);
}

static void no_member_forgotten(void **state)
{
    (void)state;
    for (size_t i = 0; i < OMPP_RECORD_LISTS; i++) assert_complete(ompp_record_lists[i]);
    assert_complete(&ompp_record_spread);
    assert_complete(&ompp_record_whatif_block);
}

static void files(void **state)
{
    char dir[] = "test_pack.XXXXXX", path[64];
    ompp_profile_t *p = sample(7), *q;
    struct stat what;

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/a.ompp.bin", dir);
    assert_int_equal(ompp_pack_write_file(path, p, true), 0);
    assert_int_equal(ompp_pack_read_file(path, &q), 0);
    tools_assert_equal(p, q);
    ompp_profile_free(q);
    assert_int_equal(truncate(path, 100), 0);
    assert_int_equal(ompp_pack_read_file(path, &q), -OMPP_E_FORMAT);
    assert_null(q);
    unlink(path);
    assert_int_equal(ompp_pack_read_file(path, &q), -OMPP_E_OPEN);
    assert_int_equal(ompp_pack_write_file("/nonexistent/a", p, true), -OMPP_E_OPEN);
    assert_int_equal(ompp_pack_write_file("/dev/full", p, true), -OMPP_E_IO);
    assert_int_equal(stat("/dev/full", &what), 0);

    pid_t pid = fork();
    if (pid == 0) { /* SIGXFSZ would kill it */
        struct rlimit limit = {1000, 1000};
        setrlimit(RLIMIT_FSIZE, &limit);
        _exit(ompp_pack_write_file(path, p, true) != -OMPP_E_IO || stat(path, &what) == 0);
    }
    int status;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    rmdir(dir);
    ompp_profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),         cmocka_unit_test(truncated), cmocka_unit_test(flipped_bits),
        cmocka_unit_test(flipped_and_sealed), cmocka_unit_test(rubbish),   cmocka_unit_test(other_version),
        cmocka_unit_test(hostile_count),      cmocka_unit_test(files),     cmocka_unit_test(no_member_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
