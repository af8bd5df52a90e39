/* places.c - directories are compared by device and inode number, not by name. */
#include "places.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "cleanup.h"

enum { DEPTH_MAX = 4096 }; /* of directories above an operand */

static int open_directory(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* path without its last component; "." if it has none. Allocated. */
static char *parent_of(const char *path)
{
    size_t length = strlen(path);

    while (length > 0 && path[length - 1] == '/')
        length--;
    while (length > 0 && path[length - 1] != '/')
        length--;
    while (length > 1 && path[length - 1] == '/')
        length--;
    return length == 0 ? strdup(".") : strndup(path, length);
}

static int open_file_place(const char *path, struct place *place)
{
    autofree char *real = realpath(path, NULL); /* a link in a cache leads to its blob */
    autofree char *parent = real ? parent_of(real) : NULL;

    if (!real)
        return -errno;
    if (!parent)
        return -ENOMEM;
    place->name = strdup(strrchr(real, '/') + 1);
    place->shown = strdup(strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
    if (!place->name || !place->shown)
        return -ENOMEM;
    place->root_fd = open_directory(parent);
    return place->root_fd < 0 ? place->root_fd : 0;
}

int place_open(const char *path, struct place *ret)
{
    struct stat st;
    int r;

    *ret = (struct place)PLACE_NONE;
    if (stat(path, &st) < 0)
        return -errno;
    if (S_ISREG(st.st_mode)) {
        r = open_file_place(path, ret);
        if (r < 0)
            place_close(ret);
        return r;
    }
    if (!S_ISDIR(st.st_mode))
        return -EINVAL;
    ret->root_fd = open_directory(path);
    return ret->root_fd < 0 ? ret->root_fd : 0;
}

void place_close(struct place *place)
{
    cleanup_close(&place->root_fd);
    free(place->name);
    free(place->shown);
    *place = (struct place)PLACE_NONE;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Is directory_fd the directory root_fd, or somewhere below it? Returns 0 or -errno. */
static int is_within(int directory_fd, int root_fd, bool *ret_within)
{
    autoclose int fd = openat(directory_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct stat root, here, above;

    *ret_within = false;
    if (fd < 0 || fstat(root_fd, &root) < 0 || fstat(fd, &here) < 0)
        return -errno;
    for (int depth = 0; depth < DEPTH_MAX; depth++) {
        if (is_same(&here, &root)) {
            *ret_within = true;
            return 0;
        }
        int up = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (up < 0)
            return -errno;
        close(fd);
        fd = up;
        if (fstat(fd, &above) < 0)
            return -errno;
        if (is_same(&above, &here))
            return 0;
        here = above;
    }
    return -ELOOP;
}

/* The directory path, or the nearest one above it that exists. */
static int open_nearest(const char *path)
{
    autofree char *at = strdup(path);

    for (int depth = 0; at && depth < DEPTH_MAX; depth++) {
        int fd = open_directory(at);
        if (fd != -ENOENT)
            return fd;
        char *above = parent_of(at);
        free(at);
        at = above;
    }
    return at ? -ELOOP : -ENOMEM;
}

/* A file must not be packed into the directory that it is in, nor beside a link to it. */
static int refuse_beside(int destination_fd, const struct place *source)
{
    struct stat destination, root, beside, file;

    if (fstat(destination_fd, &destination) < 0 || fstat(source->root_fd, &root) < 0)
        return -errno;
    if (is_same(&destination, &root))
        return -EBUSY;
    if (fstatat(destination_fd, source->shown, &beside, 0) < 0)
        return 0;
    if (fstatat(source->root_fd, source->name, &file, 0) < 0)
        return -errno;
    return is_same(&beside, &file) ? -EBUSY : 0;
}

static int refuse_overlap(const char *path, const struct place *source)
{
    autoclose int nearest_fd = open_nearest(path);
    autoclose int destination_fd = open_directory(path);
    bool within = false;
    int r = 0;

    if (nearest_fd < 0)
        return nearest_fd;
    if (source->name)
        return destination_fd < 0 ? 0 : refuse_beside(destination_fd, source);
    r = is_within(nearest_fd, source->root_fd, &within);
    if (r == 0 && !within && destination_fd >= 0)
        r = is_within(source->root_fd, destination_fd, &within);
    if (r < 0)
        return r;
    return within ? -EBUSY : 0;
}

static int make_directories(const char *path)
{
    autofree char *copy = strdup(path);

    if (!copy)
        return -ENOMEM;
    for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(copy, 0777) < 0 && errno != EEXIST)
            return -errno;
        *slash = '/';
    }
    return mkdir(copy, 0777) < 0 && errno != EEXIST ? -errno : 0;
}

int place_destination(const char *path, const struct place *source, bool make, int *ret_fd)
{
    *ret_fd = -1;
    int r = refuse_overlap(path, source);
    if (r < 0)
        return r;
    if (make) {
        r = make_directories(path);
        if (r < 0)
            return r;
    }
    int fd = open_directory(path);
    if (fd == -ENOENT && !make)
        return 0;
    if (fd < 0)
        return fd;
    *ret_fd = fd;
    return 0;
}
