/* pack_file.h - one regular file into a packed file under construction.
 *
 * Reads, hashes, encodes, decodes again and compares, writes. Gives no name, prints
 * nothing. Different files may be packed at the same time, each with its own worker.
 */
#ifndef PACK_PACK_FILE_H
#define PACK_PACK_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "frame_encode.h"
#include "superblock.h"
#include "worker.h"

struct pack_geometry {
    uint32_t frame_size;
    uint32_t block_size;
    char writer[TRUNK_WRITER_SIZE + 1]; /* for the superblock */
};

struct pack_file_source {
    int fd;                  /* open for reading */
    struct stat st;          /* from fstat before anything was read */
    uint64_t allocated_size; /* from io_allocated_size */
};

/* Called as work goes on: raw_size more bytes have become packed_size. May be NULL. */
typedef void pack_file_advance(void *context, size_t raw_size, size_t packed_size);

/* Pack source to packed_fd, an empty file, which is left unsynced; *ret is its superblock.
 * Returns 0; -errno with what failed in *ret_what (a static string); -ESTALE if the source
 * changed meanwhile; -EFBIG if it has too many frames of this size; -ECANCELED. */
__attribute__((warn_unused_result)) int pack_file(const struct pack_geometry *geometry,
                                                  const struct pack_file_source *source,
                                                  struct worker *worker, int packed_fd,
                                                  pack_file_advance *advance, void *context,
                                                  struct superblock *ret, const char **ret_what);

/* Does the packed file save enough to be kept instead of a plain copy? */
bool pack_file_worth(const struct pack_file_source *source, uint64_t packed_size);

#endif
