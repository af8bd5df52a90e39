/* pool.h - threads that run pieces of work, made once for the whole run.
 *
 * Knows nothing of files. pool_submit and pool_wait may be called on any thread that is
 * not one of the pool's own, pool_submit_first on any thread at all. Which thread runs a
 * piece of work is left open.
 */
#ifndef PACK_POOL_H
#define PACK_POOL_H

struct pool;

/* One piece of work, owned by whoever submits it and kept alive until run was called; run
 * may free it. context is the thread's own (see pool_new). */
struct pool_work {
    struct pool_work *next; /* pool's lock */
    void (*run)(struct pool_work *work, void *context);
};

/* A thread's own context: contexts[i] belongs to thread i for the pool's life.
 * Returns 0, -ENOMEM or -EAGAIN (no more threads allowed). */
__attribute__((warn_unused_result)) int pool_new(unsigned thread_count, void *const *contexts,
                                                 struct pool **ret);
void pool_free(struct pool *pool); /* finishes what was submitted; NULL is allowed */

/* To the end of the queue; waits while it is long, so that the queue stays bounded. */
void pool_submit(struct pool *pool, struct pool_work *work);

/* For work that others wait for: before everything submitted by pool_submit, in order
 * among its like. Never waits. */
void pool_submit_first(struct pool *pool, struct pool_work *work);

/* Until all that was submitted has been run. */
void pool_wait(struct pool *pool);

#endif
