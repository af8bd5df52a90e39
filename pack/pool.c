/* pool.c - two queues, one lock. */
#include "pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum { QUEUED_PER_THREAD = 4 };

struct queue {
    struct pool_work *head;
    struct pool_work **tail;
};

struct pool_thread {
    pthread_t id;
    struct pool *pool;
    void *context;
};

struct pool {
    pthread_mutex_t lock; /* guards everything below but threads */
    pthread_cond_t work_there;
    pthread_cond_t room_there;
    pthread_cond_t all_idle;
    struct queue first;
    struct queue later;
    unsigned later_count;
    unsigned busy_count; /* threads inside run */
    bool stop;
    unsigned thread_count;
    struct pool_thread threads[];
};

static void queue_init(struct queue *queue)
{
    queue->head = NULL;
    queue->tail = &queue->head;
}

static void queue_add(struct queue *queue, struct pool_work *work)
{
    work->next = NULL;
    *queue->tail = work;
    queue->tail = &work->next;
}

static struct pool_work *queue_take(struct queue *queue)
{
    struct pool_work *work = queue->head;
    if (!work)
        return NULL;
    queue->head = work->next;
    if (!queue->head)
        queue->tail = &queue->head;
    return work;
}

static struct pool_work *take_locked(struct pool *pool)
{
    struct pool_work *work = queue_take(&pool->first);
    if (work)
        return work;
    work = queue_take(&pool->later);
    if (work) {
        pool->later_count--;
        pthread_cond_signal(&pool->room_there);
    }
    return work;
}

static void *thread_main(void *argument)
{
    struct pool_thread *thread = argument;
    struct pool *pool = thread->pool;

    pthread_mutex_lock(&pool->lock);
    for (;;) {
        struct pool_work *work = take_locked(pool);
        if (work) {
            pool->busy_count++;
            pthread_mutex_unlock(&pool->lock);
            work->run(work, thread->context);
            pthread_mutex_lock(&pool->lock);
            if (--pool->busy_count == 0 && !pool->first.head && !pool->later.head)
                pthread_cond_broadcast(&pool->all_idle);
        } else if (pool->stop) {
            break;
        } else {
            pthread_cond_wait(&pool->work_there, &pool->lock);
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

int pool_new(unsigned thread_count, void *const *contexts, struct pool **ret)
{
    struct pool *pool = calloc(1, sizeof(*pool) + thread_count * sizeof(pool->threads[0]));
    if (!pool)
        return -ENOMEM;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work_there, NULL);
    pthread_cond_init(&pool->room_there, NULL);
    pthread_cond_init(&pool->all_idle, NULL);
    queue_init(&pool->first);
    queue_init(&pool->later);
    for (unsigned i = 0; i < thread_count; i++) {
        pool->threads[i].pool = pool;
        pool->threads[i].context = contexts[i];
        int r = pthread_create(&pool->threads[i].id, NULL, thread_main, &pool->threads[i]);
        if (r != 0) {
            pool_free(pool);
            return -r;
        }
        pool->thread_count++;
    }
    *ret = pool;
    return 0;
}

void pool_free(struct pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    pthread_cond_broadcast(&pool->work_there);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->thread_count; i++)
        pthread_join(pool->threads[i].id, NULL);
    pthread_cond_destroy(&pool->all_idle);
    pthread_cond_destroy(&pool->room_there);
    pthread_cond_destroy(&pool->work_there);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

void pool_submit(struct pool *pool, struct pool_work *work)
{
    pthread_mutex_lock(&pool->lock);
    while (pool->later_count >= QUEUED_PER_THREAD * pool->thread_count)
        pthread_cond_wait(&pool->room_there, &pool->lock);
    queue_add(&pool->later, work);
    pool->later_count++;
    pthread_cond_signal(&pool->work_there);
    pthread_mutex_unlock(&pool->lock);
}

void pool_submit_first(struct pool *pool, struct pool_work *work)
{
    pthread_mutex_lock(&pool->lock);
    queue_add(&pool->first, work);
    pthread_cond_signal(&pool->work_there);
    pthread_mutex_unlock(&pool->lock);
}

void pool_wait(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    while (pool->busy_count || pool->first.head || pool->later.head)
        pthread_cond_wait(&pool->all_idle, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}
