/* frame_format.h - the constants of pack/FORMAT.md, part II, and nothing else. */
#ifndef TRUNK_FRAME_FORMAT_H
#define TRUNK_FRAME_FORMAT_H

/* Byte 0 of a payload. */
enum frame_transform_id {
    FRAME_TRANSFORM_STORED = 0, /* the raw bytes follow the header; no planes */
    FRAME_TRANSFORM_NONE = 1,
    FRAME_TRANSFORM_BYTES2 = 2,
    FRAME_TRANSFORM_BF16 = 3,
    FRAME_TRANSFORM_FP32 = 4,
    FRAME_TRANSFORM_BF16_JOINT = 5,
};

/* Byte 0 of a plane's directory entry. */
enum plane_coder_id {
    PLANE_CODER_RAW = 0,
    PLANE_CODER_CONSTANT = 1,
    PLANE_CODER_ZSTD = 2,
    PLANE_CODER_RANS = 3,
    PLANE_CODER_REST = 4,
    PLANE_CODER_RANS12 = 5,
    PLANE_CODER_BITS = 6,
};

enum {
    FRAME_OFFSET_TRANSFORM = 0,
    FRAME_OFFSET_PHASE = 1,
    FRAME_OFFSET_RESERVED = 2,
    FRAME_OFFSET_RAW_SIZE = 4,
    PLANE_ENTRY_SIZE = 4, /* u8 coder, u24 packed size */
    FRAME_PLANES_MAX = 8,
    FRAME_ELEMENT_SIZE_MAX = 8,
};

#endif
