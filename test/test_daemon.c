/* test_daemon.c - the daemon's parts that need no mount: memory, what is kept, and what is
 * recognised as a stream. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "frame_decode.h"
#include "frame_pool.h"
#include "ghost.h"
#include "packed_area.h"
#include "prefetch_jump.h"
#include "prefetch_stream.h"
#include "unit.h"

enum { MIB = 1 << 20, REQUEST = 128 << 10 };

/* Files are told apart by address only. */
static char file_a, file_b;
#define FILE_A ((struct packed_file *)(void *)&file_a)
#define FILE_B ((struct packed_file *)(void *)&file_b)

START_TEST(pool_never_exceeds_its_budget)
{
    static const uint32_t sizes[] = {TRUNK_FRAME_SIZE_DEFAULT, TRUNK_FRAME_SIZE_MAX,
                                     TRUNK_FRAME_SIZE_MIN};
    struct frame_pool *pool;
    uint8_t *slots[4096];

    ck_assert_int_eq(frame_pool_new(16 * MIB, &pool), 0);
    for (unsigned s = 0; s < 3; s++) {
        unsigned count = 0;
        while ((slots[count] = frame_pool_take(pool, sizes[s]))) {
            memset(slots[count], 0x55, sizes[s] + FRAME_DECODE_SLACK);
            count++;
        }
        ck_assert_uint_eq(count, 16 * MIB / frame_pool_slot_size(sizes[s]));
        ck_assert_uint_le(frame_pool_used(pool), 16 * MIB);
        while (count)
            frame_pool_put(pool, sizes[s], slots[--count]);
        ck_assert_uint_eq(frame_pool_used(pool), 0);
    }
    frame_pool_free(pool);
}
END_TEST

START_TEST(pool_reuses_the_slot_that_is_still_hot)
{
    struct frame_pool *pool;
    uint8_t *first, *second;

    ck_assert_int_eq(frame_pool_new(16 * MIB, &pool), 0);
    first = frame_pool_take(pool, TRUNK_FRAME_SIZE_DEFAULT);
    second = frame_pool_take(pool, TRUNK_FRAME_SIZE_DEFAULT);
    frame_pool_put(pool, TRUNK_FRAME_SIZE_DEFAULT, first);
    frame_pool_put(pool, TRUNK_FRAME_SIZE_DEFAULT, second);
    ck_assert_ptr_eq(frame_pool_take(pool, TRUNK_FRAME_SIZE_DEFAULT), second);
    frame_pool_put(pool, TRUNK_FRAME_SIZE_DEFAULT, second);
    frame_pool_free(pool);
}
END_TEST

START_TEST(pool_gives_memory_up_with_its_budget)
{
    struct frame_pool *pool;
    uint8_t *slot;

    ck_assert_int_eq(frame_pool_new(16 * MIB, &pool), 0);
    slot = frame_pool_take(pool, TRUNK_FRAME_SIZE_MAX);
    frame_pool_set_budget(pool, 5 * MIB);
    ck_assert_ptr_null(frame_pool_take(pool, TRUNK_FRAME_SIZE_MAX));
    frame_pool_put(pool, TRUNK_FRAME_SIZE_MAX, slot);
    ck_assert_ptr_nonnull(slot = frame_pool_take(pool, TRUNK_FRAME_SIZE_MAX));
    frame_pool_put(pool, TRUNK_FRAME_SIZE_MAX, slot);
    frame_pool_set_budget(pool, 64 * MIB); /* no more than at first */
    ck_assert_uint_eq(frame_pool_budget(pool), 16 * MIB);
    frame_pool_free(pool);
}
END_TEST

START_TEST(area_hands_out_runs_that_do_not_overlap)
{
    enum { COUNT = 64 };
    struct packed_area *area;
    uint8_t *runs[COUNT] = {NULL};
    size_t sizes[COUNT];
    uint64_t random = 1;

    ck_assert_int_eq(packed_area_new(8 * MIB, &area), 0);
    for (unsigned round = 0; round < 20000; round++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        unsigned i = (unsigned)(random >> 58);
        if (runs[i]) {
            for (size_t at = 0; at < sizes[i]; at += 4096)
                ck_assert_uint_eq(runs[i][at], i);
            packed_area_put(area, runs[i], sizes[i]);
            runs[i] = NULL;
            continue;
        }
        sizes[i] = 4096 * (1 + (random >> 40) % 200);
        runs[i] = packed_area_take(area, sizes[i]);
        if (!runs[i])
            continue;
        ck_assert_uint_eq((uintptr_t)runs[i] % 4096, 0);
        memset(runs[i], (int)i, sizes[i]);
    }
    for (unsigned i = 0; i < COUNT; i++) {
        if (runs[i])
            packed_area_put(area, runs[i], sizes[i]);
    }
    ck_assert_uint_eq(packed_area_used(area), 0);
    ck_assert_ptr_null(packed_area_take(area, 8 * MIB + 1));
    runs[0] = packed_area_take(area, 8 * MIB);
    ck_assert_ptr_nonnull(runs[0]);
    packed_area_put(area, runs[0], 8 * MIB);
    packed_area_free(area);
}
END_TEST

START_TEST(ghost_remembers_the_last_ones_only)
{
    struct ghost *ghost;

    ck_assert_int_eq(ghost_new(100, &ghost), 0);
    for (uint64_t key = 1; key <= 1000; key++)
        ghost_add(ghost, key);
    ck_assert(ghost_take(ghost, 1000));
    ck_assert(!ghost_take(ghost, 1000)); /* taken */
    ck_assert(ghost_take(ghost, 950));
    ck_assert(!ghost_take(ghost, 800));
    ghost_free(ghost);
}
END_TEST

static struct stream *note(struct stream_set *set, struct packed_file *file, uint64_t offset)
{
    struct stream_event event;
    stream_set_note(set, file, offset, REQUEST, false, &event);
    return event.stream;
}

START_TEST(streams_are_told_apart_by_range)
{
    struct stream_set *set = calloc(1, sizeof(*set));
    struct stream *first = NULL, *second = NULL, *other = NULL;

    for (uint64_t i = 0; i < 8; i++) { /* two threads on one descriptor, and another file */
        first = note(set, FILE_A, i * REQUEST);
        second = note(set, FILE_A, 64 * MIB + i * REQUEST);
        other = note(set, FILE_B, i * REQUEST);
    }
    ck_assert_ptr_ne(first, second);
    ck_assert_ptr_ne(first, other);
    ck_assert(stream_is_steady(first) && stream_is_steady(second) && stream_is_steady(other));
    ck_assert_uint_eq(first->next, 8 * REQUEST);
    ck_assert_uint_eq(second->begin, 64 * MIB);
    free(set);
}
END_TEST

START_TEST(streams_may_come_a_little_out_of_order)
{
    static const unsigned order[] = {0, 2, 1, 3, 5, 4, 6, 7};
    struct stream_set *set = calloc(1, sizeof(*set));
    struct stream *first = note(set, FILE_A, 0);

    for (unsigned i = 1; i < 8; i++)
        ck_assert_ptr_eq(note(set, FILE_A, order[i] * (uint64_t)REQUEST), first);
    ck_assert_uint_eq(first->next, 8 * REQUEST);
    free(set);
}
END_TEST

START_TEST(strides_and_backward_readers_are_recognised)
{
    static const int64_t strides[] = {-REQUEST, -3 * MIB, 5 * MIB};
    struct stream_set *set = calloc(1, sizeof(*set));
    struct stream *stream = NULL;

    for (int64_t i = 0; i < 6; i++)
        stream = note(set, FILE_A, (uint64_t)(512 * (int64_t)MIB + i * strides[_i]));
    ck_assert_int_eq(stream->stride, strides[_i]);
    ck_assert(stream_is_steady(stream));
    free(set);
}
END_TEST

START_TEST(random_readers_are_no_stream)
{
    struct stream_set *set = calloc(1, sizeof(*set));
    uint64_t random = 7;
    unsigned steady = 0;

    for (unsigned i = 0; i < 2000; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        struct stream_event event;
        stream_set_note(set, FILE_A, (random >> 30) % (1 << 20) * 4096, 4096, true, &event);
        steady += stream_is_steady(event.stream);
    }
    ck_assert_uint_le(steady, 2);
    free(set);
}
END_TEST

START_TEST(jumps_are_learnt_and_forgotten)
{
    struct jump_table *table = calloc(1, sizeof(*table));
    struct jump jump = {.from_file = FILE_A, .from_end = 100, .to_file = FILE_B, .to_begin = 7};

    jump_table_learn(table, &jump);
    ck_assert_uint_eq(jump_table_find(table, FILE_A, 100)->to_begin, 7);
    ck_assert_ptr_null(jump_table_find(table, FILE_A, 101));
    ck_assert_ptr_null(jump_table_find(table, FILE_B, 100));
    jump_table_unlearn(table, FILE_A, 100);
    ck_assert_ptr_null(jump_table_find(table, FILE_A, 100));
    jump_table_learn(table, &jump);
    jump_table_forget_file(table, FILE_B); /* its target is gone */
    ck_assert_ptr_null(jump_table_find(table, FILE_A, 100));
    free(table);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("daemon");
    TCase *memory = unit_case(suite, "memory");
    TCase *ahead = unit_case(suite, "ahead");

    tcase_add_test(memory, pool_never_exceeds_its_budget);
    tcase_add_test(memory, pool_reuses_the_slot_that_is_still_hot);
    tcase_add_test(memory, pool_gives_memory_up_with_its_budget);
    tcase_add_test(memory, area_hands_out_runs_that_do_not_overlap);
    tcase_add_test(memory, ghost_remembers_the_last_ones_only);
    tcase_add_test(ahead, streams_are_told_apart_by_range);
    tcase_add_test(ahead, streams_may_come_a_little_out_of_order);
    tcase_add_loop_test(ahead, strides_and_backward_readers_are_recognised, 0, 3);
    tcase_add_test(ahead, random_readers_are_no_stream);
    tcase_add_test(ahead, jumps_are_learnt_and_forgotten);
    return unit_run(suite);
}
