/* estimate.c - evenly spread frames, scaled up. */
#include "estimate.h"

#include <errno.h>
#include <stdlib.h>

#include "bytes.h"
#include "cleanup.h"
#include "io.h"

static int encode_frame(const struct pack_file_source *source, struct worker *worker,
                        uint64_t offset, size_t raw_size, uint8_t *raw, uint8_t *packed,
                        size_t *ret_packed_size)
{
    struct frame_summary summary;

    int r = io_read(source->fd, raw, raw_size, offset);
    if (r < 0)
        return r == -ENODATA ? -ESTALE : r;
    return frame_encode(worker->encoder, raw, raw_size, packed, frame_encode_bound(raw_size),
                        ret_packed_size, &summary);
}

int estimate_packed_size(const struct pack_geometry *geometry,
                         const struct pack_file_source *source, struct worker *worker,
                         uint64_t sample_count, struct estimate *ret)
{
    uint64_t raw_size = (uint64_t)source->st.st_size;
    uint64_t frame_size = geometry->frame_size;
    uint64_t frame_count = raw_size / frame_size + (raw_size % frame_size != 0);
    uint64_t block_count = raw_size / geometry->block_size + (raw_size % geometry->block_size != 0);
    uint64_t count = frame_count < sample_count ? frame_count : sample_count;
    uint64_t sampled_raw = 0, sampled_packed = 0;
    autofree uint8_t *raw = malloc(frame_size);
    autofree uint8_t *packed = malloc(frame_encode_bound(frame_size));

    if (!raw || !packed)
        return -ENOMEM;
    int r = worker_need_encoder(worker, frame_size);
    for (uint64_t i = 0; i < count && r == 0; i++) {
        uint64_t offset = (i * frame_count / count) * frame_size;
        uint64_t rest = raw_size - offset;
        size_t size = rest < frame_size ? (size_t)rest : frame_size;
        size_t packed_size = 0;

        r = encode_frame(source, worker, offset, size, raw, packed, &packed_size);
        sampled_raw += size;
        sampled_packed += packed_size;
    }
    if (r < 0)
        return r;
    double ratio = sampled_raw ? (double)sampled_packed / (double)sampled_raw : 0;
    ret->packed_size = (uint64_t)(ratio * (double)raw_size) + TRUNK_SUPERBLOCK_SIZE +
                       block_count * (TRUNK_ALIGNMENT / 2 + TRUNK_BLOCK_ENTRY_SIZE) +
                       frame_count * TRUNK_FRAME_ENTRY_SIZE;
    ret->exact = count == frame_count;
    return 0;
}
