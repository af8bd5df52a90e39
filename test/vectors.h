/* vectors.h - the test vectors: packed files that a reader must accept, refuse as corrupt,
 * or refuse as newer than itself. Each is built from a few lines, never from a blob;
 * make_vectors writes them to test/vectors. One thread at a time.
 */
#ifndef TEST_VECTORS_H
#define TEST_VECTORS_H

#include <stddef.h>
#include <stdint.h>

#include "fault.h"
#include "packed.h"

/* A packed file and the original that it stands for. */
struct vector_file {
    struct packed packed;
    uint8_t *raw;
    size_t raw_size;
};

struct vector {
    const char *name;  /* good-…, bad-… or unsupported-…: the file is NAME.trunk */
    const char *about; /* what is special about it, for test/vectors/README.md */
    int error;         /* what a reader returns: 0, -EBADMSG, -EFBIG, -EOPNOTSUPP */
    enum fault_check check;
    void (*build)(struct vector_file *ret);
};

extern const struct vector vectors_good[], vectors_bad_container[], vectors_bad_frame[],
    vectors_rans[], vectors_wide[];
extern const size_t vectors_good_count, vectors_bad_container_count, vectors_bad_frame_count,
    vectors_rans_count, vectors_wide_count;

/* All of them in one row; number below vectors_count(). */
size_t vectors_count(void);
const struct vector *vectors_get(size_t number);

/* Build a vector; vectors_free releases what it holds. */
void vectors_build(const struct vector *vector, struct vector_file *ret);
void vectors_free(struct vector_file *file);

/* --- for the files that build vectors ------------------------------------------- */

enum { VECTOR_FRAME = 4096, VECTOR_BLOCK = 8192 };
extern const struct packed_options vectors_options; /* frames and blocks of those sizes, auto */

/* A payload written by hand. Planes are given as coder, bytes, size. */
struct vector_plane {
    uint8_t coder;
    const uint8_t *bytes;
    uint32_t size;
};
struct vector_payload {
    uint8_t transform;
    uint8_t phase;
    const uint8_t *edges; /* head and tail bytes */
    uint32_t edge_size;
    uint32_t plane_count;
    struct vector_plane plane[4];
};

/* A file of one frame with that payload; takes raw, which is from malloc. */
void vectors_one_frame(struct vector_file *ret, uint8_t *raw, size_t raw_size, uint64_t features,
                       const struct vector_payload *payload);

/* Pack raw with the library's encoder; takes raw. */
void vectors_encode(struct vector_file *ret, uint8_t *raw, size_t raw_size,
                    const struct packed_options *options);

/* Change width bytes at at and make all checksums true again. */
void vectors_poke(struct vector_file *file, uint64_t at, unsigned width, uint64_t value);

#endif
