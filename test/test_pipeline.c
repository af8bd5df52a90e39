/* test_pipeline.c - the ring of chunks: every chunk once, in order where order is promised, the
 * digest of the whole, errors that come home. */
#include "../pack/pipeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

enum { CHUNK = 4096, WORKERS_MAX = 8, SLOTS = 5 };

/* A file whose byte at offset i is a function of i; what each step saw of it. */
struct job {
    uint64_t size;
    uint64_t fail_at; /* offset of the chunk whose step fails; UINT64_MAX: none */
    char fail_step;   /* 'p', 't' or 'w' */
    uint64_t placed;  /* the calling thread's */
    uint64_t advanced;
    uint8_t *written; /* disjoint parts, one a chunk */
};

static uint8_t byte_at(uint64_t offset)
{
    return (uint8_t)(offset * 131 >> 3 ^ offset >> 11);
}

static int result_of(const struct job *job, const struct chunk *chunk, char step,
                     const char **ret_what)
{
    *ret_what = "failing";
    return job->fail_step == step && chunk->raw_offset == job->fail_at ? -EIO : 0;
}

static int produce(void *file, struct worker *worker, struct chunk *chunk, const char **ret_what)
{
    (void)worker;
    for (size_t i = 0; i < chunk->raw_size; i++)
        chunk->raw[i] = byte_at(chunk->raw_offset + i);
    return result_of(file, chunk, 'p', ret_what);
}

static int transform(void *file, struct worker *worker, struct chunk *chunk, const char **ret_what)
{
    (void)worker;
    memcpy(chunk->packed, chunk->raw, chunk->raw_size);
    chunk->packed_size = chunk->raw_size;
    return result_of(file, chunk, 't', ret_what);
}

static void place(void *file, struct chunk *chunk)
{
    struct job *job = file;

    ck_assert_int_eq(chunk->raw_offset, job->placed);
    chunk->packed_offset = job->placed;
    job->placed += chunk->packed_size;
}

static int write_chunk(void *file, struct worker *worker, struct chunk *chunk,
                       const char **ret_what)
{
    struct job *job = file;

    (void)worker;
    memcpy(job->written + chunk->packed_offset, chunk->packed, chunk->packed_size);
    return result_of(file, chunk, 'w', ret_what);
}

static void advance(void *file, size_t raw_size)
{
    ((struct job *)file)->advanced += raw_size;
}

static const struct pipeline_steps steps = {
    .produce = produce,
    .transform = transform,
    .place = place,
    .write = write_chunk,
    .advance = advance,
    .hash = true,
};

/* One file through a new pipeline of that many threads (0: the caller alone). */
static int run(unsigned threads, struct job *job, uint8_t digest[SHA256_SIZE])
{
    static struct worker worker;
    void *contexts[WORKERS_MAX];
    struct pool *pool = NULL;
    const char *what = NULL;

    for (unsigned i = 0; i < threads; i++)
        contexts[i] = &worker; /* the steps of this test leave it alone */
    if (threads)
        ck_assert_int_eq(pool_new(threads, contexts, &pool), 0);
    struct pipeline *pipeline = pipeline_new(pool, threads ? SLOTS : 1);
    ck_assert_ptr_nonnull(pipeline);
    job->written = calloc(1, job->size + 1);
    int r = pipeline_run(pipeline, &worker, &steps, job, job->size, CHUNK, CHUNK, digest, &what);
    if (r < 0)
        ck_assert_str_eq(what, "failing");
    pipeline_free(pipeline);
    pool_free(pool);
    return r;
}

static void expected_digest(uint64_t size, uint8_t digest[SHA256_SIZE])
{
    struct sha256 *hash;
    uint8_t *bytes = malloc(size + 1);

    for (uint64_t i = 0; i < size; i++)
        bytes[i] = byte_at(i);
    ck_assert_int_eq(sha256_new(&hash), 0);
    ck_assert_int_eq(sha256_begin(hash), 0);
    ck_assert_int_eq(sha256_update(hash, bytes, size), 0);
    ck_assert_int_eq(sha256_end(hash, digest), 0);
    sha256_free(hash);
    free(bytes);
}

static bool is_as_produced(const uint8_t *bytes, uint64_t size)
{
    for (uint64_t at = 0; at < size; at++)
        if (bytes[at] != byte_at(at))
            return false;
    return true;
}

static const uint64_t sizes[] = {0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 5 * CHUNK, 200 * CHUNK + 77};
static const unsigned thread_counts[] = {0, 1, 2, 3, 8};

START_TEST(everything_passes_once_and_in_order)
{
    uint64_t size = sizes[_i];
    uint8_t expected[SHA256_SIZE], digest[SHA256_SIZE];

    expected_digest(size, expected);
    for (size_t i = 0; i < sizeof(thread_counts) / sizeof(thread_counts[0]); i++) {
        struct job job = {.size = size, .fail_at = UINT64_MAX};

        ck_assert_int_eq(run(thread_counts[i], &job, digest), 0);
        ck_assert_int_eq(job.placed, size);
        ck_assert_int_eq(job.advanced, size);
        ck_assert_mem_eq(digest, expected, SHA256_SIZE);
        ck_assert(is_as_produced(job.written, size));
        free(job.written);
    }
}
END_TEST

/* An error of any step, in the first chunk, the last, or between, is returned, with nobody
 * left waiting. */
START_TEST(errors_come_home)
{
    static const char kinds[] = "ptw";
    static const uint64_t chunks[] = {0, 1, 7, 99};
    uint8_t digest[SHA256_SIZE];

    for (size_t i = 0; i < sizeof(thread_counts) / sizeof(thread_counts[0]); i++) {
        for (size_t j = 0; j < sizeof(chunks) / sizeof(chunks[0]); j++) {
            struct job job = {
                .size = 100 * CHUNK, .fail_at = chunks[j] * CHUNK, .fail_step = kinds[_i]};

            ck_assert_int_eq(run(thread_counts[i], &job, digest), -EIO);
            free(job.written);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pipeline");
    TCase *c = unit_case(suite, "chunks");

    tcase_add_loop_test(c, everything_passes_once_and_in_order, 0,
                        sizeof(sizes) / sizeof(sizes[0]));
    tcase_add_loop_test(c, errors_come_home, 0, 3);
    return unit_run(suite);
}
