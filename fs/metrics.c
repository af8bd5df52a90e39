#include "metrics.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PREFIX "trunkfs_"

/* Bucket i counts reads of at most 2^i microseconds; the last one all others. */
enum { LATENCY_BUCKET_COUNT = 24 };

struct description {
    const char *name;
    const char *help;
};

static const char *const op_names[METRICS_OP_COUNT] = {
    [METRICS_OP_READ] = "read",         [METRICS_OP_LOOKUP] = "lookup",
    [METRICS_OP_GETATTR] = "getattr",   [METRICS_OP_OPEN] = "open",
    [METRICS_OP_RELEASE] = "release",   [METRICS_OP_READDIR] = "readdir",
    [METRICS_OP_READLINK] = "readlink", [METRICS_OP_STATFS] = "statfs",
    [METRICS_OP_OTHER] = "other",
};

static const struct description counter_descriptions[METRICS_COUNTER_COUNT] = {
    [METRICS_BYTES_SERVED] = {"bytes_served_total", "Original bytes in replies"},
    [METRICS_BYTES_FETCHED] = {"bytes_fetched_total", "Bytes read from the packed directory"},
    [METRICS_FETCHES] = {"fetches_total", "Reads of the packed directory"},
    [METRICS_FRAMES_DECODED] = {"frames_decoded_total", "Frames decoded"},
    [METRICS_CACHE_HITS] = {"cache_hits_total", "Frames found decoded"},
    [METRICS_CACHE_JOINS] = {"cache_joins_total", "Frames found on their way"},
    [METRICS_CACHE_MISSES] = {"cache_misses_total", "Frames that had to be fetched"},
    [METRICS_CACHE_EVICTIONS] = {"cache_evictions_total", "Decoded frames evicted for others"},
    [METRICS_PREFETCH_ISSUED] = {"prefetch_issued_bytes_total", "Packed bytes read ahead"},
    [METRICS_PREFETCH_USED] = {"prefetch_used_bytes_total", "Packed bytes read ahead and wanted"},
    [METRICS_PREFETCH_WASTED] = {"prefetch_wasted_bytes_total",
                                 "Packed bytes read ahead and dropped"},
    [METRICS_ERRORS_IO] = {"errors_io_total", "Reads of packed bytes that failed"},
    [METRICS_ERRORS_CORRUPT] = {"errors_corrupt_total", "Corrupt frames met"},
    [METRICS_ERRORS_FILE] = {"errors_file_total", "Packed files refused"},
    [METRICS_IO_RETRIES] = {"io_retries_total", "Reads continued after a short completion"},
    [METRICS_REQUESTS_DEFERRED] = {"requests_deferred_total", "Reads that waited for memory"},
};

static const struct description gauge_descriptions[METRICS_GAUGE_COUNT] = {
    [METRICS_MEMORY_BUDGET] = {"memory_budget_bytes", "The option memory="},
    [METRICS_MEMORY_FRAMES] = {"memory_frames_bytes", "Frame buffers in use"},
    [METRICS_MEMORY_PACKED] = {"memory_packed_bytes", "Packed bytes held"},
    [METRICS_MEMORY_INDEX] = {"memory_index_bytes", "Indexes loaded"},
    [METRICS_REQUESTS_IN_FLIGHT] = {"requests_in_flight", "Reads not yet answered"},
    [METRICS_OPEN_FILES] = {"open_files", "Backing files held open"},
};

static _Atomic uint64_t ops[METRICS_OP_COUNT];
static _Atomic uint64_t counters[METRICS_COUNTER_COUNT];
static _Atomic int64_t gauges[METRICS_GAUGE_COUNT];
static _Atomic uint64_t latency_buckets[LATENCY_BUCKET_COUNT];
static _Atomic uint64_t latency_sum_ns;

void metrics_count_op(enum metrics_op op)
{
    atomic_fetch_add_explicit(&ops[op], 1, memory_order_relaxed);
}

void metrics_add(enum metrics_counter counter, uint64_t amount)
{
    atomic_fetch_add_explicit(&counters[counter], amount, memory_order_relaxed);
}

void metrics_gauge_add(enum metrics_gauge gauge, int64_t amount)
{
    atomic_fetch_add_explicit(&gauges[gauge], amount, memory_order_relaxed);
}

uint64_t metrics_get(enum metrics_counter counter)
{
    return atomic_load_explicit(&counters[counter], memory_order_relaxed);
}

void metrics_read_latency(uint64_t nanoseconds)
{
    unsigned bucket = 0;
    while (bucket < LATENCY_BUCKET_COUNT - 1 && nanoseconds > (UINT64_C(1000) << bucket))
        bucket++;
    atomic_fetch_add_explicit(&latency_buckets[bucket], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&latency_sum_ns, nanoseconds, memory_order_relaxed);
}

uint64_t metrics_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void print_header(FILE *out, const struct description *description, const char *type)
{
    fprintf(out, "# HELP " PREFIX "%s %s\n# TYPE " PREFIX "%s %s\n", description->name,
            description->help, description->name, type);
}

static void print_latency(FILE *out)
{
    static const struct description description = {"read_latency_seconds",
                                                   "From a read's arrival to its reply"};
    uint64_t total = 0;

    print_header(out, &description, "histogram");
    for (unsigned i = 0; i < LATENCY_BUCKET_COUNT; i++) {
        total += atomic_load_explicit(&latency_buckets[i], memory_order_relaxed);
        if (i < LATENCY_BUCKET_COUNT - 1)
            fprintf(out, PREFIX "read_latency_seconds_bucket{le=\"%g\"} %" PRIu64 "\n",
                    (double)(1u << i) / 1e6, total);
        else
            fprintf(out, PREFIX "read_latency_seconds_bucket{le=\"+Inf\"} %" PRIu64 "\n", total);
    }
    fprintf(out, PREFIX "read_latency_seconds_sum %.9f\n",
            (double)atomic_load_explicit(&latency_sum_ns, memory_order_relaxed) / 1e9);
    fprintf(out, PREFIX "read_latency_seconds_count %" PRIu64 "\n", total);
}

char *metrics_text(size_t *ret_size)
{
    static const struct description requests = {"requests_total", "Requests of the kernel"};
    char *text = NULL;
    FILE *out = open_memstream(&text, ret_size);

    if (!out)
        return NULL;
    print_header(out, &requests, "counter");
    for (unsigned i = 0; i < METRICS_OP_COUNT; i++)
        fprintf(out, PREFIX "requests_total{op=\"%s\"} %" PRIu64 "\n", op_names[i],
                atomic_load_explicit(&ops[i], memory_order_relaxed));
    for (unsigned i = 0; i < METRICS_COUNTER_COUNT; i++) {
        print_header(out, &counter_descriptions[i], "counter");
        fprintf(out, PREFIX "%s %" PRIu64 "\n", counter_descriptions[i].name,
                atomic_load_explicit(&counters[i], memory_order_relaxed));
    }
    for (unsigned i = 0; i < METRICS_GAUGE_COUNT; i++) {
        print_header(out, &gauge_descriptions[i], "gauge");
        fprintf(out, PREFIX "%s %" PRId64 "\n", gauge_descriptions[i].name,
                atomic_load_explicit(&gauges[i], memory_order_relaxed));
    }
    print_latency(out);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
