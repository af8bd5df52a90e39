/* unpack_file.c - the steps of the pipeline that restore an original. */
#include "unpack_file.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "bytes.h"
#include "io.h"
#include "pipeline.h"

enum { HOLE_SIZE = 4096 }; /* zero bytes that are left out of a file that was sparse */

struct job {
    const struct packed_file *file;
    int raw_fd;
    void (*advance)(void *context, size_t size);
    void *context;
    bool sparse;
    pthread_mutex_t lock; /* guards bad */
    struct packed_file_bad bad;
};

static int note_bad(void *context, const struct packed_file_bad *bad)
{
    struct job *job = context;

    pthread_mutex_lock(&job->lock);
    if (bad->frame < job->bad.frame)
        job->bad = *bad;
    pthread_mutex_unlock(&job->lock);
    return bad->error;
}

static int produce(void *context, struct worker *worker, struct chunk *chunk, const char **ret_what)
{
    struct job *job = context;

    *ret_what = "decoding";
    return packed_file_read(job->file, worker, chunk->raw_offset, chunk->raw_size, chunk->packed,
                            chunk->raw, note_bad, job);
}

/* The next run of pages that are, or are not, all zero: from at to what is returned. */
static size_t run_end(const struct chunk *chunk, size_t at, bool *ret_zero)
{
    size_t end = at;

    while (end < chunk->raw_size) {
        size_t rest = chunk->raw_size - end;
        size_t page = rest < HOLE_SIZE ? rest : HOLE_SIZE;
        bool zero = io_is_zero(chunk->raw + end, page);

        if (end == at)
            *ret_zero = zero;
        else if (zero != *ret_zero)
            break;
        end += page;
    }
    return end;
}

static int write_sparse(struct job *job, const struct chunk *chunk)
{
    for (size_t at = 0; at < chunk->raw_size;) {
        bool zero = false;
        size_t end = run_end(chunk, at, &zero);

        if (!zero) {
            int r = io_write(job->raw_fd, chunk->raw + at, end - at, chunk->raw_offset + at);
            if (r < 0)
                return r;
        }
        at = end;
    }
    return 0;
}

static int write_raw(void *context, struct worker *worker, struct chunk *chunk,
                     const char **ret_what)
{
    struct job *job = context;

    *ret_what = "writing";
    if (job->sparse)
        return write_sparse(job, chunk);
    return io_write(job->raw_fd, chunk->raw, chunk->raw_size, chunk->raw_offset);
}

static void advance_job(void *context, size_t raw_size)
{
    struct job *job = context;

    if (job->advance)
        job->advance(job->context, raw_size);
}

static const struct pipeline_steps steps = {
    .produce = produce,
    .transform = write_raw,
    .advance = advance_job,
    .hash = true,
};

int unpack_file(const struct packed_file *file, int raw_fd, struct worker *worker,
                void (*advance)(void *context, size_t size), void *context,
                struct packed_file_bad *ret_bad, const char **ret_what)
{
    const struct superblock *sb = &file->sb;
    struct job job = {
        .file = file,
        .raw_fd = raw_fd,
        .advance = advance,
        .context = context,
        .sparse = sb->allocated_size < align_up(sb->raw_size, TRUNK_ALIGNMENT),
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .bad = {.frame = UINT64_MAX},
    };
    uint8_t digest[SHA256_SIZE];

    *ret_what = "setting the size";
    if (ftruncate(raw_fd, (off_t)sb->raw_size) < 0)
        return -errno;
    int r =
        pipeline_run(worker->pipeline, worker, &steps, &job, sb->raw_size,
                     packed_file_chunk_size(file), packed_file_chunk_room(file), digest, ret_what);
    *ret_bad = job.bad;
    if (r < 0)
        return r;
    *ret_what = "comparing the SHA-256";
    return memcmp(digest, sb->sha256, SHA256_SIZE) == 0 ? 0 : -EBADMSG;
}
