/* bench_reader.c - reads one file the way a client of model weights does, and times it.
 *
 *   bench_reader MODE FILE CHUNK THREADS COUNT SEED
 *
 *   direct     O_DIRECT preads of CHUNK bytes, each thread in its own contiguous share
 *   buffered   the same through the page cache
 *   mmap       private mapping, copied out CHUNK bytes at a time
 *   uring      O_DIRECT, CHUNK bytes at a depth of THREADS, from one thread
 *   random     O_DIRECT preads of CHUNK bytes at random multiples of 4096, COUNT a thread
 *   random-buffered  the same through the page cache
 *
 * COUNT 0 means the whole file (sequential modes), else so many chunks a thread.
 * Prints one line of JSON: bytes, seconds, and for each pread the median and the 99th
 * percentile in microseconds. Buffers are allocated and touched before the clock starts.
 */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, THREADS_MAX = 256, LATENCIES_MAX = 1 << 20 };

struct plan {
    const char *mode;
    int fd;
    uint64_t file_size;
    uint64_t chunk;
    unsigned threads;
    uint64_t count;
    uint64_t seed;
};

struct reader {
    const struct plan *plan;
    unsigned number;
    uint8_t *buffer;
    uint64_t bytes;
    double *latencies; /* seconds, latency_count of them */
    size_t latency_count;
    pthread_t thread;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

__attribute__((noreturn)) static void die(const char *what)
{
    fprintf(stderr, "bench_reader: %s: %s\n", what, strerror(errno));
    exit(1);
}

static uint64_t random_next(uint64_t *state) /* xorshift64 */
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void note_latency(struct reader *r, double seconds)
{
    if (r->latency_count < LATENCIES_MAX)
        r->latencies[r->latency_count++] = seconds;
}

/* One pread of the whole length, unless the file ends. */
static uint64_t read_at(struct reader *r, uint64_t offset, uint64_t length)
{
    double start = now();
    uint64_t done = 0;
    while (done < length) {
        ssize_t n = pread(r->plan->fd, r->buffer + done, length - done, (off_t)(offset + done));
        if (n < 0)
            die("pread");
        if (n == 0)
            break;
        done += (uint64_t)n;
    }
    note_latency(r, now() - start);
    return done;
}

static void read_sequential(struct reader *r)
{
    const struct plan *p = r->plan;
    uint64_t chunks = (p->file_size + p->chunk - 1) / p->chunk;
    uint64_t share = (chunks + p->threads - 1) / p->threads;
    uint64_t first = share * r->number;
    uint64_t todo = p->count && p->count < share ? p->count : share;
    for (uint64_t i = first; i < first + todo && i < chunks; i++)
        r->bytes += read_at(r, i * p->chunk, p->chunk);
}

static void read_random(struct reader *r)
{
    const struct plan *p = r->plan;
    uint64_t state = p->seed * 0x9E3779B97F4A7C15u + r->number + 1;
    uint64_t places = (p->file_size - p->chunk) / PAGE;
    for (uint64_t i = 0; i < p->count; i++)
        r->bytes += read_at(r, random_next(&state) % (places + 1) * PAGE, p->chunk);
}

static void read_mapped(struct reader *r)
{
    const struct plan *p = r->plan;
    const uint8_t *map = mmap(NULL, p->file_size, PROT_READ, MAP_PRIVATE, p->fd, 0);
    if (map == MAP_FAILED)
        die("mmap");
    uint64_t end = p->count ? p->count * p->chunk : p->file_size;
    end = end < p->file_size ? end : p->file_size;
    for (uint64_t offset = 0; offset < end; offset += p->chunk) {
        uint64_t length = p->chunk < end - offset ? p->chunk : end - offset;
        memcpy(r->buffer, map + offset, length);
        r->bytes += length;
    }
    munmap((void *)(uintptr_t)map, p->file_size);
}

static void *reader_main(void *arg)
{
    struct reader *r = arg;
    if (strncmp(r->plan->mode, "random", 6) == 0)
        read_random(r);
    else if (strcmp(r->plan->mode, "mmap") == 0)
        read_mapped(r);
    else
        read_sequential(r);
    return NULL;
}

static void uring_submit(struct io_uring *ring, const struct plan *p, uint8_t *buffers,
                         uint64_t slot, uint64_t offset)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
    if (!sqe)
        die("io_uring_get_sqe");
    io_uring_prep_read(sqe, p->fd, buffers + slot * p->chunk, (unsigned)p->chunk, offset);
    io_uring_sqe_set_data64(sqe, slot);
}

/* Keeps `threads` reads of one chunk in flight until the file is through. */
static uint64_t read_uring(const struct plan *p, uint8_t *buffers)
{
    struct io_uring ring;
    int rc = io_uring_queue_init(p->threads, &ring, 0);
    if (rc < 0) {
        errno = -rc;
        die("io_uring_queue_init");
    }
    uint64_t next = 0, bytes = 0, slot = 0;
    unsigned in_flight = 0;
    uint64_t end = p->count ? p->count * p->chunk : p->file_size;
    for (; slot < p->threads && next < end; slot++, next += p->chunk, in_flight++)
        uring_submit(&ring, p, buffers, slot, next);
    while (in_flight) {
        struct io_uring_cqe *cqe;
        io_uring_submit_and_wait(&ring, 1);
        while (in_flight && io_uring_peek_cqe(&ring, &cqe) == 0) {
            if (cqe->res < 0) {
                errno = -cqe->res;
                die("io_uring read");
            }
            bytes += (uint64_t)cqe->res;
            slot = io_uring_cqe_get_data64(cqe);
            io_uring_cqe_seen(&ring, cqe);
            in_flight--;
            if (next < end) {
                uring_submit(&ring, p, buffers, slot, next);
                next += p->chunk;
                in_flight++;
            }
        }
    }
    io_uring_queue_exit(&ring);
    return bytes;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static uint8_t *buffer_new(uint64_t size)
{
    uint8_t *buffer =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (buffer == MAP_FAILED)
        die("buffer");
    return buffer;
}

static void print_result(uint64_t bytes, double seconds, double *latencies, size_t count)
{
    double median = 0, high = 0;
    if (count) {
        qsort(latencies, count, sizeof *latencies, compare_doubles);
        median = latencies[count / 2];
        high = latencies[count - 1 - count / 100];
    }
    printf("{\"bytes\": %llu, \"seconds\": %.6f, \"median_us\": %.1f, \"p99_us\": %.1f}\n",
           (unsigned long long)bytes, seconds, median * 1e6, high * 1e6);
}

static void run_threads(const struct plan *p)
{
    static struct reader readers[THREADS_MAX];
    uint64_t bytes = 0;
    size_t latency_count = 0;
    for (unsigned i = 0; i < p->threads; i++) {
        readers[i] = (struct reader){.plan = p, .number = i, .buffer = buffer_new(p->chunk)};
        readers[i].latencies = malloc(LATENCIES_MAX * sizeof(double));
        if (!readers[i].latencies)
            die("latencies");
    }
    double start = now();
    for (unsigned i = 0; i < p->threads; i++)
        if (pthread_create(&readers[i].thread, NULL, reader_main, &readers[i]) != 0)
            die("pthread_create");
    for (unsigned i = 0; i < p->threads; i++)
        pthread_join(readers[i].thread, NULL);
    double seconds = now() - start;
    double *all = malloc((LATENCIES_MAX + 1) * sizeof *all);
    for (unsigned i = 0; all && i < p->threads; i++) {
        bytes += readers[i].bytes;
        for (size_t k = 0; k < readers[i].latency_count && latency_count < LATENCIES_MAX; k++)
            all[latency_count++] = readers[i].latencies[k];
        free(readers[i].latencies);
    }
    print_result(bytes, seconds, all, latency_count);
    free(all);
}

static void run_uring(const struct plan *p)
{
    uint8_t *buffers = buffer_new(p->chunk * p->threads);
    double start = now();
    uint64_t bytes = read_uring(p, buffers);
    print_result(bytes, now() - start, NULL, 0);
}

static bool mode_is_direct(const char *mode)
{
    return strcmp(mode, "direct") == 0 || strcmp(mode, "uring") == 0 || strcmp(mode, "random") == 0;
}

int main(int argc, char **argv)
{
    if (argc != 7) {
        fprintf(stderr, "usage: bench_reader MODE FILE CHUNK THREADS COUNT SEED\n");
        return 2;
    }
    struct plan p = {.mode = argv[1],
                     .chunk = strtoull(argv[3], NULL, 10),
                     .threads = (unsigned)strtoul(argv[4], NULL, 10),
                     .count = strtoull(argv[5], NULL, 10),
                     .seed = strtoull(argv[6], NULL, 10)};
    struct stat st;
    p.fd = open(argv[2], O_RDONLY | O_CLOEXEC | (mode_is_direct(p.mode) ? O_DIRECT : 0));
    if (p.fd < 0 || fstat(p.fd, &st) != 0)
        die(argv[2]);
    p.file_size = (uint64_t)st.st_size;
    if (!p.chunk || !p.threads || p.threads > THREADS_MAX || p.chunk > p.file_size) {
        fprintf(stderr,
                "bench_reader: CHUNK and THREADS must be 1 or more, CHUNK within the file\n");
        return 2;
    }
    if (strcmp(p.mode, "uring") == 0)
        run_uring(&p);
    else
        run_threads(&p);
    close(p.fd);
    return 0;
}
