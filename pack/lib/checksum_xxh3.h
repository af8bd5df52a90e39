/* checksum_xxh3.h - the builds of checksum_xxh3.c, for checksum.c alone. baseline is what
 * the compiler may use without further flags (SSE2, NEON or plain C). */
#ifndef TRUNK_CHECKSUM_XXH3_H
#define TRUNK_CHECKSUM_XXH3_H

#include <stddef.h>
#include <stdint.h>

uint64_t checksum_xxh3_baseline(const void *bytes, size_t size);
uint64_t checksum_xxh3_avx2(const void *bytes, size_t size);
uint64_t checksum_xxh3_avx512(const void *bytes, size_t size);

#endif
