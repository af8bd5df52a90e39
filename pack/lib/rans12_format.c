/* rans12_format.c - see rans12_format.h. */
#include "rans12_format.h"

bool rans12_table_build(struct rans12_table *table)
{
    const unsigned mirror = table->mirror;
    unsigned mirror_bits = (unsigned)__builtin_popcount(mirror);
    uint32_t used = 0, weight_sum = 0;

    for (unsigned s = 0; s < 256; s = rans12_next(s, mirror)) {
        if (!table->levels[s])
            continue;
        used++;
        weight_sum += rans12_level_weight(table->levels[s]);
    }
    /* Below 4096 each, or a state could overflow: two symbols at least. */
    if (used << mirror_bits < 2 || weight_sum == 0)
        return false;

    table->escape_frequency = (uint16_t)(table->escape_units << mirror_bits);
    uint32_t slots = (uint32_t)(RANS12_SLOTS - table->escape_frequency) >> mirror_bits;
    uint64_t shared = slots - used; /* every symbol that occurs has one slot beforehand */
    uint32_t weight = 0, given = 0;
    for (unsigned s = 0; s < 256; s = rans12_next(s, mirror)) {
        table->frequencies[s] = 0;
        if (!table->levels[s])
            continue;
        weight += rans12_level_weight(table->levels[s]);
        uint32_t next = (uint32_t)(shared * weight / weight_sum);
        table->frequencies[s] = (uint16_t)(1 + next - given);
        given = next;
    }
    for (unsigned s = 0; s < 256; s++)
        table->frequencies[s] = table->frequencies[s & ~mirror & 255];
    return true;
}
