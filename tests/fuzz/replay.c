/**
 * \file
 * Gives each file named on the command line to the target: what a fuzzer found once stays found, without a fuzzer.
 */
#include "fuzz.h"

static int replay(const char *path)
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
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    int worst = 0;

    for (int i = 1; i < argc; i++) worst |= replay(argv[i]);
    return worst;
}
