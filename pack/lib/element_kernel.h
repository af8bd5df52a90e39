/* element_kernel.h - loops over elements and planes, compiled for each instruction set.
 *
 * What transform_fp32.c, transform_bf16_joint.c and plane_bits.c describe, done by the
 * compiler's vectors or by hand. All sets give the same bytes. Callable on any thread.
 */
#ifndef TRUNK_ELEMENT_KERNEL_H
#define TRUNK_ELEMENT_KERNEL_H

#include <stddef.h>
#include <stdint.h>

enum {
    ELEMENT_BITS_BLOCK = 64, /* symbols of a block of the coder bits */
    ELEMENT_BITS_ROW = ELEMENT_BITS_BLOCK / 8,
};

struct element_kernel {
    /* As in struct transform. */
    void (*fp32_split)(const uint8_t *raw, size_t count, uint8_t *const planes[]);
    void (*fp32_merge)(const uint8_t *const planes[], size_t count, uint8_t *raw);
    void (*bf16_joint_split)(const uint8_t *raw, size_t count, uint8_t *const planes[]);
    void (*bf16_joint_merge)(const uint8_t *const planes[], size_t count, uint8_t *raw);
    /* block_count blocks of symbols to rows of bits, those of mask, and back; value is what the
     * other bits of each symbol shall be. */
    void (*bits_pack)(uint8_t mask, const uint8_t *symbols, size_t block_count, uint8_t *rows);
    void (*bits_unpack)(uint8_t mask, uint8_t value, const uint8_t *rows, size_t block_count,
                        uint8_t *symbols);
    /* The sum of counts[s] * weights[s]; the caller keeps counts below 2^15 and the sum below
     * 2^31. */
    int32_t (*dot)(const uint16_t counts[256], const int16_t weights[256]);
};

const struct element_kernel *element_kernel_get(void); /* of the set that isa.h chose */

extern const struct element_kernel element_kernel_baseline;
extern const struct element_kernel element_kernel_avx2;
extern const struct element_kernel element_kernel_avx512;

#endif
