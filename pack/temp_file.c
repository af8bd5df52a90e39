/* temp_file.c - create, lock, publish, sweep. */
#include "temp_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "cleanup.h"
#include "format.h"
#include "trunk_name.h"

enum { CREATE_ATTEMPTS = 1000 };

/* Between creation and lock a sweep in another process may take the file for a left-over;
 * then its link is gone, or the lock is not to be had, and another name is tried. */
static int lock_new_file(int fd)
{
    struct stat st;

    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        /* A file system without locks: nothing is swept there either. */
        return errno == EWOULDBLOCK ? -EEXIST : 0;
    if (fstat(fd, &st) < 0)
        return -errno;
    return st.st_nlink == 0 ? -EEXIST : 0;
}

int temp_file_create(int directory_fd, struct temp_file *ret)
{
    static atomic_uint counter;
    int r = -EEXIST;

    for (int i = 0; i < CREATE_ATTEMPTS && r == -EEXIST; i++) {
        autoclose int fd = -1;

        snprintf(ret->name, sizeof(ret->name), "%s%ld-%u", TRUNK_TEMP_PREFIX, (long)getpid(),
                 atomic_fetch_add(&counter, 1));
        fd = openat(directory_fd, ret->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    0600);
        r = fd < 0 ? -errno : lock_new_file(fd);
        if (r == 0) {
            ret->directory_fd = directory_fd;
            ret->fd = steal_fd(&fd);
        }
    }
    return r;
}

int temp_file_dress(struct temp_file *temp, const struct stat *original)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, original->st_mtim};

    /* First the owner: a change of owner clears the set-user-ID bit. */
    if (geteuid() == 0 && fchown(temp->fd, original->st_uid, original->st_gid) < 0 &&
        errno != EPERM)
        return -errno;
    if (fchmod(temp->fd, original->st_mode & TRUNK_MODE_MASK) < 0)
        return -errno;
    if (futimens(temp->fd, times) < 0)
        return -errno;
    return 0;
}

int temp_file_publish(struct temp_file *temp, const char *name, const char **ret_what)
{
    autoclose int keeps_lock = -1;

    *ret_what = "syncing";
    if (fsync(temp->fd) < 0)
        return -errno;
    *ret_what = "closing";
    keeps_lock = fcntl(temp->fd, F_DUPFD_CLOEXEC, 0);
    if (keeps_lock < 0)
        return -errno;
    if (close(temp->fd) < 0) {
        temp->fd = steal_fd(&keeps_lock);
        return -errno;
    }
    temp->fd = steal_fd(&keeps_lock);
    *ret_what = "renaming the finished file";
    if (renameat(temp->directory_fd, temp->name, temp->directory_fd, name) < 0)
        return -errno;
    close(temp->fd);
    temp->fd = -1;
    return 0;
}

void temp_file_discard(struct temp_file *temp)
{
    int saved = errno;

    if (temp->fd >= 0) {
        unlinkat(temp->directory_fd, temp->name, 0);
        close(temp->fd);
        temp->fd = -1;
    }
    errno = saved;
}

static void sweep_one(int directory_fd, const char *name)
{
    struct stat st;
    autoclose int fd = openat(directory_fd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlinkat(directory_fd, name, 0);
}

void temp_file_sweep(int directory_fd)
{
    int fd = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    autoclosedir DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;

    if (!dir) {
        if (fd >= 0)
            close(fd);
        return;
    }
    while ((entry = readdir(dir)))
        if (trunk_name_is_temporary(entry->d_name))
            sweep_one(directory_fd, entry->d_name);
}
