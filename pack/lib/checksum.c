/* checksum.c - XXH3-64 at the width of the instruction set that isa.h chose. */
#include "checksum.h"

#include "checksum_xxh3.h"
#include "isa.h"

uint64_t checksum_hash(const void *bytes, size_t size)
{
    switch (isa_current()) {
#if defined(__x86_64__)
    case ISA_AVX512:
        return checksum_xxh3_avx512(bytes, size);
    case ISA_AVX2:
        return checksum_xxh3_avx2(bytes, size);
#endif
    default:
        return checksum_xxh3_baseline(bytes, size);
    }
}
