#include "vectors.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "frame_format.h"

const struct packed_options vectors_options = {VECTOR_FRAME, VECTOR_BLOCK, FRAME_CODEC_AUTO};

static const struct {
    const struct vector *vectors;
    const size_t *count;
} groups[] = {
    {vectors_good, &vectors_good_count},
    {vectors_bad_container, &vectors_bad_container_count},
    {vectors_bad_frame, &vectors_bad_frame_count},
    {vectors_rans, &vectors_rans_count},
    {vectors_wide, &vectors_wide_count},
};
enum { GROUPS = sizeof(groups) / sizeof(groups[0]) };

size_t vectors_count(void)
{
    size_t count = 0;
    for (int i = 0; i < GROUPS; i++)
        count += *groups[i].count;
    return count;
}

const struct vector *vectors_get(size_t number)
{
    int i = 0;
    for (; i < GROUPS - 1 && number >= *groups[i].count; i++)
        number -= *groups[i].count;
    assert(number < *groups[i].count);
    return &groups[i].vectors[number];
}

void vectors_build(const struct vector *vector, struct vector_file *ret)
{
    memset(ret, 0, sizeof(*ret));
    vector->build(ret);
}

void vectors_free(struct vector_file *file)
{
    packed_free(&file->packed);
    free(file->raw);
}

void vectors_one_frame(struct vector_file *ret, uint8_t *raw, size_t raw_size, uint64_t features,
                       const struct vector_payload *payload)
{
    static uint8_t bytes[2 * VECTOR_FRAME];
    uint32_t at = TRUNK_FRAME_HEADER_SIZE;
    memset(bytes, 0, sizeof(bytes));
    bytes[FRAME_OFFSET_TRANSFORM] = payload->transform;
    bytes[FRAME_OFFSET_PHASE] = payload->phase;
    put_le32(bytes + FRAME_OFFSET_RAW_SIZE, (uint32_t)raw_size);
    for (uint32_t i = 0; i < payload->plane_count; i++, at += PLANE_ENTRY_SIZE) {
        bytes[at] = payload->plane[i].coder;
        put_le24(bytes + at + 1, payload->plane[i].size);
    }
    if (payload->edge_size > 0)
        memcpy(bytes + at, payload->edges, payload->edge_size);
    at += payload->edge_size;
    for (uint32_t i = 0; i < payload->plane_count; i++) {
        memcpy(bytes + at, payload->plane[i].bytes, payload->plane[i].size);
        at += payload->plane[i].size;
    }
    if (payload->plane_count == 0) {
        memcpy(bytes + at, raw, raw_size);
        at += (uint32_t)raw_size;
    }
    struct packed_payload whole = {bytes, at};
    packed_assemble(raw, raw_size, &vectors_options, features, &whole, &ret->packed);
    ret->raw = raw;
    ret->raw_size = raw_size;
}

void vectors_encode(struct vector_file *ret, uint8_t *raw, size_t raw_size,
                    const struct packed_options *options)
{
    packed_build(raw, raw_size, options, &ret->packed);
    ret->raw = raw;
    ret->raw_size = raw_size;
}

void vectors_poke(struct vector_file *file, uint64_t at, unsigned width, uint64_t value)
{
    assert(range_within(at, width, file->packed.size));
    bytes_put_le(file->packed.bytes + at, width, value);
    packed_seal(file->packed.bytes, file->packed.size);
}
