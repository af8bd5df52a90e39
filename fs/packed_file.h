/* packed_file.h - one backing file, open: a packed file with its index, or a verbatim one.
 *
 * Immutable once open, but for the fields that say otherwise, so any thread may look
 * frames up without a lock. Counted: every handle, and every frame in the table, holds a
 * reference; the last packed_file_put closes the descriptors and frees the index. If the
 * backing file changes, that is another inode (inode.h) and another packed_file.
 */
#ifndef TRUNKFS_PACKED_FILE_H
#define TRUNKFS_PACKED_FILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "index.h"

struct frame;

struct packed_file {
    int fd;          /* O_DIRECT while direct is true */
    int buffered_fd; /* verbatim files: for clients that read through the page cache; or -1 */
    atomic_bool direct;
    bool verbatim;
    bool in_memory; /* on tmpfs or the like */
    uint64_t raw_size;
    uint32_t frame_size; /* of packed files */
    uint8_t sha256[TRUNK_SHA256_SIZE];
    struct index *index; /* NULL for verbatim files */
    size_t index_memory;
    char *name; /* path in the packed directory, for messages */
    atomic_uint references;
    struct frame *frames;           /* all its frames in the table; the table's lock */
    struct prefetch_file *prefetch; /* streams seen in it; prefetch_stream.h */
};

/* Take over fd (opened O_RDONLY; closed on failure too) of a packed file and read its superblock
 * and index. name is copied. Returns 0; -EIO for a file that is corrupt, foreign or newer
 * than this build (logged once, with the check and the offset); -ENOMEM; -errno. */
__attribute__((warn_unused_result)) int packed_file_open(int fd, const char *name,
                                                         struct packed_file **ret);

/* The same for a file that is served as it is. */
__attribute__((warn_unused_result)) int packed_file_open_verbatim(int fd, const char *name,
                                                                  struct packed_file **ret);

void packed_file_get(struct packed_file *file);
void packed_file_put(struct packed_file *file); /* NULL is allowed */

/* O_DIRECT turned out to be refused by a read: go on without. Safe to call again. */
void packed_file_refuse_direct(struct packed_file *file);

/* Bytes of index that packed_file_open of this superblock will hold. */
size_t packed_file_index_memory(const struct superblock *superblock);

/* Read and check the superblock of fd, whose length is file_size. A fault is logged with
 * name. Returns 0, -EIO (any fault), -errno. */
__attribute__((warn_unused_result)) int
packed_file_superblock(int fd, uint64_t file_size, const char *name, struct superblock *ret);

#endif
