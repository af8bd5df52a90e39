#include "ghost.h"

#include <errno.h>
#include <stdlib.h>

struct ghost_entry {
    uint64_t key;
    uint64_t stamp; /* value of clock when added; 0: empty */
};

struct ghost {
    size_t count;   /* keys remembered */
    size_t mask;    /* entries - 1; twice as many as keys, one key per entry */
    uint64_t clock; /* keys ever added */
    struct ghost_entry entries[];
};

int ghost_new(size_t count, struct ghost **ret)
{
    size_t entries = 64;
    struct ghost *ghost;

    while (entries < 2 * count)
        entries *= 2;
    ghost = calloc(1, sizeof(*ghost) + entries * sizeof(ghost->entries[0]));
    if (!ghost)
        return -ENOMEM;
    ghost->count = count;
    ghost->mask = entries - 1;
    *ret = ghost;
    return 0;
}

void ghost_free(struct ghost *ghost)
{
    free(ghost);
}

void ghost_add(struct ghost *ghost, uint64_t key)
{
    ghost->entries[key & ghost->mask] = (struct ghost_entry){.key = key, .stamp = ++ghost->clock};
}

bool ghost_take(struct ghost *ghost, uint64_t key)
{
    struct ghost_entry *entry = &ghost->entries[key & ghost->mask];
    bool known = entry->stamp && entry->key == key && ghost->clock - entry->stamp < ghost->count;

    if (known)
        entry->stamp = 0;
    return known;
}
