/* entropy.h - order-0 entropies of the planes of 16-bit elements: the floor of what a coder
 * without context can do. Memory only; one thread at a time uses a struct.
 */
#ifndef PACK_ENTROPY_H
#define PACK_ENTROPY_H

#include <stddef.h>
#include <stdint.h>

/* Counts of what was seen. Zeroed by its owner before use. 0.5 MiB: not for the stack. */
struct entropy {
    uint64_t elements;
    uint32_t pair[1 << 16]; /* of each 16-bit element, little-endian */
};

/* In bits a symbol. */
struct entropy_planes {
    double high_byte;     /* sign and 7 bits of the exponent of a bf16 */
    double low_byte;      /* 1 bit of the exponent, and the mantissa */
    double exponent;      /* all 8 bits */
    double sign_mantissa; /* the other 8 */
    double joint;         /* of 16: nothing that codes elements one by one gets below it */
};

/* Count the whole elements that begin phase bytes (0 or 1) into bytes. */
void entropy_add(struct entropy *entropy, const uint8_t *bytes, size_t size, unsigned phase);

void entropy_get(const struct entropy *entropy, struct entropy_planes *ret);

#endif
