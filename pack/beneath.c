/* beneath.c - one openat a component, each refusing links. */
#include "beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "cleanup.h"

static int open_component(int directory_fd, const char *name, int flags)
{
    int fd = openat(directory_fd, name, flags | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

const char *beneath_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int beneath_open_parent(int root_fd, const char *path)
{
    autoclose int fd = open_component(root_fd, ".", O_RDONLY | O_DIRECTORY);
    const char *slash;

    if (fd < 0)
        return fd;
    for (; (slash = strchr(path, '/')); path = slash + 1) {
        char name[NAME_MAX + 1];
        size_t length = (size_t)(slash - path);

        if (length > NAME_MAX)
            return -ENAMETOOLONG;
        memcpy(name, path, length);
        name[length] = '\0';
        int next = open_component(fd, name, O_RDONLY | O_DIRECTORY);
        if (next < 0)
            return next;
        close(fd);
        fd = next;
    }
    return steal_fd(&fd);
}

int beneath_open(int root_fd, const char *path, int flags)
{
    autoclose int parent_fd = -1;

    if (!*path)
        return open_component(root_fd, ".", flags);
    parent_fd = beneath_open_parent(root_fd, path);
    if (parent_fd < 0)
        return parent_fd;
    return open_component(parent_fd, beneath_name(path), flags);
}
