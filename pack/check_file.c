/* check_file.c - the steps of the pipeline that verify a packed file. */
#include "check_file.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#include "io.h"
#include "pipeline.h"

struct job {
    const struct packed_file *file;
    int original_fd;
    const struct check_file_callbacks *callbacks;
    pthread_mutex_t lock; /* guards result, and calls of bad_frame */
    struct check_file_result result;
};

static int note_bad(void *context, const struct packed_file_bad *bad)
{
    struct job *job = context;

    pthread_mutex_lock(&job->lock);
    job->result.bad_frames++;
    job->callbacks->bad_frame(job->callbacks->context, bad);
    pthread_mutex_unlock(&job->lock);
    return 0;
}

static int produce(void *context, struct worker *worker, struct chunk *chunk, const char **ret_what)
{
    struct job *job = context;

    *ret_what = "decoding";
    return packed_file_read(job->file, worker, chunk->raw_offset, chunk->raw_size, chunk->packed,
                            chunk->raw, note_bad, job);
}

static void note_difference(struct job *job, uint64_t offset)
{
    pthread_mutex_lock(&job->lock);
    if (!job->result.original_differs || offset < job->result.first_difference)
        job->result.first_difference = offset;
    job->result.original_differs = true;
    pthread_mutex_unlock(&job->lock);
}

/* chunk->packed is free again: it takes the original's bytes. */
static int compare(void *context, struct worker *worker, struct chunk *chunk, const char **ret_what)
{
    struct job *job = context;

    if (job->original_fd < 0)
        return 0;
    *ret_what = "reading the original";
    int r = io_read(job->original_fd, chunk->packed, chunk->raw_size, chunk->raw_offset);
    if (r == -ENODATA) {
        note_difference(job, chunk->raw_offset);
        return 0;
    }
    if (r < 0)
        return r;
    if (memcmp(chunk->packed, chunk->raw, chunk->raw_size) == 0)
        return 0;
    size_t at = 0;
    while (chunk->packed[at] == chunk->raw[at])
        at++;
    note_difference(job, chunk->raw_offset + at);
    return 0;
}

static void advance_job(void *context, size_t raw_size)
{
    struct job *job = context;

    if (job->callbacks->advance)
        job->callbacks->advance(job->callbacks->context, raw_size);
}

static const struct pipeline_steps steps = {
    .produce = produce,
    .transform = compare,
    .advance = advance_job,
    .hash = true,
};

static int check_original_size(struct job *job)
{
    struct stat st;

    if (job->original_fd < 0)
        return 0;
    if (fstat(job->original_fd, &st) < 0)
        return -errno;
    uint64_t size = (uint64_t)st.st_size;
    if (size != job->file->sb.raw_size)
        note_difference(job, size < job->file->sb.raw_size ? size : job->file->sb.raw_size);
    return 0;
}

int check_file(const struct packed_file *file, int original_fd, struct worker *worker,
               const struct check_file_callbacks *callbacks, struct check_file_result *ret,
               const char **ret_what)
{
    struct job job = {
        .file = file,
        .original_fd = original_fd,
        .callbacks = callbacks,
        .lock = PTHREAD_MUTEX_INITIALIZER,
    };
    uint8_t digest[SHA256_SIZE];

    int r =
        pipeline_run(worker->pipeline, worker, &steps, &job, file->sb.raw_size,
                     packed_file_chunk_size(file), packed_file_chunk_room(file), digest, ret_what);
    if (r < 0)
        return r;
    *ret_what = "reading the original";
    r = check_original_size(&job);
    if (r < 0)
        return r;
    if (job.result.bad_frames == 0)
        job.result.digest_differs = memcmp(digest, file->sb.sha256, SHA256_SIZE) != 0;
    *ret = job.result;
    return 0;
}
