/* make_frames.c - writes payloads of frames as inputs of fuzz_frame_decode, so that fuzzing
 * begins with what is valid. Each file's name says what it holds.
 *
 * usage: make_frames PATH/KIND-CODEC... (KIND as in sample.h; CODEC auto, small or zstd)
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "frame_encode.h"
#include "sample.h"

enum { RAW_SIZE = 9001, PHASE_BYTES = 3, HEADER = 2 };

static const char *const codec_names[] = {
    [FRAME_CODEC_AUTO] = "auto", [FRAME_CODEC_SMALL] = "small", [FRAME_CODEC_ZSTD] = "zstd"};

static enum frame_codec codec_of(const char *name)
{
    for (size_t i = 0; i < sizeof(codec_names) / sizeof(codec_names[0]); i++)
        if (codec_names[i] && strcmp(name, codec_names[i]) == 0)
            return (enum frame_codec)i;
    errx(2, "unknown codec %s", name);
}

static enum sample_kind kind_of(const char *name, size_t length)
{
    for (int i = 0; i < SAMPLE_KINDS_; i++)
        if (strlen(sample_names[i]) == length && memcmp(name, sample_names[i], length) == 0)
            return (enum sample_kind)i;
    errx(2, "unknown kind in %s", name);
}

static void write_frame(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dash = strrchr(name, '-');
    struct frame_encoder *encoder;
    struct frame_summary summary;
    size_t size, room = frame_encode_bound(RAW_SIZE);
    if (!dash)
        errx(2, "%s: KIND-CODEC wanted", name);

    const struct frame_encode_options options = {codec_of(dash + 1), 1};
    uint8_t *raw = sample_new(kind_of(name, (size_t)(dash - name)), 1, RAW_SIZE);
    uint8_t *input = malloc(HEADER + room);
    if (!input || frame_encoder_new(&options, RAW_SIZE, &encoder) < 0)
        errx(2, "out of memory");
    memmove(raw + PHASE_BYTES, raw, RAW_SIZE - PHASE_BYTES); /* elements at odd offsets */
    if (frame_encode(encoder, raw, RAW_SIZE, input + HEADER, room, &size, &summary) < 0)
        errx(2, "can't encode");
    put_le16(input, RAW_SIZE - 1);

    FILE *file = fopen(path, "wb");
    if (!file || fwrite(input, 1, HEADER + size, file) != HEADER + size || fclose(file) != 0)
        err(2, "%s", path);
    frame_encoder_free(encoder);
    free(input);
    free(raw);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        errx(2, "usage: make_frames PATH/KIND-CODEC...");
    for (int i = 1; i < argc; i++)
        write_frame(argv[i]);
    return 0;
}
