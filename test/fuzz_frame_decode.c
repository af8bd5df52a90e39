/* fuzz_frame_decode.c - any bytes as the payload of a frame: refused or decoded, and alike by
 * every instruction set.
 *
 * Input: u16, the raw size less 1, then the payload, in whose header the raw size is put
 * right, since what lies behind that check is what matters.
 */
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "codec_check.h"
#include "format.h"
#include "frame_format.h"

enum { HEADER = 2 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEADER)
        return 0;
    size_t raw_size = 1u + get_le16(data), packed_size = size - HEADER;
    uint8_t *packed = malloc(packed_size + 1);
    if (!packed)
        abort();
    memcpy(packed, data + HEADER, packed_size);
    if (packed_size >= TRUNK_FRAME_HEADER_SIZE)
        put_le32(packed + FRAME_OFFSET_RAW_SIZE, (uint32_t)raw_size);
    (void)codec_check_decode(packed, packed_size, raw_size, NULL);
    free(packed);
    return 0;
}
