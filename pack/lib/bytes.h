/* bytes.h - integers as the format stores them, and range checks.
 *
 * Every integer that comes from or goes to a file passes through here; a buffer
 * is never cast to a struct. No alignment is required. Callable on any thread.
 */
#ifndef TRUNK_BYTES_H
#define TRUNK_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t bytes_get_le(const uint8_t *p, unsigned width)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < width; i++)
        value |= (uint64_t)p[i] << (8 * i);
    return value;
}

static inline void bytes_put_le(uint8_t *p, unsigned width, uint64_t value)
{
    for (unsigned i = 0; i < width; i++)
        p[i] = (uint8_t)(value >> (8 * i));
}

/* By memcpy, which becomes one load: compilers do not merge the loop above. */
static inline uint16_t get_le16(const uint8_t *p)
{
    uint16_t value;
    memcpy(&value, p, sizeof(value));
    return le16toh(value);
}

static inline uint32_t get_le32(const uint8_t *p)
{
    uint32_t value;
    memcpy(&value, p, sizeof(value));
    return le32toh(value);
}

static inline uint64_t get_le64(const uint8_t *p)
{
    uint64_t value;
    memcpy(&value, p, sizeof(value));
    return le64toh(value);
}

static inline uint32_t get_le24(const uint8_t *p)
{
    return (uint32_t)get_le16(p) | (uint32_t)p[2] << 16;
}

static inline uint64_t get_le48(const uint8_t *p)
{
    return (uint64_t)get_le32(p) | (uint64_t)get_le16(p + 4) << 32;
}

static inline void put_le16(uint8_t *p, uint16_t v)
{
    v = htole16(v);
    memcpy(p, &v, sizeof(v));
}

static inline void put_le32(uint8_t *p, uint32_t v)
{
    v = htole32(v);
    memcpy(p, &v, sizeof(v));
}

static inline void put_le64(uint8_t *p, uint64_t v)
{
    v = htole64(v);
    memcpy(p, &v, sizeof(v));
}

static inline void put_le24(uint8_t *p, uint32_t v)
{
    bytes_put_le(p, 3, v);
}

static inline void put_le48(uint8_t *p, uint64_t v)
{
    bytes_put_le(p, 6, v);
}

/* Does [offset, offset + length) lie within [0, size)? Safe for any values. */
static inline bool range_within(uint64_t offset, uint64_t length, uint64_t size)
{
    return offset <= size && length <= size - offset;
}

/* value rounded up to a multiple of alignment, a power of two. The caller keeps
 * value below 2^63; every value from a file has been limited before. */
static inline uint64_t align_up(uint64_t value, uint64_t alignment)
{
    return (value + alignment - 1) & ~(alignment - 1);
}

#endif
