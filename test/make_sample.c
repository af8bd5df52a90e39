/* make_sample.c - deterministic bytes to standard output, for the shell tests.
 *
 * usage: make_sample bf16|f32|text|random|zero SIZE [SEED]
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample.h"

int main(int argc, char **argv)
{
    if (argc < 3)
        errx(2, "usage: make_sample bf16|f32|text|random|zero SIZE [SEED]");
    int kind = 0;
    while (kind < SAMPLE_KINDS_ && strcmp(argv[1], sample_names[kind]) != 0)
        kind++;
    if (kind == SAMPLE_KINDS_)
        errx(2, "unknown kind %s", argv[1]);
    size_t size = strtoull(argv[2], NULL, 10);
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    uint8_t *bytes = sample_new((enum sample_kind)kind, seed, size);
    if (fwrite(bytes, 1, size, stdout) != size || fflush(stdout) != 0)
        err(1, "standard output");
    free(bytes);
    return 0;
}
