/* readahead.h - the kernel's readahead of a mount.
 *
 * FUSE can't ask for more than the kernel's default of 128 KiB; only sysfs can raise it,
 * after the mount and as root. Called from main.
 */
#ifndef TRUNKFS_READAHEAD_H
#define TRUNKFS_READAHEAD_H

#include <stddef.h>
#include <sys/types.h>

/* Returns 0, -errno (-EACCES where that is not permitted). size in bytes. */
__attribute__((warn_unused_result)) int readahead_set(dev_t device, size_t size);

#endif
