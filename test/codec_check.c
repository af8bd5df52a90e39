#include "codec_check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "frame_decode.h"
#include "isa.h"

enum { CANARY_SIZE = 64, CANARY = 0xc5, ZSTD_LEVEL = 1 };

void codec_check_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    abort();
}

static void *allocate(size_t size)
{
    void *memory = malloc(size);
    if (!memory)
        codec_check_fail("out of memory");
    return memory;
}

static struct frame_decoder *decoder_get(void)
{
    static struct frame_decoder *decoder;
    if (!decoder && frame_decoder_new(CODEC_CHECK_RAW_MAX, &decoder) < 0)
        codec_check_fail("no decoder");
    return decoder;
}

static struct frame_encoder *encoder_get(enum frame_codec codec)
{
    static struct frame_encoder *encoders[FRAME_CODEC_RAW + 1];
    const struct frame_encode_options options = {codec, ZSTD_LEVEL};
    if (!encoders[codec] && frame_encoder_new(&options, CODEC_CHECK_RAW_MAX, &encoders[codec]) < 0)
        codec_check_fail("no encoder");
    return encoders[codec];
}

static void select_isa(enum isa isa)
{
    if (isa_select(isa_name(isa)) < 0)
        codec_check_fail("can't select %s", isa_name(isa));
}

/* Decode by the instruction set selected. The bytes around the payload, which it may read but
 * must not depend on, are slack. */
static int decode_once(const uint8_t *packed, size_t packed_size, uint8_t slack, uint8_t *raw,
                       size_t raw_size)
{
    uint8_t *guarded = allocate(packed_size + 2 * FRAME_DECODE_SLACK);
    struct fault fault = {FAULT_NONE, 0};

    memset(guarded, slack, packed_size + 2 * FRAME_DECODE_SLACK);
    memcpy(guarded + FRAME_DECODE_SLACK, packed, packed_size);
    memset(raw + raw_size, CANARY, CANARY_SIZE);
    int r = frame_decode(decoder_get(), guarded + FRAME_DECODE_SLACK, packed_size, raw, raw_size,
                         &fault);
    if ((r == 0) != (fault.check == FAULT_NONE) || (r != 0 && r != -EBADMSG && r != -EOPNOTSUPP))
        codec_check_fail("%s: verdict %d with fault %s", isa_name(isa_current()), r,
                         fault_text(fault.check));
    if (r != 0 && fault.offset > packed_size)
        codec_check_fail("%s: fault outside of the payload", isa_name(isa_current()));
    for (size_t i = 0; i < CANARY_SIZE; i++)
        if (raw[raw_size + i] != CANARY)
            codec_check_fail("%s: wrote behind the frame", isa_name(isa_current()));
    free(guarded);
    return r;
}

int codec_check_decode(const uint8_t *packed, size_t packed_size, size_t raw_size, uint8_t *ret_raw)
{
    uint8_t *first = allocate(raw_size + CANARY_SIZE), *other = allocate(raw_size + CANARY_SIZE);

    select_isa(ISA_SCALAR);
    int verdict = decode_once(packed, packed_size, 0, first, raw_size);
    for (int isa = ISA_SCALAR + 1; isa < ISA_COUNT_; isa++) {
        if (!isa_available((enum isa)isa))
            continue;
        select_isa((enum isa)isa);
        int r = decode_once(packed, packed_size, (uint8_t)(255 - isa), other, raw_size);
        if (r != verdict)
            codec_check_fail("%s says %d, scalar %d", isa_name((enum isa)isa), r, verdict);
        if (r == 0 && memcmp(first, other, raw_size) != 0)
            codec_check_fail("%s decodes other bytes than scalar", isa_name((enum isa)isa));
    }
    if (verdict == 0 && ret_raw)
        memcpy(ret_raw, first, raw_size);
    free(first);
    free(other);
    return verdict;
}

size_t codec_check_round_trip(const uint8_t *raw, size_t raw_size, enum frame_codec codec)
{
    size_t room = frame_encode_bound(raw_size), first_size = 0;
    uint8_t *first = allocate(room), *other = allocate(room), *got = allocate(raw_size);

    for (int isa = ISA_SCALAR; isa < ISA_COUNT_; isa++) {
        struct frame_summary summary;
        size_t size;
        if (!isa_available((enum isa)isa))
            continue;
        select_isa((enum isa)isa);
        uint8_t *packed = isa == ISA_SCALAR ? first : other;
        if (frame_encode(encoder_get(codec), raw, raw_size, packed, room, &size, &summary) < 0)
            codec_check_fail("can't encode");
        if (isa == ISA_SCALAR)
            first_size = size;
        else if (size != first_size || memcmp(first, other, size) != 0)
            codec_check_fail("%s encodes to other bytes than scalar", isa_name((enum isa)isa));
    }
    if (first_size > raw_size + TRUNK_FRAME_HEADER_SIZE)
        codec_check_fail("grew from %zu to %zu bytes", raw_size, first_size);
    int r = codec_check_decode(first, first_size, raw_size, got);
    if (r != 0 || memcmp(got, raw, raw_size) != 0)
        codec_check_fail("does not come back: %d", r);
    free(first);
    free(other);
    free(got);
    return first_size;
}

static size_t draw(uint32_t *state, size_t limit)
{
    *state = *state * 1664525 + 1013904223;
    return (*state >> 8) % limit;
}

void codec_check_changes(const uint8_t *raw, size_t raw_size, enum frame_codec codec,
                         unsigned changes)
{
    enum { FRONT = 300 };
    size_t room = frame_encode_bound(raw_size), size;
    uint8_t *packed = allocate(room);
    struct frame_summary summary;
    uint32_t state = 77;

    if (frame_encode(encoder_get(codec), raw, raw_size, packed, room, &size, &summary) < 0)
        codec_check_fail("can't encode");
    for (unsigned n = 0; n < changes; n++) {
        size_t at = draw(&state, n % 2 || size < FRONT ? size : FRONT);
        uint8_t old = packed[at];
        packed[at] ^= (uint8_t)(1 + draw(&state, 255));
        (void)codec_check_decode(packed, size, raw_size, NULL);
        packed[at] = old;
    }
    for (unsigned n = 0; n < changes / 4; n++)
        (void)codec_check_decode(packed, draw(&state, size), raw_size, NULL);
    free(packed);
}
