#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "packed_file.h"
#include "trunk_name.h"

enum { STATS_INO = -2, METRICS_INO = -3, PARENT_PATH_ROOM = PATH_MAX };

struct tree {
    int root_fd;
    dev_t root_dev;
    struct inode_table *inodes;
    atomic_bool no_openat2; /* the kernel or a container refuses it */
};

/* Without openat2: one component at a time, no symbolic link followed. */
static int open_by_components(int directory_fd, const char *path, int flags)
{
    char component[NAME_MAX + 1];
    int fd = directory_fd;

    for (;;) {
        size_t length = strcspn(path, "/");
        bool last = path[length] == '\0';
        if (length > NAME_MAX || (length == 2 && !memcmp(path, "..", 2))) {
            errno = ENAMETOOLONG;
            return -1;
        }
        memcpy(component, path, length);
        component[length] = '\0';
        int next =
            openat(fd, component,
                   last ? flags | O_NOFOLLOW : O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int saved = errno;
        if (fd != directory_fd)
            close(fd);
        errno = saved;
        if (next < 0 || last)
            return next;
        fd = next;
        path += length + 1;
    }
}

/* Open a path beneath directory_fd. Returns a descriptor or -errno. */
static int open_beneath(struct tree *tree, int directory_fd, const char *path, int flags)
{
    struct open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC),
                           .resolve =
                               RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS};
    int fd;

    if (!atomic_load_explicit(&tree->no_openat2, memory_order_relaxed)) {
        fd = (int)syscall(SYS_openat2, directory_fd, path, &how, sizeof(how));
        if (fd >= 0)
            return fd;
        if (errno != ENOSYS && errno != EPERM)
            return -errno;
        atomic_store(&tree->no_openat2, true);
    }
    fd = open_by_components(directory_fd, path, flags | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int tree_open_directory(struct tree *tree, const struct inode *inode)
{
    char path[PARENT_PATH_ROOM];
    int r = inode_table_path(tree->inodes, inode, path, sizeof(path), NULL);
    return r < 0 ? r : open_beneath(tree, tree->root_fd, path, O_RDONLY | O_DIRECTORY);
}

/* Open the directory that holds inode; its name there goes to ret_name. */
static int open_parent(struct tree *tree, const struct inode *inode, char *ret_name)
{
    char path[PARENT_PATH_ROOM];
    int r = inode_table_path(tree->inodes, inode, path, sizeof(path), ret_name);
    return r < 0 ? r : open_beneath(tree, tree->root_fd, path, O_PATH | O_DIRECTORY);
}

ino_t tree_shown_ino(const struct tree *tree, const struct stat *backing)
{
    /* Another file system mounted inside the packed directory may repeat numbers. */
    if (backing->st_dev == tree->root_dev)
        return backing->st_ino;
    return backing->st_ino ^ (ino_t)(backing->st_dev * UINT64_C(0x9E3779B97F4A7C15));
}

static void show_backing(const struct tree *tree, const struct stat *backing, struct stat *ret)
{
    *ret = *backing;
    ret->st_ino = tree_shown_ino(tree, backing);
    ret->st_rdev = 0;
}

static void show_packed(const struct tree *tree, const struct stat *backing,
                        const struct superblock *superblock, struct stat *ret)
{
    show_backing(tree, backing, ret);
    ret->st_mode = S_IFREG | superblock->mode;
    ret->st_size = (off_t)superblock->raw_size;
    ret->st_blocks = (blkcnt_t)(superblock->allocated_size / 512);
    ret->st_mtim.tv_sec = superblock->mtime_sec;
    ret->st_mtim.tv_nsec = superblock->mtime_nsec;
}

/* Read the superblock of the entry in the directory. */
static int inspect_packed(struct tree *tree, struct inode *parent, int directory_fd,
                          const char *entry, struct stat *ret_backing, struct stat *ret_shown)
{
    struct superblock superblock;
    char path[PARENT_PATH_ROOM], full[PARENT_PATH_ROOM + NAME_MAX + 2];
    int fd = open_beneath(tree, directory_fd, entry, O_RDONLY | O_NONBLOCK);
    int r = 0;

    if (fd < 0)
        return fd;
    if (fstat(fd, ret_backing) < 0)
        r = -errno;
    else if (!S_ISREG(ret_backing->st_mode))
        r = -ENOENT;
    if (r == 0 && inode_table_path(tree->inodes, parent, path, sizeof(path), NULL) < 0)
        snprintf(path, sizeof(path), "...");
    if (r == 0) {
        snprintf(full, sizeof(full), "%s/%s", path, entry);
        r = packed_file_superblock(fd, (uint64_t)ret_backing->st_size, full, &superblock);
    }
    close(fd);
    if (r == 0)
        show_packed(tree, ret_backing, &superblock, ret_shown);
    return r;
}

/* The backing entry behind name: its stat and what it is. */
static int inspect(struct tree *tree, struct inode *parent, int directory_fd, const char *name,
                   char *ret_entry, enum inode_kind *ret_kind, struct stat *ret_backing,
                   struct stat *ret_shown)
{
    char source[TRUNK_NAME_MAX + 1];

    if (trunk_name_packed(name, ret_entry) == 0 &&
        fstatat(directory_fd, ret_entry, ret_backing, AT_SYMLINK_NOFOLLOW) == 0 &&
        trunk_name_of_entry(ret_entry, S_ISREG(ret_backing->st_mode), source) ==
            TRUNK_NAME_PACKED) {
        *ret_kind = INODE_PACKED;
        return inspect_packed(tree, parent, directory_fd, ret_entry, ret_backing, ret_shown);
    }
    if (fstatat(directory_fd, name, ret_backing, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    if (trunk_name_of_entry(name, S_ISREG(ret_backing->st_mode), source) != TRUNK_NAME_PLAIN)
        return -ENOENT;
    if (S_ISREG(ret_backing->st_mode))
        *ret_kind = INODE_VERBATIM;
    else if (S_ISDIR(ret_backing->st_mode))
        *ret_kind = INODE_DIRECTORY;
    else if (S_ISLNK(ret_backing->st_mode))
        *ret_kind = INODE_SYMLINK;
    else
        return -ENOENT; /* devices and the like are no part of a packed directory */
    memcpy(ret_entry, name, strlen(name) + 1);
    show_backing(tree, ret_backing, ret_shown);
    return 0;
}

/* .trunkfs in the root, and metrics in it. */
static int lookup_stats(struct tree *tree, struct inode *parent, const char *name,
                        struct inode **ret)
{
    bool directory = parent == tree_root(tree);
    struct stat st = tree_root(tree)->shown;

    if (strcmp(name, directory ? TREE_STATS_DIRECTORY : TREE_METRICS))
        return -ENOENT;
    st.st_ino = (ino_t)(directory ? STATS_INO : METRICS_INO);
    st.st_mode = directory ? S_IFDIR | 0555 : S_IFREG | 0444;
    st.st_nlink = directory ? 2 : 1;
    st.st_size = 0;
    st.st_blocks = 0;
    *ret = inode_table_get(tree->inodes, parent, name,
                           directory ? INODE_STATS_DIRECTORY : INODE_METRICS, &st, &st);
    return *ret ? 0 : -ENOMEM;
}

int tree_lookup(struct tree *tree, struct inode *parent, int directory_fd, const char *name,
                struct inode **ret)
{
    char entry[TRUNK_NAME_MAX + 1];
    enum inode_kind kind;
    struct stat backing, shown;
    int fd = directory_fd;
    int r;

    if (parent->kind == INODE_STATS_DIRECTORY)
        return lookup_stats(tree, parent, name, ret);
    if (strlen(name) > TRUNK_NAME_MAX)
        return -ENAMETOOLONG;
    if (fd < 0)
        fd = tree_open_directory(tree, parent);
    if (fd < 0)
        return fd;
    r = inspect(tree, parent, fd, name, entry, &kind, &backing, &shown);
    if (fd != directory_fd)
        close(fd);
    if (r == -ENOENT && parent == tree_root(tree))
        return lookup_stats(tree, parent, name, ret);
    if (r < 0)
        return r;
    *ret = inode_table_get(tree->inodes, parent, entry, kind, &backing, &shown);
    return *ret ? 0 : -ENOMEM;
}

void tree_forget(struct tree *tree, struct inode *inode, uint64_t count)
{
    inode_table_forget(tree->inodes, inode, count);
}

int tree_stat(struct tree *tree, const struct inode *inode, struct stat *ret)
{
    struct stat st;
    int fd;
    int r;

    if (inode->kind != INODE_DIRECTORY) {
        *ret = inode->shown;
        return 0;
    }
    fd = tree_open_directory(tree, inode);
    if (fd < 0)
        return fd;
    r = fstat(fd, &st) < 0 ? -errno : 0;
    close(fd);
    if (r == 0)
        show_backing(tree, &st, ret);
    return r;
}

ssize_t tree_readlink(struct tree *tree, const struct inode *inode, char *buffer, size_t room)
{
    char name[NAME_MAX + 1];
    int fd = open_parent(tree, inode, name);
    ssize_t n;

    if (fd < 0)
        return fd;
    n = readlinkat(fd, name, buffer, room);
    if (n < 0)
        n = -errno;
    close(fd);
    return n;
}

int tree_open_file(struct tree *tree, const struct inode *inode, char *ret_path, size_t path_room)
{
    char name[NAME_MAX + 1];
    struct stat st;
    int directory_fd, fd;
    int r = inode_table_path(tree->inodes, inode, ret_path, path_room, NULL);

    if (r < 0)
        return r;
    directory_fd = open_parent(tree, inode, name);
    if (directory_fd < 0)
        return directory_fd;
    fd = open_beneath(tree, directory_fd, name, O_RDONLY | O_NONBLOCK);
    close(directory_fd);
    if (fd == -ENOENT || fd == -ELOOP)
        return -ESTALE; /* another file's name now: the kernel looks it up again */
    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !inode_same_state(&st, &inode->backing)) {
        close(fd);
        return -ESTALE;
    }
    return fd;
}

int tree_statfs(struct tree *tree, struct statvfs *ret)
{
    return fstatvfs(tree->root_fd, ret) < 0 ? -errno : 0;
}

struct inode *tree_root(struct tree *tree)
{
    return inode_table_root(tree->inodes);
}

int tree_new(int root_fd, inode_gone *gone, void *context, struct tree **ret)
{
    struct tree *tree = calloc(1, sizeof(*tree));
    struct stat st;
    int r = tree ? 0 : -ENOMEM;

    if (r == 0 && fstat(root_fd, &st) < 0)
        r = -errno;
    if (r == 0)
        r = inode_table_new(&st, gone, context, &tree->inodes);
    if (r < 0) {
        close(root_fd);
        free(tree);
        return r;
    }
    tree->root_fd = root_fd;
    tree->root_dev = st.st_dev;
    *ret = tree;
    return 0;
}

void tree_free(struct tree *tree)
{
    if (!tree)
        return;
    inode_table_free(tree->inodes);
    close(tree->root_fd);
    free(tree);
}
