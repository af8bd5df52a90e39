/* beneath.h - opening what lies beneath a directory, without ever following a symbolic
 * link or leaving it. Paths are relative, of any length, without "." and "..", as tree.h
 * makes them; "" is the directory itself. Callable on any thread.
 */
#ifndef PACK_BENEATH_H
#define PACK_BENEATH_H

#include <sys/types.h>

/* The last component of path; path itself if there is only one. */
const char *beneath_name(const char *path);

/* A descriptor of the directory that path lies in (O_RDONLY | O_DIRECTORY), or -errno. */
__attribute__((warn_unused_result)) int beneath_open_parent(int root_fd, const char *path);

/* openat of path with flags | O_NOFOLLOW | O_CLOEXEC; -errno on failure. */
__attribute__((warn_unused_result)) int beneath_open(int root_fd, const char *path, int flags);

#endif
