#include "frame_table.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "frame_pool.h"
#include "ghost.h"
#include "metrics.h"

enum {
    BAD_MAX = 1024,  /* bad frames remembered */
    YOUNG_SHARE = 4, /* young frames may use at least a fourth of the budget */
};
#define BAD_RETRY_NS UINT64_C(2000000000) /* a fault of the disk may have gone by then */

struct frame_queue {
    struct frame *first, *last;
    size_t bytes; /* of buffers */
    unsigned count;
};

struct frame_table {
    pthread_mutex_t lock;
    struct frame_pool *pool;
    struct ghost *ghost;
    size_t promised; /* bytes of buffers that admitted requests will still take */
    size_t pinned;   /* bytes of buffers that may not be evicted */
    struct frame_queue young, old, bad;
    size_t bucket_mask;
    struct frame **buckets;
};

static size_t slot_size(const struct packed_file *file)
{
    return frame_pool_slot_size(file->frame_size);
}

static uint64_t frame_key(const struct packed_file *file, uint64_t number)
{
    uint64_t key = ((uint64_t)(uintptr_t)file >> 4) * UINT64_C(0x9E3779B97F4A7C15) + number;
    key ^= key >> 32;
    key *= UINT64_C(0xD6E8FEB86659FD93);
    return key ^ key >> 32;
}

static struct frame_queue *frame_queue_of(struct frame_table *table, enum frame_list list)
{
    switch (list) {
    case FRAME_LIST_YOUNG:
        return &table->young;
    case FRAME_LIST_OLD:
        return &table->old;
    case FRAME_LIST_BAD:
        return &table->bad;
    case FRAME_LIST_NONE:
        break;
    }
    return NULL;
}

static void list_remove(struct frame_table *table, struct frame *frame)
{
    struct frame_queue *queue = frame_queue_of(table, frame->list);

    if (!queue)
        return;
    if (frame->list_prev)
        frame->list_prev->list_next = frame->list_next;
    else
        queue->first = frame->list_next;
    if (frame->list_next)
        frame->list_next->list_prev = frame->list_prev;
    else
        queue->last = frame->list_prev;
    queue->count--;
    queue->bytes -= frame->buffer ? slot_size(frame->file) : 0;
    frame->list = FRAME_LIST_NONE;
}

static void list_append(struct frame_table *table, struct frame *frame, enum frame_list list)
{
    struct frame_queue *queue = frame_queue_of(table, list);

    assert(frame->list == FRAME_LIST_NONE);
    frame->list = list;
    frame->list_next = NULL;
    frame->list_prev = queue->last;
    if (queue->last)
        queue->last->list_next = frame;
    else
        queue->first = frame;
    queue->last = frame;
    queue->count++;
    queue->bytes += frame->buffer ? slot_size(frame->file) : 0;
}

struct frame *frame_table_find(struct frame_table *table, const struct packed_file *file,
                               uint64_t number)
{
    struct frame *frame = table->buckets[frame_key(file, number) & table->bucket_mask];

    while (frame && (frame->file != file || frame->number != number))
        frame = frame->hash_next;
    if (frame && frame->state == FRAME_BAD && !frame->references &&
        metrics_now() - frame->bad_since > BAD_RETRY_NS) {
        frame_table_drop(table, frame);
        return NULL;
    }
    return frame;
}

struct frame *frame_table_add(struct frame_table *table, struct packed_file *file, uint64_t number)
{
    struct frame *frame = calloc(1, sizeof(*frame));
    uint64_t key = frame_key(file, number);
    struct frame **bucket = &table->buckets[key & table->bucket_mask];

    if (!frame)
        return NULL;
    packed_file_get(file);
    frame->file = file;
    frame->number = number;
    frame->state = FRAME_FETCHING;
    frame->wanted_again = ghost_take(table->ghost, key);
    index_frame_get(file->index, number, &frame->place);
    frame->hash_next = *bucket;
    *bucket = frame;
    frame->file_next = file->frames;
    if (file->frames)
        file->frames->file_prev = frame;
    file->frames = frame;
    return frame;
}

static void release_buffer(struct frame_table *table, struct frame *frame)
{
    if (!frame->buffer)
        return;
    frame_pool_put(table->pool, frame->file->frame_size, frame->buffer);
    frame->buffer = NULL;
    metrics_gauge_add(METRICS_MEMORY_FRAMES, -(int64_t)slot_size(frame->file));
}

static void break_promise(struct frame_table *table, struct frame *frame)
{
    if (frame->promised)
        table->promised -= slot_size(frame->file);
    frame->promised = false;
}

void frame_table_drop(struct frame_table *table, struct frame *frame)
{
    uint64_t key = frame_key(frame->file, frame->number);
    struct frame **link = &table->buckets[key & table->bucket_mask];

    assert(!frame->references && !frame->waiters);
    while (*link != frame)
        link = &(*link)->hash_next;
    *link = frame->hash_next;
    if (frame->file_prev)
        frame->file_prev->file_next = frame->file_next;
    else
        frame->file->frames = frame->file_next;
    if (frame->file_next)
        frame->file_next->file_prev = frame->file_prev;
    if (frame->state == FRAME_READY)
        ghost_add(table->ghost, key);
    list_remove(table, frame);
    break_promise(table, frame);
    release_buffer(table, frame);
    packed_file_put(frame->file);
    free(frame);
}

size_t frame_table_need(const struct frame_table *table, const struct packed_file *file,
                        const struct frame *frame)
{
    bool counted =
        frame && (frame->promised || frame->state == FRAME_BAD ||
                  (frame->buffer && (frame->references || frame->state == FRAME_QUEUED)));
    return counted ? 0 : slot_size(file);
}

bool frame_table_admit(const struct frame_table *table, size_t bytes)
{
    size_t taken = table->promised + table->pinned;
    size_t budget = frame_pool_budget(table->pool);
    return taken <= budget && bytes <= budget - taken;
}

void frame_table_ref(struct frame_table *table, struct frame *frame)
{
    if (frame->state == FRAME_READY && frame->references == 0) {
        list_remove(table, frame);
        table->pinned += slot_size(frame->file);
    } else if (!frame->buffer && frame->state != FRAME_BAD && !frame->promised) {
        frame->promised = true;
        table->promised += slot_size(frame->file);
    }
    frame->references++;
}

/* A frame that nobody uses now: keep it, in which list, or not? */
static void settle_idle(struct frame_table *table, struct frame *frame)
{
    bool consumed = frame->served >= frame->place.raw_size;

    table->pinned -= slot_size(frame->file);
    if (frame->wanted_again || frame->served >= 2 * (uint64_t)frame->place.raw_size)
        list_append(table, frame, FRAME_LIST_OLD);
    else if (consumed)
        frame_table_drop(table, frame);
    else
        list_append(table, frame, FRAME_LIST_YOUNG);
}

void frame_table_unref(struct frame_table *table, struct frame *frame, uint32_t served)
{
    assert(frame->references);
    frame->references--;
    frame->served = served > UINT32_MAX - frame->served ? UINT32_MAX : frame->served + served;
    if (frame->references)
        return;
    if (frame->state == FRAME_READY)
        settle_idle(table, frame);
}

/* Evict the idle frame that is worth least. */
static bool evict_one(struct frame_table *table)
{
    size_t share = frame_pool_budget(table->pool) / YOUNG_SHARE;
    bool from_young = table->young.first && (table->young.bytes > share || !table->old.first);
    struct frame *frame = from_young ? table->young.first : table->old.first;

    if (!frame)
        return false;
    if (frame->prefetched)
        metrics_add(METRICS_PREFETCH_WASTED, frame->place.packed_size);
    metrics_add(METRICS_CACHE_EVICTIONS, 1);
    frame_table_drop(table, frame);
    return true;
}

bool frame_table_buffer(struct frame_table *table, struct frame *frame)
{
    size_t size = slot_size(frame->file);

    if (!frame->promised && !frame_table_admit(table, size))
        return false;
    do {
        frame->buffer = frame_pool_take(table->pool, frame->file->frame_size);
    } while (!frame->buffer && evict_one(table));
    if (!frame->buffer)
        return false;
    break_promise(table, frame);
    table->pinned += size;
    metrics_gauge_add(METRICS_MEMORY_FRAMES, (int64_t)size);
    return true;
}

void frame_table_set_ready(struct frame_table *table, struct frame *frame)
{
    frame->state = FRAME_READY;
    if (!frame->references) { /* decoded ahead */
        table->pinned -= slot_size(frame->file);
        list_append(table, frame, FRAME_LIST_YOUNG);
    }
}

void frame_table_set_bad(struct frame_table *table, struct frame *frame, bool remember)
{
    if (frame->buffer)
        table->pinned -= slot_size(frame->file);
    release_buffer(table, frame);
    break_promise(table, frame);
    frame->state = FRAME_BAD;
    frame->bad_since = remember ? metrics_now() : 0;
    list_append(table, frame, FRAME_LIST_BAD);
    if (table->bad.count > BAD_MAX) {
        struct frame *oldest = table->bad.first;
        if (!oldest->references)
            frame_table_drop(table, oldest);
    }
}

void frame_table_drop_file(struct frame_table *table, struct packed_file *file)
{
    struct frame *frame = file->frames;

    while (frame) {
        struct frame *next = frame->file_next;
        if (!frame->references && (frame->state == FRAME_READY || frame->state == FRAME_BAD))
            frame_table_drop(table, frame);
        frame = next;
    }
}

bool frame_table_set_budget(struct frame_table *table, size_t budget)
{
    if (table->promised + table->pinned > budget)
        return false;
    while (frame_pool_used(table->pool) > budget && evict_one(table))
        ;
    frame_pool_set_budget(table->pool, budget);
    return true;
}

size_t frame_table_budget(const struct frame_table *table)
{
    return frame_pool_budget(table->pool);
}

void frame_table_populate(const struct frame_table *table)
{
    frame_pool_populate(table->pool);
}

void frame_table_lock(struct frame_table *table)
{
    pthread_mutex_lock(&table->lock);
}

void frame_table_unlock(struct frame_table *table)
{
    pthread_mutex_unlock(&table->lock);
}

int frame_table_new(size_t budget, struct frame_table **ret)
{
    struct frame_table *table = calloc(1, sizeof(*table));
    size_t frames = budget / TRUNK_FRAME_SIZE_DEFAULT;
    size_t buckets = 1024;
    int r;

    if (!table)
        return -ENOMEM;
    while (buckets < 4 * frames)
        buckets *= 2;
    table->bucket_mask = buckets - 1;
    table->buckets = calloc(buckets, sizeof(*table->buckets));
    r = table->buckets ? ghost_new(frames, &table->ghost) : -ENOMEM;
    if (r == 0)
        r = frame_pool_new(budget, &table->pool);
    if (r < 0) {
        frame_table_free(table);
        return r;
    }
    pthread_mutex_init(&table->lock, NULL);
    *ret = table;
    return 0;
}

void frame_table_free(struct frame_table *table)
{
    if (!table)
        return;
    while (evict_one(table))
        ;
    while (table->bad.first)
        frame_table_drop(table, table->bad.first);
    frame_pool_free(table->pool);
    ghost_free(table->ghost);
    free(table->buckets);
    free(table);
}
