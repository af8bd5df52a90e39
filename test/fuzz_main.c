/* fuzz_main.c - a plain main for the fuzz targets: replays files, and directories of files,
 * and with them a number of mutations drawn from a fixed seed, so that the corpus is a test
 * on machines without libFuzzer. Prints TAP.
 *
 * usage: fuzz_TARGET [-m MUTATIONS_PER_FILE] FILE|DIRECTORY...
 */
#include <dirent.h>
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 8 << 20 };

static unsigned long mutations, inputs, files;
static uint64_t state = UINT64_C(0x9e3779b97f4a7c15);

static uint64_t draw(uint64_t limit)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * UINT64_C(0x2545f4914f6cdd1d) % limit;
}

/* The input in memory of exactly its size, so that a sanitiser sees reads beyond it. */
static void run(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    if (!copy)
        errx(2, "out of memory");
    memcpy(copy, bytes, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    inputs++;
}

static size_t mutate(uint8_t *bytes, size_t size)
{
    static const uint8_t odd[] = {0, 1, 0x7f, 0x80, 0xff};
    for (uint64_t changes = 1 + draw(4); changes > 0 && size > 0; changes--) {
        size_t at = (size_t)draw(size);
        switch (draw(4)) {
        case 0:
            bytes[at] ^= (uint8_t)(1 << draw(8));
            break;
        case 1:
            bytes[at] = odd[draw(sizeof(odd))];
            break;
        case 2:
            bytes[at] = bytes[draw(size)];
            break;
        default:
            size -= (size_t)draw(size < 16 ? size : 16);
        }
    }
    return size;
}

static void replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = malloc(INPUT_MAX), *changed = malloc(INPUT_MAX);
    if (!file || !bytes || !changed)
        err(2, "%s", path);
    size_t size = fread(bytes, 1, INPUT_MAX, file);
    fclose(file);
    run(bytes, size);
    for (unsigned long i = 0; i < mutations; i++) {
        memcpy(changed, bytes, size);
        run(changed, mutate(changed, size));
    }
    free(bytes);
    free(changed);
    files++;
}

static void replay_directory(const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0)
        err(2, "%s", path);
    for (int i = 0; i < count; i++) {
        char name[4096];
        struct stat st;
        snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name);
        if (stat(name, &st) == 0 && S_ISREG(st.st_mode))
            replay_file(name);
        free(entries[i]);
    }
    free(entries);
}

int main(int argc, char **argv)
{
    int option;
    while ((option = getopt(argc, argv, "m:")) != -1) {
        if (option != 'm')
            return 2;
        mutations = strtoul(optarg, NULL, 10);
    }
    for (int i = optind; i < argc; i++) {
        struct stat st;
        if (stat(argv[i], &st) < 0)
            err(2, "%s", argv[i]);
        if (S_ISDIR(st.st_mode))
            replay_directory(argv[i]);
        else
            replay_file(argv[i]);
    }
    printf("ok 1 - %lu files, %lu inputs\n1..1\n", files, inputs);
    return files > 0 ? 0 : 1;
}
