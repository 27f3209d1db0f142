/**
 * \file
 * Gives each file named on the command line to the target: what a fuzzer found once stays found, without a fuzzer.
 * --damaged=N: and N damaged copies of it, always the same ones, where the target knows how.
 */
#include "fuzz.h"

#include <string.h>

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed) __attribute__((weak));

static void replay_damaged(const uint8_t *data, size_t size, unsigned n)
{
    uint8_t *copy = malloc(size + 1);

    FUZZ_REQUIRE(copy, "memory for the input");
    for (unsigned i = 1; LLVMFuzzerCustomMutator && i <= n; i++) {
        memcpy(copy, data, size);
        size_t left = size;
        for (unsigned k = 0; k <= i % 3; k++) left = LLVMFuzzerCustomMutator(copy, left, size, 3 * i + k);
        fprintf(stderr, "damaged %u\n", i);
        LLVMFuzzerTestOneInput(copy, left);
    }
    free(copy);
}

static int replay(const char *path, unsigned damaged)
{
    FILE *in = fopen(path, "re");
    uint8_t *data = NULL;
    size_t size = 0, room = 0, n;

    if (!in) return perror(path), 1;
    do {
        if (size == room) {
            room = room ? 2 * room : 65536;
            data = realloc(data, room);
            FUZZ_REQUIRE(data, "memory for the input");
        }
        n = fread(data + size, 1, room - size, in);
        size += n;
    } while (n);
    fclose(in);
    fprintf(stderr, "%s\n", path); /* the last one is the one that crashed */
    LLVMFuzzerTestOneInput(data, size);
    replay_damaged(data, size, damaged);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    unsigned damaged = 0;
    int worst = 0;

    for (int i = 1; i < argc; i++)
        if (sscanf(argv[i], "--damaged=%u", &damaged) != 1) worst |= replay(argv[i], damaged);
    return worst;
}
