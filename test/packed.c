#include "packed.h"

#include <assert.h>
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "checksum.h"
#include "frame_decode.h"
#include "index.h"
#include "sha256.h"

enum { AT_INDEX_OFFSET = 56, AT_INDEX_SIZE = 64, AT_INDEX_CHECKSUM = 72, AT_CHECKSUM = 4088 };

static void *allocate(size_t size)
{
    void *memory = calloc(1, size + 1);
    if (!memory)
        errx(2, "out of memory");
    return memory;
}

static void digest_of(const uint8_t *raw, size_t size, uint8_t digest[TRUNK_SHA256_SIZE])
{
    struct sha256 *hash;
    if (sha256_new(&hash) < 0 || sha256_begin(hash) < 0 || sha256_update(hash, raw, size) < 0 ||
        sha256_end(hash, digest) < 0)
        errx(2, "SHA-256 failed");
    sha256_free(hash);
}

static uint64_t divide_up(uint64_t value, uint64_t divisor)
{
    return (value + divisor - 1) / divisor;
}

static void describe(const uint8_t *raw, size_t raw_size, const struct packed_options *options,
                     struct superblock *ret)
{
    *ret = (struct superblock){
        .raw_size = raw_size,
        .frame_size = options->frame_size,
        .block_size = options->block_size,
        .frame_count = divide_up(raw_size, options->frame_size),
        .block_count = divide_up(raw_size, options->block_size),
        .mtime_sec = 1700000000,
        .mtime_nsec = 123456789,
        .mode = 0644,
        .allocated_size = align_up(raw_size, TRUNK_ALIGNMENT),
        .writer = "trunkfs test vector",
    };
    ret->index_size =
        ret->block_count * TRUNK_BLOCK_ENTRY_SIZE + ret->frame_count * TRUNK_FRAME_ENTRY_SIZE;
    digest_of(raw, raw_size, ret->sha256);
}

static size_t frame_raw_size(const struct superblock *sb, uint64_t frame)
{
    uint64_t rest = sb->raw_size - frame * sb->frame_size;
    return rest < sb->frame_size ? (size_t)rest : sb->frame_size;
}

void packed_assemble(const uint8_t *raw, size_t raw_size, const struct packed_options *options,
                     uint64_t features, const struct packed_payload *payloads, struct packed *ret)
{
    struct superblock *sb = &ret->sb;
    describe(raw, raw_size, options, sb);
    sb->features_incompat = features;
    struct index_entry *entries = allocate(sb->frame_count * sizeof(*entries));
    for (uint64_t i = 0; i < sb->frame_count; i++)
        entries[i] = (struct index_entry){
            payloads[i].size, checksum_hash(raw + i * sb->frame_size, frame_raw_size(sb, i))};
    uint8_t *index = allocate(sb->index_size);
    sb->index_offset = index_encode(sb, entries, index);
    sb->index_checksum = checksum_hash(index, sb->index_size);
    sb->packed_size = sb->index_offset + sb->index_size;
    ret->size = sb->packed_size;
    ret->bytes = allocate(ret->size);
    superblock_encode(sb, ret->bytes);
    memcpy(ret->bytes + sb->index_offset, index, sb->index_size);
    free(index);
    free(entries);
    for (uint64_t i = 0; i < sb->frame_count; i++)
        memcpy(ret->bytes + packed_frame_offset(ret, i), payloads[i].bytes, payloads[i].size);
}

void packed_build(const uint8_t *raw, size_t raw_size, const struct packed_options *options,
                  struct packed *ret)
{
    struct frame_encode_options encode = {options->codec, 1};
    uint64_t count = divide_up(raw_size, options->frame_size), features = 0;
    size_t room = frame_encode_bound(options->frame_size);
    struct packed_payload *payloads = allocate(count * sizeof(*payloads));
    struct frame_encoder *encoder;
    if (frame_encoder_new(&encode, options->frame_size, &encoder) < 0)
        errx(2, "frame_encoder_new failed");
    for (uint64_t i = 0; i < count; i++) {
        size_t at = i * options->frame_size, packed_size;
        size_t size = raw_size - at < options->frame_size ? raw_size - at : options->frame_size;
        struct frame_summary summary;
        uint8_t *payload = allocate(room);
        if (frame_encode(encoder, raw + at, size, payload, room, &packed_size, &summary) < 0)
            errx(2, "frame_encode failed");
        payloads[i] = (struct packed_payload){payload, (uint32_t)packed_size};
        features |= summary.features;
    }
    packed_assemble(raw, raw_size, options, features, payloads, ret);
    for (uint64_t i = 0; i < count; i++)
        free((void *)(uintptr_t)payloads[i].bytes);
    free(payloads);
    frame_encoder_free(encoder);
}

void packed_free(struct packed *packed)
{
    free(packed->bytes);
    *packed = (struct packed){0};
}

void packed_seal(uint8_t *bytes, size_t size)
{
    if (size < TRUNK_SUPERBLOCK_SIZE)
        return;
    uint64_t index_offset = get_le64(bytes + AT_INDEX_OFFSET);
    uint64_t index_size = get_le64(bytes + AT_INDEX_SIZE);
    if (range_within(index_offset, index_size, size))
        put_le64(bytes + AT_INDEX_CHECKSUM, checksum_hash(bytes + index_offset, index_size));
    put_le64(bytes + AT_CHECKSUM, checksum_hash(bytes, AT_CHECKSUM));
}

/* The index of a file whose superblock has been checked. */
static int load_index(const uint8_t *bytes, const struct superblock *sb, struct index **ret,
                      struct fault *ret_fault)
{
    uint8_t *copy = allocate(sb->index_size);
    memcpy(copy, bytes + sb->index_offset, sb->index_size);
    int r = index_new(sb, copy, ret, ret_fault);
    if (r < 0)
        free(copy);
    return r;
}

uint64_t packed_frame_offset(const struct packed *packed, uint64_t frame)
{
    struct index *index;
    struct index_frame found;
    int r = load_index(packed->bytes, &packed->sb, &index, NULL);
    assert(r == 0);
    (void)r;
    index_frame_get(index, frame, &found);
    index_free(index);
    return found.packed_offset;
}

/* One frame, decoded from memory of its own: what the decoder reads beyond the slack that
 * it is promised, or writes beyond it, a sanitiser sees. */
static int read_frame(struct frame_decoder *decoder, const uint8_t *bytes,
                      const struct superblock *sb, const struct index *index, uint64_t number,
                      uint8_t *raw, struct fault *ret_fault)
{
    struct index_frame frame;
    index_frame_get(index, number, &frame);
    uint8_t *source = allocate(frame.packed_size + 2 * FRAME_DECODE_SLACK);
    uint8_t *target = allocate(frame.raw_size + FRAME_DECODE_SLACK);
    memcpy(source + FRAME_DECODE_SLACK, bytes + frame.packed_offset, frame.packed_size);
    int r = frame_decode(decoder, source + FRAME_DECODE_SLACK, frame.packed_size, target,
                         frame.raw_size, ret_fault);
    uint64_t sum = index_checksum_of(checksum_hash(target, frame.raw_size), sb->sha256, number,
                                     frame.raw_size);
    if (r == 0 && sum != frame.checksum)
        r = fault_set(ret_fault, FAULT_FRAME_CHECKSUM, 0, -EBADMSG);
    if (r == 0)
        memcpy(raw + frame.raw_offset, target, frame.raw_size);
    free(source);
    free(target);
    return r;
}

static int read_frames(const uint8_t *bytes, const struct superblock *sb, uint8_t *raw,
                       struct fault *ret_fault)
{
    struct index *index;
    struct frame_decoder *decoder;
    int r = load_index(bytes, sb, &index, ret_fault);
    if (r < 0)
        return r;
    if (frame_decoder_new(sb->frame_size, &decoder) < 0)
        errx(2, "frame_decoder_new failed");
    for (uint64_t i = 0; r == 0 && i < sb->frame_count; i++)
        r = read_frame(decoder, bytes, sb, index, i, raw, ret_fault);
    frame_decoder_free(decoder);
    index_free(index);
    return r;
}

int packed_read(const uint8_t *bytes, size_t size, uint8_t **ret_raw, size_t *ret_size,
                struct fault *ret_fault)
{
    struct superblock sb;
    uint8_t digest[TRUNK_SHA256_SIZE];
    int r = superblock_decode(bytes, size, size, &sb, ret_fault);
    if (r < 0)
        return r;
    uint8_t *raw = allocate(sb.raw_size);
    r = read_frames(bytes, &sb, raw, ret_fault);
    if (r == 0) {
        digest_of(raw, sb.raw_size, digest);
        if (memcmp(digest, sb.sha256, sizeof(digest)) != 0)
            r = fault_set(ret_fault, FAULT_FRAME_CHECKSUM, 0, -EBADMSG);
    }
    if (r == 0 && ret_raw) {
        *ret_raw = raw;
        *ret_size = sb.raw_size;
    } else {
        free(raw);
    }
    return r;
}
