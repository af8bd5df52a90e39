/* mirror.c - everything is done through a descriptor of the parent directory. */
#include "mirror.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "beneath.h"
#include "cleanup.h"
#include "format.h"
#include "interrupt.h"
#include "report.h"
#include "temp_file.h"

enum { OWNER_ALL = 0700 };

static void failed(struct tree_entry *entry, const char *what, int error)
{
    entry->failed = true;
    report_error(entry->path, what, error);
}

/* A directory that this process could not work in is opened up until mirror_end. */
static int open_up(int parent_fd, const char *name)
{
    struct stat st;

    if (geteuid() == 0)
        return 0;
    if (fstatat(parent_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    if (!S_ISDIR(st.st_mode))
        return -ENOTDIR;
    if ((st.st_mode & OWNER_ALL) == OWNER_ALL)
        return 0;
    return fchmodat(parent_fd, name, (st.st_mode & TRUNK_MODE_MASK) | OWNER_ALL, 0) < 0 ? -errno
                                                                                        : 0;
}

static int make_directory(const struct tree_entry *entry, int destination_fd)
{
    const char *name = *entry->output_path ? beneath_name(entry->output_path) : ".";
    autoclose int parent_fd = beneath_open_parent(destination_fd, entry->output_path);
    autoclose int fd = -1;

    if (parent_fd < 0)
        return parent_fd;
    if (mkdirat(parent_fd, name, OWNER_ALL) < 0 && errno != EEXIST)
        return -errno;
    int r = open_up(parent_fd, name);
    if (r < 0)
        return r;
    fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    temp_file_sweep(fd);
    return 0;
}

static bool is_same_link(int parent_fd, const char *name, const char *target)
{
    char present[PATH_MAX];
    ssize_t length = readlinkat(parent_fd, name, present, sizeof(present));

    return length >= 0 && (size_t)length == strlen(target) &&
           memcmp(present, target, (size_t)length) == 0;
}

static int make_symlink(const struct tree_entry *entry, int destination_fd)
{
    const char *name = beneath_name(entry->output_path);
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, entry->st.st_mtim};
    autoclose int parent_fd = beneath_open_parent(destination_fd, entry->output_path);

    if (parent_fd < 0)
        return parent_fd;
    if (!is_same_link(parent_fd, name, entry->link_target)) {
        if (unlinkat(parent_fd, name, 0) < 0 && errno != ENOENT)
            return -errno;
        if (symlinkat(entry->link_target, parent_fd, name) < 0)
            return -errno;
    }
    if (geteuid() == 0 &&
        fchownat(parent_fd, name, entry->st.st_uid, entry->st.st_gid, AT_SYMLINK_NOFOLLOW) < 0 &&
        errno != EPERM)
        return -errno;
    return utimensat(parent_fd, name, times, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

void mirror_begin(const struct tree *tree, int destination_fd)
{
    for (size_t i = 0; i < tree->count && !interrupt_pending(); i++) {
        struct tree_entry *entry = &tree->entries[i];
        int r = 0;

        if (!entry->output_path)
            continue;
        if (S_ISDIR(entry->st.st_mode))
            r = make_directory(entry, destination_fd);
        else if (S_ISLNK(entry->st.st_mode))
            r = make_symlink(entry, destination_fd);
        if (r < 0)
            failed(entry,
                   S_ISDIR(entry->st.st_mode) ? "making the directory" : "making the symbolic link",
                   r);
    }
}

static int make_hard_link(const struct tree_entry *entry, const struct tree_entry *first,
                          int destination_fd)
{
    const char *name = beneath_name(entry->output_path);
    const char *first_name = beneath_name(first->output_path);
    autoclose int parent_fd = beneath_open_parent(destination_fd, entry->output_path);
    autoclose int first_fd = beneath_open_parent(destination_fd, first->output_path);
    struct stat present, wanted;

    if (parent_fd < 0)
        return parent_fd;
    if (first_fd < 0)
        return first_fd;
    if (fstatat(first_fd, first_name, &wanted, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    if (fstatat(parent_fd, name, &present, AT_SYMLINK_NOFOLLOW) == 0) {
        if (present.st_dev == wanted.st_dev && present.st_ino == wanted.st_ino)
            return 0;
        if (unlinkat(parent_fd, name, 0) < 0)
            return -errno;
    }
    return linkat(first_fd, first_name, parent_fd, name, 0) < 0 ? -errno : 0;
}

static void make_hard_links(const struct tree *tree, int destination_fd)
{
    for (size_t i = 0; i < tree->count; i++) {
        struct tree_entry *entry = &tree->entries[i];

        if (!entry->output_path || entry->first_link == TREE_NO_LINK)
            continue;
        const struct tree_entry *first = &tree->entries[entry->first_link];
        if (first->failed || !first->output_path) {
            failed(entry, "not linked: its other name failed", 0);
            continue;
        }
        int r = make_hard_link(entry, first, destination_fd);
        if (r < 0)
            failed(entry, "making the hard link", r);
    }
}

static int dress_directory(const struct tree_entry *entry, int destination_fd)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, entry->st.st_mtim};
    autoclose int fd = beneath_open(destination_fd, entry->output_path, O_RDONLY | O_DIRECTORY);

    if (fd < 0)
        return fd;
    if (geteuid() == 0 && fchown(fd, entry->st.st_uid, entry->st.st_gid) < 0 && errno != EPERM)
        return -errno;
    if (fchmod(fd, entry->st.st_mode & TRUNK_MODE_MASK) < 0)
        return -errno;
    if (futimens(fd, times) < 0)
        return -errno;
    return fsync(fd) < 0 ? -errno : 0;
}

void mirror_end(const struct tree *tree, int destination_fd)
{
    make_hard_links(tree, destination_fd);
    for (size_t i = tree->count; i-- > 0;) {
        struct tree_entry *entry = &tree->entries[i];

        if (!S_ISDIR(entry->st.st_mode) || !entry->output_path || entry->failed)
            continue;
        int r = dress_directory(entry, destination_fd);
        if (r < 0)
            failed(entry, "setting mode and time of the directory", r);
    }
}
