#include "memory_map.h"

#include <sys/mman.h>

#include "bytes.h"

enum { PAGE = 4096, HUGE_PAGE = 2 << 20 };

uint8_t *memory_map_new(size_t size)
{
    size_t room = align_up(size, HUGE_PAGE) + HUGE_PAGE;
    uint8_t *map = mmap(NULL, room, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return NULL;

    /* Trim to the aligned part, so that free needs no more than base and size. */
    uint8_t *base = (uint8_t *)align_up((uintptr_t)map, HUGE_PAGE);
    uint8_t *end = base + align_up(size, HUGE_PAGE);
    if (base > map)
        munmap(map, (size_t)(base - map));
    if (map + room > end)
        munmap(end, (size_t)(map + room - end));
    return base;
}

void memory_map_free(uint8_t *base, size_t size)
{
    if (base)
        munmap(base, align_up(size, HUGE_PAGE));
}

void memory_map_populate(uint8_t *base, size_t size)
{
    /* Only a hint: small pages serve as well, more slowly. */
    (void)madvise(base, align_up(size, PAGE), MADV_HUGEPAGE);
#ifdef MADV_POPULATE_WRITE
    if (madvise(base, align_up(size, PAGE), MADV_POPULATE_WRITE) == 0)
        return;
#endif
    for (size_t i = 0; i < size; i += PAGE)
        __atomic_fetch_or(base + i, 0, __ATOMIC_RELAXED);
}

void memory_map_discard(uint8_t *base, size_t size)
{
    uintptr_t begin = align_up((uintptr_t)base, PAGE);
    uintptr_t end = ((uintptr_t)base + size) & ~(uintptr_t)(PAGE - 1);
    if (begin < end)
        (void)madvise((void *)begin, end - begin, MADV_DONTNEED);
}
