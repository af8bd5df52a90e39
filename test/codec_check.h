/* codec_check.h - one frame through every instruction set of this machine: all must give the
 * same bytes and the same verdict. A difference ends the process with a message, so that
 * unit tests and fuzz targets can share this. One thread at a time.
 */
#ifndef TEST_CODEC_CHECK_H
#define TEST_CODEC_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "frame_encode.h"

enum { CODEC_CHECK_RAW_MAX = 1 << 20 };

/* Decode by every instruction set, with other bytes behind the payload each time. Nothing
 * may be written behind raw_size (1 to CODEC_CHECK_RAW_MAX) bytes. Returns what
 * frame_decode did; ret_raw (may be NULL) has the bytes if that is 0. */
int codec_check_decode(const uint8_t *packed, size_t packed_size, size_t raw_size,
                       uint8_t *ret_raw);

/* Encode by every instruction set, decode, and compare with raw. Returns the packed size. */
size_t codec_check_round_trip(const uint8_t *raw, size_t raw_size, enum frame_codec codec);

/* Encode raw and decode it after changes of one byte each, half of them near the
 * front, where the tables are, and after a quarter as many cuts. */
void codec_check_changes(const uint8_t *raw, size_t raw_size, enum frame_codec codec,
                         unsigned changes);

/* End the process with a message, as the above do. */
void codec_check_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
