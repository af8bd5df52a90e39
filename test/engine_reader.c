/* engine_reader.c - reads as a streaming inference engine does, and compares with the
 * original.
 *
 *   slices   THREADS disjoint O_DIRECT preads that begin at odd multiples of 4096 and
 *            together cover the file once: neighbours share frames, in flight at once
 *   experts  windows of ~1.1 MiB widened to 4096 at random places, the last beyond the
 *            end, by THREADS threads with O_DIRECT, while one thread reads the same file
 *            buffered (header first, then tensors at odd offsets)
 *   layers   the whole file as 4 runs, in order, one O_DIRECT pread each, three times over
 *   requests single 1 MiB O_DIRECT requests at odd multiples of 4096
 *
 * usage: engine_reader MODE ORIGINAL MOUNTED [THREADS]       exit status 1: mismatches
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reference.h"

enum {
    PAGE = 4096,
    MIB = 1 << 20,
    EXPERT_SIZE = 1125 * 1024 + 300,
    EXPERT_READS = 48,
    REQUESTS = 200,
    THREADS_MAX = 256,
};

static struct reference ref;
static const char *mounted_path;
static long threads = 8;
static pthread_barrier_t start; /* so that the slices really are in flight together */

static int open_mounted(int flags)
{
    int fd = open(mounted_path, O_RDONLY | O_CLOEXEC | flags);
    if (fd < 0)
        err(2, "open %s", mounted_path);
    return fd;
}

static uint8_t *page_aligned(size_t size)
{
    void *memory = aligned_alloc(PAGE, (size + PAGE - 1) / PAGE * PAGE);
    if (!memory)
        errx(2, "out of memory");
    memset(memory, 0x5a, size);
    return memory;
}

static void direct_pread(int fd, uint8_t *memory, uint64_t offset, uint64_t length,
                         const char *method)
{
    ssize_t count = pread(fd, memory, length, (off_t)offset);
    reference_check(&ref, method, memory, count < 0 ? -errno : count, offset, length);
}

static void *slice_main(void *argument)
{
    uint64_t number = (uint64_t)(uintptr_t)argument;
    uint64_t pages = (ref.size + PAGE - 1) / PAGE;
    uint64_t step = (pages / (uint64_t)threads) | 1; /* odd: never on the frame grid */
    uint64_t first = number * step * PAGE;
    uint64_t last = number == (uint64_t)threads - 1 ? pages * PAGE : first + step * PAGE;
    int fd = open_mounted(O_DIRECT);
    uint8_t *memory = page_aligned(last > first ? last - first : PAGE);
    pthread_barrier_wait(&start);
    if (first < last)
        direct_pread(fd, memory, first, last - first, "slice");
    free(memory);
    close(fd);
    return NULL;
}

static void *expert_main(void *argument)
{
    uint64_t random = (uint64_t)(uintptr_t)argument + 77;
    int fd = open_mounted(O_DIRECT);
    uint8_t *memory = page_aligned(EXPERT_SIZE + 2 * PAGE);
    pthread_barrier_wait(&start);
    for (int i = 0; i < EXPERT_READS; i++) {
        uint64_t offset = random_below(&random, ref.size);
        uint64_t aligned = offset & ~(uint64_t)(PAGE - 1);
        uint64_t end = (offset + EXPERT_SIZE + PAGE - 1) & ~(uint64_t)(PAGE - 1);
        direct_pread(fd, memory, aligned, end - aligned, "expert");
    }
    uint64_t tail = ref.size > EXPERT_SIZE ? ref.size - EXPERT_SIZE : 0;
    tail &= ~(uint64_t)(PAGE - 1);
    direct_pread(fd, memory, tail, EXPERT_SIZE / PAGE * PAGE + 2 * PAGE, "expert over the end");
    free(memory);
    close(fd);
    return NULL;
}

static void *buffered_main(void *argument)
{
    uint64_t random = (uint64_t)(uintptr_t)argument + 99;
    int fd = open_mounted(0);
    uint8_t *memory = page_aligned(2 * MIB);
    pthread_barrier_wait(&start);
    direct_pread(fd, memory, 0, 8, "header length");
    direct_pread(fd, memory, 8, 819 * 1024, "header");
    for (int i = 0; i < EXPERT_READS; i++)
        direct_pread(fd, memory, random_below(&random, ref.size),
                     1 + random_below(&random, 2 * MIB), "tensor, buffered");
    free(memory);
    close(fd);
    return NULL;
}

static void run_threads(void *(*body)(void *), void *(*extra)(void *))
{
    pthread_t thread[THREADS_MAX + 1];
    long count = threads + (extra ? 1 : 0);
    pthread_barrier_init(&start, NULL, (unsigned)count);
    for (long i = 0; i < count; i++)
        if (pthread_create(&thread[i], NULL, i < threads ? body : extra, (void *)(uintptr_t)i))
            errx(2, "pthread_create");
    for (long i = 0; i < count; i++)
        pthread_join(thread[i], NULL);
    pthread_barrier_destroy(&start);
}

static void read_layers(void)
{
    uint64_t run = (ref.size / 4 + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    uint8_t *memory = page_aligned(run);
    int fd = open_mounted(O_DIRECT);
    for (int token = 0; token < 3; token++)
        for (uint64_t offset = 0; offset < ref.size; offset += run)
            direct_pread(fd, memory, offset, run, "layer");
    free(memory);
    close(fd);
}

static void read_requests(void)
{
    uint64_t random = 4711;
    uint8_t *memory = page_aligned(MIB);
    int fd = open_mounted(O_DIRECT);
    for (int i = 0; i < REQUESTS; i++) {
        uint64_t page = random_below(&random, ref.size / PAGE + 2) | 1;
        direct_pread(fd, memory, page * PAGE, MIB, "1 MiB request");
    }
    free(memory);
    close(fd);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        errx(2, "usage: engine_reader slices|experts|layers|requests ORIGINAL MOUNTED [THREADS]");
    reference_open(&ref, argv[2]);
    mounted_path = argv[3];
    if (argc > 4)
        threads = strtol(argv[4], NULL, 10);
    if (threads < 1 || threads > THREADS_MAX)
        errx(2, "THREADS is 1 to %d", THREADS_MAX);
    if (strcmp(argv[1], "slices") == 0)
        run_threads(slice_main, NULL);
    else if (strcmp(argv[1], "experts") == 0)
        run_threads(expert_main, buffered_main);
    else if (strcmp(argv[1], "layers") == 0)
        read_layers();
    else if (strcmp(argv[1], "requests") == 0)
        read_requests();
    else
        errx(2, "unknown mode %s", argv[1]);
    return reference_report("engine_reader");
}
