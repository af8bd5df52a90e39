/* packed_file.c - a packed file as the tools read it. */
#include "packed_file.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "bytes.h"
#include "checksum.h"
#include "cleanup.h"
#include "io.h"
#include "pipeline.h"

_Static_assert((int)PIPELINE_MARGIN >= (int)FRAME_DECODE_SLACK, "chunks can be decoded in place");

static int read_index(struct packed_file *file, struct fault *ret_fault)
{
    autofree uint8_t *bytes = malloc(file->sb.index_size + 1);
    if (!bytes)
        return -ENOMEM;
    int r = io_read(file->fd, bytes, file->sb.index_size, file->sb.index_offset);
    if (r < 0)
        return r;
    r = index_new(&file->sb, bytes, &file->index, ret_fault);
    if (r == 0)
        bytes = NULL; /* the index has it */
    return r;
}

static int read_superblock(struct packed_file *file, struct fault *ret_fault)
{
    uint8_t buffer[TRUNK_SUPERBLOCK_SIZE];
    struct stat st;

    if (fstat(file->fd, &st) < 0)
        return -errno;
    uint64_t file_size = (uint64_t)st.st_size;
    size_t size = file_size < sizeof(buffer) ? (size_t)file_size : sizeof(buffer);
    int r = io_read(file->fd, buffer, size, 0);
    if (r < 0)
        return r;
    return superblock_decode(buffer, size, file_size, &file->sb, ret_fault);
}

int packed_file_open(int fd, struct packed_file *ret, struct fault *ret_fault)
{
    struct fault ignored;

    if (!ret_fault)
        ret_fault = &ignored;
    *ret_fault = (struct fault){.check = FAULT_NONE};
    *ret = (struct packed_file){.fd = fd};
    int r = read_superblock(ret, ret_fault);
    if (r == 0)
        r = read_index(ret, ret_fault);
    if (r < 0)
        packed_file_close(ret);
    return r;
}

void packed_file_close(struct packed_file *file)
{
    cleanup_close(&file->fd);
    index_free(file->index);
    *file = (struct packed_file)PACKED_FILE_NONE;
}

size_t packed_file_chunk_size(const struct packed_file *file)
{
    return file->sb.frame_size > PIPELINE_CHUNK_SIZE ? file->sb.frame_size : PIPELINE_CHUNK_SIZE;
}

size_t packed_file_chunk_room(const struct packed_file *file)
{
    size_t chunk_size = packed_file_chunk_size(file);

    /* Blocks are padded to TRUNK_ALIGNMENT; frames grow by their header at most. */
    return chunk_size + chunk_size / file->sb.frame_size * TRUNK_FRAME_HEADER_SIZE +
           (chunk_size / file->sb.block_size + 1) * TRUNK_ALIGNMENT;
}

const char *packed_file_bad_text(const struct packed_file_bad *bad)
{
    return bad->fault.check != FAULT_NONE ? fault_text(bad->fault.check)
                                          : strerrordesc_np(-bad->error);
}

static int decode_checked(const struct packed_file *file, struct worker *worker, uint64_t number,
                          const struct index_frame *frame, const uint8_t *packed, uint8_t *raw,
                          struct fault *ret_fault)
{
    int r =
        frame_decode(worker->decoder, packed, frame->packed_size, raw, frame->raw_size, ret_fault);
    if (r < 0)
        return r;
    uint64_t hash = checksum_hash(raw, frame->raw_size);
    if (index_checksum_of(hash, file->sb.sha256, number, frame->raw_size) != frame->checksum)
        return fault_set(ret_fault, FAULT_FRAME_CHECKSUM, 0, -EBADMSG);
    return 0;
}

int packed_file_read(const struct packed_file *file, struct worker *worker, uint64_t raw_offset,
                     size_t raw_size, uint8_t *packed, uint8_t *raw,
                     int (*bad)(void *context, const struct packed_file_bad *bad), void *context)
{
    uint64_t first = raw_offset / file->sb.frame_size;
    uint64_t last = (raw_offset + raw_size - 1) / file->sb.frame_size;
    struct index_frame frame;

    int r = worker_need_decoder(worker, file->sb.frame_size);
    if (r < 0)
        return r;
    index_frame_get(file->index, first, &frame);
    uint64_t start = frame.packed_offset;
    index_frame_get(file->index, last, &frame);
    int read_error =
        io_read(file->fd, packed, frame.packed_offset + frame.packed_size - start, start);

    for (uint64_t number = first; number <= last; number++) {
        struct packed_file_bad report = {.frame = number, .error = 0};

        index_frame_get(file->index, number, &frame);
        uint8_t *at = packed + (frame.packed_offset - start);
        /* One bad sector: its neighbours can still be read. */
        if (read_error < 0)
            report.error = io_read(file->fd, at, frame.packed_size, frame.packed_offset);
        if (report.error == 0)
            report.error = decode_checked(file, worker, number, &frame, at,
                                          raw + (frame.raw_offset - raw_offset), &report.fault);
        if (report.error == 0)
            continue;
        report.raw_offset = frame.raw_offset;
        report.raw_size = frame.raw_size;
        r = bad(context, &report);
        if (r < 0)
            return r;
    }
    return 0;
}
