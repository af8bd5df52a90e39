/* checksum_xxh3.c - XXH3 inlined, compiled once per vector width: the build names the
 * function in CHECKSUM_FUNCTION and xxhash.h picks the width from the compiler's flags. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "checksum_xxh3.h"

uint64_t CHECKSUM_FUNCTION(const void *bytes, size_t size)
{
    return XXH3_64bits(bytes, size);
}
