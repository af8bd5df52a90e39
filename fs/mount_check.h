/* mount_check.h - is this a place where the packed directory can be mounted?
 *
 * Prints what is wrong and what to do. Called from main, before the mount.
 */
#ifndef TRUNKFS_MOUNT_CHECK_H
#define TRUNKFS_MOUNT_CHECK_H

/* The mountpoint's absolute path, from malloc, or NULL with the reason printed: it does not exist,
 * is no directory, or is what a killed daemon left behind. */
char *mount_check_point(const char *mountpoint);

/* Refuse a mountpoint that is the packed directory (open as packed_fd), lies in it, or contains
 * it. Returns 0, -EINVAL, -errno; the reason is printed. */
__attribute__((warn_unused_result)) int mount_check_overlap(int packed_fd, const char *packed,
                                                            const char *mountpoint);

#endif
