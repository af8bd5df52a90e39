/* run.c - workers, leaders, and their memory. */
#include "run.h"

#include <errno.h>
#include <stdlib.h>

#include "pipeline.h"

enum {
    SMALL_FILE_SIZE = 4 << 20, /* up to here one thread does it all */
    LEADERS_MAX = 4,           /* large files at a time: each has chunks in flight */
    SPARE_SLOTS = 6,           /* chunks waiting to be hashed or written, beyond those in work */
};

struct run {
    unsigned worker_count;
    unsigned leader_count;
    struct pool *workers;
    struct pool *leaders;
    struct worker **contexts; /* workers first, then leaders */
};

static int make_contexts(struct run *run, const struct frame_encode_options *options)
{
    unsigned count = run->worker_count + run->leader_count;

    run->contexts = calloc(count, sizeof(*run->contexts));
    if (!run->contexts)
        return -ENOMEM;
    for (unsigned i = 0; i < count; i++) {
        run->contexts[i] = worker_new(options);
        if (!run->contexts[i])
            return -ENOMEM;
    }
    for (unsigned i = 0; i < run->worker_count; i++) {
        run->contexts[i]->pipeline = pipeline_new(NULL, 1);
        if (!run->contexts[i]->pipeline)
            return -ENOMEM;
    }
    return 0;
}

static int start_threads(struct run *run)
{
    struct worker **leaders = run->contexts + run->worker_count;

    int r = pool_new(run->worker_count, (void *const *)run->contexts, &run->workers);
    if (r < 0)
        return r;
    for (unsigned i = 0; i < run->leader_count; i++) {
        leaders[i]->pipeline = pipeline_new(run->workers, run->worker_count + SPARE_SLOTS);
        if (!leaders[i]->pipeline)
            return -ENOMEM;
    }
    return pool_new(run->leader_count, (void *const *)leaders, &run->leaders);
}

int run_start(unsigned jobs, const struct frame_encode_options *options, struct run **ret)
{
    struct run *run = calloc(1, sizeof(*run));
    if (!run)
        return -ENOMEM;
    run->worker_count = jobs;
    run->leader_count = (jobs + 1) / 2 < LEADERS_MAX ? (jobs + 1) / 2 : LEADERS_MAX;
    int r = make_contexts(run, options);
    if (r == 0)
        r = start_threads(run);
    if (r < 0) {
        run_stop(run);
        return r;
    }
    *ret = run;
    return 0;
}

void run_stop(struct run *run)
{
    if (!run)
        return;
    pool_free(run->leaders); /* they give work to the workers */
    pool_free(run->workers);
    for (unsigned i = 0; run->contexts && i < run->worker_count + run->leader_count; i++)
        worker_free(run->contexts[i]);
    free(run->contexts);
    free(run);
}

void run_submit(struct run *run, struct pool_work *work, uint64_t raw_size)
{
    pool_submit(raw_size <= SMALL_FILE_SIZE ? run->workers : run->leaders, work);
}

void run_wait(struct run *run)
{
    pool_wait(run->leaders);
    pool_wait(run->workers);
}
