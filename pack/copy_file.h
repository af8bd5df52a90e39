/* copy_file.h - a regular file as it is, holes included, compared after copying.
 *
 * Gives no name, prints nothing. Different files may be copied at the same time.
 */
#ifndef PACK_COPY_FILE_H
#define PACK_COPY_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* Copy source_fd to copy_fd, an empty file, left unsynced; then read both and compare.
 * before: fstat of source_fd before anything was read. advance (may be NULL) is called as
 * bytes are copied. Returns 0; -errno with what failed in *ret_what (a static string);
 * -ESTALE if the source changed meanwhile; -ECANCELED. */
__attribute__((warn_unused_result)) int copy_file(int source_fd, const struct stat *before,
                                                  int copy_fd,
                                                  void (*advance)(void *context, size_t size),
                                                  void *context, const char **ret_what);

/* Are the first size bytes of both the same? Returns 0; -EBADMSG with the first difference
 * in *ret_offset (may be NULL); -errno of a read; -ECANCELED. */
__attribute__((warn_unused_result)) int copy_file_compare(int a_fd, int b_fd, uint64_t size,
                                                          uint64_t *ret_offset);

#endif
