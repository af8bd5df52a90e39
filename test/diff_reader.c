/* diff_reader.c - reads one file in every way Linux offers and compares each read with
 * the original: pread, read, readv, preadv, mmap private and shared, O_DIRECT with aligned
 * and odd memory, sendfile, splice; odd offsets, around and beyond the end; many threads on
 * shared and own descriptors; with a cold and a warm page cache.
 *
 * usage: diff_reader ORIGINAL MOUNTED [THREADS [ROUNDS]]      exit status 1: mismatches
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "reference.h"

enum {
    BUFFER_SIZE = 3 << 20,
    PAGE = 4096,
    THREADS_MAX = 256,
};

static struct reference ref;
static const char *mounted_path;
static int shared_fd;        /* buffered, used by all threads */
static int shared_direct_fd; /* O_DIRECT */
static int rounds = 40;

struct reader {
    uint64_t random;
    uint8_t *buffer; /* BUFFER_SIZE + 2 pages, page-aligned */
    int fd;          /* this thread's own */
};

static int open_mounted(int flags)
{
    int fd = open(mounted_path, O_RDONLY | O_CLOEXEC | flags);
    if (fd < 0)
        err(2, "open %s", mounted_path);
    return fd;
}

/* A range that is short or long, aligned or odd, inside or over the end. */
static void pick_range(struct reader *r, uint64_t *offset, uint64_t *length)
{
    static const uint64_t lengths[] = {1, 7, 512, PAGE - 1, PAGE, PAGE + 1, 65536, 131072, 262144,
                                       1 << 20};
    uint64_t shape = random_below(&r->random, 4);
    *length = lengths[random_below(&r->random, sizeof(lengths) / sizeof(lengths[0]))];
    if (shape == 0)
        *length = 1 + random_below(&r->random, BUFFER_SIZE);
    *offset = random_below(&r->random, ref.size + PAGE + 1);
    if (shape == 1)
        *offset &= ~(uint64_t)(PAGE - 1);
    if (shape == 2 && ref.size > *length)
        *offset = ref.size - *length + random_below(&r->random, 3) - 1;
}

/* pread until length bytes or end of file: what read(2) allows a program to rely on. */
static ssize_t pread_all(int fd, uint8_t *buffer, uint64_t length, uint64_t offset)
{
    uint64_t done = 0;
    while (done < length) {
        ssize_t count = pread(fd, buffer + done, length - done, (off_t)(offset + done));
        if (count < 0)
            return -errno;
        if (count == 0)
            break;
        done += (uint64_t)count;
    }
    return (ssize_t)done;
}

static void read_pread(struct reader *r, int fd, const char *method)
{
    uint64_t offset, length;
    pick_range(r, &offset, &length);
    ssize_t count = pread(fd, r->buffer, length, (off_t)offset);
    reference_check(&ref, method, r->buffer, count < 0 ? -errno : count, offset, length);
}

static void read_readv(struct reader *r)
{
    uint64_t offset, length;
    pick_range(r, &offset, &length);
    struct iovec parts[5];
    uint64_t at = 0;
    for (int i = 0; i < 5; i++) {
        uint64_t share = i == 4 ? length - at : random_below(&r->random, (length - at) / 2 + 1);
        parts[i] = (struct iovec){r->buffer + at, share};
        at += share;
    }
    ssize_t count = preadv(r->fd, parts, 5, (off_t)offset);
    reference_check(&ref, "preadv", r->buffer, count < 0 ? -errno : count, offset, length);
    if (lseek(r->fd, (off_t)offset, SEEK_SET) != (off_t)offset)
        err(2, "lseek");
    count = readv(r->fd, parts, 5);
    reference_check(&ref, "readv", r->buffer, count < 0 ? -errno : count, offset, length);
}

/* Offset and length are sectors; memory is aligned, or off by skew bytes. */
static void read_direct(struct reader *r, size_t skew)
{
    uint64_t offset, length;
    pick_range(r, &offset, &length);
    offset &= ~(uint64_t)511;
    length = (length + 511) & ~(uint64_t)511;
    uint8_t *memory = r->buffer + skew;
    ssize_t count = pread(shared_direct_fd, memory, length, (off_t)offset);
    reference_check(&ref, skew ? "O_DIRECT, odd memory" : "O_DIRECT", memory,
                    count < 0 ? -errno : count, offset, length);
}

static void read_mmap(struct reader *r, int flags, const char *method)
{
    if (ref.size == 0)
        return;
    uint8_t *map = mmap(NULL, ref.size, PROT_READ, flags, r->fd, 0);
    if (map == MAP_FAILED) {
        reference_check(&ref, method, NULL, -errno, 0, ref.size);
        return;
    }
    for (int i = 0; i < 8; i++) {
        uint64_t offset = random_below(&r->random, ref.size);
        uint64_t length = 1 + random_below(&r->random, 1 << 20);
        if (length > ref.size - offset)
            length = ref.size - offset;
        reference_check(&ref, method, map + offset, (ssize_t)length, offset, length);
    }
    /* The rest of the last page reads as zero. */
    static const uint8_t zeros[PAGE];
    uint64_t rest = (PAGE - ref.size % PAGE) % PAGE;
    if (memcmp(map + ref.size, zeros, rest) != 0)
        reference_check(&ref, "mmap behind the end", zeros, -EIO, ref.size, rest);
    munmap(map, ref.size);
}

static void read_sendfile(struct reader *r)
{
    uint64_t offset, length;
    pick_range(r, &offset, &length);
    int sink = memfd_create("sendfile", MFD_CLOEXEC);
    if (sink < 0)
        err(2, "memfd_create");
    off_t from = (off_t)offset;
    uint64_t done = 0;
    ssize_t count = 0;
    while (done < length && (count = sendfile(sink, r->fd, &from, length - done)) > 0)
        done += (uint64_t)count;
    int error = count < 0 ? -errno : 0;
    if (!error && pread_all(sink, r->buffer, done, 0) != (ssize_t)done)
        err(2, "memfd");
    reference_check(&ref, "sendfile", r->buffer, error ? error : (ssize_t)done, offset, length);
    close(sink);
}

static void read_splice(struct reader *r)
{
    uint64_t offset, length;
    pick_range(r, &offset, &length);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        err(2, "pipe");
    loff_t from = (loff_t)offset;
    uint64_t done = 0;
    int error = 0;
    while (done < length) {
        ssize_t count = splice(r->fd, &from, ends[1], NULL, length - done, 0);
        if (count <= 0) {
            error = count < 0 ? -errno : 0;
            break;
        }
        for (ssize_t drained = 0, n; drained < count; drained += n)
            if ((n = read(ends[0], r->buffer + done + drained, (size_t)(count - drained))) <= 0)
                err(2, "pipe");
        done += (uint64_t)count;
    }
    reference_check(&ref, "splice", r->buffer, error ? error : (ssize_t)done, offset, length);
    close(ends[0]);
    close(ends[1]);
}

/* Every combination of a few offsets around the end and a few lengths. */
static void read_around_end(struct reader *r)
{
    static const int64_t deltas[] = {-PAGE - 1, -PAGE, -2, -1, 0, 1, 2, PAGE, 1 << 20};
    static const uint64_t lengths[] = {0, 1, 2, PAGE, PAGE + 1, 1 << 20};
    for (size_t d = 0; d < sizeof(deltas) / sizeof(deltas[0]); d++) {
        int64_t offset = (int64_t)ref.size + deltas[d];
        if (offset < 0)
            continue;
        for (size_t l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++) {
            ssize_t count = pread(r->fd, r->buffer, lengths[l], offset);
            reference_check(&ref, "around the end", r->buffer, count < 0 ? -errno : count,
                            (uint64_t)offset, lengths[l]);
        }
    }
    ssize_t count = pread(r->fd, r->buffer, PAGE, INT64_MAX - 2 * PAGE);
    reference_check(&ref, "far beyond the end", r->buffer, count < 0 ? -errno : count,
                    INT64_MAX - 2 * PAGE, PAGE);
}

static void one_round(struct reader *r)
{
    if (random_below(&r->random, 3) == 0)
        posix_fadvise(r->fd, 0, 0, POSIX_FADV_DONTNEED); /* cold again, for everyone */
    read_pread(r, r->fd, "pread");
    read_pread(r, shared_fd, "pread, shared descriptor");
    read_readv(r);
    read_direct(r, 0);
    read_direct(r, 512);
    read_direct(r, 1 + random_below(&r->random, PAGE - 1));
    read_mmap(r, MAP_PRIVATE, "mmap private");
    read_mmap(r, MAP_SHARED, "mmap shared");
    read_sendfile(r);
    read_splice(r);
}

static void *reader_main(void *argument)
{
    struct reader r = {.random = (uint64_t)(uintptr_t)argument * UINT64_C(0x9e3779b97f4a7c15) + 1};
    r.fd = open_mounted(0);
    if (posix_memalign((void **)&r.buffer, PAGE, BUFFER_SIZE + 2 * PAGE) != 0)
        errx(2, "out of memory");
    for (int i = 0; i < rounds; i++)
        one_round(&r);
    read_around_end(&r);
    free(r.buffer);
    close(r.fd);
    return NULL;
}

/* The whole file front to back, in pieces that are no power of two, cold and warm. */
static void read_whole(void)
{
    static uint8_t piece[1000003];
    for (int warm = 0; warm < 2; warm++) {
        int fd = open_mounted(0);
        if (!warm)
            posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        for (uint64_t offset = 0;; offset += sizeof(piece)) {
            ssize_t count = read(fd, piece, sizeof(piece));
            reference_check(&ref, warm ? "whole, warm" : "whole, cold", piece,
                            count < 0 ? -errno : count, offset, sizeof(piece));
            if (count < (ssize_t)sizeof(piece))
                break;
        }
        close(fd);
    }
}

int main(int argc, char **argv)
{
    if (argc < 3)
        errx(2, "usage: diff_reader ORIGINAL MOUNTED [THREADS [ROUNDS]]");
    reference_open(&ref, argv[1]);
    mounted_path = argv[2];
    long threads = argc > 3 ? strtol(argv[3], NULL, 10) : 8;
    if (argc > 4)
        rounds = (int)strtol(argv[4], NULL, 10);
    if (threads < 1 || threads > THREADS_MAX)
        errx(2, "THREADS is 1 to %d", THREADS_MAX);
    shared_fd = open_mounted(0);
    shared_direct_fd = open_mounted(O_DIRECT);
    struct stat st;
    if (fstat(shared_fd, &st) < 0 || (uint64_t)st.st_size != ref.size ||
        lseek(shared_fd, 0, SEEK_END) != (off_t)ref.size)
        errx(1, "%s: size is not the original's", mounted_path);
    pthread_t thread[THREADS_MAX];
    for (long i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, reader_main, (void *)(uintptr_t)(i + 1)) != 0)
            errx(2, "pthread_create");
    for (long i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    read_whole();
    return reference_report("diff_reader");
}
