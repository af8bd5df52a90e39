/* io.h - whole reads and writes, and the extents of sparse files. Callable on any thread. */
#ifndef PACK_IO_H
#define PACK_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* Exactly size bytes at offset. Returns 0 or -errno; a file that ends too early is
 * -ENODATA. */
__attribute__((warn_unused_result)) int io_read(int fd, void *buffer, size_t size, uint64_t offset);
__attribute__((warn_unused_result)) int io_write(int fd, const void *buffer, size_t size,
                                                 uint64_t offset);

/* The next run of data at or after offset in a file of that size: [*ret_start, *ret_end);
 * both are size if there is none. A file system that cannot tell has data everywhere.
 * Moves the file offset. Returns 0 or -errno. */
__attribute__((warn_unused_result)) int io_next_data(int fd, uint64_t offset, uint64_t size,
                                                     uint64_t *ret_start, uint64_t *ret_end);

/* allocated_size of FORMAT.md 2.1: the data of a file, each extent rounded out to 4096
 * bytes. Returns 0 or -errno. */
__attribute__((warn_unused_result)) int io_allocated_size(int fd, uint64_t size,
                                                          uint64_t *ret_allocated);

/* Are all size bytes zero? */
bool io_is_zero(const void *bytes, size_t size);

/* Has a file changed between two looks at it? */
bool io_changed(const struct stat *before, const struct stat *after);

#endif
