/* plane_bits.h - the encoder of the coder bits (FORMAT.md 9), for planes whose bytes differ in
 * some bits only. The decoder stands in plane_coder.h. Callable on any thread. */
#ifndef TRUNK_PLANE_BITS_H
#define TRUNK_PLANE_BITS_H

#include <stddef.h>
#include <stdint.h>

/* The bits in which the bytes of plane (size of them, at least 1) differ. */
uint8_t plane_bits_mask(const uint8_t *plane, size_t size);

/* Bytes that plane_bits_encode writes. */
size_t plane_bits_size(uint8_t mask, size_t size);

/* mask: as plane_bits_mask gives it, not 0. Returns plane_bits_size. */
size_t plane_bits_encode(uint8_t mask, const uint8_t *plane, size_t size, uint8_t *packed);

#endif
