/* remove_source.c - nothing that was in memory is trusted here: all is read again. */
#include "remove_source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "beneath.h"
#include "check_file.h"
#include "cleanup.h"
#include "copy_file.h"
#include "io.h"
#include "packed_file.h"

static void ignore_bad_frame(void *context, const struct packed_file_bad *bad)
{
}

static int check_packed(int output_fd, int source_fd, struct worker *worker, const char **ret_what)
{
    static const struct check_file_callbacks callbacks = {.bad_frame = ignore_bad_frame};
    __attribute__((cleanup(packed_file_close))) struct packed_file file = PACKED_FILE_NONE;
    struct check_file_result result;

    *ret_what = "opening the packed file again";
    int r = packed_file_open(output_fd, &file, NULL);
    if (r < 0)
        return r;
    r = check_file(&file, source_fd, worker, &callbacks, &result, ret_what);
    if (r < 0)
        return r;
    *ret_what = "the packed file does not hold what the source does: the source is kept";
    return result.bad_frames || result.digest_differs || result.original_differs ? -EBADMSG : 0;
}

static int check_copy(int output_fd, int source_fd, uint64_t size, const char **ret_what)
{
    autoclose int fd = output_fd;
    struct stat st;

    *ret_what = "the copy does not hold what the source does: the source is kept";
    if (fstat(fd, &st) < 0)
        return -errno;
    if ((uint64_t)st.st_size != size)
        return -EBADMSG;
    return copy_file_compare(source_fd, fd, size, NULL);
}

/* The directories from the output's own up to the destination: each may be new, and a name that
 * is not on the disk leads nowhere. */
static int sync_directories(const struct pack_task *task)
{
    autofree char *path = strdup(task->entry->output_path);
    char *slash = path;

    while (slash) {
        autoclose int fd = beneath_open_parent(task->common->destination_fd, path);
        if (fd < 0)
            return fd;
        if (fsync(fd) < 0)
            return -errno;
        slash = strrchr(path, '/');
        if (slash)
            *slash = '\0';
    }
    return path ? 0 : -ENOMEM;
}

/* What is read next comes from the device, as far as the kernel lets it. The file is synced too:
 * an output that was there before need not be one that this program wrote. */
static int open_output(const struct pack_task *task, const char **ret_what)
{
    *ret_what = "opening the output again";
    autoclose int fd =
        beneath_open(task->common->destination_fd, task->entry->output_path, O_RDONLY | O_NONBLOCK);
    if (fd < 0)
        return fd;
    *ret_what = "syncing the output";
    if (fsync(fd) < 0)
        return -errno;
    *ret_what = "syncing its directory in the destination";
    int r = sync_directories(task);
    if (r < 0)
        return r;
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    return steal_fd(&fd);
}

/* The directory keeps its time: if the run is interrupted now, the next one would take the
 * moment of the removal for the directory's own. Failure does not matter. */
static void keep_time(const struct pack_task *task, int parent_fd)
{
    const char *path = task->entry->path;
    const char *name = beneath_name(path);
    autofree char *parent = strndup(path, name > path ? (size_t)(name - path - 1) : 0);
    const struct tree_entry *entry = parent ? tree_find(task->common->tree, parent) : NULL;

    if (entry && S_ISDIR(entry->st.st_mode))
        futimens(parent_fd, (struct timespec[2]){{.tv_nsec = UTIME_OMIT}, entry->st.st_mtim});
}

int remove_source(const struct pack_task *task, struct worker *worker, const char **ret_what)
{
    int root_fd = task->common->tree->root_fd;
    bool packed = task->outcome == PACK_PACKED || task->outcome == PACK_PRESENT_PACKED;
    struct stat before, after;

    *ret_what = "opening the source again";
    autoclose int parent_fd = beneath_open_parent(root_fd, task->entry->path);
    autoclose int source_fd = beneath_open(root_fd, task->entry->path, O_RDONLY | O_NONBLOCK);
    if (parent_fd < 0)
        return parent_fd;
    if (source_fd < 0)
        return source_fd;
    if (fstat(source_fd, &before) < 0)
        return -errno;
    int output_fd = open_output(task, ret_what);
    if (output_fd < 0)
        return output_fd;
    int r = packed ? check_packed(output_fd, source_fd, worker, ret_what)
                   : check_copy(output_fd, source_fd, (uint64_t)before.st_size, ret_what);
    if (r < 0)
        return r;
    *ret_what = "removing the source";
    if (fstatat(parent_fd, beneath_name(task->entry->path), &after, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    if (io_changed(&before, &after))
        return -ESTALE;
    if (unlinkat(parent_fd, beneath_name(task->entry->path), 0) < 0)
        return -errno;
    keep_time(task, parent_fd);
    return 0;
}
