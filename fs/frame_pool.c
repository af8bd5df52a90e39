#include "frame_pool.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "bytes.h"
#include "format.h"
#include "frame_decode.h"
#include "memory_map.h"

enum {
    SHIFT_MIN = 12, /* TRUNK_FRAME_SIZE_MIN */
    SHIFT_MAX = 22, /* TRUNK_FRAME_SIZE_MAX */
    SHIFT_DEFAULT = 18,
    CLASS_COUNT = SHIFT_MAX - SHIFT_MIN + 1,
    SLOT_ALIGNMENT = 4096,
};
_Static_assert(1 << SHIFT_MIN == TRUNK_FRAME_SIZE_MIN, "smallest class");
_Static_assert(1 << SHIFT_MAX == TRUNK_FRAME_SIZE_MAX, "largest class");
_Static_assert(1 << SHIFT_DEFAULT == TRUNK_FRAME_SIZE_DEFAULT, "default class");

/* Slots of one size in one range of addresses. A free slot is ready (it holds memory) or
 * bare (its memory was taken away, or it never had any). */
struct slot_class {
    uint8_t *base; /* NULL until the class is first used */
    size_t slot_size;
    uint32_t slot_count;
    uint32_t ready_count;
    uint32_t bare_count;
    uint32_t *ready; /* stack of slot numbers with memory */
    uint32_t *bare;  /* stack of slot numbers without */
};

struct frame_pool {
    size_t capacity; /* the largest budget ever allowed: address space of a class */
    size_t budget;
    size_t committed; /* bytes of slots that hold memory, in use or ready */
    size_t used;
    struct slot_class classes[CLASS_COUNT];
};

size_t frame_pool_slot_size(uint32_t frame_size)
{
    return align_up((size_t)frame_size + FRAME_DECODE_SLACK, SLOT_ALIGNMENT);
}

static struct slot_class *pool_class(struct frame_pool *pool, uint32_t frame_size)
{
    unsigned shift = (unsigned)__builtin_ctz(frame_size);
    assert(frame_size == 1u << shift && shift >= SHIFT_MIN && shift <= SHIFT_MAX);
    return &pool->classes[shift - SHIFT_MIN];
}

static int class_open(struct frame_pool *pool, struct slot_class *class, uint32_t frame_size)
{
    size_t slot_size = frame_pool_slot_size(frame_size);
    uint32_t count = (uint32_t)(pool->capacity / slot_size);
    uint32_t *stacks = count ? calloc(2 * (size_t)count, sizeof(*stacks)) : NULL;
    uint8_t *base;

    if (!stacks)
        return -ENOMEM;
    base = memory_map_new(count * slot_size);
    if (!base) {
        free(stacks);
        return -ENOMEM;
    }
    *class = (struct slot_class){.base = base,
                                 .slot_size = slot_size,
                                 .slot_count = count,
                                 .bare_count = count,
                                 .ready = stacks,
                                 .bare = stacks + count};
    for (uint32_t i = 0; i < count; i++)
        class->bare[i] = count - 1 - i;
    return 0;
}

/* Take the memory of one slot that is ready in any class away. */
static bool pool_shrink(struct frame_pool *pool)
{
    for (unsigned i = 0; i < CLASS_COUNT; i++) {
        struct slot_class *class = &pool->classes[i];
        if (!class->ready_count)
            continue;
        uint32_t slot = class->ready[0]; /* the coldest */
        class->ready[0] = class->ready[--class->ready_count];
        memory_map_discard(class->base + slot * class->slot_size, class->slot_size);
        class->bare[class->bare_count++] = slot;
        pool->committed -= class->slot_size;
        return true;
    }
    return false;
}

uint8_t *frame_pool_take(struct frame_pool *pool, uint32_t frame_size)
{
    struct slot_class *class = pool_class(pool, frame_size);
    uint32_t slot;

    if (!class->base && class_open(pool, class, frame_size) < 0)
        return NULL;
    if (class->ready_count) {
        slot = class->ready[--class->ready_count];
    } else {
        while (pool->committed + class->slot_size > pool->budget) {
            if (!pool_shrink(pool))
                return NULL;
        }
        if (!class->bare_count)
            return NULL;
        slot = class->bare[--class->bare_count];
        pool->committed += class->slot_size;
    }
    pool->used += class->slot_size;
    return class->base + slot * class->slot_size;
}

void frame_pool_put(struct frame_pool *pool, uint32_t frame_size, uint8_t *address)
{
    struct slot_class *class = pool_class(pool, frame_size);
    uint32_t slot = (uint32_t)((size_t)(address - class->base) / class->slot_size);

    assert(slot < class->slot_count);
    class->ready[class->ready_count++] = slot;
    pool->used -= class->slot_size;
    while (pool->committed > pool->budget && pool_shrink(pool))
        ;
}

size_t frame_pool_budget(const struct frame_pool *pool)
{
    return pool->budget;
}

size_t frame_pool_used(const struct frame_pool *pool)
{
    return pool->used;
}

void frame_pool_set_budget(struct frame_pool *pool, size_t budget)
{
    pool->budget = budget < pool->capacity ? budget : pool->capacity;
    while (pool->committed > pool->budget && pool_shrink(pool))
        ;
}

/* Count every slot of the default class that the budget allows as ready; frame_pool_populate
 * makes it true. */
static void make_ready(struct frame_pool *pool, struct slot_class *class)
{
    while (pool->committed + class->slot_size <= pool->budget && class->bare_count) {
        class->ready[class->ready_count++] = class->bare[--class->bare_count];
        pool->committed += class->slot_size;
    }
}

void frame_pool_populate(const struct frame_pool *pool)
{
    const struct slot_class *class = &pool->classes[SHIFT_DEFAULT - SHIFT_MIN];
    memory_map_populate(class->base, pool->capacity / class->slot_size * class->slot_size);
}

int frame_pool_new(size_t budget, struct frame_pool **ret)
{
    struct frame_pool *pool = calloc(1, sizeof(*pool));
    int r;

    if (!pool)
        return -ENOMEM;
    pool->capacity = pool->budget = budget;
    struct slot_class *class = pool_class(pool, TRUNK_FRAME_SIZE_DEFAULT);
    r = class_open(pool, class, TRUNK_FRAME_SIZE_DEFAULT);
    if (r < 0) {
        free(pool);
        return r;
    }
    make_ready(pool, class);
    *ret = pool;
    return 0;
}

void frame_pool_free(struct frame_pool *pool)
{
    if (!pool)
        return;
    for (unsigned i = 0; i < CLASS_COUNT; i++) {
        struct slot_class *class = &pool->classes[i];
        memory_map_free(class->base, class->slot_count * class->slot_size);
        free(class->ready);
    }
    free(pool);
}
