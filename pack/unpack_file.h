/* unpack_file.h - the original out of a packed file.
 *
 * Gives no name, prints nothing. Different files may be unpacked at the same time, each
 * with its own worker.
 */
#ifndef PACK_UNPACK_FILE_H
#define PACK_UNPACK_FILE_H

#include "packed_file.h"

/* Write the original to raw_fd, an empty file, which is left unsynced. Each frame is checked,
 * and SHA-256 over all. A file that was sparse gets holes where it is zero. advance (may be
 * NULL) is called as bytes are done. Returns 0; -EBADMSG for a bad frame, described in
 * *ret_bad, or (bad.frame then is UINT64_MAX) for the SHA-256; -errno with what failed in
 * *ret_what; -ECANCELED. */
__attribute__((warn_unused_result)) int unpack_file(const struct packed_file *file, int raw_fd,
                                                    struct worker *worker,
                                                    void (*advance)(void *context, size_t size),
                                                    void *context, struct packed_file_bad *ret_bad,
                                                    const char **ret_what);

#endif
