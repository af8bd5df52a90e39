/* element_loops.c - the loops of element_kernel.h, compiled once for each instruction set, with
 * ELEMENT_KERNEL as the name of the result. Bytes are stored one by one: compilers make
 * interleaving stores of whole vectors of that. */
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "bytes.h"
#include "element_kernel.h"

static void fp32_split(const uint8_t *restrict raw, size_t count, uint8_t *const planes[])
{
    uint8_t *restrict exponent = planes[0], *restrict rest = planes[1];
    uint8_t *restrict middle = planes[2], *restrict low = planes[3];

    for (size_t i = 0; i < count; i++) {
        uint8_t b = raw[4 * i + 2], a = raw[4 * i + 3];
        exponent[i] = (uint8_t)(a << 1 | b >> 7);
        rest[i] = (uint8_t)(b << 1 | a >> 7);
        middle[i] = raw[4 * i + 1];
        low[i] = raw[4 * i];
    }
}

static void fp32_merge(const uint8_t *const planes[], size_t count, uint8_t *restrict raw)
{
    const uint8_t *exponent = planes[0], *rest = planes[1];
    const uint8_t *middle = planes[2], *low = planes[3];

    for (size_t i = 0; i < count; i++) {
        raw[4 * i] = low[i];
        raw[4 * i + 1] = middle[i];
        raw[4 * i + 2] = (uint8_t)(rest[i] >> 1 | exponent[i] << 7);
        raw[4 * i + 3] = (uint8_t)(exponent[i] >> 1 | rest[i] << 7);
    }
}

static void bf16_joint_split(const uint8_t *restrict raw, size_t count, uint8_t *const planes[])
{
    uint8_t *restrict top = planes[0], *restrict joint = planes[1], *restrict rest = planes[2];

    for (size_t i = 0; i < count; i++) {
        uint8_t low = raw[2 * i], high = raw[2 * i + 1];
        top[i] = high >> 5 & 3;
        joint[i] = (uint8_t)(high << 3 | low >> 5);
        rest[i] = (uint8_t)((low << 1 & 63) | high >> 7);
    }
}

static void bf16_joint_merge(const uint8_t *const planes[], size_t count, uint8_t *restrict raw)
{
    const uint8_t *top = planes[0], *joint = planes[1], *rest = planes[2];

    for (size_t i = 0; i < count; i++) {
        raw[2 * i] = (uint8_t)(joint[i] << 5 | (rest[i] >> 1 & 31));
        raw[2 * i + 1] = (uint8_t)(rest[i] << 7 | (top[i] & 3) << 5 | joint[i] >> 3);
    }
}

/* The rows of a block are the bits of mask, lowest first. Their numbers, as bytes or vectors, are
 * copied to locals: what is stored through a pointer to bytes cannot change those. */
static unsigned list_bits(uint8_t mask, uint8_t bits[8])
{
    unsigned count = 0;
    for (uint8_t bit = 0; bit < 8; bit++)
        if (mask >> bit & 1)
            bits[count++] = bit;
    return count;
}

#if defined(__AVX512BW__)

static void bits_pack(uint8_t mask, const uint8_t *symbols, size_t block_count, uint8_t *rows)
{
    uint8_t bits[8];
    __m512i bit[8];
    unsigned bit_count = list_bits(mask, bits);

    for (unsigned r = 0; r < bit_count; r++)
        bit[r] = _mm512_set1_epi8((char)(1 << bits[r]));
    for (; block_count > 0; block_count--, symbols += ELEMENT_BITS_BLOCK) {
        __m512i block = _mm512_loadu_si512(symbols);
        for (unsigned r = 0; r < bit_count; r++, rows += ELEMENT_BITS_ROW)
            put_le64(rows, _mm512_test_epi8_mask(block, bit[r]));
    }
}

static void bits_unpack(uint8_t mask, uint8_t value, const uint8_t *rows, size_t block_count,
                        uint8_t *symbols)
{
    uint8_t bits[8];
    __m512i bit[8];
    unsigned bit_count = list_bits(mask, bits);

    for (unsigned r = 0; r < bit_count; r++)
        bit[r] = _mm512_set1_epi8((char)(1 << bits[r]));
    for (; block_count > 0; block_count--, symbols += ELEMENT_BITS_BLOCK) {
        __m512i block = _mm512_set1_epi8((char)value);
        for (unsigned r = 0; r < bit_count; r++, rows += ELEMENT_BITS_ROW)
            block = _mm512_mask_add_epi8(block, get_le64(rows), block, bit[r]);
        _mm512_storeu_si512(symbols, block);
    }
}

#elif defined(__AVX2__)

static void bits_pack(uint8_t mask, const uint8_t *symbols, size_t block_count, uint8_t *rows)
{
    uint8_t bits[8];
    unsigned bit_count = list_bits(mask, bits);

    for (; block_count > 0; block_count--, symbols += ELEMENT_BITS_BLOCK) {
        __m256i low = _mm256_loadu_si256((const void *)symbols);
        __m256i high = _mm256_loadu_si256((const void *)(symbols + 32));
        for (unsigned r = 0; r < bit_count; r++, rows += ELEMENT_BITS_ROW) {
            __m128i to_sign = _mm_cvtsi32_si128(7 - bits[r]);
            put_le32(rows, (uint32_t)_mm256_movemask_epi8(_mm256_sll_epi16(low, to_sign)));
            put_le32(rows + 4, (uint32_t)_mm256_movemask_epi8(_mm256_sll_epi16(high, to_sign)));
        }
    }
}

/* bit where the bits of row are set, in the order of the bytes. */
static inline __m256i spread(uint32_t row, __m256i bit)
{
    const __m256i order =
        _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i select = _mm256_set1_epi64x((long long)UINT64_C(0x8040201008040201));
    __m256i set = _mm256_shuffle_epi8(_mm256_set1_epi32((int)row), order);

    return _mm256_and_si256(_mm256_cmpeq_epi8(_mm256_and_si256(set, select), select), bit);
}

static void bits_unpack(uint8_t mask, uint8_t value, const uint8_t *rows, size_t block_count,
                        uint8_t *symbols)
{
    uint8_t bits[8];
    __m256i bit[8];
    unsigned bit_count = list_bits(mask, bits);

    for (unsigned r = 0; r < bit_count; r++)
        bit[r] = _mm256_set1_epi8((char)(1 << bits[r]));
    for (; block_count > 0; block_count--, symbols += ELEMENT_BITS_BLOCK) {
        __m256i low = _mm256_set1_epi8((char)value), high = low;
        for (unsigned r = 0; r < bit_count; r++, rows += ELEMENT_BITS_ROW) {
            low = _mm256_or_si256(low, spread(get_le32(rows), bit[r]));
            high = _mm256_or_si256(high, spread(get_le32(rows + 4), bit[r]));
        }
        _mm256_storeu_si256((void *)symbols, low);
        _mm256_storeu_si256((void *)(symbols + 32), high);
    }
}

#else

/* Turn an 8 x 8 matrix whose row r is byte r and whose column c is bit c. */
static inline uint64_t transpose(uint64_t x)
{
    uint64_t t = (x ^ x >> 7) & UINT64_C(0x00aa00aa00aa00aa);
    x ^= t ^ t << 7;
    t = (x ^ x >> 14) & UINT64_C(0x0000cccc0000cccc);
    x ^= t ^ t << 14;
    t = (x ^ x >> 28) & UINT64_C(0x00000000f0f0f0f0);
    return x ^ t ^ t << 28;
}

static void bits_pack(uint8_t mask, const uint8_t *symbols, size_t block_count, uint8_t *rows)
{
    uint8_t bits[8];
    unsigned bit_count = list_bits(mask, bits);

    for (; block_count > 0; block_count--, rows += ELEMENT_BITS_ROW * bit_count)
        for (unsigned i = 0; i < ELEMENT_BITS_ROW; i++, symbols += 8) {
            uint64_t turned = transpose(get_le64(symbols));
            for (unsigned r = 0; r < bit_count; r++)
                rows[ELEMENT_BITS_ROW * r + i] = (uint8_t)(turned >> 8 * bits[r]);
        }
}

static void bits_unpack(uint8_t mask, uint8_t value, const uint8_t *rows, size_t block_count,
                        uint8_t *symbols)
{
    uint8_t bits[8];
    unsigned bit_count = list_bits(mask, bits);

    for (; block_count > 0; block_count--, rows += ELEMENT_BITS_ROW * bit_count)
        for (unsigned i = 0; i < ELEMENT_BITS_ROW; i++, symbols += 8) {
            uint64_t turned = 0;
            for (unsigned r = 0; r < bit_count; r++)
                turned |= (uint64_t)rows[ELEMENT_BITS_ROW * r + i] << 8 * bits[r];
            put_le64(symbols, transpose(turned) | value * UINT64_C(0x0101010101010101));
        }
}

#endif

static int32_t dot(const uint16_t counts[256], const int16_t weights[256])
{
    int32_t sum = 0;
    for (unsigned s = 0; s < 256; s++)
        sum += (int16_t)counts[s] * weights[s];
    return sum;
}

const struct element_kernel ELEMENT_KERNEL = {
    .fp32_split = fp32_split,
    .fp32_merge = fp32_merge,
    .bf16_joint_split = bf16_joint_split,
    .bf16_joint_merge = bf16_joint_merge,
    .bits_pack = bits_pack,
    .bits_unpack = bits_unpack,
    .dot = dot,
};
