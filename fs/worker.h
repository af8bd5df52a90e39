/* worker.h - the threads: each takes requests, reads, decodes and replies.
 *
 * A worker sleeps only in io_wait. What is finished comes before what is new: first reads that
 * have come back, then frames to decode, then requests.
 */
#ifndef TRUNKFS_WORKER_H
#define TRUNKFS_WORKER_H

#include "io.h"
#include "lockdown.h"
#include "pipeline.h"

struct worker_set;

/* What a worker calls to take one request. Runs on the worker's thread; context is
 * receive_context. Returns 1: took one; 0: none now; -ENODEV: the mount is gone, no more. */
typedef int worker_receive(void *context, unsigned index, struct pipeline_worker *worker);

struct worker_config {
    unsigned count;
    enum io_kind io_kind;
    const char *fault;
    const struct lockdown *lockdown; /* NULL: none */
    const int *request_fds; /* one per worker, non-blocking */
    worker_receive *receive;
    void *receive_context;
    void (*ended)(void *context); /* called once or more, when the mount is gone */
    void *ended_context;
};

/* Set pipeline->workers and start the threads. Returns 0, -ENOMEM, -EAGAIN, or why io_uring
 * was refused if it was asked for. */
__attribute__((warn_unused_result)) int worker_set_start(struct pipeline *pipeline,
                                                         const struct worker_config *config,
                                                         struct worker_set **ret);

/* Finish what was taken, take no more, end the threads. */
void worker_set_stop(struct worker_set *set); /* NULL is allowed */

#endif
