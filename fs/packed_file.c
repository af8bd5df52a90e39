#include "packed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "bytes.h"
#include "log.h"
#include "metrics.h"
#include "superblock.h"

/* Why a file was refused and what to do, in one line. */
static void log_fault(const char *name, int error, const struct fault *fault)
{
    metrics_add(METRICS_ERRORS_FILE, 1);
    if (!log_is_new(name, fault->offset << 8 | fault->check))
        return;
    if (error == -EOPNOTSUPP)
        log_error("%s: written by a newer trunkpack (%s at offset %" PRIu64
                  "): update trunkfs to read it",
                  name, fault_text(fault->check), fault->offset);
    else
        log_error("%s: not a sound packed file (%s at offset %" PRIu64
                  "): copy or pack it again; `trunkpack verify` checks it",
                  name, fault_text(fault->check), fault->offset);
}

/* Up to size bytes from offset, fewer only at the end of the file. Returns bytes or -errno. */
static ssize_t read_fully(int fd, uint8_t *buffer, size_t size, uint64_t offset)
{
    size_t done = 0;

    while (done < size) {
        ssize_t n = pread(fd, buffer + done, size - done, (off_t)(offset + done));
        if (n == 0)
            break;
        if (n > 0)
            done += (size_t)n;
        else if (errno != EINTR && errno != EAGAIN)
            return -errno;
    }
    return (ssize_t)done;
}

int packed_file_superblock(int fd, uint64_t file_size, const char *name, struct superblock *ret)
{
    uint8_t buffer[TRUNK_SUPERBLOCK_SIZE];
    struct fault fault = {0};
    ssize_t n = read_fully(fd, buffer, sizeof(buffer), 0);
    int r;

    if (n < 0) {
        log_error("%s: cannot be read: %s", name, strerror((int)-n));
        return (int)n;
    }
    r = superblock_decode(buffer, (uint64_t)n, file_size, ret, &fault);
    if (r < 0) {
        log_fault(name, r, &fault);
        return -EIO;
    }
    return 0;
}

size_t packed_file_index_memory(const struct superblock *superblock)
{
    return (size_t)superblock->index_size;
}

static int load_index(struct packed_file *file, const struct superblock *superblock)
{
    uint8_t *bytes = malloc(superblock->index_size ? superblock->index_size : 1);
    struct fault fault = {0};
    ssize_t n;
    int r;

    if (!bytes)
        return -ENOMEM;
    n = read_fully(file->fd, bytes, superblock->index_size, superblock->index_offset);
    if (n < 0) {
        log_error("%s: its index cannot be read: %s", file->name, strerror((int)-n));
        r = (int)n;
    } else if ((uint64_t)n < superblock->index_size) {
        fault = (struct fault){.check = FAULT_FILE_SIZE, .offset = superblock->index_offset};
        log_fault(file->name, -EBADMSG, &fault);
        r = -EIO;
    } else {
        r = index_new(superblock, bytes, &file->index, &fault);
        if (r < 0 && r != -ENOMEM) {
            log_fault(file->name, r, &fault);
            r = -EIO;
        }
    }
    /* The index was read through the page cache, which need not keep it. */
    (void)posix_fadvise(file->fd, (off_t)superblock->index_offset, 0, POSIX_FADV_DONTNEED);
    if (r < 0) {
        free(bytes);
        return r;
    }
    file->index_memory = index_memory(file->index);
    metrics_gauge_add(METRICS_MEMORY_INDEX, (int64_t)file->index_memory);
    return 0;
}

/* Reading a file that is in memory is a copy: io_uring would only hand it to a helper thread. */
static bool is_in_memory(int fd)
{
    struct statfs fs;
    return fstatfs(fd, &fs) == 0 && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

static void set_direct(struct packed_file *file)
{
    static atomic_bool said;
    int flags = fcntl(file->fd, F_GETFL);

    if (file->in_memory) {
        if (!atomic_exchange(&said, true))
            log_info("%s: in memory: O_DIRECT is not used", file->name);
        return;
    }
    if (flags >= 0 && fcntl(file->fd, F_SETFL, flags | O_DIRECT) == 0)
        atomic_store(&file->direct, true);
    else if (!atomic_exchange(&said, true))
        log_info("%s: O_DIRECT refused (%s): packed bytes are read through the page cache",
                 file->name, strerror(errno));
}

void packed_file_refuse_direct(struct packed_file *file)
{
    static atomic_bool said;

    if (!atomic_exchange(&file->direct, false))
        return;
    if (!atomic_exchange(&said, true))
        log_info("%s: a read with O_DIRECT was refused: going on through the page cache",
                 file->name);
    int flags = fcntl(file->fd, F_GETFL);
    if (flags >= 0)
        (void)fcntl(file->fd, F_SETFL, flags & ~O_DIRECT);
}

static struct packed_file *file_new(int fd, const char *name)
{
    struct packed_file *file = calloc(1, sizeof(*file));

    if (!file || !(file->name = strdup(name))) {
        free(file);
        close(fd);
        return NULL;
    }
    file->fd = fd;
    file->buffered_fd = -1;
    atomic_init(&file->references, 1);
    file->in_memory = is_in_memory(fd);
    metrics_gauge_add(METRICS_OPEN_FILES, 1);
    return file;
}

int packed_file_open(int fd, const char *name, struct packed_file **ret)
{
    struct packed_file *file = file_new(fd, name);
    struct superblock superblock;
    struct stat st;
    int r;

    if (!file)
        return -ENOMEM;
    r = fstat(fd, &st) < 0 ? -errno : 0;
    if (r == 0)
        r = packed_file_superblock(fd, (uint64_t)st.st_size, name, &superblock);
    if (r == 0)
        r = load_index(file, &superblock);
    if (r < 0) {
        packed_file_put(file);
        return r;
    }
    file->raw_size = superblock.raw_size;
    file->frame_size = superblock.frame_size;
    memcpy(file->sha256, superblock.sha256, sizeof(file->sha256));
    set_direct(file);
    *ret = file;
    return 0;
}

int packed_file_open_verbatim(int fd, const char *name, struct packed_file **ret)
{
    struct packed_file *file = file_new(fd, name);
    struct stat st;
    char path[32];

    if (!file)
        return -ENOMEM;
    if (fstat(fd, &st) < 0) {
        int r = -errno;
        packed_file_put(file);
        return r;
    }
    file->verbatim = true;
    file->raw_size = (uint64_t)st.st_size;
    /* Another open file for buffered readers: O_DIRECT belongs to the open file. */
    if (!file->in_memory) {
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        file->buffered_fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    }
    if (file->in_memory || file->buffered_fd >= 0)
        set_direct(file);
    *ret = file;
    return 0;
}

void packed_file_get(struct packed_file *file)
{
    atomic_fetch_add(&file->references, 1);
}

void packed_file_put(struct packed_file *file)
{
    if (!file || atomic_fetch_sub(&file->references, 1) != 1)
        return;
    metrics_gauge_add(METRICS_OPEN_FILES, -1);
    metrics_gauge_add(METRICS_MEMORY_INDEX, -(int64_t)file->index_memory);
    index_free(file->index);
    free(file->prefetch);
    if (file->buffered_fd >= 0)
        close(file->buffered_fd);
    close(file->fd);
    free(file->name);
    free(file);
}
