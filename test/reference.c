#include "reference.h"

#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MISMATCHES_PRINTED = 20 };

static _Atomic uint64_t read_count;
static _Atomic uint64_t byte_count;
static _Atomic uint64_t mismatch_count;

void reference_open(struct reference *ref, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        err(2, "%s", path);
    ref->size = (uint64_t)st.st_size;
    ref->bytes = NULL;
    if (ref->size > 0) {
        void *map = mmap(NULL, ref->size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map == MAP_FAILED)
            err(2, "mmap %s", path);
        ref->bytes = map;
    }
    close(fd);
}

static uint64_t expected_count(const struct reference *ref, uint64_t offset, uint64_t length)
{
    if (offset >= ref->size)
        return 0;
    return length < ref->size - offset ? length : ref->size - offset;
}

void reference_check(const struct reference *ref, const char *method, const void *got,
                     ssize_t count, uint64_t offset, uint64_t length)
{
    uint64_t expected = expected_count(ref, offset, length);
    const char *problem = NULL;
    if (count < 0)
        problem = strerror((int)-count);
    else if ((uint64_t)count != expected)
        problem = (uint64_t)count < expected ? "short" : "beyond the end";
    else if (expected > 0 && memcmp(got, ref->bytes + offset, expected) != 0)
        problem = "wrong bytes";
    read_count++;
    byte_count += expected;
    if (problem && mismatch_count++ < MISMATCHES_PRINTED)
        fprintf(stderr,
                "%s at %" PRIu64 ", %" PRIu64 " bytes: %s (got %zd, expected %" PRIu64 ")\n",
                method, offset, length, problem, count, expected);
}

int reference_report(const char *program)
{
    printf("%s: %" PRIu64 " reads, %" PRIu64 " bytes, %" PRIu64 " mismatches\n", program,
           read_count, byte_count, mismatch_count);
    return mismatch_count == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

uint64_t random_next(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}

uint64_t random_below(uint64_t *state, uint64_t limit)
{
    return random_next(state) % limit;
}
