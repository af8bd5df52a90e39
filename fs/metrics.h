/* metrics.h - counters of the daemon, as text for Prometheus.
 *
 * Counters only grow, gauges are set. Callable on any thread, without a lock; a reader
 * sees each value whole, not all values of one moment.
 */
#ifndef TRUNKFS_METRICS_H
#define TRUNKFS_METRICS_H

#include <stddef.h>
#include <stdint.h>

enum metrics_op {
    METRICS_OP_READ,
    METRICS_OP_LOOKUP,
    METRICS_OP_GETATTR,
    METRICS_OP_OPEN,
    METRICS_OP_RELEASE,
    METRICS_OP_READDIR,
    METRICS_OP_READLINK,
    METRICS_OP_STATFS,
    METRICS_OP_OTHER,
    METRICS_OP_COUNT
};

enum metrics_counter {
    METRICS_BYTES_SERVED,
    METRICS_BYTES_FETCHED,
    METRICS_FETCHES,
    METRICS_FRAMES_DECODED,
    METRICS_CACHE_HITS,   /* a frame that was decoded already */
    METRICS_CACHE_JOINS,  /* a frame that another request had asked for: waited, not fetched */
    METRICS_CACHE_MISSES, /* a frame that had to be fetched */
    METRICS_CACHE_EVICTIONS,
    METRICS_PREFETCH_ISSUED,   /* packed bytes */
    METRICS_PREFETCH_USED,     /* packed bytes of prefetched frames that a request wanted */
    METRICS_PREFETCH_WASTED,   /* packed bytes dropped unused */
    METRICS_ERRORS_IO,         /* reads of packed bytes that failed */
    METRICS_ERRORS_CORRUPT,    /* frames that did not decode or did not match their checksum */
    METRICS_ERRORS_FILE,       /* packed files refused */
    METRICS_IO_RETRIES,        /* short, interrupted or refused reads that were continued */
    METRICS_REQUESTS_DEFERRED, /* had to wait for memory */
    METRICS_COUNTER_COUNT
};

enum metrics_gauge {
    METRICS_MEMORY_BUDGET,
    METRICS_MEMORY_FRAMES, /* frame buffers handed out */
    METRICS_MEMORY_PACKED, /* packed bytes held */
    METRICS_MEMORY_INDEX,
    METRICS_REQUESTS_IN_FLIGHT,
    METRICS_OPEN_FILES,
    METRICS_GAUGE_COUNT
};

void metrics_count_op(enum metrics_op op);
void metrics_add(enum metrics_counter counter, uint64_t amount);
void metrics_gauge_add(enum metrics_gauge gauge, int64_t amount);
uint64_t metrics_get(enum metrics_counter counter);

/* One read request took so long from its arrival to its reply. */
void metrics_read_latency(uint64_t nanoseconds);

/* Monotonic clock, nanoseconds. */
uint64_t metrics_now(void);

/* The exposition text, from malloc; the caller frees it. NULL when memory is short. */
char *metrics_text(size_t *ret_size);

#endif
