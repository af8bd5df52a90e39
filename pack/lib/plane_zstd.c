/* plane_zstd.c - see plane_zstd.h. */
#include "plane_zstd.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "plane_coder.h"

/* For a memory budget: what a decoding context allocates is 96 KB in libzstd 1.5.4, and may
 * grow a little. */
enum { DECODER_MEMORY = 128 << 10 };

enum { LEVEL_1_MIN_MATCH = 7 };

struct plane_zstd_decoder {
    ZSTD_DCtx *context;
};

struct plane_zstd_encoder {
    ZSTD_CCtx *context;
};

int plane_zstd_decoder_new(struct plane_zstd_decoder **ret)
{
    struct plane_zstd_decoder *decoder = malloc(sizeof *decoder);
    if (!decoder)
        return -ENOMEM;
    decoder->context = ZSTD_createDCtx();
    if (!decoder->context) {
        free(decoder);
        return -ENOMEM;
    }
    *ret = decoder;
    return 0;
}

void plane_zstd_decoder_free(struct plane_zstd_decoder *decoder)
{
    if (!decoder)
        return;
    ZSTD_freeDCtx(decoder->context);
    free(decoder);
}

size_t plane_zstd_decoder_memory(void)
{
    return DECODER_MEMORY;
}

int plane_zstd_decode(struct plane_decode_context *context, const uint8_t *packed,
                      size_t packed_size, uint8_t *plane, size_t plane_size,
                      struct fault *ret_fault)
{
    /* Exactly one frame: ZSTD_decompressDCtx alone would also take several, and skippable ones. */
    if (ZSTD_getFrameContentSize(packed, packed_size) != plane_size ||
        ZSTD_findFrameCompressedSize(packed, packed_size) != packed_size)
        return fault_set(ret_fault, FAULT_FRAME_ZSTD, 0, -EBADMSG);

    size_t n = ZSTD_decompressDCtx(context->zstd->context, plane, plane_size, packed, packed_size);
    if (ZSTD_isError(n) || n != plane_size)
        return fault_set(ret_fault, FAULT_FRAME_ZSTD, 0, -EBADMSG);
    return 0;
}

int plane_zstd_encoder_new(struct plane_zstd_encoder **ret)
{
    struct plane_zstd_encoder *encoder = malloc(sizeof *encoder);
    if (!encoder)
        return -ENOMEM;
    encoder->context = ZSTD_createCCtx();
    if (!encoder->context) {
        free(encoder);
        return -ENOMEM;
    }
    *ret = encoder;
    return 0;
}

void plane_zstd_encoder_free(struct plane_zstd_encoder *encoder)
{
    if (!encoder)
        return;
    ZSTD_freeCCtx(encoder->context);
    free(encoder);
}

int plane_zstd_encode(struct plane_zstd_encoder *encoder, int level, bool weights,
                      const uint8_t *plane, size_t plane_size, uint8_t *packed, size_t room,
                      size_t *ret_packed_size)
{
    ZSTD_CCtx *context = encoder->context;
    /* At level 1 zstd looks for shorter matches in small inputs than in large ones; in the
     * planes of weights those are accidents that cost more than they save. */
    int min_match = weights && level == 1 ? LEVEL_1_MIN_MATCH : 0;
    if (ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level)) ||
        ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_minMatch, min_match)))
        return -ENOMEM;
    size_t n = ZSTD_compress2(context, packed, room, plane, plane_size);
    if (ZSTD_isError(n))
        return ZSTD_getErrorCode(n) == ZSTD_error_memory_allocation ? -ENOMEM : -ENOSPC;
    *ret_packed_size = n;
    return 0;
}
