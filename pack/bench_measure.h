/* bench_measure.h - speed and ratio of one way to pack, beside memcpy in the same rounds.
 *
 * Memory to memory: the data is larger than the caches, frames are taken in order, so that
 * the numbers are those of a stream of weights. Prints nothing. From main only.
 */
#ifndef PACK_BENCH_MEASURE_H
#define PACK_BENCH_MEASURE_H

#include <stddef.h>
#include <stdint.h>

#include "frame_encode.h"

/* Raw bytes to measure on. */
struct bench_data {
    uint8_t *raw;
    size_t size;
    uint8_t *output; /* room for size bytes and the slack of a decoder */
};

struct bench_case {
    struct frame_encode_options options;
    uint32_t frame_size;
    uint32_t block_size;
    unsigned threads;
};

/* Speeds in 10^9 raw bytes a second: medians over rounds in which all of them took turns. Of one
 * thread, by its processor time. */
struct bench_result {
    double ratio; /* of the whole packed file: index, alignment, superblock */
    double memcpy_gbps;
    double encode_gbps;
    double decode_gbps;
    double decode_checked_gbps; /* with the checksum of each frame */
};

/* At most limit bytes of the file, frames spread evenly over it if it is larger. Returns 0,
 * -errno, -ENODATA for an empty file. */
__attribute__((warn_unused_result)) int bench_data_read(int fd, uint64_t limit,
                                                        struct bench_data *ret);
void bench_data_fini(struct bench_data *data);

/* Returns 0, -ENOMEM, -EAGAIN (threads), -EBADMSG if decoding did not give the raw bytes. */
__attribute__((warn_unused_result)) int
bench_measure(struct bench_data *data, const struct bench_case *what, struct bench_result *ret);

#endif
