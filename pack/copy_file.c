/* copy_file.c - extents by copy_file_range, or by hand where the kernel will not. */
#include "copy_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "interrupt.h"
#include "io.h"

enum { PIECE_SIZE = 1 << 20 };

static int copy_by_hand(int source_fd, int copy_fd, uint64_t start, uint64_t size)
{
    autofree uint8_t *buffer = malloc(PIECE_SIZE);
    if (!buffer)
        return -ENOMEM;
    while (size > 0) {
        size_t piece = size < PIECE_SIZE ? (size_t)size : PIECE_SIZE;
        int r = io_read(source_fd, buffer, piece, start);
        if (r < 0)
            return r == -ENODATA ? -ESTALE : r;
        r = io_write(copy_fd, buffer, piece, start);
        if (r < 0)
            return r;
        start += piece;
        size -= piece;
    }
    return 0;
}

/* At most PIECE_SIZE bytes, so that progress and interrupts are seen. Returns how many. */
static int64_t copy_piece(int source_fd, int copy_fd, uint64_t start, uint64_t size)
{
    size_t piece = size < PIECE_SIZE ? (size_t)size : PIECE_SIZE;
    off_t from = (off_t)start, to = (off_t)start;
    ssize_t done = copy_file_range(source_fd, &from, copy_fd, &to, piece, 0);

    if (done > 0)
        return done;
    if (done < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EIO))
        return -errno;
    int r = copy_by_hand(source_fd, copy_fd, start, piece);
    return r < 0 ? r : (int64_t)piece;
}

static int copy_extent(int source_fd, int copy_fd, uint64_t start, uint64_t end,
                       void (*advance)(void *context, size_t size), void *context)
{
    while (start < end) {
        if (interrupt_pending())
            return -ECANCELED;
        int64_t done = copy_piece(source_fd, copy_fd, start, end - start);
        if (done < 0)
            return (int)done;
        if (advance)
            advance(context, (size_t)done);
        start += (uint64_t)done;
    }
    return 0;
}

static int copy_extents(int source_fd, int copy_fd, uint64_t size,
                        void (*advance)(void *context, size_t size), void *context)
{
    uint64_t offset = 0;

    while (offset < size) {
        uint64_t start, end;
        int r = io_next_data(source_fd, offset, size, &start, &end);
        if (r < 0)
            return r;
        if (advance && start > offset)
            advance(context, start - offset);
        r = copy_extent(source_fd, copy_fd, start, end, advance, context);
        if (r < 0)
            return r;
        offset = end > offset ? end : size;
    }
    return 0;
}

/* What is a hole in both files is equal without reading it, which could take hours. */
static int skip_holes(int a_fd, int b_fd, uint64_t size, uint64_t *offset)
{
    uint64_t a_start, b_start, end;

    int r = io_next_data(a_fd, *offset, size, &a_start, &end);
    if (r == 0 && a_start > *offset)
        r = io_next_data(b_fd, *offset, size, &b_start, &end);
    else
        return r;
    if (r == 0)
        *offset = a_start < b_start ? a_start : b_start;
    return r;
}

int copy_file_compare(int a_fd, int b_fd, uint64_t size, uint64_t *ret_offset)
{
    autofree uint8_t *a = malloc(PIECE_SIZE);
    autofree uint8_t *b = malloc(PIECE_SIZE);

    if (!a || !b)
        return -ENOMEM;
    for (uint64_t offset = 0; offset < size; offset += PIECE_SIZE) {
        int r = skip_holes(a_fd, b_fd, size, &offset);
        if (r < 0)
            return r;
        size_t piece = size - offset < PIECE_SIZE ? (size_t)(size - offset) : PIECE_SIZE;

        if (interrupt_pending())
            return -ECANCELED;
        r = io_read(a_fd, a, piece, offset);
        if (r == 0)
            r = io_read(b_fd, b, piece, offset);
        if (r < 0)
            return r;
        if (memcmp(a, b, piece) == 0)
            continue;
        size_t at = 0;
        while (a[at] == b[at])
            at++;
        if (ret_offset)
            *ret_offset = offset + at;
        return -EBADMSG;
    }
    return 0;
}

int copy_file(int source_fd, const struct stat *before, int copy_fd,
              void (*advance)(void *context, size_t size), void *context, const char **ret_what)
{
    uint64_t size = (uint64_t)before->st_size;
    struct stat now;
    int r;

    *ret_what = "copying";
    if (ftruncate(copy_fd, (off_t)size) < 0)
        return -errno;
    r = copy_extents(source_fd, copy_fd, size, advance, context);
    if (r < 0)
        return r;
    *ret_what = "comparing the copy with the original";
    r = copy_file_compare(source_fd, copy_fd, size, NULL);
    if (fstat(source_fd, &now) < 0)
        return -errno;
    if (io_changed(before, &now))
        return -ESTALE;
    return r;
}
