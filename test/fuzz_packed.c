/* fuzz_packed.c - any bytes as a whole packed file, as they are and sealed again, so that
 * what lies behind the checksums is reached: refused, or the bytes that SHA-256 promises.
 */
#include <stdlib.h>

#include "bytes.h"
#include "packed.h"

enum { AT_RAW_SIZE = 40, RAW_SIZE_MAX = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_one(const uint8_t *data, size_t size)
{
    struct fault fault = {FAULT_NONE, 0};
    /* More would test the allocator. */
    if (size >= TRUNK_SUPERBLOCK_SIZE && get_le64(data + AT_RAW_SIZE) > RAW_SIZE_MAX)
        return;
    int r = packed_read(data, size, NULL, NULL, &fault);
    if ((r == 0) != (fault.check == FAULT_NONE))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_one(data, size);
    uint8_t *sealed = malloc(size + 1);
    if (!sealed)
        abort();
    memcpy(sealed, data, size);
    packed_seal(sealed, size);
    read_one(sealed, size);
    free(sealed);
    return 0;
}
