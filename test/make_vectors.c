/* make_vectors.c - writes the test vectors, each as NAME.trunk, and their explanation,
 * README.md, into a directory. With a second directory, the originals of the good ones
 * as NAME there. A test compares the result with test/vectors byte for byte.
 *
 * usage: make_vectors DIRECTORY [ORIGINALS]
 */
#include <err.h>
#include <errno.h>
#include <stdio.h>

#include "vectors.h"

static FILE *create(const char *directory, const char *name, const char *suffix)
{
    char path[4096];
    if (snprintf(path, sizeof(path), "%s/%s%s", directory, name, suffix) >= (int)sizeof(path))
        errx(2, "%s: path too long", directory);
    FILE *file = fopen(path, "wb");
    if (!file)
        err(1, "%s", path);
    return file;
}

static void finish(FILE *file, const char *name)
{
    if (ferror(file) || fclose(file) != 0)
        err(1, "%s", name);
}

static void write_bytes(const char *directory, const char *name, const char *suffix,
                        const uint8_t *bytes, size_t size)
{
    FILE *file = create(directory, name, suffix);
    if (size > 0)
        fwrite(bytes, 1, size, file);
    finish(file, name);
}

static const char *verdict(const struct vector *vector)
{
    switch (vector->error) {
    case 0:
        return "accept";
    case -EOPNOTSUPP:
        return "refuse: unsupported";
    case -EFBIG:
        return "refuse: over a limit";
    default:
        return "refuse: corrupt";
    }
}

static void explain(const char *directory)
{
    FILE *readme = create(directory, "README", ".md");
    fputs("# Test vectors\n\n"
          "Written by `test/make_vectors.c`, which a test runs again and compares byte for byte:\n"
          "do not edit. Every reader of the format must give each the verdict of its row; the\n"
          "check is the one that `enum fault_check` names, and every check has a row.\n\n"
          "| file | what it is | a reader must | check |\n| --- | --- | --- | --- |\n",
          readme);
    for (size_t i = 0; i < vectors_count(); i++) {
        const struct vector *vector = vectors_get(i);
        fprintf(readme, "| %s | %s | %s | %s |\n", vector->name, vector->about, verdict(vector),
                vector->error ? fault_text(vector->check) : "");
    }
    finish(readme, "README.md");
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 3)
        errx(2, "usage: make_vectors DIRECTORY [ORIGINALS]");
    for (size_t i = 0; i < vectors_count(); i++) {
        const struct vector *vector = vectors_get(i);
        struct vector_file file;
        vectors_build(vector, &file);
        write_bytes(argv[1], vector->name, ".trunk", file.packed.bytes, file.packed.size);
        if (argc == 3 && vector->error == 0)
            write_bytes(argv[2], vector->name, "", file.raw, file.raw_size);
        vectors_free(&file);
    }
    explain(argv[1]);
    return 0;
}
