#include "packed_area.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "bytes.h"
#include "frame_decode.h"
#include "memory_map.h"

enum { GRANULE = 16 << 10, MARGIN = 4096, WORD_BITS = 64 };
_Static_assert((int)FRAME_DECODE_SLACK <= (int)MARGIN, "a margin holds the slack");

struct packed_area {
    uint8_t *map; /* margin, granules, margin */
    size_t map_size;
    size_t granule_count;
    pthread_mutex_t lock;
    size_t used;     /* granules; lock */
    uint64_t *taken; /* one bit per granule; lock */
};

static bool is_taken(const struct packed_area *area, size_t granule)
{
    return area->taken[granule / WORD_BITS] >> (granule % WORD_BITS) & 1;
}

static void mark(struct packed_area *area, size_t first, size_t count, bool taken)
{
    for (size_t i = first; i < first + count; i++) {
        uint64_t bit = UINT64_C(1) << (i % WORD_BITS);
        assert(is_taken(area, i) != taken);
        if (taken)
            area->taken[i / WORD_BITS] |= bit;
        else
            area->taken[i / WORD_BITS] &= ~bit;
    }
}

/* The first free run of count granules in [begin, end), or end. */
static size_t search(const struct packed_area *area, size_t begin, size_t end, size_t count)
{
    size_t run = 0;

    for (size_t i = begin; i < end; i++) {
        if (i % WORD_BITS == 0 && area->taken[i / WORD_BITS] == UINT64_MAX) {
            run = 0;
            i += WORD_BITS - 1;
            continue;
        }
        run = is_taken(area, i) ? 0 : run + 1;
        if (run == count)
            return i + 1 - count;
    }
    return end;
}

uint8_t *packed_area_take(struct packed_area *area, size_t size)
{
    size_t count = align_up(size, GRANULE) / GRANULE;
    size_t end = area->granule_count;
    uint8_t *run = NULL;

    pthread_mutex_lock(&area->lock);
    if (count && count <= end - area->used) {
        /* First fit from the bottom keeps the working set small and large runs whole. */
        size_t first = search(area, 0, end, count);
        if (first < end) {
            mark(area, first, count, true);
            area->used += count;
            run = area->map + MARGIN + first * GRANULE;
        }
    }
    pthread_mutex_unlock(&area->lock);
    return run;
}

void packed_area_put(struct packed_area *area, uint8_t *run, size_t size)
{
    size_t count = align_up(size, GRANULE) / GRANULE;
    size_t first = (size_t)(run - area->map - MARGIN) / GRANULE;

    pthread_mutex_lock(&area->lock);
    mark(area, first, count, false);
    area->used -= count;
    pthread_mutex_unlock(&area->lock);
}

size_t packed_area_used(struct packed_area *area)
{
    pthread_mutex_lock(&area->lock);
    size_t used = area->used * GRANULE;
    pthread_mutex_unlock(&area->lock);
    return used;
}

size_t packed_area_size(const struct packed_area *area)
{
    return area->granule_count * GRANULE;
}

void packed_area_populate(struct packed_area *area)
{
    memory_map_populate(area->map, area->map_size);
}

void packed_area_memory(const struct packed_area *area, uint8_t **ret_base, size_t *ret_size)
{
    *ret_base = area->map;
    *ret_size = area->map_size;
}

int packed_area_new(size_t size, struct packed_area **ret)
{
    struct packed_area *area = calloc(1, sizeof(*area));

    if (!area)
        return -ENOMEM;
    area->granule_count = size / GRANULE;
    area->map_size = area->granule_count * GRANULE + 2 * MARGIN;
    area->map = memory_map_new(area->map_size);
    area->taken = calloc(area->granule_count / WORD_BITS + 1, sizeof(*area->taken));
    if (!area->map || !area->taken) {
        packed_area_free(area);
        return -ENOMEM;
    }
    pthread_mutex_init(&area->lock, NULL);
    *ret = area;
    return 0;
}

void packed_area_free(struct packed_area *area)
{
    if (!area)
        return;
    memory_map_free(area->map, area->map_size);
    free(area->taken);
    free(area);
}
