/* frame_verdict.c - what the C decoder makes of payloads that another program made up.
 *
 * Standard input: records of u32 raw_size, u32 packed_size (little-endian) and the payload.
 * Standard output: a line for each: "ok HASH", "corrupt CHECK" or "unsupported CHECK".
 */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bytes.h"
#include "checksum.h"
#include "format.h"
#include "frame_decode.h"
#include "isa.h"

static void judge(struct frame_decoder *decoder, const uint8_t *payload, uint32_t packed_size,
                  uint8_t *raw, uint32_t raw_size)
{
    struct fault fault = {0};
    int status = frame_decode(decoder, payload, packed_size, raw, raw_size, &fault);
    if (status == 0)
        printf("ok %" PRIu64 "\n", checksum_hash(raw, raw_size));
    else if (status == -EBADMSG || status == -EOPNOTSUPP)
        printf("%s %s\n", status == -EBADMSG ? "corrupt" : "unsupported", fault_text(fault.check));
    else
        errx(1, "frame_decode returned %d", status);
}

int main(void)
{
    struct frame_decoder *decoder;
    uint8_t header[8];
    uint8_t *raw = malloc(TRUNK_FRAME_SIZE_MAX + FRAME_DECODE_SLACK);

    if (isa_select(NULL) < 0 || !raw || frame_decoder_new(TRUNK_FRAME_SIZE_MAX, &decoder) < 0)
        errx(1, "no decoder");
    while (fread(header, 1, sizeof(header), stdin) == sizeof(header)) {
        uint32_t raw_size = get_le32(header), packed_size = get_le32(header + 4);
        if (raw_size < 1 || raw_size > TRUNK_FRAME_SIZE_MAX ||
            packed_size > 2 * TRUNK_FRAME_SIZE_MAX)
            errx(1, "record out of range");
        /* A block of its own, so that a sanitizer sees every byte read too far. */
        uint8_t *buffer = malloc(packed_size + 2 * FRAME_DECODE_SLACK);
        if (!buffer || fread(buffer + FRAME_DECODE_SLACK, 1, packed_size, stdin) != packed_size)
            errx(1, "short record");
        judge(decoder, buffer + FRAME_DECODE_SLACK, packed_size, raw, raw_size);
        free(buffer);
    }
    frame_decoder_free(decoder);
    free(raw);
    return 0;
}
