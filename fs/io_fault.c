#include "io_fault.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum fault_kind { KIND_SHORT, KIND_AGAIN, KIND_INTR, KIND_EIO, KIND_FLIP, KIND_COUNT };

static const char *const kind_names[KIND_COUNT] = {"short", "again", "intr", "eio", "flip"};

struct io_fault {
    unsigned long every[KIND_COUNT]; /* 0: never */
};

/* One count for all workers, so that a test with few reads meets every kind. */
static atomic_ulong try_count;

static int parse_one(struct io_fault *fault, const char *text)
{
    for (unsigned i = 0; i < KIND_COUNT; i++) {
        size_t length = strlen(kind_names[i]);
        char *end;
        if (strncmp(text, kind_names[i], length) || text[length] != '/')
            continue;
        fault->every[i] = strtoul(text + length + 1, &end, 10);
        return *end == '\0' && fault->every[i] ? 0 : -EINVAL;
    }
    return -EINVAL;
}

int io_fault_new(const char *text, struct io_fault **ret)
{
    struct io_fault *fault = calloc(1, sizeof(*fault));
    char *copy = strdup(text);
    char *rest = NULL;
    int r = fault && copy ? 0 : -ENOMEM;

    if (r == 0) {
        for (char *one = strtok_r(copy, ":", &rest); one && r == 0;
             one = strtok_r(NULL, ":", &rest))
            r = parse_one(fault, one);
    }
    free(copy);
    if (r < 0) {
        free(fault);
        return r;
    }
    *ret = fault;
    return 0;
}

void io_fault_free(struct io_fault *fault)
{
    free(fault);
}

int io_fault_apply(struct io_fault *fault, int result, uint8_t *bytes)
{
    unsigned long count = atomic_fetch_add(&try_count, 1) + 1;

    for (unsigned i = 0; i < KIND_COUNT; i++) {
        if (!fault->every[i] || count % fault->every[i])
            continue;
        switch ((enum fault_kind)i) {
        case KIND_SHORT:
            return result > 1 ? result / 2 : result;
        case KIND_AGAIN:
            return -EAGAIN;
        case KIND_INTR:
            return -EINTR;
        case KIND_EIO:
            return -EIO;
        case KIND_FLIP:
            if (result > 0)
                bytes[count * 7919 % (unsigned)result] ^= 1;
            return result;
        case KIND_COUNT:
            break;
        }
    }
    return result;
}
