#include "prefetch_jump.h"

#include <stddef.h>

static unsigned slot_of(const struct packed_file *file, uint64_t end)
{
    uint64_t key = ((uint64_t)(uintptr_t)file >> 4) * UINT64_C(0x9E3779B97F4A7C15) + end;
    key *= UINT64_C(0xD6E8FEB86659FD93);
    return (unsigned)(key >> 40) % JUMP_COUNT;
}

void jump_table_learn(struct jump_table *table, const struct jump *jump)
{
    table->jumps[slot_of(jump->from_file, jump->from_end)] = *jump;
}

const struct jump *jump_table_find(const struct jump_table *table,
                                   const struct packed_file *from_file, uint64_t from_end)
{
    const struct jump *jump = &table->jumps[slot_of(from_file, from_end)];
    return jump->from_file == from_file && jump->from_end == from_end ? jump : NULL;
}

void jump_table_unlearn(struct jump_table *table, const struct packed_file *from_file,
                        uint64_t from_end)
{
    struct jump *jump = &table->jumps[slot_of(from_file, from_end)];
    if (jump->from_file == from_file && jump->from_end == from_end)
        jump->from_file = NULL;
}

void jump_table_forget_file(struct jump_table *table, const struct packed_file *file)
{
    for (unsigned i = 0; i < JUMP_COUNT; i++) {
        if (table->jumps[i].from_file == file || table->jumps[i].to_file == file)
            table->jumps[i].from_file = NULL;
    }
}
