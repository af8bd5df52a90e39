/* prefetch_jump.h - where clients went from the end of a run last time.
 *
 * A client that reads the same runs in the same order (layers of a model, token after token)
 * jumps from the end of one to the beginning of the next. Bounded; forgets at random. Not
 * thread-safe: the table's lock.
 */
#ifndef TRUNKFS_PREFETCH_JUMP_H
#define TRUNKFS_PREFETCH_JUMP_H

#include <stdbool.h>
#include <stdint.h>

struct packed_file;

enum { JUMP_COUNT = 1024 };

struct jump {
    struct packed_file *from_file; /* NULL: unused */
    uint64_t from_end;
    struct packed_file *to_file;
    uint64_t to_begin;
};

struct jump_table {
    struct jump jumps[JUMP_COUNT];
};

void jump_table_learn(struct jump_table *table, const struct jump *jump);

/* What followed a run that ended there; NULL: not known. */
const struct jump *jump_table_find(const struct jump_table *table,
                                   const struct packed_file *from_file, uint64_t from_end);

/* The client went on without a jump. */
void jump_table_unlearn(struct jump_table *table, const struct packed_file *from_file,
                        uint64_t from_end);

void jump_table_forget_file(struct jump_table *table, const struct packed_file *file);

#endif
