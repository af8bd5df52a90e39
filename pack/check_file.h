/* check_file.h - every frame of a packed file decoded and checked, its SHA-256 compared, and
 * if wanted every byte compared with the original.
 *
 * Prints nothing. Different files may be checked at the same time, each with its own worker.
 */
#ifndef PACK_CHECK_FILE_H
#define PACK_CHECK_FILE_H

#include <stdbool.h>

#include "packed_file.h"

struct check_file_callbacks {
    /* A frame that cannot be had; on any thread, one at a time for one file. */
    void (*bad_frame)(void *context, const struct packed_file_bad *bad);
    /* size more bytes are done. May be NULL. */
    void (*advance)(void *context, size_t size);
    void *context;
};

struct check_file_result {
    uint64_t bad_frames;
    bool digest_differs;       /* SHA-256; not compared if a frame was bad */
    bool original_differs;     /* with the original: contents or size */
    uint64_t first_difference; /* offset, if original_differs */
};

/* original_fd: to compare with, or -1. Returns 0 with *ret, which may tell of damage;
 * -errno with what failed in *ret_what if the check could not be made. */
__attribute__((warn_unused_result)) int check_file(const struct packed_file *file, int original_fd,
                                                   struct worker *worker,
                                                   const struct check_file_callbacks *callbacks,
                                                   struct check_file_result *ret,
                                                   const char **ret_what);

#endif
