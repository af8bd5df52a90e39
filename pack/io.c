/* io.c - loops around pread, pwrite and SEEK_DATA. */
#include "io.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "bytes.h"
#include "format.h"

int io_read(int fd, void *buffer, size_t size, uint64_t offset)
{
    uint8_t *at = buffer;

    while (size > 0) {
        ssize_t got = pread(fd, at, size, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            return -ENODATA;
        at += got;
        size -= (size_t)got;
        offset += (uint64_t)got;
    }
    return 0;
}

int io_write(int fd, const void *buffer, size_t size, uint64_t offset)
{
    const uint8_t *at = buffer;

    while (size > 0) {
        ssize_t put = pwrite(fd, at, size, (off_t)offset);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return -errno;
        if (put == 0)
            return -EIO;
        at += put;
        size -= (size_t)put;
        offset += (uint64_t)put;
    }
    return 0;
}

int io_next_data(int fd, uint64_t offset, uint64_t size, uint64_t *ret_start, uint64_t *ret_end)
{
    *ret_start = *ret_end = size;
    if (offset >= size)
        return 0;

    off_t start = lseek(fd, (off_t)offset, SEEK_DATA);
    if (start < 0 && errno == ENXIO)
        return 0;
    if (start < 0 && (errno == EINVAL || errno == EOPNOTSUPP)) {
        *ret_start = offset;
        return 0;
    }
    if (start < 0)
        return -errno;
    off_t end = lseek(fd, start, SEEK_HOLE);
    if (end < 0)
        return -errno;
    *ret_start = (uint64_t)start < size ? (uint64_t)start : size;
    *ret_end = (uint64_t)end < size ? (uint64_t)end : size;
    return 0;
}

int io_allocated_size(int fd, uint64_t size, uint64_t *ret_allocated)
{
    uint64_t allocated = 0;
    uint64_t counted_to = 0; /* rounded extents may touch: nothing is counted twice */
    uint64_t offset = 0;

    while (offset < size) {
        uint64_t start, end;
        int r = io_next_data(fd, offset, size, &start, &end);
        if (r < 0)
            return r;
        if (start >= size)
            break;
        uint64_t first = start & ~(uint64_t)(TRUNK_ALIGNMENT - 1);
        uint64_t last = align_up(end, TRUNK_ALIGNMENT);
        if (first < counted_to)
            first = counted_to;
        if (last > first)
            allocated += last - first;
        counted_to = last;
        if (end <= offset)
            break; /* changed under us; io_changed will tell */
        offset = end;
    }
    *ret_allocated = allocated;
    return 0;
}

bool io_is_zero(const void *bytes, size_t size)
{
    const uint8_t *p = bytes;
    return size == 0 || (p[0] == 0 && memcmp(p, p + 1, size - 1) == 0);
}

bool io_changed(const struct stat *before, const struct stat *after)
{
    return before->st_dev != after->st_dev || before->st_ino != after->st_ino ||
           before->st_size != after->st_size || before->st_mtim.tv_sec != after->st_mtim.tv_sec ||
           before->st_mtim.tv_nsec != after->st_mtim.tv_nsec ||
           before->st_ctim.tv_sec != after->st_ctim.tv_sec ||
           before->st_ctim.tv_nsec != after->st_ctim.tv_nsec;
}
