#include "worker.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "log.h"
#include "prefetch.h"

enum {
    MEMORY_WAIT_MS = 20,
    DISK_FED = 8 << 20, /* bytes being read: more than the disk brings while a frame is decoded */
};

struct worker {
    struct pipeline_worker pipeline_worker;
    struct worker_set *set;
    unsigned index;
    pthread_t thread;
    bool started;
    int start_result;
    atomic_bool sleeping;
};

struct worker_set {
    struct pipeline *pipeline;
    struct worker_config config;
    struct pipeline_worker **pipeline_workers;
    atomic_bool stopping; /* take no more requests */
    atomic_bool quit;     /* leave when nothing is in flight */
    sem_t ready;          /* posted by each worker when it is set up */
    struct worker workers[];
};

static void wake_idle(void *context)
{
    struct worker_set *set = context;

    for (unsigned i = 0; i < set->config.count; i++) {
        bool sleeping = true;
        if (atomic_compare_exchange_strong(&set->workers[i].sleeping, &sleeping, false)) {
            io_wake(set->workers[i].pipeline_worker.io);
            return;
        }
    }
}

static bool take_request(struct worker *worker)
{
    struct worker_set *set = worker->set;
    int r;

    if (atomic_load(&set->stopping) || !pipeline_accepts(set->pipeline))
        return false;
    r = set->config.receive(set->config.receive_context, worker->index, &worker->pipeline_worker);
    if (r == -ENODEV) {
        atomic_store(&set->stopping, true);
        set->config.ended(set->config.ended_context);
    }
    return r > 0;
}

/* One step. Returns false if there was nothing to do. */
static bool work(struct worker *worker)
{
    struct pipeline_worker *pipeline_worker = &worker->pipeline_worker;
    struct pipeline *pipeline = worker->set->pipeline;
    bool busy = false;

    while (pipeline_collect(pipeline_worker))
        busy = true;
    pipeline_resume(pipeline_worker);
    /* What is finished comes first, but the disk must not run dry meanwhile. */
    if (atomic_load(&pipeline->fetching_bytes) < DISK_FED &&
        !atomic_load(&pipeline->waiting_count) && atomic_load(&pipeline->ready_count) &&
        take_request(worker))
        (void)pipeline_collect(pipeline_worker); /* submits */
    return pipeline_decode(pipeline_worker) || busy || take_request(worker) ||
           prefetch_step(pipeline_worker);
}

static void sleep_until_needed(struct worker *worker)
{
    struct pipeline *pipeline = worker->set->pipeline;
    bool stopping = atomic_load(&worker->set->stopping);
    bool accepts = pipeline_accepts(pipeline);

    /* Whoever queues a frame after this store wakes us; whoever did before is seen below. */
    atomic_store(&worker->sleeping, true);
    if (!atomic_load(&pipeline->ready_count))
        io_wait(worker->pipeline_worker.io, accepts && !stopping,
                accepts && !stopping ? -1 : MEMORY_WAIT_MS);
    atomic_store(&worker->sleeping, false);
}

static bool may_leave(const struct worker *worker)
{
    return atomic_load(&worker->set->quit) && atomic_load(&worker->set->pipeline->in_flight) == 0 &&
           io_in_flight(worker->pipeline_worker.io) == 0;
}

static int worker_open(struct worker *worker)
{
    struct worker_set *set = worker->set;
    struct io_config config = {.kind = set->config.io_kind,
                               .request_fd = set->config.request_fds[worker->index],
                               .fault = set->config.fault};
    struct pipeline_worker *pipeline_worker = &worker->pipeline_worker;
    int r;

    packed_area_memory(set->pipeline->area, &config.area, &config.area_size);
    r = frame_decoder_new(TRUNK_FRAME_SIZE_DEFAULT, &pipeline_worker->decoder);
    if (r < 0)
        return r;
    pipeline_worker->decoder_size = TRUNK_FRAME_SIZE_DEFAULT;
    r = io_new(&config, &pipeline_worker->io);
    if (r < 0) {
        frame_decoder_free(pipeline_worker->decoder);
        return r;
    }
    if (worker->index == 0)
        log_info("reading by %s, %u workers", io_name(pipeline_worker->io), set->config.count);
    return 0;
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;

    worker->start_result = worker_open(worker);
    if (worker->start_result == 0 && worker->set->config.lockdown)
        lockdown_thread(worker->set->config.lockdown);
    sem_post(&worker->set->ready);
    if (worker->start_result < 0)
        return NULL;
    while (!may_leave(worker)) {
        if (!work(worker))
            sleep_until_needed(worker);
    }
    return NULL;
}

static int start_threads(struct worker_set *set)
{
    unsigned started = 0;
    int r = 0;

    for (unsigned i = 0; i < set->config.count; i++) {
        struct worker *worker = &set->workers[i];
        worker->set = set;
        worker->index = i;
        worker->pipeline_worker.pipeline = set->pipeline;
        worker->pipeline_worker.ready_tail = &worker->pipeline_worker.ready;
        set->pipeline_workers[i] = &worker->pipeline_worker;
    }
    for (; started < set->config.count; started++) {
        struct worker *worker = &set->workers[started];
        r = -pthread_create(&worker->thread, NULL, worker_main, worker);
        if (r < 0)
            break;
        worker->started = true;
    }
    for (unsigned i = 0; i < started; i++) {
        while (sem_wait(&set->ready) < 0)
            ;
    }
    for (unsigned i = 0; i < started && r == 0; i++)
        r = set->workers[i].start_result;
    return r;
}

int worker_set_start(struct pipeline *pipeline, const struct worker_config *config,
                     struct worker_set **ret)
{
    struct worker_set *set = calloc(1, sizeof(*set) + config->count * sizeof(set->workers[0]));
    int r;

    if (!set)
        return -ENOMEM;
    set->pipeline = pipeline;
    set->config = *config;
    set->pipeline_workers = calloc(config->count, sizeof(*set->pipeline_workers));
    if (!set->pipeline_workers) {
        free(set);
        return -ENOMEM;
    }
    sem_init(&set->ready, 0, 0);
    pipeline->workers = set->pipeline_workers;
    pipeline->worker_count = config->count;
    pipeline->wake_idle = wake_idle;
    pipeline->wake_context = set;
    r = start_threads(set);
    if (r < 0) {
        worker_set_stop(set);
        return r;
    }
    *ret = set;
    return 0;
}

void worker_set_stop(struct worker_set *set)
{
    if (!set)
        return;
    atomic_store(&set->stopping, true);
    atomic_store(&set->quit, true);
    for (unsigned i = 0; i < set->config.count; i++) {
        if (set->workers[i].started && set->workers[i].start_result == 0)
            io_wake(set->workers[i].pipeline_worker.io);
    }
    for (unsigned i = 0; i < set->config.count; i++) {
        struct worker *worker = &set->workers[i];
        if (!worker->started)
            continue;
        pthread_join(worker->thread, NULL);
        if (worker->start_result == 0) {
            io_free(worker->pipeline_worker.io);
            frame_decoder_free(worker->pipeline_worker.decoder);
            free(worker->pipeline_worker.scratch);
        }
    }
    sem_destroy(&set->ready);
    free(set->pipeline_workers);
    free(set);
}
