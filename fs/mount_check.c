#include "mount_check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "log.h"

enum { DEPTH_MAX = 4096 };

char *mount_check_point(const char *mountpoint)
{
    struct stat st;
    struct statfs fs;
    char *path;

    /* statfs too, since the kernel may remember the attributes of a mount that is dead. */
    if (stat(mountpoint, &st) < 0 || statfs(mountpoint, &fs) < 0) {
        if (errno == ENOTCONN)
            log_error("%s: a mount is left here whose daemon is gone: clear it with "
                      "`fusermount3 -u %s`",
                      mountpoint, mountpoint);
        else
            log_error("%s: %s: the mountpoint must be a directory that exists", mountpoint,
                      strerror(errno));
        return NULL;
    }
    if (!S_ISDIR(st.st_mode)) {
        log_error("%s: not a directory: the mountpoint must be one", mountpoint);
        return NULL;
    }
    path = realpath(mountpoint, NULL);
    if (!path)
        log_error("%s: %s", mountpoint, strerror(errno));
    return path;
}

/* Is the directory open as outer_fd the one open as inner_fd, or above it? Returns 1, 0, -errno. */
static int contains(int outer_fd, int inner_fd)
{
    struct stat outer, st, above;
    int fd = fcntl(inner_fd, F_DUPFD_CLOEXEC, 0);
    int r = fd < 0 || fstat(outer_fd, &outer) < 0 || fstat(fd, &st) < 0 ? -errno : 0;

    for (unsigned depth = 0; r == 0 && depth < DEPTH_MAX; depth++) {
        if (st.st_dev == outer.st_dev && st.st_ino == outer.st_ino) {
            r = 1;
            break;
        }
        int up = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (up < 0 || fstat(up, &above) < 0)
            r = -errno;
        close(fd);
        fd = up;
        if (r < 0 || (above.st_dev == st.st_dev && above.st_ino == st.st_ino))
            break; /* the root is its own parent */
        st = above;
    }
    if (fd >= 0)
        close(fd);
    return r;
}

int mount_check_overlap(int packed_fd, const char *packed, const char *mountpoint)
{
    int fd = open(mountpoint, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int r;

    if (fd < 0) {
        r = -errno;
        log_error("%s: %s", mountpoint, strerror(-r));
        return r;
    }
    r = contains(packed_fd, fd);
    if (r == 0)
        r = contains(fd, packed_fd);
    close(fd);
    if (r > 0) {
        log_error("%s and %s overlap: mount on a directory outside the packed one", packed,
                  mountpoint);
        return -EINVAL;
    }
    if (r < 0)
        log_error("%s: %s", mountpoint, strerror(-r));
    return r;
}
