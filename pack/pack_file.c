/* pack_file.c - the steps of the pipeline that make a packed file. */
#include "pack_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bytes.h"
#include "checksum.h"
#include "cleanup.h"
#include "frame_decode.h"
#include "index.h"
#include "io.h"
#include "pipeline.h"

enum {
    WORTH_SHARE = 32,          /* a packed file must save this part of the original */
    READAHEAD_SIZE = 16 << 20, /* asked of the kernel ahead of the chunk being hashed */
};

/* One file being packed. */
struct job {
    const struct pack_file_source *source;
    int packed_fd;
    pack_file_advance *advance;
    void *context;
    struct superblock sb;
    struct index_entry *entries; /* each written by the worker of its chunk */
    _Atomic uint64_t features;
    uint64_t packed_end; /* of what was placed; hashing thread */
    bool sparse;
    pthread_mutex_t hole_lock; /* guards hole_start, hole_end */
    uint64_t hole_start;       /* the hole found last */
    uint64_t hole_end;
};

static uint64_t divide_up(uint64_t value, uint64_t divisor)
{
    return value / divisor + (value % divisor != 0);
}

static int describe(struct job *job, const struct pack_geometry *geometry)
{
    struct superblock *sb = &job->sb;

    sb->raw_size = (uint64_t)job->source->st.st_size;
    sb->frame_size = geometry->frame_size;
    sb->block_size = geometry->block_size;
    if (sb->raw_size > TRUNK_RAW_SIZE_MAX)
        return -EFBIG;
    sb->block_count = divide_up(sb->raw_size, sb->block_size);
    sb->frame_count = divide_up(sb->raw_size, sb->frame_size);
    sb->index_size =
        sb->block_count * TRUNK_BLOCK_ENTRY_SIZE + sb->frame_count * TRUNK_FRAME_ENTRY_SIZE;
    if (sb->index_size > TRUNK_INDEX_SIZE_MAX)
        return -EFBIG;
    sb->mtime_sec = job->source->st.st_mtim.tv_sec;
    sb->mtime_nsec = (uint32_t)job->source->st.st_mtim.tv_nsec;
    sb->mode = job->source->st.st_mode & TRUNK_MODE_MASK;
    sb->allocated_size = job->source->allocated_size;
    memcpy(sb->writer, geometry->writer, sizeof(sb->writer));
    return 0;
}

/* A hole is not worth reading: is all of the chunk one? The kernel may look at every page of
 * a hole, so it is asked once for each. */
static bool is_hole(struct job *job, const struct chunk *chunk)
{
    uint64_t chunk_end = chunk->raw_offset + chunk->raw_size;
    uint64_t data, data_end;

    if (!job->sparse)
        return false;
    pthread_mutex_lock(&job->hole_lock);
    bool known = job->hole_start <= chunk->raw_offset && chunk->raw_offset < job->hole_end;
    if (!known &&
        io_next_data(job->source->fd, chunk->raw_offset, job->sb.raw_size, &data, &data_end) == 0) {
        job->hole_start = chunk->raw_offset;
        job->hole_end = data;
    }
    bool hole = job->hole_start <= chunk->raw_offset && chunk_end <= job->hole_end;
    pthread_mutex_unlock(&job->hole_lock);
    return hole;
}

static int produce(void *file, struct worker *worker, struct chunk *chunk, const char **ret_what)
{
    struct job *job = file;

    *ret_what = "reading";
    if (is_hole(job, chunk)) {
        memset(chunk->raw, 0, chunk->raw_size);
        return 0;
    }
    int r = io_read(job->source->fd, chunk->raw, chunk->raw_size, chunk->raw_offset);
    return r == -ENODATA ? -ESTALE : r;
}

/* The packer trusts no encoder, not even its own: what a reader would get is compared. */
static int check_frame(struct worker *worker, const uint8_t *packed, size_t packed_size,
                       const uint8_t *raw, size_t raw_size)
{
    int r = frame_decode(worker->decoder, packed, packed_size, worker->scratch, raw_size, NULL);
    if (r < 0)
        return r;
    return memcmp(worker->scratch, raw, raw_size) == 0 ? 0 : -EBADMSG;
}

static int transform_frame(struct job *job, struct worker *worker, struct chunk *chunk, size_t at,
                           size_t raw_size, const char **ret_what)
{
    uint8_t *packed = chunk->packed + chunk->packed_size;
    struct frame_summary summary;
    size_t packed_size;
    int r;

    *ret_what = "encoding";
    r = frame_encode(worker->encoder, chunk->raw + at, raw_size, packed,
                     frame_encode_bound(raw_size), &packed_size, &summary);
    if (r < 0)
        return r;
    *ret_what = "comparing what was encoded with the original (a bug; please report it)";
    r = check_frame(worker, packed, packed_size, chunk->raw + at, raw_size);
    if (r < 0)
        return r;
    job->entries[(chunk->raw_offset + at) / job->sb.frame_size] = (struct index_entry){
        .packed_size = (uint32_t)packed_size,
        .raw_hash = checksum_hash(chunk->raw + at, raw_size),
    };
    atomic_fetch_or_explicit(&job->features, summary.features, memory_order_relaxed);
    chunk->packed_size += packed_size;
    return 0;
}

/* Zero bytes up to the next block, whose first byte is aligned. */
static void pad_packed(struct chunk *chunk)
{
    size_t aligned = align_up(chunk->packed_size, TRUNK_ALIGNMENT);

    memset(chunk->packed + chunk->packed_size, 0, aligned - chunk->packed_size);
    chunk->packed_size = aligned;
}

static int transform(void *file, struct worker *worker, struct chunk *chunk, const char **ret_what)
{
    struct job *job = file;
    size_t frame_size = job->sb.frame_size;
    int r;

    *ret_what = "allocating a codec";
    r = worker_need_encoder(worker, frame_size);
    if (r < 0)
        return r;
    r = worker_need_decoder(worker, frame_size);
    if (r < 0)
        return r;
    for (size_t at = 0; at < chunk->raw_size; at += frame_size) {
        size_t rest = chunk->raw_size - at;

        if (at > 0 && (chunk->raw_offset + at) % job->sb.block_size == 0)
            pad_packed(chunk);
        r = transform_frame(job, worker, chunk, at, rest < frame_size ? rest : frame_size,
                            ret_what);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Have the kernel read what will be wanted soon. */
static void ask_ahead(const struct job *job, const struct chunk *chunk)
{
    if (!job->sparse)
        posix_fadvise(job->source->fd, (off_t)(chunk->raw_offset + READAHEAD_SIZE),
                      (off_t)chunk->raw_size, POSIX_FADV_WILLNEED);
}

static void place(void *file, struct chunk *chunk)
{
    struct job *job = file;

    if (chunk->raw_offset % job->sb.block_size == 0)
        job->packed_end = align_up(job->packed_end, TRUNK_ALIGNMENT);
    chunk->packed_offset = job->packed_end;
    job->packed_end += chunk->packed_size;
    ask_ahead(job, chunk);
    if (job->advance)
        job->advance(job->context, chunk->raw_size, chunk->packed_size);
}

static int write_chunk(void *file, struct worker *worker, struct chunk *chunk,
                       const char **ret_what)
{
    struct job *job = file;

    *ret_what = "writing";
    return io_write(job->packed_fd, chunk->packed, chunk->packed_size, chunk->packed_offset);
}

static const struct pipeline_steps steps = {
    .produce = produce,
    .transform = transform,
    .place = place,
    .write = write_chunk,
    .hash = true,
};

static int run_pipeline(struct job *job, struct worker *worker, const char **ret_what)
{
    size_t frame_size = job->sb.frame_size;
    size_t chunk_size = frame_size > PIPELINE_CHUNK_SIZE ? frame_size : PIPELINE_CHUNK_SIZE;
    size_t frames = chunk_size / frame_size;
    size_t room = frames * (frame_size + TRUNK_FRAME_HEADER_SIZE) +
                  (chunk_size / job->sb.block_size + 1) * TRUNK_ALIGNMENT +
                  frame_encode_bound(frame_size);

    return pipeline_run(worker->pipeline, worker, &steps, job, job->sb.raw_size, chunk_size, room,
                        job->sb.sha256, ret_what);
}

/* Index first, superblock last: until then the file is nothing. */
static int write_ends(struct job *job)
{
    struct superblock *sb = &job->sb;
    uint8_t buffer[TRUNK_SUPERBLOCK_SIZE];
    autofree uint8_t *index = malloc(sb->index_size + 1);
    int r;

    if (!index)
        return -ENOMEM;
    sb->features_incompat = atomic_load(&job->features);
    sb->index_offset = index_encode(sb, job->entries, index);
    sb->packed_size = sb->index_offset + sb->index_size;
    sb->index_checksum = checksum_hash(index, sb->index_size);
    superblock_encode(sb, buffer);
    r = io_write(job->packed_fd, index, sb->index_size, sb->index_offset);
    if (r < 0)
        return r;
    return io_write(job->packed_fd, buffer, sizeof(buffer), 0);
}

static int check_unchanged(const struct pack_file_source *source)
{
    struct stat now;

    if (fstat(source->fd, &now) < 0)
        return -errno;
    return io_changed(&source->st, &now) ? -ESTALE : 0;
}

int pack_file(const struct pack_geometry *geometry, const struct pack_file_source *source,
              struct worker *worker, int packed_fd, pack_file_advance *advance, void *context,
              struct superblock *ret, const char **ret_what)
{
    struct job job = {
        .source = source,
        .packed_fd = packed_fd,
        .advance = advance,
        .context = context,
        .packed_end = TRUNK_SUPERBLOCK_SIZE,
        .hole_lock = PTHREAD_MUTEX_INITIALIZER,
        .sparse = source->allocated_size < align_up((uint64_t)source->st.st_size, TRUNK_ALIGNMENT),
    };
    int r;

    *ret_what = "choosing sizes";
    r = describe(&job, geometry);
    if (r < 0)
        return r;
    autofree struct index_entry *entries = calloc(job.sb.frame_count + 1, sizeof(*entries));
    if (!entries)
        return -ENOMEM;
    job.entries = entries;
    posix_fadvise(source->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    r = run_pipeline(&job, worker, ret_what);
    if (r < 0)
        return r;
    *ret_what = "reading";
    r = check_unchanged(source);
    if (r < 0)
        return r;
    *ret_what = "writing";
    r = write_ends(&job);
    if (r < 0)
        return r;
    *ret = job.sb;
    return 0;
}

bool pack_file_worth(const struct pack_file_source *source, uint64_t packed_size)
{
    uint64_t raw_size = (uint64_t)source->st.st_size;
    uint64_t stored = align_up(packed_size, TRUNK_ALIGNMENT);
    uint64_t occupied = source->allocated_size; /* what a copy, sparse as it is, would take */
    uint64_t least = raw_size < occupied ? raw_size : occupied;

    return stored < occupied && packed_size <= least - least / WORTH_SHARE;
}
