/* rans_table.c - see rans_table.h. */
#include "rans_table.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

void rans_table_arrange(unsigned direct_count, const uint8_t *symbols, const uint8_t *frequencies,
                        struct rans_table *ret)
{
    unsigned order[RANS_ENTRIES_MAX];
    unsigned escape = RANS_SLOTS;

    for (unsigned i = 0; i < direct_count; i++) {
        unsigned j = i;
        for (; j > 0 && frequencies[order[j - 1]] > frequencies[i]; j--)
            order[j] = order[j - 1];
        order[j] = i;
        escape -= frequencies[i];
    }
    memset(ret, 0, sizeof *ret);
    ret->entry_count = (uint8_t)(direct_count + 1);
    ret->frequency[0] = (uint8_t)escape;
    for (unsigned i = 0; i < direct_count; i++) {
        ret->symbol[i + 1] = symbols[order[i]];
        ret->frequency[i + 1] = frequencies[order[i]];
        ret->start[i + 1] = (uint8_t)(ret->start[i] + ret->frequency[i]);
    }
}

/* The direct symbols, strictly ascending, in either form of the table. */
static bool read_symbols(const uint8_t *bytes, bool listed, unsigned count, uint8_t *ret)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned symbol = listed ? bytes[i] : bytes[0] + i;
        if (symbol > 255 || (i > 0 && symbol <= ret[i - 1]))
            return false;
        ret[i] = (uint8_t)symbol;
    }
    return true;
}

int rans_table_read(const uint8_t *bytes, size_t size, struct rans_table *ret, size_t *ret_used)
{
    uint8_t symbols[RANS_ENTRIES_MAX];

    if (size < 1 || bytes[0] & RANS_TABLE_ZERO)
        return -EBADMSG;
    unsigned count = bytes[0] & RANS_TABLE_COUNT;
    bool listed = bytes[0] & RANS_TABLE_LISTED;
    size_t symbols_size = listed ? count : 1;
    if (count < 1 || size - 1 < symbols_size + count)
        return -EBADMSG;
    if (!read_symbols(bytes + 1, listed, count, symbols))
        return -EBADMSG;

    const uint8_t *frequencies = bytes + 1 + symbols_size;
    unsigned sum = 0;
    for (unsigned i = 0; i < count; i++) {
        if (frequencies[i] < 1)
            return -EBADMSG;
        sum += frequencies[i];
    }
    if (sum >= RANS_SLOTS)
        return -EBADMSG;
    rans_table_arrange(count, symbols, frequencies, ret);
    *ret_used = 1 + symbols_size + count;
    return 0;
}

size_t rans_table_write(const struct rans_table *table, uint8_t *bytes)
{
    unsigned count = table->entry_count - 1u;
    unsigned order[RANS_ENTRIES_MAX];

    for (unsigned i = 0; i < count; i++) {
        unsigned j = i;
        for (; j > 0 && table->symbol[order[j - 1]] > table->symbol[i + 1]; j--)
            order[j] = order[j - 1];
        order[j] = i + 1;
    }
    bool listed = table->symbol[order[count - 1]] - table->symbol[order[0]] != (int)count - 1;
    uint8_t *to = bytes;
    *to++ = (uint8_t)(count | (listed ? RANS_TABLE_LISTED : 0));
    for (unsigned i = 0; i < (listed ? count : 1); i++)
        *to++ = table->symbol[order[i]];
    for (unsigned i = 0; i < count; i++)
        *to++ = table->frequency[order[i]];
    return (size_t)(to - bytes);
}
