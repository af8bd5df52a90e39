/* checksum.h - XXH3-64, the checksum of the format (FORMAT.md), at the width of the
 * instruction set that isa.h chose. The only user of xxhash.h. Callable on any thread. */
#ifndef TRUNK_CHECKSUM_H
#define TRUNK_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

uint64_t checksum_hash(const void *bytes, size_t size);

#endif
