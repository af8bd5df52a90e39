/* pipeline.c - a ring of chunks between the pool and the hashing thread. */
#include "pipeline.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "interrupt.h"

struct pipeline {
    struct pool *pool;
    struct sha256 *hash;
    unsigned slot_count;
    size_t chunk_size;  /* room of the buffers */
    size_t packed_room; /* room of the buffers */

    /* The file at hand; changed only while no chunk is in flight. */
    const struct pipeline_steps *steps;
    void *file;
    size_t step; /* raw bytes of a chunk */

    pthread_mutex_t lock; /* guards what follows, and the flags of each chunk */
    pthread_cond_t progress;
    int error;
    const char *what;

    struct chunk slots[];
};

struct pipeline *pipeline_new(struct pool *pool, unsigned slot_count)
{
    struct pipeline *p = calloc(1, sizeof(*p) + slot_count * sizeof(p->slots[0]));
    if (!p)
        return NULL;
    if (sha256_new(&p->hash) < 0) {
        free(p);
        return NULL;
    }
    p->pool = pool;
    p->slot_count = slot_count;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->progress, NULL);
    return p;
}

static void free_buffers(struct pipeline *p)
{
    for (unsigned i = 0; i < p->slot_count; i++) {
        struct chunk *chunk = &p->slots[i];
        free(chunk->raw ? chunk->raw - PIPELINE_MARGIN : NULL);
        free(chunk->packed ? chunk->packed - PIPELINE_MARGIN : NULL);
        chunk->raw = chunk->packed = NULL;
    }
    p->chunk_size = p->packed_room = 0;
}

void pipeline_free(struct pipeline *p)
{
    if (!p)
        return;
    free_buffers(p);
    sha256_free(p->hash);
    pthread_cond_destroy(&p->progress);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

/* room bytes, aligned, with a margin before and behind. */
static uint8_t *buffer_new(size_t room)
{
    uint8_t *base = aligned_alloc(PIPELINE_MARGIN, (room + 3 * PIPELINE_MARGIN - 1) /
                                                       PIPELINE_MARGIN * PIPELINE_MARGIN);
    return base ? base + PIPELINE_MARGIN : NULL;
}

static int need_buffers(struct pipeline *p, size_t chunk_size, size_t packed_room)
{
    if (chunk_size <= p->chunk_size && packed_room <= p->packed_room)
        return 0;
    if (chunk_size < p->chunk_size)
        chunk_size = p->chunk_size;
    if (packed_room < p->packed_room)
        packed_room = p->packed_room;
    free_buffers(p);
    for (unsigned i = 0; i < p->slot_count; i++) {
        struct chunk *chunk = &p->slots[i];
        chunk->pipeline = p;
        chunk->raw = buffer_new(chunk_size);
        chunk->packed = buffer_new(packed_room);
        if (!chunk->raw || !chunk->packed) {
            free_buffers(p);
            return -ENOMEM;
        }
    }
    p->chunk_size = chunk_size;
    p->packed_room = packed_room;
    return 0;
}

/* Set one flag of a chunk, or note the first error, and wake the hashing thread. After
 * an error every flag is set all the same, so that nobody waits for what never comes. */
static void tell(struct pipeline *p, bool *flag, int error, const char *what)
{
    pthread_mutex_lock(&p->lock);
    if (error < 0 && p->error == 0) {
        p->error = error;
        p->what = what;
    }
    *flag = true;
    pthread_cond_signal(&p->progress);
    pthread_mutex_unlock(&p->lock);
}

static int current_error(struct pipeline *p)
{
    pthread_mutex_lock(&p->lock);
    int error = p->error;
    pthread_mutex_unlock(&p->lock);
    return error;
}

static int wait_for(struct pipeline *p, const bool *flag)
{
    pthread_mutex_lock(&p->lock);
    while (!*flag)
        pthread_cond_wait(&p->progress, &p->lock);
    int error = p->error;
    pthread_mutex_unlock(&p->lock);
    return error;
}

typedef int step_function(void *file, struct worker *worker, struct chunk *chunk,
                          const char **ret_what);

static void run_step(struct chunk *chunk, struct worker *worker, step_function *step, bool *flag)
{
    struct pipeline *p = chunk->pipeline;
    const char *what = "";
    int r = current_error(p);

    if (r == 0 && interrupt_pending())
        r = -ECANCELED;
    if (r == 0 && step)
        r = step(p->file, worker, chunk, &what);
    tell(p, flag, r, what);
}

static void run_write(struct pool_work *work, void *context)
{
    struct chunk *chunk = (struct chunk *)work;
    run_step(chunk, context, chunk->pipeline->steps->write, &chunk->written);
}

static void run_first_steps(struct pool_work *work, void *context)
{
    struct chunk *chunk = (struct chunk *)work;
    const struct pipeline_steps *steps = chunk->pipeline->steps;

    run_step(chunk, context, steps->produce, &chunk->produced);
    run_step(chunk, context, steps->transform, &chunk->transformed);
}

static void dispatch(struct pipeline *p, struct worker *worker, struct chunk *chunk,
                     void (*run)(struct pool_work *work, void *context))
{
    chunk->work.run = run;
    if (p->pool)
        pool_submit_first(p->pool, &chunk->work);
    else
        run(&chunk->work, worker);
}

static void start_chunk(struct pipeline *p, struct worker *worker, struct chunk *chunk,
                        uint64_t raw_offset, size_t raw_size)
{
    chunk->raw_offset = raw_offset;
    chunk->raw_size = raw_size;
    chunk->packed_size = 0;
    chunk->produced = chunk->transformed = chunk->written = false;
    dispatch(p, worker, chunk, run_first_steps);
}

static bool is_set(struct pipeline *p, const bool *flag)
{
    pthread_mutex_lock(&p->lock);
    bool set = *flag;
    pthread_mutex_unlock(&p->lock);
    return set;
}

/* Start chunks from number started on, as far as free slots go; wait for a slot only if
 * there would be nothing to do otherwise, that is if chunk number done has not started.
 * Returns the number of chunks started so far: at least done + 1, unless there was an error. */
static uint64_t start_what_fits(struct pipeline *p, struct worker *worker, uint64_t raw_size,
                                uint64_t started, uint64_t done)
{
    for (; started < done + p->slot_count; started++) {
        struct chunk *chunk = &p->slots[started % p->slot_count];
        uint64_t offset = started * p->step;

        if (offset >= raw_size)
            break;
        if (started >= p->slot_count) {
            if (started > done && !is_set(p, &chunk->written))
                break;
            if (wait_for(p, &chunk->written) < 0)
                break;
        }
        uint64_t rest = raw_size - offset;
        start_chunk(p, worker, chunk, offset, rest < p->step ? (size_t)rest : p->step);
    }
    return started;
}

/* The steps of one chunk that follow the order of the file. Errors are noted in p. */
static void take_in_order(struct pipeline *p, struct worker *worker, struct chunk *chunk)
{
    int r = wait_for(p, &chunk->produced);
    if (r == 0 && p->steps->hash) {
        bool done;
        r = sha256_update(p->hash, chunk->raw, chunk->raw_size);
        tell(p, &done, r, "hashing");
    }
    if (r == 0 && p->steps->advance)
        p->steps->advance(p->file, chunk->raw_size);
    r = wait_for(p, &chunk->transformed);
    if (r == 0 && p->steps->place)
        p->steps->place(p->file, chunk);
    /* After an error this passes through without writing, so that written is set. */
    dispatch(p, worker, chunk, run_write);
}

int pipeline_run(struct pipeline *p, struct worker *worker, const struct pipeline_steps *steps,
                 void *file, uint64_t raw_size, size_t chunk_size, size_t packed_room,
                 uint8_t ret_sha256[SHA256_SIZE], const char **ret_what)
{
    uint64_t chunk_count = raw_size / chunk_size + (raw_size % chunk_size != 0);
    uint64_t started = 0;
    int r;

    *ret_what = "allocating buffers";
    r = need_buffers(p, chunk_size, packed_room);
    if (r < 0)
        return r;
    *ret_what = "hashing";
    r = sha256_begin(p->hash);
    if (r < 0)
        return r;
    p->steps = steps;
    p->file = file;
    p->step = chunk_size;
    p->error = 0;
    for (uint64_t done = 0; done < chunk_count; done++) {
        started = start_what_fits(p, worker, raw_size, started, done);
        if (started <= done)
            break; /* an error; what is in flight still has to come home */
        take_in_order(p, worker, &p->slots[done % p->slot_count]);
    }
    for (uint64_t i = started < p->slot_count ? 0 : started - p->slot_count; i < started; i++)
        (void)wait_for(p, &p->slots[i % p->slot_count].written);
    *ret_what = p->what;
    r = p->error;
    if (r < 0)
        return r;
    *ret_what = "hashing";
    return steps->hash ? sha256_end(p->hash, ret_sha256) : 0;
}
